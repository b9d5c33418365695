//! When blocks wait for others on their SMs, by block, and what is told of that.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::time::Instant;
use crate::trace::{Cause, Rule, Stand, Trace};
use crate::workload::{OperationId, PointAction};

/// For what blocks wait while they run (rule `counter`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Awaited {
    /// That a counter is not below a value.
    Counter {
        /// The counter's name.
        counter: String,
        /// The value.
        value: u64,
    },
    /// That all blocks of their launch have come as far.
    Grid {
        /// How many these are.
        grid: u32,
    },
}

impl Awaited {
    /// As it follows "waits".
    pub fn sentence(&self) -> String {
        match self {
            Self::Counter { counter, value } => {
                Cause::Counter(counter.as_str().into(), *value).sentence(Rule::Counter).into_owned()
            }
            Self::Grid { grid } => format!("until all {grid} blocks of the grid have come as far"),
        }
    }

    /// In short, as it follows "waits for"; `is` is what a counter holds.
    pub fn in_short(&self, is: Option<u64>) -> String {
        match (self, is) {
            (Self::Counter { counter, value }, Some(is)) => format!("counter {counter}, {is} of {value}"),
            (Self::Counter { counter, value }, None) => format!("counter {counter}, {value} or more"),
            (Self::Grid { grid }, _) => format!("all {grid} blocks of its grid"),
        }
    }
}

/// Blocks of one kernel on one SM that wait for the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingBlocks {
    /// How many.
    pub blocks: u32,
    /// For what.
    #[serde(flatten)]
    pub awaited: Awaited,
    /// What the counter holds; told of the end of the run only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<u64>,
}

/// Times in which blocks wait on their SMs, by the blocks that were assigned together.
pub(crate) struct Stands<'a> {
    trace: &'a Trace,
    /// By operation and number of the first block.
    by_wave: BTreeMap<(OperationId, u32), Vec<&'a Stand>>,
}

impl<'a> Stands<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let mut by_wave: BTreeMap<_, Vec<&Stand>> = BTreeMap::new();
        for stand in trace.stands().iter().filter(|stand| stand.from < stand.to) {
            by_wave.entry((stand.operation, stand.first_block)).or_default().push(stand);
        }
        Self { trace, by_wave }
    }

    /// Those of a block, in order of time.
    pub(crate) fn of(&self, operation: OperationId, block: u32) -> &[&'a Stand] {
        let wave = self.by_wave.range(..=(operation, block)).next_back();
        let has = |stand: &&Stand| stand.operation == operation && block - stand.first_block < stand.blocks;
        wave.filter(|(_, all)| all.first().is_some_and(has)).map_or(&[], |(_, all)| all)
    }

    /// For what.
    pub(crate) fn awaited(&self, stand: &Stand) -> Option<Awaited> {
        awaited(self.trace, stand.operation, stand.point)
    }

    /// What the counter holds at the end of the run, if they wait for one.
    pub(crate) fn at_end(&self, stand: &Stand) -> Option<u64> {
        at_end(self.trace, stand.operation, stand.point)
    }

    /// What waits on each SM at an instant.
    pub(super) fn at(&self, at: Instant) -> BTreeMap<(u32, OperationId), Vec<WaitingBlocks>> {
        let mut found: BTreeMap<(u32, OperationId, u32), u32> = BTreeMap::new();
        let waits_now = |stand: &&&Stand| stand.from <= at && at < stand.to;
        let operations: BTreeSet<_> = self.by_wave.keys().map(|(operation, _)| *operation).collect();
        for (id, run) in operations.into_iter().flat_map(|id| self.trace.block_runs(id).map(move |run| (id, run))) {
            for stand in self.of(id, run.first_block).iter().filter(waits_now) {
                *found.entry((run.sm.into(), id, stand.point)).or_default() += u32::from(run.blocks);
            }
        }
        let mut on_sms: BTreeMap<_, Vec<WaitingBlocks>> = BTreeMap::new();
        for ((sm, id, point), blocks) in found {
            let Some(awaited) = awaited(self.trace, id, point) else { continue };
            let is = at_end(self.trace, id, point).filter(|_| at >= self.trace.end());
            on_sms.entry((sm, id)).or_default().push(WaitingBlocks { blocks, awaited, is });
        }
        on_sms
    }
}

fn action(trace: &Trace, operation: OperationId, point: u32) -> Option<PointAction> {
    let points = &trace.kernel_of(operation)?.synchronization()?.points;
    Some(points.get(point as usize)?.action)
}

fn at_end(trace: &Trace, operation: OperationId, point: u32) -> Option<u64> {
    match action(trace, operation, point)? {
        PointAction::Wait(wanted) => Some(trace.counter_value(wanted.counter)),
        _ => None,
    }
}

/// For what blocks of a launch wait at a point of its kernel; `None` if they do not.
pub(super) fn awaited(trace: &Trace, operation: OperationId, point: u32) -> Option<Awaited> {
    match action(trace, operation, point)? {
        PointAction::Wait(wanted) => {
            let counter = trace.counters().get(wanted.counter.index())?.to_string();
            Some(Awaited::Counter { counter, value: wanted.value })
        }
        PointAction::GridSync => Some(Awaited::Grid { grid: trace.kernel_of(operation)?.blocks }),
        PointAction::Signal(_) => None,
    }
}
