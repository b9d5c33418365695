//! Who may go on from a stream queue to its EE or CE queue: rules G2, A1, C1, N1, N2, and hardware channels.

use super::engine::Gpu;
use super::simulation::GpuEvent;
use super::stream_queue::HeadState;
use crate::workload::{OperationId, OperationKind, StreamId};

impl Gpu {
    /// Lets every stream's head go on that may, after the queues of `streams` changed.
    ///
    /// Operations that become ready together enter their queues in launch order. A memset has no duration and needs
    /// no engine: it completes as soon as it may advance, which may make further operations ready at once.
    pub(super) fn promote(&mut self, mut streams: Vec<StreamId>) {
        let mut ready = std::mem::take(&mut self.scratch_ready);
        let mut held = std::mem::take(&mut self.scratch_held);
        while let Some(stream) = streams.pop() {
            let Some(head) = self.streams[stream.0 as usize].head() else { continue };
            if self.streams[stream.0 as usize].head_state != HeadState::Waiting {
                continue;
            }
            if !self.may_advance(stream, head) {
                held.push(stream);
                continue;
            }
            self.streams[stream.0 as usize].head_state = HeadState::Advanced;
            if self.trace.operations[head as usize].kind == OperationKind::Memset {
                let record = &mut self.trace.operations[head as usize];
                record.queued = self.now;
                record.first_start = self.now;
                record.last_start = self.now;
                self.leave_stream(stream, head, &mut streams);
            } else {
                ready.push(head);
            }
        }
        // Not before all memsets are done: one of them may have set free what was held before.
        for stream in held.drain(..) {
            if self.streams[stream.0 as usize].head_state == HeadState::Waiting {
                ready.extend(self.give_channel_back(stream));
            }
        }
        self.scratch_held = held;
        ready.sort_unstable();
        for operation in ready.drain(..) {
            self.enter_engine_queue(operation);
        }
        self.scratch_ready = ready;
        self.scratch_streams = streams;
    }

    /// G4, C4: the completed head leaves its stream queue; `affected` gets the streams that this may set free.
    pub(super) fn leave_stream(&mut self, stream: StreamId, operation: u32, affected: &mut Vec<StreamId>) {
        self.trace.operations[operation as usize].finish = self.now;
        self.count_completed();
        self.events.push(GpuEvent::Completed(OperationId(operation)));
        if let Some(next) = self.streams[stream.0 as usize].pop() {
            self.trace.operations[next as usize].reached_head = self.now;
        }
        affected.push(stream);
        if stream == StreamId::NULL {
            affected.extend_from_slice(&self.blocking_streams);
        } else if self.streams[stream.0 as usize].spec.blocking {
            affected.push(StreamId::NULL);
        }
    }

    /// Rules N1 and N2 for `head`, the operation at the head of `stream`.
    fn may_advance(&self, stream: StreamId, head: u32) -> bool {
        let empty_or_later = |other: StreamId| self.streams[other.0 as usize].head().is_none_or(|first| first > head);
        if stream == StreamId::NULL {
            // N1.
            self.blocking_streams.iter().all(|&other| empty_or_later(other))
        } else if self.streams[stream.0 as usize].spec.blocking {
            // N2.
            empty_or_later(StreamId::NULL)
        } else {
            true
        }
    }

    /// G2 and A1 for kernels, C1 for copies.
    fn enter_engine_queue(&mut self, operation: u32) {
        let record = &self.trace.operations[operation as usize];
        match record.kind {
            OperationKind::Copy(copy) => {
                self.note_queued(operation);
                let engine = self.copy_engine_of(copy);
                self.copy_engines[engine].push(operation);
            }
            _ => self.enter_ee_queue(record.stream, operation),
        }
    }

    /// G2, A1, once the stream has a channel.
    pub(super) fn enter_ee_queue(&mut self, stream: StreamId, operation: u32) {
        let queue = &mut self.streams[stream.0 as usize];
        if !queue.holds_channel {
            if let Some(free) = &mut self.free_channels {
                if *free == 0 {
                    queue.head_state = HeadState::NeedsChannel;
                    self.channel_queue.push_back((operation, self.now));
                    return;
                }
                *free -= 1;
            }
            queue.holds_channel = true;
        }
        queue.head_state = HeadState::Advanced;
        let level = queue.level;
        let is_head = self.ee_queues[level].push(operation);
        self.note_queued(operation);
        if is_head {
            self.trace.operations[operation as usize].reached_queue_head = self.now;
        }
    }

    fn note_queued(&mut self, operation: u32) {
        let record = &mut self.trace.operations[operation as usize];
        record.queued = self.now;
        record.queue_order = self.queue_entries;
        self.queue_entries += 1;
    }

    /// A stream keeps its channel until its last kernel is fully dispatched (Bakita and Anderson, RTAS 2024). It also
    /// gives it back while N1 or N2 hold its next kernel: otherwise the kernel that it waits for could itself be
    /// waiting for the channel, forever.
    ///
    /// Whoever waits longest for a channel takes it: that kernel is returned and may enter its EE queue.
    #[must_use]
    pub(super) fn give_channel_back(&mut self, stream: StreamId) -> Option<u32> {
        let queue = &mut self.streams[stream.0 as usize];
        let free = self.free_channels.as_mut()?;
        if !std::mem::take(&mut queue.holds_channel) {
            return None;
        }
        let Some((operation, since)) = self.channel_queue.pop_front() else {
            *free += 1;
            return None;
        };
        self.trace.note_wait(operation, crate::trace::Rule::Channel, since, self.now);
        let stream = self.trace.operations[operation as usize].stream;
        self.streams[stream.0 as usize].holds_channel = true;
        Some(operation)
    }
}
