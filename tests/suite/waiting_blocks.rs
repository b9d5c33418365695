//! Blocks that signal and wait while they run, cooperative launches, and several GPUs: times by hand, and what public
//! reports of hangs say.

use gpusched::analysis::analyse;
use gpusched::device::SmMask;
use gpusched::prelude::*;
use gpusched::run::Standstill;
use gpusched::scenario::WhatIf;
use gpusched::workload::{Catalogue, OperationId, OperationKind, WorkloadError};

use crate::generate::builtin;
use crate::hang::read;

fn refusal(rest: &str) -> String {
    let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "waiting", {rest}}}"#);
    Scenario::from_json("waiting.json", &text, &ReadOptions::default()).expect_err("it is refused").to_string()
}

/// The finish of each kernel launch [us], in launch order.
fn finishes(scenario: &Scenario) -> Vec<Option<u64>> {
    let run = simulate(scenario).expect("it runs");
    let kernels = run.trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
    kernels.map(|record| record.finish().map(|at| at.as_ns() / 1_000)).collect()
}

/// Blocks of a launch that have started.
fn started(run: &Run<'_>, launch: u32) -> u32 {
    run.trace.block_runs(OperationId(launch)).map(|blocks| u32::from(blocks.blocks)).sum()
}

fn standstill(run: &Run<'_>) -> Option<Standstill> {
    Standstill::of(&Summary::of(run))
}

const STREAM: &str = r#""blocking": false, "operations""#;

#[test]
fn a_block_keeps_its_sm_while_it_waits_and_goes_on_when_it_is_signalled() {
    // The consumer waits from 1 ms to 5 ms, and runs for 1 ms more.
    let scenario = read(&format!(
        r#""device": "tx2", "kernels": {{
            "consume": {{"blocks": 1, "threads": 32, "duration": "2 ms", "wait": [{{"at": 0.5, "counter": "ready", "value": 3}}]}},
            "produce": {{"blocks": 3, "threads": 32, "duration": "5 ms", "signal": [{{"at": "end", "counter": "ready"}}]}}}},
        "streams": [{{"name": "A", {STREAM}: [{{"kernel": "consume"}}]}}, {{"name": "B", {STREAM}: [{{"kernel": "produce"}}]}}]"#
    ));
    assert_eq!(finishes(&scenario), [Some(6_000), Some(5_000)]);
    let run = simulate(&scenario).expect("it runs");
    let stands: Vec<_> = run.trace.stands().iter().map(|stand| (stand.from.as_ns(), stand.to.as_ns())).collect();
    assert_eq!(stands, [(1_000_000, 5_000_000)]);
    assert_eq!(standstill(&run), None);
}

#[test]
fn streams_and_hosts_wait_for_values_and_write_them() {
    // The host stops the persistent kernel 2 ms after the stream has seen its start.
    let scenario = read(
        r#""device": "tx2", "kernels": {
            "serve": {"blocks": 2, "threads": 32, "until": "stop", "signal": [{"at": "start", "counter": "up"}]},
            "work": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [{"name": "A", "blocking": false}, {"name": "B", "blocking": false}],
        "hosts": [{"name": "H", "steps": [{"launch": "serve", "stream": "A"}, {"wait_value": "up", "value": 2, "stream": "B"},
            {"launch": "work", "stream": "B"}, {"write_value": "done", "value": 7, "stream": "B"},
            {"wait_value": "done", "value": 7}, {"sleep": "2 ms"}, {"write_value": "stop", "value": 1}]}]"#,
    );
    assert_eq!(finishes(&scenario), [Some(3_000), Some(1_000)]);
}

#[test]
fn a_cooperative_launch_begins_whole_or_not_at_all_and_is_refused_if_it_never_fits() {
    let kernels = |blocks: u32| {
        format!(
            r#""device": "tx2", "kernels": {{
                "half": {{"blocks": 2, "threads": 1024, "registers_per_thread": 32, "duration": "2 ms"}},
                "all": {{"blocks": {blocks}, "threads": 1024, "registers_per_thread": 32, "duration": "1 ms", "cooperative": true,
                    "grid_sync": [0.5]}}}},
            "streams": [{{"name": "A", {STREAM}: [{{"kernel": "half"}}]}}, {{"name": "B", {STREAM}: [{{"kernel": "all"}}]}}]"#
        )
    };
    // Two of four places are taken until 2 ms.
    assert_eq!(finishes(&read(&kernels(4))), [Some(2_000), Some(3_000)]);
    assert_eq!(finishes(&read(&kernels(2))), [Some(2_000), Some(1_000)]);
    assert!(refusal(&kernels(5)).contains("hold 4 at once: CUDA refuses it (cudaErrorCooperativeLaunchTooLarge, 720)"));
}

/// Schedulers and workers that wait for one another as in mirage issue 775, on a B200 of 148 SMs.
fn mirage(schedulers: u32, workers: u32) -> Scenario {
    let all = schedulers + workers;
    let waits = format!(
        r#""duration": "10 us", "signal": [{{"at": "start", "counter": "entered"}}], "wait": [{{"at": 0.5, "counter": "entered", "value": {all}}}]"#
    );
    read(&format!(
        r#""device": "b200", "kernels": {{
            "scheduler": {{"blocks": {schedulers}, "threads": 32, "registers_per_thread": 40, {waits}}},
            "worker": {{"blocks": {workers}, "threads": 256, "registers_per_thread": 255, "shared_memory_bytes": 218112, {waits}}}}},
        "streams": [{{"name": "S", {STREAM}: [{{"kernel": "scheduler"}}]}}, {{"name": "W", {STREAM}: [{{"kernel": "worker"}}]}}]"#
    ))
}

#[test]
fn mirage_775_schedulers_first_leave_room_for_68_of_128_workers_and_packed_ones_for_all() {
    let scenario = mirage(80, 128);
    let run = simulate(&scenario).expect("it runs");
    assert_eq!((started(&run, 0), started(&run, 1)), (80, 68));
    let found = standstill(&run).expect("it stands still");
    assert!(found.is_final);
    let circle: Vec<_> =
        found.circle.iter().map(|place| (&*found.waits[*place].operation, found.waits[*place].blocks)).collect();
    assert_eq!(circle, [("scheduler", Some(80)), ("worker", Some(60))]);
    assert!(found.sentences().iter().any(|said| said.contains("60 blocks of worker never started")));
    // Four scheduler warps a block, which mirage pull request 775 takes: 20 blocks.
    assert_eq!(finishes(&mirage(20, 128)), [Some(10), Some(10)]);
}

#[test]
fn two_grid_barriers_under_two_priorities_stand_still_with_38_and_20_of_58_blocks_and_not_under_one() {
    let file = "scenarios/hang/two-barriers.json";
    let text = std::fs::read_to_string(file).expect("it is there");
    let read = |text: &str| Scenario::from_json(file, text, &ReadOptions::default()).expect("it is sound");
    let scenario = read(&text);
    let run = simulate(&scenario).expect("it runs");
    assert_eq!((started(&run, 1), started(&run, 2)), (38, 20));
    assert!(standstill(&run).is_some_and(|found| found.is_final && !found.circle.is_empty()));
    let scenario = read(&text.replace(r#""priority": -1"#, r#""blocking": false"#));
    assert_eq!(finishes(&scenario), [Some(1_000), Some(2_000), Some(3_000)]);
}

#[test]
fn collectives_in_another_order_on_two_gpus_stand_still_and_in_the_same_order_do_not() {
    // DeepEP issue 496: 24 blocks of an all-gather and 132 of a cooperative dispatch do not fit the 132 SMs of an H100.
    let ranks = |first: &str, second: &str, on_one: [&str; 2]| {
        format!(
            r#""device": "h100", "devices": ["rank 0", "rank 1"], "kernels": {{
                "gather": {{"blocks": 24, "threads": 640, "registers_per_thread": 96, "duration": "100 us",
                    "signal": [{{"at": "start", "counter": "gathered"}}], "wait": [{{"at": 0.5, "counter": "gathered", "value": 48}}]}},
                "dispatch": {{"blocks": 132, "threads": 1024, "registers_per_thread": 64, "shared_memory_bytes": 100000,
                    "cooperative": true, "duration": "100 us",
                    "signal": [{{"at": "start", "counter": "sent"}}], "wait": [{{"at": 0.5, "counter": "sent", "value": 264}}]}}}},
            "streams": [
                {{"name": "A0", "device": "rank 0", {STREAM}: [{{"kernel": "{first}"}}]}},
                {{"name": "B0", "device": "rank 0", "release": "1 us", {STREAM}: [{{"kernel": "{second}"}}]}},
                {{"name": "A1", "device": "rank 1", {STREAM}: [{{"kernel": "{}"}}]}},
                {{"name": "B1", "device": "rank 1", "release": "1 us", {STREAM}: [{{"kernel": "{}"}}]}}]"#,
            on_one[0], on_one[1]
        )
    };
    let scenario = read(&ranks("gather", "dispatch", ["dispatch", "gather"]));
    let run = simulate(&scenario).expect("it runs");
    assert!(standstill(&run).is_some_and(|found| found.is_final));
    let scenario = read(&ranks("gather", "dispatch", ["gather", "dispatch"]));
    assert_eq!(finishes(&scenario), [Some(100), Some(100), Some(200), Some(200)]);
}

#[test]
fn an_event_at_launch_completion_lets_go_on_once_all_blocks_have_begun() {
    // Six blocks in places for four: the last two begin at 2 ms.
    let scenario = read(&format!(
        r#""device": "tx2", "kernels": {{
            "P": {{"blocks": 6, "threads": 1024, "registers_per_thread": 32, "duration": "2 ms"}},
            "Q": {{"blocks": 1, "threads": 32, "duration": "1 ms"}}}},
        "streams": [{{"name": "A", {STREAM}: [{{"kernel": "P"}}, {{"record": "E", "at": "launch_completion"}}]}},
            {{"name": "B", {STREAM}: [{{"wait": "E"}}, {{"kernel": "Q"}}]}}]"#
    ));
    assert_eq!(finishes(&scenario), [Some(4_000), Some(3_000)]);
}

#[test]
fn contexts_whose_blocks_all_wait_end_the_run_and_others_go_on_in_their_turns() {
    let file = |value: u32| {
        read(&format!(
            r#""device": "tx2", "kernels": {{
                "W": {{"blocks": 1, "threads": 32, "duration": "1 ms", "wait": [{{"at": 0.5, "counter": "C", "value": {value}}}]}},
                "S": {{"blocks": 1, "threads": 32, "duration": "3 ms", "signal": [{{"at": "end", "counter": "C"}}]}}}},
            "streams": [{{"name": "A", "process": "P", {STREAM}: [{{"kernel": "W"}}]}},
                {{"name": "B", "process": "Q", {STREAM}: [{{"kernel": "S"}}]}}]"#
        ))
    };
    let scenario = file(1);
    assert!(finishes(&scenario).iter().all(Option::is_some));
    let scenario = file(2);
    let run = simulate(&scenario).expect("it runs");
    assert!(standstill(&run).is_some_and(|found| found.is_final));
}

#[test]
fn what_contradicts_itself_is_refused_with_its_reason() {
    let kernel = |keys: &str| {
        let stream = format!(r#"{{"name": "A", {STREAM}: [{{"kernel": "K"}}]}}"#);
        format!(r#""kernels": {{"K": {{"blocks": 1, "threads": 32, {keys}}}}}, "streams": [{stream}]"#)
    };
    let is_refused = |keys: &str, why: &str| {
        let refused = refusal(&kernel(keys));
        assert!(refused.contains(why), "{refused}");
    };
    is_refused(r#""duration": "1 ms", "until": "C""#, "has no \"duration\" besides");
    is_refused(r#""duration": "1 ms", "preferred_shared_memory_carveout": 50"#, "is a hint");
    is_refused(r#""duration": "1 ms", "clock": "wall", "grid_sync": [0.5]"#, "watch a timer");
    is_refused(r#""duration": "1 ms", "signal": [{"at": 2, "counter": "C"}]"#, "from 0 to 1");
    is_refused(r#""duration": "1 ms", "wait": [{"at": "end", "counter": "C", "value": 1}]"#, "or \"start\"");
    is_refused(r#""duration": "1 ms", "wait": [{"at": 0, "counter": "C"}]"#, "\"value\" is missing");
    let clusters =
        kernel(r#""duration": "1 ms", "cooperative": true, "cluster": 2"#).replace(r#""blocks": 1"#, r#""blocks": 2"#);
    let refused = refusal(&format!(r#""device": "h100", {clusters}"#));
    assert!(refused.contains("cooperative launches of clusters"), "{refused}");
}

#[test]
fn one_of_several_gpus_takes_no_mask() {
    let scenario = read(&format!(
        r#""device": "tx2", "devices": ["G", "H"], "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 ms"}}}},
        "streams": [{{"name": "A", "device": "H", {STREAM}: [{{"kernel": "K"}}]}}]"#
    ));
    let mask = SmMask::parse("0x1").expect("a mask");
    let masked = scenario.what_if(&WhatIf { sm_masks: vec![("A".to_owned(), mask)], ..WhatIf::default() });
    let said = masked.expect_err("it is refused").to_string();
    assert!(said.contains("on one GPU only"), "{said}");
}

#[test]
fn an_event_is_recorded_at_a_trigger_or_at_launch_completion() {
    for completes_first in [false, true] {
        let mut catalogue = Catalogue::new(builtin("h100"));
        let event = catalogue.add_event("E".into()).expect("there is room");
        let ways = [Catalogue::set_launch_completion_event, Catalogue::set_programmatic_event];
        ways[usize::from(!completes_first)](&mut catalogue, event).expect("it may be");
        let other = ways[usize::from(completes_first)](&mut catalogue, event);
        assert!(matches!(other, Err(WorkloadError::TwoRecords)));
    }
}

#[test]
fn analyses_of_times_refuse_blocks_that_wait() {
    let refused = analyse(&mirage(20, 128)).expect_err("nothing bounds it").to_string();
    assert!(refused.contains("blocks that wait for others"), "{refused}");
}
