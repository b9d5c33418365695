//! Who waits for whom before it enters its EE or CE queue: stream order (G2, C1), N1, N2 and E2.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::merged_backend::Analysed;
use crate::limits::count_steps;
use crate::scenario::Scenario;
use crate::workload::{CheckedStream, EventId, OperationKind, ProcessId, StreamId};

/// Waits that may be above which nobody keeps account of them.
const MOST_WAITS: usize = 1 << 20;

/// What N1 and N2 say of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NullRule {
    /// It is the NULL stream of this process.
    Null(ProcessId),
    /// It waits for that, and that for it.
    Blocking(ProcessId),
    /// They pass it by.
    None,
}

impl NullRule {
    /// Those of all streams of a scenario.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        let rule = |(id, stream): (StreamId, &CheckedStream)| {
            if scenario.catalogue.is_null_stream(id) {
                Self::Null(stream.process)
            } else if stream.blocking {
                Self::Blocking(stream.process)
            } else {
                Self::None
            }
        };
        (0..).map(StreamId).zip(scenario.streams()).map(rule).collect()
    }

    /// Whether operations of two streams wait for each other by N1 and N2.
    pub(super) fn couples(self, other: Self) -> bool {
        match (self, other) {
            (Self::Null(one), Self::Blocking(other)) | (Self::Blocking(one), Self::Null(other)) => one == other,
            _ => false,
        }
    }
}

/// The streams whose last operation one in `stream` waits for: its own, and by N1 and N2 others.
fn waited_for(stream: StreamId, rules: &[NullRule]) -> impl Iterator<Item = usize> + '_ {
    let own = stream.index();
    (0..rules.len()).filter(move |&other| other == own || rules[own].couples(rules[other]))
}

/// For each operation, given in launch order, those that must have completed before it enters.
pub(super) fn in_this_order(operations: &[Analysed], rules: &[NullRule]) -> Vec<Vec<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; rules.len()];
    let mut records: BTreeMap<EventId, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(operations.len());
    for (number, operation) in operations.iter().enumerate() {
        let mut predecessors: Vec<usize> =
            waited_for(operation.stream, rules).filter_map(|stream| last[stream]).collect();
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
pub(super) fn in_any_order(operations: &[Analysed], rules: &[NullRule]) -> Option<Vec<Vec<usize>>> {
    let mut streams: Vec<Recent> = rules.iter().map(|_| Recent::default()).collect();
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
            for stream in waited_for(operation.stream, rules) {
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
