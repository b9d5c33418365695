//! Releases of one instant in any order: the order of the file decides nothing, and no run in any order is above a
//! bound.

use std::collections::BTreeMap;

use gpusched::analysis::{
    BoundOptions, BoundRefusal, JobVerdicts, SearchOptions, Verdict, finish_bounds, jobs_of, judge_sporadic,
    launch_orders,
};
use gpusched::effort::Progress;
use gpusched::hosts::{LaunchOrder, SimulateOptions, simulate, simulate_with};
use gpusched::scenario::{Deadline, HostThread, ReadOptions, ReleaseOrder, Scenario, Step};
use gpusched::time::Duration;
use gpusched::workload::StreamId;
use proptest::prelude::*;

use super::random::{Sample, sample};
use super::{MS, judged, rows, scenario};
use crate::campaign::{campaign, config};
use crate::common::tx2;

const SHORT: &str =
    r#"{"name": "short", "period": "100 ms", "jobs": 2, "deadline": "2 ms", "operations": [{"kernel": "A"}]}"#;
const LONG: &str = r#"{"name": "long", "period": "100 ms", "jobs": 2, "operations": [{"kernel": "B"}]}"#;

/// A kernel of 1 ms and one of 10 ms that fill the GPU.
fn short_and_long(streams: [&str; 2]) -> Scenario {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        "B": {"blocks": 4, "threads": 1024, "duration": "10 ms"}"#;
    scenario(kernels, &streams.join(", "), &tx2())
}

/// By stream and job: longest response found, bound \[ns\], verdict.
type ByName = BTreeMap<(String, u32), (Option<u64>, Option<u64>, Option<Verdict>)>;

fn by_name(verdicts: &JobVerdicts<'_>) -> ByName {
    let ns = |time: Option<Duration>| time.map(Duration::as_ns);
    let row = |job: &gpusched::analysis::JobVerdict| {
        ((job.stream.to_string(), job.job), (ns(job.worst_found_ns), ns(job.bound_ns), job.verdict))
    };
    verdicts.jobs.iter().map(row).collect()
}

#[test]
fn two_streams_released_together_have_the_same_verdicts_in_either_order_of_the_file() {
    for streams in [[SHORT, LONG], [LONG, SHORT]] {
        let scenario = short_and_long(streams);
        let verdicts = judged(&scenario, &SearchOptions::default());
        let missed = (Some(11 * MS), Some(11 * MS), Some(Verdict::Missed));
        for job in [0, 1] {
            assert_eq!(by_name(&verdicts)[&("short".to_owned(), job)], missed, "{streams:?}");
        }
        // The second job's as well: its order is not that of the first.
        for number in 0..verdicts.jobs.len() {
            let (job, witness) = (&verdicts.jobs[number], verdicts.witness(number).expect("there is one"));
            let run = simulate(&witness).expect("it runs");
            let found = jobs_of(&run).into_iter().filter(|other| other.released == job.released_ns);
            let finish = |operation: u32| run.trace.operations()[operation as usize].finish();
            let longest = found.filter_map(|found| Some(found.finish(finish)?.since(found.released))).max();
            assert_eq!(longest.map(Duration::as_ns), Some(11 * MS), "{streams:?} {number}");
            assert_eq!(witness.release_order, ReleaseOrder::Declared);
        }
    }
}

#[test]
fn the_declared_order_is_judged_where_it_is_asked_for() {
    for (streams, response, verdict) in [([SHORT, LONG], 1, Verdict::Proven), ([LONG, SHORT], 11, Verdict::Missed)] {
        let scenario = Scenario { release_order: ReleaseOrder::Declared, ..short_and_long(streams) };
        let options = SearchOptions { bound: BoundOptions::of(&scenario), ..SearchOptions::default() };
        let verdicts = by_name(&judged(&scenario, &options));
        assert_eq!(verdicts[&("short".to_owned(), 1)], (Some(response * MS), Some(response * MS), Some(verdict)));
    }
}

#[test]
fn twelve_equal_streams_are_bounded_by_the_last_of_them() {
    // The first copy, then 480 blocks, 16 at a time. Each kernel's last wave of 8 is filled up by the next one.
    let kernel = r#""K": {"blocks": 40, "threads": 256, "duration": "1 ms"}"#;
    let stream = |number: usize| {
        format!(
            r#"{{"name": "S{number}", "period": "50 ms", "jobs": 2, "operations": [
                {{"copy": "host-to-device", "bytes": 1000, "duration": "100 us"}}, {{"kernel": "K"}}]}}"#
        )
    };
    for numbers in [(0..12).collect::<Vec<_>>(), (0..12).rev().collect()] {
        let streams: Vec<String> = numbers.into_iter().map(stream).collect();
        let verdicts = judged(&scenario(kernel, &streams.join(", "), &tx2()), &SearchOptions::default());
        let response = 30 * MS + MS / 10;
        let all = by_name(&verdicts);
        assert_eq!(all.len(), 24);
        assert!(all.values().all(|job| *job == (Some(response), Some(response), Some(Verdict::Proven))), "{all:?}");
    }
}

#[test]
fn the_null_stream_may_come_before_or_after_what_is_released_with_it() {
    // Before or between the others it makes them wait, after them it waits for both; in any case 12 ms are over for the
    // last.
    let kernels = r#""A": {"blocks": 1, "threads": 32, "duration": "1 ms"}, "B": {"blocks": 1, "threads": 32, "duration": "10 ms"}"#;
    let streams = r#"{"name": "NULL", "operations": [{"kernel": "A"}]}, {"name": "X", "operations": [{"kernel": "B"}]},
        {"name": "Y", "operations": [{"kernel": "A"}]}"#;
    let whole = scenario(kernels, streams, &tx2());
    let of = |order| {
        let bound = BoundOptions { order, ..BoundOptions::default() };
        let verdicts = judged(&whole, &SearchOptions { bound, ..SearchOptions::default() });
        rows(&verdicts).iter().map(|row| (row.1, row.2)).collect::<Vec<_>>()
    };
    let exact = |ms: f64| (ms, Some(ms));
    assert_eq!(of(ReleaseOrder::Declared), [exact(1.0), exact(11.0), exact(2.0)]);
    // X, NULL, Y: 10, 11 and 12 ms; Y, NULL, X: 1, 2 and 12 ms.
    assert_eq!(of(ReleaseOrder::Any), [exact(11.0), exact(12.0), exact(12.0)]);
}

#[test]
fn the_order_in_a_stream_of_several_threads_is_open() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "shared",
        "kernels": {"A": {"blocks": 1, "threads": 32, "duration": "1 ms"}, "B": {"blocks": 1, "threads": 32, "duration": "10 ms"}},
        "streams": [{"name": "S"}],
        "hosts": [{"name": "H", "deadline": "5 ms", "steps": [{"launch": "A", "stream": "S"}]},
                  {"name": "G", "steps": [{"launch": "B", "stream": "S"}]}]}"#;
    let shared = Scenario::from_json("shared.json", text, &ReadOptions::default()).expect("it is sound");
    let verdicts = judged(&shared, &SearchOptions::default());
    let expected = [("H", 11.0, Some(11.0), Some(Verdict::Missed)), ("G", 11.0, Some(11.0), None)];
    assert_eq!(rows(&verdicts), expected);
}

#[test]
fn a_wait_may_come_before_the_record_that_it_is_for_or_after_it() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "events",
        "kernels": {"A": {"blocks": 1, "threads": 32, "duration": "1 ms"}, "B": {"blocks": 1, "threads": 32, "duration": "10 ms"}},
        "streams": [{"name": "S", "blocking": false, "operations": [{"wait": "E"}, {"kernel": "A"}]},
                    {"name": "T", "blocking": false, "operations": [{"kernel": "B"}, {"record": "E"}]}]}"#;
    let events = Scenario::from_json("events.json", text, &ReadOptions::default()).expect("it is sound");
    let of = |order| {
        let bound = BoundOptions { order, ..BoundOptions::default() };
        rows(&judged(&events, &SearchOptions { bound, ..SearchOptions::default() }))[0].2
    };
    // As declared there is no record yet when the wait comes, so it waits for nothing.
    assert_eq!((of(ReleaseOrder::Declared), of(ReleaseOrder::Any)), (Some(1.0), Some(11.0)));
}

#[test]
fn a_host_that_is_in_time_in_one_order_only_may_be_late_under_any() {
    let host = |name: &str, kernel: &str, period: u32, jobs: u32| {
        format!(
            r#"{{"name": "{name}", "period": "{period} ms", "iterations": {jobs}, "steps": [
                {{"launch": "{kernel}", "stream": "{kernel}"}}, {{"synchronize": "last"}}]}}"#
        )
    };
    let hosts = [host("quick", "A", 10, 2), host("slow", "B", 20, 1)];
    let read = |hosts: [&str; 2]| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "hosts",
                "kernels": {{"A": {{"blocks": 4, "threads": 1024, "duration": "5 ms"}}, "B": {{"blocks": 4, "threads": 1024, "duration": "8 ms"}}}},
                "streams": [{{"name": "A"}}, {{"name": "B"}}], "hosts": [{}]}}"#,
            hosts.join(", ")
        );
        Scenario::from_json("hosts.json", &text, &ReadOptions::default()).expect("it is sound")
    };
    for hosts in [[&*hosts[0], &hosts[1]], [&hosts[1], &hosts[0]]] {
        let whole = read(hosts);
        let verdicts = judged(&whole, &SearchOptions::default());
        // 8 ms of the other, then 5 ms: beyond the 10 ms of its period.
        let quick = by_name(&verdicts)[&("quick".to_owned(), 0)];
        assert_eq!(quick, (Some(13 * MS), Some(13 * MS), Some(Verdict::Missed)), "{hosts:?}");
    }
    let refusal = |order| {
        let options = BoundOptions { order, ..BoundOptions::default() };
        finish_bounds(&read([&hosts[0], &hosts[1]]), options).expect("it runs").refusal
    };
    assert_eq!(refusal(ReleaseOrder::Declared), None);
    let refused = refusal(ReleaseOrder::Any).expect("it is refused");
    assert!(matches!(&refused, BoundRefusal::OnTimeAsDeclared { thread } if thread == "quick"), "{refused:?}");
    assert!(refused.to_string().contains("\"release_order\": \"declared\""));
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_many_equal_kernels_are_bounded_whatever_their_order() {
    // More than are bounded one by one. 4 blocks of 1024 threads at a time, the last of 5,200 in the 1,300th wave.
    let many = |ms: u32| {
        let kernels = format!(
            r#""A": {{"blocks": 1, "threads": 1024, "duration": "1 ms"}}, "B": {{"blocks": 1, "threads": 1024, "duration": "{ms} ms"}}"#
        );
        let stream = |n: u32| {
            let kernel = if n == 0 { "A" } else { "B" };
            format!(r#"{{"name": "S{n}", "operations": [{{"kernel": "{kernel}"}}]}}"#)
        };
        let streams: Vec<String> = (0..5_200).map(stream).collect();
        let whole = scenario(&kernels, &streams.join(","), &tx2());
        let bounds = finish_bounds(&whole, BoundOptions::default()).expect("it runs");
        bounds.operations.iter().map(|operation| operation.finish.map(|at| at.as_ns() / MS)).collect::<Vec<_>>()
    };
    assert_eq!(many(1), vec![Some(1_300); 5_200]);
    // The short one ends 1 ms after the last wave of 2 ms has begun, at the latest.
    let unequal = many(2);
    assert_eq!((unequal[0], &unequal[1..]), (Some(2_599), &vec![Some(2_600); 5_199][..]));
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_too_many_that_may_wait_for_one_another_have_no_bound_and_are_told_what_to_do() {
    let mut whole = short_and_long([SHORT, LONG]);
    let steps = |thread: &HostThread| HostThread { label: "T".into(), ..thread.clone() };
    whole.threads = std::iter::repeat_with(|| steps(&whole.threads[0])).take(1_100).collect();
    for thread in &mut whole.threads {
        (thread.period, thread.iterations) = (None, Some(1));
    }
    let refused = finish_bounds(&whole, BoundOptions::default()).expect("it runs").refusal.expect("it is refused");
    assert!(matches!(refused, BoundRefusal::TooManyWaits { operations: 1_100 }), "{refused:?}");
    assert!(refused.to_string().contains("\"release_order\": \"declared\""));
    assert_eq!(finish_bounds(&whole, BoundOptions::DECLARED).expect("it runs").refusal, None);
}

#[test]
fn the_search_of_unknown_releases_has_them_at_one_instant_in_any_order() {
    for streams in [[SHORT, LONG], [LONG, SHORT]] {
        let whole = short_and_long(streams);
        let progress = Progress::NONE;
        let found = judge_sporadic(&whole, &[], &SearchOptions::default(), progress).expect("it runs");
        let short = found.streams.iter().find(|stream| stream.stream == "short").expect("it is there");
        // One nanosecond more than if the long one had to come first.
        assert_eq!(short.worst_found_ns.map(Duration::as_ns), Some(11 * MS), "{streams:?}");
        assert_eq!(short.bound_ns.map(Duration::as_ns), Some(11 * MS));
    }
}

/// A sample with threads that submit to one another's streams, deadlines, and orders of the threads in the file.
#[derive(Debug, Clone)]
struct Mixed {
    sample: Sample,
    /// By thread: whether it submits to the stream of the first one.
    joins: Vec<bool>,
    deadline_ms: u64,
    orders: Vec<Vec<usize>>,
}

impl Mixed {
    fn scenario(&self) -> Scenario {
        let mut whole = self.sample.scenario();
        let first =
            whole.threads[0].steps.iter().find_map(|step| step.submission()).map_or(StreamId::NULL, |step| step.1);
        for (thread, joins) in whole.threads.iter_mut().zip(&self.joins) {
            thread.deadline = Deadline::After(Duration::from_ns(self.deadline_ms * MS));
            for step in thread.steps.iter_mut().filter(|_| *joins) {
                *step = match *step {
                    Step::Launch(kernel, _) => Step::Launch(kernel, first),
                    Step::Copy(copy, _) => Step::Copy(copy, first),
                    Step::Memset(_) => Step::Memset(first),
                    Step::Record(event, _) => Step::Record(event, first),
                    Step::Wait(event, _) => Step::Wait(event, first),
                    step => step,
                };
            }
        }
        whole
    }

    /// The same with its threads elsewhere in the file.
    fn permuted(whole: &Scenario, order: &[usize]) -> Scenario {
        let mut places: Vec<usize> = (0..whole.threads.len()).collect();
        places.sort_by_key(|place| order.get(*place));
        Scenario { threads: places.into_iter().map(|place| whole.threads[place].clone()).collect(), ..whole.clone() }
    }
}

fn mixed() -> impl Strategy<Value = Mixed> {
    let order = || Just((0..8).collect::<Vec<usize>>()).prop_shuffle();
    (sample(), prop::collection::vec(prop::bool::weighted(0.25), 8), 4_u64..60, prop::collection::vec(order(), 3))
        .prop_map(|(sample, joins, deadline_ms, orders)| Mixed { sample, joins, deadline_ms, orders })
}

/// Bound / worst response found, of every job; no order of the file changes them, and no run in any order, launches of
/// different threads also mixed, is above a bound.
fn order_decides_nothing(mixed: &Mixed, seed: u64, runs: u64) -> Result<Vec<f64>, TestCaseError> {
    let whole = mixed.scenario();
    // All orders of up to four threads are tried in any case.
    let options = SearchOptions { seed, runs: runs.max(96), ..SearchOptions::default() };
    let verdicts = by_name(&judged(&whole, &options));
    for order in &mixed.orders {
        let permuted = Mixed::permuted(&whole, order);
        prop_assert_eq!(&by_name(&judged(&permuted, &options)), &verdicts);
        let mixing = LaunchOrder::new(
            (0..permuted.threads.len())
                .map(|thread| {
                    (0..12).map(|n| i64::try_from((thread + 3 * n) * order[n % 8] % 7).expect("it is small")).collect()
                })
                .collect(),
        );
        for run in [
            simulate(&permuted),
            simulate_with(&permuted, SimulateOptions { order: Some(mixing), ..SimulateOptions::of(&permuted) }),
        ] {
            let run = run.expect("it runs");
            for job in jobs_of(&run) {
                let finish = job.finish(|operation| run.trace.operations()[operation as usize].finish());
                let (_, bound, _) = verdicts[&(job.stream.to_string(), job.job)];
                let response = finish.map(|finish| finish.since(job.released).as_ns());
                prop_assert!(bound.is_some() && response <= bound, "{:?} {response:?} {bound:?}", job);
            }
        }
    }
    let known = verdicts.values().filter_map(|(found, bound, _)| found.zip(*bound)).filter(|(found, _)| *found > 0);
    Ok(known.map(|(found, bound)| bound as f64 / found as f64).collect())
}

proptest! {
    #![proptest_config(config(10))]

    #[test]
    fn the_order_of_the_file_decides_nothing(mixed in mixed(), seed in any::<u64>()) {
        order_decides_nothing(&mixed, seed, 48)?;
    }

    /// Equal, independent kernels: the bound is at least the worst of all orders, and if all take equally long it is
    /// that.
    #[test]
    fn bounds_of_equal_kernels_hold_in_all_orders(
        kernels in prop::collection::vec((1_u32..20, 1_u32..6, prop_oneof![2 => Just(0_u32), 1 => 0_u32..6]), 1..6),
        one_time in any::<bool>(),
    ) {
        let kernel = |(number, (blocks, ms, _)): (usize, &(u32, u32, u32))| {
            let ms = if one_time { 3 } else { *ms };
            format!(r#""K{number}": {{"blocks": {blocks}, "threads": 512, "duration": "{ms} ms"}}"#)
        };
        let stream = |(number, (.., release)): (usize, &(u32, u32, u32))| {
            format!(r#"{{"name": "S{number}", "release": "{release} ms", "operations": [{{"kernel": "K{number}"}}]}}"#)
        };
        let named: Vec<String> = kernels.iter().enumerate().map(kernel).collect();
        let streams: Vec<String> = kernels.iter().enumerate().map(stream).collect();
        let whole = scenario(&named.join(","), &streams.join(","), &tx2());
        let run = simulate(&whole).expect("it runs");
        let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
        let bounds = finish_bounds(&whole, BoundOptions::default()).expect("it runs");
        prop_assert_eq!(orders.kernels.len(), bounds.operations.len());
        for (bound, worst) in bounds.operations.iter().zip(&orders.kernels) {
            prop_assert_eq!(bound.origin.thread, worst.launch.benchmark);
            prop_assert!(bound.finish >= worst.worst_finish_ns);
            if one_time {
                prop_assert_eq!(bound.finish, worst.worst_finish_ns);
            }
        }
    }
}

/// Each scenario is searched 200 times in each of four orders of the file.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_orders() {
    let said = campaign("jobs, any order", 1_250, &(mixed(), any::<u64>()), |(mixed, seed)| {
        order_decides_nothing(&mixed, seed, 200)
    });
    println!("{said}");
}
