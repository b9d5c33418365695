//! What the pages say of turns beyond the rules' one sentence each: places in a round, turns that follow one another,
//! links that contexts share.

use gpusched::device::{CopySharing, Preemption, Runlists};
use gpusched::scenario::ReadOptions;
use gpusched::time::Duration;
use gpusched::trace::{Trace, TurnEnd};
use serde_json::json;

use crate::agreement::agreed;
use crate::generate::builtin;
use crate::processes::{filling, finishes, scenario_with, turns};

fn run(file: &serde_json::Value, options: &ReadOptions) -> Trace {
    agreed(&scenario_with(file, options)).expect("engine, reference and audit agree").trace
}

#[test]
fn an_idle_process_keeps_its_place_in_the_round() {
    // P1 comes at 500 us, in P0's first turn, long after P2.
    let trace = run(&filling(&[(2_000, 0), (2_000, 500), (2_000, 0)], "1 ms", "0 us"), &ReadOptions::default());
    let order: Vec<u32> = turns(&trace).iter().map(|turn| turn.0).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
}

/// By hand: P has three kernels of 100 us in a row with gaps of 10 us, in one turn of 320 us; Q's kernel has its own.
#[test]
fn a_context_keeps_its_turn_through_the_gap_behind_a_kernel_and_gets_none_for_it() {
    let stream = |name: &str, kernels: usize| {
        let operations = vec![json!({"kernel": "K"}); kernels];
        json!({"name": name, "process": name, "operations": operations})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "gaps", "switch_cost": "50 us", "processes": {"P": {}, "Q": {}},
        "kernels": {"K": {"blocks": 2, "threads": 1024, "duration": "100 us"}},
        "streams": [stream("P", 3), stream("Q", 1)],
    });
    let with = |slice: u64| {
        let options = ReadOptions {
            kernel_gap: Some(Duration::from_ns(10_000)),
            time_slice: Some(Duration::from_ns(slice * 1_000)),
            ..ReadOptions::default()
        };
        turns(&run(&file, &options))
    };
    let none = TurnEnd::NoWork;
    assert_eq!(with(1_000), [(0, 0, 320, none), (1, 370, 470, none)]);
    // The slice is over in the first gap, in which P asks for no turn; it gets the next when that is over.
    assert_eq!(with(105), [(0, 0, 105, TurnEnd::TimeSlice), (1, 155, 255, none), (0, 305, 515, none)]);
}

#[test]
fn with_block_end_a_turn_of_the_same_context_follows_at_once_and_its_blocks_go_on() {
    // H has two places in a round before L, with M between, which has nothing to do.
    let mut file = filling(&[(1_000, 0), (1_000, 9_000), (1_500, 0)], "1 ms", "0 us");
    file["processes"]["P1"]["level"] = json!("medium");
    file["processes"]["P2"]["level"] = json!("high");
    file["kernels"]["P2"]["blocks"] = json!(16);
    let device = builtin("tx2").with(|spec| spec.time_slicing.preemption = Preemption::BlockEnd).expect("sound");
    let trace = run(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() });
    // The blocks of H that run at 1 ms are not waited for; those that run when its second turn is over at 2 ms are.
    let first: Vec<_> = turns(&trace).into_iter().take(3).collect();
    let ended = [(2, 0, 1_000, TurnEnd::TimeSlice), (2, 1_000, 3_000, TurnEnd::NoWork)];
    assert_eq!(first[..2], ended, "{first:?}");
    assert_eq!((first[2].0, first[2].1), (0, 3_000));
}

#[test]
fn copies_of_several_contexts_share_a_link_at_once_unless_all_engines_share_a_runlist() {
    let stream = |name: &str| {
        let copy = json!({"copy": "host-to-device", "bytes": 0, "duration": "3 ms"});
        json!({"name": name, "process": name, "operations": [copy]})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "switch_cost": "0 s",
        "streams": [stream("P"), stream("Q")],
    });
    let on = |runlists| {
        let device = builtin("tx2").with(|spec| {
            (spec.time_slicing.runlists, spec.copy.sharing) = (runlists, CopySharing::SharedLink);
            spec.time_slicing.time_slice = Duration::from_ns(2_000_000);
        });
        finishes(&run(&file, &ReadOptions { device: Some(device.expect("sound")), ..ReadOptions::default() }))
    };
    // Each has half of the link all the time, without turns of the engine.
    assert_eq!(on(Runlists::Separate), [6_000, 6_000]);
    // In the turns of its context each has the link for itself: 0 to 2 and 4 to 5 ms, 2 to 4 and 5 to 6 ms.
    assert_eq!(on(Runlists::Shared), [5_000, 6_000]);
}
