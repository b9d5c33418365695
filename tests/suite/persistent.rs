//! Persistent kernels: blocks that take work items in a loop, or take over blocks that have not begun.

use gpusched::analysis::{BlockTimes, BoundOptions, SearchOptions, Verdict};
use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::Run;
use gpusched::scenario::{NewTime, ReadOptions, Scenario, WhatIf};
use gpusched::time::{Duration, Instant};
use gpusched::workload::OperationId;

use crate::agreement::agreed;
use crate::bounds::judged;
use crate::generate::builtin;

/// The most shared memory that a block of a B200 takes; with the kilobyte that the system has, it fills an SM.
const ALL: u32 = 232_448;

fn read(device: &str, tiles: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "persistent", "kernels": {{
            "tiles": {{"threads": 32, "shared_memory_bytes": {ALL}, {tiles}}},
            "urgent": {{"blocks": 24, "threads": 32, "shared_memory_bytes": {ALL}, "duration": "10 s"}}}},
        "streams": [{{"name": "low", "priority": 0, "operations": [{{"kernel": "tiles"}}]}},
            {{"name": "high", "priority": -1, "release": "100 ms", "deadline": "30 s", "operations": [{{"kernel": "urgent"}}]}}]}}"#
    );
    let options = ReadOptions { device: Some(builtin(device)), ..ReadOptions::default() };
    Scenario::from_json("persistent", &text, &options).map_err(|error| error.to_string())
}

/// How many blocks of an operation begin at each second at which some do.
fn starts(run: &Run<'_>, operation: u32) -> Vec<(f64, usize)> {
    let mut starts: Vec<u64> = run.trace.blocks(OperationId(operation)).map(|block| block.start.as_ns()).collect();
    starts.sort_unstable();
    let groups = starts.chunk_by(|one, other| one == other);
    groups.map(|group| (group[0] as f64 / 1e9, group.len())).collect()
}

fn finish_s(run: &Run<'_>, operation: usize) -> Option<f64> {
    run.trace.operations()[operation].finish().map(|end: Instant| end.as_ns() as f64 / 1e9)
}

/// StuartSul/gpu-experiments, `blackwell-ultra/021`: `try_cancel` fails for all while a block of higher priority waits,
/// and succeeds once all of them have begun, whether or not they have ended. By hand: 592 tiles on 148 SMs, of which 24
/// are taken from 3 s to 13 s, so 148, 124, 124, 124 and the last 72 tiles.
#[test]
fn try_cancel_fails_while_a_higher_priority_waits_and_succeeds_once_all_of_it_runs() {
    let file = crate::published::root().join("rules/persistent-kernel.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(starts(&run, 0), [(0.0, 148), (3.0, 124), (6.0, 124), (9.0, 124), (12.0, 72)]);
    assert_eq!(starts(&run, 1), [(3.0, 24)]);
    assert_eq!((finish_s(&run, 0), finish_s(&run, 1)), (Some(15.0), Some(13.0)));
    agreed(&scenario).expect("reference and audit say the same");
}

/// The same tiles in a loop: each block takes 4 of them one after another, and gives its SM up after the last.
#[test]
fn a_loop_keeps_its_sms_until_no_item_is_left() {
    let scenario = read("b200", r#""blocks": 148, "items": 592, "duration": "3 s""#).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!((starts(&run, 0), starts(&run, 1)), (vec![(0.0, 148)], vec![(12.0, 24)]));
    assert_eq!((finish_s(&run, 0), finish_s(&run, 1)), (Some(12.0), Some(22.0)));
    // An H100 has 132 SMs: 16 of these blocks begin when others end, beside the more urgent ones.
    let scenario = read("h100", r#""blocks": 148, "items": 592, "duration": "3 s""#).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!((starts(&run, 0), starts(&run, 1)), (vec![(0.0, 132), (12.0, 16)], vec![(12.0, 24)]));
}

/// By hand: 150 items for 148 blocks are 2 for blocks 0 and 1, and 1 for the others.
#[test]
fn items_that_do_not_divide_evenly_go_to_the_first_blocks() {
    let scenario = read("b200", r#""blocks": 148, "items": 150, "duration": "3 s""#).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let lasted: Vec<u64> =
        run.trace.blocks(OperationId(0)).map(|block| block.end.since(block.start).as_ns() / 1_000_000_000).collect();
    assert_eq!(lasted[..2], [6, 6]);
    assert!(lasted.len() == 148 && lasted[2..].iter().all(|&time| time == 3), "{lasted:?}");
    assert_eq!(starts(&run, 1), [(3.0, 24)]);
    // The reference knows no times of single blocks.
    let observation = ObservedRun::of_run(&run).expect("it is short");
    assert_eq!(audit(&observation, &Tolerances::EXACT, Progress::NONE).findings, []);
    let verdicts = judged(&scenario, &SearchOptions { runs: 20, ..SearchOptions::default() });
    let urgent = verdicts.jobs.iter().find(|job| &*job.stream == "high").expect("it has a deadline");
    assert_eq!(urgent.verdict, Some(Verdict::Proven));
    let written = scenario.to_native_json().expect("it can be written");
    assert!(written.contains("\"items\": 150") && !written.contains("block_times"), "{written}");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!((again.catalogue, again.block_times), (scenario.catalogue, scenario.block_times));
}

#[test]
fn a_what_if_deals_the_items_anew() {
    let change = |blocks: Option<u32>, time: Option<u64>| {
        let changes = WhatIf {
            blocks: blocks.map(|blocks| ("tiles".to_owned(), blocks)).into_iter().collect(),
            block_times: time
                .map(|s| ("tiles".to_owned(), NewTime::To(Duration::from_ns(s * 1_000_000_000))))
                .into_iter()
                .collect(),
            ..WhatIf::default()
        };
        let scenario = read("b200", r#""blocks": 148, "items": 592, "duration": "3 s""#).expect("it is sound");
        scenario.what_if(&changes).map_err(|error| error.to_string())
    };
    let ends = |scenario: Scenario| finish_s(&simulate(&scenario).expect("it runs"), 0);
    assert_eq!(ends(change(Some(74), None).expect("8 items each")), Some(24.0));
    assert_eq!(ends(change(Some(100), None).expect("5 or 6 items each")), Some(18.0));
    assert_eq!(ends(change(None, Some(1)).expect("4 items of 1 s")), Some(4.0));
    let error = change(Some(593), None).expect_err("one block has none");
    assert!(error.contains("593 blocks take 592 items in a loop: each needs one at least"), "{error}");
}

#[test]
fn what_a_persistent_kernel_cannot_be_is_refused() {
    for (device, tiles, expected) in [
        ("b200", r#""blocks": 148, "items": 100, "duration": "3 s""#, "each needs one at least"),
        ("b200", r#""blocks": 148, "items": 0, "duration": "3 s""#, "a number of items"),
        ("b200", r#""blocks": 148, "items": "steal", "duration": "3 s""#, "try_cancel"),
        ("b200", r#""blocks": 2, "items": 4, "block_times": ["1 s", "2 s"]"#, "one \"duration\""),
        ("b200", r#""blocks": 2, "items": 4, "duration": {"best": "1 s", "worst": "2 s"}"#, "one \"duration\""),
        ("b200", r#""blocks": 1, "items": 4294967295, "duration": "9000000000 s""#, "take longer than"),
        ("b200", r#""blocks": 148, "items": "try_cancel", "trigger": 0.5, "duration": "3 s""#, "not simulated"),
    ] {
        let error = read(device, tiles).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    let text = r#"{"format": "gpusched-scenario/1", "name": "old", "device": "h100", "kernels": {
        "k": {"blocks": 1, "threads": 32, "duration": "1 ms", "items": "try_cancel"}},
        "streams": [{"name": "s", "operations": [{"kernel": "k"}]}]}"#;
    let error = Scenario::from_json("old", text, &ReadOptions::default()).expect_err("it is older").to_string();
    assert!(error.contains("from compute capability 10.0 on"), "{error}");
}

#[test]
fn no_block_of_a_run_that_is_found_takes_longer_than_its_own_time() {
    // One block at a time: two blocks of 1 and 5 ns, or with 2 and 1 items of 5 ns.
    for (own, takes) in [(r#""block_times": ["1 ns"]"#, 6), (r#""items": 3"#, 15)] {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "own times", "device": "tx2", "kernels": {{"k": {{"blocks": 2,
                "threads": 1024, "duration": "5 ns", {own}, "shared_memory_bytes": 49152, "sm_mask": "0x1"}}}},
            "streams": [{{"name": "S", "deadline": "{} ns", "operations": [{{"kernel": "k"}}]}}]}}"#,
            takes + 1
        );
        let scenario = Scenario::from_json("own.json", &text, &ReadOptions::default()).expect("it is sound");
        for block_times in [BlockTimes::UpToStated, BlockTimes::AsStated] {
            let bound = BoundOptions { block_times, ..BoundOptions::default() };
            let job = judged(&scenario, &SearchOptions { bound, ..SearchOptions::default() }).jobs.swap_remove(0);
            assert_eq!(job.worst_found_ns, Some(Duration::from_ns(takes)), "{own}");
            assert_ne!(job.verdict, Some(Verdict::Missed), "{own}");
        }
    }
}
