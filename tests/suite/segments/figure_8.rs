//! Fig. 8 of ECRTS 2024 against the printed curves.

use gpusched::experiments::segment_acceptance::{Fig8Panel, SegmentCurve};
use gpusched::figures::catalogue;
use gpusched::printed::Value;
use gpusched::tasks::segments::{GpuWait, SegmentGenerator, SegmentPreset, SegmentSets, SegmentTest};

/// GCAPS, time slices, FMLP+ and MPCP, each suspended and busy.
fn as_published() -> Vec<SegmentTest> {
    let tests = [
        SegmentTest::GcapsAssignedAsPrinted,
        SegmentTest::RoundRobinAsPublished,
        SegmentTest::FmlpPlusAsPublished,
        SegmentTest::MpcpAsPublished,
    ];
    tests.into_iter().flat_map(|test| [GpuWait::Suspend, GpuWait::Busy].map(test)).collect()
}

/// Percent accepted.
fn accepted(panel: Fig8Panel, point: u32, tests: Vec<SegmentTest>) -> Vec<f64> {
    let base = SegmentGenerator { sets: SegmentSets::Published, ..SegmentGenerator::ecrts_2024() };
    let curve = SegmentCurve { panel, base, preset: SegmentPreset::Paper, samples: 200, seed: 1, tests };
    curve.point(point, |_| ()).accepted.iter().map(|(_, count)| *count as f64 / 2.0).collect()
}

/// Where the paper's curves were read from the drawing, and are compared with those computed
/// (`gpusched figures --only ecrts2024-figure-8 --check`). Panels (e) and (f) are labelled otherwise than computed
/// (`docs/errata.md`): the points are where they were computed, at half of the label of (e), and 0.1 below that of (f).
const POINTS: [(Fig8Panel, u32); 13] = [
    (Fig8Panel::Tasks, 6),
    (Fig8Panel::Tasks, 10),
    (Fig8Panel::Utilization, 100),
    (Fig8Panel::Utilization, 200),
    (Fig8Panel::Utilization, 300),
    (Fig8Panel::Cpus, 1),
    (Fig8Panel::Cpus, 2),
    (Fig8Panel::GpuTasks, 100),
    (Fig8Panel::GpuTasks, 300),
    (Fig8Panel::GpuToCpu, 100),
    (Fig8Panel::GpuToCpu, 500),
    (Fig8Panel::BestEffort, 300),
    (Fig8Panel::BestEffort, 600),
];

#[test]
fn ecrts_2024_figure_8_comes_out_as_printed() {
    let figure = catalogue().into_iter().find(|figure| figure.name == "ecrts2024-figure-8").expect("it is there");
    let values = figure.printed().expect("it can be computed");
    assert_eq!(values.len(), 8 * POINTS.len());
    for value in values.iter().filter(|value| !value.agrees()) {
        // The search for GPU priorities finds more than the paper's, which drops assignments that are none.
        let (Value::Number(printed, _), Some(Value::Number(here, _))) = (&value.printed, &value.here) else {
            panic!("percentages: {value:?}")
        };
        assert!(value.what.contains("GCAPS") && (0.0..20.0).contains(&(here - printed)), "{value:?}");
    }
}

/// "In general, GCAPS outperforms previous methods"; where G / C is small it does not; MPCP is behind FMLP+ unless many
/// tasks are of best effort.
#[test]
fn ecrts_2024_figure_8_policies_are_ordered_as_printed() {
    for (panel, point) in POINTS {
        let here = accepted(panel, point, as_published());
        let [gcaps, gcaps_busy, slices, slices_busy, fmlp, fmlp_busy, mpcp, mpcp_busy] = here[..] else {
            panic!("eight curves: {here:?}");
        };
        let what = format!("{} at {point}: {here:?}", panel.name());
        if (panel, point) == (Fig8Panel::GpuToCpu, 100) {
            assert!(fmlp > gcaps, "{what}");
            continue;
        }
        // All but a set or two are accepted by either on the left of (a).
        assert!(gcaps + 1.0 >= slices.max(fmlp).max(mpcp), "{what}");
        assert!(gcaps_busy + 1.0 >= slices_busy.max(fmlp_busy).max(mpcp_busy), "{what}");
        if (panel, point) != (Fig8Panel::BestEffort, 600) {
            assert!(fmlp > mpcp && fmlp_busy > mpcp_busy, "{what}");
        }
    }
}

/// Labels of panels (e) and (f) of the paper do not say where their points were computed.
#[test]
fn ecrts_2024_figure_8_e_and_f_are_not_what_their_labels_say() {
    let off = |panel, point, printed: &[f64; 8]| -> f64 {
        // The locks, in which nothing is searched, and time slices.
        let here = accepted(panel, point, as_published());
        here.iter().zip(printed).skip(2).map(|(here, printed)| (here - printed).abs()).sum()
    };
    for (panel, label, computed) in
        [(Fig8Panel::GpuToCpu, 200, 100), (Fig8Panel::BestEffort, 900, 800), (Fig8Panel::BestEffort, 800, 700)]
    {
        let printed = match label {
            200 => [49.9, 60.1, 53.8, 36.4, 65.2, 64.1, 30.1, 28.5],
            900 => [98.8, 99.5, 56.6, 59.6, 33.6, 33.4, 43.9, 43.6],
            _ => [94.0, 95.6, 41.5, 37.4, 21.8, 21.4, 25.1, 25.0],
        };
        let (as_labelled, as_computed) = (off(panel, label, &printed), off(panel, computed, &printed));
        assert!(as_computed < as_labelled / 2.0, "{}: {as_computed} against {as_labelled}", panel.name());
    }
}
