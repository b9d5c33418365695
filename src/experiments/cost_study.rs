//! The thesis' cost study (chapter 3, Figs. 3.11 to 3.13): time against kernels and blocks, for Algorithm 2 as
//! printed and for ours.
//!
//! Wall-clock times differ from machine to machine and from run to run; what is the same everywhere is the work, so
//! every point counts the turns of the printed algorithm's loop too.

use std::hint::black_box;
use std::num::NonZeroU32;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::analysis::{MergedKernel, TimeOverflow, finish_times, printed};
use crate::time::{Duration, Instant};

/// A figure of the thesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CostFigure {
    /// Time against the number of kernels and of blocks: grids of 2 to 20 blocks, as the thesis' generator draws them,
    /// `g_max` = 8.
    #[serde(rename = "3.11")]
    Kernels,
    /// `g_max` from 8 to 128; grids grow with the number of kernels.
    #[serde(rename = "3.12")]
    GMax,
    /// `g_max` = 8; the largest grid from 20 to 200 blocks.
    #[serde(rename = "3.13")]
    LargestGrid,
}

/// One point of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostPoint {
    /// The figure.
    pub figure: CostFigure,
    /// `g_max`.
    pub g_max: u32,
    /// The largest grid that may be drawn.
    pub largest_grid: u32,
    /// Kernels.
    pub kernels: usize,
    /// Blocks of all kernels.
    pub blocks: u64,
    /// Turns of the printed algorithm's loop; the same on every machine.
    pub printed_steps: usize,
    /// Seconds that the printed algorithm took.
    pub printed_s: f64,
    /// Seconds that [`finish_times`] took.
    pub fast_s: f64,
}

/// A task set of the study: grids of 2 to `largest_grid` blocks of 10 to 20 ns, uniform, all released together. The
/// generator in the thesis' appendix has the same with ticks for ns and a largest grid of 20.
#[must_use]
pub fn task_set(kernels: usize, largest_grid: u32, seed: u64) -> Vec<MergedKernel> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    let mut kernel = || MergedKernel {
        release: Instant::ZERO,
        block_time: Duration::from_ns(numbers.random_range(10..=20)),
        blocks: numbers.random_range(2..=largest_grid.max(2)),
    };
    (0..kernels).map(|_| kernel()).collect()
}

/// What each point of a figure runs: (`g_max`, largest grid, kernels). The thesis does not say which numbers its figures
/// have; ours are spread evenly on a logarithmic axis.
#[must_use]
pub fn settings(figure: CostFigure) -> Vec<(NonZeroU32, u32, usize)> {
    let g_max = |blocks: u32| NonZeroU32::new(blocks).unwrap_or(NonZeroU32::MIN);
    let counts = || [10_u32, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].into_iter();
    match figure {
        CostFigure::Kernels => counts().map(|kernels| (g_max(8), 20, kernels as usize)).collect(),
        CostFigure::GMax => [8, 32, 128]
            .into_iter()
            .flat_map(|blocks| counts().map(move |kernels| (g_max(blocks), kernels / 5, kernels as usize)))
            .collect(),
        CostFigure::LargestGrid => [20, 60, 200]
            .into_iter()
            .flat_map(|largest| counts().map(move |kernels| (g_max(8), largest, kernels as usize)))
            .collect(),
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
    for (g_max, largest_grid, kernels) in settings(figure) {
        let set = task_set(kernels, largest_grid, seed);
        let printed_steps = printed::steps_of(g_max, &set)?;
        let mut result = Ok(Vec::new());
        let printed_s = seconds(&mut || result = printed::finish_times(g_max, black_box(&set)));
        let printed = std::mem::replace(&mut result, Ok(Vec::new()))?;
        let fast_s = seconds(&mut || result = finish_times(g_max, black_box(&set)));
        debug_assert_eq!(Ok(printed), result);
        points.push(CostPoint {
            figure,
            g_max: g_max.get(),
            largest_grid,
            kernels,
            blocks: set.iter().map(|kernel| u64::from(kernel.blocks)).sum(),
            printed_steps,
            printed_s,
            fast_s,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_algorithm_takes_a_turn_or_more_for_every_wave_and_less_than_two_for_every_block() {
        let points = measure(CostFigure::Kernels, 1, |run| {
            run();
            0.0
        })
        .unwrap();
        assert_eq!(points.len(), 9);
        for point in points {
            let waves = usize::try_from(point.blocks).unwrap() / 8;
            assert!(point.printed_steps >= waves && point.printed_steps < 16 * (waves + 1), "{point:?}");
        }
    }
}
