//! Several processes: the engine against the reference simulator and the audit, and what does not change a run.
//!
//! Long campaigns: `cargo test --release --test suite -- --ignored long_campaign_of_processes`, of as many scenarios of
//! each kind as `PROPTEST_CASES` says.

use gpusched::device::{ChannelOrder, CopySharing, Preemption, Runlists};
use gpusched::hosts::simulate;
use gpusched::run::Run;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::OperationRecord;
use gpusched::workload::{InterleaveLevel, ProcessId, ProcessSharing, ProcessSpec};
use proptest::prelude::*;
use serde_json::json;

use crate::agreement::{agreed, same};
use crate::campaign::config;
use crate::generate::{Case, Limits, builtin, scenario};
use crate::generate_processes::with_processes;
use crate::processes::scenario_with;

/// Whatever the slices.
const FREE_SWITCHES: ProcessSharing = ProcessSharing { mps: false, switch_cost: Some(Duration::ZERO) };

/// Turns, switches and idle time are the whole run, and no two turns overlap (T1, T3).
fn times_add_up(run: &Run) -> Result<(), TestCaseError> {
    let (mut at, mut turns, mut switches, mut idle) = (0, 0, 0, 0);
    for turn in run.trace.turns() {
        let [from, start, end] = [turn.switch_from, turn.start, turn.end].map(Instant::as_ns);
        prop_assert!(at <= from && from <= start && start <= end, "{:?}", turn);
        idle += from - at;
        switches += start - from;
        turns += end - start;
        at = end;
    }
    let end = run.trace.end().as_ns();
    prop_assert!(at <= end);
    prop_assert_eq!(turns + switches + idle + (end - at), end);
    Ok(())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn contexts_take_turns_as_reference_and_audit_say(Case(scenario) in with_processes(Limits::ALL, false)) {
        times_add_up(&agreed(&scenario)?)?;
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn with_many_blocks_contexts_take_turns_as_reference_and_audit_say(
        Case(scenario) in with_processes(Limits::MANY_BLOCKS, false),
    ) {
        times_add_up(&agreed(&scenario)?)?;
    }

    #[test]
    fn clients_of_mps_share_as_reference_and_audit_say(Case(scenario) in with_processes(Limits::ALL, true)) {
        let run = agreed(&scenario)?;
        prop_assert!(run.trace.turns().is_empty());
    }

    #[test]
    fn one_process_is_as_none(Case(scenario) in scenario(Limits::ALL), slice in 1_u64..9) {
        let mut own = scenario.clone();
        own.catalogue.set_sharing(FREE_SWITCHES).expect("it is possible");
        let spec = ProcessSpec {
            time_slice: Some(Duration::from_ns(slice)), level: InterleaveLevel::High, ..ProcessSpec::new("P")
        };
        own.catalogue.set_process(ProcessId::FIRST, spec).expect("the device takes it");
        let (run, own) = (simulate(&scenario)?, simulate(&own)?);
        same(&run, &own)?;
        prop_assert!(own.trace.turns().is_empty());
    }

    #[test]
    fn a_process_that_does_nothing_changes_nothing(
        Case(scenario) in scenario(Limits::MANY_BLOCKS), slice in 1_u64..9, idle in 1_usize..3,
    ) {
        let mut shared = scenario.clone();
        shared.catalogue.set_sharing(FREE_SWITCHES).expect("it is possible");
        for number in 0..idle {
            let spec = ProcessSpec { time_slice: Some(Duration::from_ns(slice)), ..ProcessSpec::new(format!("Q{number}")) };
            shared.catalogue.add_process(spec).expect("the device takes it");
        }
        same(&simulate(&scenario)?, &simulate(&shared)?)?;
        agreed(&shared)?;
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    #[ignore = "a long campaign: cargo test --release --test suite -- --ignored long_campaign_of_processes"]
    fn long_campaign_of_processes(
        Case(small) in with_processes(Limits::ALL, false), Case(large) in with_processes(Limits::MANY_BLOCKS, false),
        Case(clients) in with_processes(Limits::ALL, true),
    ) {
        for scenario in [small, large, clients] {
            times_add_up(&agreed(&scenario)?)?;
        }
    }
}

#[test]
fn waves_without_length_are_not_skipped_while_a_copy_without_length_is_to_complete_at_the_beginning_of_time() {
    let kernels = |stream: &str| json!({"launch": "K", "stream": stream});
    let copy = json!({"copy": "host-to-device", "bytes": 0, "stream": "s2"});
    let mut file = json!({
        "format": "gpusched-scenario/1", "name": "no length", "device": "k5000", "switch_cost": "0 s",
        "processes": {"P": {}, "Q": {}},
        "kernels": {"K": {"blocks": 127, "threads": 193, "duration": "0 s", "sm_mask": "~0x1"}},
        "streams": [{"name": "NULL", "process": "P"}, {"name": "s1", "process": "P"},
            {"name": "s2", "process": "P", "blocking": false}],
        "hosts": [
            {"name": "T0", "process": "P", "steps": [kernels("s1"), {"synchronize": "last"}, kernels("s1"), kernels("s1")]},
            {"name": "T1", "process": "P", "steps": [kernels("s2"), kernels("s2"), {"repeat": 4, "steps": [copy]},
                kernels("NULL"), kernels("s2")]}],
    });
    let shared = agreed(&scenario_with(&file, &ReadOptions::default())).expect("all agree");
    file["processes"].as_object_mut().expect("an object").remove("Q");
    let alone = agreed(&scenario_with(&file, &ReadOptions::default())).expect("all agree");
    let entered = |run: &Run| run.trace.operations().iter().map(OperationRecord::queue_order).collect::<Vec<_>>();
    assert_eq!(entered(&shared), entered(&alone));
}

#[test]
fn who_gets_a_channel_by_chance_is_drawn_in_each_process_by_itself() {
    let names = ["P", "Q"];
    let streams = names.iter().flat_map(|process| {
        let operations = vec![json!({"kernel": "K"}); 3];
        (0..4).map(
            move |number| json!({"name": format!("{process}{number}"), "process": process, "operations": operations}),
        )
    });
    let file = json!({
        "format": "gpusched-scenario/1", "name": "channels", "switch_cost": "1 us",
        "kernels": {"K": {"blocks": 5, "threads": 1024, "duration": "1 ms"}},
        "streams": streams.collect::<Vec<_>>(),
    });
    let device = builtin("tx2").with(|spec| {
        (spec.channels, spec.channel_order) = (Some(1), ChannelOrder::Random);
    });
    let options = ReadOptions { device: Some(device.expect("sound")), ..ReadOptions::default() };
    let scenario = scenario_with(&file, &options);
    for mps in [false, true] {
        for seed in 0..8 {
            let mut own = Scenario { seed, ..scenario.clone() };
            own.catalogue.set_sharing(ProcessSharing { mps, switch_cost: None }).expect("it is possible");
            agreed(&own).expect("all agree");
        }
    }
}

/// A scenario for a TX2 whose copy engines have runlists of their own, and whose blocks run to their ends.
fn with_runlists_of_engines(file: &serde_json::Value, copy_time_slice: Duration) -> Scenario {
    let device = builtin("tx2").with(|spec| {
        let slicing = &mut spec.time_slicing;
        slicing.copy_time_slice = copy_time_slice;
        (slicing.runlists, slicing.preemption) = (Runlists::Separate, Preemption::BlockEnd);
    });
    scenario_with(file, &ReadOptions { device: Some(device.expect("sound")), ..ReadOptions::default() })
}

#[test]
fn a_copy_that_comes_when_a_slice_of_its_engine_ends_does_not_wait_for_another() {
    let copy = |ns: u64, stream: &str| json!({"copy": "host-to-device", "bytes": 0, "duration": format!("{ns} ns"), "stream": stream});
    // P's copy of 5 ns is alone from 4 ns on, and its next comes at 6 ns; Q's second comes at 7 ns, behind a kernel
    // without length that has its turn then, when the first has completed and the next was begun.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "switch_cost": "1 ns",
        "processes": {"P": {"time_slice": "1 ns"}, "Q": {"time_slice": "1 ns"}},
        "kernels": {"short": {"blocks": 1, "threads": 1, "duration": "0 s"}, "long": {"blocks": 1, "threads": 1, "duration": "5 ns"}},
        "streams": [{"name": "p", "process": "P"}, {"name": "r", "process": "P"}, {"name": "q", "process": "Q"}],
        "hosts": [
            {"name": "T0", "process": "Q", "steps": [copy(2, "q"), {"launch": "short", "stream": "q"}, copy(2, "q")]},
            {"name": "T1", "process": "P", "steps": [copy(5, "r")]},
            {"name": "T2", "process": "P", "release": "1 ns", "steps": [{"launch": "long", "stream": "p"}, copy(2, "p")]},
        ],
    });
    let run = agreed(&with_runlists_of_engines(&file, Duration::from_ns(1))).expect("all agree");
    let second = run.trace.operations()[2];
    assert_eq!((second.queued(), second.finish()), (Some(Instant::from_ns(7)), Some(Instant::from_ns(10))));
}

#[test]
fn a_copy_that_comes_at_the_very_end_of_a_slice_of_its_engine_begins_before_blocks_of_that_instant() {
    let copy = |stream: &str| json!({"copy": "host-to-device", "bytes": 0, "duration": "5 ns", "stream": stream});
    let kernel = |name: &str, stream: &str| json!({"launch": name, "stream": stream});
    // At 9 ns a copy of R is alone and at the end of a slice. Q's copy comes and takes the engine, then P's first block
    // begins: both end at 15 ns, the copy first, so Q's last kernel comes before P's second.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "switch_cost": "0 s",
        "processes": {"P": {"time_slice": "3 ns"}, "Q": {"time_slice": "3 ns", "level": "medium"},
            "R": {"time_slice": "3 ns"}},
        "kernels": {"short": {"blocks": 1, "threads": 1, "duration": "2 ns"},
            "long": {"blocks": 1, "threads": 1, "duration": "6 ns"}},
        "streams": [{"name": "p", "process": "P"}, {"name": "q", "process": "Q"}, {"name": "r", "process": "R"}],
        "hosts": [
            {"name": "T0", "process": "R", "steps": [copy("r"), copy("r")]},
            {"name": "T1", "process": "P", "release": "1 ns", "steps": [kernel("long", "p"), kernel("long", "p")]},
            {"name": "T2", "process": "Q", "release": "1 ns",
             "steps": [kernel("short", "q"), kernel("long", "q"), copy("q"), kernel("long", "q")]},
        ],
    });
    let run = agreed(&with_runlists_of_engines(&file, Duration::from_ns(1))).expect("all agree");
    let at_15 = run.trace.operations().iter().filter(|record| record.queued() == Some(Instant::from_ns(15)));
    let mut at_15: Vec<_> = at_15.map(|record| (record.queue_order(), record.origin.thread)).collect();
    at_15.sort_unstable();
    assert_eq!(at_15.iter().map(|&(_, thread)| thread).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn a_block_that_began_at_the_end_of_a_slice_before_others_had_work_runs_to_its_end() {
    let launches = vec![json!({"kernel": "K"}); 6];
    // Q's kernel is behind a copy without length, so it comes at 10 ns when P, alone until then, has begun its last
    // block.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "last", "switch_cost": "0 s",
        "processes": {"P": {"time_slice": "5 ns"}, "Q": {"time_slice": "5 ns"}},
        "kernels": {"K": {"blocks": 1, "threads": 1, "duration": "2 ns"}},
        "streams": [
            {"name": "p", "process": "P", "operations": launches},
            {"name": "q", "process": "Q", "release": "10 ns",
             "operations": [{"copy": "host-to-device", "bytes": 0, "duration": "0 s"}, {"kernel": "K"}]},
        ],
    });
    let run = agreed(&with_runlists_of_engines(&file, Duration::from_ns(1_000_000))).expect("all agree");
    assert_eq!(run.trace.turns()[0].end, Instant::from_ns(12));
}

#[test]
fn copies_that_share_a_link_go_on_one_after_another_while_a_turn_runs_out() {
    let copy = |bytes: u64, duration: &str| json!({"copy": "host-to-device", "bytes": bytes, "duration": duration});
    let kernel = json!({"kernel": "K"});
    let file = json!({
        "format": "gpusched-scenario/1", "name": "link", "switch_cost": "0 s",
        "processes": {"P": {"time_slice": "1 ns"}, "Q": {"time_slice": "1 ns"}},
        "kernels": {"K": {"blocks": 1, "threads": 1, "duration": "5 ns"}},
        "streams": [
            {"name": "p", "process": "P", "operations": [kernel, kernel]},
            {"name": "short", "process": "P", "operations": [copy(0, "4 ns")]},
            {"name": "long", "process": "P", "operations": [copy(41, "5 ns")]},
            {"name": "q", "process": "Q", "operations": [copy(41, "5 ns"), copy(41, "5 ns")]},
        ],
    });
    let device = builtin("tx2").with(|spec| {
        spec.time_slicing.preemption = Preemption::BlockEnd;
        spec.copy.sharing = CopySharing::SharedLink;
    });
    let options = ReadOptions { device: Some(device.expect("sound")), ..ReadOptions::default() };
    let run = agreed(&scenario_with(&file, &options)).expect("all agree");
    // P's turns are 0 to 5 and 6 to 11 ns, as long as its blocks. Half of 5 and of 3 ns is the short copy's 4 ns; from
    // 9 ns on the long one has the link alone, and 1 ns of its 5 left.
    let ends = [2, 3].map(|operation: usize| run.trace.operations()[operation].finish());
    assert_eq!(ends, [9, 10].map(|at| Some(Instant::from_ns(at))));
}
