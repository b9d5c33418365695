//! For what each operation waited under its rule (the cause), over the whole run.

use std::collections::BTreeSet;

use super::entries::Wait;
use super::queue::{Cause, Queue, Stay, stays};
use super::record::Trace;
use super::rule::{Rule, Varying};
use super::snapshot::Present;
use crate::device::{BlockDemand, Device};
use crate::time::{Duration, Instant};
use crate::workload::OperationId;

/// A time during which an operation waited under one rule for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The operation.
    pub operation: OperationId,
    /// The rule that held it.
    pub rule: Rule,
    /// From.
    pub from: Instant,
    /// Until; `None`: it still waits for that when the run ends.
    pub to: Option<Instant>,
    /// What it waited for; `None` if that cannot be told, as in a measured run.
    pub cause: Option<Cause>,
}

/// What becomes otherwise at one instant. Ends come before beginnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    BlocksEnd,
    Leave,
    WaitEnds,
    Enter,
    BlocksBegin,
    WaitBegins,
}

/// All waits of a run, by operation and time, each divided where its cause changes: the same waits as those of
/// [`Trace::waits`](super::Trace::waits), and the same causes as those of [`Snapshot`](super::Snapshot) at each
/// instant, in one sweep.
pub fn reasons(trace: &Trace, device: &Device) -> Vec<Reason> {
    Sweep::new(trace, device).reasons()
}

/// Everything that may change a cause, in order of time.
struct Sweep<'a> {
    present: Present<'a>,
    waits: Vec<(OperationId, Wait)>,
    stays: Vec<(Queue, Stay)>,
    blocks: Vec<(BlockDemand, u16, u16)>,
    /// When, what, and the number of the wait, stay, or blocks.
    changes: Vec<(Instant, Change, usize)>,
}

impl<'a> Sweep<'a> {
    fn new(trace: &'a Trace, device: &'a Device) -> Self {
        let ids = || (0..).map(OperationId).take(trace.operations().len());
        let mut sweep = Self {
            present: Present::empty(trace, device),
            waits: ids().flat_map(|id| trace.open_waits(id).into_iter().map(move |wait| (id, wait))).collect(),
            stays: Vec::new(),
            blocks: Vec::new(),
            changes: Vec::new(),
        };
        let varying: BTreeSet<Varying> =
            sweep.waits.iter().filter_map(|(_, wait)| wait.rule.cause_varies_with()).collect();
        let matters = |queue| match queue {
            Queue::Stream(_) => varying.contains(&Varying::StreamQueues),
            Queue::Ee(..) => varying.contains(&Varying::EeQueues),
            Queue::Ce(_) | Queue::CopyEngine(_) => false,
        };
        sweep.stays = ids().flat_map(|id| stays(trace, device, id)).filter(|(queue, _)| matters(*queue)).collect();
        if varying.contains(&Varying::Sms) {
            sweep.add_blocks(trace, device);
        }
        for (number, (_, wait)) in
            sweep.waits.iter().enumerate().filter(|(_, (_, wait))| wait.rule.cause_varies_with().is_some())
        {
            sweep.changes.push((wait.from, Change::WaitBegins, number));
            sweep.changes.push((wait.to, Change::WaitEnds, number));
        }
        for (number, (_, stay)) in
            sweep.stays.iter().enumerate().filter(|(_, (_, stay))| stay.left != Some(stay.entered))
        {
            sweep.changes.push((stay.entered, Change::Enter, number));
            sweep.changes.extend(stay.left.map(|left| (left, Change::Leave, number)));
        }
        sweep.changes.sort_unstable();
        sweep
    }

    fn add_blocks(&mut self, trace: &Trace, device: &Device) {
        for id in (0..).map(OperationId).take(trace.operations().len()) {
            let Some(demand) = trace.kernel_of(id).and_then(|kernel| BlockDemand::new(&kernel.shape, device).ok())
            else {
                continue;
            };
            // What is free does not change where blocks are followed by others of the same kernel.
            for run in trace.repeated_runs(id).filter(|run| run.first.start < run.end()) {
                // Suspended blocks are on no SM.
                for time in trace.in_turn(trace.process_of_known(id), run.first.start..run.end()) {
                    self.changes.push((time.start, Change::BlocksBegin, self.blocks.len()));
                    let gap = if time.end == run.end() { device.block_gap } else { Duration::ZERO };
                    self.changes.push((time.end.saturating_add(gap), Change::BlocksEnd, self.blocks.len()));
                    self.blocks.push((demand, run.first.sm, run.first.blocks));
                }
            }
        }
    }

    fn reasons(mut self) -> Vec<Reason> {
        let never = |to: Instant| (to < Instant::MAX).then_some(to);
        let mut reasons: Vec<(usize, Reason)> = Vec::with_capacity(self.waits.len());
        for (number, (operation, wait)) in
            self.waits.iter().enumerate().filter(|(_, (_, wait))| wait.rule.cause_varies_with().is_none())
        {
            let (operation, rule) = (*operation, wait.rule);
            let cause = self.present.cause(operation, rule);
            reasons.push((number, Reason { operation, rule, from: wait.from, to: never(wait.to), cause }));
        }
        // Those that hold now and may change: the wait, since when it has had its cause, and the cause.
        let mut open: Vec<(usize, Instant, Option<Cause>)> = Vec::new();
        let changes = std::mem::take(&mut self.changes);
        for instant in changes.chunk_by(|one, next| one.0 == next.0) {
            let Some(&(at, ..)) = instant.first() else { continue };
            for &(_, change, number) in instant {
                self.apply(change, number, at, &mut open, &mut reasons);
            }
            for (number, since, cause) in &mut open {
                let (operation, wait) = &self.waits[*number];
                let now = self.present.cause(*operation, wait.rule);
                if *cause == now {
                    continue;
                }
                let before = std::mem::replace(cause, now);
                let from = std::mem::replace(since, at);
                if from < at {
                    let (operation, rule) = (*operation, wait.rule);
                    reasons.push((*number, Reason { operation, rule, from, to: Some(at), cause: before }));
                }
            }
        }
        reasons.sort_unstable_by_key(|(number, reason)| (*number, reason.from));
        reasons.into_iter().map(|(_, reason)| reason).collect()
    }

    /// One change. A wait that ends is complete; one that begins gets its cause after all changes of the instant.
    fn apply(
        &mut self,
        change: Change,
        number: usize,
        at: Instant,
        open: &mut Vec<(usize, Instant, Option<Cause>)>,
        reasons: &mut Vec<(usize, Reason)>,
    ) {
        match change {
            Change::BlocksBegin | Change::BlocksEnd => {
                let (demand, sm, blocks) = self.blocks[number];
                let Some(free) = self.present.free.get_mut(usize::from(sm)) else { return };
                if change == Change::BlocksBegin {
                    free.take(&demand, u32::from(blocks));
                } else {
                    free.give_back(&demand, u32::from(blocks));
                }
            }
            Change::Enter | Change::Leave => {
                let (queue, stay) = self.stays[number];
                if change == Change::Enter {
                    self.present.enter(queue, &stay);
                } else {
                    self.present.leave(queue, &stay);
                }
            }
            Change::WaitBegins => open.push((number, at, None)),
            Change::WaitEnds => {
                let Some(position) = open.iter().position(|(other, ..)| *other == number) else { return };
                let (_, from, cause) = open.swap_remove(position);
                let (operation, wait) = self.waits[number];
                let to = (wait.to < Instant::MAX).then_some(wait.to);
                if from < at {
                    reasons.push((number, Reason { operation, rule: wait.rule, from, to, cause }));
                }
            }
        }
    }
}
