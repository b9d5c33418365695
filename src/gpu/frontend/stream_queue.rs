//! Stream queues: rules G1 and G4, and whether a stream's head has gone on to its engine.

use crate::canonical::Canonical;
use crate::time::Instant;

/// How far the operation at the head of a stream queue has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum HeadState {
    /// Not in an EE or CE queue yet (or there is no head).
    Waiting,
    /// A wait for an event whose record has not completed (E2).
    NeedsEvent,
    /// A launch latency or kernel gap holds it (L1, L2).
    NeedsTime,
    /// Free to go but for a hardware channel.
    NeedsChannel,
    /// In its EE or CE queue, or running.
    Advanced,
}

/// Stands for no operation: a run has at most 2^32 - 1, numbered from 0.
pub(super) const NONE: u32 = u32::MAX;

/// One stream and its FIFO queue of operations. Each operation knows the one behind it, so a queue is its two ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamQueue {
    head: u32,
    /// What `head_state` is about: the head, or a kernel behind it that may begin before the head has completed (PDL).
    current: u32,
    last: u32,
    pub(super) process: u32,
    /// Whose channels it takes.
    pub(super) pool: u32,
    /// Which of them it was dealt to.
    pub(super) channel: u32,
    /// Kernels submitted here that are not fully dispatched; while there are some the stream keeps its channel.
    pub(super) undispatched_kernels: u32,
    /// Whether N1 and N2 hold for it.
    pub(super) blocking: bool,
    pub(super) head_state: HeadState,
    /// Whether it has one of the channels that streams take, or has used the one that it was dealt to.
    pub(super) holds_channel: bool,
    /// No kernel goes on before: the completion of the kernel before it, and the device's gap (L2).
    pub(super) kernels_from: Instant,
    /// The same of a kernel that is launched programmatically: when the one before it has triggered, if that is
    /// earlier.
    pub(super) dependents_from: Instant,
    /// When the wait of such a kernel returns, once the kernel before it has completed.
    pub(super) released: Instant,
    /// The same of a kernel behind waits for programmatic events, once all their records have completed.
    pub(super) recorded: Instant,
    /// When an operation left the queue last at the instant of its launch.
    pub(super) left: Option<Instant>,
}

impl StreamQueue {
    /// An empty one.
    pub(super) fn new(blocking: bool, process: u32, (pool, channel): (u32, u32)) -> Self {
        Self {
            head: NONE,
            current: NONE,
            last: NONE,
            process,
            pool,
            channel,
            undispatched_kernels: 0,
            blocking,
            head_state: HeadState::Waiting,
            holds_channel: false,
            kernels_from: Instant::ZERO,
            dependents_from: Instant::ZERO,
            released: Instant::ZERO,
            recorded: Instant::ZERO,
            left: None,
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self {
            head,
            current,
            last,
            // Of what process it is, which channels it takes, and whether it is blocking, does not change.
            process: _,
            pool: _,
            channel: _,
            blocking: _,
            undispatched_kernels,
            head_state,
            holds_channel,
            kernels_from,
            dependents_from,
            released,
            recorded,
            // What order it leaves open makes no difference without choices, and with them no state is like another.
            left: _,
        } = *self;
        for end in [head, current, last] {
            to.optional((end != NONE).then_some(end), Canonical::operation);
        }
        to.value((undispatched_kernels, head_state, holds_channel));
        // What has passed holds nothing up.
        for at in [kernels_from, dependents_from, released, recorded] {
            to.future(at);
        }
    }

    /// G1: the host's call puts an operation at the end of the queue. Gives the one before it; `None`: it is the head.
    pub(super) fn push(&mut self, operation: u32) -> Option<u32> {
        let before = self.last();
        self.last = operation;
        if before.is_none() {
            self.head = operation;
            self.current = operation;
        }
        before
    }

    /// The operation at the head.
    pub(super) fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// The operation that goes on next, or went on last.
    pub(super) fn current(&self) -> Option<u32> {
        (self.current != NONE).then_some(self.current)
    }

    /// PDL: the kernel behind the present one may go on beside it.
    pub(super) fn go_beside(&mut self, next: u32) {
        self.current = next;
        self.head_state = HeadState::Waiting;
    }

    /// The operation submitted last, if it has not completed.
    pub(super) fn last(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }

    /// G4, C4: the head has completed and leaves; `next` is behind it. Gives what goes on next by that.
    pub(super) fn pop(&mut self, next: u32) -> Option<u32> {
        let was_current = self.current == self.head;
        self.head = next;
        if next == NONE {
            self.last = NONE;
        }
        if !was_current {
            return None;
        }
        self.current = next;
        self.head_state = HeadState::Waiting;
        self.current()
    }
}
