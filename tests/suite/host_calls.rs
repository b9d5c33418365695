//! Host calls that wait for more than what they are for (H1 to H3): Yang et al., ECRTS 2018, table 3.

use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::device::{Device, SynchronousMemset};
use gpusched::effort::Progress;
use gpusched::figures::catalogue;
use gpusched::hosts::simulate;
use gpusched::run::{CriticalPath, OnPath, Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::trace::Rule;
use proptest::prelude::*;

use crate::campaign::config;
use crate::common::{directory, gpusched, gpusched_with, json, stdout};
use crate::generate::{Limits, scenario as random_scenario};

const FREE: &str = "scenarios/ecrts2018/free.json";

/// Two threads of a process on a TX2: `frees` at 1 ms, while a kernel of 5 ms runs, and `other` at 2 ms.
fn scenario(frees: &str, other: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "n", "device": "tx2",
            "kernels": {{"long": {{"blocks": 2, "threads": 64, "duration": "5 ms"}},
                         "short": {{"blocks": 2, "threads": 64, "duration": "1 ms"}}}},
            "streams": [{{"name": "A", "operations": [{{"kernel": "long"}}]}}, {{"name": "B"}}, {{"name": "C"}}],
            "hosts": [{{"name": "frees", "release": "1 ms", "steps": [{frees}]}},
                      {{"name": "other", "release": "2 ms", "steps": [{other}]}}]}}"#
    );
    Scenario::from_json("n.json", &text, &ReadOptions::default()).expect("it is one")
}

/// When each kernel was launched and began [us], by name.
fn kernels(run: &Run<'_>) -> Vec<(String, u64, u64)> {
    let us = |at: gpusched::time::Instant| at.as_ns() / 1_000;
    Summary::of(run)
        .launches()
        .map(|launch| {
            let begun = launch.record.first_start().expect("it began");
            (launch.work.name.to_string(), us(launch.record.launched()), us(begun))
        })
        .collect()
}

/// The calls that were held: rule, thread, from and to [us].
fn held(run: &Run<'_>) -> Vec<(Rule, u32, u64, u64)> {
    let us = |at: gpusched::time::Instant| at.as_ns() / 1_000;
    run.held_calls
        .iter()
        .map(|call| (call.rule, call.thread, us(call.from), us(call.to().expect("it went on"))))
        .collect()
}

#[test]
fn table_3_of_ecrts_2018_is_as_published() {
    let figure = *catalogue().iter().find(|figure| figure.name == "ecrts2018-table-3").expect("it is in the catalogue");
    let values = figure.printed().expect("it runs");
    assert_eq!(values.len(), 27, "nine calls, three answers each");
    for value in values {
        assert_eq!(value.here.as_ref(), Some(&value.printed), "{}", value.what);
    }
}

#[test]
fn a_free_waits_for_the_gpu_and_postpones_the_launch_of_another_task_as_on_a_tx2() {
    let output = gpusched(&["simulate", FREE, "--check"]);
    assert!(output.status.success(), "{}", stdout(&output));
    let calls = json(&["simulate", FREE, "--format", "json"])["held_calls"].clone();
    let rows: Vec<_> = calls.as_array().expect("a list").iter().collect();
    let of = |row: usize| {
        let row = rows[row];
        (
            row["host"].as_str(),
            row["call"].as_str(),
            row["rule"].as_str(),
            row["from_ns"].as_u64(),
            row["to_ns"].as_u64(),
        )
    };
    // The call comes at 0.4 s and task 2 ends at 2.2 s; task 4's launch comes at 0.8 s.
    assert_eq!(of(0), (Some("host of task 3"), Some("free"), Some("H1"), Some(400_000_000), Some(2_200_000_000)));
    assert_eq!(of(1), (Some("Task 4"), Some("launch"), Some("H2"), Some(800_000_000), Some(2_200_000_000)));
    assert_eq!(rows.len(), 2);
    assert!(stdout(&gpusched(&["simulate", FREE])).contains("host of task 3"));
}

#[test]
fn every_call_of_another_thread_waits_while_memory_is_freed_and_work_on_the_cpu_does_not() {
    let frees = r#"{"free": "host"}"#;
    for call in [
        r#"{"malloc": "device"}"#,
        r#"{"synchronize": "B"}"#,
        r#"{"memset": 1, "stream": "B"}"#,
        r#"{"free": "device"}"#,
    ] {
        let scenario = scenario(frees, &format!(r#"{{"work": "1 ms"}}, {call}, {{"launch": "short", "stream": "B"}}"#));
        let run = simulate(&scenario).expect("it runs");
        assert_eq!(held(&run), [(Rule::H1, 1, 1_000, 5_000), (Rule::H2, 2, 3_000, 5_000)], "{call}");
        assert_eq!(kernels(&run)[1], ("short".to_owned(), 5_000, 5_000), "{call}");
    }
    let late = scenario(frees, r#"{"sleep": "4 ms"}, {"launch": "short", "stream": "B"}"#);
    let run = simulate(&late).expect("it runs");
    assert_eq!(held(&run), [(Rule::H1, 1, 1_000, 5_000)]);
}

#[test]
fn a_free_holds_nobody_when_the_gpu_has_no_work_of_its_process_and_no_other_process() {
    let idle = scenario(
        r#"{"sleep": "5 ms"}, {"free": "device"}"#,
        r#"{"sleep": "4 ms"}, {"launch": "short", "stream": "B"}"#,
    );
    // The kernel at 6 ms comes after the call, in declaration order, and there is nothing else.
    assert_eq!(held(&simulate(&idle).expect("it runs")), []);
    let text = r#"{"format": "gpusched-scenario/1", "name": "n", "device": "orin", "mps": true,
        "processes": {"P": {}, "Q": {}},
        "kernels": {"k": {"blocks": 2, "threads": 64, "duration": "5 ms"}},
        "streams": [{"name": "A", "process": "P", "operations": [{"kernel": "k"}]},
                    {"name": "B", "process": "Q", "release": "2 ms", "operations": [{"kernel": "k"}]}],
        "hosts": [{"name": "frees", "process": "P", "release": "1 ms", "steps": [{"free": "device"}]}]}"#;
    let of_two = Scenario::from_json("n.json", text, &ReadOptions::default()).expect("it is one");
    let run = simulate(&of_two).expect("it runs");
    assert_eq!(held(&run), [(Rule::H1, 2, 1_000, 5_000)], "threads of streams come first");
}

#[test]
fn the_caller_of_a_synchronous_memset_waits_on_a_tx2_and_not_on_a_volta() {
    let steps = r#"{"memset": 4096, "synchronous": true}, {"launch": "short", "stream": "B"}"#;
    let text = |device: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "n", "device": "{device}",
                "kernels": {{"long": {{"blocks": 2, "threads": 64, "duration": "5 ms"}},
                             "short": {{"blocks": 2, "threads": 64, "duration": "1 ms"}}}},
                "streams": [{{"name": "A", "operations": [{{"kernel": "long"}}]}}, {{"name": "B", "blocking": true}}],
                "hosts": [{{"name": "h", "release": "1 ms", "steps": [{steps}]}}]}}"#
        )
    };
    for (device, launched) in [("tx2", 5_000), ("titan-v", 1_000), ("v100", 1_000)] {
        let scenario = Scenario::from_json("n.json", &text(device), &ReadOptions::default()).expect("it is one");
        let run = simulate(&scenario).expect("it runs");
        // Either way the kernel waits for the memset (N2).
        assert_eq!(kernels(&run)[1], ("short".to_owned(), launched, 5_000), "{device}");
    }
    let waits = |name: &str| Device::builtin(name).expect("sound").expect("built in").synchronous_memset;
    assert_eq!(waits("tx2"), SynchronousMemset::CallerWaits);
    assert_eq!(waits("titan-v"), SynchronousMemset::Returns);
}

#[test]
fn a_job_that_a_free_may_hold_is_never_proven_and_the_output_says_why() {
    // The kernel of the other thread would be done at 3 ms; as memory is freed from 1 ms on, it is launched at 5 ms.
    let other = r#"{"launch": "short", "stream": "B"}"#;
    let text = scenario(r#"{"free": "device"}"#, other).to_native_json().expect("it can be written");
    let judged = |deadline: &str| gpusched_with(&text, &["analyze", "-", "--verdicts", "--deadline", deadline]);
    let late = judged("other=2ms");
    assert!(stdout(&late).contains("missed"), "{}", stdout(&late));
    let in_time = judged("other=20ms");
    assert!(stdout(&in_time).contains("0 proven") && stdout(&in_time).contains("1 open"), "{}", stdout(&in_time));
    let told = String::from_utf8_lossy(&in_time.stderr).into_owned() + &stdout(&in_time);
    assert!(told.contains("frees memory") && told.contains("H2"), "{told}");
}

#[test]
fn a_free_of_the_only_thread_of_its_process_is_bounded_as_a_synchronization_of_the_device_is() {
    let bounds = |step: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "n", "device": "tx2",
                "kernels": {{"k": {{"blocks": 2, "threads": 64, "duration": "1 ms"}}}}, "streams": [{{"name": "A"}}],
                "hosts": [{{"name": "h", "period": "10 ms", "iterations": 3, "steps": [
                    {{"launch": "k", "stream": "A"}}, {step}, {{"launch": "k", "stream": "A"}}]}}]}}"#
        );
        stdout(&gpusched_with(&text, &["analyze", "-", "--verdicts", "--format", "csv"]))
    };
    let freed = bounds(r#"{"free": "device"}"#);
    assert_eq!(freed, bounds(r#"{"synchronize": "device"}"#));
    assert!(freed.contains("proven"), "{freed}");
}

#[test]
fn the_critical_path_of_a_launch_that_was_held_goes_by_what_the_free_waited_for() {
    let scenario = scenario(r#"{"free": "device"}"#, r#"{"launch": "short", "stream": "B"}"#);
    let run = simulate(&scenario).expect("it runs");
    let path = CriticalPath::named(&Summary::of(&run), "other").expect("it is there").expect("it ended");
    let operations: Vec<u32> = path
        .parts
        .iter()
        .filter_map(|part| match part.what {
            OnPath::Operation(id) => Some(id.0),
            _ => None,
        })
        .collect();
    assert_eq!(operations, [0, 1], "the long kernel, and then its own");
}

#[test]
fn logs_of_the_examiner_have_the_call_before_the_launch_that_was_held() {
    let benchmark = |label: &str, release: &str, kind: &str, info: &str| {
        format!(
            r#"{{"filename": "{kind}.so", "label": "{label}", "log_name": "{label}.json", "release_time": {release},
                "thread_count": 64, "block_count": 2, "data_size": 0, "additional_info": {info}}}"#
        )
    };
    let benchmarks = [
        benchmark("first", "0", "timer_spin", "5000000"),
        benchmark("frees", "0.001", "stream_action", r#"{"actions": [{"type": "free"}]}"#),
        benchmark("held", "0.002", "timer_spin", "1000000"),
    ];
    let text = format!(
        r#"{{"name": "n", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [{}]}}"#,
        benchmarks.join(", ")
    );
    let directory = directory("host_calls_logs");
    let path = directory.join("scenario.json");
    std::fs::write(&path, text).expect("it can be written");
    let arguments = [path.display().to_string(), directory.display().to_string()];
    let output = gpusched(&["simulate", &arguments[0], "--logs", &arguments[1]]);
    assert!(output.status.success());
    let log = std::fs::read_to_string(directory.join("held.json")).expect("it was written");
    assert!(log.contains("\"cuda_launch_times\": [0.002000000, 0.005000000, 0.006000000]"), "{log}");
}

/// What an audit finds of a run in which something was changed.
fn found(run: &Run<'_>, change: impl Fn(&mut ObservedRun)) -> Vec<AuditRule> {
    let mut observation = ObservedRun::of_run(run).expect("it is within the clock of logs");
    change(&mut observation);
    audit(&observation, &Tolerances::EXACT, Progress::NONE).findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn the_audit_sees_a_free_that_returns_early_or_late_and_a_launch_within_one() {
    let scenario = scenario(r#"{"free": "device"}"#, r#"{"launch": "short", "stream": "B"}"#);
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(found(&run, |_| {}), []);
    let returns = |us: i64| {
        move |observation: &mut ObservedRun| {
            observation.frees[0].to_ns = Some(gpusched::logs::LogTime::from_ns(us * 1_000));
        }
    };
    assert_eq!(found(&run, returns(4_000)), [AuditRule::H1]);
    assert_eq!(found(&run, returns(5_001)), [AuditRule::H2, AuditRule::H1], "the launch at 5 ms is within it");
    let early = |observation: &mut ObservedRun| {
        let at = gpusched::logs::LogTime::from_ns(2_000_000);
        observation.operations[1].launched_ns = [at, at];
    };
    assert!(found(&run, early).contains(&AuditRule::H2));
}

proptest! {
    #![proptest_config(config(64))]

    /// Random programs free memory, too; the reference simulator is compared with elsewhere.
    #[test]
    fn the_audit_accepts_every_run_in_which_memory_is_freed(case in random_scenario(Limits::ALL)) {
        if let Ok(run) = simulate(&case.0) {
            for free in run.held_calls.iter().filter(|call| call.rule == Rule::H1) {
                prop_assert!(free.from <= free.to().unwrap_or(gpusched::time::Instant::MAX));
            }
            let found = found(&run, |_: &mut ObservedRun| ());
            prop_assert!(!found.contains(&AuditRule::H1) && !found.contains(&AuditRule::H2));
        }
    }
}
