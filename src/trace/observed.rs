//! Blocks that were observed elsewhere, in the form of a trace, so that they can be drawn like one.

use super::operation::NEVER;
use super::record::{Trace, TraceFull};
use super::wave::{NO_STRETCH, Wave};
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

impl Trace {
    /// The same launches with other blocks: those that were `observed`, on a clock that starts at `zero` of this
    /// trace. Of operations without observed blocks only the launch is known; waits are not known at all.
    ///
    /// # Errors
    /// [`TraceFull`] for more than 2^32 blocks.
    pub fn with_observed_blocks(&self, zero: Instant, observed: &[ObservedBlock]) -> Result<Self, TraceFull> {
        let mut trace = Self::new(self.sms(), self.placement(), 0);
        trace.items.clone_from(&self.items);
        trace.operations.clone_from(&self.operations);
        for record in &mut trace.operations {
            record.launched = Instant::from_ns(record.launched.since(zero).as_ns());
            // Nothing is known of its queues: as if it had not waited.
            record.reached_head = record.launched;
            record.queued = record.launched;
            record.reached_queue_head = record.launched;
            record.first_start = NEVER;
            record.last_start = NEVER;
            record.finish = NEVER;
        }
        let mut end = Instant::ZERO;
        // Those who read a trace count on the order of assignment.
        let mut in_order: Vec<&ObservedBlock> = observed.iter().collect();
        in_order.sort_by_key(|block| (block.start, block.operation, block.index));
        for block in in_order {
            let Some(record) = trace.operations.get_mut(block.operation.0 as usize) else { continue };
            record.first_start = record.first_start.min(block.start);
            let later = |known: Instant, seen: Instant| if known == NEVER { seen } else { known.max(seen) };
            record.last_start = later(record.last_start, block.start);
            record.finish = later(record.finish, block.end);
            end = end.max(block.end);
            let parts = trace.add_parts(&[Part { sm: block.sm, room: 1, blocks: 1 }])?;
            trace.add_wave(Wave {
                operation: block.operation.0,
                first_block: block.index,
                blocks: 1,
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
}
