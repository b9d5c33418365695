//! A copy engine whose link is shared: copies of several streams run at once, in equal shares of its bandwidth.
//!
//! A copy that takes w ns alone is done once it has had w ns of the link. While n copies are on it, each has 1/n of it.
//! All that began at one instant so have had the same ever since, and it is enough to count what one copy that never
//! ends would have had: a copy is done when this has grown by w since it began (the virtual time of processor sharing).
//!
//! Time is counted in whole parts of a nanosecond, [`PARTS`] of them, which every number up to 24 divides: with up to
//! 24 copies at once all shares are exact. With more, each time that a copy begins or ends what every copy has had
//! since the last such time is rounded down, by less than one part. A copy completes at the first whole nanosecond at
//! which it is done, and has its share until then; so for each copy that ends, less than 1 ns of the link is lost.

use std::collections::{BTreeMap, VecDeque};

use crate::canonical::Canonical;
use crate::time::{Duration, Instant};
use crate::workload::{CopyId, OperationId};

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
