//! Negative controls of the audit of profiles: recordings that were made wrong, and how much of that it finds.

use std::collections::BTreeSet;
use std::fs::{self, File};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::common::{directory, gpusched, stdout};
use super::profiles::public;

/// Rounds of the small profile, one a millisecond.
const ROUNDS: u8 = 10;

fn event(category: &str, name: &str, thread: i64, (start, duration): (i64, i64), arguments: &Value) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 10, "tid": thread, "ts": start, "dur": duration,
           "args": arguments})
}

fn kernel(name: &str, stream: i64, span: (i64, i64), correlation: i64, blocks: i64) -> Value {
    let arguments = json!({"device": 0, "context": 1, "stream": stream, "correlation": correlation,
        "registers per thread": 32, "shared memory": 0, "grid": [blocks, 1, 1], "block": [1024, 1, 1]});
    event("kernel", name, stream, span, &arguments)
}

fn profile(events: &[Value]) -> Value {
    json!({"deviceProperties": [{"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
           "traceEvents": events})
}

/// Rounds of one millisecond. From its begin on, in microseconds: `a` and `b` of stream 7 are called at 0 and 10
/// and run in 10..110 and 112..162; `c` of stream 20 waits for an event behind `b`, is called at 40 and runs in
/// 165..225; the host waits for all in 50..235.
fn rounds() -> Value {
    let mut events = Vec::new();
    for round in 0..i64::from(ROUNDS) {
        let (at, id) = (1_000_000 + round * 1_000, 10 * round + 1);
        let mut call = |name: &str, start: i64, duration: i64, id: i64| {
            events.push(event("cuda_runtime", name, 11, (at + start, duration), &json!({"correlation": id})));
        };
        call("cudaLaunchKernel", 0, 4, id);
        call("cudaLaunchKernel", 10, 4, id + 1);
        call("cudaEventRecord", 20, 1, id + 2);
        call("cudaStreamWaitEvent", 30, 1, id + 3);
        call("cudaLaunchKernel", 40, 4, id + 4);
        call("cudaDeviceSynchronize", 50, 185, id + 5);
        let wait = json!({"cuda_sync_kind": "Stream Wait Event", "stream": 20, "wait_on_stream": 7, "device": 0,
            "context": 1, "wait_on_cuda_event_record_corr_id": id + 2, "correlation": id + 3});
        events.push(event("cuda_sync", "Stream Wait Event", 20, (at + 30, 1), &wait));
        events.push(kernel("a", 7, (at + 10, 100), id, 216));
        events.push(kernel("b", 7, (at + 112, 50), id + 1, 216));
        events.push(kernel("c", 20, (at + 165, 60), id + 4, 216));
    }
    profile(&events)
}

/// What a GPU did in a stream, by start.
fn operations(profile: &mut Value, stream: i64) -> Vec<&mut Value> {
    let events = profile["traceEvents"].as_array_mut().expect("a list");
    let is_meant = |event: &&mut Value| {
        let category = event["cat"].as_str().unwrap_or("").to_lowercase();
        event["args"]["stream"] == stream && ["kernel", "gpu_memcpy", "gpu_memset"].contains(&category.as_str())
    };
    let mut those: Vec<&mut Value> = events.iter_mut().filter(is_meant).collect();
    those.sort_by_key(|event| event["ts"].as_i64());
    those
}

/// Moves a stream by so many microseconds.
fn shift(profile: &mut Value, stream: i64, by_us: i64) {
    for operation in operations(profile, stream) {
        operation["ts"] = (operation["ts"].as_i64().expect("whole microseconds") + by_us).into();
    }
}

/// Swaps neighbours of a stream, each with one other at most and only kernels: both together take the same time as
/// before. Tells how many pairs.
fn swap(profile: &mut Value, stream: i64, most: usize) -> usize {
    let mut those = operations(profile, stream);
    let mut swapped = 0;
    for pair in those.chunks_exact_mut(2) {
        let [first, second] = pair else { continue };
        let number = |event: &Value, key: &str| event[key].as_i64().expect("whole microseconds");
        let is_kernel = |event: &Value| event["cat"].as_str().is_some_and(|text| text.eq_ignore_ascii_case("kernel"));
        let (start, end) = (number(first, "ts"), number(second, "ts") + number(second, "dur"));
        if swapped == most || !is_kernel(first) || !is_kernel(second) {
            continue;
        }
        (second["ts"], first["ts"]) = (start.into(), (end - number(first, "dur")).into());
        swapped += 1;
    }
    swapped
}

/// What the audit cannot explain: all cases, and the different operations that they are of.
fn unexplained(name: &str, profile: &Value, more: &[&str]) -> (Vec<Value>, usize) {
    let file = directory(&format!("profile-control-{name}")).join("profile.json");
    fs::write(&file, profile.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let output = gpusched(&[&["audit", &file, "--format", "json"], more].concat());
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let cases = report["cases"].as_array().expect("a list").iter().filter(|case| case["verdict"] == "unexplained");
    let cases: Vec<Value> = cases.cloned().collect();
    assert_eq!(output.status.code(), Some(i32::from(!cases.is_empty())), "the exit status says so");
    let those: BTreeSet<String> = cases.iter().map(|case| format!("{} {}", case["stream"], case["at_ns"])).collect();
    let count = those.len();
    (cases, count)
}

fn by(cases: &[Value], cause: &str) -> usize {
    cases.iter().filter(|case| case["by"] == cause).count()
}

const LAUNCH: &str = "its own launch";
const EVENT: &str = "an event that its stream waits for";
const HOST_WAIT: &str = "a wait of the host that returned before its end";
const ORDER: &str = "what was launched before it";

#[test]
fn a_recording_that_keeps_its_causes_has_nothing_unexplained() {
    assert_eq!(unexplained("none", &rounds(), &[]).0, Vec::<Value>::new());
}

#[test]
fn a_recording_that_seems_to_lack_kernels_is_told_of_as_one() {
    let is_told = |gaps_us: [i64; 7]| {
        let (mut events, mut start) = (Vec::new(), 10);
        for (gap, id) in [0].into_iter().chain(gaps_us).zip(1..) {
            events.push(event("cuda_runtime", "cudaLaunchKernel", 11, (id - 1, 1), &json!({"correlation": id})));
            events.push(kernel("a", 7, (start + gap, 20), id, 216));
            start += gap + 20;
        }
        let file = directory("controls-lacking").join("profile.json");
        fs::write(&file, profile(&events).to_string()).expect("it can be written");
        let output = gpusched(&["audit", &file.display().to_string()]);
        assert!(stdout(&output).starts_with("8 kernels; "), "{}", stdout(&output));
        String::from_utf8_lossy(&output.stderr).contains("only some of the kernels")
    };
    assert!(!is_told([1, 2, 1, 2, 1, 2, 1]));
    assert!(is_told([1, 300, 1, 300, 1, 300, 1]));
}

#[test]
fn a_shifted_stream_is_found_where_it_crosses_a_launch_an_event_or_a_wait_of_the_host() {
    // By hand: `c` starts 3 us after its event and 125 us after its call, and ends 10 us before the host's wait, of
    // which clocks may hide 5; `b` ends 3 us before `c` starts, of which rounding may hide 1.
    let all = usize::from(ROUNDS);
    for (stream, by_us, [launches, events, waits]) in [
        (20, -3, [0, 0, 0]),
        (20, -5, [0, all, 0]),
        (20, -140, [all, all, 0]),
        (20, 14, [0, 0, 0]),
        (20, 16, [0, 0, all]),
        // `a` starts 10 us after its call; `b`, then in 95..145, still after its own.
        (7, -17, [all, 0, 0]),
        (7, 5, [0, all, 0]),
    ] {
        let mut profile = rounds();
        shift(&mut profile, stream, by_us);
        let (cases, _) = unexplained("shift", &profile, &[]);
        let found = [by(&cases, LAUNCH), by(&cases, EVENT), by(&cases, HOST_WAIT)];
        assert_eq!(found, [launches, events, waits], "stream {stream} by {by_us} us: {cases:?}");
        if (stream, by_us) == (7, -17) {
            assert!(cases.iter().all(|case| case["late_ns"] == -7_000), "{cases:?}");
        }
    }
}

#[test]
fn each_swapped_pair_of_a_stream_is_found_by_the_order_of_its_calls() {
    for pairs in [1, usize::from(ROUNDS)] {
        let mut profile = rounds();
        assert_eq!(swap(&mut profile, 7, pairs), pairs);
        assert_eq!(by(&unexplained("swap", &profile, &[]).0, ORDER), pairs);
        // Without the calls, as in a file of nvprof, either order is one that a stream may have.
        profile["traceEvents"].as_array_mut().expect("a list").retain(|event| event["cat"] == "kernel");
        assert_eq!(unexplained("swap-no-calls", &profile, &[]).1, 0);
    }
}

#[test]
fn reversed_priorities_are_found_where_a_stream_broke_into_another() {
    // 24 waves of 5 us; the second starts in the middle of them, or in the last.
    for (second, found) in [(50, 1), (116, 0)] {
        let kernels =
            vec![kernel("long", 7, (1_000, 120), 1, 24 * 216), kernel("short", 20, (1_000 + second, 10), 2, 1)];
        let profile = profile(&kernels);
        assert_eq!(unexplained("priorities", &profile, &["--set-priority", "20=-1"]).1, 0);
        assert_eq!(unexplained("reversed", &profile, &["--set-priority", "7=-1"]).1, found);
    }
}

fn public_profile(name: &str) -> Option<Value> {
    let file = File::open(public(&format!("kineto/{name}.json.gz"))?).expect("it is there");
    Some(serde_json::from_reader(GzDecoder::new(file)).expect("JSON"))
}

/// The shares stand in docs/profiles.md; more may be found.
#[test]
fn most_of_a_public_profile_that_was_made_wrong_is_found() {
    let Some(alexnet) = public_profile("alexnet") else { return };
    assert_eq!(unexplained("alexnet", &alexnet, &[]).1, 0);
    for (stream, by_us, least) in SHIFTED {
        let mut profile = alexnet.clone();
        shift(&mut profile, stream, by_us);
        let found = unexplained("alexnet-shift", &profile, &[]).1;
        assert!(found >= least, "{found}: stream {stream} by {by_us} us");
    }
    let mut profile = alexnet.clone();
    let pairs = swap(&mut profile, 7, usize::MAX);
    assert_eq!((pairs, by(&unexplained("alexnet-swap", &profile, &[]).0, ORDER)), (35, 35));
    assert_eq!(unexplained("alexnet-priorities", &alexnet, &["--set-priority", "stream 20=-1"]).1, 0);
    assert_eq!(unexplained("alexnet-reversed", &alexnet, &["--set-priority", "stream 7=-1"]).1, 2);
}

/// Streams of 7 and 91 operations, microseconds, and operations found at least.
const SHIFTED: [(i64, i64, usize); 8] = [
    (20, -7_000, 7),
    (20, -100, 6),
    (20, 100, 2),
    (20, 7_000, 5),
    (7, -7_000, 90),
    (7, -100, 41),
    (7, 100, 21),
    (7, 7_000, 82),
];

/// The order of a stream is the only dependency that a profile has: `a` in another one runs beside `b`, and a note says
/// of each of its launches that nothing keeps it any more.
#[test]
fn what_leaves_its_stream_is_said_to_be_in_no_order_with_the_rest_of_it() {
    let file = directory("leaves_its_stream").join("rounds.json");
    fs::write(&file, rounds().to_string()).expect("it is written");
    let file = file.display().to_string();
    let notes = |change: &str| {
        let output = gpusched(&["simulate", &file, "--set-stream", change]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("it is text")
    };
    assert!(notes("a=stream 20").contains("--set-stream a=stream 20: nothing orders 10 launches and the other work"));
    // It is where it was.
    assert!(!notes("a=stream 7").contains("nothing orders"));
}
