//! What has no end is judged for one hyperperiod: what is proven of that holds for ever.

use gpusched::analysis::{BlockTimes, BoundOptions, Ladder, Rung, SearchOptions, Verdict, ladder};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::prelude::*;

use super::{MS, judged, scenario};
use crate::campaign::{campaign, config};
use crate::common::tx2;

const KERNELS: &str = r#""a": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
    "b": {"blocks": 4, "threads": 1024, "duration": "6 ms"},
    "c": {"blocks": 3, "threads": 512, "duration": "2 ms"},
    "d": {"blocks": 1, "threads": 1024, "duration": "3 ms"}"#;

/// The verdicts on the jobs of a stream.
fn verdicts(streams: &str, of: &str) -> Vec<Verdict> {
    let judged = judged(&scenario(KERNELS, streams, &tx2()), &SearchOptions { runs: 50, ..SearchOptions::default() });
    judged.jobs.iter().filter(|job| &*job.stream == of).filter_map(|job| job.verdict).collect()
}

#[test]
fn an_overloaded_stream_is_not_proven_by_its_first_job() {
    let overloaded = r#"{"name": "S", "period": "5 ms", "deadline": "8 ms", "operations": [{"kernel": "b"}]}"#;
    assert_eq!(verdicts(overloaded, "S"), [Verdict::Open]);
}

#[test]
fn a_job_that_ends_after_one_hyperperiod_is_delayed_by_what_comes_then() {
    // The first job of `hi` is released at 18 ms, and one hyperperiod ends at 38 ms: the next one comes while job 7 of
    // `lo` runs, which then takes up to 7 ms.
    let streams = r#"{"name": "hi", "priority": -1, "release": "18 ms", "period": "20 ms",
            "operations": [{"kernel": "a"}, {"kernel": "a"}, {"kernel": "a"}]},
        {"name": "lo", "priority": 0, "period": "5 ms", "deadline": "6 ms",
            "operations": [{"kernel": "a"}, {"kernel": "a"}, {"kernel": "a"}, {"kernel": "a"}]}"#;
    assert!(!verdicts(streams, "lo").contains(&Verdict::Proven));
    assert_eq!(verdicts(streams, "hi"), [Verdict::Proven]);
}

#[test]
fn a_job_that_ends_after_one_hyperperiod_is_proven_by_the_one_before() {
    // S is alone until 2 ms, and the hyperperiod from there ends at 12 ms, while its second job runs.
    let streams = r#"{"name": "S", "period": "10 ms", "operations": [{"kernel": "a"}, {"kernel": "a"}, {"kernel": "a"}]},
        {"name": "L", "release": "2 ms", "period": "10 ms", "operations": [{"kernel": "a"}]}"#;
    assert_eq!(verdicts(streams, "S"), [Verdict::Proven; 2]);
    assert_eq!(verdicts(streams, "L"), [Verdict::Proven]);
}

#[test]
fn what_takes_no_time_at_the_end_of_a_hyperperiod_comes_after_what_is_released_then() {
    // 9 ms of S end at 10 ms, when the next job of T comes first: the last kernel of S ends at 11 ms.
    let kernels = r#""t": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        "s": {"blocks": 4, "threads": 1024, "duration": "9 ms"}, "none": {"blocks": 4, "threads": 1024, "duration": "0 ms"}"#;
    let streams = r#"{"name": "T", "priority": -1, "period": "10 ms", "operations": [{"kernel": "t"}]},
        {"name": "S", "priority": 0, "period": "10 ms", "operations": [{"kernel": "s"}, {"kernel": "none"}]}"#;
    let judged = judged(&scenario(kernels, streams, &tx2()), &SearchOptions { runs: 50, ..SearchOptions::default() });
    let verdicts: Vec<_> = judged.jobs.iter().map(|job| (&*job.stream, job.verdict)).collect();
    assert_eq!(verdicts, [("T", Some(Verdict::Proven)), ("S", Some(Verdict::Open))]);
}

#[test]
fn hosts_that_meet_at_a_barrier_are_not_as_they_were_though_all_jobs_are_done() {
    // Q comes to the barrier twice a hyperperiod, and P once: Q's job 2, released at 20 ms, begins when P lets it go
    // on, at 23 ms.
    let hosts = r#"], "hosts": [
        {"name": "P", "period": "20 ms", "steps": [{"launch": "d", "stream": "p"}, {"sleep": "3 ms"}, {"barrier": "b"}]},
        {"name": "Q", "period": "10 ms", "deadline": "3 ms", "steps": [{"launch": "d", "stream": "q"}, {"barrier": "b"}]}"#;
    let streams = format!(r#"{{"name": "p"}}, {{"name": "q"}}{hosts}"#);
    assert_eq!(verdicts(&streams, "Q"), [Verdict::Open; 2]);
}

/// Verdict on S and its response in a run until then. V fills the GPU until 21 ms and S's copy lasts until 22 ms. From
/// 21 ms on U, of a lower priority, would run for 100 ms, if T did not come first.
fn after_a_horizon(horizon: &str) -> (Option<Verdict>, Option<Duration>) {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "after", "device": "tx2", "horizon": "{horizon}", "kernels": {{
            "v": {{"blocks": 4, "threads": 1024, "duration": "21 ms"}}, "u": {{"blocks": 4, "threads": 1024, "duration": "100 ms"}},
            "s": {{"blocks": 4, "threads": 1024, "duration": "1 ms"}}, "t": {{"blocks": 4, "threads": 1024, "duration": "2 ms"}}}},
        "streams": [
            {{"name": "V", "priority": -1, "operations": [{{"kernel": "v"}}]}},
            {{"name": "U", "priority": 0, "release": "1 ms", "operations": [{{"kernel": "u"}}]}},
            {{"name": "S", "priority": -1, "deadline": "40 ms",
                "operations": [{{"copy": "host-to-device", "duration": "22 ms"}}, {{"kernel": "s"}}]}},
            {{"name": "T", "priority": -1, "release": "21 ms", "period": "21 ms", "deadline": "none",
                "operations": [{{"kernel": "t"}}]}}]}}"#
    );
    let scenario = Scenario::from_json("after.json", &text, &ReadOptions::default()).expect("it is sound");
    let bound = BoundOptions { block_times: BlockTimes::AsStated, ..BoundOptions::default() };
    let judged = judged(&scenario, &SearchOptions { runs: 50, bound, ..SearchOptions::default() });
    let run = simulate(&scenario).expect("it runs");
    let of_s = judged.jobs.iter().find(|job| &*job.stream == "S").expect("it is judged");
    (of_s.verdict, run.jobs().get(2, 0).expect("it begins").response())
}

#[test]
fn nothing_is_missed_by_a_run_without_what_is_released_after_the_horizon() {
    assert_eq!(after_a_horizon("60 ms"), (Some(Verdict::Proven), Some(Duration::from_ns(24 * MS))));
    assert_eq!(after_a_horizon("20 ms"), (Some(Verdict::Open), None));
}

/// Each fills the GPU; `J` is released at `first`, waits for a copy between its kernels, and meets `L` or, before it,
/// `X`.
fn one_before_another(first: u64, x: &str) -> Ladder {
    let kernels = r#""k": {"blocks": 4, "threads": 1024, "duration": "4 ms"},
        "x": {"blocks": 4, "threads": 1024, "duration": "5 ms"}, "l": {"blocks": 4, "threads": 1024, "duration": "7 ms"}"#;
    let streams = format!(
        r#"{{"name": "J", "priority": -1, "release": "{} ms", "period": "20 ms", "deadline": "14 ms", "operations": [
                {{"kernel": "k"}}, {{"copy": "host-to-device", "duration": "4 ms"}}, {{"kernel": "k"}}]}},
            {{"name": "L", "priority": 0, "release": "{} ms", "period": "20 ms", "deadline": "none", "operations": [
                {{"kernel": "l"}}]}},
            {{"name": "X", "priority": -1, "release": "{} ms", "period": "20 ms", {x}"deadline": "none", "operations": [
                {{"kernel": "x"}}]}}"#,
        first,
        first + 2,
        first + 4
    );
    ladder(&scenario(kernels, &streams, &tx2()), None, Progress::NONE).expect("no run is above a bound")
}

#[test]
fn a_job_that_is_late_because_nothing_more_is_released_is_not_missed() {
    // Each job of J: 4 ms, 4 ms of copying while X begins for 5 ms, and 4 ms after that: 13 ms. The second one ends
    // after one hyperperiod, at 40 ms; without X, L would begin then, for 7 ms, and J take 15 ms.
    let row = one_before_another(16, "").rows.remove(0);
    assert_eq!(row.under(Rung::Run).verdict, Verdict::Proven);
    assert_eq!(row.under(Rung::Run).bound_ns, Some(Duration::from_ns(13 * MS)));
    assert_ne!(row.under(Rung::OrderAndTimes).verdict, Verdict::Missed);
}

#[test]
fn what_comes_once_is_no_part_of_what_repeats_though_it_states_a_period() {
    // X comes with the first job of J only, which takes 13 ms, those after it 15 ms.
    let row = one_before_another(0, r#""jobs": 1, "#).rows.remove(0);
    assert_ne!(row.under(Rung::Run).verdict, Verdict::Proven);
}

/// A stream: its first release, period, and deadline as twelfths of the period, priority, whether it comes once, and
/// kernels.
#[derive(Debug, Clone)]
struct Stream {
    release_ms: u64,
    period_ms: u64,
    deadline: u64,
    priority: i32,
    once: bool,
    kernels: Vec<usize>,
}

fn stream() -> impl Strategy<Value = Stream> {
    let release = prop_oneof![2 => Just(0), 3 => 0_u64..14];
    let period = prop::sample::select(vec![6_u64, 8, 12, 16, 24]);
    let kernels = prop::collection::vec(0_usize..5, 1..3);
    (release, period, 6_u64..16, -1..=0, prop::bool::weighted(0.1), kernels).prop_map(
        |(release_ms, period_ms, deadline, priority, once, kernels)| Stream {
            release_ms,
            period_ms,
            deadline,
            priority,
            once,
            kernels,
        },
    )
}

fn endless(streams: &[Stream]) -> Scenario {
    let text = |(number, stream): (usize, &Stream)| {
        let operation = |kernel: &usize| {
            let name = ["a", "b", "c", "d"].get(*kernel);
            name.map_or(r#"{"copy": "host-to-device", "duration": "1 ms"}"#.to_owned(), |name| {
                format!(r#"{{"kernel": "{name}"}}"#)
            })
        };
        let operations: Vec<String> = stream.kernels.iter().map(operation).collect();
        let period = if stream.once { String::new() } else { format!(r#""period": "{} ms", "#, stream.period_ms) };
        format!(
            r#"{{"name": "S{number}", "priority": {}, "release": "{} ms", {period}"deadline": "{} us", "operations": [{}]}}"#,
            stream.priority,
            stream.release_ms,
            stream.period_ms * stream.deadline * 1_000 / 12,
            operations.join(", ")
        )
    };
    let texts: Vec<String> = streams.iter().enumerate().map(text).collect();
    scenario(KERNELS, &texts.join(", "), &tx2())
}

/// Bound / worst found, of streams that are proven by one hyperperiod, in runs of four more.
fn ratios(streams: &[Stream], seed: u64, runs: u64) -> Result<Vec<f64>, TestCaseError> {
    let one = endless(streams);
    let known = judged(&one, &SearchOptions { runs: 1, seed, ..SearchOptions::default() });
    let mut all = one.clone();
    for thread in all.threads.iter_mut().filter(|thread| thread.is_cut) {
        (thread.iterations, thread.is_cut) = (None, false);
    }
    all.horizon = Some(Duration::from_ns((14 + 5 * 48) * MS));
    let found = judged(&all, &SearchOptions { runs, seed, ..SearchOptions::default() });
    let mut ratios = Vec::new();
    for thread in &one.threads {
        let jobs = || known.jobs.iter().filter(|job| *job.stream == *thread.label);
        if !jobs().all(|job| job.verdict == Some(Verdict::Proven)) {
            continue;
        }
        let long = found.jobs.iter().filter(|job| *job.stream == *thread.label);
        let worst = long.filter_map(|job| job.worst_found_ns).max().map_or(0, Duration::as_ns);
        let deadline = thread.deadline().map_or(0, Duration::as_ns);
        prop_assert!(worst <= deadline, "{}: {worst} ns, and is proven to take {deadline} ns at most", thread.label);
        let bound = jobs().filter_map(|job| job.bound_ns).max().map_or(0, Duration::as_ns);
        ratios.push(bound as f64 / worst.max(1) as f64);
    }
    Ok(ratios)
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn what_one_hyperperiod_proves_holds_in_runs_of_five(
        streams in prop::collection::vec(stream(), 1..4),
        seed in any::<u64>(),
    ) {
        ratios(&streams, seed, 10)?;
    }
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_what_has_no_end() {
    let strategy = (prop::collection::vec(stream(), 1..4), any::<u64>());
    let said =
        campaign("one hyperperiod of what has no end", 5_000, &strategy, |(streams, seed)| ratios(&streams, seed, 100));
    println!("{said}");
}
