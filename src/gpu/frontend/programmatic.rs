//! Programmatic dependent launch: rule PDL.

use super::Frontend;
use super::stream_queue::{HeadState, NONE};
use crate::gpu::backend::BackendContext;
use crate::gpu::calendar::Latency;
use crate::gpu::observer::Observer;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, StreamId};

impl Frontend {
    /// All blocks of a kernel are assigned, and the last of them triggers, or has triggered, at `at`.
    pub(in crate::gpu) fn triggers<O: Observer>(
        &mut self,
        operation: OperationId,
        at: Instant,
        context: &mut BackendContext<'_, O>,
    ) {
        if self.is_complete(operation) {
            return;
        }
        let stream = self.operation(operation.0).stream;
        self.operation_mut(operation.0).triggered = at.saturating_add(self.pdl_latencies.0);
        if self.streams[stream.index()].current() == Some(operation.0) {
            self.go_beside_later(stream, context);
        }
    }

    /// If the kernel that went on last in a stream triggers, and the one behind it was launched for that, it goes on
    /// once the latency is over, and its launch latency (L1).
    pub(super) fn go_beside_later<O: Observer>(&mut self, stream: StreamId, context: &mut BackendContext<'_, O>) {
        let Some((triggered, next)) = self.triggered_next(stream) else { return };
        let launched = self.operation(next).launched;
        let until = triggered.max(launched.saturating_add(self.launch_latency)).max(context.now);
        context.calendar.hold(Latency { until, operation: next, since: until, is_triggered: true });
    }

    /// The kernel that may go on beside the one that went on last in a stream, and from when on.
    fn triggered_next(&self, stream: StreamId) -> Option<(Instant, u32)> {
        let queue = &self.streams[stream.index()];
        let current = self.operation(queue.current().filter(|_| queue.head_state == HeadState::Advanced)?);
        let is_next = current.triggered < Instant::MAX && current.next != NONE;
        (is_next && self.operation(current.next).is_dependent).then_some((current.triggered, current.next))
    }

    /// The latency is over: the kernel is looked at like the head of its stream.
    pub(super) fn go_beside<O: Observer>(
        &mut self,
        operation: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Option<StreamId> {
        let stream = self.operation(operation).stream;
        self.triggered_next(stream).filter(|(_, next)| *next == operation)?;
        self.streams[stream.index()].go_beside(operation);
        context.observer.reached_head(OperationId(operation), context.now);
        Some(stream)
    }

    /// An operation leaves a stream queue at `now`: what that means for a kernel behind it that was launched
    /// programmatically.
    pub(super) fn note_end(&mut self, stream: StreamId, kind: OperationKind, triggered: Instant, now: Instant) {
        let released = now.saturating_add(self.pdl_latencies.1);
        let queue = &mut self.streams[stream.index()];
        if !matches!(kind, OperationKind::Kernel(_)) {
            // It waits for kernels only, and begins behind anything else as ever.
            (queue.dependents_from, queue.released) = (queue.kernels_from, Instant::ZERO);
            return;
        }
        queue.kernels_from = now.saturating_add(self.kernel_gap);
        queue.dependents_from = queue.kernels_from.min(triggered);
        queue.released = released;
    }
}
