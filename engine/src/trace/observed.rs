//! What was observed elsewhere, in the form of a trace, so that it can be drawn like one.

use super::entries::{NEVER, NO_STRETCH, Wave};
use super::record::{Trace, TraceFull};
use crate::time::Instant;
use crate::workload::{OperationId, Part};

/// One observed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedBlock {
    /// The launch of the trace beside it that it belongs to.
    pub operation: OperationId,
    /// Its number.
    pub index: u32,
    /// Its SM.
    pub sm: u16,
    /// When it started.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
}

/// From when to when an operation was seen on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedSpan {
    /// Which.
    pub operation: OperationId,
    /// When it began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
}

/// What was observed of a run, on the clock of the trace beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// When operations were submitted.
    pub launches: Vec<(OperationId, Instant)>,
    /// When operations began and ended, where no blocks are known.
    pub spans: Vec<ObservedSpan>,
    /// Blocks of kernels.
    pub blocks: Vec<ObservedBlock>,
}

impl Trace {
    /// The same operations as they were `observed`: begun and ended as seen, or not at all. Of those whose launches
    /// nobody observed it is the one of this trace; waits are not known at all.
    ///
    /// # Errors
    /// [`TraceFull`] for more than 2^32 blocks.
    pub fn with_observed(&self, observed: &Observed) -> Result<Self, TraceFull> {
        let mut trace = Self::new(self.sms(), self.placement(), 0);
        trace.is_observed = true;
        trace.items.clone_from(&self.items);
        trace.operations.clone_from(&self.operations);
        for record in &mut trace.operations {
            record.first_start = NEVER;
            record.last_start = NEVER;
            record.finish = NEVER;
        }
        for &(operation, launched) in &observed.launches {
            if let Some(record) = trace.operations.get_mut(operation.index()) {
                record.launched = launched;
            }
        }
        for record in &mut trace.operations {
            // Nothing is known of its queues: as if it had not waited.
            record.reached_head = record.launched;
            record.queued = record.launched;
            record.reached_queue_head = record.launched;
        }
        let mut end = Instant::ZERO;
        let mut seen = |trace: &mut Self, operation: OperationId, from: Instant, to: Instant| {
            let Some(record) = trace.operations.get_mut(operation.index()) else { return false };
            record.first_start = record.first_start.min(from);
            let later = |known: Instant, seen: Instant| if known == NEVER { seen } else { known.max(seen) };
            record.last_start = later(record.last_start, from);
            record.finish = later(record.finish, to);
            end = end.max(to);
            true
        };
        for &ObservedSpan { operation, start: from, end: to } in &observed.spans {
            seen(&mut trace, operation, from, to);
        }
        // Those who read a trace count on the order of assignment.
        let mut in_order: Vec<&ObservedBlock> = observed.blocks.iter().collect();
        in_order.sort_by_key(|block| (block.start, block.operation, block.index));
        for block in in_order {
            if !seen(&mut trace, block.operation, block.start, block.end) {
                continue;
            }
            let parts = trace.add_parts(&[Part { sm: block.sm, room: 1, blocks: 1 }])?;
            trace.add_wave(Wave {
                operation: block.operation.0,
                first_block: block.index,
                parts,
                cursor: 0,
                stretch: NO_STRETCH,
                start: block.start,
                duration: block.end.since(block.start),
            })?;
        }
        trace.index(end);
        Ok(trace)
    }

    /// Whether it is what somebody observed elsewhere: nothing is known of its queues and waits, and more may have run
    /// at one time than the model allows.
    pub fn is_observed(&self) -> bool {
        self.is_observed
    }
}
