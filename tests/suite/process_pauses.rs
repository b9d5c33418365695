//! What stands still after it has begun: it is counted, it is told who had the GPU instead, and it is not run time.

use gpusched::device::{CopySharing, Runlists};
use gpusched::hosts::simulate;
use gpusched::run::{State, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::BlameTables;
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Blame, OperationRecord, Rule, Trace, blame, reasons};
use gpusched::workload::{BlockClock, OperationId, OperationKind};
use proptest::prelude::*;
use serde_json::json;

use super::common::gpusched;
use super::generate::{Case, Limits};
use super::generate_processes::with_processes;
use crate::campaign::config;

fn ns(from: Instant, to: Instant) -> u64 {
    to.since(from).as_ns()
}

/// For how much of a time it is the turn of an operation's process, turn by turn.
fn in_turns(trace: &Trace, id: OperationId, from: Instant, to: Instant) -> u64 {
    let own = trace.turns().iter().filter(|turn| Some(turn.process) == trace.process_of(id));
    own.map(|turn| ns(turn.start.max(from), turn.end.min(to).max(turn.start.max(from)))).sum()
}

/// What an operation runs for without anything else, where that is known: a copy whose link nobody shares, and a kernel
/// of one block.
fn net(scenario: &Scenario, trace: &Trace, record: &OperationRecord) -> Option<u64> {
    match record.kind {
        OperationKind::Kernel(kernel) => {
            let kernel = &trace.kernels()[kernel.index()];
            // Of a block that watches a timer, pauses count too.
            let is_known = kernel.duration.best == kernel.duration.worst && kernel.clock == BlockClock::RunTime;
            (kernel.blocks == 1 && is_known).then(|| kernel.duration.worst.as_ns())
        }
        OperationKind::Copy(copy) if scenario.device().copy.sharing == CopySharing::OneAtATime => {
            Some(scenario.copies()[copy.index()].time().as_ns())
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(config(120))]

    /// What the tables of blame tell of an operation, and the time in which it ran, are its response time; nothing of a
    /// pause is left in run time.
    #[test]
    fn waits_pauses_and_run_time_add_up_to_the_response_time(Case(scenario) in with_processes(Limits::ALL, false)) {
        let run = simulate(&scenario)?;
        let trace = &run.trace;
        let parts = blame(trace, scenario.device());
        let copies_in_turns = scenario.device().time_slicing.runlists == Runlists::Shared;
        let mut told = Duration::ZERO;
        for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
            let own: Vec<&Blame> = parts.iter().filter(|part| part.operation == id).collect();
            let pauses = |part: &&&Blame| matches!(part.rule, Rule::T4 | Rule::T5);
            let sum = |parts: &[&&Blame]| parts.iter().map(|part| ns(part.from, part.to)).sum::<u64>();
            let paused = sum(&own.iter().filter(pauses).collect::<Vec<_>>());
            let waited = sum(&own.iter().filter(|part| !pauses(part)).collect::<Vec<_>>());
            if !record.kind.is_instant() {
                told += Duration::from_ns(waited + paused);
            }
            prop_assert_eq!(paused, trace.paused(id).as_ns());
            let start = record.first_start().unwrap_or(trace.end()).max(record.launched());
            prop_assert_eq!(waited, ns(record.launched(), start));
            let end = record.finish().unwrap_or(trace.end()).max(start);
            let ran: u64 = trace.runs(id).map(|part| ns(part.start, part.end)).sum();
            prop_assert_eq!(waited + paused + ran, ns(record.launched(), end));
            let is_kernel = matches!(record.kind, OperationKind::Kernel(_));
            if is_kernel || (copies_in_turns && matches!(record.kind, OperationKind::Copy(_))) {
                prop_assert_eq!(ran, in_turns(trace, id, start, end));
            }
            if let Some(net) = net(&scenario, trace, record).filter(|_| record.finish().is_some()) {
                prop_assert_eq!(ran, net, "{:?}", record);
            }
        }
        prop_assert_eq!(BlameTables::new(&Summary::of(&run)).total(), told);
    }

    /// Each pause is put down to whoever had the turn or the copy engine, and a switch to nobody.
    #[test]
    fn nothing_waits_under_two_rules_at_once_also_when_a_run_is_cut_off(
        Case(scenario) in with_processes(Limits::ALL, false), horizon in 1_u64..60,
    ) {
        let scenario = Scenario { horizon: Some(Duration::from_ns(horizon)), ..scenario };
        let run = simulate(&scenario)?;
        let reasons = reasons(&run.trace, scenario.device());
        for pair in reasons.windows(2).filter(|pair| pair[0].operation == pair[1].operation) {
            prop_assert!(pair[0].to.is_some_and(|to| to <= pair[1].from), "{:?}", pair);
        }
    }

    #[test]
    fn a_pause_is_put_down_to_who_had_the_gpu(Case(scenario) in with_processes(Limits::ALL, false)) {
        let trace = simulate(&scenario)?.trace;
        for part in blame(&trace, scenario.device()).iter().filter(|part| matches!(part.rule, Rule::T4 | Rule::T5)) {
            let own = trace.process_of(part.operation);
            // A turn that ends at once, its process having nothing to run, is nobody's pause.
            let lasted = trace.turns().iter().filter(|turn| turn.start < turn.end);
            let on: Vec<_> = lasted.filter(|turn| turn.start < part.to && part.from < turn.end).collect();
            match (part.blocking, part.turn_of) {
                (Some(copy), None) => {
                    prop_assert!(part.rule == Rule::T5 && trace.process_of(copy) != own);
                    prop_assert!(trace.runs(copy).any(|served| served.start <= part.from && part.to <= served.end));
                }
                (None, Some(process)) => {
                    prop_assert!(Some(process) != own && !on.is_empty());
                    prop_assert!(on.iter().all(|turn| turn.process == process), "{part:?}: {on:?}");
                }
                (None, None) => prop_assert!(on.is_empty(), "{:?}: {:?}", part, on),
                (Some(_), Some(_)) => prop_assert!(false, "{:?}", part),
            }
        }
    }
}

/// Copies of 3 ms and 2 ms of two processes, from 0 and 500 us on, on a device with copy engines of their own.
fn two_copies() -> Scenario {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "device": "gtx1070",
        "processes": {"P": {}, "Q": {}},
        "streams": [
            {"name": "P1", "process": "P", "operations": [{"copy": "host-to-device", "duration": "3 ms"}]},
            {"name": "Q1", "process": "Q", "release": "500 us",
             "operations": [{"copy": "host-to-device", "duration": "2 ms"}]},
        ],
    });
    Scenario::from_json("copies.json", &file.to_string(), &ReadOptions::default()).expect("it is sound")
}

#[test]
fn copies_that_trade_an_engine_blame_each_other() {
    let scenario = two_copies();
    let run = simulate(&scenario).expect("it runs");
    let us = |at: Instant| at.as_ns() / 1_000;
    let runs = |id: u32| run.trace.runs(OperationId(id)).map(|part| (us(part.start), us(part.end))).collect::<Vec<_>>();
    // They trade every millisecond (T5).
    assert_eq!(runs(0), [(0, 1_000), (2_000, 3_000), (4_000, 5_000)]);
    assert_eq!(runs(1), [(1_000, 2_000), (3_000, 4_000)]);
    let parts: Vec<_> = blame(&run.trace, scenario.device())
        .iter()
        .map(|part| (part.operation.0, part.rule, us(part.from), us(part.to), part.blocking))
        .collect();
    let (first, second) = (Some(OperationId(0)), Some(OperationId(1)));
    let expected = [
        (0, Rule::T5, 1_000, 2_000, second),
        (0, Rule::T5, 3_000, 4_000, second),
        (1, Rule::C2, 500, 1_000, first),
        (1, Rule::T5, 2_000, 3_000, first),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn tables_have_a_column_of_pauses_only_where_contexts_take_turns() {
    let file = "scenarios/processes/perception-and-control.json";
    let csv = |more: &[&str]| {
        let output = gpusched(&[&["simulate", file, "--format", "csv"], more].concat());
        String::from_utf8(output.stdout).expect("text")
    };
    let turns = csv(&[]);
    let header: Vec<&str> = turns.lines().next().expect("a header").split(',').collect();
    let column = header.iter().position(|name| *name == "paused_ns").expect("a column of pauses");
    let paused: Vec<&str> = turns.lines().skip(1).map(|line| line.split(',').nth(column).expect("a field")).collect();
    // By hand: detect runs for 6 ms from its start on, and is done 8.3 and, from its start, 8.3 ms later.
    assert_eq!(paused[0], "2300000");
    for more in ["--as-threads", "--mps"] {
        assert!(!csv(&[more]).contains("paused"), "{more}");
    }
}

#[test]
fn each_context_has_its_ee_queues_in_states_though_none_had_a_turn() {
    let scenario = two_copies();
    let run = simulate(&scenario).expect("it runs");
    assert!(run.trace.turns().is_empty(), "copies need none");
    let state = State::at(&Summary::of(&run), Instant::from_ns(1_500_000));
    let value = serde_json::to_value(&state).expect("it is plain");
    assert_eq!((&value["ee_queues"]["P"]["0"], &value["ee_queues"]["Q"]["0"]), (&json!([]), &json!([])));
    assert_eq!(value["turn"]["process"], json!(null));
    // The engine serves the second copy, while the first stands still.
    assert_eq!(value["copy_engines"][0], "copy 1 (host-to-device)");
}
