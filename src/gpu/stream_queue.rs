//! Stream queues: rules G1 and G4, and whether a stream's head has gone on to its engine.

use std::collections::VecDeque;

use crate::workload::StreamSpec;

/// How far the operation at the head of a stream queue has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadState {
    /// Not in an EE or CE queue yet (or there is no head).
    Waiting,
    /// Free to go but for a hardware channel.
    NeedsChannel,
    /// In its EE or CE queue, or running.
    Advanced,
}

/// One stream and its FIFO queue of operations.
#[derive(Debug, Clone)]
pub(super) struct StreamQueue {
    pub(super) spec: StreamSpec,
    /// Index of the EE queue of its priority, 0 is the highest (A1).
    pub(super) level: usize,
    /// SMs that its mask leaves, in the order of preference.
    pub(super) sms: Vec<u16>,
    /// Operations by number, the oldest first.
    queue: VecDeque<u32>,
    pub(super) head_state: HeadState,
    /// Kernels submitted here that are not fully dispatched; while there are some the stream keeps its channel.
    pub(super) undispatched_kernels: u32,
    pub(super) holds_channel: bool,
}

impl StreamQueue {
    pub(super) fn new(spec: StreamSpec, level: usize, sms: Vec<u16>) -> Self {
        Self {
            spec,
            level,
            sms,
            queue: VecDeque::new(),
            head_state: HeadState::Waiting,
            undispatched_kernels: 0,
            holds_channel: false,
        }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.head_state = HeadState::Waiting;
        self.undispatched_kernels = 0;
        self.holds_channel = false;
    }

    /// G1: the host's call puts an operation at the end of the queue. Says whether it is the head now.
    pub(super) fn push(&mut self, operation: u32) -> bool {
        self.queue.push_back(operation);
        self.queue.len() == 1
    }

    /// The operation at the head.
    pub(super) fn head(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// The operation submitted last, if it has not completed.
    pub(super) fn last(&self) -> Option<u32> {
        self.queue.back().copied()
    }

    /// G4, C4: the head has completed and leaves. Gives the new head.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.queue.pop_front();
        self.head_state = HeadState::Waiting;
        self.head()
    }
}
