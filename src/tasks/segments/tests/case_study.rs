//! Table 5 of ECRTS 2024.

use super::super::{GpuWait, SegmentTaskSet, SegmentTest};

pub(super) fn case_study() -> SegmentTaskSet {
    let text = include_str!("../../../../witnesses/ecrts2024/case-study.json");
    SegmentTaskSet::from_json("case-study.json", text).expect("it is committed")
}

/// Bounds of the five tasks \[ms\].
fn bounds(set: &SegmentTaskSet, test: SegmentTest) -> Vec<Option<f64>> {
    let bounds = test.bounds(set);
    bounds[..5].iter().map(|bound| bound.bound().map(|bound| bound.as_ns() as f64 / 1e6)).collect()
}

fn assert_within_a_tenth(found: &[Option<f64>], printed: &[Option<f64>], what: &str) {
    assert_eq!(found.len(), printed.len());
    for (found, printed) in found.iter().zip(printed) {
        let agrees = match (found, printed) {
            (Some(found), Some(printed)) => (found - printed).abs() <= 0.1,
            (found, printed) => found == printed,
        };
        assert!(agrees, "{what}: {found:?}, printed {printed:?}");
    }
}

#[test]
fn ecrts_2024_table_5() {
    let set = case_study();
    for (test, printed) in [
        (SegmentTest::RoundRobinTable5(GpuWait::Suspend), [60.0, 73.6, 76.0, 98.2, 127.8].map(Some)),
        (SegmentTest::RoundRobinTable5(GpuWait::Busy), [Some(60.0), Some(73.6), Some(129.2), Some(192.2), None]),
        (SegmentTest::GcapsAsPrinted(GpuWait::Suspend), [16.0, 32.0, 75.0, 59.0, 79.0].map(Some)),
        (SegmentTest::GcapsAsPrinted(GpuWait::Busy), [16.0, 32.0, 111.0, 59.0, 79.0].map(Some)),
    ] {
        assert_within_a_tenth(&bounds(&set, test), &printed, test.name());
    }
}
