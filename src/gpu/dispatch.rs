//! Assigning copies to engines and blocks to SMs: rules C2, C3, X1, A2, G3.

use super::calendar::{Event, Phase};
use super::engine::Gpu;
use super::simulation::{GpuEvent, RunError};
use crate::trace::Rule;
use crate::workload::{OperationId, OperationKind};

impl Gpu {
    /// Starts what may start at this instant.
    pub(super) fn dispatch(&mut self) -> Result<(), RunError> {
        self.start_copies()?;
        self.dispatch_kernels()
    }

    /// C2, C3: every idle copy engine takes the head of its queue.
    fn start_copies(&mut self) -> Result<(), RunError> {
        for engine in 0..self.copy_engines.len() {
            let Some(operation) = self.copy_engines[engine].start_next() else { continue };
            let record = &mut self.trace.operations[operation as usize];
            record.first_start = self.now;
            record.last_start = self.now;
            let OperationKind::Copy(copy) = record.kind else { continue };
            let end = self
                .now
                .checked_add(self.copy_durations[copy.0 as usize])
                .ok_or(RunError::TimeOverflow { operation: OperationId(operation) })?;
            let sequence = self.next_sequence();
            self.calendar.push(Event::Copy(operation), end, Phase::Completion, sequence);
        }
        Ok(())
    }

    /// A2: the EE queues in order of priority; X1: only their heads; until one of them cannot go on.
    fn dispatch_kernels(&mut self) -> Result<(), RunError> {
        let mut level = 0;
        while level < self.ee_queues.len() {
            let Some(head) = self.ee_queues[level].head() else {
                level += 1;
                continue;
            };
            if let Some(rule) = self.assign_blocks(head)? {
                self.note_blocked(level, Some((head, rule)));
                self.skip_cycles(head)?;
                self.note_lower_levels(level);
                return Ok(());
            }
            self.note_blocked(level, None);
            // G3.
            if let Some(next) = self.ee_queues[level].pop() {
                self.trace.operations[next as usize].reached_queue_head = self.now;
            }
            self.events.push(GpuEvent::FullyDispatched(OperationId(head)));
            let stream = self.trace.operations[head as usize].stream;
            let queue = &mut self.streams[stream.0 as usize];
            queue.undispatched_kernels -= 1;
            if queue.undispatched_kernels == 0
                && let Some(next) = self.give_channel_back(stream)
            {
                self.enter_ee_queue(self.trace.operations[next as usize].stream, next);
                // The channel may have gone to a stream of higher priority.
                level = 0;
            }
        }
        Ok(())
    }

    /// A2 holds the heads of all EE queues below `level`.
    fn note_lower_levels(&mut self, level: usize) {
        for lower in level + 1..self.ee_queues.len() {
            let head = self.ee_queues[lower].head();
            self.note_blocked(lower, head.map(|head| (head, Rule::A2)));
        }
    }

    /// Keeps account of why the head of an EE queue waits, and since when.
    fn note_blocked(&mut self, level: usize, why: Option<(u32, Rule)>) {
        let queue = &mut self.ee_queues[level];
        if queue.blocked.map(|(head, rule, _)| (head, rule)) == why {
            return;
        }
        if let Some((head, rule, since)) = queue.blocked.take() {
            self.trace.note_wait(head, rule, since, self.now);
        }
        queue.blocked = why.map(|(head, rule)| (head, rule, self.now));
    }
}
