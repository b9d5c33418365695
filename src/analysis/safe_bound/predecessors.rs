//! Who waits for whom before it enters its EE or CE queue: stream order (G2, C1), N1, N2 and E2.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::merged_backend::Analysed;
use crate::limits::count_steps;
use crate::workload::{EventId, OperationKind, StreamId};

/// Waits that may be above which nobody keeps account of them.
const MOST_WAITS: usize = 1 << 20;

/// The streams whose last operation one in `stream` waits for: its own, and by N1 and N2 others.
fn waited_for(stream: StreamId, blocking: &[bool]) -> impl Iterator<Item = usize> + '_ {
    let own = stream.index();
    let others = move |other: usize| {
        let is_null = |stream: usize| stream == StreamId::NULL.index();
        is_null(own) != is_null(other) && blocking[own] && blocking[other]
    };
    (0..blocking.len()).filter(move |&other| other == own || others(other))
}

/// For each operation, given in launch order, those that must have completed before it enters. The NULL stream counts
/// as blocking.
pub(super) fn in_this_order(operations: &[Analysed], blocking: &[bool]) -> Vec<Vec<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; blocking.len()];
    let mut records: BTreeMap<EventId, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(operations.len());
    for (number, operation) in operations.iter().enumerate() {
        let mut predecessors: Vec<usize> =
            waited_for(operation.stream, blocking).filter_map(|stream| last[stream]).collect();
        match operation.kind {
            OperationKind::Wait(event) => predecessors.extend(records.get(&event)),
            OperationKind::Record(event) => _ = records.insert(event, number),
            _ => {}
        }
        last[operation.stream.index()] = Some(number);
        all.push(predecessors);
    }
    all
}

/// Operations that may be launched last of those before an instant, and those launched at it.
#[derive(Debug, Default)]
struct Recent {
    before: Vec<usize>,
    now: Vec<usize>,
}

impl Recent {
    /// What may be the last one before operation `number`.
    fn may_precede<'r>(&'r self, number: usize, operations: &'r [Analysed]) -> impl Iterator<Item = usize> + 'r {
        let is_own = move |other: &&usize| operations[**other].origin.thread == operations[number].origin.thread;
        let own = self.now.iter().rev().filter(move |&&other| other < number).find(is_own);
        let others = self.now.iter().filter(move |other| !is_own(other));
        self.before.iter().chain(others).chain(own).copied()
    }

    /// The instant is over: of each thread the last one may be the last of all.
    fn pass(&mut self, operations: &[Analysed]) {
        if !self.now.is_empty() {
            let mut threads = BTreeSet::new();
            self.before.clear();
            self.before.extend(self.now.drain(..).rev().filter(|&last| threads.insert(operations[last].origin.thread)));
        }
    }
}

/// For each operation, given by launch and program order, all that it may wait for in some order of what different
/// threads launch at one instant. `None`: too many.
pub(super) fn in_any_order(operations: &[Analysed], blocking: &[bool]) -> Option<Vec<Vec<usize>>> {
    let mut streams: Vec<Recent> = blocking.iter().map(|_| Recent::default()).collect();
    let mut records: BTreeMap<EventId, Recent> = BTreeMap::new();
    let mut all = Vec::with_capacity(operations.len());
    let (mut first, mut waits) = (0, 0);
    for together in operations.chunk_by(|one, other| one.launched == other.launched) {
        for (number, operation) in (first..).zip(together) {
            streams[operation.stream.index()].now.push(number);
            if let OperationKind::Record(event) = operation.kind {
                records.entry(event).or_default().now.push(number);
            }
        }
        for (number, operation) in (first..).zip(together) {
            count_steps(together.len());
            let mut predecessors = Vec::new();
            for stream in waited_for(operation.stream, blocking) {
                predecessors.extend(streams[stream].may_precede(number, operations));
            }
            if let OperationKind::Wait(event) = operation.kind
                && let Some(records) = records.get(&event)
            {
                predecessors.extend(records.may_precede(number, operations));
            }
            waits += predecessors.len();
            if waits > MOST_WAITS {
                return None;
            }
            all.push(predecessors);
        }
        for recent in streams.iter_mut().chain(records.values_mut()) {
            recent.pass(operations);
        }
        first += together.len();
    }
    Some(all)
}
