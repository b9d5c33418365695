//! `analyze --progress` where a proof may overlook that something comes first, each with the run that stands still.

use gpusched::analysis::ProgressVerdict;
use gpusched::hosts::simulate;
use gpusched::scenario::Scenario;
use gpusched::time::Instant;
use gpusched::workload::OperationId;

use crate::hang::{judge_with_witness, read, stands_still};

/// One block that waits until `c` is so much.
fn waits(value: u32) -> String {
    format!(
        r#"{{"blocks": 1, "threads": 32, "duration": "1 us", "wait": [{{"at": "start", "counter": "c", "value": {value}}}]}}"#
    )
}

const SIGNALS: &str =
    r#"{"blocks": 1, "threads": 32, "duration": "1 us", "signal": [{"at": "start", "counter": "c"}]}"#;

/// On a TX2.
fn file(rest: &str) -> String {
    format!(r#""device": "tx2", {rest}"#)
}

/// The scenario as it is stands still, and nobody says that it cannot.
fn stands_still_and_is_not_said_not_to(rest: &str) {
    stands_still_and_is_found(&read(&file(rest)));
}

fn stands_still_and_is_found(scenario: &Scenario) {
    assert!(stands_still(scenario), "it goes on");
    is_not_said_not_to(scenario);
}

fn is_not_said_not_to(scenario: &Scenario) {
    let groups = judge_with_witness(scenario).groups;
    assert!(!groups.is_empty(), "nothing is said to wait");
    for group in groups {
        assert_ne!(group.verdict, ProgressVerdict::CannotHang, "{:?}", group.condition);
    }
}

fn verdicts(scenario: &Scenario) -> Vec<ProgressVerdict> {
    judge_with_witness(scenario).groups.iter().map(|group| group.verdict).collect()
}

#[test]
fn two_hosts_that_share_a_stream_may_submit_there_in_the_other_order() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}}, "streams": [{{"name": "S", "priority": 0}}],
        "hosts": [{{"name": "A", "steps": [{{"launch": "W", "stream": "S"}}]}},
            {{"name": "B", "steps": [{{"launch": "P", "stream": "S"}}]}}]"#
    ));
}

#[test]
fn the_null_stream_waits_for_blocking_streams_of_other_hosts() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}}, "streams": [{{"name": "S"}}, {{"name": "T"}}],
        "hosts": [{{"name": "A", "steps": [{{"launch": "W", "stream": "S"}}]}},
            {{"name": "B", "release": "5 us", "steps": [{{"launch": "P", "stream": "NULL"}}]}}]"#
    ));
}

#[test]
fn a_counter_that_falls_before_it_is_seen_is_waited_for_for_good() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}},
        "streams": [{{"name": "T", "priority": 0, "operations": [{{"kernel": "P"}}, {{"write_value": "c", "value": 0}}]}},
            {{"name": "S", "priority": 0, "release": "5 us", "operations": [{{"kernel": "W"}}]}}]"#
    ));
}

#[test]
fn a_stream_with_its_channel_full_holds_what_others_submit_behind() {
    let wait = waits(1);
    // The NULL stream and S have the channels for themselves; T is dealt the first one again, U that of S.
    let mut device: serde_json::Value =
        serde_json::from_str(include_str!("../../engine/src/device/data/tx2.json")).expect("it is sound");
    device["channels"] = serde_json::json!(2);
    let rest = format!(
        r#""kernels": {{"L": {wait}, "W": {wait}, "P": {SIGNALS}}},
        "streams": [{{"name": "S", "priority": 0, "operations": [{{"kernel": "L"}}, {{"kernel": "W"}}]}},
            {{"name": "T", "priority": 0}}, {{"name": "U", "priority": 0, "operations": [{{"kernel": "P"}}]}}]"#
    );
    let text = file(&rest).replace(r#""device": "tx2""#, &format!(r#""device": {device}"#));
    stands_still_and_is_found(&read(&text));
}

#[test]
fn blocks_of_a_context_that_wait_keep_others_from_the_gpu_where_turns_end_with_blocks() {
    let wait = waits(1);
    for device in ["k20m", "k5000", "tx1"] {
        let rest = format!(
            r#""processes": {{"p": {{}}, "q": {{}}}}, "kernels": {{"W": {wait}, "P": {SIGNALS}}},
            "streams": [{{"name": "S", "process": "p", "priority": 0, "operations": [{{"kernel": "W"}}]}},
                {{"name": "T", "process": "q", "priority": 0, "release": "5 us", "operations": [{{"kernel": "P"}}]}}]"#
        );
        stands_still_and_is_found(&read(&file(&rest).replace("tx2", device)));
    }
}

#[test]
fn a_host_that_synchronizes_with_a_stream_waits_for_what_another_host_has_submitted_there() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}}, "streams": [{{"name": "S", "priority": 0}}, {{"name": "T", "priority": 0}}],
        "hosts": [{{"name": "A", "steps": [{{"launch": "W", "stream": "S"}}]}},
            {{"name": "B", "release": "5 us", "steps": [{{"synchronize": "S"}}, {{"launch": "P", "stream": "T"}}]}}]"#
    ));
}

#[test]
fn a_host_that_synchronizes_with_an_event_waits_for_the_record_of_another_host() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}}, "streams": [{{"name": "S", "priority": 0}}, {{"name": "T", "priority": 0}}],
        "hosts": [{{"name": "A", "steps": [{{"launch": "W", "stream": "S"}}, {{"record": "e", "stream": "S"}}]}},
            {{"name": "B", "release": "5 us", "steps": [{{"synchronize_event": "e"}}, {{"launch": "P", "stream": "T"}}]}}]"#
    ));
}

#[test]
fn a_wait_finds_the_last_record_of_an_event_whichever_host_made_it() {
    // Without A's record Q would begin behind P, which signals what Q waits for; so it takes both SMs before P can.
    let whole = r#""blocks": 2, "threads": 1024, "shared_memory_bytes": 49152, "duration": "1 us""#;
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"L": {{"blocks": 1, "threads": 32, "duration": "1 ms"}},
            "P": {{{whole}, "signal": [{{"at": "start", "counter": "c"}}]}},
            "Q": {{{whole}, "wait": [{{"at": "start", "counter": "c", "value": 2}}]}}}},
        "streams": [{{"name": "T", "priority": 0}}, {{"name": "U", "priority": 0}}, {{"name": "V", "priority": 0}}],
        "hosts": [{{"name": "A", "release": "5 us", "steps": [{{"record": "e", "stream": "V"}}]}},
            {{"name": "B", "steps": [{{"launch": "L", "stream": "T"}}, {{"launch": "P", "stream": "T"}}, {{"record": "e", "stream": "T"}},
                {{"sleep": "10 us"}}, {{"wait": "e", "stream": "U"}}, {{"launch": "Q", "stream": "U"}}]}}]"#
    ));
}

#[test]
fn hosts_wait_for_one_another_before_each_iteration_with_a_barrier() {
    let wait = waits(2);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}, "P": {SIGNALS}}}, "streams": [{{"name": "S", "priority": 0}}, {{"name": "T", "priority": 0}}],
        "hosts": [{{"name": "A", "iterations": 2, "barrier": "b", "steps": [{{"launch": "W", "stream": "S"}}, {{"synchronize": "S"}}]}},
            {{"name": "B", "iterations": 2, "barrier": "b", "steps": [{{"launch": "P", "stream": "T"}}]}}]"#
    ));
}

#[test]
fn a_host_that_frees_memory_holds_the_calls_of_one_that_submits_nothing() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}}}, "streams": [{{"name": "S", "priority": 0}}],
        "hosts": [{{"name": "A", "steps": [{{"launch": "W", "stream": "S"}}, {{"free": "device"}}]}},
            {{"name": "B", "release": "5 us", "steps": [{{"malloc": "device"}}, {{"write_value": "c", "value": 1}}]}}]"#
    ));
}

#[test]
fn what_two_kernels_free_at_one_instant_may_go_to_a_kernel_that_waited_for_both() {
    // An SM holds three blocks: K1, K2 and the first of L. If K1 and K2 end at one instant, both blocks of U are ahead
    // of the second of L, for which they wait; otherwise that one begins with the end of the first of them.
    let with_times = |first: &str, second: &str| {
        let block = r#""threads": 640"#;
        file(&format!(
            r#""kernels": {{
                "K1": {{"blocks": 1, {block}, "duration": "{first}", "wait": [{{"at": "start", "counter": "begun", "value": 1}}]}},
                "K2": {{"blocks": 1, {block}, "duration": "{second}"}},
                "L": {{"blocks": 2, {block}, "duration": "1 us", "signal": [{{"at": "start", "counter": "begun"}}, {{"at": "end", "counter": "done"}}],
                    "wait": [{{"at": 0.5, "counter": "begun", "value": 2}}]}},
                "U": {{"blocks": 2, {block}, "duration": "1 us", "wait": [{{"at": "start", "counter": "done", "value": 2}}]}}}},
            "streams": [{{"name": "one", "priority": -1, "sm_mask": "0x1"}}, {{"name": "two", "priority": -1, "sm_mask": "0x1"}},
                {{"name": "low", "priority": 0, "sm_mask": "0x1", "release": "5 us", "operations": [{{"kernel": "L"}}]}}],
            "hosts": [{{"name": "H", "steps": [{{"launch": "K1", "stream": "one"}}, {{"launch": "K2", "stream": "two"}},
                {{"record": "e", "stream": "two"}}, {{"wait": "e", "stream": "one"}}, {{"launch": "U", "stream": "one"}}]}}]"#
        ))
    };
    assert!(stands_still(&read(&with_times("5 us", "10 us"))), "it goes on");
    let goes_on = read(&with_times("10 us", "3 us"));
    assert!(!stands_still(&goes_on));
    is_not_said_not_to(&goes_on);
}

#[test]
fn of_clusters_that_begin_as_parts_all_but_one_part_may_be_there() {
    // O leaves each of six SMs room for one block of A: a cluster of four begins, then a part of the other one. When O
    // ends, B has room for 10 of its 12 blocks, and A waits behind it.
    let mut device: serde_json::Value =
        serde_json::from_str(include_str!("../../engine/src/device/data/b200.json")).expect("it is sound");
    device["sms"] = serde_json::json!(8);
    device["gpcs"] = serde_json::json!({"tpcs": [4], "lone_tpcs": 0, "numbering": "striped"});
    let rest = r#""placement": "most-room", "kernels": {
            "O": {"blocks": 74, "threads": 32, "shared_memory_bytes": 20480, "duration": "100 us"},
            "A": {"blocks": 8, "threads": 32, "shared_memory_bytes": 30720, "duration": "10 us", "grid_sync": [0.5], "cluster": 4, "cluster_fallback": 2},
            "B": {"blocks": 12, "threads": 32, "shared_memory_bytes": 102400, "duration": "10 us", "grid_sync": [0.5]}},
        "streams": [{"name": "o", "priority": 0, "operations": [{"kernel": "O"}]},
            {"name": "a", "priority": 0, "release": "1 us", "operations": [{"kernel": "A"}]},
            {"name": "b", "priority": -1, "release": "100 us", "operations": [{"kernel": "B"}]}]"#;
    let text = file(rest).replace(r#""device": "tx2""#, &format!(r#""device": {device}"#));
    stands_still_and_is_found(&read(&text));
}

const PLAIN: &str = r#"{"blocks": 1, "threads": 32, "duration": "1 us"}"#;

/// Of a stream that waits for `c` to be 1, beside what `others` are.
fn gate(others: &str) -> String {
    format!(
        r#""kernels": {{"K": {PLAIN}, "P": {SIGNALS}}}, "streams": [{{"name": "S", "operations": [{{"wait_value": "c", "value": 1}}, {{"kernel": "K"}}]}}{others}]"#
    )
}

#[test]
fn a_stream_that_waits_for_good_hangs_though_no_block_waits() {
    stands_still_and_is_not_said_not_to(&gate(""));
    // Who would signal is behind another wait, of what comes after itself.
    stands_still_and_is_not_said_not_to(&gate(
        r#", {"name": "T", "operations": [{"wait_value": "d", "value": 1}, {"kernel": "P"}, {"write_value": "d", "value": 1}]}"#,
    ));
}

#[test]
fn a_stream_for_which_another_signals_cannot_hang() {
    let opened = read(&file(&gate(r#", {"name": "T", "operations": [{"kernel": "P"}]}"#)));
    let groups = judge_with_witness(&opened).groups;
    assert_eq!(groups.iter().map(|group| group.verdict).collect::<Vec<_>>(), [ProgressVerdict::CannotHang]);
    assert_eq!(groups[0].kernels.len(), 2, "the wait and who signals: {:?}", groups[0].kernels);
}

#[test]
fn a_host_that_waits_for_good_is_not_said_not_to_hang() {
    let host = read(&file(&format!(
        r#""kernels": {{"K": {PLAIN}}}, "streams": [{{"name": "S"}}],
        "hosts": [{{"name": "H", "steps": [{{"wait_value": "c", "value": 1}}, {{"launch": "K", "stream": "S"}}]}}]"#
    )));
    assert_eq!(verdicts(&host), [ProgressVerdict::Open]);
}

#[test]
fn a_counter_that_is_set_back_before_a_kernel_waits_is_not_reached() {
    let wait = waits(1);
    let of = |operations: &str| {
        format!(
            r#""kernels": {{"P": {SIGNALS}, "W": {wait}}}, "streams": [{{"name": "S", "operations": [{operations}, {{"kernel": "W"}}]}}]"#
        )
    };
    stands_still_and_is_not_said_not_to(&of(r#"{"kernel": "P"}, {"write_value": "c", "value": 0}"#));
    stands_still_and_is_not_said_not_to(&of(r#"{"write_value": "c", "value": 1}, {"write_value": "c", "value": 0}"#));
}

#[test]
fn what_comes_behind_more_operations_than_are_looked_at_is_not_said_not_to_hang() {
    let wait = waits(1);
    stands_still_and_is_not_said_not_to(&format!(
        r#""kernels": {{"W": {wait}}}, "streams": [{{"name": "S"}}],
        "hosts": [{{"name": "H", "steps": [{{"repeat": 2000, "steps": [{{"memset": 4, "stream": "S"}}]}},
            {{"launch": "W", "stream": "S"}}]}}]"#
    ));
}

#[test]
fn of_several_gpus_a_host_waits_for_its_own_only() {
    let block = r#""threads": 1024, "shared_memory_bytes": 49152"#;
    stands_still_and_is_not_said_not_to(&format!(
        r#""devices": ["A", "B"], "kernels": {{
            "W": {{"blocks": 4, {block}, "duration": "1 us", "wait": [{{"at": "start", "counter": "c", "value": 2}}]}},
            "P": {{"blocks": 2, {block}, "duration": "5 us", "signal": [{{"at": "end", "counter": "c"}}]}},
            "K": {{"blocks": 2, {block}, "duration": "10 us"}}}},
        "streams": [{{"name": "S", "device": "B"}}, {{"name": "T", "device": "B", "priority": -1}},
            {{"name": "U", "device": "B"}}],
        "hosts": [{{"name": "H", "device": "A", "steps": [{{"launch": "K", "stream": "U"}},
            {{"launch": "P", "stream": "S"}}, {{"synchronize": "device"}}, {{"launch": "W", "stream": "T"}}]}}]"#
    ));
}

#[test]
fn launches_after_the_horizon_signal_nothing() {
    let late = read(&file(&format!(
        r#""horizon": "1 s", "kernels": {{"W": {}, "P": {SIGNALS}}}, "streams": [
            {{"name": "S", "operations": [{{"kernel": "W"}}]}},
            {{"name": "T", "release": "850 ms", "period": "100 ms", "operations": [{{"kernel": "P"}}]}}]"#,
        waits(5)
    )));
    assert_eq!(verdicts(&late), [ProgressVerdict::Open]);
}

#[test]
fn blocks_that_wait_for_good_are_there_after_they_would_have_ended() {
    let scenario = read(&file(&format!(
        r#""kernels": {{"W": {}}}, "streams": [{{"name": "S", "operations": [{{"kernel": "W"}}]}}]"#,
        waits(5)
    )));
    let trace = simulate(&scenario).expect("it runs").trace;
    let there = trace.resident_at(OperationId(0), Instant::from_ns(1_000_000));
    assert_eq!(there.map(|part| part.blocks).collect::<Vec<_>>(), [1]);
}
