//! Figures of Paredes Zevallos' thesis, 2019, that show computation times, and the test of its merged SM.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::figure::{Failure, Figure, File, Kind, Made, Make};
use super::paper::Paper;
use crate::device::Device;
use crate::experiments::cost_study::{self, CostPoint, measure};
use crate::experiments::validation::{Campaign, CampaignReport, Family};
use crate::report::cost_chart::{Against, chart, points_csv};
use crate::report::{campaign_csv, campaign_figure};
use crate::workload::Placement;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "thesis2019-figure-3-11",
        paper: Paper::Thesis2019,
        part: "Fig. 3.11",
        subject: "computation time against kernels and blocks",
        published: "Time grows with the number of kernels like a polynomial, and about linearly with that of blocks; \
                    O(n g / g_max) is derived.",
        kind: Kind::Timed {
            files: &[
                "thesis2019-figure-3-11-kernels.svg",
                "thesis2019-figure-3-11-blocks.svg",
                "thesis2019-figure-3-11.csv",
            ],
            finding: "The printed algorithm's turns grow linearly with both, 13 to 14 for each kernel. What is taken out \
                      of h is removed (in the thesis' own listing too), so h stays small and a turn costs the same \
                      however many kernels there are: the factor n does not show. With grids this small ours gains \
                      little.",
        },
        make: Make::Own(figure_3_11),
    },
    Figure {
        name: "thesis2019-figure-3-12",
        paper: Paper::Thesis2019,
        part: "Fig. 3.12",
        subject: "computation time where g_max varies and grids grow with the number of kernels",
        published: "For g_max = 128 times are an order of magnitude below those for g_max = 8.",
        kind: Kind::Timed {
            files: &[
                "thesis2019-figure-3-12-kernels.svg",
                "thesis2019-figure-3-12-blocks.svg",
                "thesis2019-figure-3-12.csv",
            ],
            finding: "The printed algorithm's turns confirm it: at 1000 kernels and more there are 13 to 16 times as many \
                      for g_max = 8 as for 128. Grids up to a fifth of the number of kernels; ours hardly grows with \
                      them.",
        },
        make: Make::Own(figure_3_12),
    },
    Figure {
        name: "thesis2019-figure-3-13",
        paper: Paper::Thesis2019,
        part: "Fig. 3.13",
        subject: "computation time where the largest grid varies",
        published: "For the same number of blocks the algorithm is the faster the fewer kernels there are; the size of \
                    grids has a minor influence.",
        kind: Kind::Timed {
            files: &[
                "thesis2019-figure-3-13-kernels.svg",
                "thesis2019-figure-3-13-blocks.svg",
                "thesis2019-figure-3-13.csv",
            ],
            finding: "The printed algorithm takes 1 to 1.3 turns for a block at 500 kernels and more, so against blocks \
                      its curves nearly coincide, and fewer kernels help a little; against kernels the size of grids is \
                      what counts. Ours hardly depends on it.",
        },
        make: Make::Own(figure_3_13),
    },
    Figure {
        name: "thesis2019-merged-sm",
        paper: Paper::Thesis2019,
        part: "section 3.2",
        subject: "how often one merged SM finishes as the real ones do",
        published: "The SMs are taken as one that holds g_max = b_max / b blocks (Eq. 3.6); experiments show the accuracy.",
        kind: Kind::Computed,
        make: Make::Own(merged_sm),
    },
];

/// Of the task sets and scenarios.
const SEED: u64 = 2019;

fn figure_3_11(name: &'static str) -> Result<Made, Failure> {
    cost(name, cost_study::CostFigure::Kernels)
}

fn figure_3_12(name: &'static str) -> Result<Made, Failure> {
    cost(name, cost_study::CostFigure::GMax)
}

fn figure_3_13(name: &'static str) -> Result<Made, Failure> {
    cost(name, cost_study::CostFigure::LargestGrid)
}

fn cost(name: &'static str, figure: cost_study::CostFigure) -> Result<Made, Failure> {
    let points = measure(figure, SEED, seconds)?;
    let mut finding = format!("Measured on this machine (seed {SEED})");
    for (point, joint) in
        points.iter().filter(|point| is_last(point, &points)).zip([":"].iter().chain([";"].iter().cycle()))
    {
        let CostPoint { g_max, largest_grid, kernels, printed_s, fast_s, .. } = point;
        let (printed, ours) = (1e6 * printed_s, 1e6 * fast_s);
        write!(
            finding,
            "{joint} g_max {g_max}, {kernels} kernels of up to {largest_grid} blocks, {printed:.0} us as printed, \
             {ours:.0} us ours"
        )?;
    }
    finding.push('.');
    let picture = |against| chart(figure, against, &points).map(|drawing| drawing.to_svg());
    Ok(Made {
        files: vec![
            File { name: format!("{name}-kernels.svg"), text: picture(Against::Kernels)? },
            File { name: format!("{name}-blocks.svg"), text: picture(Against::Blocks)? },
            File { name: format!("{name}.csv"), text: points_csv(&points) },
        ],
        finding,
    })
}

/// Whether a point is the one with the most kernels of its setting.
fn is_last(point: &CostPoint, points: &[CostPoint]) -> bool {
    points.iter().map(|other| other.kernels).max() == Some(point.kernels)
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

/// Scenarios of each family.
const SAMPLES: u64 = 100_000;

fn merged_sm(name: &'static str) -> Result<Made, Failure> {
    let campaign = Campaign {
        device: Device::builtin("tx2")?.ok_or("the TX2 is not built in")?,
        placement: Placement::MostRoom,
        families: Family::ALL.to_vec(),
        samples: SAMPLES,
        seed: SEED,
    };
    let report = campaign.run(&AtomicBool::new(false), &|_| {})?;
    let mut csv = Vec::new();
    campaign_csv(&report, &mut csv)?;
    Ok(Made {
        files: vec![
            File { name: format!("{name}.svg"), text: campaign_figure(&report).to_svg() },
            File { name: format!("{name}.csv"), text: String::from_utf8(csv)? },
        ],
        finding: shares(&report),
    })
}

/// The shares of a campaign as a table of Markdown.
fn shares(report: &CampaignReport) -> String {
    let mut table = format!(
        "| family, {SAMPLES} scenarios each (seed {SEED}) | equal | optimistic (unsafe) | pessimistic |\n\
         | --- | ---: | ---: | ---: |\n"
    );
    for family in &report.families {
        let percent = |count: u64| 100.0 * count as f64 / family.samples.max(1) as f64;
        let (equal, early, late) = (percent(family.equal), percent(family.optimistic), percent(family.pessimistic));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} | {equal:.3} % | {early:.3} % | {late:.3} % |", family.description);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a figure without times.
    fn turns(figure: cost_study::CostFigure) -> Vec<CostPoint> {
        measure(figure, SEED, |run| {
            run();
            0.0
        })
        .unwrap()
    }

    /// Turns of the printed algorithm, kernels, blocks and `g_max` of every point with so many kernels at least.
    fn points(figure: cost_study::CostFigure, kernels: usize) -> Vec<(f64, f64, f64, u32)> {
        let points = turns(figure).into_iter().filter(|point| point.kernels >= kernels);
        points
            .map(|point| (point.printed_steps as f64, point.kernels as f64, point.blocks as f64, point.g_max))
            .collect()
    }

    #[test]
    fn turns_of_the_printed_algorithm_are_as_the_gallery_says() {
        for (turns, kernels, _, _) in points(cost_study::CostFigure::Kernels, 200) {
            assert!((13.0..14.0).contains(&(turns / kernels)), "{turns} for {kernels} kernels");
        }
        let by_g_max = points(cost_study::CostFigure::GMax, 1_000);
        for &(turns, kernels, ..) in by_g_max.iter().filter(|point| point.3 == 8) {
            let other = by_g_max.iter().find(|other| (other.1 - kernels).abs() < 0.5 && other.3 == 128).unwrap();
            assert!((13.0..16.0).contains(&(turns / other.0)), "{turns} and {} for {kernels} kernels", other.0);
        }
        for (turns, _, blocks, _) in points(cost_study::CostFigure::LargestGrid, 500) {
            assert!((1.0..1.3).contains(&(turns / blocks)), "{turns} for {blocks} blocks");
        }
    }
}
