//! What the native scenario format means, on scenarios small enough to check by hand.

use std::path::Path;

use gpusched::device::Device;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{Deadline, ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::Trace;
use gpusched::workload::{OperationId, Placement};

const KERNELS: &str = r#""kernels": {
    "A": {"blocks": 4, "threads": 1024, "duration": "10 ms"},
    "B": {"blocks": 1, "threads": 32, "duration": "1 ms"}}"#;

fn text(fields: &str) -> String {
    format!(r#"{{"format": "gpusched-scenario/1", "name": "native", {KERNELS}, {fields}}}"#)
}

fn read(fields: &str) -> Scenario {
    read_with(fields, &ReadOptions::default())
}

fn read_with(fields: &str, options: &ReadOptions) -> Scenario {
    match Scenario::from_json("in.json", &text(fields), options) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn run(scenario: &Scenario) -> Trace {
    simulate(scenario).expect("it runs").trace
}

fn ms(number: u64) -> Duration {
    Duration::from_ns(number * 1_000_000)
}

/// One percentage stretches times of single blocks as it does the kernel's own. A range has nothing that it could draw
/// there, and is refused rather than left out.
#[test]
fn times_of_single_blocks_are_stretched_and_not_drawn() {
    let of_blocks = |percent| {
        let kernels = r#""kernels": {"K": {"blocks": 2, "threads": 32, "block_times": ["4 ms", "6 ms"]}}"#;
        let streams = r#""streams": [{"name": "S", "operations": [{"kernel": "K"}]}]"#;
        let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "native", {kernels}, {streams}}}"#);
        let options = ReadOptions { vary_percent: Some(percent), ..ReadOptions::default() };
        Scenario::from_json("in.json", &text, &options)
    };
    for (percent, expected) in [(100, 6), (150, 9), (50, 3)] {
        let scenario = of_blocks((percent, percent)).expect("it is sound");
        let run = run(&scenario);
        let finish = run.operations()[0].finish().expect("it finishes");
        assert_eq!(finish, Instant::ZERO + ms(expected), "{percent}");
    }
    let error = of_blocks((80, 100)).expect_err("nothing is drawn").to_string();
    assert!(error.starts_with("in.json:1:") && error.contains("as 80..100 asks"), "{error}");
}

/// Launch and finish of each operation \[ms\].
fn launches(trace: &Trace) -> Vec<(u64, u64)> {
    let in_ms = |instant: Instant| instant.as_ns() / 1_000_000;
    let finish = |record: &gpusched::trace::OperationRecord| in_ms(record.finish().expect("it finished"));
    trace.operations().iter().map(|record| (in_ms(record.launched()), finish(record))).collect()
}

#[test]
fn the_example_in_the_documentation_reads_runs_and_meets_its_expected_result() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario-format.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has an example");
    let scenario = Scenario::from_json("scenario-format.md", example, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    // Three jobs of three operations; two iterations of a memset and two launches.
    assert_eq!(run.trace.operations().len(), 15);
    assert!(scenario.expected.is_some());
    assert_eq!(Summary::of(&run).differences(), Ok(Vec::new()));
}

#[test]
fn threads_of_streams_come_first_then_hosts_and_kernels_are_called_by_their_key() {
    let scenario = read(
        r#""hosts": [{"name": "H", "steps": [{"launch": "A", "stream": "S2"}]}],
           "streams": [{"name": "S1", "operations": [{"kernel": "B"}]}, {"name": "S2"},
                       {"name": "NULL", "operations": [{"kernel": "A"}]}]"#,
    );
    let labels: Vec<&str> = scenario.threads.iter().map(|thread| &*thread.label).collect();
    assert_eq!(labels, ["S1", "NULL", "H"]);
    let names: Vec<&str> = scenario.streams().iter().map(|stream| &*stream.name).collect();
    assert_eq!(names, ["NULL", "S1", "S2"]);
    assert!(scenario.kernels().iter().all(|kernel| kernel.name == kernel.title));
    assert_eq!(scenario.notes, Vec::<String>::new());
}

#[test]
fn a_stream_is_blocking_unless_it_states_a_priority_or_says_otherwise() {
    let scenario = read(
        r#""streams": [{"name": "plain", "operations": [{"kernel": "A"}, {"kernel": "B"}]},
                       {"name": "low", "priority": 0}, {"name": "high", "priority": -1},
                       {"name": "high and blocking", "priority": -1, "blocking": true},
                       {"name": "plain and free", "blocking": false}]"#,
    );
    let streams: Vec<(i32, bool)> = scenario.streams().iter().map(|s| (s.priority, s.blocking)).collect();
    assert_eq!(streams, [(0, true), (0, true), (0, false), (-1, false), (-1, true), (0, false)]);
}

#[test]
fn jobs_are_released_every_period_even_if_the_previous_one_is_late() {
    let scenario = read(
        r#""streams": [{"name": "S", "release": "2 ms", "period": "4 ms", "jobs": 3, "deadline": "20 ms",
                        "operations": [{"kernel": "A"}, {"kernel": "B"}]}]"#,
    );
    assert_eq!(scenario.threads[0].deadline, Deadline::After(ms(20)));
    assert_eq!(launches(&run(&scenario)), [(2, 12), (2, 13), (6, 23), (6, 24), (10, 34), (10, 35)]);
}

#[test]
fn jobs_without_limit_go_on_until_the_horizon() {
    let scenario =
        read(r#""horizon": "35 ms", "streams": [{"name": "S", "period": "10 ms", "operations": [{"kernel": "B"}]}]"#);
    assert_eq!(launches(&run(&scenario)), [(0, 1), (10, 11), (20, 21), (30, 31)]);
}

#[test]
fn what_has_no_end_has_none_in_the_file_that_it_is_written_to() {
    let endless = |deadline: &str| {
        format!(
            r#""streams": [{{"name": "s", "period": "10 ms", "deadline": "{deadline}", "operations": [{{"kernel": "A"}}]}},
                {{"name": "t", "release": "3 ms", "operations": [{{"kernel": "B"}}]}}]"#
        )
    };
    let scenario = read(&endless("30 ms"));
    // Until 13 ms, one hyperperiod after the last first release.
    assert_eq!(scenario.threads[0].iterations, Some(2));
    let written = scenario.to_native_json().expect("it can be written");
    assert!(!written.contains("\"jobs\""), "{written}");
    let again = Scenario::from_json("again.json", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.threads, scenario.threads);
    // Another stream with several jobs that are counted: nobody knows how many are wanted.
    let mut counted = scenario.clone();
    counted.threads[1].period = Some(ms(5));
    counted.threads[1].iterations = Some(2);
    assert_eq!(counted.to_native_json().expect("it can be written").matches("\"jobs\": 2").count(), 2);
}

#[test]
fn a_host_waits_where_its_steps_say_so_and_nowhere_else() {
    let scenario = read(
        r#""streams": [{"name": "S"}, {"name": "T"}],
           "hosts": [{"name": "H", "release": "1 ms", "steps": [
               {"launch": "A", "stream": "S"}, {"copy": "host-to-device", "duration": "3 ms", "stream": "T"},
               {"synchronize": "last"}, {"memset": 8, "stream": "T"}, {"synchronize": "S"},
               {"launch": "B", "stream": "T"}, {"sleep": "5 ms"}, {"launch": "A", "stream": "S"},
               {"launch": "B", "stream": "T"}, {"synchronize": "device"}, {"launch": "B", "stream": "NULL"}]}]"#,
    );
    assert_eq!(launches(&run(&scenario)), [(1, 11), (1, 4), (4, 4), (11, 12), (16, 26), (16, 27), (27, 28)]);
}

#[test]
fn steps_are_repeated_also_within_repeated_steps_and_in_every_iteration() {
    let scenario = read(
        r#""hosts": [{"name": "H", "iterations": 2, "steps": [
               {"repeat": 2, "steps": [
                   {"launch": "B", "stream": "NULL"},
                   {"repeat": 3, "steps": [{"memset": 1, "stream": "NULL"}, {"sleep": "1 ms"}]}]},
               {"synchronize": "last"}]}]"#,
    );
    let trace = run(&scenario);
    let is_kernel = |id: u32| trace.kernel_of(OperationId(id)).is_some();
    let kernels: Vec<u32> = (0..16).filter(|&id| is_kernel(id)).collect();
    assert_eq!((trace.operations().len(), kernels), (16, vec![0, 4, 8, 12]));
}

#[test]
fn iterations_are_one_or_as_many_as_the_time_limit_and_the_period_allow() {
    let host = |fields: &str| {
        let steps = r#""steps": [{"launch": "B", "stream": "NULL"}, {"synchronize": "last"}]"#;
        launches(&run(&read(&format!(r#""hosts": [{{"name": "H"{fields}, {steps}}}]"#))))
    };
    assert_eq!(host(""), [(0, 1)]);
    assert_eq!(host(r#", "iterations": 2"#), [(0, 1), (1, 2)]);
    assert_eq!(host(r#", "time_limit": "3 ms""#), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(host(r#", "time_limit": "9 ms", "period": "5 ms""#), [(0, 1), (5, 6)]);
    assert_eq!(host(r#", "iterations": 2, "period": "5 ms", "release": "1 ms""#), [(1, 2), (6, 7)]);
}

#[test]
fn hosts_wait_for_one_another_at_barriers() {
    let scenario = read(
        r#""hosts": [
            {"name": "fast", "iterations": 2, "barrier": "start", "steps": [{"launch": "B", "stream": "NULL"}, {"synchronize": "last"}]},
            {"name": "slow", "iterations": 2, "barrier": "start", "steps": [{"sleep": "7 ms"}]},
            {"name": "late", "steps": [{"barrier": "other"}, {"launch": "A", "stream": "NULL"}]},
            {"name": "later", "release": "9 ms", "steps": [{"barrier": "other"}, {"barrier": "alone"}]}]"#,
    );
    assert_eq!(launches(&run(&scenario)), [(0, 1), (7, 8), (9, 19)]);
    assert_eq!(scenario.notes, ["only one host uses the barrier \"alone\", so nothing waits there"]);
}

#[test]
fn the_time_is_checked_before_the_barrier_and_not_after_it() {
    // A is done at 1 s and waits for B until 3 s, past its 2 s: the examiner looked at the clock before it waited.
    let benchmark = |label: &str, ns: u64| {
        format!(
            r#"{{"filename": "timer_spin.so", "label": "{label}", "thread_count": 32, "block_count": 1, "data_size": 0, "additional_info": {ns}}}"#
        )
    };
    let text = format!(
        r#"{{"name": "x", "max_iterations": 0, "max_time": 2, "cuda_device": 0, "sync_every_iteration": true, "benchmarks": [{}, {}]}}"#,
        benchmark("A", 1_000_000_000),
        benchmark("B", 3_000_000_000)
    );
    let scenario = Scenario::from_json("in.json", &text, &ReadOptions::default()).expect("it is sound");
    assert_eq!(launches(&run(&scenario)), [(0, 1000), (0, 3000), (3000, 4000)]);
}

#[test]
fn a_kernel_that_is_never_launched_is_worth_a_note() {
    let scenario = read(r#""streams": [{"name": "S", "operations": [{"kernel": "A"}]}]"#);
    assert_eq!(scenario.notes, ["kernel \"B\" is never launched"]);
}

#[test]
fn masks_of_kernels_replace_those_of_streams() {
    let fields = r#""name": "masks", "format": "gpusched-scenario/1",
        "kernels": {"free": {"blocks": 4, "threads": 32, "duration": "1 ms"},
                    "bound": {"blocks": 4, "threads": 32, "duration": "1 ms", "sm_mask": "~0x2"}},
        "streams": [{"name": "S", "sm_mask": "0x2", "operations": [{"kernel": "free"}, {"kernel": "bound"}]}]"#;
    let scenario = Scenario::from_json("in.json", &format!("{{{fields}}}"), &ReadOptions::default()).expect("sound");
    let trace = run(&scenario);
    let sms = |id| -> Vec<u16> { trace.block_runs(OperationId(id)).map(|blocks| blocks.sm).collect() };
    assert_eq!((sms(0), sms(1)), (vec![0], vec![1]));
}

#[test]
fn block_times_between_best_and_worst_depend_on_the_seed_alone() {
    let fields = |seed: u64| {
        let duration = r#"{"best": "1 ms", "worst": "2 ms"}"#;
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "x", "seed": {seed},
                "kernels": {{"K": {{"blocks": 20, "threads": 32, "duration": {duration}}}}},
                "streams": [{{"name": "S", "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    let ends = |seed| -> Vec<Instant> {
        let scenario = Scenario::from_json("in.json", &fields(seed), &ReadOptions::default()).expect("sound");
        run(&scenario).blocks(OperationId(0)).map(|block| block.end).collect()
    };
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
    assert!(ends(1).iter().all(|end| (1_000_000..=2_000_000).contains(&end.as_ns())));
}

#[test]
fn a_kernel_with_a_time_for_every_block_needs_no_duration() {
    let kernel = |fields: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "x",
                "kernels": {{"K": {{"blocks": 3, "threads": 1024, {fields}}}}},
                "streams": [{{"name": "S", "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    let read = |fields: &str| Scenario::from_json("in.json", &kernel(fields), &ReadOptions::default());
    let scenario = read(r#""block_times": ["3 ms", "1 ms", "2 ms"]"#).expect("sound");
    assert!(!scenario.depends_on_seed());
    let mut ends: Vec<u64> = run(&scenario).blocks(OperationId(0)).map(|block| block.end.as_ns()).collect();
    ends.sort_unstable();
    assert_eq!(ends, [1_000_000, 2_000_000, 3_000_000]);
    let again = Scenario::from_json("in.json", &scenario.to_native_json().expect("it can be"), &ReadOptions::default())
        .expect("it is written so");
    assert_eq!((again.block_times, again.catalogue), (scenario.block_times, scenario.catalogue));
    let refused = read(r#""block_times": ["3 ms", "1 ms"]"#).expect_err("one block has no time").to_string();
    assert!(refused.contains("kernel \"K\" has 3 blocks, \"block_times\" 2 times"), "{refused}");
}

#[test]
fn options_win_over_the_file() {
    let fields = r#""device": "tx1", "placement": "random", "seed": 3, "horizon": "1 s",
                    "streams": [{"name": "S", "operations": [{"kernel": "A"}, {"kernel": "B"}]}]"#;
    let scenario = read(fields);
    let settings =
        |scenario: &Scenario| (scenario.device().name.clone(), scenario.placement, scenario.seed, scenario.horizon);
    assert_eq!(settings(&scenario), ("tx1".to_owned(), Placement::Random, 3, Some(ms(1_000))));
    let options = ReadOptions {
        device: Device::builtin("titan-v").expect("sound"),
        placement: Some(Placement::LowestId),
        seed: Some(4),
        horizon: Some(ms(5)),
        ..ReadOptions::default()
    };
    let scenario = read_with(fields, &options);
    assert_eq!(settings(&scenario), ("titan-v".to_owned(), Placement::LowestId, 4, Some(ms(5))));
}

#[test]
fn a_mask_that_removes_no_sm_of_this_device_is_noted_and_one_that_does_is_not() {
    // A TX2 has two SMs, each a TPC of its own: bits 0 and 1.
    let stream = |mask: &str| {
        format!(
            r#""streams": [{{"name": "S", "sm_mask": "{mask}", "operations": [{{"kernel": "A"}}, {{"kernel": "B"}}]}}]"#
        )
    };
    let note = |mask: &str| format!("the SM mask {mask} of stream \"S\" removes none of the 2 SMs of tx2");
    for (mask, shown) in [("0x4", "0x4"), ("0x0", "0x0"), ("~0x3", "~0x3")] {
        assert_eq!(read(&stream(mask)).notes, [note(shown)]);
    }
    for mask in ["0x1", "0x6", "~0x2"] {
        assert_eq!(read(&stream(mask)).notes, Vec::<String>::new());
    }
    // The same mask removes an SM of a larger device.
    let orin = ReadOptions { device: Device::builtin("orin").expect("it is sound"), ..ReadOptions::default() };
    assert_eq!(read_with(&stream("0x4"), &orin).notes, Vec::<String>::new());
}
