//! `analyze --progress`: whether kernels that wait on the GPU for one another can stand still. Verdicts of public
//! reports, and of what was changed in answer to them.

use gpusched::analysis::{CudaPromise, ProgressCondition, ProgressVerdict, ProgressVerdicts, judge_progress};
use gpusched::hosts::simulate;
use gpusched::run::{Standstill, Summary};
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};

/// A scenario file of which this is the rest.
pub(crate) fn read(rest: &str) -> Scenario {
    let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "hang", {rest}}}"#);
    Scenario::from_json("hang.json", &text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether nothing goes on at the end of its run, for good.
pub(crate) fn stands_still(scenario: &Scenario) -> bool {
    let run = simulate(scenario).expect("it runs");
    Standstill::of(&Summary::of(&run)).is_some_and(|found| found.is_final)
}

/// Verdicts; there is a run if and only if something hangs, and it stands still when it is simulated from a file.
pub(crate) fn judge_with_witness(scenario: &Scenario) -> ProgressVerdicts {
    let judged = judge_progress(scenario);
    let hangs = judged.groups.iter().any(|group| group.verdict == ProgressVerdict::Hangs);
    assert_eq!(judged.hanging.is_some(), hangs);
    if let Some(run) = &judged.hanging {
        let text = run.scenario.to_native_json().expect("it can be written");
        let again = Scenario::from_json("witness.json", &text, &ReadOptions::default()).expect("it can be read");
        assert!(stands_still(&again), "the run does not stand still: {text}");
    }
    judged
}

/// Those, and verdicts and conditions by group.
fn judge(scenario: &Scenario) -> (ProgressVerdicts, Vec<(ProgressVerdict, Option<ProgressCondition>)>) {
    let judged = judge_with_witness(scenario);
    let verdicts = judged.groups.iter().map(|group| (group.verdict, group.condition)).collect();
    (judged, verdicts)
}

fn verdicts(scenario: &Scenario) -> Vec<(ProgressVerdict, Option<ProgressCondition>)> {
    judge(scenario).1
}

const HANGS: (ProgressVerdict, Option<ProgressCondition>) = (ProgressVerdict::Hangs, None);

fn cannot(by: ProgressCondition) -> (ProgressVerdict, Option<ProgressCondition>) {
    (ProgressVerdict::CannotHang, Some(by))
}

/// Kernels of one launch each, in non-blocking streams of their own, in that order: name, keys of the kernel, keys of
/// the stream.
fn scenario(device: &str, launches: &[(&str, &str, &str)]) -> Scenario {
    let kernels: Vec<String> = launches.iter().map(|(name, keys, _)| format!(r#""{name}": {{{keys}}}"#)).collect();
    let stream = |(name, _, keys): &(&str, &str, &str)| {
        format!(r#"{{"name": "of {name}", "blocking": false, {keys} "operations": [{{"kernel": "{name}"}}]}}"#)
    };
    let streams: Vec<String> = launches.iter().map(stream).collect();
    read(&format!(
        r#""device": "{device}", "kernels": {{{}}}, "streams": [{}]"#,
        kernels.join(", "),
        streams.join(", ")
    ))
}

/// Each block waits for all blocks of the group to have begun.
fn meets(all: u32) -> String {
    format!(
        r#""duration": "10 us", "signal": [{{"at": "start", "counter": "begun"}}], "wait": [{{"at": 0.5, "counter": "begun", "value": {all}}}]"#
    )
}

const BARRIER: &str = r#""duration": "1 ms", "grid_sync": [0.5]"#;

fn mirage(schedulers: u32, workers: u32, first: &str) -> Scenario {
    let meets = meets(schedulers + workers);
    let scheduler = format!(r#""blocks": {schedulers}, "threads": 32, "registers_per_thread": 40, {meets}"#);
    let worker = format!(
        r#""blocks": {workers}, "threads": 256, "registers_per_thread": 255, "shared_memory_bytes": 218112, {meets}"#
    );
    let (one, other) = (("scheduler", &*scheduler, ""), ("worker", &*worker, ""));
    scenario("b200", &if first == "worker" { [other, one] } else { [one, other] })
}

#[test]
fn mirage_775_hangs_in_one_of_two_orders_whichever_is_declared_and_packed_schedulers_cannot() {
    for first in ["scheduler", "worker"] {
        let (judged, verdicts) = judge(&mirage(80, 128, first));
        assert_eq!(verdicts, [HANGS]);
        assert_eq!(judged.groups[0].promise, CudaPromise::None);
        let rows: Vec<_> = judged.groups[0].kernels.iter().map(|row| (&*row.kernel, row.needed, row.sure)).collect();
        assert_eq!(rows.iter().find(|row| row.0 == "worker"), Some(&("worker", 128, 68)));
        let run = judged.hanging.expect("it hangs");
        assert_eq!(run.changed.is_empty(), first == "scheduler");
        assert!(run.launches[0].starts_with("scheduler"), "{:?}", run.launches);
    }
    // Four scheduler warps a block: 20 + 128 = 148.
    assert_eq!(verdicts(&mirage(20, 128, "scheduler")), [cannot(ProgressCondition::SureRoom)]);
}

#[test]
fn mirage_761_partitions_hang_in_one_order_and_fit_once_schedulers_are_packed() {
    for (schedulers, workers) in [(16, 144), (48, 136)] {
        assert_eq!(verdicts(&mirage(schedulers, workers, "worker")), [HANGS]);
        assert_eq!(verdicts(&mirage(schedulers / 4, workers, "worker")), [cannot(ProgressCondition::SureRoom)]);
    }
}

#[test]
fn a_barrier_over_more_blocks_than_fit_hangs_and_over_as_many_as_fit_it_cannot() {
    let block = r#""threads": 128, "shared_memory_bytes": 120000"#;
    let alone = |device: &str, blocks: u32, block: &str| {
        verdicts(&scenario(device, &[("K", &format!(r#""blocks": {blocks}, {block}, {BARRIER}"#), "")]))
    };
    // FlashMoE 3: 132 blocks, as an H100 has SMs, on the 78 of an H20.
    assert_eq!(alone("h20", 132, block), [HANGS]);
    assert_eq!(alone("h20", 78, block), [cannot(ProgressCondition::OneQueue)]);
    // pytorch 170162: 64 on the 58 SMs of an L4.
    let block = r#""threads": 1024, "registers_per_thread": 64"#;
    assert_eq!(alone("l4", 64, block), [HANGS]);
    assert_eq!(alone("l4", 58, block), [cannot(ProgressCondition::OneQueue)]);
}

#[test]
fn two_barriers_hang_under_two_priorities_and_not_under_one_nor_as_cooperative_grids() {
    let kernel = |more: &str| format!(r#""blocks": 58, "threads": 1024, "registers_per_thread": 64, {BARRIER}{more}"#);
    let other = (r#""blocks": 20, "threads": 1024, "registers_per_thread": 64, "duration": "1 ms""#, "");
    let both = |more: &str, priority: i32| {
        let kernel = kernel(more);
        let urgent = format!(r#""release": "200 us", "priority": {priority},"#);
        let first = ("first", &*kernel, r#""release": "100 us","#);
        scenario("l4", &[("other", other.0, other.1), first, ("second", &*kernel, &*urgent)])
    };
    assert_eq!(verdicts(&both("", -1)), [HANGS, HANGS]);
    assert_eq!(verdicts(&both("", 0)), [cannot(ProgressCondition::OneQueue); 2]);
    let (judged, found) = judge(&both(r#", "cooperative": true"#, -1));
    assert_eq!(found, [cannot(ProgressCondition::Cooperative); 2]);
    assert!(judged.groups.iter().all(|group| group.promise == CudaPromise::Cooperative));
}

#[test]
fn an_urgent_kernel_that_waits_for_nobody_can_make_a_barrier_hang_that_fits_alone() {
    // A block of the grid is on each of a TX2's two SMs when the urgent kernel comes, whose block has no room there.
    let half = r#""threads": 1024, "registers_per_thread": 32, "shared_memory_bytes": 20000"#;
    let before = format!(r#""blocks": 2, {half}, "duration": "1 ms""#);
    let grid = format!(r#""blocks": 4, {half}, {BARRIER}"#);
    let urgent_block = r#""blocks": 1, "threads": 32, "shared_memory_bytes": 49152, "duration": "1 ms""#;
    let all = [("before", &*before, ""), ("grid", &*grid, r#""release": "1 us","#)];
    assert_eq!(verdicts(&scenario("tx2", &all)), [cannot(ProgressCondition::OneQueue)]);
    let urgent = [all[0], all[1], ("urgent", urgent_block, r#""release": "2 us", "priority": -1,"#)];
    assert_eq!(verdicts(&scenario("tx2", &urgent)), [HANGS]);
}

#[test]
fn collectives_hang_where_ranks_may_begin_them_in_another_order_and_cannot_in_one_stream_a_rank() {
    let kernel = |blocks: u32, keys: &str, counter: &str| {
        let all = 2 * blocks;
        format!(
            r#"{{"blocks": {blocks}, {keys}, "duration": "100 us", "signal": [{{"at": "start", "counter": "{counter}"}}],
                "wait": [{{"at": 0.5, "counter": "{counter}", "value": {all}}}]}}"#
        )
    };
    let gather = kernel(24, r#""threads": 640, "registers_per_thread": 96"#, "gathered");
    let dispatch = kernel(
        132,
        r#""threads": 1024, "registers_per_thread": 64, "shared_memory_bytes": 100000, "cooperative": true"#,
        "sent",
    );
    let ranks = |streams: &str| {
        read(&format!(
            r#""device": "h100", "devices": ["R0", "R1"], "kernels": {{"gather": {gather}, "dispatch": {dispatch}}}, "streams": [{streams}]"#
        ))
    };
    let stream = |name: &str, rank: u32, kernels: &[&str]| {
        let operations: Vec<String> = kernels.iter().map(|kernel| format!(r#"{{"kernel": "{kernel}"}}"#)).collect();
        format!(
            r#"{{"name": "{name}{rank}", "device": "R{rank}", "blocking": false, "operations": [{}]}}"#,
            operations.join(", ")
        )
    };
    // DeepEP 496: even ranks all-gather first, odd ones dispatch first.
    let apart = |rank| [stream("a", rank, &["gather"]), stream("b", rank, &["dispatch"])].join(", ");
    assert_eq!(verdicts(&ranks(&[apart(0), apart(1)].join(", "))), [HANGS, HANGS]);
    let other = ranks(&[stream("s", 0, &["gather", "dispatch"]), stream("s", 1, &["dispatch", "gather"])].join(", "));
    assert_eq!(verdicts(&other), [HANGS, HANGS]);
    let same = ranks(&[stream("s", 0, &["gather", "dispatch"]), stream("s", 1, &["gather", "dispatch"])].join(", "));
    assert_eq!(verdicts(&same), [cannot(ProgressCondition::SureRoom); 2]);
}

#[test]
fn disjoint_green_contexts_are_judged_apart() {
    let file = |contexts: [&str; 2]| {
        let block = r#""threads": 1024, "registers_per_thread": 64"#;
        let kernel = format!(r#"{{"blocks": 16, {block}, {BARRIER}}}"#);
        let stream = |name: &str, context: &str, keys: &str, kernel: &str| {
            format!(
                r#"{{"name": "{name}", "green_context": "{context}", {keys} "operations": [{{"kernel": "{kernel}"}}]}}"#
            )
        };
        read(&format!(
            r#""device": "h100", "green_contexts": [{{"sms": 16, "names": ["A", "B"]}}],
            "kernels": {{"other": {{"blocks": 8, {block}, "duration": "1 ms"}}, "first": {kernel}, "second": {kernel}}},
            "streams": [{}, {}, {}]"#,
            stream("zero", "A", "", "other"),
            stream("one", contexts[0], r#""release": "1 us","#, "first"),
            stream("two", contexts[1], r#""release": "2 us", "priority": -1,"#, "second")
        ))
    };
    assert_eq!(verdicts(&file(["A", "B"])), [cannot(ProgressCondition::OneQueue); 2]);
    assert_eq!(verdicts(&file(["A", "A"])), [HANGS, HANGS]);
}

#[test]
fn small_groups_that_no_condition_proves_are_proven_by_all_their_states() {
    let waits = |blocks: u32, counter: &str| {
        format!(
            r#""blocks": {blocks}, "threads": 1024, "registers_per_thread": 32, "duration": "1 ms",
            "signal": [{{"at": "start", "counter": "{counter}"}}], "wait": [{{"at": 0.5, "counter": "{counter}", "value": 2}}]"#
        )
    };
    // Only two of the four blocks have to be there at once.
    let (two, four) = (waits(2, "a"), waits(4, "b"));
    let found = verdicts(&scenario("tx2", &[("A", &two, ""), ("B", &four, r#""priority": -1,"#)]));
    assert_eq!(found, [cannot(ProgressCondition::AllStates); 2]);
}

#[test]
fn what_waits_for_what_has_ended_before_cannot_hang_and_what_nothing_signals_does() {
    let kernel = |keys: &str| format!(r#"{{"blocks": 4, "threads": 32, "duration": "1 ms", {keys}}}"#);
    let file = |operations: &str| {
        read(&format!(
            r#""device": "tx2", "kernels": {{"P": {}, "Q": {}}}, "streams": [{{"name": "S", "operations": [{operations}]}}]"#,
            kernel(r#""signal": [{"at": "end", "counter": "C"}]"#),
            kernel(r#""wait": [{"at": 0, "counter": "C", "value": 4}]"#)
        ))
    };
    assert!(judge_progress(&file(r#"{"kernel": "P"}, {"kernel": "Q"}"#)).groups.is_empty());
    assert_eq!(verdicts(&file(r#"{"kernel": "Q"}, {"kernel": "P"}"#)), [HANGS]);
}

#[test]
fn one_channel_holds_launches_on_each_of_several_gpus() {
    // With one channel, `after` waits there for `late` to end, and holds `early` behind it, which `late` waits for.
    let file = |devices: &str, on: &str| {
        read(&format!(
            r#""device": "h100", {devices} "kernels": {{
                "late": {{"blocks": 1, "threads": 32, "duration": "1 ms", "wait": [{{"at": 0.5, "counter": "C", "value": 1}}]}},
                "after": {{"blocks": 1, "threads": 32, "duration": "1 ms"}},
                "early": {{"blocks": 1, "threads": 32, "duration": "1 ms", "signal": [{{"at": "start", "counter": "C"}}]}}}},
            "streams": [{{"name": "one", {on} "blocking": false}}, {{"name": "two", {on} "blocking": false}}],
            "hosts": [{{"name": "H", {on} "steps": [{{"launch": "late", "stream": "one"}}, {{"launch": "after", "stream": "one"}},
                {{"launch": "early", "stream": "two"}}]}}]"#
        ))
    };
    let one_channel = WhatIf { connections: Some(1), ..WhatIf::default() };
    for scenario in [file("", ""), file(r#""devices": ["G", "other"],"#, r#""device": "G","#)] {
        assert_eq!(verdicts(&scenario), [cannot(ProgressCondition::SureRoom)]);
        assert_eq!(verdicts(&scenario.what_if(&one_channel).expect("it can be")), [HANGS]);
    }
}
