//! Turns of the printed algorithm's loop against the number of kernels, beside the thesis' estimate n g / `g_max`.

use std::num::NonZeroU32;

use super::task_sets::TaskSets;
use crate::analysis::TimeOverflow;
use crate::analysis::printed::{EmptyPairs, LoopWork, work};
use crate::named::named;

named! {
    /// What differs between the curves.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum LoopVariant: ALL {
        /// The algorithm as printed, C whole numbers from 20 to 100.
        Thesis = "as printed, C from 20 to 100",
        /// As printed, C a million times as long, so that hardly any two ends fall on one time.
        FineTime = "as printed, no two ends at one time",
        /// In the same fine time, without the pairs (t, 0) that the printed algorithm enters into h.
        NoEmptyPairs = "the same without pairs (t, 0)",
    }
}

impl LoopVariant {
    fn task_sets(self, largest_grid: u32) -> TaskSets {
        match self {
            Self::Thesis => TaskSets::thesis(largest_grid),
            Self::FineTime | Self::NoEmptyPairs => TaskSets::thesis_in_fine_time(largest_grid),
        }
    }

    fn empty_pairs(self) -> EmptyPairs {
        match self {
            Self::Thesis | Self::FineTime => EmptyPairs::Entered,
            Self::NoEmptyPairs => EmptyPairs::LeftOut,
        }
    }
}

/// The mean work of some task sets of one size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoopIterations {
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
    pub(crate) fn turns(&self) -> f64 {
        self.finishing_turns + self.placing_turns
    }
}

/// Runs `sets` task sets of each size under each variant.
///
/// # Errors
/// [`TimeOverflow`], which these task sets do not reach.
pub(crate) fn study(
    g_max: NonZeroU32,
    largest_grid: u32,
    variants: &[LoopVariant],
    sizes: &[usize],
    sets: u64,
    seed: u64,
) -> Result<Vec<LoopIterations>, TimeOverflow> {
    let mut points = Vec::new();
    for &variant in variants {
        for &kernels in sizes {
            points.push(point(g_max, largest_grid, variant, kernels, sets, seed)?);
        }
    }
    Ok(points)
}

fn point(
    g_max: NonZeroU32,
    largest_grid: u32,
    variant: LoopVariant,
    kernels: usize,
    sets: u64,
    seed: u64,
) -> Result<LoopIterations, TimeOverflow> {
    let mut mean = LoopIterations {
        variant,
        kernels,
        sets,
        blocks: 0.0,
        finishing_turns: 0.0,
        placing_turns: 0.0,
        pairs_compared: 0.0,
        most_pairs: 0,
        turns_over_estimate: 0.0,
    };
    let share = 1.0 / sets.max(1) as f64;
    for number in 0..sets {
        let set = variant.task_sets(largest_grid).draw(kernels, seed, number);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_empty_pairs_h_has_no_more_than_g_max_pairs_and_turns_grow_with_blocks_and_kernels_only() {
        let g_max = NonZeroU32::new(30).unwrap();
        for seed in 0..20 {
            for kernels in [1, 7, 60] {
                let set = TaskSets::thesis_in_fine_time(100).draw(kernels, seed, 0);
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
}
