//! What a host does on the CPU belongs to its jobs: in runs, in verdicts over given releases and over all phasings.

use gpusched::analysis::{SearchOptions, Verdict, analyse, judge, judge_sporadic};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use serde_json::{Value, json};

/// A kernel of 10 ms that fills the GPU, and these hosts.
fn scenario(hosts: &Value) -> Scenario {
    let text = json!({
        "format": "gpusched-scenario/1", "name": "hosts", "device": "tx2",
        "kernels": {"k": {"blocks": 8, "threads": 512, "duration": "10 ms"}},
        "streams": [{"name": "s"}, {"name": "t"}],
        "hosts": hosts,
    });
    Scenario::from_json("hosts.json", &text.to_string(), &ReadOptions::default()).expect("it is sound")
}

fn ms(ms: u64) -> Option<Duration> {
    Duration::from_ns(1_000_000).checked_mul(ms)
}

/// What is judged of a job: worst found, bound and verdict.
type Judged = (Option<Duration>, Option<Duration>, Option<Verdict>);

/// The responses of the run, and what is judged of each job.
fn known(scenario: &Scenario) -> (Vec<Option<Duration>>, Vec<Judged>) {
    let run = simulate(scenario).expect("it runs");
    let responses = run.jobs().begun.iter().map(gpusched::run::Job::response).collect();
    let search = SearchOptions { runs: 16, ..SearchOptions::default() };
    let judged = judge(scenario, &search, Progress::NONE).expect("it is judged");
    (responses, judged.jobs.iter().map(|job| (job.worst_found_ns, job.bound_ns, job.verdict)).collect())
}

#[test]
fn what_comes_after_the_last_wait_is_in_the_response() {
    let steps = json!([{"sleep": "2 ms"}, {"launch": "k", "stream": "s"}, {"synchronize": "s"}, {"sleep": "30 ms"}]);
    let once = scenario(&json!([{"name": "h", "deadline": "20 ms", "steps": steps}]));
    // 2 ms, 10 ms on the GPU, 30 ms: in time would have been the kernel, at 12 ms.
    assert_eq!(known(&once), (vec![ms(42)], vec![(ms(42), ms(42), Some(Verdict::Missed))]));

    let periodic = |deadline: &str| {
        let host = json!({"name": "h", "period": "50 ms", "iterations": 2, "deadline": deadline, "steps": steps});
        scenario(&json!([host]))
    };
    let missed = (ms(42), ms(42), Some(Verdict::Missed));
    assert_eq!(known(&periodic("41 ms")), (vec![ms(42); 2], vec![missed; 2]));
    let proven = (ms(42), ms(42), Some(Verdict::Proven));
    assert_eq!(known(&periodic("42 ms")), (vec![ms(42); 2], vec![proven; 2]));
    for (deadline, verdict) in [("41 ms", Verdict::Missed), ("42 ms", Verdict::Proven)] {
        let search = SearchOptions { runs: 16, ..SearchOptions::default() };
        let judged = judge_sporadic(&periodic(deadline), &[], &search, Progress::NONE).expect("it is judged");
        let of = &judged.streams[0];
        assert_eq!((of.worst_found_ns, of.bound_ns, of.verdict), (ms(42), ms(42), Some(verdict)), "{deadline}");
    }
}

#[test]
fn sleep_beside_the_gpu_counts_once() {
    // The kernel runs while the host sleeps; whichever takes longer is the response.
    for (sleep, response) in [(30, 30), (4, 10)] {
        let steps = json!([{"launch": "k", "stream": "s"}, {"sleep": format!("{sleep} ms")}]);
        let host = json!({"name": "h", "period": "50 ms", "iterations": 2, "steps": steps});
        let proven = (ms(response), ms(response), Some(Verdict::Proven));
        assert_eq!(known(&scenario(&json!([host]))), (vec![ms(response); 2], vec![proven; 2]), "{sleep}");
    }
}

#[test]
fn a_host_that_waits_for_the_work_of_others_ends_with_it() {
    // Both kernels fill the GPU, and either may be first: the device is idle at 20 ms, and h sleeps for 1 ms then.
    let steps = json!([{"launch": "k", "stream": "s"}, {"synchronize": "device"}, {"sleep": "1 ms"}]);
    let hosts = json!([
        {"name": "g", "deadline": "20 ms", "steps": [{"launch": "k", "stream": "t"}]},
        {"name": "h", "deadline": "20 ms", "steps": steps},
    ]);
    let expected = vec![(ms(20), ms(20), Some(Verdict::Proven)), (ms(21), ms(21), Some(Verdict::Missed))];
    assert_eq!(known(&scenario(&hosts)), (vec![ms(10), ms(21)], expected));
}

#[test]
fn a_host_that_launches_nothing_is_judged_by_the_deadline_that_it_states() {
    // One sleeps for 5 ms, the other waits for 7 of the 10 ms of a kernel of somebody else.
    let hosts = |sleeps: &str, waits: &str| {
        scenario(&json!([
            {"name": "a", "steps": [{"launch": "k", "stream": "s"}]},
            {"name": "b", "deadline": sleeps, "steps": [{"sleep": "5 ms"}]},
            {"name": "c", "deadline": waits, "release": "3 ms", "steps": [{"synchronize": "s"}]},
        ]))
    };
    let (responses, judged) = known(&hosts("4 ms", "6 ms"));
    assert_eq!(responses, [ms(10), ms(5), ms(7)]);
    assert_eq!(judged[1], (ms(5), ms(5), Some(Verdict::Missed)));
    assert_eq!((judged[2].0, judged[2].2), (ms(7), Some(Verdict::Missed)));
    let (_, judged) = known(&hosts("5 ms", "7 ms"));
    assert_eq!(judged[1], (ms(5), ms(5), Some(Verdict::Proven)));
    assert_ne!(judged[2].2, Some(Verdict::Missed));
    let undemanding =
        scenario(&json!([{"name": "b", "period": "4 ms", "iterations": 1, "steps": [{"sleep": "5 ms"}]}]));
    assert_eq!(known(&undemanding), (vec![], vec![]));
}

#[test]
fn a_host_that_goes_on_for_as_long_as_a_limit_says_is_searched_to_an_end() {
    // With blocks and copies of no length there would be no end of iterations.
    let launch = json!([{"launch": "k", "stream": "s"}, {"synchronize": "s"}]);
    let copy = json!([{"copy": "device-to-host", "duration": "4 ns", "stream": "s"}, {"synchronize": "s"}]);
    for (steps, limit, jobs, response) in [(launch, "25 ms", 3, ms(10)), (copy, "21 ns", 6, Some(Duration::from_ns(4)))]
    {
        let host = json!({"name": "h", "release": "5 ns", "deadline": "15 ms", "time_limit": limit, "steps": steps});
        let expected = vec![(response, response, Some(Verdict::Proven)); jobs];
        assert_eq!(known(&scenario(&json!([host]))), (vec![response; jobs], expected), "{limit}");
    }
}

#[test]
fn a_barrier_at_the_end_is_a_wait_for_the_next_job_of_others_and_no_part_of_this_one() {
    let host = |name: &str, sleep: &str| {
        let steps = json!([{"launch": "k", "stream": "s"}, {"synchronize": "s"}, {"sleep": sleep}, {"barrier": "b"}]);
        json!({"name": name, "deadline": "60 ms", "steps": steps})
    };
    let run = scenario(&json!([host("a", "1 ms"), host("b", "30 ms")]));
    // b waits for a in their stream, until 20 ms.
    let (responses, judged) = known(&run);
    assert_eq!(responses, [ms(11), ms(50)]);
    assert!(judged.iter().zip(&responses).all(|((_, bound, _), response)| bound >= response), "{judged:?}");
}

#[test]
fn a_job_that_only_waits_is_over_once_the_barrier_before_it_and_those_that_it_repeats_have_opened() {
    let ns = |ns| Some(Duration::from_ns(ns));
    let host = |name: &str, release: &str, steps: Value| {
        json!({"name": name, "release": release, "period": "12 ns", "iterations": 2, "deadline": "6 ns", "barrier": "b",
            "steps": steps})
    };
    let late = json!([{"barrier": "b"}, {"synchronize": "device"}]);
    let run = scenario(&json!([host("a", "6 ns", late), host("b", "0 ns", json!([{"barrier": "b"}]))]));
    let proven = |response: u64| (ns(response), ns(response), Some(Verdict::Proven));
    assert_eq!(known(&run).1, [proven(0), proven(0), proven(6), proven(6)]);

    // The first sleeps before the second barrier, which is no longer at the end where it is repeated.
    let late = json!([{"sleep": "2 ns"}, {"barrier": "c"}, {"barrier": "c"}]);
    let repeats = json!([{"repeat": 2, "steps": [{"barrier": "c"}]}]);
    let run = scenario(&json!([host("a", "1 ns", late), host("b", "0 ns", repeats)]));
    assert_eq!(known(&run).1, [proven(2), proven(2), proven(3), proven(3)]);
}

#[test]
fn what_has_no_length_is_passed_by_the_next_job_that_is_released_when_it_could_begin() {
    // Twice 5 ms above what has no length, every 10 ms: it begins when nothing more is released.
    let text = json!({
        "format": "gpusched-scenario/1", "name": "tie", "device": "tx2",
        "kernels": {"nothing": {"blocks": 1, "threads": 1024, "duration": "0 s"},
            "half": {"blocks": 4, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "low", "priority": 0, "blocking": false}, {"name": "high", "priority": -1}],
        "hosts": [{"name": "h", "period": "10 ms", "iterations": 2, "steps": [{"launch": "nothing", "stream": "low"},
            {"launch": "half", "stream": "high"}, {"launch": "half", "stream": "high"}]}],
    });
    let run = Scenario::from_json("tie.json", &text.to_string(), &ReadOptions::default()).expect("it is sound");
    let (responses, judged) = known(&run);
    assert_eq!(responses, [ms(20), ms(10)]);
    assert!(judged.iter().zip(&responses).all(|((_, bound, _), response)| bound >= response), "{judged:?}");
    let search = SearchOptions { runs: 16, ..SearchOptions::default() };
    let streams = judge_sporadic(&run, &[], &search, Progress::NONE).expect("it is judged").streams;
    assert!(streams[0].bound_ns.is_none_or(|bound| Some(bound) >= ms(20)), "{:?}", streams[0].bound_ns);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_more_steps_after_the_last_wait_than_are_followed_are_not_taken_for_none() {
    // 10 ms on the GPU, then 70,000 times 1 us.
    let rest = json!({"repeat": 70_000, "steps": [{"sleep": "1 us"}]});
    let steps = json!([{"launch": "k", "stream": "s"}, {"synchronize": "s"}, rest]);
    let missed = scenario(&json!([{"name": "h", "deadline": "20 ms", "steps": steps}]));
    assert_eq!(known(&missed), (vec![ms(80)], vec![(ms(80), None, Some(Verdict::Missed))]));
    let open = scenario(&json!([{"name": "h", "deadline": "80 ms", "steps": steps}]));
    assert_eq!(known(&open), (vec![ms(80)], vec![(ms(80), None, Some(Verdict::Open))]));
}

#[test]
fn a_job_that_has_launched_nothing_by_the_horizon_is_judged_with_the_others() {
    let late =
        json!({"name": "late", "deadline": "5 ms", "steps": [{"sleep": "100 ms"}, {"launch": "k", "stream": "t"}]});
    let early = json!({"name": "early", "deadline": "10 ms", "steps": [{"launch": "k", "stream": "s"}]});
    let mut run = scenario(&json!([late, early]));
    run.horizon = ms(50);
    // That of `late` has passed when the run ends.
    let judged = vec![(None, None, Some(Verdict::Open)), (ms(10), ms(10), Some(Verdict::Proven))];
    assert_eq!(known(&run), (vec![None, ms(10)], judged));
}

/// These hosts, with a kernel of 2 ns and one of 9 ns that fills the GPU.
fn of_ns(hosts: &Value, horizon: Option<&str>) -> Scenario {
    let mut text = json!({
        "format": "gpusched-scenario/1", "name": "barriers", "device": "tx2",
        "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "2 ns"},
            "big": {"blocks": 4, "threads": 1024, "duration": "9 ns"}},
        "streams": [{"name": "s", "blocking": false}, {"name": "t", "blocking": false}],
        "hosts": hosts,
    });
    if let Some(horizon) = horizon {
        text["horizon"] = json!(horizon);
    }
    Scenario::from_json("barriers.json", &text.to_string(), &ReadOptions::default()).expect("it is sound")
}

/// What is judged of the first job of a host.
fn first_job(scenario: &Scenario, name: &str) -> Judged {
    let search = SearchOptions { runs: 16, ..SearchOptions::default() };
    let judged = judge(scenario, &search, Progress::NONE).expect("it is judged");
    let job = judged.jobs.iter().find(|job| &*job.stream == name && job.job == 0).expect("it has one");
    (job.worst_found_ns, job.bound_ns, job.verdict)
}

/// Without a horizon only the jobs of one hyperperiod are looked at: 0 to 12 ns here.
#[test]
fn who_has_no_end_has_not_left_its_barriers_after_one_hyperperiod() {
    let ns = |ns: u64| Some(Duration::from_ns(ns));
    // It comes to b at 1 and at 13 ns, so the second barrier of the other opens at 13, and its kernel ends at 15.
    let endless = json!({"name": "h", "period": "12 ns", "steps": [{"sleep": "1 ns"}, {"barrier": "b"}]});
    let once = json!({"name": "o", "deadline": "5 ns",
        "steps": [{"barrier": "b"}, {"barrier": "b"}, {"launch": "k", "stream": "s"}]});
    let both = json!([endless, once]);
    assert_eq!(first_job(&of_ns(&both, Some("40 ns")), "o"), (ns(15), ns(15), Some(Verdict::Missed)));
    let (found, bound, verdict) = first_job(&of_ns(&both, None), "o");
    assert_eq!((found, bound), (None, None));
    assert_ne!(verdict, Some(Verdict::Proven));

    // What fills the GPU is launched at 13 ns, long after the kernel that ends at 4.
    let fills = json!({"name": "f", "period": "12 ns",
        "steps": [{"barrier": "b"}, {"barrier": "b"}, {"launch": "big", "stream": "t"}]});
    let other = json!({"name": "o", "deadline": "5 ns", "steps": [{"sleep": "2 ns"}, {"launch": "k", "stream": "s"}]});
    let three = json!([endless, fills, other]);
    for horizon in [None, Some("40 ns")] {
        assert_eq!(first_job(&of_ns(&three, horizon), "o"), (ns(4), ns(4), Some(Verdict::Proven)), "{horizon:?}");
    }
    assert_eq!(first_job(&of_ns(&three, None), "f").1, None);
}

#[test]
fn a_kernel_that_may_end_after_one_hyperperiod_has_no_safe_finish() {
    let text = json!({
        "format": "gpusched-scenario/1", "name": "beyond", "device": "tx2",
        "kernels": {"long": {"blocks": 4, "threads": 1024, "duration": "8 ms"}},
        "streams": [
            {"name": "a", "period": "10 ms", "operations": [{"kernel": "long"}]},
            {"name": "b", "release": "5 ms", "operations": [{"kernel": "long"}]},
        ],
    });
    let scenario = Scenario::from_json("beyond.json", &text.to_string(), &ReadOptions::default()).expect("it is sound");
    let analysis = analyse(&scenario).expect("it is analysed");
    // The jobs of a that come at 0 and 10 ms are looked at, and the next comes at 20. The kernel of b ends at 16 ms,
    // and the second of a at 24, if nothing comes besides.
    let known: Vec<_> = analysis.kernels.iter().map(|kernel| kernel.safe_finish_ns).collect();
    let ms = |ms: u64| Some(Instant::from_ns(ms * 1_000_000));
    assert_eq!(known, [ms(8), ms(16), None]);
    assert!(
        analysis.notes.iter().any(|note| note.contains("of 1 of 3 kernels, which may finish after 20 ms")),
        "{:?}",
        analysis.notes
    );
}

#[test]
fn hosts_without_end_that_cross_two_barriers_in_opposite_order_are_refused() {
    let crosses = |name: &str, [first, then]: [&str; 2]| json!({"name": name, "period": "12 ns", "steps": [{"barrier": first}, {"barrier": then}]});
    let hosts = json!([crosses("g", ["b", "c"]), crosses("h", ["c", "b"])]);
    let refused = simulate(&of_ns(&hosts, None)).expect_err("each waits for the other");
    assert!(refused.to_string().contains("waits forever at a barrier"), "{refused}");
}
