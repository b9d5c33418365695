//! What the reference simulator reports.

use std::collections::BTreeMap;

use gpusched::trace::Rule;
use gpusched::workload::{OperationKind, StreamId};

use super::gpu::ReferenceGpu;
use super::threads::Threads;

/// One operation; instants in ns.
#[derive(Debug, Clone)]
pub(crate) struct ReferenceOperation {
    pub(crate) kind: OperationKind,
    /// The record that a wait for an event is for.
    pub(crate) awaits: Option<usize>,
    /// PDL: that record, if its event is programmatic and it had not completed when the wait was launched; and whether
    /// the wait was let go as the kernel before the record has triggered.
    pub(crate) stands_for: Option<usize>,
    pub(crate) is_let_go: bool,
    /// Of a record what stood before it in its stream when it was launched, and had not completed.
    pub(crate) behind: Option<usize>,
    pub(crate) stream: StreamId,
    pub(crate) thread: usize,
    pub(crate) iteration: u64,
    pub(crate) launched: u64,
    pub(crate) reached_head: Option<u64>,
    pub(crate) queued: Option<u64>,
    /// How many operations had entered an EE or CE queue before it.
    pub(crate) entry: Option<usize>,
    pub(crate) first_start: Option<u64>,
    /// When its last block was assigned.
    pub(crate) last_start: Option<u64>,
    pub(crate) finish: Option<u64>,
    /// SM, start and end of every block in the order of assignment; of one that has not ended, when it would if from
    /// now on it ran.
    pub(crate) blocks: Vec<(u32, u64, u64)>,
    /// PDL: whether it went on beside the kernel before it in its stream; how many of its blocks have triggered, and
    /// when the last of them did.
    pub(crate) is_beside: bool,
    pub(crate) triggers: usize,
    pub(crate) last_trigger: u64,
    /// Which rule held it, from when to when.
    pub(crate) waits: Vec<(Rule, u64, u64)>,
}

impl ReferenceOperation {
    pub(super) fn launched(kind: OperationKind, stream: StreamId, (thread, iteration): (usize, u64), at: u64) -> Self {
        Self {
            kind,
            awaits: None,
            stands_for: None,
            is_let_go: false,
            behind: None,
            stream,
            thread,
            iteration,
            launched: at,
            reached_head: None,
            queued: None,
            entry: None,
            first_start: None,
            last_start: None,
            finish: None,
            blocks: Vec::new(),
            is_beside: false,
            triggers: 0,
            last_trigger: 0,
            waits: Vec::new(),
        }
    }
}

/// One iteration of a host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReferenceIteration {
    pub(crate) thread: usize,
    pub(crate) iteration: u64,
    /// From when its response counts.
    pub(crate) released: u64,
    pub(crate) start: u64,
    /// Barriers at the end aside.
    pub(crate) end: Option<u64>,
}

/// A whole run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// In launch order.
    pub(crate) operations: Vec<ReferenceOperation>,
    /// In the order in which they began.
    pub(crate) iterations: Vec<ReferenceIteration>,
    /// Whose turn it was on the SMs, from when to when.
    pub(crate) turns: Vec<(usize, u64, u64)>,
    /// The last instant at which something happened, or the horizon if something was left to happen.
    pub(crate) end: u64,
    /// Whether nothing was left to happen.
    pub(crate) done: bool,
    /// When blocks waited while they ran.
    pub(crate) stands: Vec<ReferenceStand>,
    /// Whether nothing was left to happen but that contexts take turns.
    pub(crate) turns_for_good: bool,
    /// Whether a host has not ended.
    pub(crate) host_waits: bool,
    /// Whether a counter was lowered that somebody reached, or might have, at the same instant: what is not simulated.
    pub(crate) takes_back: bool,
}

/// A block that waited at a point of its kernel's synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReferenceStand {
    pub(crate) operation: usize,
    pub(crate) block: usize,
    pub(crate) point: usize,
    pub(crate) from: u64,
    /// `None`: it still does.
    pub(crate) to: Option<u64>,
}

impl Outcome {
    pub(super) fn of(mut gpu: ReferenceGpu<'_>, threads: Threads<'_>, end: u64, done: bool) -> Self {
        gpu.tell_of_unfinished_blocks();
        let turns = gpu.compute.turns_until(end);
        let turns_for_good = done && gpu.takes_turns() && gpu.has_running();
        let (stands, host_waits, takes_back) = (gpu.all_stands(), threads.one_waits(), gpu.takes_back());
        let iterations = threads.iterations;
        Self {
            operations: gpu.operations,
            iterations,
            turns,
            end,
            done,
            stands,
            turns_for_good,
            host_waits,
            takes_back,
        }
    }

    /// By iteration, in their order: when all that it submitted and did had ended.
    pub(crate) fn ends(&self) -> Vec<Option<u64>> {
        let mut ends: Vec<Option<u64>> = self.iterations.iter().map(|iteration| iteration.end).collect();
        let places: BTreeMap<(usize, u64), usize> =
            (0..).zip(&self.iterations).map(|(place, one)| ((one.thread, one.iteration), place)).collect();
        for operation in &self.operations {
            let end = &mut ends[places[&(operation.thread, operation.iteration)]];
            *end = end.zip(operation.finish).map(|(end, finish)| end.max(finish));
        }
        ends
    }
}
