//! Figures of Paredes Zevallos' thesis, 2019, that show computation times, and the test of its merged SM.

use std::fmt::Write;
use std::num::NonZeroU32;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made, tx2};
use super::paper::Paper;
use crate::analysis::MergedKernel;
use crate::analysis::algorithm_2::{EmptyPairs, work};
use crate::experiments::cost_study::{CostFigure, CostPoint, LoopIterations, LoopVariant, measure, study};
use crate::experiments::validation::{Campaign, CampaignReport, Family};
use crate::formats::csv_of;
use crate::pictures::campaign_figure;
use crate::pictures::cost_chart::{
    CostQuantity, chart, fitted_chart, iterations_chart, iterations_csv, points_csv, share_chart,
};
use crate::time::{Duration, Instant};
use crate::workload::Placement;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Thesis2019.computed("thesis2019-section-3-7", Make::Own(section_3_7)),
    Paper::Thesis2019.computed("thesis2019-figure-3-11", Make::Own(figure_3_11)).timed(&[
        "thesis2019-figure-3-11-kernels.svg",
        "thesis2019-figure-3-11-blocks.svg",
        "thesis2019-figure-3-11.csv",
    ]),
    Paper::Thesis2019.computed("thesis2019-figure-3-12", Make::Own(|name| three_parts(name, CostFigure::GMax))).timed(
        &[
            "thesis2019-figure-3-12-a.svg",
            "thesis2019-figure-3-12-b.svg",
            "thesis2019-figure-3-12-c.svg",
            "thesis2019-figure-3-12.csv",
        ],
    ),
    Paper::Thesis2019
        .computed("thesis2019-figure-3-13", Make::Own(|name| three_parts(name, CostFigure::LargestGrid)))
        .timed(&[
            "thesis2019-figure-3-13-a.svg",
            "thesis2019-figure-3-13-b.svg",
            "thesis2019-figure-3-13-c.svg",
            "thesis2019-figure-3-13.csv",
        ]),
    Paper::Thesis2019.computed("thesis2019-merged-sm", Make::Own(merged_sm)),
];

/// Of the task sets and scenarios.
const SEED: u64 = 2019;

fn figure_3_11(name: &'static str) -> Result<Made, Failure> {
    let points = points(CostFigure::Kernels)?;
    let picture =
        |part, x| -> Result<File, Failure> { Ok(File::svg(format!("{name}-{part}"), &fitted_chart(x, &points)?)) };
    made(name, &points, vec![picture("kernels", CostQuantity::Kernels)?, picture("blocks", CostQuantity::Blocks)?])
}

/// Figs. 3.12 and 3.13.
fn three_parts(name: &'static str, figure: CostFigure) -> Result<Made, Failure> {
    let points = points(figure)?;
    let parts = [
        ("a", CostQuantity::Kernels, CostQuantity::Time),
        ("b", CostQuantity::Kernels, CostQuantity::Blocks),
        ("c", CostQuantity::Blocks, CostQuantity::Time),
    ];
    let pictures: Result<Vec<File>, Failure> = parts
        .into_iter()
        .map(|(part, x, y)| Ok(File::svg(format!("{name}-{part}"), &chart(figure, x, y, &points)?)))
        .collect();
    made(name, &points, pictures?)
}

fn points(figure: CostFigure) -> Result<Vec<CostPoint>, Failure> {
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
    files.push(File::csv(name, points_csv(points)));
    Ok(Made { files, finding })
}

/// Time of one run: the least mean of five batches of at least a millisecond each, after one that does not count.
fn seconds(run: &mut dyn FnMut()) -> f64 {
    let mut batch = |runs: u32| {
        let start = std::time::Instant::now();
        (0..runs).for_each(|_| run());
        start.elapsed().as_secs_f64()
    };
    let mut runs = 1;
    while batch(runs) < 1e-3 && runs < 1 << 20 {
        runs *= 2;
    }
    (0..5).map(|_| batch(runs) / f64::from(runs)).fold(f64::INFINITY, f64::min)
}

/// Of the author's program `rta_plot`.
const G_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
const LARGEST_GRID: u32 = 100;
/// Sizes for which Table 3.1 is counted.
const COUNTED: [usize; 4] = [1, 5, 10, 20];
/// Far beyond the 20 kernels of the thesis.
const BEYOND: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

fn section_3_7(name: &'static str) -> Result<Made, Failure> {
    let small: Vec<usize> = (1..=20).collect();
    let thesis = study(G_MAX, LARGEST_GRID, &[LoopVariant::Thesis], &small, 100, SEED)?;
    let beyond = study(G_MAX, LARGEST_GRID, &LoopVariant::ALL, &BEYOND, 3, SEED)?;
    let counted: Vec<&LoopIterations> = thesis.iter().filter(|point| COUNTED.contains(&point.kernels)).collect();
    let mut finding = table(&counted)?;
    let turns: Vec<String> = counted.iter().map(|point| format!("{:.0}", point.turns())).collect();
    let last = |variant| beyond.iter().rfind(|point| point.variant == variant).ok_or("every variant has points");
    let (whole, fine, lean) =
        (last(LoopVariant::Thesis)?, last(LoopVariant::FineTime)?, last(LoopVariant::NoEmptyPairs)?);
    write!(
        finding,
        "\nMeans of 100 task sets for each n with the inputs of the author's `rta_plot` (g_max = 30, grids of 2 to 100, C \
         from 20 to 100, seed {SEED}). \
         The factor n shows: {} turns for n = {}, about half of n g / g_max (first picture). A turn takes one pair out \
         of h, not g_max blocks, and h has up to n pairs. It has more than g_max only because pairs (t, 0), entered after a \
         kernel that uses up g_f exactly, come back whenever they are taken out, until they fall on the time of another pair. Beyond the thesis' sizes (second picture; 3 sets each): where \
         ends of blocks do not fall on one time, turns stay at {:.2} n g / g_max up to n = {}. With C from 20 to 100 as whole numbers, \
         pairs of one time are added up, h stops growing (at most {} pairs), and the share falls to {:.2}. Without the pairs \
         (t, 0), which change no finish time, turns are at most g + 2n, and h has at most g_max pairs ({}): {:.2} there. \
         As min looks at all of h, time grows with n times the turns: {:.2} n^2 g / g_max pairs are compared at n = {}. \
         {}\n",
        turns.join(", "),
        COUNTED.map(|kernels| kernels.to_string()).join(", "),
        fine.turns_over_estimate,
        fine.kernels,
        whole.most_pairs,
        whole.turns_over_estimate,
        lean.most_pairs,
        lean.turns_over_estimate,
        fine.pairs_compared / (fine.kernels as f64).powi(2) / (fine.blocks / f64::from(G_MAX.get())),
        fine.kernels,
        bound_that_fails()?,
    )?;
    let files = vec![
        File::svg(name, &iterations_chart(&thesis)?),
        File::svg(format!("{name}-many-kernels"), &share_chart(&beyond)?),
        File::csv(name, iterations_csv(&thesis)),
        File::csv(format!("{name}-many-kernels"), iterations_csv(&beyond)),
    ];
    Ok(Made { files, finding })
}

/// Table 3.1 with how often each step is done.
fn table(counted: &[&LoopIterations]) -> Result<String, Failure> {
    const STEPS: [(&str, &str, &str, bool); 9] = [
        ("f_i = t_a + C_i", "sum", "O(1)", true),
        ("h = {h; (f_i, g_i)}", "append", "O(1)", true),
        ("t_a = t_a", "sum", "O(1)", true),
        ("g_f = g_f - g_i", "sum", "O(1)", true),
        ("i++", "sum", "O(1)", true),
        ("g_i = g_i - g_f", "sum", "O(1)", false),
        ("h = {h; (t_a + C_i, g_f)}", "append", "O(1)", false),
        ("[t_a, index] = min(h[:, 1])", "min", "O(n)", false),
        ("g_f = h[index, 2]", "index", "O(1)", false),
    ];
    let mut table = "| step | operation | printed cost |".to_owned();
    for point in counted {
        write!(table, " times for n = {} |", point.kernels)?;
    }
    write!(table, "\n| --- | --- | --- |{}\n", " ---: |".repeat(counted.len()))?;
    for (step, operation, cost, finishing) in STEPS {
        write!(table, "| {step} | {operation} | {cost} |")?;
        for point in counted {
            let times = if finishing { point.finishing_turns } else { point.placing_turns };
            write!(table, " {times:.1} |")?;
        }
        table.push('\n');
    }
    table.push_str("| pairs of h compared by one min | | |");
    for point in counted {
        write!(table, " {:.1} |", point.pairs_compared / point.placing_turns.max(1.0))?;
    }
    table.push('\n');
    Ok(table)
}

/// A family of inputs whose turns grow while n g / `g_max` does not.
fn bound_that_fails() -> Result<String, Failure> {
    let kernel = |c, blocks| MergedKernel { release: Instant::ZERO, block_time: Duration::from_ns(c), blocks };
    let mut rows = String::new();
    for g_max in [8, 16, 32, 64, 128, 256, 512] {
        let kernels: [MergedKernel; 2] = [kernel(1000, g_max - 1), kernel(1, g_max + 1)];
        let blocks: u32 = kernels.iter().map(|kernel| kernel.blocks).sum();
        let places = NonZeroU32::new(g_max).ok_or("g_max is not 0")?;
        let turns = work(places, &kernels, EmptyPairs::Entered)?.turns();
        writeln!(rows, "| {g_max} | {turns} | {} |", 2 * blocks / g_max)?;
    }
    Ok(format!(
        "As a bound for any C the estimate fails: of two kernels, g_max - 1 blocks of 1000 and g_max + 1 of 1, turns grow \
         with g_max while n g / g_max does not.\n\n| g_max | turns | n g / g_max |\n| ---: | ---: | ---: |\n{rows}"
    ))
}

/// Scenarios of each family.
const SAMPLES: u64 = 100_000;

fn merged_sm(name: &'static str) -> Result<Made, Failure> {
    let campaign = Campaign {
        device: tx2()?,
        placement: Placement::MostRoom,
        families: Family::ALL.to_vec(),
        samples: SAMPLES,
        seed: SEED,
    };
    let report = campaign.run(&|_| {})?;
    Ok(Made::of(name, &campaign_figure(&report), csv_of(&report), shares(&report)))
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
