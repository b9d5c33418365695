//! Bounds window by window: what comes later spoils no bound of what came before, and no run is above one.

use gpusched::analysis::{SearchOptions, Verdict, judge_sporadic, sporadic_bounds};
use gpusched::analysis::{SporadicRefusal, Watch};
use proptest::prelude::*;

use super::{judged, scenario};
use crate::common::tx2;

/// Streams of which each launches what `operations` says, so many times.
fn equal_streams(count: u32, period_ms: u32, jobs: u32, operations: &str) -> String {
    let stream = |number| {
        format!(r#"{{"name": "S{number}", "period": "{period_ms} ms", "jobs": {jobs}, "operations": [{operations}]}}"#)
    };
    (0..count).map(stream).collect::<Vec<_>>().join(", ")
}

fn few_runs() -> SearchOptions {
    SearchOptions { runs: 8, ..SearchOptions::default() }
}

#[test]
fn a_second_job_spoils_no_bound_of_the_first() {
    let kernels = r#""K": {"blocks": 40, "threads": 256, "duration": "1 ms"}"#;
    let operations = r#"{"copy": "host-to-device", "bytes": 1000000}, {"kernel": "K"}"#;
    let bounds = |jobs| {
        let verdicts = judged(&scenario(kernels, &equal_streams(12, 50, jobs, operations), &tx2()), &few_runs());
        assert!(verdicts.all_proven(), "{:?}", verdicts.jobs);
        verdicts.jobs.iter().map(|job| job.bound_ns).collect::<Vec<_>>()
    };
    let (one, two) = (bounds(1), bounds(2));
    assert!(one.iter().all(|bound| two.contains(bound)) && two.iter().all(|bound| one.contains(bound)));
}

#[test]
fn a_long_row_of_jobs_is_proven_like_a_short_one() {
    let kernels = r#""K": {"blocks": 5, "threads": 512, "duration": "200 us"}"#;
    let operations = [r#"{"kernel": "K"}"#; 8].join(", ");
    let verdicts = judged(&scenario(kernels, &equal_streams(4, 20, 150, &operations), &tx2()), &few_runs());
    assert!(verdicts.all_proven(), "4,800 operations, {:?}", verdicts.jobs.last());
}

#[test]
fn a_stream_keeps_its_bound_beside_an_overloaded_one_below_it() {
    let kernels = r#""high": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        "low": {"blocks": 8, "threads": 1024, "duration": "5 ms"}"#;
    let streams = r#"{"name": "H", "priority": -1, "period": "20 ms", "jobs": 3, "operations": [{"kernel": "high"}]},
        {"name": "L", "priority": 0, "period": "10 ms", "jobs": 6, "operations": [{"kernel": "low"}]}"#;
    let scenario = scenario(kernels, streams, &tx2());
    let verdicts = judge_sporadic(&scenario, &[], &few_runs(), Watch { progress: &|_| {} }).expect("it runs");
    let of = |name: &str| verdicts.streams.iter().find(|one| one.stream == name).expect("it is there");
    assert_eq!(of("H").verdict, Some(Verdict::Proven));
    // Blocks of L hold all SMs for 5 ms less 1 ns when it comes, then two waves of 1 ms.
    assert!(of("H").bound_ns.is_some_and(|bound| bound.as_ns() <= 7_000_000), "{:?}", of("H"));
    assert_eq!(of("L").bound_ns, None);
    let beyond = Some(SporadicRefusal::BeyondPeriod { thread: "L".to_owned() });
    assert_eq!(verdicts.refusal, beyond);
    assert_eq!(sporadic_bounds(&scenario, &[]).expect("it runs").err(), beyond);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Long enough for several windows.
    #[test]
    #[ignore = "it takes minutes without optimisation"]
    fn no_run_of_many_jobs_is_above_a_bound(
        streams in prop::collection::vec((5_u32..40, -2_i32..=0, 0_u32..9, prop::collection::vec((1_u32..12, 1_u32..=32, 1_u32..30), 1..4)), 2..5),
        seed in any::<u64>(),
    ) {
        let levels = tx2().with(|spec| spec.priority_levels = 3).expect("it is within the limits");
        let (mut kernels, mut declared) = (Vec::new(), Vec::new());
        for (number, (period, priority, release, grids)) in streams.iter().enumerate() {
            let mut operations = Vec::new();
            for &(blocks, warps, tenths) in grids {
                let name = format!("K{}", kernels.len());
                kernels.push(format!(
                    r#""{name}": {{"blocks": {blocks}, "threads": {}, "duration": "{} us"}}"#, 32 * warps, 100 * tenths
                ));
                operations.push(format!(r#"{{"kernel": "{name}"}}"#));
            }
            declared.push(format!(
                r#"{{"name": "S{number}", "priority": {priority}, "period": "{period} ms", "release": "{release} ms", "jobs": 60, "operations": [{}]}}"#,
                operations.join(", ")
            ));
        }
        let scenario = scenario(&kernels.join(", "), &declared.join(", "), &levels);
        // A run above a bound is an error.
        judged(&scenario, &SearchOptions { seed, runs: 12, ..SearchOptions::default() });
    }
}

/// Of the first kernel's eight blocks one runs for 1 ms, the others end at once: below, a kernel of 10 ms takes their place,
/// and the second kernel comes when all SMs are taken. If all run as long as stated, the two have ended by 2 ms.
#[test]
fn the_search_lets_streams_leave_the_sms_to_lower_priorities_early() {
    let kernels = r#""short": {"blocks": 8, "threads": 512, "duration": "1 ms"},
        "long": {"blocks": 8, "threads": 512, "duration": "10 ms"}"#;
    let streams = r#"{"name": "above", "priority": -1, "period": "100 ms", "jobs": 1,
            "operations": [{"kernel": "short"}, {"kernel": "short"}]},
        {"name": "below", "priority": 0, "period": "100 ms", "jobs": 1, "operations": [{"kernel": "long"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &tx2()), &SearchOptions { runs: 12, ..SearchOptions::default() });
    let [(_, found, bound, _), _] = rows(&verdicts)[..] else { panic!("two jobs") };
    assert!(found >= 11.0, "{found} ms");
    assert!(bound <= Some(12.0), "{bound:?} ms");
}
