//! Several processes: every turn and every part of what stands still meanwhile, against the run.

use std::collections::BTreeMap;

use gpusched::hosts::simulate;
use gpusched::trace::Trace;
use gpusched::workload::{OperationId, OperationKind};
use proptest::prelude::*;

use super::validator::{Slice, validate};
use super::written;
use crate::campaign::config;
use crate::generate::{Case, Limits};
use crate::generate_processes::with_processes;

/// The parts of a time in which it is the turn of an operation's process, found turn by turn.
fn in_turns(trace: &Trace, id: OperationId, from: u64, to: u64) -> Vec<(u64, u64)> {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for turn in trace.turns().iter().filter(|turn| Some(turn.process) == trace.process_of(id)) {
        let part = (turn.start.as_ns().max(from), turn.end.as_ns().min(to));
        match parts.last_mut() {
            _ if part.0 >= part.1 => {}
            Some(last) if last.1 == part.0 => last.1 = part.1,
            _ => parts.push(part),
        }
    }
    parts
}

fn number(slice: &Slice, key: &str) -> u32 {
    u32::try_from(slice.args[key].as_u64().expect("a number")).expect("small")
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn turns_switches_and_the_parts_of_what_pauses_are_those_of_the_run(
        Case(scenario) in with_processes(Limits { varying: true, ..Limits::ALL }, false)
    ) {
        let Some(text) = written(&scenario) else { return Ok(()) };
        let shown = validate(&text).map_err(TestCaseError::fail)?;
        let trace = simulate(&scenario)?.trace;
        let end = trace.end().as_ns();

        let mut turns: Vec<_> = shown
            .slices
            .iter()
            .filter(|slice| slice.category == "turn")
            .map(|slice| (slice.lane.clone(), slice.name.clone(), slice.start, slice.end))
            .collect();
        let mut expected = Vec::new();
        for turn in trace.turns() {
            let name = trace.processes()[turn.process.index()].name.to_string();
            let [from, start, end] = [turn.switch_from, turn.start, turn.end].map(gpusched::time::Instant::as_ns);
            if from < start {
                expected.push((name.clone(), "switch".to_owned(), from, start));
            }
            expected.push((name, "turn".to_owned(), start, end));
        }
        turns.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(turns, expected);

        let mut blocks: BTreeMap<(u32, u32), Vec<(u64, u64)>> = BTreeMap::new();
        for slice in shown.slices.iter().filter(|slice| slice.category == "block") {
            blocks.entry((number(slice, "id"), number(slice, "block"))).or_default().push((slice.start, slice.end));
        }
        let mut copies: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for slice in shown.slices.iter().filter(|slice| slice.category == "copy") {
            copies.entry(number(slice, "id")).or_default().push((slice.start, slice.end));
        }
        for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
            for block in trace.blocks(id) {
                let (from, to) = (block.start.as_ns(), block.end.as_ns().min(end));
                let parts = in_turns(&trace, id, from, to);
                let expected = if parts.is_empty() { vec![(from, to)] } else { parts };
                prop_assert_eq!(blocks.remove(&(id.0, block.index)), Some(expected), "block {} of {:?}", block.index, id);
            }
            if let (OperationKind::Copy(_), Some(start)) = (record.kind, record.first_start()) {
                let finish = record.finish().map_or(end, gpusched::time::Instant::as_ns);
                let served = copies.remove(&id.0).unwrap_or_default();
                // From its start on, until it is done or the run ends, and never twice at once.
                prop_assert_eq!(served.first().map(|part| part.0), Some(start.as_ns()));
                prop_assert!(served.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", served);
                prop_assert!(record.finish().is_none() || served.last().map(|part| part.1) == Some(finish));
                let paused = trace.paused(id).as_ns();
                let ran: u64 = served.iter().map(|(from, to)| to - from).sum();
                prop_assert_eq!(ran + paused, finish - start.as_ns());
            }
        }
        prop_assert!(blocks.is_empty() && copies.is_empty(), "{:?} {:?}", blocks, copies);
    }
}
