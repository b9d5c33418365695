//! Copy engines: rules C2 and C3, and engines whose link several copies share.

use std::collections::{BTreeMap, VecDeque};

use super::BackendContext;
use crate::canonical::Canonical;
use crate::device::CopySharing;
use crate::gpu::calendar::Event;
use crate::gpu::host::RunError;
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

// A copy engine whose link is shared: copies of several streams run at once, in equal shares of its bandwidth.
//
// A copy that takes w ns alone is done once it has had w ns of the link. While n copies are on it, each has 1/n of it.
// All that began at one instant so have had the same ever since, and it is enough to count what one copy that never
// ends would have had: a copy is done when this has grown by w since it began (the virtual time of processor sharing).
//
// Time is counted in whole parts of a nanosecond, [`PARTS`] of them, which every number up to 24 divides: with up to
// 24 copies at once all shares are exact. With more, each time that a copy begins or ends what every copy has had
// since the last such time is rounded down, by less than one part. A copy completes at the first whole nanosecond at
// which it is done, and has its share until then; so for each copy that ends, less than 1 ns of the link is lost.

/// Parts of a nanosecond: the least common multiple of 1 to 24.
const PARTS: u128 = 5_354_228_880;

/// One link with its CE queue, and the copies on it.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedLink {
    /// What has entered at this instant and not begun.
    queue: VecDeque<(OperationId, CopyId)>,
    /// What a copy that has been on it from the beginning has had by `as_of` \[parts of a nanosecond\].
    served: u128,
    as_of: Instant,
    /// By how much of `served` they are done, and by their places in the order in which they began.
    running: BTreeMap<(u128, u64), OperationId>,
    /// Those that are done at `as_of`, by these places.
    done: BTreeMap<u64, OperationId>,
}

impl SharedLink {
    /// As when it was made.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Writes the state, as seen at `now`, at which it stands still or goes on.
    pub(super) fn write_state(&self, now: Instant, to: &mut Canonical) {
        let Self { queue, served, as_of, running, done } = self;
        to.list(queue, |to, &(operation, copy)| {
            to.operation(operation.0);
            to.value(copy);
        });
        to.list(running, |to, (&(until, begun), operation)| {
            to.value(until.wrapping_sub(*served));
            to.begun(begun);
            to.operation(operation.0);
        });
        to.list(done, |to, (&begun, operation)| {
            to.begun(begun);
            to.operation(operation.0);
        });
        // Nothing has had anything of it since then, if there is something.
        to.optional((!running.is_empty() || !done.is_empty()).then_some(*as_of), |to, at| to.seen_from(now, at));
    }

    /// Whether nothing is on it or waits for it.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.running.is_empty() && self.done.is_empty()
    }

    /// It has stood still since it was last [advanced](Self::advance).
    pub(super) fn resume(&mut self, now: Instant) {
        self.as_of = now;
    }

    /// C1: enters at the end.
    pub(super) fn push(&mut self, operation: OperationId, copy: CopyId) {
        self.queue.push_back((operation, copy));
    }

    /// C2, C3: the head leaves the queue.
    pub(super) fn pop(&mut self) -> Option<(OperationId, CopyId)> {
        self.queue.pop_front()
    }

    /// A copy that takes `time` alone begins as number `sequence` of all that ever began.
    pub(super) fn start(&mut self, operation: OperationId, time: Duration, sequence: u64, now: Instant) {
        self.advance(now);
        self.running.insert((self.served + u128::from(time.as_ns()) * PARTS, sequence), operation);
    }

    /// The copy that completes next if none begins before: when, and its number. `None` inside: there is none.
    ///
    /// # Errors
    /// The copy, if it completes after the end of time.
    pub(super) fn next(&self) -> Result<Option<(Instant, u64)>, OperationId> {
        if let Some(sequence) = self.next_done() {
            return Ok(Some((self.as_of, sequence)));
        }
        let Some((&(least, _), &operation)) = self.running.first_key_value() else { return Ok(None) };
        let copies = self.running.len() as u128;
        let at = least.saturating_sub(self.served).checked_mul(copies).and_then(|shares| {
            let wait = Duration::from_ns(u64::try_from(shares.div_ceil(PARTS)).ok()?);
            self.as_of.checked_add(wait)
        });
        let at = at.ok_or(operation)?;
        let due = self.running.range(..=(self.served_by(at), u64::MAX));
        Ok(due.map(|(&(_, sequence), _)| (at, sequence)).min_by_key(|&(_, sequence)| sequence))
    }

    /// The first of those that are done now, in the order in which they began.
    pub(super) fn next_done(&self) -> Option<u64> {
        self.done.first_key_value().map(|(&sequence, _)| sequence)
    }

    /// The first of those that are done at `now` has completed.
    pub(super) fn complete(&mut self, now: Instant) -> Option<OperationId> {
        self.advance(now);
        self.done.pop_first().map(|(_, operation)| operation)
    }

    /// What a copy that has been on it from the beginning has had by `at`, if nothing begins or ends until then.
    fn served_by(&self, at: Instant) -> u128 {
        let copies = (self.running.len() as u128).max(1);
        self.served + u128::from(at.since(self.as_of).as_ns()) * PARTS / copies
    }

    /// Nothing has begun or ended from `as_of` to `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        self.served = self.served_by(now);
        self.as_of = now;
        while let Some(first) = self.running.first_entry().filter(|first| first.key().0 <= self.served) {
            let ((_, sequence), operation) = first.remove_entry();
            self.done.insert(sequence, operation);
        }
    }
}
