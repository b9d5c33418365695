//! Fig. 8 of ECRTS 2024 against the printed curves.

use gpusched::experiments::segment_acceptance::{Fig8Panel, SegmentCurve};
use gpusched::tasks::segments::{GpuWait, SegmentSets, SegmentTest};

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
    let curve = SegmentCurve { panel, sets: SegmentSets::Published, samples: 200, seed: 1, tests };
    curve.point(point, |_| ()).accepted.iter().map(|(_, count)| *count as f64 / 2.0).collect()
}

/// The paper's curves at some points, read from the drawing of Fig. 8 \[percent\]. Panels (e) and (f) are labelled
/// otherwise than computed (`docs/errata.md`): the points are where they were computed, at half of the label of (e), and
/// 0.1 below that of (f).
const PRINTED: [(Fig8Panel, u32, [f64; 8]); 13] = [
    (Fig8Panel::Tasks, 6, [98.4, 99.3, 98.6, 94.2, 68.9, 68.7, 56.4, 55.0]),
    (Fig8Panel::Tasks, 10, [72.9, 68.4, 62.4, 44.3, 27.1, 26.5, 14.2, 12.8]),
    (Fig8Panel::Utilization, 100, [99.3, 99.8, 95.3, 72.8, 67.8, 67.8, 49.0, 48.0]),
    (Fig8Panel::Utilization, 200, [93.3, 94.6, 58.2, 34.3, 38.3, 38.1, 17.8, 17.2]),
    (Fig8Panel::Utilization, 300, [65.6, 69.2, 24.1, 14.2, 20.7, 20.6, 8.1, 7.9]),
    (Fig8Panel::Cpus, 1, [98.2, 100.0, 85.1, 85.8, 92.3, 92.3, 74.9, 69.6]),
    (Fig8Panel::Cpus, 2, [75.2, 81.4, 44.6, 42.0, 47.6, 46.9, 32.2, 30.8]),
    (Fig8Panel::GpuTasks, 100, [96.3, 93.7, 72.6, 89.6, 87.3, 87.2, 82.8, 82.6]),
    (Fig8Panel::GpuTasks, 300, [59.8, 52.4, 30.1, 31.8, 36.2, 36.2, 23.7, 23.4]),
    (Fig8Panel::GpuToCpu, 100, [49.9, 60.1, 53.8, 36.4, 65.2, 64.1, 30.1, 28.5]),
    (Fig8Panel::GpuToCpu, 500, [23.9, 23.2, 6.7, 7.6, 12.8, 12.1, 4.2, 3.9]),
    (Fig8Panel::BestEffort, 300, [42.7, 44.3, 9.5, 8.6, 9.0, 9.0, 5.1, 4.9]),
    (Fig8Panel::BestEffort, 600, [87.2, 90.0, 29.5, 29.0, 17.0, 16.5, 19.7, 19.5]),
];

#[test]
fn ecrts_2024_figure_8_comes_out_as_printed() {
    for (panel, point, printed) in PRINTED {
        let here = accepted(panel, point, as_published());
        for (number, (here, printed)) in here.iter().zip(printed).enumerate() {
            let what = || {
                format!("{} at {point}, {}: {here} %, printed {printed} %", panel.name(), as_published()[number].name())
            };
            // 200 sets: three standard deviations of a half are 10.6. The search for GPU priorities finds more than the
            // paper's, which drops assignments that are none.
            let more = if number < 2 { 20.0 } else { 12.0 };
            assert!(here - printed < more && printed - here < 12.0, "{}", what());
        }
    }
}

/// "In general, GCAPS outperforms previous methods"; where G / C is small it does not; MPCP is behind FMLP+ unless many
/// tasks are of best effort.
#[test]
fn ecrts_2024_figure_8_policies_are_ordered_as_printed() {
    for (panel, point, _) in PRINTED {
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
