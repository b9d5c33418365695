//! What took the time of a run or a job, by hand, and what must hold of it in every run.

use gpusched::hosts::simulate;
use gpusched::run::{CriticalPath, OnPath, PathEnd, Summary};
use gpusched::scenario::{NewTime, ReadOptions, Scenario, WhatIf};
use gpusched::time::{Duration, Instant};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::campaign::config;
use crate::common::{self, directory, gpusched, stdout};
use crate::generate::{Case, Limits, scenario};

/// Kernels that fill the GPU, for 2 and 3 ms, and these streams and hosts.
fn of(streams: &Value, hosts: &Value) -> Scenario {
    let mut text = json!({
        "format": "gpusched-scenario/1", "name": "path", "device": "tx2",
        "kernels": {"a": {"blocks": 4, "threads": 1024, "duration": "2 ms"},
                    "b": {"blocks": 4, "threads": 1024, "duration": "3 ms"}},
        "streams": streams,
    });
    if hosts.as_array().is_some_and(|hosts| !hosts.is_empty()) {
        text["hosts"] = hosts.clone();
    }
    Scenario::from_json("path.json", &text.to_string(), &ReadOptions::default()).expect("it is sound")
}

/// The parts as names from when to when [ms], and how the path ends; of the longest job of a thread, or of the run.
fn path(scenario: &Scenario, thread: Option<u32>) -> (Vec<(String, u64, u64)>, PathEnd) {
    let run = simulate(scenario).expect("it runs");
    let summary = Summary::of(&run);
    let path =
        thread.map_or_else(|| CriticalPath::of_run(&summary), |thread| CriticalPath::of_thread(&summary, thread));
    let path = path.expect("something has ended");
    let name = |what| match what {
        OnPath::Operation(id) => run.trace.kernel_of(id).map_or("copy".to_owned(), |kernel| kernel.name.to_string()),
        OnPath::Wait(_, rule) => rule.name().to_owned(),
        OnPath::Host(thread) => scenario.threads[thread as usize].label.to_string(),
    };
    let ms = |at: Instant| at.as_ns() / 1_000_000;
    (path.parts.iter().map(|part| (name(part.what), ms(part.from), ms(part.to))).collect(), path.end)
}

fn parts(list: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    list.iter().map(|&(name, from, to)| (name.to_owned(), from, to)).collect()
}

#[test]
fn a_kernel_without_room_has_the_one_that_held_it_before_it() {
    let scenario = of(
        &json!([{"name": "s", "operations": [{"kernel": "a"}]},
                {"name": "t", "release": "1 ms", "operations": [{"kernel": "b"}]}]),
        &json!([]),
    );
    assert_eq!(path(&scenario, None), (parts(&[("a", 0, 2), ("b", 2, 5)]), PathEnd::Begin));
    // Of the job that is released at 1 ms no more than what was then.
    assert_eq!(path(&scenario, Some(1)), (parts(&[("a", 1, 2), ("b", 2, 5)]), PathEnd::Begin));
}

#[test]
fn a_host_that_waits_and_works_between_kernels_is_on_the_path() {
    let steps = json!([{"sleep": "1 ms"}, {"launch": "a", "stream": "s"}, {"synchronize": "s"}, {"sleep": "2 ms"},
                       {"launch": "b", "stream": "t"}, {"synchronize": "last"}, {"sleep": "4 ms"}]);
    let scenario = of(&json!([{"name": "s"}, {"name": "t"}]), &json!([{"name": "h", "steps": steps}]));
    let until_b = [("h", 0, 1), ("a", 1, 3), ("h", 3, 5), ("b", 5, 8)];
    assert_eq!(path(&scenario, None), (parts(&until_b), PathEnd::Begin));
    let whole = [&until_b[..], &[("h", 8, 12)]].concat();
    assert_eq!(path(&scenario, Some(0)), (parts(&whole), PathEnd::Begin));
}

#[test]
fn a_wait_for_an_event_leads_to_what_was_recorded() {
    let scenario = of(
        &json!([{"name": "s", "operations": [{"kernel": "a"}, {"record": "e"}]},
                {"name": "t", "operations": [{"copy": "host-to-device", "duration": "1 ms"}, {"wait": "e"}, {"kernel": "b"}]}]),
        &json!([]),
    );
    assert_eq!(path(&scenario, None), (parts(&[("a", 0, 2), ("b", 2, 5)]), PathEnd::Begin));
}

#[test]
fn a_path_begins_with_the_release_of_whoever_came_later_and_held_all_up() {
    // The copy of s could begin at 2 ms, and that of t, released at 1 ms, has the engine until 4 ms.
    let scenario = of(
        &json!([{"name": "s", "operations": [{"kernel": "a"}, {"copy": "host-to-device", "duration": "1 ms"}]},
                {"name": "t", "release": "1 ms", "operations": [{"copy": "host-to-device", "duration": "3 ms"}]}]),
        &json!([]),
    );
    assert_eq!(path(&scenario, Some(0)), (parts(&[("copy", 1, 4), ("copy", 4, 5)]), PathEnd::Release(1)));
}

#[test]
fn iterations_of_one_host_follow_one_another_until_the_release_that_was_in_time() {
    // Three jobs of 5 ms every 4 ms: the second begins at 5 ms and the third at 10 ms, so all three are on the path.
    let steps = json!([{"launch": "a", "stream": "s"}, {"launch": "b", "stream": "s"}, {"synchronize": "s"}]);
    let host = |period: &str| json!([{"name": "h", "period": period, "iterations": 3, "steps": steps}]);
    let late = of(&json!([{"name": "s"}]), &host("4 ms"));
    let all = [("a", 0, 2), ("b", 2, 5), ("a", 5, 7), ("b", 7, 10), ("a", 10, 12), ("b", 12, 15)];
    assert_eq!(path(&late, None), (parts(&all), PathEnd::Begin));
    let in_time = of(&json!([{"name": "s"}]), &host("6 ms"));
    assert_eq!(path(&in_time, None), (parts(&[("a", 12, 14), ("b", 14, 17)]), PathEnd::Release(0)));
}

/// By hand: the host launches at 0, is in `cudaMalloc` from 10 to 310 us, and in a call within it, and launches again
/// at 400 us; each launch takes 4 us, of which the second is over when its kernel is submitted.
#[test]
fn what_the_host_of_a_profile_did_is_told_by_the_calls_in_which_it_was() {
    let event = |category: &str, name: &str, from: u64, duration: u64, arguments: Value| {
        json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": from, "dur": duration,
            "args": arguments})
    };
    let call = |name: &str, from: u64, duration: u64, correlation: u64| {
        event("cuda_runtime", name, from, duration, json!({"correlation": correlation}))
    };
    let kernel = |from: u64, correlation: u64| {
        let arguments = json!({"device": 0, "context": 1, "stream": 7, "correlation": correlation, "grid": [1, 1, 1],
            "block": [32, 1, 1], "registers per thread": 32, "shared memory": 0});
        event("kernel", "work", from, 50, arguments)
    };
    let properties = json!({"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0,
        "numSms": 108, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "warpSize": 32,
        "sharedMemPerMultiprocessor": 167_936});
    let events = json!([
        call("cudaLaunchKernel", 0, 4, 1),
        kernel(10, 1),
        call("cudaMalloc", 10, 300, 2),
        call("cuMemCreate", 20, 100, 3),
        call("cudaLaunchKernel", 400, 4, 4),
        kernel(410, 4)
    ]);
    let file = directory("host-calls").join("calls.json");
    let profile = json!({"schemaVersion": 1, "deviceProperties": [properties], "traceEvents": events});
    std::fs::write(&file, profile.to_string()).expect("it can be written");
    let file = file.to_string_lossy();
    let report = common::json(&["simulate", &file, "--critical-path", "--format", "json"]);
    let sums = report["critical_path_sums"].as_array().expect("there are sums");
    let of_host = sums.iter().filter(|sum| sum["kind"] == "host");
    let of_host: Vec<(&str, u64)> =
        of_host.map(|sum| (sum["name"].as_str().expect("a name"), sum["time_ns"].as_u64().expect("a time"))).collect();
    let expected = [
        ("thread 2: cudaMalloc", 300_000),
        ("thread 2: outside of its calls", 96_000),
        ("thread 2: cudaLaunchKernel", 4_000),
    ];
    assert_eq!(of_host, expected);
    let text = stdout(&gpusched(&["simulate", &file, "--critical-path"]));
    let first = "what took the time, 460 us: host 87.0 %, kernel 10.9 %, wait 2.2 %; most of it is host thread 2: \
                 cudaMalloc: 300 us (65.2 %)";
    assert_eq!(text.lines().next(), Some(first));
    // Without the 300 us in that call, and with half of all that the host does.
    for (what_if, makespan_ns) in [("cudaMalloc=0%", 160_000), ("*=50%", 260_000), ("cudaMall*=2us", 162_000)] {
        let report = common::json(&["simulate", &file, "--set-host-time", what_if, "--format", "json"]);
        assert_eq!(report["makespan_ns"], makespan_ns, "{what_if}");
    }
    let text = stdout(&gpusched(&["replay-log", &file, "--set-host-time", "cudaMalloc=0%"]));
    assert!(text.starts_with("what if: 160 us instead of 460 us"), "{text}");
    let unknown = gpusched(&["simulate", &file, "--set-host-time", "cudaFree=0%"]);
    let error = "--set-host-time: no host or call is called \"cudaFree\"";
    let told = common::stderr(&unknown);
    assert!(told.contains(error) && told.contains("cudaLaunchKernel, cudaMalloc, thread 2"), "{told}");
    // Where launches stay as recorded, no host is in a call.
    let recorded = ["simulate", &file, "--launches", "recorded", "--set-host-time", "cudaMalloc=0%"];
    let told = common::stderr(&gpusched(&recorded));
    assert!(told.contains("no host or call is called \"cudaMalloc\"; there are stream 7"), "{told}");
}

#[test]
fn a_host_sleeps_and_works_for_another_time_or_a_share_of_it() {
    let steps = json!([{"sleep": "1 ms"}, {"launch": "a", "stream": "s"}, {"synchronize": "s"}, {"work": "4 ms"},
                       {"launch": "b", "stream": "t"}]);
    let scenario = of(&json!([{"name": "s"}, {"name": "t"}]), &json!([{"name": "h", "steps": steps}]));
    let makespan = |new| {
        let changes = WhatIf { host_times: vec![("h".to_owned(), new)], ..WhatIf::default() };
        let changed = scenario.clone().what_if(&changes).expect("there is such a host");
        simulate(&changed).expect("it runs").trace.end().as_ns() / 1_000
    };
    // 1 + 2 + 4 + 3 ms.
    assert_eq!(makespan(NewTime::Share(1_000_000)), 10_000);
    assert_eq!(makespan(NewTime::Share(500_000)), 7_500);
    assert_eq!(makespan(NewTime::To(Duration::from_ns(1_000))), 5_002);
    let stream = of(&json!([{"name": "s", "operations": [{"kernel": "a"}]}]), &json!([]));
    let changes = WhatIf { host_times: vec![("s".to_owned(), NewTime::Share(0))], ..WhatIf::default() };
    let notes = stream.what_if(&changes).expect("there is such a host").notes;
    assert!(notes.iter().any(|note| note.contains("\"s\" neither sleeps nor works")), "{notes:?}");
}

#[test]
fn a_barrier_ends_the_path_and_says_so() {
    let host = |name: &str, stream: &str, sleep: &str| json!({"name": name, "steps": [{"sleep": sleep}, {"barrier": "both"}, {"launch": "a", "stream": stream}]});
    let hosts = json!([host("early", "s", "1 ms"), host("late", "t", "3 ms")]);
    let scenario = of(&json!([{"name": "s"}, {"name": "t"}]), &hosts);
    let (found, end) = path(&scenario, Some(0));
    assert_eq!(found.last(), Some(&("a".to_owned(), 3, 5)));
    assert!(matches!(end, PathEnd::Barrier(_)), "{end:?}");
}

#[test]
fn the_command_sums_up_the_path_and_refuses_names_that_nothing_has() {
    let file = "scenarios/deadlines/camera-and-lidar.json";
    let text = gpusched(&["simulate", file, "--critical-path=camera"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    // Its second job is released at 20 ms, its kernel waits for lidar's until 27 ms, runs 5 ms, and a copy takes 1 ms.
    assert!(text.contains("critical path of job 1 of \"camera\", its longest: 13 ms, from 20 ms to 33 ms"), "{text}");
    let json = gpusched(&["simulate", file, "--critical-path=camera", "--format", "json"]);
    let document: Value = serde_json::from_slice(&json.stdout).expect("it is JSON");
    let names: Vec<&str> = document["critical_path"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|part| part["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["register", "detect", "copy 4 (device-to-host)"]);
    let refused = gpusched(&["simulate", file, "--critical-path=camra"]);
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("did you mean \"camera\"?); there are camera, lidar"), "{why}");
    for words in [["--critical-path", "camera", file], [file, "--critical-path", "camera"]] {
        let refused = gpusched(&[&["simulate"][..], &words].concat());
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("an equals sign: --critical-path=camera"));
    }
    assert!(gpusched(&["simulate", "--critical-path", file]).status.success());
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn every_path_is_without_gaps_and_each_part_is_where_its_operation_ran(Case(scenario) in scenario(Limits::ALL)) {
        let run = simulate(&scenario)?;
        let summary = Summary::of(&run);
        let threads = (0..).take(scenario.threads.len()).map(Some).chain([None]);
        for thread in threads {
            let path = thread.map_or_else(|| CriticalPath::of_run(&summary), |thread| CriticalPath::of_thread(&summary, thread));
            let Some(path) = path else { continue };
            prop_assert!(path.end != PathEnd::Unknown, "{path:?}");
            prop_assert!(path.parts.windows(2).all(|pair| pair[0].to == pair[1].from));
            prop_assert!(path.parts.iter().all(|part| path.from <= part.from && part.from < part.to));
            prop_assert!(path.parts.last().is_none_or(|last| last.to == path.to));
            for part in &path.parts {
                if let OnPath::Operation(id) = part.what {
                    let record = run.trace.record(id).expect("it is recorded");
                    let ran = record.first_start().is_some_and(|start| start <= part.from)
                        && record.finish().is_none_or(|finish| part.to <= finish);
                    prop_assert!(ran, "{part:?} of {record:?}");
                }
            }
        }
    }
}
