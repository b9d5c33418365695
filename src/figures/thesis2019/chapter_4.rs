//! Chapter 4 as one table: measured, simulated, analysed.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::made::{Failure, File, Made, Published, read, with_expected};
use super::{FIGURE_4_7, FIGURE_4_9, SCENARIO_1, SCENARIO_2, SCENARIO_3, SECTION_3_5};
use crate::analysis::{Comparison, analyse};
use crate::hosts::simulate;
use crate::printed::{Printed, Value};
use crate::time::Instant;
use crate::trace::{OperationRecord, Trace};
use crate::workload::OperationId;

/// A kernel and its blocks on SM 0 and SM 1.
type Placed = (&'static str, [u32; 2]);

pub(super) struct Experiment {
    /// Where its result was published.
    place: &'static str,
    /// The picture of its measurement; `None` if that is in the thesis' repository only.
    measured: Option<&'static str>,
    /// Where the thesis has the result of its analysis.
    analysed: &'static str,
    /// Its kernels, and the measured start and finish times.
    scenario: Published,
    /// On which SMs the blocks were, as far as pictures of the measurement show it.
    placed: &'static [Placed],
}

/// The placements are read by eye from the pictures of the measurements in the thesis' repository
/// (`daleonpz/master_thesis_markdown`, `source/figures/nvidia`: `base`, `ex02`, `ex03`, `ex05`, `ex06`, `ex07`); block
/// by block they are in `docs/blocks.md`. One block of K4 is missing from the picture of scenario 2.
pub(super) const EXPERIMENTS: [Experiment; 6] = [
    Experiment {
        place: "Sec. 4.2, 1",
        measured: Some("Fig. 4.1"),
        analysed: "Fig. 4.2",
        scenario: SCENARIO_1,
        placed: &[("K2", [4, 3]), ("K3", [1, 1]), ("K4", [3, 2]), ("K1", [0, 2])],
    },
    Experiment {
        place: "Sec. 4.2, 2",
        measured: Some("Fig. 4.3"),
        analysed: "Fig. 4.4",
        scenario: SCENARIO_2,
        placed: &[("K2", [4, 3]), ("K4", [2, 2]), ("K1", [1, 1]), ("K3", [0, 2])],
    },
    Experiment {
        place: "Sec. 4.2, 3",
        measured: Some("Fig. 4.5"),
        analysed: "Fig. 4.6",
        scenario: SCENARIO_3,
        placed: &[("K2", [4, 3]), ("K1", [0, 2]), ("K3", [0, 2]), ("K4", [4, 1])],
    },
    Experiment {
        place: "Sec. 3.5",
        measured: None,
        analysed: "Sec. 3.5, f = {4, 10, 12, 11}",
        scenario: SECTION_3_5,
        placed: &[("K1", [1, 1]), ("K2", [4, 3]), ("K3", [1, 1]), ("K4", [2, 3])],
    },
    Experiment {
        place: "Sec. 4.3, 1",
        measured: Some("Fig. 4.7"),
        analysed: "Fig. 4.8",
        scenario: FIGURE_4_7,
        placed: &[("K4", [1, 0]), ("K2", [3, 4]), ("K3", [3, 7]), ("K5", [2, 1]), ("K1", [2, 2])],
    },
    Experiment {
        place: "Sec. 4.3, 2",
        measured: Some("Fig. 4.9"),
        analysed: "Fig. 4.10",
        scenario: FIGURE_4_9,
        placed: &[("K5", [4, 4]), ("K1", [3, 2]), ("K4", [0, 1]), ("K3", [4, 3]), ("K2", [3, 1])],
    },
];

/// What the thesis prints of all experiments.
pub(super) fn values() -> Result<Vec<Printed>, Failure> {
    let values = EXPERIMENTS.iter().map(values_of).collect::<Result<Vec<_>, _>>()?;
    Ok(values.concat())
}

/// What the thesis prints of one: times that were measured against those simulated, the same finish times, which it has
/// analysed, against those analysed here, and on which SMs its pictures have the blocks.
pub(super) fn values_of(experiment: &Experiment) -> Result<Vec<Printed>, Failure> {
    let scenario = read(experiment.scenario)?;
    let expected = scenario.expected.as_ref().ok_or("shipped scenarios have their result with them")?;
    let (analysis, run) = (analyse(&scenario)?, simulate(&scenario)?);
    let tolerance = expected.tolerance.as_ns() as f64 / 1e9;
    let mut values: Vec<Printed> = with_expected(experiment.scenario)?
        .into_iter()
        .filter(|value| !value.what.ends_with("blocks per SM"))
        .collect();
    for kernel in &analysis.kernels {
        let title = kernel.launch.title();
        let printed = expected.kernels.iter().find(|printed| printed.name == title).and_then(|printed| printed.finish);
        if let Some(printed) = printed {
            let what = format!("{title}: finish, analysed");
            let here = kernel.finish_ns.map(Value::from);
            values.push(Printed::or_nothing(experiment.analysed, what, printed, here).within(tolerance));
        }
        let placed = experiment.placed.iter().find(|(placed, _)| *placed == title);
        if let Some((place, (_, placed))) = experiment.measured.zip(placed) {
            let here = blocks_per_sm(&run.trace, OperationId(kernel.launch.id));
            values.push(Printed::new(
                place,
                format!("{title}: blocks per SM"),
                format!("{placed:?}"),
                format!("{here:?}"),
            ));
        }
    }
    Ok(values)
}

/// How many times and placements there are, and which differ.
#[derive(Default)]
struct Tally {
    finishes: usize,
    same_finishes: usize,
    starts: usize,
    same_starts: usize,
    placements: usize,
    elsewhere: Vec<String>,
    /// Of `elsewhere`, those of which the rules decide the SMs.
    unexplained: usize,
}

pub(super) fn make(name: &'static str) -> Result<Made, Failure> {
    let mut csv = "experiment,kernel,measured_start_ns,simulated_start_ns,measured_finish_ns,simulated_finish_ns,\
                   analysed_finish_ns,measured_blocks_per_sm,simulated_blocks_per_sm\n"
        .to_owned();
    let mut table =
        "| experiment | kernel | starts: measured | simulated | finishes: measured | simulated | analysed | \
                     blocks on SM 0, 1: measured | simulated |\n\
                     | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    let mut tally = Tally::default();
    for experiment in &EXPERIMENTS {
        add(experiment, &mut csv, &mut table, &mut tally)?;
    }
    let reason = if tally.unexplained == 0 {
        "each of these has blocks that start at an instant at which blocks end on both SMs, and the measured SM depends \
         on which of those really ended first"
    } else {
        "not all of these are explained by blocks that end on both SMs at one instant"
    };
    let finding = format!(
        "{} of {} measured finish times are simulated and analysed alike, and {} of {} measured start times simulated \
         alike. Of {} kernels whose SMs are recorded, {} have blocks on other SMs than in the simulation ({}): {reason}. \
         The analysis has one SM and says nothing about this; block by block it is in \
         [docs/blocks.md](../docs/blocks.md). Measured times are relative to the first block and rounded to the spin \
         lengths of the kernels: what they confirm is the order of blocks, not the overhead of a launch. \
         Section 3.5 was measured too, though the thesis does not print it. In scenario 2 the picture shows four of K4's five blocks.\n\n{table}",
        tally.same_finishes,
        tally.finishes,
        tally.same_starts,
        tally.starts,
        tally.placements,
        tally.elsewhere.len(),
        tally.elsewhere.join(", "),
    );
    Ok(Made { files: vec![File::csv(name, csv)], finding })
}

fn add(experiment: &Experiment, csv: &mut String, table: &mut String, tally: &mut Tally) -> Result<(), Failure> {
    let scenario = read(experiment.scenario)?;
    let run = simulate(&scenario)?;
    let compared = Comparison::new(&analyse(&scenario)?, &run)?;
    let expected = scenario.expected.as_ref().ok_or("shipped scenarios have their result with them")?;
    for kernel in &compared.kernels {
        let measured = expected.kernels.iter().find(|measured| measured.name == kernel.launch.title());
        let start = measured.and_then(|measured| measured.first_start);
        let finish = measured.and_then(|measured| measured.finish);
        let id = OperationId(kernel.launch.id);
        let begun = run.trace.operations().get(kernel.launch.id as usize).and_then(OperationRecord::first_start);
        let near = |one: Option<Instant>, other: Option<Instant>| {
            one.zip(other).is_some_and(|(one, other)| one.since(other).max(other.since(one)) <= expected.tolerance)
        };
        tally.starts += usize::from(start.is_some());
        tally.same_starts += usize::from(near(start, begun));
        tally.finishes += usize::from(finish.is_some());
        let same = near(finish, kernel.simulated_finish_ns) && near(finish, kernel.analysed_finish_ns);
        tally.same_finishes += usize::from(same);

        let simulated = blocks_per_sm(&run.trace, id);
        let placed =
            experiment.placed.iter().find(|(title, _)| *title == kernel.launch.title()).map(|(_, placed)| placed);
        if let Some(placed) = placed {
            tally.placements += 1;
            // Blocks that a picture hides may have been anywhere.
            if placed.iter().zip(&simulated).any(|(seen, simulated)| seen > simulated) {
                tally.elsewhere.push(format!("{} of {}", kernel.launch.title(), experiment.place));
                tally.unexplained += usize::from(!starts_as_both_sms_free(&run.trace, id));
            }
        }
        let shown = |at: Option<Instant>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let pair =
            |blocks: &[u32], between: &str| blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(between);
        let place = placed.map_or_else(|| "-".to_owned(), |placed| pair(placed, ", "));
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} | {place} | {} |",
            experiment.place,
            kernel.launch.title(),
            shown(start),
            shown(begun),
            shown(finish),
            shown(kernel.simulated_finish_ns),
            shown(kernel.analysed_finish_ns),
            pair(&simulated, ", "),
        );
        let ns = |at: Option<Instant>| at.map_or_else(String::new, |at| at.as_ns().to_string());
        let _ = writeln!(
            csv,
            "\"{}\",{},{},{},{},{},{},{},{}",
            experiment.place,
            kernel.launch.title(),
            ns(start),
            ns(begun),
            ns(finish),
            ns(kernel.simulated_finish_ns),
            ns(kernel.analysed_finish_ns),
            placed.map_or_else(String::new, |placed| pair(placed, " ")),
            pair(&simulated, " "),
        );
    }
    Ok(())
}

fn blocks_per_sm(trace: &Trace, id: OperationId) -> Vec<u32> {
    let mut blocks = vec![0; trace.sms() as usize];
    for run in trace.block_runs(id) {
        blocks[usize::from(run.sm)] += u32::from(run.blocks);
    }
    blocks
}

/// Whether a block of the kernel starts at an instant at which blocks end on more than one SM.
fn starts_as_both_sms_free(trace: &Trace, id: OperationId) -> bool {
    let all = (0..).map(OperationId).take(trace.operations().len());
    let ends: BTreeSet<(Instant, u16)> =
        all.flat_map(|id| trace.blocks(id).map(|block| (block.end, block.sm)).collect::<Vec<_>>()).collect();
    trace.blocks(id).any(|block| ends.range((block.start, 0)..=(block.start, u16::MAX)).count() > 1)
}
