//! What is recorded of a submitted operation.

use crate::time::{Duration, Instant};
use crate::workload::{OperationKind, Origin, StreamId};

/// One operation and the instants of its life.
///
/// For kernels: launched (G1) <= head of its stream queue <= queued in the EE queue (G2) <= head of the EE queue
/// <= first block assigned <= last block assigned (G3) <= finished (G4). For copies likewise, with C1 to C4.
/// An instant that was not reached before the run ended is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRecord {
    /// What it is.
    pub kind: OperationKind,
    /// Where it was submitted.
    pub stream: StreamId,
    /// Who submitted it.
    pub origin: Origin,
    /// Counts entries into EE and CE queues.
    pub(super) queue_order: u32,
    pub(super) launched: Instant,
    pub(super) reached_head: Instant,
    pub(super) queued: Instant,
    pub(super) reached_queue_head: Instant,
    pub(super) first_start: Instant,
    pub(super) last_start: Instant,
    pub(super) finish: Instant,
}

/// Stands for "not reached" in the fields of a record.
pub(crate) const NEVER: Instant = Instant::MAX;

fn reached(instant: Instant) -> Option<Instant> {
    (instant != NEVER).then_some(instant)
}

impl OperationRecord {
    pub(super) fn new(kind: OperationKind, stream: StreamId, origin: Origin, launched: Instant) -> Self {
        Self {
            kind,
            stream,
            origin,
            queue_order: u32::MAX,
            launched,
            reached_head: NEVER,
            queued: NEVER,
            reached_queue_head: NEVER,
            first_start: NEVER,
            last_start: NEVER,
            finish: NEVER,
        }
    }

    /// The host's call (G1).
    pub fn launched(&self) -> Instant {
        self.launched
    }

    /// It reached the head of its stream queue.
    pub fn reached_head(&self) -> Option<Instant> {
        reached(self.reached_head)
    }

    /// It entered its EE or CE queue (G2, C1).
    pub fn queued(&self) -> Option<Instant> {
        reached(self.queued)
    }

    /// Its place in the order in which operations entered EE and CE queues; meaningless before it is queued.
    pub fn queue_order(&self) -> u32 {
        self.queue_order
    }

    /// It reached the head of its EE queue; copies have none of this.
    pub fn reached_queue_head(&self) -> Option<Instant> {
        reached(self.reached_queue_head)
    }

    /// Its first block was assigned (dispatched), or the copy began.
    pub fn first_start(&self) -> Option<Instant> {
        reached(self.first_start)
    }

    /// Its last block was assigned (fully dispatched, G3), or the copy began (C3).
    pub fn last_start(&self) -> Option<Instant> {
        reached(self.last_start)
    }

    /// All its blocks, or the copy, had completed (G4, C4).
    pub fn finish(&self) -> Option<Instant> {
        reached(self.finish)
    }

    /// Response time: finish minus launch.
    pub fn response(&self) -> Option<Duration> {
        self.finish().map(|finish| finish.since(self.launched))
    }
}
