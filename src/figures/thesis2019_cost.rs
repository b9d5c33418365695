//! Figures of Paredes Zevallos' thesis, 2019, that show computation times, and the test of its merged SM.

mod loop_iterations;
mod merged;

use std::fmt::Write;
use std::time::Instant;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made};
use super::paper::Paper;
use crate::experiments::cost_study::{self, CostPoint, measure};
use crate::pictures::cost_chart::{CostQuantity, chart, fitted_chart, points_csv};

pub(super) const FIGURES: &[Figure] = &[
    Paper::Thesis2019.computed(
        "thesis2019-section-3-7",
        "section 3.7, Table 3.1",
        "turns of Algorithm 2 and what each step costs",
        "min costs O(n), every other step O(1); the loop takes about g / g_max turns with g the sum of all g_i, so the \
         complexity is O(n g / g_max).",
        Make::Own(loop_iterations::make),
    ),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-11",
        "Fig. 3.11",
        "best fit for computational complexity",
        "Time grows with the number of kernels like a polynomial; with the number of blocks the relation is more \
         linear.",
        Make::Own(figure_3_11),
    )
    .timed(
        &[
            "thesis2019-figure-3-11-kernels.svg",
            "thesis2019-figure-3-11-blocks.svg",
            "thesis2019-figure-3-11.csv",
        ],
        "The first holds: with twice as many kernels the loop takes about three to four times as many turns. Against \
         blocks, of which there are twice as many then, it bends as much; the author's own fit is of degree two \
         there. The inputs are those of the author's public program `rta_plot`: 1 to 20 kernels, grids of 2 to 100 \
         blocks, C from 20 to 100, g_max = 30; the second curve has g_max = 10, as the name of the picture there \
         says. The fits have that program's degrees. Our times are of a compiled program, so microseconds where the \
         thesis' are tenths of a second.",
    ),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-12",
        "Fig. 3.12",
        "computational complexity when g_max is variable",
        "(a) For g_max = 128 times are an order of magnitude below those for g_max = 8. (b) Blocks grow linearly \
         with kernels. (c) Time against blocks.",
        Make::Own(figure_3_12),
    )
    .timed(
        &[
            "thesis2019-figure-3-12-a.svg",
            "thesis2019-figure-3-12-b.svg",
            "thesis2019-figure-3-12-c.svg",
            "thesis2019-figure-3-12.csv",
        ],
        "It holds: with 20 kernels g_max = 8 takes 10 to 20 times the turns of g_max = 128. The inputs are those of \
         the author's `rta_mplot`: 1 to 20 kernels, grids of 2 to 200 blocks, C from 20 to 100.",
    ),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-13",
        "Fig. 3.13",
        "computational complexity when the largest grid is variable",
        "(a) Time against kernels, (b) blocks against kernels; (c) for the same number of blocks the algorithm runs \
         faster because there are fewer kernels. Grid size has a minor influence. (The thesis calls the largest grid \
         b_max.)",
        Make::Own(figure_3_13),
    )
    .timed(
        &[
            "thesis2019-figure-3-13-a.svg",
            "thesis2019-figure-3-13-b.svg",
            "thesis2019-figure-3-13-c.svg",
            "thesis2019-figure-3-13.csv",
        ],
        "(c) holds: about 250 blocks take more than twice the turns as 16 kernels with grids up to 25 than as 6 \
         kernels with grids up to 100 (74 and 29). The inputs are those of the author's `rta_mplot`: 1 to 20 \
         kernels, grids from 2 to 10, 25, 50 or 100 blocks, C from 20 to 100, g_max = 32. Grid size is of minor \
         influence for a given number of blocks, as in (c); for a given number of kernels, as in (a), it is what \
         counts, here as in the thesis' own picture: with 20 kernels, grids up to 100 take about seven times the \
         turns of grids up to 10.",
    ),
    Paper::Thesis2019.computed(
        "thesis2019-merged-sm",
        "section 3.2",
        "how often one merged SM finishes as the real ones do",
        "The SMs are taken as one that holds g_max = b_max / b blocks (Eq. 3.6); experiments show the accuracy.",
        Make::Own(merged::make),
    ),
];

/// Of the task sets and scenarios.
const SEED: u64 = 2019;

fn figure_3_11(name: &'static str) -> Result<Made, Failure> {
    let points = points(cost_study::CostFigure::Kernels)?;
    let picture = |part, x| -> Result<File, Failure> {
        Ok(File { name: format!("{name}-{part}.svg"), text: fitted_chart(x, &points)?.to_svg() })
    };
    made(name, &points, vec![picture("kernels", CostQuantity::Kernels)?, picture("blocks", CostQuantity::Blocks)?])
}

fn figure_3_12(name: &'static str) -> Result<Made, Failure> {
    three_parts(name, cost_study::CostFigure::GMax)
}

fn figure_3_13(name: &'static str) -> Result<Made, Failure> {
    three_parts(name, cost_study::CostFigure::LargestGrid)
}

fn three_parts(name: &'static str, figure: cost_study::CostFigure) -> Result<Made, Failure> {
    let points = points(figure)?;
    let parts = [
        ("a", CostQuantity::Kernels, CostQuantity::Time),
        ("b", CostQuantity::Kernels, CostQuantity::Blocks),
        ("c", CostQuantity::Blocks, CostQuantity::Time),
    ];
    let pictures: Result<Vec<File>, Failure> = parts
        .into_iter()
        .map(|(part, x, y)| {
            Ok(File { name: format!("{name}-{part}.svg"), text: chart(figure, x, y, &points)?.to_svg() })
        })
        .collect();
    made(name, &points, pictures?)
}

fn points(figure: cost_study::CostFigure) -> Result<Vec<CostPoint>, Failure> {
    Ok(measure(figure, SEED, seconds)?)
}

fn made(name: &'static str, points: &[CostPoint], mut files: Vec<File>) -> Result<Made, Failure> {
    let mut finding = format!("Measured on this machine (seed {SEED}), most kernels of each curve");
    let last = points.chunk_by(|one, other| one.setting == other.setting).filter_map(<[CostPoint]>::last);
    for (point, joint) in last.zip([":"].iter().chain([";"].iter().cycle())) {
        let CostPoint { setting, kernels, blocks, printed_turns, printed_s, fast_s } = point;
        let (printed, ours) = (1e6 * printed_s, 1e6 * fast_s);
        write!(
            finding,
            "{joint} g_max {}, {kernels} kernels of up to {} blocks, {blocks} in all: {printed_turns} turns in \
             {printed:.1} us as printed, {ours:.1} us ours",
            setting.g_max, setting.largest_grid
        )?;
    }
    finding.push('.');
    files.push(File { name: format!("{name}.csv"), text: points_csv(points) });
    Ok(Made { files, finding })
}

/// Time of one run: the least mean of five batches of at least a millisecond each, after one that does not count.
fn seconds(run: &mut dyn FnMut()) -> f64 {
    let mut batch = |runs: u32| {
        let start = Instant::now();
        (0..runs).for_each(|_| run());
        start.elapsed().as_secs_f64()
    };
    let mut runs = 1;
    while batch(runs) < 1e-3 && runs < 1 << 20 {
        runs *= 2;
    }
    (0..5).map(|_| batch(runs) / f64::from(runs)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::experiments::cost_study::{LoopIterations, LoopVariant, study};

    /// Mean turns and blocks of 100 sets of the thesis.
    fn mean(g_max: u32, largest_grid: u32, kernels: usize) -> LoopIterations {
        let g_max = NonZeroU32::new(g_max).unwrap();
        study(g_max, largest_grid, &[LoopVariant::Thesis], &[kernels], 100, SEED).unwrap().remove(0)
    }

    #[test]
    fn turns_with_the_inputs_of_the_thesis_are_as_the_gallery_says() {
        for g_max in [30, 10] {
            assert!(mean(g_max, 100, 20).turns() > 3.0 * mean(g_max, 100, 10).turns());
        }
        let ratio = mean(8, 200, 20).turns() / mean(128, 200, 20).turns();
        assert!((10.0..20.0).contains(&ratio), "{ratio}");
        let (many, few) = (mean(32, 25, 20), mean(32, 100, 5));
        assert!((many.blocks - few.blocks).abs() < 30.0, "{many:?} {few:?}");
        assert!(many.turns() > 2.0 * few.turns(), "{many:?} {few:?}");
        let ratio = mean(32, 100, 20).turns() / mean(32, 10, 20).turns();
        assert!((5.5..6.5).contains(&ratio), "{ratio}");
    }
}
