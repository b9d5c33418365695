//! Hosts that sleep and wait, events, barriers, several processes, shared links, channels and latencies: what their
//! jobs take at most, and no run is above that.

use gpusched::analysis::{
    BoundRefusal, JobVerdicts, SearchOptions, SporadicRefusal, SporadicVerdicts, Verdict, judge, judge_sporadic,
};
use gpusched::device::{CopySharing, Device, Runlists};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::Job;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::MS;
use super::random_programs::{Sample, sample};
use crate::campaign::{campaign, config};
use crate::common::tx2;

pub(super) fn read(file: &Value, device: &Device) -> Scenario {
    let options = ReadOptions { device: Some(device.clone()), ..ReadOptions::default() };
    Scenario::from_json("programs.json", &file.to_string(), &options).unwrap_or_else(|error| panic!("{error}\n{file}"))
}

fn searched(scenario: &Scenario, runs: u64) -> JobVerdicts<'_> {
    judge(scenario, &SearchOptions { runs, ..SearchOptions::default() }, Progress::NONE)
        .expect("no run is above a bound")
}

fn phased(scenario: &Scenario, runs: u64) -> SporadicVerdicts {
    let options = SearchOptions { runs, ..SearchOptions::default() };
    judge_sporadic(scenario, &[], &options, Progress::NONE).expect("no run is above a bound")
}

/// The kernel K fills the TX2 for 4 ms.
fn hosts(hosts: &Value) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "programs",
        "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "4 ms"}},
        "streams": [{"name": "S"}, {"name": "T"}], "hosts": hosts,
    })
}

fn host(name: &str, steps: &Value) -> Value {
    json!({"name": name, "period": "50 ms", "iterations": 3, "steps": steps})
}

/// The bounds of the first host \[ms\], of given releases and over all phasings.
fn bounds(file: &Value, device: &Device) -> (Option<f64>, Option<f64>) {
    let scenario = read(file, device);
    let ms = |bound: Option<Duration>| bound.map(|bound| bound.as_ns() as f64 / MS as f64);
    let given = searched(&scenario, 64).jobs.iter().filter(|job| job.thread == 0).map(|job| job.bound_ns).max();
    (given.and_then(ms), ms(phased(&scenario, 64).streams[0].bound_ns))
}

#[test]
fn a_copy_behind_a_kernel_of_no_length_of_another_thread_waits_for_its_turn() {
    // P launches a kernel of no length at 500.000 us, and behind it at 500.001 us a copy of no length. Q's host works
    // for up to 1 ms and launches one too: after 499.995 us of work there is a switch of 100 ns to Q, and one back.
    let file = |work_ns: u32| {
        json!({
            "format": "gpusched-scenario/1", "name": "turns", "processes": {"P": {}, "Q": {}}, "switch_cost": "100 ns",
            "kernels": {"z": {"blocks": 1, "threads": 32, "duration": "0 ns"}},
            "streams": [
                {"name": "y", "process": "P", "release": "499990 ns", "operations": [{"kernel": "z"}]},
                {"name": "s", "process": "P", "release": "500000 ns", "operations": [{"kernel": "z"}]},
                {"name": "q", "process": "Q"},
            ],
            "hosts": [
                {"name": "q", "process": "Q", "steps": [{"work": format!("{work_ns} ns")}, {"launch": "z", "stream": "q"}]},
                {"name": "h", "process": "P", "release": "500001 ns", "deadline": "10 ns",
                    "steps": [{"copy": "device-to-host", "duration": "0 ns", "stream": "s"}]},
            ],
        })
    };
    let separate = tx2().with(|spec| spec.time_slicing.runlists = Runlists::Separate).expect("it is a GPU");
    let run = simulate(&read(&file(499_995), &separate)).expect("it runs").jobs().get(3, 0).and_then(Job::response);
    assert_eq!(run, Some(Duration::from_ns(194)));
    let judged = searched(&read(&file(1_000_000), &separate), 64).jobs.into_iter().find(|job| &*job.stream == "h");
    let (bound, verdict) = judged.map(|job| (job.bound_ns, job.verdict)).expect("it is judged");
    assert!(bound >= run, "{bound:?}");
    assert_eq!(verdict, Some(Verdict::Open));
}

#[test]
fn over_all_phasings_a_host_that_waits_for_its_launches_never_has_two_iterations_under_way() {
    // Each fills the GPU. z waits for 5 and 12 ns at most: the host launches nothing before both have completed.
    let kernel = |ns: u32| json!({"blocks": 4, "threads": 1024, "duration": format!("{ns} ns")});
    let at_its_end = json!([{"launch": "y", "stream": "Z"}, {"launch": "x", "stream": "h"}, {"synchronize": "h"},
        {"synchronize": "Z"}]);
    let in_the_next = json!([{"synchronize": "last"}, {"launch": "y", "stream": "Z"}, {"launch": "x", "stream": "Z"}]);
    for steps in [at_its_end, in_the_next] {
        let file = json!({
            "format": "gpusched-scenario/1", "name": "waits", "kernels": {"x": kernel(12), "y": kernel(5), "z": kernel(1)},
            "streams": [{"name": "Z", "period": "100 ns", "deadline": "20 ns", "operations": [{"kernel": "z"}]},
                {"name": "h"}],
            "hosts": [{"name": "H", "period": "10 ns", "deadline": "none", "steps": steps}],
        });
        let judged = phased(&read(&file, &tx2()), 256);
        assert!(judged.streams[0].worst_found_ns <= Some(Duration::from_ns(18)), "{:?}", judged.streams[0]);
        assert_ne!(judged.streams[0].verdict, Some(Verdict::Missed));
    }
}

#[test]
fn usual_host_programs_have_the_bounds_of_their_pauses_and_kernels() {
    let launch = json!({"launch": "K", "stream": "S"});
    let sync = json!({"synchronize": "S"});
    let sleep = |ms: u32| json!({"sleep": format!("{ms} ms")});
    let copy = json!({"copy": "host-to-device", "duration": "3 ms", "stream": "S"});
    let last = json!({"synchronize": "last"});
    let programs: [(Value, f64); 7] = [
        // CPU work after the wait is a part of the response.
        (json!([sleep(2), launch, sync, sleep(30)]), 36.0),
        (json!([sleep(5), launch, sync]), 9.0),
        // Blocking copies.
        (json!([copy, last, launch, copy, last]), 10.0),
        (json!([launch, {"synchronize": "device"}, sleep(1)]), 5.0),
        (json!([launch, {"record": "e", "stream": "S"}, {"synchronize_event": "e"}, sleep(1), launch]), 9.0),
        (json!([{"repeat": 3, "steps": [launch, sync, sleep(1)]}]), 15.0),
        // Two streams, one after the other.
        (
            json!([launch, {"record": "e", "stream": "S"}, {"wait": "e", "stream": "T"}, {"launch": "K", "stream": "T"}]),
            8.0,
        ),
    ];
    for (steps, ms) in programs {
        let found = bounds(&hosts(&json!([host("H", &steps)])), &tx2());
        assert_eq!(found, (Some(ms), Some(ms)), "{steps}");
    }
}

#[test]
fn a_host_that_sleeps_beyond_its_period_has_no_bound_and_the_note_says_why() {
    let steps = json!([{"launch": "K", "stream": "S"}, {"synchronize": "S"}, {"sleep": "47 ms"}]);
    let scenario = read(&hosts(&json!([host("H", &steps)])), &tx2());
    let verdicts = searched(&scenario, 8);
    let Some(BoundRefusal::Jobs { reason: SporadicRefusal::BeyondPeriod { thread, .. }, is_partial: false }) =
        &verdicts.refusal
    else {
        panic!("{:?}", verdicts.refusal);
    };
    assert_eq!(thread, "H");
    assert!(verdicts.jobs.iter().all(|job| job.bound_ns.is_none()));
}

#[test]
fn a_witness_of_hosts_without_deadlines_of_their_own_misses_those_that_follow_from_periods() {
    // 4 ms for every 5 of H, and 8 at once of G.
    let launch = |stream: &str| json!({"launch": "K", "stream": stream});
    let one = json!([launch("S"), {"synchronize": "S"}]);
    let whole = json!([launch("T"), {"synchronize": "T"}, launch("T"), {"synchronize": "last"}]);
    for second in [json!([launch("T"), launch("T")]), whole] {
        let file = hosts(&json!([
            {"name": "H", "period": "5 ms", "iterations": 3, "steps": one},
            {"name": "G", "period": "20 ms", "iterations": 2, "steps": second},
        ]));
        let scenario = read(&file, &tx2());
        let (given, over_all) = (searched(&scenario, 64), phased(&scenario, 64));
        let of_given = given.witness(given.latest_miss().expect("H is late"));
        let of_phased = over_all.witness(over_all.latest_miss().expect("H is late"));
        for witness in [of_given, of_phased] {
            let text = witness.and_then(|witness| witness.to_native_json().ok()).expect("there is one");
            let file: Value = serde_json::from_str(&text).expect("it is JSON");
            let again = read(&file, &tx2());
            assert!(again.threads.iter().all(|thread| thread.deadline().is_some()), "{text}");
            assert!(simulate(&again).expect("it runs").jobs().misses() > 0, "{text}");
        }
    }
}

#[test]
fn what_waits_for_a_copy_is_behind_what_is_launched_with_that_however_short_the_copy() {
    // G's kernel enters at its release, H's when its copy is done: behind it, also if the copy takes no time.
    for copy in ["0 ns", "1 ns", "3 ms"] {
        let file = json!({
            "format": "gpusched-scenario/1", "name": "short copy",
            "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "4 ms"}},
            "streams": [
                {"name": "H", "period": "50 ms", "jobs": 2, "operations": [
                    {"copy": "host-to-device", "duration": copy}, {"kernel": "K"}]},
                {"name": "G", "period": "50 ms", "jobs": 2, "operations": [
                    {"kernel": "K"}, {"copy": "device-to-host", "duration": "1 ms"}]},
            ],
        });
        let scenario = read(&file, &tx2());
        let verdicts = searched(&scenario, 64);
        let of = |stream: &str| {
            let jobs = verdicts.jobs.iter().filter(|job| &*job.stream == stream);
            jobs.map(|job| (job.worst_found_ns, job.bound_ns)).max()
        };
        let five = Some(Duration::from_ns(5 * MS));
        assert_eq!(of("G"), Some((five, five)), "{copy}");
        let eight = Some(Duration::from_ns(8 * MS));
        assert_eq!(of("H").map(|(found, _)| found), Some(eight), "{copy}");
    }
}

#[test]
fn a_host_that_waits_for_an_event_which_others_record_too_may_go_on_before_its_own_work_has_ended() {
    // G has recorded the event last whenever H comes to wait for it: H launches 4 ms every 2 ms.
    let launch = json!([{"launch": "K", "stream": "S"}, {"record": "e", "stream": "S"}, {"sleep": "2 ms"},
        {"synchronize_event": "e"}]);
    let file = hosts(&json!([
        {"name": "H", "iterations": 4, "deadline": "20 ms", "steps": launch},
        {"name": "G", "release": "1 ms", "period": "2 ms", "iterations": 4, "steps": [{"record": "e", "stream": "T"}]},
    ]));
    let scenario = read(&file, &tx2());
    let judged = searched(&scenario, 64);
    let last = &judged.jobs[3];
    let found = Some(Duration::from_ns(10 * MS));
    assert_eq!(last.worst_found_ns, found);
    assert!(last.bound_ns.is_none_or(|bound| Some(bound) >= found), "{last:?}");
}

#[test]
fn a_host_that_meets_others_before_it_begins_is_bounded_from_when_all_are_there() {
    // At 100 ms each fills the GPU for 4 ms, and either may be first.
    let host = |name: &str, release: &str, stream: &str| {
        json!({"name": name, "release": release, "barrier": "b", "deadline": "3 ms",
            "steps": [{"launch": "K", "stream": stream}]})
    };
    let file = hosts(&json!([host("H", "0 ms", "S"), host("G", "100 ms", "T")]));
    assert_eq!(bounds(&file, &tx2()), (Some(8.0), None));
}

/// The longest response found and the bound of the job number `job` of a thread.
fn of_job(file: &Value, thread: &str, job: u32) -> (Option<u64>, Option<u64>) {
    let scenario = read(file, &tx2());
    let verdicts = searched(&scenario, 64);
    let job = verdicts.jobs.iter().find(|one| &*one.stream == thread && one.job == job).expect("it is there");
    (job.worst_found_ns.map(Duration::as_ns), job.bound_ns.map(Duration::as_ns))
}

/// Kernels of which one block of either keeps out the other, and fills an SM.
fn short_kernels(more: &Value) -> Value {
    let kernel = |blocks: u32, ns: u32| json!({"blocks": blocks, "threads": 1024, "duration": format!("{ns} ns"), "shared_memory_bytes": 33_000});
    let mut file = json!({
        "format": "gpusched-scenario/1", "name": "short",
        "kernels": {"A": kernel(2, 5), "B": kernel(2, 20), "P": kernel(2, 10), "L": kernel(8, 10)},
    });
    for (key, value) in more.as_object().expect("an object") {
        file[key] = value.clone();
    }
    file
}

#[test]
fn of_two_threads_that_do_a_job_together_either_may_launch_first() {
    let host = |name: &str, kernel: &str, stream: &str| {
        let steps = json!([{"launch": kernel, "stream": stream}, {"synchronize": stream}, {"barrier": "b"}]);
        json!({"name": name, "period": "100 ns", "iterations": 2, "steps": steps})
    };
    let file = short_kernels(&json!({
        "streams": [{"name": "sa"}, {"name": "sb"}], "hosts": [host("x", "A", "sa"), host("y", "B", "sb")],
    }));
    assert_eq!(of_job(&file, "x", 0), (Some(25), Some(25)));
}

#[test]
fn a_job_that_begins_when_another_ends_may_find_blocks_that_began_at_that_instant() {
    // What has no length ends in a second round of its instant; in the first, blocks of L were assigned.
    let empty = json!({"copy": "host-to-device", "duration": "0 s", "stream": "H"});
    let steps = json!([{"launch": "A", "stream": "H"}, empty, {"synchronize": "H"}]);
    let low = |release: &str| json!({"name": "low", "release": release, "operations": [{"kernel": "L"}]});
    let closed_loop = short_kernels(&json!({
        "streams": [{"name": "H", "priority": -1}, low("0 s")],
        "hosts": [{"name": "h", "release": "1 ns", "iterations": 3, "steps": steps}],
    }));
    assert_eq!(of_job(&closed_loop, "h", 1), (Some(15), Some(15)));
    let first = json!([{"launch": "P", "stream": "P"}, {"copy": "host-to-device", "duration": "0 s", "stream": "P"},
        {"synchronize": "P"}]);
    let barrier = short_kernels(&json!({
        "streams": [{"name": "H", "priority": -1}, {"name": "P", "priority": 0}, low("1 ns")],
        "hosts": [{"name": "x", "barrier": "b", "iterations": 2, "steps": first},
            {"name": "y", "barrier": "b", "iterations": 2,
             "steps": [{"launch": "A", "stream": "H"}, {"synchronize": "H"}]}],
    }));
    assert_eq!(of_job(&barrier, "y", 1), (Some(15), Some(15)));
    let period = short_kernels(&json!({
        "horizon": "2 us",
        "streams": [
            {"name": "H", "priority": -1, "release": "1 ns", "period": "14 ns", "jobs": 2,
             "operations": [{"kernel": "A"}, {"copy": "host-to-device", "duration": "0 s"}]},
            {"name": "low", "priority": 0, "period": "1 us", "jobs": 1, "operations": [{"kernel": "L"}]},
        ],
    }));
    let (found, bound) = of_job(&period, "H", 1);
    assert!(found == Some(15) && bound.is_none_or(|bound| bound >= 15), "{found:?}, {bound:?}");
}

/// The verdict on the first job of a thread, and its response in another run of the same hosts that is one of those
/// that the scenario allows: some copies or blocks take less time there.
fn verdict_and_run(stated: &Value, shorter: &Value, thread: &str) -> (Option<Verdict>, Duration) {
    let (scenario, run) = (read(stated, &tx2()), read(shorter, &tx2()));
    let judged = searched(&scenario, 64);
    let verdict = judged.jobs.iter().find(|job| &*job.stream == thread).expect("it is judged").verdict;
    let of_run = simulate(&run).expect("it runs");
    let number = run.threads.iter().position(|own| &*own.label == thread).expect("it is there");
    let job = of_run.jobs().begun.into_iter().find(|job| job.thread as usize == number).expect("it has one");
    (verdict, job.response().expect("it ends"))
}

/// A copy of so many us before a kernel of one priority, and at 19.502 ms a kernel of 30 ms that fills the GPU in
/// another stream of that; `hosts` launch "first" (500 us) and "second" (100 us) in a stream of higher priority.
fn beside_a_long_kernel(copy_us: u64, hosts: &Value) -> Value {
    let kernel = |us: u64| json!({"blocks": 4, "threads": 1024, "duration": format!("{us} us")});
    json!({
        "format": "gpusched-scenario/1", "name": "barriers",
        "kernels": {"tick": kernel(3), "first": kernel(500), "second": kernel(100), "long": kernel(30_000)},
        "streams": [
            {"name": "X", "priority": 0, "operations": [
                {"copy": "host-to-device", "duration": format!("{copy_us} us")}, {"kernel": "tick"}]},
            {"name": "Y", "priority": 0, "release": "19502 us", "operations": [{"kernel": "long"}]},
            {"name": "G", "priority": -1}, {"name": "Z", "priority": -1}],
        "hosts": hosts,
    })
}

/// Launches "first" and then "second", waits for each, and comes to the barrier "meet".
fn launches_twice() -> Value {
    json!([{"launch": "first", "stream": "G"}, {"synchronize": "G"}, {"sleep": "1 us"},
        {"launch": "second", "stream": "G"}, {"synchronize": "G"}, {"barrier": "meet"}])
}

#[test]
fn a_host_that_only_meets_another_at_a_barrier_is_not_proven_by_the_run_as_stated() {
    // As stated "second" is launched at 19.501 ms, before the long kernel. Where the copy ends a microsecond before the
    // hosts begin, "tick" keeps "first" from the GPU for 2 us; so "second" comes at 19.503 ms and waits for the long
    // kernel.
    let hosts = json!([
        {"name": "H0", "release": "19 ms", "deadline": "15 ms", "steps": [{"barrier": "meet"}, {"sleep": "1 ms"}]},
        {"name": "H1", "release": "19 ms", "steps": launches_twice()}]);
    let (stated, shorter) = (beside_a_long_kernel(25_000, &hosts), beside_a_long_kernel(18_999, &hosts));
    let (verdict, response) = verdict_and_run(&stated, &shorter, "H0");
    assert!(response > Duration::from_ns(30 * MS), "{response}");
    assert_ne!(verdict, Some(Verdict::Proven));
}

#[test]
fn hosts_that_begin_at_one_barrier_begin_together_also_where_they_are_released_apart() {
    // The barrier "start" opens when H0 is released; H1 has been there for 19 ms.
    let hosts = json!([
        {"name": "H0", "release": "19 ms", "barrier": "start", "deadline": "15 ms",
         "steps": [{"barrier": "meet"}, {"memset": 1, "stream": "Z"}]},
        {"name": "H1", "barrier": "start", "steps": launches_twice()}]);
    let (stated, shorter) = (beside_a_long_kernel(25_000, &hosts), beside_a_long_kernel(18_999, &hosts));
    let (verdict, response) = verdict_and_run(&stated, &shorter, "H0");
    assert!(response > Duration::from_ns(30 * MS), "{response}");
    assert_ne!(verdict, Some(Verdict::Proven));
}

#[test]
fn a_second_wait_for_a_stream_that_others_use_is_for_what_they_have_submitted_by_then() {
    // In the declared order, too: the first wait of H is over when its kernel is, and in some runs Y has launched its
    // kernel into that stream by then.
    let with = |copy_us: u64| {
        let mut file = beside_a_long_kernel(
            copy_us,
            &json!([{"name": "H", "release": "19 ms", "deadline": "15 ms", "steps": [
            {"launch": "first", "stream": "Y"}, {"synchronize": "Y"}, {"synchronize": "Y"}]}]),
        );
        file["streams"][1]["priority"] = json!(-1);
        file["release_order"] = json!("declared");
        file
    };
    let (verdict, response) = verdict_and_run(&with(25_000), &with(18_999), "H");
    assert!(response > Duration::from_ns(30 * MS), "{response}");
    assert_ne!(verdict, Some(Verdict::Proven));
}

#[test]
fn a_wait_that_begins_at_the_end_of_a_hyperperiod_may_be_for_what_is_released_then() {
    // S comes every 20 ms, from 12 ms on, for 10 ms; H launches 10 ms behind it at 13 ms and waits for all until 32 ms.
    // Then it waits for S, whose next job is released just then, before H goes on.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "twice",
        "kernels": {"A": {"blocks": 1, "threads": 1024, "duration": "10 ms"},
                    "B": {"blocks": 2, "threads": 1024, "duration": "10 ms"}},
        "streams": [{"name": "S", "period": "20 ms", "release": "12 ms", "deadline": "none", "operations": [{"kernel": "A"}]}],
        "hosts": [{"name": "H", "release": "12 ms", "deadline": "25 ms", "steps": [
            {"sleep": "1 ms"}, {"launch": "B", "stream": "S"}, {"synchronize": "device"}, {"synchronize": "S"}]}],
    });
    let mut longer = file.clone();
    longer["horizon"] = json!("100 ms");
    let (verdict, response) = verdict_and_run(&file, &longer, "H");
    assert_eq!(response, Duration::from_ns(30 * MS));
    assert_ne!(verdict, Some(Verdict::Proven));
}

#[test]
fn a_job_of_a_host_that_does_nothing_takes_its_jitter() {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "empty",
        "kernels": {"K": {"blocks": 1, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "S", "period": "20 ms", "operations": [{"kernel": "K"}]}],
        "hosts": [{"name": "H", "period": "20 ms", "jitter": "3 ms", "deadline": "2 ms", "steps": [{"sleep": "0 s"}]}],
    });
    let scenario = read(&file, &tx2());
    let options = SearchOptions { runs: 64, ..SearchOptions::default() };
    let jitter = [Duration::ZERO, Duration::from_ns(3 * MS)];
    let judged = judge_sporadic(&scenario, &jitter, &options, Progress::NONE).expect("no run is above a bound");
    let host = judged.streams.iter().find(|stream| &*stream.stream == "H").expect("it is judged");
    assert_eq!(host.bound_ns, Some(Duration::from_ns(3 * MS)));
    assert_ne!(host.verdict, Some(Verdict::Proven));
}

#[test]
fn two_hosts_that_meet_at_a_barrier_do_one_job() {
    let step = |sleep: u32, stream: &str| json!([{"sleep": format!("{sleep} ms")}, {"barrier": "B"}, {"launch": "K", "stream": stream}, {"synchronize": stream}]);
    let scenario = read(&hosts(&json!([host("H", &step(2, "S")), host("G", &step(5, "T"))])), &tx2());
    let verdicts = searched(&scenario, 64);
    // After 5 ms both launch: one is first.
    let bounds: Vec<_> = verdicts.jobs.iter().map(|job| job.bound_ns.map(|bound| bound.as_ns() / MS)).collect();
    assert_eq!(bounds, [Some(13); 6], "{:?}", verdicts.notes);
    assert!(verdicts.all_proven());
}

#[test]
fn a_host_that_ends_lets_others_through_its_barrier_when_what_it_waited_for_has_ended() {
    // As stated, A ends at 10 ms, and V, released at 6 ms, has room beside it. If A takes no time, B has the whole GPU
    // from the beginning to 10 ms.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "barrier",
        "kernels": {"A": {"blocks": 1, "threads": 1024, "duration": "10 ms"},
            "B": {"blocks": 4, "threads": 1024, "duration": "10 ms"}, "V": {"blocks": 1, "threads": 1024, "duration": "1 ms"}},
        "streams": [{"name": "s"}, {"name": "t"}, {"name": "v", "release": "6 ms", "deadline": "3 ms", "operations": [{"kernel": "V"}]}],
        "hosts": [
            {"name": "h", "iterations": 1, "steps": [{"barrier": "X"}, {"launch": "A", "stream": "s"}, {"synchronize": "s"}]},
            {"name": "g", "iterations": 1, "steps": [{"barrier": "X"}, {"barrier": "X"}, {"launch": "B", "stream": "t"}]}]});
    let scenario = read(&file, &tx2());
    let verdicts = searched(&scenario, 64);
    assert_eq!(verdicts.jobs[0].verdict, Some(Verdict::Missed), "{:?}", verdicts.jobs[0]);
    assert!(verdicts.jobs[0].bound_ns.is_none());
}

#[test]
fn a_loop_without_a_period_has_the_bound_of_one_iteration() {
    let file = hosts(&json!([{"name": "H", "iterations": 3, "deadline": "9 ms", "steps": [
        {"launch": "K", "stream": "S"}, {"launch": "K", "stream": "S"}, {"synchronize": "last"}]}]));
    let scenario = read(&file, &tx2());
    let verdicts = searched(&scenario, 64);
    let bounds: Vec<_> =
        verdicts.jobs.iter().map(|job| (job.bound_ns.map(|bound| bound.as_ns() / MS), job.verdict)).collect();
    assert_eq!(bounds, [(Some(8), Some(Verdict::Proven)); 3]);
}

/// Two processes of a kernel each, which fills the TX2 for so long \[ms\].
fn processes(mps: bool, first: u32, second: u32) -> Value {
    let stream = |name: &str| json!({"name": name, "process": name, "period": "100 ms", "jobs": 2, "operations": [{"kernel": name}]});
    let kernel = |ms: u32| json!({"blocks": 4, "threads": 1024, "duration": format!("{ms} ms")});
    json!({
        "format": "gpusched-scenario/1", "name": "processes", "mps": mps,
        "kernels": {"A": kernel(first), "B": kernel(second)}, "streams": [stream("A"), stream("B")],
    })
}

#[test]
fn contexts_that_take_turns_are_bounded_by_slices_and_switches_and_by_what_others_have_to_do() {
    let device = tx2().with(|spec| {
        (spec.time_slicing.time_slice, spec.time_slicing.switch_cost) =
            (Duration::from_ns(2 * MS), Duration::from_ns(MS / 2));
    });
    let (given, phased) = bounds(&processes(false, 3, 40), &device.expect("it is a GPU"));
    // The bound by work has 2 x 3 ms of work on two SMs: 4 turns at most, each after one of B and two switches.
    assert!(given.is_some_and(|bound| (9.0..=20.0).contains(&bound)), "{given:?}");
    assert_eq!(given, phased);
}

#[test]
fn clients_of_mps_are_as_threads_of_one_process() {
    assert_eq!(bounds(&processes(true, 3, 5), &tx2()), (Some(8.0), Some(8.0)));
}

#[test]
fn a_copy_that_has_its_shared_link_for_itself_takes_what_it_takes_elsewhere() {
    let device = tx2().with(|spec| spec.copy.sharing = CopySharing::SharedLink).expect("it is a GPU");
    let copy = |stream: &str| json!({"copy": "host-to-device", "duration": "3 ms", "stream": stream});
    let of = |second: &Value| {
        let steps = json!([copy("S"), {"synchronize": "S"}, {"launch": "K", "stream": "S"}]);
        bounds(&hosts(&json!([host("H", &steps), host("G", &json!([second]))])), &device)
    };
    assert_eq!(of(&json!({"memset": 4, "stream": "T"})), (Some(7.0), Some(7.0)));
    // Beside another copy it takes both, and what rounding loses.
    let (given, phased) = of(&copy("T"));
    assert!(given.is_some_and(|bound| (10.0..19.0).contains(&bound)) && given == phased, "{given:?}");
}

#[test]
fn more_streams_than_channels_have_bounds() {
    let device = tx2().with(|spec| spec.channels = Some(1)).expect("it is a GPU");
    let steps = |stream: &str| json!([{"launch": "K", "stream": stream}, {"synchronize": stream}]);
    let (given, phased) = bounds(&hosts(&json!([host("H", &steps("S")), host("G", &steps("T"))])), &device);
    assert!(given.is_some_and(|bound| (8.0..=30.0).contains(&bound)) && given == phased, "{given:?}");
}

/// Bound / worst found of every thread that has one, over given releases and all phasings.
fn ratios(sample: &Sample, seed: u64, runs: u64) -> Result<Vec<f64>, TestCaseError> {
    let scenario = sample.scenario();
    let options = SearchOptions { seed, runs, ..SearchOptions::default() };
    let mut ratios = Vec::new();
    let mut note = |bound: Option<Duration>, found: Option<Duration>| {
        if let Some((bound, found)) = bound.zip(found) {
            ratios.push(bound.as_ns() as f64 / found.as_ns().max(1) as f64);
        }
    };
    // A run above a bound is an error.
    for job in &judge(&scenario, &options, Progress::NONE)?.jobs {
        note(job.bound_ns, job.worst_found_ns);
    }
    for stream in &judge_sporadic(&scenario, &[], &options, Progress::NONE)?.streams {
        note(stream.bound_ns, stream.worst_found_ns);
    }
    Ok(ratios)
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn no_run_of_a_host_program_is_above_a_bound(sample in sample(), seed in any::<u64>()) {
        ratios(&sample, seed, 12)?;
    }
}

/// Each scenario is run 120 times over given releases, and as often over all phasings.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_host_programs_processes_links_and_channels() {
    let said = campaign("host programs", 4_000, &(sample(), any::<u64>()), |(sample, seed)| ratios(&sample, seed, 120));
    println!("{said}");
}
