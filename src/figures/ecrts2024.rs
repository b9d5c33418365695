//! Figures of Wang, Liu, Wong and Kim, ECRTS 2024: tasks with CPU and GPU segments.
//!
//! `docs/tasks.md` says what agrees with the paper, and `docs/errata.md` what does not.

mod printed;

use std::fmt::Write;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made};
use super::paper::Paper;
use crate::experiments::segment_acceptance::{Fig8Panel, SegmentCurve, SegmentCurvePoint};
use crate::pictures::segment_acceptance_plot;
use crate::tasks::segments::{GpuWait, SegmentGenerator, SegmentPreset, SegmentSets, SegmentTest};

/// Task sets a point; the paper has 1,000.
const SETS: u64 = 500;
const SEED: u64 = 0;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Ecrts2024
        .computed(
            "ecrts2024-example-2",
            "Example 2, Table 2",
            "GPU priorities of their own",
            "With the CPU's priorities on the GPU the four tasks are not schedulable; with those of tau3 and tau4 swapped \
             they are.",
            Make::Compared,
        )
        .with_values(printed::example_2),
    Paper::Ecrts2024
        .computed(
            "ecrts2024-tables-4-5",
            "Table 4 and 5",
            "the case study: lengths, and bounds on response times",
            "Six tasks on a Jetson Xavier NX; the bound on task 5 fails with time slices and busy waiting only.",
            Make::Compared,
        )
        .with_values(printed::case_study),
    Paper::Ecrts2024
        .computed(
            "ecrts2024-figure-8",
            "Fig. 8",
            "acceptance of GCAPS, time slices, FMLP+ and MPCP",
            "In general GCAPS accepts more sets than time slices, FMLP+ and MPCP. Where G / C is small it accepts fewer \
             than FMLP+ and suspended time slices. With many tasks of best effort it is far ahead.",
            Make::Own(figure_8),
        )
        .with_values(|| Ok(printed::figure_8())),
];

const WAITING: [GpuWait; 2] = [GpuWait::Suspend, GpuWait::Busy];

/// Some inputs: what is added to the names of their files, what is said of them, how sets are drawn, and the tests.
struct Case {
    suffix: &'static str,
    words: &'static str,
    sets: SegmentSets,
    tests: [fn(GpuWait) -> SegmentTest; 4],
}

const CASES: [Case; 2] = [
    Case {
        suffix: "",
        words: "as published",
        sets: SegmentSets::Published,
        tests: [
            SegmentTest::GcapsAssignedAsPrinted,
            SegmentTest::RoundRobinAsPublished,
            SegmentTest::FmlpPlusAsPublished,
            SegmentTest::MpcpAsPublished,
        ],
    },
    Case {
        suffix: "-proven",
        words: "proven",
        sets: SegmentSets::Printed,
        tests: [SegmentTest::GcapsAssigned, SegmentTest::RoundRobin, SegmentTest::FmlpPlus, SegmentTest::Mpcp],
    },
];

fn figure_8(name: &'static str) -> Result<Made, Failure> {
    let (mut pictures, mut tables) = (Vec::new(), Vec::new());
    let mut finding = String::from(
        "| panel | GCAPS suspended, busy | time slices | FMLP+ | MPCP |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for Case { suffix, words, sets, tests } in CASES {
        let mut csv = String::new();
        for panel in Fig8Panel::ALL {
            let both = tests.into_iter().flat_map(|test| WAITING.map(test));
            let base = SegmentGenerator { sets, ..SegmentGenerator::ecrts_2024() };
            let preset = SegmentPreset::Paper;
            let curve = SegmentCurve { panel, base, preset, samples: SETS, seed: SEED, tests: both.collect() };
            let points: Vec<SegmentCurvePoint> =
                panel.points(preset).into_iter().map(|point| curve.point(point, |_| ())).collect();
            let text = segment_acceptance_plot(&format!("{}, {words}", panel.axis()), &curve, &points)?.to_svg();
            pictures.push(File { name: format!("{name}-{}{suffix}.svg", panel.name()), text });
            if csv.is_empty() {
                let header = curve.header();
                let (_, counts) = header.split_once(',').unwrap_or_default();
                csv = format!("panel,value,{counts}");
            }
            for point in &points {
                write!(csv, "{},{}", panel.name(), curve.line(point))?;
            }
            write!(finding, "| {}, {words} |", panel.axis())?;
            for test in tests {
                let share = |waiting: GpuWait| {
                    let ratios = points.iter().filter_map(|point| point.ratio(test(waiting)));
                    100.0 * ratios.sum::<f64>() / points.len().max(1) as f64
                };
                write!(finding, " {:.1} %, {:.1} % |", share(GpuWait::Suspend), share(GpuWait::Busy))?;
            }
            finding.push('\n');
        }
        tables.push(File { name: format!("{name}{suffix}.csv"), text: csv });
    }
    write!(
        finding,
        "\nShares are of all sets of a panel, {SETS} a point. *As published*: with the equations as printed, the bounds that \
         the authors published for the others, and their generator, the order of the curves is that of the paper, and \
         they stand where the paper has them but for three things told in the [errata](../docs/errata.md#ecrts-2024): \
         panels (e) and (f) of the paper are labelled otherwise than computed, and a search for GPU priorities that keeps \
         the order on each core finds more. None of these bounds proves anything. *Proven*: with bounds that no run \
         exceeds, and sets as section 7.1 describes them, GCAPS' lead is gone at ε = 1 ms but with busy waiting and \
         tasks of best effort; see [docs/tasks.md](../docs/tasks.md).\n"
    )?;
    pictures.append(&mut tables);
    Ok(Made { files: pictures, finding })
}
