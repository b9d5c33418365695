//! Copy engines: rules C2 and C3.

use std::collections::VecDeque;

/// One copy engine and its CE queue.
#[derive(Debug, Clone, Default)]
pub(super) struct CopyEngine {
    queue: VecDeque<u32>,
    busy: bool,
}

impl CopyEngine {
    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.busy = false;
    }

    /// C1: enters at the end.
    pub(super) fn push(&mut self, operation: u32) {
        self.queue.push_back(operation);
    }

    /// C2, C3: if the engine is idle, the head is assigned to it and leaves the queue.
    pub(super) fn start_next(&mut self) -> Option<u32> {
        if self.busy {
            return None;
        }
        let next = self.queue.pop_front();
        self.busy = next.is_some();
        next
    }

    /// The copy that it was serving has completed.
    pub(super) fn complete(&mut self) {
        self.busy = false;
    }
}
