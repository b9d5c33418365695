//! The EE queue of one priority level.

use std::collections::VecDeque;

use crate::canonical::Canonical;
use crate::time::Instant;
use crate::trace::Rule;
use crate::workload::OperationId;

/// One EE queue, of places in the list of kernels on the GPU. A1: there is one queue for each priority, and a kernel
/// enters the one of its stream's priority.
#[derive(Debug, Clone, Default)]
pub(super) struct EeQueue {
    queue: VecDeque<u32>,
    /// Why the head has unassigned blocks, and since when.
    pub(super) blocked: Option<(OperationId, Rule, Instant)>,
}

impl EeQueue {
    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.blocked = None;
    }

    /// Writes the state; which operation is at a place, `operation` says.
    pub(super) fn write_state(&self, to: &mut Canonical, operation: impl Fn(u32) -> OperationId) {
        let Self { queue, blocked } = self;
        to.list(queue, |to, &place| to.operation(operation(place).0));
        to.optional(*blocked, |to, (head, rule, since)| {
            to.operation(head.0);
            to.value(rule);
            to.instant(since);
        });
    }

    /// G2: enters at the end. Says whether it is the head now.
    pub(super) fn push(&mut self, kernel: u32) -> bool {
        self.queue.push_back(kernel);
        self.queue.len() == 1
    }

    /// X1: the only kernel of this queue whose blocks may be assigned.
    pub(super) fn head(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// G3: the head is fully dispatched and leaves. Gives the new head.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.queue.pop_front();
        self.head()
    }
}
