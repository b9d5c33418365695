//! Bounds window by window: what comes later spoils no bound of what came before, and no run is above one.

use gpusched::analysis::{
    BoundOptions, JobVerdict, SearchOptions, SporadicRefusal, Verdict, judge_sporadic, sporadic_bounds,
};
use gpusched::effort::Progress;
use gpusched::scenario::ReleaseOrder;
use gpusched::time::Duration;
use proptest::prelude::*;

use super::random::{Sample, options, sample};
use super::{MS, judged, scenario};
use crate::campaign::{campaign, config};
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
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_long_row_of_jobs_is_proven_like_a_short_one() {
    let kernels = r#""K": {"blocks": 5, "threads": 512, "duration": "200 us"}"#;
    let operations = [r#"{"kernel": "K"}"#; 8].join(", ");
    let verdicts = judged(&scenario(kernels, &equal_streams(3, 20, 60, &operations), &tx2()), &few_runs());
    assert!(verdicts.all_proven(), "1,440 operations, {:?}", verdicts.jobs.last());
}

#[test]
fn a_stream_keeps_its_bound_beside_an_overloaded_one_below_it() {
    let kernels = r#""high": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        "low": {"blocks": 8, "threads": 1024, "duration": "5 ms"}"#;
    let streams = r#"{"name": "H", "priority": -1, "period": "20 ms", "jobs": 3, "operations": [{"kernel": "high"}]},
        {"name": "L", "priority": 0, "period": "10 ms", "jobs": 6, "operations": [{"kernel": "low"}]}"#;
    let scenario = scenario(kernels, streams, &tx2());
    let verdicts = judge_sporadic(&scenario, &[], &few_runs(), Progress::NONE).expect("it runs");
    let of = |name: &str| verdicts.streams.iter().find(|one| one.stream == name).expect("it is there");
    assert_eq!(of("H").verdict, Some(Verdict::Proven));
    // Blocks of L hold all SMs for 5 ms less 1 ns when it comes, then two waves of 1 ms.
    assert!(of("H").bound_ns.is_some_and(|bound| bound.as_ns() <= 7_000_000), "{:?}", of("H"));
    assert_eq!(of("L").bound_ns, None);
    let is_beyond = |refusal: Option<&SporadicRefusal>| matches!(refusal, Some(SporadicRefusal::BeyondPeriod { thread, .. }) if thread == "L");
    assert!(is_beyond(verdicts.refusal.as_ref()), "{:?}", verdicts.refusal);
    assert!(is_beyond(sporadic_bounds(&scenario, &[]).expect("it runs").err().as_ref()));
}

#[test]
fn jobs_that_overlap_meet_a_lower_block_once_together() {
    // Each kernel fills the GPU: 1 ms of work, and its last block counts 3/4 ms more. A job of H has two, 3.5 ms, and L
    // is in one wait of all jobs that follow one another without a break, 10 ms; after a break it may still be to come.
    // So the first job after a break has the longest bound, 13.5 ms.
    let kernels = r#""high": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        "low": {"blocks": 4, "threads": 1024, "duration": "10 ms"}"#;
    let streams = r#"{"name": "H", "priority": -1, "period": "5 ms", "jobs": 9, "operations": [{"kernel": "high"}, {"kernel": "high"}]},
        {"name": "L", "priority": 0, "period": "100 ms", "jobs": 1, "operations": [{"kernel": "low"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &tx2()), &few_runs());
    for job in &verdicts.jobs[..9] {
        assert!(job.bound_ns.is_some_and(|bound| bound.as_ns() <= 13_500_000), "{job:?}");
    }
}

#[test]
fn what_may_end_after_the_horizon_is_open_and_a_note_says_so() {
    let stream = r#"{"name": "S", "period": "10 ms", "jobs": 2, "operations": [{"kernel": "K"}]}"#;
    let mut scenario = scenario(r#""K": {"blocks": 1, "threads": 32, "duration": "5 ms"}"#, stream, &tx2());
    scenario.horizon = Some(Duration::from_ns(14_000_000));
    let verdicts = judged(&scenario, &few_runs());
    assert_eq!(
        verdicts.jobs.iter().map(|job| job.verdict).collect::<Vec<_>>(),
        [Some(Verdict::Proven), Some(Verdict::Open)]
    );
    let note = "1 of 2 jobs may end after the horizon, 14 ms: they have no bound, as nothing is known of what is released \
                then; a later \"horizon\" bounds them";
    assert!(verdicts.notes.iter().any(|said| said == note), "{:?}", verdicts.notes);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_had_the_gpu_before_a_window_still_counts_for_what_is_open_since_the_beginning() {
    // L, launched first, begins when H has ended, and is open for longer than a window of ticks is.
    let kernels = r#""L": {"blocks": 2, "threads": 1024, "duration": "60 ms"},
        "H": {"blocks": 4, "threads": 1024, "duration": "10 ms"},
        "tick": {"blocks": 1, "threads": 32, "duration": "100 us"}"#;
    let streams = r#"{"name": "low", "priority": 0, "operations": [{"kernel": "L"}]},
        {"name": "high", "priority": -1, "operations": [{"kernel": "H"}]},
        {"name": "tick", "priority": -1, "release": "12 ms", "period": "200 us", "jobs": 500, "operations": [{"kernel": "tick"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &tx2()), &few_runs());
    let low = &verdicts.jobs[0];
    assert_eq!(low.worst_found_ns.map(Duration::as_ns), Some(70_000_000));
    assert!(low.bound_ns.is_none_or(|bound| Some(bound) >= low.worst_found_ns), "{low:?}");
}

/// Long enough for several windows.
fn long() -> impl Strategy<Value = Sample> {
    (sample(), 200_u32..700, prop::collection::vec(1_u32..4, 4))
        .prop_map(|(sample, operations, periods)| sample.repeated(operations, &periods))
}

#[test]
fn what_takes_no_time_is_waited_for_at_the_instant_at_which_it_ends() {
    // Z's first kernel waits for B from 6 to 12 ms and ends then. Its second one is launched at 12 ms, before B's, and
    // enters its queue after that: it ends at 24 ms.
    let kernels = r#""z": {"blocks": 4, "threads": 1024, "duration": "0 ms"},
        "b": {"blocks": 4, "threads": 1024, "duration": "12 ms"}"#;
    let streams = r#"{"name": "Z", "release": "6 ms", "period": "6 ms", "jobs": 2, "operations": [{"kernel": "z"}]},
        {"name": "B", "period": "12 ms", "jobs": 2, "operations": [{"kernel": "b"}]}"#;
    for order in [ReleaseOrder::Declared, ReleaseOrder::Any] {
        let bound = BoundOptions { order, ..BoundOptions::default() };
        let options = SearchOptions { bound, runs: 16, ..SearchOptions::default() };
        let known = judged(&scenario(kernels, streams, &tx2()), &options);
        assert_eq!(known.jobs[1].bound_ns, Some(Duration::from_ns(12 * MS)), "{order:?}");
    }
}

/// Bound / worst response found, of every job that has a bound. A run above a bound is an error.
fn ratios(sample: &Sample, bound: BoundOptions, seed: u64, runs: u64) -> Vec<f64> {
    let verdicts = judged(&sample.scenario(), &SearchOptions { bound, seed, runs, ..SearchOptions::default() });
    let ratio = |job: &JobVerdict| {
        let found = job.worst_found_ns.filter(|found| found.as_ns() > 0)?;
        Some(job.bound_ns?.as_ns() as f64 / found.as_ns() as f64)
    };
    verdicts.jobs.iter().filter_map(ratio).collect()
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn no_run_of_many_jobs_is_above_a_bound(sample in long(), options in options(), seed in any::<u64>()) {
        ratios(&sample, options, seed, 12);
    }
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_windows() {
    let said = campaign(
        "long scenarios, window by window",
        5_000,
        &(long(), options(), any::<u64>()),
        |(sample, options, seed)| Ok(ratios(&sample, options, seed, 200)),
    );
    println!("{said}");
}
