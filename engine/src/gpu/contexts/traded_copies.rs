//! Copy engines that contexts share by turns: rule T5.

use std::collections::VecDeque;

use crate::canonical::Canonical;
use crate::gpu::backend::{BackendContext, write_queue};
use crate::gpu::host::RunError;
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::Observer;
use crate::workload::{CopyId, OperationId};

/// Copy engines whose runlists are their own. On each, the copies of one context come first in, first out; those of
/// several contexts take turns, round-robin, and a copy that its turn interrupts goes on in the next.
#[derive(Debug, Clone)]
pub(super) struct TradedCopies {
    engines: Vec<Engine>,
    time_slice: Duration,
    /// Since engines were last looked at, a copy has come or completed, or a turn has ended.
    changed: bool,
}

#[derive(Debug, Clone)]
struct Engine {
    /// By context.
    queues: Vec<Queue>,
    /// How many of them have a copy.
    working: usize,
    /// The context whose turn it is, or was last.
    turn: usize,
    /// Until when.
    until: Instant,
    /// Whether the turn counts, because another context has a copy.
    contended: bool,
    /// The context whose turn it was had no copy left: whoever comes next begins a turn.
    over: bool,
    /// Since when the copy of the context whose turn it is goes on.
    serving_since: Option<Instant>,
}

/// The copies of one context on one engine.
#[derive(Debug, Clone, Default)]
struct Queue {
    waiting: VecDeque<(OperationId, CopyId)>,
    begun: Option<Begun>,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    operation: OperationId,
    /// How long it still takes, from when it went on last.
    left: Duration,
    /// Its place among completions of one instant.
    sequence: u64,
    /// Whether another context's turn made it stand still.
    stands_still: bool,
}

impl Queue {
    fn has_copy(&self) -> bool {
        self.begun.is_some() || !self.waiting.is_empty()
    }
}

impl TradedCopies {
    /// Idle engines.
    pub(super) fn new(engines: u32, contexts: usize, time_slice: Duration) -> Self {
        let engine = Engine {
            queues: vec![Queue::default(); contexts],
            working: 0,
            turn: contexts.saturating_sub(1),
            until: Instant::ZERO,
            contended: false,
            over: true,
            serving_since: None,
        };
        Self { engines: vec![engine; engines as usize], time_slice, changed: false }
    }

    /// As when they were made.
    pub(super) fn clear(&mut self) {
        let contexts = self.engines.first().map_or(0, |engine| engine.queues.len());
        let engines = u32::try_from(self.engines.len()).proven("as many as the device has, which 32 bits count");
        *self = Self::new(engines, contexts, self.time_slice);
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { engines, time_slice: _, changed } = self;
        to.number(*changed);
        to.list(engines, |to, engine| {
            // How many work follows from the queues.
            let Engine { queues, working: _, turn, until, contended, over, serving_since } = engine;
            to.list(queues, |to, Queue { waiting, begun }| {
                write_queue(waiting, to);
                to.optional(*begun, |to, Begun { operation, left, sequence, stands_still }| {
                    to.operation(operation.0);
                    to.duration(left);
                    to.begun(sequence);
                    to.number(stands_still);
                });
            });
            to.value((turn, contended, over));
            // Whoever comes once a turn is over begins another, and asks for no end of that.
            to.optional((!over || serving_since.is_some()).then_some(*until), Canonical::instant);
            to.optional(*serving_since, Canonical::instant);
        });
    }

    /// C1: a copy of a context enters the CE queue.
    pub(super) fn push(&mut self, engine: usize, context: usize, operation: OperationId, copy: CopyId) {
        let engine = &mut self.engines[engine];
        let queue = &mut engine.queues[context];
        engine.working += usize::from(!queue.has_copy());
        queue.waiting.push_back((operation, copy));
        self.changed = true;
    }

    /// C2, C3: every idle engine takes the next copy of the context whose turn it is.
    pub(super) fn start<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        (0..).zip(&mut self.engines).try_for_each(|(number, engine)| engine.start(number, self.time_slice, context))
    }

    /// The copy on an engine has completed, or its turn is over.
    pub(super) fn complete<O: Observer>(
        &mut self,
        engine: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Option<OperationId> {
        self.changed = true;
        self.engines.get_mut(engine as usize)?.complete(context)
    }
}

impl Engine {
    fn start<O: Observer>(
        &mut self,
        number: u32,
        time_slice: Duration,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let now = context.now;
        if !self.contended && !self.over && self.until < now {
            // Alone, it began its turns again and again.
            let over = now.since(self.until).as_ns().div_ceil(time_slice.as_ns().max(1));
            self.until = time_slice.checked_mul(over).map_or(Instant::MAX, |slices| self.until.saturating_add(slices));
        }
        if self.working > 1 && self.until <= now && self.serving_since.is_some_and(|since| since < now) {
            // Alone until now, so nothing was to happen at the end of its slice, which is now.
            self.stop(context);
        }
        if self.serving_since.is_none() && self.working > 0 {
            let contexts = self.queues.len();
            // Alone it does also at the very end of its slice: whoever still comes at this instant does not wait.
            let may_go_on = now < self.until || self.working == 1;
            let goes_on = !self.over && self.queues[self.turn].has_copy() && may_go_on;
            if !goes_on {
                let next = (1..=contexts).map(|step| (self.turn + step) % contexts);
                let next = next.into_iter().find(|&next| self.queues[next].has_copy());
                self.turn = next.unwrap_or(self.turn);
                self.until = now.saturating_add(time_slice);
            }
            let queue = &mut self.queues[self.turn];
            if queue.begun.is_none()
                && let Some((operation, copy)) = queue.waiting.pop_front()
            {
                context.observer.dispatched(operation, now);
                context.observer.fully_dispatched(operation, now);
                let left = context.catalogue.copies()[copy.index()].time();
                queue.begun = Some(Begun { operation, left, sequence: context.calendar.begin(), stands_still: false });
            }
            if let Some(begun) = &mut queue.begun
                && std::mem::take(&mut begun.stands_still)
            {
                context.observer.copy_goes_on(begun.operation, now);
            }
            self.serving_since = Some(now);
        }
        self.over = !self.queues[self.turn].has_copy();
        self.contended = self.working > usize::from(!self.over);
        let serving = self.serving_since.zip(self.queues[self.turn].begun);
        let mut next = None;
        if let Some((since, Begun { operation, left, sequence, .. })) = serving {
            let end = since.checked_add(left).ok_or(RunError::TimeOverflow { operation })?;
            next = Some((if self.contended { end.min(self.until) } else { end }, sequence));
        }
        context.calendar.move_link(number, next);
        Ok(())
    }

    fn complete<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        let left = self.stop(context)?;
        if left > Duration::ZERO {
            return None;
        }
        let queue = &mut self.queues[self.turn];
        let completed = queue.begun.take()?.operation;
        self.working -= usize::from(!queue.has_copy());
        Some(completed)
    }

    /// The copy that goes on stops here. Says how long it still takes.
    fn stop<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Option<Duration> {
        let now = context.now;
        let since = self.serving_since.take()?;
        let begun = self.queues[self.turn].begun.as_mut()?;
        begun.left = Duration::from_ns(begun.left.as_ns() - now.since(since).as_ns());
        if begun.left > Duration::ZERO {
            begun.stands_still = true;
            context.observer.copy_stops(begun.operation, now);
        }
        Some(begun.left)
    }
}
