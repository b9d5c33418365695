//! The thesis' cost study (section 3.7, Table 3.1, Figs. 3.11 to 3.13): time against kernels and blocks, for Algorithm
//! 2 as printed and for ours.
//!
//! Wall-clock times differ from machine to machine and from run to run; what is the same everywhere is the work of the
//! printed algorithm's loop, so that is counted too ([`LoopWork`]).

use std::hint::black_box;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::analysis::algorithm_2::{self, EmptyPairs, LoopWork, work};
use crate::analysis::{MergedKernel, TimeOverflow, finish_times};
use crate::named::named;
use crate::time::{Duration, Instant};

named! {
    /// What differs between the curves.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum LoopVariant: ALL {
        /// The algorithm as printed, C whole numbers from 20 to 100.
        #[default]
        Thesis = "as printed, C from 20 to 100",
        /// As printed, C a million times as long, so that hardly any two ends fall on one time.
        FineTime = "as printed, no two ends at one time",
        /// In the same fine time, without the pairs (t, 0) that the printed algorithm enters into h.
        NoEmptyPairs = "the same without pairs (t, 0)",
    }
}

impl LoopVariant {
    /// C \[ns\]; a unit for the thesis, whose times are whole numbers: from 20 to 100 in Figs. 3.11 to 3.13, as its
    /// author draws them in the programs `rta_plot` and `rta_mplot` of his public repository,
    /// `daleonpz/master_thesis_markdown`. Or a million times as long, so that ends of blocks hardly ever fall on one
    /// time.
    const fn block_times(self) -> RangeInclusive<u64> {
        match self {
            Self::Thesis => 20..=100,
            Self::FineTime | Self::NoEmptyPairs => 20_000_000..=100_000_000,
        }
    }

    /// Set `number` of so many kernels that are all released together, their grids, of 2 blocks or more, and block
    /// times drawn uniformly; every number has its own draws.
    fn draw(self, largest_grid: u32, kernels: usize, seed: u64, number: u64) -> Vec<MergedKernel> {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(number);
        let kernel = |_| MergedKernel {
            release: Instant::ZERO,
            block_time: Duration::from_ns(numbers.random_range(self.block_times())),
            blocks: numbers.random_range(2..=largest_grid.max(2)),
        };
        (0..kernels).map(kernel).collect()
    }

    fn empty_pairs(self) -> EmptyPairs {
        match self {
            Self::Thesis | Self::FineTime => EmptyPairs::Entered,
            Self::NoEmptyPairs => EmptyPairs::LeftOut,
        }
    }
}

/// The mean work of some task sets of one size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoopIterations {
    /// Which curve.
    pub variant: LoopVariant,
    /// n.
    pub kernels: usize,
    /// Task sets.
    pub sets: u64,
    /// Blocks of all kernels, mean.
    pub blocks: f64,
    /// Turns that place the rest of a kernel, mean: n.
    pub finishing_turns: f64,
    /// Turns that take the earliest pair out of h, mean.
    pub placing_turns: f64,
    /// Pairs of h that were compared for it, mean.
    pub pairs_compared: f64,
    /// The most pairs that h had in any set.
    pub most_pairs: usize,
    /// Mean over the sets of turns / (n g / `g_max`).
    pub turns_over_estimate: f64,
}

impl LoopIterations {
    /// All turns, mean.
    pub fn turns(&self) -> f64 {
        self.finishing_turns + self.placing_turns
    }
}

/// Runs `sets` task sets of each size under each variant.
///
/// # Errors
/// [`TimeOverflow`], which these task sets do not reach.
pub fn study(
    g_max: NonZeroU32,
    largest_grid: u32,
    variants: &[LoopVariant],
    sizes: &[usize],
    sets: u64,
    seed: u64,
) -> Result<Vec<LoopIterations>, TimeOverflow> {
    let share = 1.0 / sets.max(1) as f64;
    let sizes = variants.iter().flat_map(|&variant| sizes.iter().map(move |&kernels| (variant, kernels)));
    let point = |(variant, kernels): (LoopVariant, usize)| {
        let mut mean = LoopIterations { variant, kernels, sets, ..LoopIterations::default() };
        for number in 0..sets {
            let set = variant.draw(largest_grid, kernels, seed, number);
            let done: LoopWork = work(g_max, &set, variant.empty_pairs())?;
            let blocks: f64 = set.iter().map(|kernel| f64::from(kernel.blocks)).sum();
            let estimate = kernels as f64 * blocks / f64::from(g_max.get());
            mean.blocks += share * blocks;
            mean.finishing_turns += share * done.finishing_turns as f64;
            mean.placing_turns += share * done.placing_turns as f64;
            mean.pairs_compared += share * done.pairs_compared as f64;
            mean.most_pairs = mean.most_pairs.max(done.most_pairs);
            mean.turns_over_estimate += share * done.turns() as f64 / estimate;
        }
        Ok(mean)
    };
    sizes.map(point).collect()
}

/// A figure of the thesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CostFigure {
    /// Time against the number of kernels and of blocks, `g_max` one value.
    #[serde(rename = "3.11")]
    Kernels,
    /// `g_max` from 8 to 128.
    #[serde(rename = "3.12")]
    GMax,
    /// The largest grid from 10 to 100 blocks.
    #[serde(rename = "3.13")]
    LargestGrid,
}

/// One curve of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostSetting {
    /// `g_max`.
    pub g_max: NonZeroU32,
    /// The largest grid that may be drawn \[blocks\].
    pub largest_grid: u32,
}

/// One point of a figure: one task set, as in the thesis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostPoint {
    /// The curve that it is on.
    pub setting: CostSetting,
    /// Kernels.
    pub kernels: usize,
    /// Blocks of all kernels.
    pub blocks: u64,
    /// Turns of the printed algorithm's loop; the same on every machine.
    pub printed_turns: usize,
    /// Seconds that the printed algorithm took.
    pub printed_s: f64,
    /// Seconds that [`finish_times`] took.
    pub fast_s: f64,
}

/// The largest number of kernels in the thesis' figures; every number from 1 has a point.
const MOST_KERNELS: usize = 20;

/// The curves of a figure, in the thesis' order: the numbers of the programs `rta_plot` and `rta_mplot` in the author's
/// public repository. `rta_plot` has `g_max` = 30; the name of the picture that is Fig. 3.11 there says 10, so that is
/// the second curve.
pub(crate) fn settings(figure: CostFigure) -> Vec<CostSetting> {
    let setting =
        |g_max, largest_grid| CostSetting { g_max: NonZeroU32::new(g_max).unwrap_or(NonZeroU32::MIN), largest_grid };
    match figure {
        CostFigure::Kernels => [30, 10].map(|g_max| setting(g_max, 100)).to_vec(),
        CostFigure::GMax => [8, 16, 32, 64, 128].map(|g_max| setting(g_max, 200)).to_vec(),
        CostFigure::LargestGrid => [10, 25, 50, 100].map(|largest_grid| setting(32, largest_grid)).to_vec(),
    }
}

/// Measures a figure's points on this machine. `seconds` runs something and says how long it took.
///
/// # Errors
/// [`TimeOverflow`], which these task sets do not reach.
pub fn measure(
    figure: CostFigure,
    seed: u64,
    mut seconds: impl FnMut(&mut dyn FnMut()) -> f64,
) -> Result<Vec<CostPoint>, TimeOverflow> {
    let mut points = Vec::new();
    for setting in settings(figure) {
        for kernels in 1..=MOST_KERNELS {
            // Every point has a set of its own, as in the thesis.
            let set = LoopVariant::Thesis.draw(setting.largest_grid, kernels, seed, points.len() as u64);
            let printed_turns = algorithm_2::work(setting.g_max, &set, EmptyPairs::Entered)?.turns();
            let mut result = Ok(Vec::new());
            let printed_s = seconds(&mut || result = algorithm_2::finish_times(setting.g_max, black_box(&set)));
            let printed = std::mem::replace(&mut result, Ok(Vec::new()))?;
            let fast_s = seconds(&mut || result = finish_times(setting.g_max, black_box(&set)));
            debug_assert_eq!(Ok(printed), result);
            let blocks = set.iter().map(|kernel| u64::from(kernel.blocks)).sum();
            points.push(CostPoint { setting, kernels, blocks, printed_turns, printed_s, fast_s });
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_and_times_are_within_the_thesis_ranges_and_differ_from_set_to_set() {
        let draw = |number| LoopVariant::Thesis.draw(100, 2_000, 1, number);
        let set = draw(0);
        let blocks: Vec<u32> = set.iter().map(|kernel| kernel.blocks).collect();
        let times: Vec<u64> = set.iter().map(|kernel| kernel.block_time.as_ns()).collect();
        assert_eq!((blocks.iter().min(), blocks.iter().max()), (Some(&2), Some(&100)));
        assert_eq!((times.iter().min(), times.iter().max()), (Some(&20), Some(&100)));
        assert_eq!(set, draw(0));
        assert_ne!(set, draw(1));
    }

    #[test]
    fn without_empty_pairs_h_has_no_more_than_g_max_pairs_and_turns_grow_with_blocks_and_kernels_only() {
        let g_max = NonZeroU32::new(30).unwrap();
        for seed in 0..20 {
            for kernels in [1, 7, 60] {
                let set = LoopVariant::FineTime.draw(100, kernels, seed, 0);
                let work = work(g_max, &set, EmptyPairs::LeftOut).unwrap();
                let blocks: usize = set.iter().map(|kernel| kernel.blocks as usize).sum();
                assert!(work.most_pairs <= 30 && work.turns() <= blocks + 2 * kernels, "{work:?}");
            }
        }
    }

    #[test]
    fn the_share_falls_without_empty_pairs_and_stays_level_with_them() {
        let g_max = NonZeroU32::new(8).unwrap();
        let points = study(g_max, 20, &[LoopVariant::FineTime, LoopVariant::NoEmptyPairs], &[20, 100], 5, 1).unwrap();
        let shares: Vec<f64> = points.iter().map(|point| point.turns_over_estimate).collect();
        assert!((shares[0] / shares[1] - 1.0).abs() < 0.2, "{shares:?}");
        assert!(shares[2] > 3.0 * shares[3], "{shares:?}");
    }

    fn points(figure: CostFigure) -> Vec<CostPoint> {
        measure(figure, 1, |run| {
            run();
            0.000_25
        })
        .unwrap()
    }

    #[test]
    fn every_curve_has_a_point_for_each_number_of_kernels_up_to_20() {
        for (figure, curves) in [(CostFigure::Kernels, 2), (CostFigure::GMax, 5), (CostFigure::LargestGrid, 4)] {
            let points = points(figure);
            assert_eq!(points.len(), 20 * curves);
            assert!(points.iter().zip((1..=20).cycle()).all(|(point, kernels)| point.kernels == kernels));
            assert!(points.iter().all(|point| point.printed_turns >= point.kernels));
        }
    }
}
