//! Programmatic dependent launch (PDL): blocks that wait and trigger, and kernels that begin beside the one before.

use std::collections::VecDeque;

use gpusched::workload::{OperationKind, Programmatic};

use super::gpu::{ReferenceGpu, Running};

impl ReferenceGpu<'_> {
    fn programmatic(&self, operation: usize) -> Programmatic {
        match self.operations[operation].kind {
            OperationKind::Kernel(kernel) => self.scenario.kernels()[kernel.index()].programmatic(),
            _ => Programmatic::NONE,
        }
    }

    /// What stands before an operation in its stream, whether or not it has completed.
    pub(super) fn before(&self, operation: usize) -> Option<usize> {
        let stream = self.operations[operation].stream;
        (0..operation).rev().find(|&other| self.operations[other].stream == stream)
    }

    /// Whether an event is recorded or waited for that is recorded once the kernel before its record has triggered, or
    /// all blocks of that have begun.
    pub(super) fn is_programmatic(&self, kind: OperationKind) -> bool {
        let of_event = |event| self.scenario.catalogue.is_programmatic_event(event);
        matches!(kind, OperationKind::Record(event) | OperationKind::Wait(event) if of_event(event))
            || self.is_at_launch_completion(kind)
    }

    fn is_at_launch_completion(&self, kind: OperationKind) -> bool {
        let of_event = |event| self.scenario.catalogue.is_launch_completion_event(event);
        matches!(kind, OperationKind::Record(event) | OperationKind::Wait(event) if of_event(event))
    }

    /// When the wait of a dependent kernel's blocks returns, as far as that is known.
    fn returns_at(&self, operation: usize) -> Option<u64> {
        let latency = self.scenario.device().pdl_wait_latency.as_ns();
        let before = self.before(operation).filter(|&before| self.is_kernel(before));
        if let Some(before) = before {
            return Some(self.operations[before].finish? + latency);
        }
        // Records for which waits right before it are.
        let (mut returns_at, mut at) = (0, operation);
        while let Some(before) = self.before(at)
            && matches!(self.operations[before].kind, OperationKind::Wait(_))
        {
            if let Some(record) = self.operations[before].stands_for {
                returns_at = returns_at.max(self.operations[record].finish? + latency);
            }
            at = before;
        }
        Some(returns_at)
    }

    fn is_kernel(&self, operation: usize) -> bool {
        matches!(self.operations[operation].kind, OperationKind::Kernel(_))
    }

    /// How much of a block of `time` is left where it waits, and where it triggers.
    pub(super) fn points_of_block(programmatic: Programmatic, time: u64) -> (Option<u64>, Option<u64>) {
        let duration = gpusched::time::Duration::from_ns(time);
        let wait = programmatic.is_dependent.then(|| time - programmatic.wait.of(duration).as_ns());
        (wait, programmatic.trigger.map(|trigger| time - trigger.of(duration).as_ns()))
    }

    /// Whether a block stands at its wait.
    pub(super) fn stands(&self, running: &Running) -> bool {
        running.sync.since.is_some()
            || running.wait_left == Some(running.left)
                && self.returns_at(running.operation).is_none_or(|at| at > self.now)
    }

    /// When next something happens to a block: it comes to its wait, leaves it, triggers or ends.
    pub(super) fn next_of_block(&self, running: &Running) -> Option<u64> {
        if running.sync.since.is_some() {
            return None;
        }
        if let Some(point_left) = self.next_point(running) {
            return Some(self.now + running.left - point_left);
        }
        if self.stands(running) {
            return self.returns_at(running.operation);
        }
        let points = [running.wait_left, running.trigger_left, Some(0)];
        let ahead = points.into_iter().flatten().filter(|&point| point < running.left);
        ahead.max().map_or(Some(self.now), |point| Some(self.now + running.left - point))
    }

    /// When a block would end if nothing changed but that its wait returns, right now if nobody knows when.
    pub(super) fn end_if_it_went_on(&self, running: &Running) -> u64 {
        if running.sync.since.is_some() {
            return self.now + 1 + running.left;
        }
        match running.wait_left.filter(|&wait_left| running.left >= wait_left) {
            Some(wait_left) => {
                let returns_at = self.returns_at(running.operation).unwrap_or(self.now + 1);
                (self.now + running.left - wait_left).max(returns_at) + wait_left
            }
            None => self.now + running.left,
        }
    }

    /// Blocks that have come to their trigger.
    pub(super) fn note_triggers(&mut self) {
        for index in 0..self.running.len() {
            let running = self.running[index];
            let Programmatic { trigger, wait, is_dependent } = self.programmatic(running.operation);
            let behind_wait = is_dependent && trigger.is_some_and(|trigger| wait <= trigger);
            let has_come = running.trigger_left.is_some_and(|point| running.left <= point);
            if has_come && !(behind_wait && self.stands(&running)) {
                self.running[index].trigger_left = None;
                self.operations[running.operation].triggers += 1;
                self.operations[running.operation].last_trigger = self.now;
            }
        }
    }

    /// A block that ends has triggered, also where its wait has returned only now. With the last block its kernel is
    /// over, and nothing begins beside that.
    pub(super) fn note_end_of_block(&mut self, done: &Running) {
        let has_more = self.running.iter().any(|running| running.operation == done.operation)
            || self.operations[done.operation].last_start.is_none();
        if done.trigger_left.is_some() && has_more {
            self.operations[done.operation].triggers += 1;
            self.operations[done.operation].last_trigger = self.now;
        }
    }

    /// When a kernel may begin beside the one before it, if that has triggered.
    pub(super) fn begins_beside_from(&self, operation: usize) -> Option<u64> {
        let before = self.before(operation).filter(|_| self.programmatic(operation).is_dependent)?;
        self.known_to_have_triggered(before)
    }

    /// When it is known that a kernel has triggered.
    fn known_to_have_triggered(&self, before: usize) -> Option<u64> {
        let OperationKind::Kernel(kernel) = self.operations[before].kind else { return None };
        let blocks = self.scenario.kernels()[kernel.index()].blocks as usize;
        let all_triggered = self.operations[before].triggers == blocks;
        let device = self.scenario.device();
        let from = self.operations[before].last_trigger + device.pdl_trigger_latency.as_ns();
        all_triggered.then_some(from)
    }

    /// The last operation of a stream that went on or may go on next.
    pub(super) fn current(&self, queue: &VecDeque<usize>) -> Option<usize> {
        let beside = queue.iter().copied().filter(|&operation| self.operations[operation].is_beside).max();
        beside.or_else(|| queue.front().copied())
    }

    /// Kernels that may go on beside the one before them, and from when on.
    fn to_go_beside(&self) -> Vec<(u64, usize)> {
        let behind_current = self.streams.iter().filter_map(|queue| {
            let current = self.current(queue).filter(|&current| self.operations[current].queued.is_some())?;
            let next = queue.iter().copied().find(|&operation| operation > current)?;
            let launched = self.launch_latency_over(next);
            Some((self.begins_beside_from(next)?.max(launched), next))
        });
        behind_current.collect()
    }

    /// Waits for programmatic events that may be let go, and from when on.
    fn to_let_go(&self) -> Vec<(u64, usize)> {
        let heads = self.streams.iter().filter_map(|queue| queue.front().copied());
        let held = heads.filter(|&head| self.is_programmatic(self.operations[head].kind) && !self.is_recorded(head));
        let triggered = |wait: usize| {
            let record = self.operations[wait].awaits?;
            let before = self.operations[record].behind?;
            if self.is_at_launch_completion(self.operations[wait].kind) {
                return self.operations[before].last_start.filter(|_| self.is_kernel(before));
            }
            self.known_to_have_triggered(before)
        };
        held.filter_map(|wait| Some((triggered(wait)?, wait))).collect()
    }

    /// When next a kernel goes on beside the one before it, or behind a wait.
    pub(super) fn next_beside(&self) -> Option<u64> {
        let all = self.to_go_beside().into_iter().chain(self.to_let_go());
        all.map(|(from, _)| from.max(self.now)).min()
    }

    /// Lets them; behind a wait that is let go there may be another one that may.
    pub(super) fn begin_beside(&mut self) {
        let now = self.now;
        loop {
            let due: Vec<usize> =
                self.to_go_beside().into_iter().filter(|&(from, _)| from <= now).map(|(_, next)| next).collect();
            for &operation in &due {
                self.operations[operation].is_beside = true;
                self.operations[operation].reached_head.get_or_insert(now);
            }
            let let_go: Vec<usize> =
                self.to_let_go().into_iter().filter(|&(from, _)| from <= now).map(|(_, wait)| wait).collect();
            for &wait in &let_go {
                self.operations[wait].is_let_go = true;
            }
            if due.is_empty() && let_go.is_empty() {
                return;
            }
            self.promote();
        }
    }
}
