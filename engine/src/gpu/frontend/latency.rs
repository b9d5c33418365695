//! Launch latencies, the gaps between kernels, and kernels that begin early: rules L1, L2 and PDL.

use super::Frontend;
use super::stream_queue::{HeadState, NONE};
use crate::gpu::backend::{Backend, BackendContext};
use crate::gpu::calendar::Latency;
use crate::time::Instant;
use crate::trace::{Observer, Rule};
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
        let launch_over = self.launch_latency_over(head);
        let until = launch_over.max(gap_over);
        if until > context.now {
            self.streams[stream.index()].head_state = HeadState::NeedsTime;
            let process = context.catalogue.streams()[stream.index()].process;
            let keeps_turn_of = (launch_over <= context.now).then_some(process);
            let (operation, since) = (head, context.now);
            context.calendar.hold(Latency { until, operation, since, is_triggered: false, keeps_turn_of });
        }
    }

    /// L1: when the launch latency of an operation is over; what needs no engine has none.
    #[inline]
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

// Programmatic dependent launch: rule PDL.

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
        self.triggered.insert(operation.0, at.saturating_add(self.pdl_latencies.0));
        self.note_early_record(operation.0, context);
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
        context.calendar.hold(Latency::triggered(next, until));
    }

    /// The kernel that may go on beside the one that went on last in a stream, and from when on.
    fn triggered_next(&self, stream: StreamId) -> Option<(Instant, u32)> {
        let queue = &self.streams[stream.index()];
        let current = queue.current().filter(|_| queue.head_state == HeadState::Advanced)?;
        let (triggered, next) = (self.triggered(current), self.operation(current).next);
        let is_next = triggered < Instant::MAX && next != NONE;
        (is_next && self.operation(next).is_dependent).then_some((triggered, next))
    }

    /// The latency is over: the kernel is looked at like the head of its stream.
    pub(super) fn go_beside<O: Observer>(
        &mut self,
        operation: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Option<StreamId> {
        let super::Operation { kind, stream, awaits, .. } = self.operation(operation);
        if let OperationKind::Wait(_) = kind {
            // Its record has not completed, and blocks of the kernel behind it stand until it has.
            let place = self.awaiting.iter().position(|held| held.stream == stream && held.record == awaits)?;
            let since = self.awaiting.remove(place).since.unwrap_or(context.now);
            context.observer.waited(OperationId(operation), Rule::E2, since, context.now);
            self.streams[stream.index()].head_state = HeadState::Waiting;
            self.stood_for.push((awaits, stream));
            self.operation_mut(operation).awaits = NONE;
            return Some(stream);
        }
        self.triggered_next(stream).filter(|(_, next)| *next == operation)?;
        self.streams[stream.index()].go_beside(operation);
        context.observer.reached_head(OperationId(operation), context.now);
        Some(stream)
    }

    /// If a programmatic event is recorded right behind a kernel that triggers, waits for it are over once the latency
    /// is.
    pub(super) fn note_early_record<O: Observer>(&mut self, kernel: u32, context: &mut BackendContext<'_, O>) {
        let super::Operation { kind, next: record, .. } = self.operation(kernel);
        let triggered = self.triggered(kernel);
        let is_triggered = matches!(kind, OperationKind::Kernel(_)) && triggered < Instant::MAX;
        if !is_triggered || record == NONE || !self.operation(record).is_early {
            return;
        }
        if let OperationKind::Record(event) = self.operation(record).kind
            && !context.catalogue.catalogue().is_launch_completion_event(event)
        {
            self.let_go_from(record, triggered, context);
        }
    }

    /// All blocks of a kernel have begun: waits for an event that is recorded behind it at its launch completion are
    /// over.
    pub(super) fn note_launch_completion<O: Observer>(&mut self, kernel: u32, context: &mut BackendContext<'_, O>) {
        let super::Operation { kind, next: record, .. } = self.operation(kernel);
        if matches!(kind, OperationKind::Kernel(_))
            && record != NONE
            && let OperationKind::Record(event) = self.operation(record).kind
            && context.catalogue.catalogue().is_launch_completion_event(event)
        {
            self.let_go_from(record, context.now, context);
        }
    }

    /// Waits for a record that has not completed are over from `at` on.
    fn let_go_from<O: Observer>(&mut self, record: u32, at: Instant, context: &mut BackendContext<'_, O>) {
        self.triggered.insert(record, at);
        for held in self.awaiting.iter().filter(|held| held.record == record) {
            self.let_go_later(held.stream, at, context);
        }
    }

    /// The head of a stream waits for a record of a programmatic event, before which a kernel triggers.
    pub(super) fn let_go_later<O: Observer>(
        &self,
        stream: StreamId,
        triggered: Instant,
        context: &mut BackendContext<'_, O>,
    ) {
        if let Some(wait) = self.streams[stream.index()].current() {
            let until = triggered.max(context.now);
            context.calendar.hold(Latency::triggered(wait, until));
        }
    }

    /// A wait for `record` is submitted.
    pub(super) fn note_early_wait(&mut self, wait: u32, record: u32) {
        if self.operation(wait).is_early && !self.is_complete(OperationId(record)) {
            self.awaited_early.entry(record).or_default().push(wait);
        }
    }

    /// A record has completed at `now`: blocks that stand for it go on once the latency is over, and so do those behind
    /// waits for it that are not over yet.
    pub(super) fn note_end_of_record(&mut self, record: u32, now: Instant) {
        let Some(waits) = self.awaited_early.remove(&record) else { return };
        let at = now.saturating_add(self.pdl_latencies.1);
        for wait in waits {
            // One that was let go may be over.
            if !self.is_complete(OperationId(wait)) {
                self.triggered.insert(wait, at);
            }
        }
        let (over, stood_for) = std::mem::take(&mut self.stood_for).into_iter().partition(|(of, _)| *of == record);
        self.stood_for = stood_for;
        let over: Vec<(u32, StreamId)> = over;
        for (_, stream) in over {
            let is_last = self.stood_for.iter().all(|(_, other)| *other != stream);
            let queue = &mut self.streams[stream.index()];
            queue.recorded = queue.recorded.max(at);
            if let Some(head) = queue.head().filter(|_| is_last) {
                self.released.push((OperationId(head), queue.recorded));
            }
        }
    }

    /// An operation leaves a stream queue at `now`: what that means for a kernel behind it that was launched
    /// programmatically.
    #[inline]
    pub(super) fn note_end(&mut self, stream: StreamId, kind: OperationKind, triggered: Instant, now: Instant) {
        let released = now.saturating_add(self.pdl_latencies.1);
        let queue = &mut self.streams[stream.index()];
        if let OperationKind::Wait(_) = kind {
            // That of a programmatic event whose record had not completed when it was submitted, and now has.
            let recorded = Some(triggered).filter(|&at| at < Instant::MAX);
            queue.recorded = queue.recorded.max(recorded.unwrap_or(Instant::ZERO));
        } else {
            queue.recorded = Instant::ZERO;
            self.stood_for.retain(|(_, of)| *of != stream);
        }
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
