//! Launch latencies and the gaps between kernels: rules L1 and L2.

use super::Frontend;
use super::stream_queue::HeadState;
use crate::gpu::backend::{Backend, BackendContext};
use crate::gpu::calendar::Latency;
use crate::time::Instant;
use crate::trace::Observer;
use crate::trace::Rule;
use crate::workload::{OperationId, OperationKind, StreamId};

impl Frontend {
    /// An operation becomes the head of its stream queue, where a latency or gap may hold it for some time.
    pub(super) fn become_head<O: Observer>(
        &mut self,
        stream: StreamId,
        head: u32,
        context: &mut BackendContext<'_, O>,
    ) {
        context.observer.reached_head(OperationId(head), context.now);
        let queue = &self.streams[stream.index()];
        let operation = self.operation(head);
        let gap_over = match operation.kind {
            OperationKind::Kernel(_) if operation.is_dependent => queue.dependents_from,
            OperationKind::Kernel(_) => queue.kernels_from,
            _ => Instant::ZERO,
        };
        let until = self.launch_latency_over(head).max(gap_over);
        if until > context.now {
            self.streams[stream.index()].head_state = HeadState::NeedsTime;
            context.calendar.hold(Latency { until, operation: head, since: context.now, is_triggered: false });
        }
    }

    /// L1: when the launch latency of an operation is over; what needs no engine has none.
    fn launch_latency_over(&self, operation: u32) -> Instant {
        let operation = self.operation(operation);
        if operation.kind.is_instant() { Instant::ZERO } else { operation.launched.saturating_add(self.launch_latency) }
    }

    /// Lets go on what no latency or gap holds any more.
    pub(in crate::gpu) fn latencies_over<O: Observer>(
        &mut self,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        // Behind a wait that is let go there may be another one whose trigger is past.
        while let Some(mut next) = context.calendar.pop_latency(context.now) {
            let mut affected = std::mem::take(&mut self.scratch_streams);
            loop {
                if next.is_triggered {
                    affected.extend(self.go_beside(next.operation, context));
                } else {
                    self.note_latency(next, context.now, next.until, context);
                    let stream = self.operation(next.operation).stream;
                    self.streams[stream.index()].head_state = HeadState::Waiting;
                    affected.push(stream);
                }
                match context.calendar.pop_latency(context.now) {
                    Some(other) => next = other,
                    None => break,
                }
            }
            self.promote(affected, backend, context);
        }
    }

    /// The run is over: what a latency or gap still holds then is held until now, which is for good.
    pub(super) fn close_latencies<O: Observer>(&self, context: &mut BackendContext<'_, O>) {
        while let Some(latency) = context.calendar.pop_latency(Instant::MAX) {
            // Only a horizon ends a run while something is left to happen.
            if !latency.is_triggered {
                self.note_latency(latency, context.horizon, Instant::MAX, context);
            }
        }
    }

    /// Tells the observer: first the launch latency, then the gap, of which the last until `to`. It is `now`.
    fn note_latency<O: Observer>(
        &self,
        latency: Latency,
        now: Instant,
        to: Instant,
        context: &mut BackendContext<'_, O>,
    ) {
        let operation = OperationId(latency.operation);
        let launch_over = self.launch_latency_over(latency.operation);
        if launch_over >= latency.until || launch_over > now {
            context.observer.waited(operation, Rule::L1, latency.since, to);
            return;
        }
        let gap_from = launch_over.max(latency.since);
        context.observer.waited(operation, Rule::L1, latency.since, gap_from);
        context.observer.waited(operation, Rule::L2, gap_from, to);
    }
}
