//! Calls that free memory, and the calls of other threads that these hold (H1, H2).

use super::to_u32;
use crate::canonical::Canonical;
use crate::run::HeldCall;
use crate::scenario::HostThread;
use crate::time::Instant;
use crate::trace::{NEVER, Rule};
use crate::workload::{OperationId, ProcessId};

/// Who frees memory, by process; nobody can where no thread ever does.
#[derive(Debug, Default)]
pub(super) struct Frees {
    open: Vec<Option<Free>>,
    /// What was held until now, in the order in which the calls began.
    calls: Vec<HeldCall>,
    /// By thread: which of these has not returned.
    unreturned: Vec<Option<usize>>,
    forgets: bool,
}

/// A call that has not returned.
#[derive(Debug)]
struct Free {
    thread: usize,
    /// Whose calls it holds, in the order in which they came.
    held: Vec<usize>,
}

impl Frees {
    pub(super) fn new(threads: &[HostThread]) -> Self {
        let last = threads.iter().filter(|thread| thread.frees()).map(|thread| thread.process).max();
        let Some(last) = last else { return Self::default() };
        let open = (0..=last.index()).map(|_| None).collect();
        Self { open, unreturned: vec![None; threads.len()], ..Self::default() }
    }

    /// H2: a call of `thread`, in this step, waits if another thread of its process frees memory. Says whether it does.
    pub(super) fn hold(
        &mut self,
        process: ProcessId,
        (thread, iteration, step): (usize, u64, u32),
        now: Instant,
    ) -> bool {
        let Some(free) = self.open.get_mut(process.index()).and_then(Option::as_mut) else { return false };
        if free.thread == thread {
            return false;
        }
        free.held.push(thread);
        let by = free.thread;
        // Another may free memory before the call that was held comes to its turn.
        if self.unreturned[thread].is_none() {
            self.note(Rule::H2, (thread, iteration, step), by, now);
        }
        true
    }

    /// H1: a call that frees memory waits for the GPU.
    pub(super) fn begin(&mut self, process: ProcessId, call: (usize, u64, u32), now: Instant) {
        if let Some(open) = self.open.get_mut(process.index()) {
            *open = Some(Free { thread: call.0, held: Vec::new() });
            self.note(Rule::H1, call, call.0, now);
        }
    }

    /// A thread goes on: if it has freed memory, that call has returned, and those that it held may go on.
    pub(super) fn goes_on(&mut self, thread: usize, process: ProcessId, now: Instant, ready: &mut Vec<usize>) {
        let Some(open) = self.open.get_mut(process.index()) else { return };
        if let Some(free) = open.take_if(|free| free.thread == thread) {
            ready.extend(free.held);
            self.returned(thread, None, now);
        }
    }

    /// A call that was held, if it was, is made at last, and submits this.
    pub(super) fn returned(&mut self, thread: usize, operation: Option<OperationId>, now: Instant) {
        let unreturned = self.unreturned.get_mut(thread).and_then(Option::take);
        if let Some(call) = unreturned.and_then(|call| self.calls.get_mut(call)) {
            (call.to, call.operation) = (now, operation);
        }
    }

    fn note(&mut self, rule: Rule, (thread, iteration, step): (usize, u64, u32), by: usize, from: Instant) {
        if !self.forgets {
            self.unreturned[thread] = Some(self.calls.len());
            let (thread, iteration, by) = (to_u32(thread), to_u32(iteration), to_u32(by));
            self.calls.push(HeldCall { thread, iteration, step, rule, by, from, to: NEVER, operation: None });
        }
    }

    /// Forgets what was held, also from now on.
    pub(super) fn forget_calls(&mut self) {
        self.forgets = true;
        self.calls = Vec::new();
        self.unreturned.fill(None);
    }

    /// How many bytes it takes to know what was held.
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.calls)
    }

    /// Writes who frees memory and holds whom.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        // What was observed.
        let Self { open, calls: _, unreturned: _, forgets: _ } = self;
        to.list(open, |to, free| {
            to.optional(free.as_ref(), |to, Free { thread, held }| {
                to.length(*thread);
                to.list(held, |to, &thread| to.length(thread));
            });
        });
    }

    /// What was held.
    pub(super) fn into_calls(self) -> Vec<HeldCall> {
        self.calls
    }
}
