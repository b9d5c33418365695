//! Figs. 3.11 to 3.13: the time of one run against kernels and blocks.

use std::hint::black_box;
use std::num::NonZeroU32;

use serde::Serialize;

use super::task_sets::TaskSets;
use crate::analysis::printed::{self, EmptyPairs};
use crate::analysis::{TimeOverflow, finish_times};

/// A figure of the thesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum CostFigure {
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
pub(crate) struct CostSetting {
    /// `g_max`.
    pub g_max: NonZeroU32,
    /// The largest grid that may be drawn \[blocks\].
    pub largest_grid: u32,
}

/// One point of a figure: one task set, as in the thesis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CostPoint {
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
pub(crate) fn measure(
    figure: CostFigure,
    seed: u64,
    mut seconds: impl FnMut(&mut dyn FnMut()) -> f64,
) -> Result<Vec<CostPoint>, TimeOverflow> {
    let mut points = Vec::new();
    for setting in settings(figure) {
        for kernels in 1..=MOST_KERNELS {
            // Every point has a set of its own, as in the thesis.
            let set = TaskSets::thesis(setting.largest_grid).draw(kernels, seed, points.len() as u64);
            let printed_turns = printed::work(setting.g_max, &set, EmptyPairs::Entered)?.turns();
            let mut result = Ok(Vec::new());
            let printed_s = seconds(&mut || result = printed::finish_times(setting.g_max, black_box(&set)));
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
