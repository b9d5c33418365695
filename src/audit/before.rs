//! What was launched before an operation: for certain, or perhaps.

use std::collections::BTreeMap;

use super::observation::ObservedOperation;
use super::stamp::{Clocks, When};
use crate::logs::LogTime;

/// When an operation had completed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub(super) lo: When,
    pub(super) hi: Option<When>,
}

impl Completion {
    /// When both have.
    pub(super) fn and(self, other: &Self) -> Self {
        Self { lo: self.lo.and(other.lo), hi: self.hi.zip(other.hi).map(|(one, other)| one.and(other)) }
    }
}

/// The last of several operations to complete, and when all of them had.
type Last = (usize, Completion);

/// Both together; of two that complete at once `other` is the last.
fn later(one: Option<Last>, other: Last) -> Last {
    let Some((before, completion)) = one else { return other };
    let last = if other.1.lo.latest() >= completion.lo.latest() { other.0 } else { before };
    (last, completion.and(&other.1))
}

/// Operations that what is launched later may have to wait for: those of one side of N1 and N2, the NULL stream or the
/// blocking streams, or those of a stream that several threads use.
#[derive(Default)]
pub(super) struct Launches {
    /// Latest launch, and by then: all completed, and which of them was the last.
    launched: Vec<(LogTime, Last)>,
    /// Earliest launches of all operations, sorted, later ones too.
    earliest: Vec<LogTime>,
    /// The same of each thread by itself, whose launches have an order whatever their times.
    threads: BTreeMap<usize, OwnLaunches>,
}

#[derive(Default)]
struct OwnLaunches {
    last: Option<Last>,
    /// Latest launches of those launched so far, in their order.
    latest: Vec<LogTime>,
    /// Earliest launches, later ones too, in their order.
    earliest: Vec<LogTime>,
}

impl Launches {
    /// Of all these operations, which are in launch order.
    pub(super) fn of<'a>(operations: impl Iterator<Item = &'a ObservedOperation>) -> Self {
        let mut all = Self::default();
        for operation in operations {
            all.earliest.push(operation.launched_ns[0]);
            all.threads.entry(operation.thread).or_default().earliest.push(operation.launched_ns[0]);
        }
        all.earliest.sort_unstable();
        all
    }

    /// How many threads launch them.
    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn push(&mut self, operation: &ObservedOperation, index: usize, completion: Completion) {
        let last = later(self.launched.last().map(|(_, last)| *last), (index, completion));
        self.launched.push((operation.launched_ns[1], last));
        let own = self.threads.entry(operation.thread).or_default();
        own.last = Some(later(own.last, (index, completion)));
        own.latest.push(operation.launched_ns[1]);
    }

    /// What was surely launched before; and whether there is more of which that cannot be told.
    pub(super) fn before(&self, operation: &ObservedOperation, clocks: &Clocks) -> (Option<Last>, bool) {
        if clocks.ordered {
            return (self.launched.last().map(|(_, last)| *last), false);
        }
        let tolerance = clocks.tolerances.one_clock_ns;
        let [earliest, latest] = operation.launched_ns;
        let is_before = |other: LogTime| other.saturating_add(tolerance) < earliest;
        let may_be = |other: &LogTime| *other <= latest.saturating_add(tolerance);
        let surely = self.launched.partition_point(|(other, _)| is_before(*other));
        let perhaps = self.earliest.partition_point(may_be);
        let last = surely.checked_sub(1).and_then(|last| self.launched.get(last)).map(|(_, last)| *last);
        let Some(own) = self.threads.get(&operation.thread) else { return (last, perhaps > surely) };
        // What the thread itself launches is known to be before or after.
        let own_surely = own.latest.partition_point(|other| is_before(*other));
        let own_perhaps = own.earliest.partition_point(may_be);
        let all = own.last.map(|own| later(last, own)).or(last);
        (all, perhaps - own_perhaps > surely - own_surely)
    }
}
