//! Who may go on from a stream queue to its EE or CE queue: rules G2, A1, C1, N1, N2, E1, E2, and hardware channels;
//! and who leaves a stream queue: G4 and C4.

use super::stream_queue::{HeadState, NONE};
use super::{Awaiting, Frontend, Process};
use crate::gpu::backend::{Backend, BackendContext};
use crate::gpu::host::GpuEvent;
use crate::time::Instant;
use crate::trace::Observer;
use crate::trace::Rule;
use crate::workload::{CounterValue, OperationId, OperationKind, StreamId};

/// What the head of a stream queue does.
enum Head {
    /// There is none, or it has gone on already.
    Nothing,
    /// It may go on: a kernel or a copy.
    Goes(u32),
    /// It may go on and needs no engine: a memset, a record (E1) or a wait for an event (E2).
    Ends(u32),
    /// N1, N2 or E2 hold it.
    Held,
}

impl Frontend {
    /// Lets the head of `stream` go on, if it may, after the queue of that stream alone changed.
    pub(super) fn promote_one<O: Observer>(
        &mut self,
        stream: StreamId,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        match self.head_of(stream, context) {
            Head::Nothing => {}
            Head::Goes(head) if !self.shares_channel(head) => self.go_on(head, backend, context),
            Head::Goes(_) | Head::Ends(_) | Head::Held => {
                let mut streams = std::mem::take(&mut self.scratch_streams);
                streams.push(stream);
                self.promote(streams, backend, context);
            }
        }
    }

    /// Lets every stream's head go on that may, after the queues of `streams` changed.
    ///
    /// Operations that become ready together are handed over in launch order. A memset, a record (E1) and a wait for
    /// an event (E2) have no duration and need no engine: each completes as soon as it may advance, which may make
    /// further operations ready at once.
    pub(super) fn promote<O: Observer>(
        &mut self,
        mut streams: Vec<StreamId>,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        let mut ready = std::mem::take(&mut self.scratch_ready);
        let mut held = std::mem::take(&mut self.scratch_held);
        while let Some(stream) = streams.pop() {
            match self.head_of(stream, context) {
                Head::Nothing => {}
                Head::Held => {
                    self.note_awaiting(stream, context);
                    held.push(stream);
                }
                Head::Goes(head) => {
                    self.streams[stream.index()].head_state = HeadState::Advanced;
                    ready.push(head);
                }
                Head::Ends(head) => {
                    self.streams[stream.index()].head_state = HeadState::Advanced;
                    let id = OperationId(head);
                    self.write_value(head, context);
                    context.observer.queued(id, None, context.now);
                    context.observer.dispatched(id, context.now);
                    context.observer.fully_dispatched(id, context.now);
                    // A wait for an event is in its channel too.
                    self.scratch_moved.push(stream);
                    self.leave_stream(stream, head, &mut streams, context);
                }
            }
        }
        // Not before all that need no engine are done: one of them may have set free what was held before.
        for stream in held.drain(..) {
            let queue = &self.streams[stream.index()];
            let is_held = match queue.head_state {
                HeadState::Waiting | HeadState::NeedsEvent => true,
                HeadState::NeedsTime => queue.current().is_some_and(|head| !self.may_advance(stream, head)),
                HeadState::NeedsChannel | HeadState::Advanced => false,
            };
            // A wait for a value is in the channel, and keeps it, unless N1 or N2 hold it.
            if is_held && !self.waits_for_value(stream) {
                ready.extend(self.give_channel_back(stream, context));
            }
        }
        self.scratch_held = held;
        self.pass_channels(&mut ready, context);
        ready.sort_unstable();
        for operation in ready.drain(..) {
            self.go_on(operation, backend, context);
        }
        self.scratch_ready = ready;
        self.scratch_streams = streams;
    }

    /// What the head of a stream queue does now.
    fn head_of<O>(&self, stream: StreamId, context: &BackendContext<'_, O>) -> Head {
        let queue = &self.streams[stream.index()];
        let Some(head) = queue.current() else { return Head::Nothing };
        match queue.head_state {
            HeadState::Waiting => {}
            // A latency or gap holds it, and so do N1 or N2.
            HeadState::NeedsTime if !self.may_advance(stream, head) => return Head::Held,
            _ => return Head::Nothing,
        }
        if self.awaits_event(head) || !self.may_advance(stream, head) || self.awaits_value(head, context).is_some() {
            Head::Held
        } else if self.operation(head).kind.is_instant() {
            Head::Ends(head)
        } else {
            Head::Goes(head)
        }
    }

    /// A kernel or copy leaves its stream queue's head for its engine.
    fn go_on<O: Observer>(&mut self, operation: u32, backend: &mut impl Backend, context: &mut BackendContext<'_, O>) {
        if let OperationKind::Kernel(_) = self.operation(operation).kind {
            self.enter_ee_queue(operation, backend, context);
        } else {
            let stream = self.operation(operation).stream;
            self.streams[stream.index()].head_state = HeadState::Advanced;
            self.hand_over(operation, backend, context);
        }
    }

    /// G4, C4: the completed head leaves its stream queue; `affected` gets the streams that this may set free.
    pub(super) fn leave_stream<O: Observer>(
        &mut self,
        stream: StreamId,
        operation: u32,
        affected: &mut Vec<StreamId>,
        context: &mut BackendContext<'_, O>,
    ) {
        let record = self.operation_mut(operation);
        record.is_complete = true;
        let (next, kind, launched) = (record.next, record.kind, record.launched);
        let triggered = self.triggered.remove(&operation).unwrap_or(Instant::MAX);
        context.observer.finished(OperationId(operation), context.now);
        self.forget_completed();
        self.events.push(GpuEvent::Completed(OperationId(operation)));
        self.note_end(stream, kind, triggered, context.now);
        let queue = &mut self.streams[stream.index()];
        debug_assert_eq!(queue.head(), Some(operation));
        if launched == context.now {
            queue.left = Some(launched);
        }
        let (goes_on, is_blocking, process) = (queue.pop(next), queue.blocking, queue.process);
        if let Some(next) = goes_on {
            if triggered < Instant::MAX && self.operation(next).is_dependent {
                // It is the head by now, which it would have been beside.
                context.calendar.forget_trigger(next);
            }
            self.become_head(stream, next, context);
            affected.push(stream);
        } else if next != NONE {
            self.released.push((OperationId(next), self.streams[stream.index()].released));
        }
        if is_blocking {
            let Process { null, blocking_streams, .. } = &self.processes[process as usize];
            if stream == *null {
                affected.extend_from_slice(blocking_streams);
            } else if self.streams[null.index()].head().is_some() {
                affected.push(*null);
            }
        }
        if matches!(kind, OperationKind::Record(_)) {
            self.note_end_of_record(operation, context.now);
            self.wake_awaiting(operation, affected, context);
        }
    }

    /// E2: whether `head` is a wait for a record that has not completed.
    fn awaits_event(&self, head: u32) -> bool {
        let awaited = self.operation(head).awaits;
        awaited != NONE && !self.is_complete(OperationId(awaited))
    }

    /// E2: a stream whose held head waits for an event is looked at again when that is recorded, and not before.
    fn note_awaiting<O: Observer>(&mut self, stream: StreamId, context: &mut BackendContext<'_, O>) {
        if let Some(head) = self.streams[stream.index()].current()
            && self.awaits_event(head)
        {
            self.streams[stream.index()].head_state = HeadState::NeedsEvent;
            let super::Operation { awaits: record, is_early, .. } = self.operation(head);
            self.awaiting.push(Awaiting { record, stream, since: is_early.then_some(context.now) });
            let triggered = self.triggered(record);
            if is_early && triggered < Instant::MAX {
                self.let_go_later(stream, triggered, context);
            }
        } else if let Some(head) = self.streams[stream.index()].current()
            && self.may_advance(stream, head)
            && self.awaits_value(head, context).is_some()
        {
            self.streams[stream.index()].head_state = HeadState::NeedsEvent;
            self.awaiting_values.push((stream, context.now));
        }
    }

    /// The value of a counter that `head` waits for, and that has not come.
    fn awaits_value<O>(&self, head: u32, context: &BackendContext<'_, O>) -> Option<CounterValue> {
        let OperationKind::WaitValue(value) = self.operation(head).kind else { return None };
        let wanted = *context.catalogue.catalogue().values().get(value.index())?;
        (!context.counters.has_reached(wanted)).then_some(wanted)
    }

    /// Whether the head of a stream waits for a value of a counter, and for nothing else.
    fn waits_for_value(&self, stream: StreamId) -> bool {
        let head = self.streams[stream.index()].current();
        head.is_some_and(|head| {
            matches!(self.operation(head).kind, OperationKind::WaitValue(_)) && self.may_advance(stream, head)
        })
    }

    /// Sets a counter, if `head` does so.
    fn write_value<O>(&self, head: u32, context: &mut BackendContext<'_, O>) {
        if let OperationKind::WriteValue(value) = self.operation(head).kind
            && let Some(written) = context.catalogue.catalogue().values().get(value.index())
        {
            context.counters.write(*written);
        }
    }

    /// Counters may have changed: streams whose head waits for a value that has come go on.
    pub(in crate::gpu) fn look_at_counters<O: Observer>(
        &mut self,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        // Whoever goes on may write, too.
        loop {
            let is_over = |&(stream, _): &(StreamId, Instant)| {
                let head = self.streams[stream.index()].current();
                head.is_none_or(|head| self.awaits_value(head, context).is_none())
            };
            let Some(place) = self.awaiting_values.iter().position(is_over) else { return };
            let (stream, since) = self.awaiting_values.remove(place);
            let queue = &mut self.streams[stream.index()];
            queue.head_state = HeadState::Waiting;
            if let Some(head) = queue.current() {
                context.observer.waited(OperationId(head), Rule::Counter, since, context.now);
            }
            self.promote(vec![stream], backend, context);
        }
    }

    /// The run is over: what waits for a value then does so for good.
    pub(super) fn close_values<O: Observer>(&self, context: &mut BackendContext<'_, O>) {
        for &(stream, since) in &self.awaiting_values {
            if let Some(head) = self.streams[stream.index()].current() {
                context.observer.waited(OperationId(head), Rule::Counter, since, Instant::MAX);
            }
        }
    }

    /// E2: a record has completed; the streams that wait for it may go on.
    fn wake_awaiting<O: Observer>(
        &mut self,
        record: u32,
        affected: &mut Vec<StreamId>,
        context: &mut BackendContext<'_, O>,
    ) {
        let streams = &mut self.streams;
        self.awaiting.retain(|held| {
            let is_over = held.record == record;
            if is_over {
                let queue = &mut streams[held.stream.index()];
                queue.head_state = HeadState::Waiting;
                affected.push(held.stream);
                if let Some(wait) = queue.current().filter(|_| held.since.is_some()) {
                    context.calendar.forget_trigger(wait);
                }
            }
            !is_over
        });
    }

    /// Rules N1 and N2 for `head`, the operation at the head of `stream`.
    fn may_advance(&self, stream: StreamId, head: u32) -> bool {
        let empty_or_later = |other: StreamId| self.streams[other.index()].head().is_none_or(|first| first > head);
        let queue = &self.streams[stream.index()];
        if !queue.blocking {
            return true;
        }
        let Process { null, blocking_streams, .. } = &self.processes[queue.process as usize];
        if stream == *null {
            // N1.
            blocking_streams.iter().all(|&other| empty_or_later(other))
        } else {
            // N2.
            empty_or_later(*null)
        }
    }

    /// G2, A1, once the stream has a channel.
    pub(super) fn enter_ee_queue<O: Observer>(
        &mut self,
        operation: u32,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        let stream = self.operation(operation).stream;
        let queue = &mut self.streams[stream.index()];
        if !queue.holds_channel {
            let pool = &mut self.pools[queue.pool as usize];
            if let Some(free) = &mut pool.free {
                if *free == 0 {
                    queue.wait_for_channel(context.now);
                    pool.queue.push(operation);
                    return;
                }
                *free -= 1;
            }
            queue.holds_channel = true;
        }
        queue.head_state = HeadState::Advanced;
        self.hand_over(operation, backend, context);
    }

    /// A stream keeps its channel until its last kernel is fully dispatched (Bakita and Anderson, RTAS 2024). It also
    /// gives it back while N1, N2 or E2 hold its next operation: otherwise the kernel that it waits for could itself be
    /// waiting for the channel, forever.
    ///
    /// One of those that wait for a channel takes it, by the device's order: that kernel is returned and may enter its
    /// EE queue.
    pub(super) fn give_channel_back<O: Observer>(
        &mut self,
        stream: StreamId,
        context: &mut BackendContext<'_, O>,
    ) -> Option<u32> {
        let queue = &mut self.streams[stream.index()];
        let pool = &mut self.pools[queue.pool as usize];
        let free = pool.free.as_mut()?;
        if !std::mem::take(&mut queue.holds_channel) {
            return None;
        }
        let Some(operation) = pool.queue.next() else {
            *free += 1;
            return None;
        };
        let stream = self.operation(operation).stream;
        let queue = &mut self.streams[stream.index()];
        queue.holds_channel = true;
        context.observer.waited(OperationId(operation), Rule::Channel, queue.waits_since, context.now);
        Some(operation)
    }
}
