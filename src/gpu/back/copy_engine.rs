//! Copy engines: rules C2 and C3.

use std::collections::VecDeque;

use crate::workload::{CopyId, OperationId};

/// One copy engine and its CE queue.
#[derive(Debug, Clone, Default)]
pub(super) struct CopyEngine {
    queue: VecDeque<(OperationId, CopyId)>,
    serving: Option<OperationId>,
}

impl CopyEngine {
    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.serving = None;
    }

    /// C1: enters at the end.
    pub(super) fn push(&mut self, operation: OperationId, copy: CopyId) {
        self.queue.push_back((operation, copy));
    }

    /// C2, C3: if the engine is idle, the head is assigned to it and leaves the queue.
    pub(super) fn start_next(&mut self) -> Option<(OperationId, CopyId)> {
        if self.serving.is_some() {
            return None;
        }
        let next = self.queue.pop_front();
        self.serving = next.map(|(operation, _)| operation);
        next
    }

    /// The copy that it was serving has completed.
    pub(super) fn complete(&mut self) -> Option<OperationId> {
        self.serving.take()
    }
}
