//! Copy engines: rules C2 and C3.

use std::collections::VecDeque;

use super::BackendContext;
use super::shared_link::SharedLink;
use crate::canonical::Canonical;
use crate::device::CopySharing;
use crate::gpu::calendar::Event;
use crate::gpu::error::RunError;
use crate::time::{Duration, Instant};
use crate::trace::Observer;
use crate::workload::{CopyId, OperationId};

/// One copy engine and its CE queue.
#[derive(Debug, Clone)]
pub(super) enum CopyEngine {
    /// Serves one copy at a time.
    One {
        /// What waits for it.
        queue: VecDeque<(OperationId, CopyId)>,
        serving: Option<OperationId>,
    },
    /// Serves all copies that have entered, at once.
    Shared(SharedLink),
}

impl CopyEngine {
    /// An idle one.
    pub(super) fn new(sharing: CopySharing) -> Self {
        match sharing {
            CopySharing::OneAtATime => Self::One { queue: VecDeque::new(), serving: None },
            CopySharing::SharedLink => Self::Shared(SharedLink::default()),
        }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        match self {
            Self::One { queue, serving } => {
                queue.clear();
                *serving = None;
            }
            Self::Shared(link) => link.clear(),
        }
    }

    /// Whether nothing is on it or waits for it.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::One { queue, serving } => queue.is_empty() && serving.is_none(),
            Self::Shared(link) => link.is_idle(),
        }
    }

    /// What is on it stands still from now on, until [`CopyEngine::resume`]. Of a single copy, the calendar does.
    pub(super) fn suspend(&mut self, now: Instant) {
        if let Self::Shared(link) = self {
            link.advance(now);
        }
    }

    /// What is on it goes on.
    pub(super) fn resume(&mut self, now: Instant) {
        if let Self::Shared(link) = self {
            link.resume(now);
        }
    }

    /// Writes the state, as seen at `now`, at which it stands still or goes on.
    pub(super) fn write_state(&self, now: Instant, to: &mut Canonical) {
        match self {
            Self::One { queue, serving } => {
                write_queue(queue, to);
                to.optional(*serving, |to, operation| to.operation(operation.0));
            }
            Self::Shared(link) => link.write_state(now, to),
        }
    }

    /// C1: enters at the end.
    pub(super) fn push(&mut self, operation: OperationId, copy: CopyId) {
        match self {
            Self::One { queue, .. } => queue.push_back((operation, copy)),
            Self::Shared(link) => link.push(operation, copy),
        }
    }

    /// C2, C3: if the engine, of number `number`, is idle, the head is assigned to it and leaves the queue; if its link
    /// is shared, so is everything in the queue, one after another.
    pub(super) fn start<O: Observer>(
        &mut self,
        number: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        match self {
            Self::One { queue, serving } => {
                if serving.is_some() {
                    return Ok(());
                }
                let Some((operation, copy)) = queue.pop_front() else { return Ok(()) };
                *serving = Some(operation);
                let end = context.now.checked_add(begin(operation, copy, context));
                let end = end.ok_or(RunError::TimeOverflow { operation })?;
                context.calendar.complete_at(end, Event::Copy(number));
            }
            Self::Shared(link) => {
                while let Some((operation, copy)) = link.pop() {
                    let time = begin(operation, copy, context);
                    link.start(operation, time, context.calendar.begin(), context.now);
                }
                return self.go_on(number, context);
            }
        }
        Ok(())
    }

    /// Enters when the next of the copies on a shared link completes, without anything new on it.
    pub(super) fn go_on<O>(&mut self, number: u32, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        if let Self::Shared(link) = self {
            let next = link.next().map_err(|operation| RunError::TimeOverflow { operation })?;
            context.calendar.move_link(number, next);
        }
        Ok(())
    }

    /// The copy whose completion was in the calendar has completed. On a shared link, when the next one does is entered
    /// once it is known who else begins at this instant, by [`CopyEngine::start`] or, if nobody may,
    /// [`CopyEngine::go_on`].
    pub(super) fn complete<O>(&mut self, number: u32, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        match self {
            Self::One { serving, .. } => serving.take(),
            Self::Shared(link) => {
                let operation = link.complete(context.now);
                let next = link.next_done().map(|sequence| (context.now, sequence));
                context.calendar.move_link(number, next);
                operation
            }
        }
    }
}

/// Writes what waits for an engine.
pub(in crate::gpu) fn write_queue(queue: &VecDeque<(OperationId, CopyId)>, to: &mut Canonical) {
    to.list(queue, |to, &(operation, copy)| {
        to.operation(operation.0);
        to.value(copy);
    });
}

/// A copy begins. Gives how long it takes alone.
fn begin<O: Observer>(operation: OperationId, copy: CopyId, context: &mut BackendContext<'_, O>) -> Duration {
    context.observer.dispatched(operation, context.now);
    context.observer.fully_dispatched(operation, context.now);
    context.catalogue.copies()[copy.index()].time()
}
