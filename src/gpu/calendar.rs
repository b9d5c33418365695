//! The event calendar: what is going to happen, in the one order that everything else relies on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasherDefault;

use priority_queue::PriorityQueue;
use rustc_hash::FxHasher;

use crate::time::Instant;

/// Something that is going to complete; the numbers are the back's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Blocks that were assigned together.
    Wave(u32),
    /// The copy on a copy engine.
    Copy(u32),
}

/// Events in the order (instant, phase, sequence): of one instant, completions come first, in the order in which they
/// were entered; then the host's wake-ups, in the order of their tokens.
///
/// Completions are in a binary heap: they never move, except when whole cycles of a kernel are skipped, which looks at
/// all of them anyway. Wake-ups are in a keyed queue (`priority-queue`), because a host may move one
/// ([`Calendar::wake_at`] with a token that is already there). A keyed queue for everything took 14 to 16 % of a run; with
/// the same key the heap is 2.5 to 3.4 times as fast per operation (hold model, `benches/operation.rs`).
///
/// Entering and taking out cost O(log n) for n events, `next` O(1).
#[derive(Debug, Clone, Default)]
pub struct Calendar {
    completions: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    wakes: PriorityQueue<u64, Reverse<(Instant, u64)>, BuildHasherDefault<FxHasher>>,
    sequence: u64,
}

impl Calendar {
    /// An empty calendar.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.completions.len() + self.wakes.len()
    }

    /// Whether nothing is going to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.completions.is_empty() && self.wakes.is_empty()
    }

    /// Enters a completion behind all those of the same instant.
    pub fn complete_at(&mut self, at: Instant, event: Event) {
        self.sequence += 1;
        self.completions.push(Reverse((at, self.sequence, event)));
    }

    /// Enters the host's wake-up `token`, or moves it if it is already there.
    pub fn wake_at(&mut self, at: Instant, token: u64) {
        self.wakes.push(token, Reverse((at, token)));
    }

    /// The instant of the next event.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let completion = self.completions.peek().map(|Reverse((at, ..))| *at);
        match (completion, self.next_wake()) {
            (Some(completion), Some(wake)) => Some(completion.min(wake)),
            (completion, wake) => completion.or(wake),
        }
    }

    /// The instant of the host's next wake-up.
    #[must_use]
    pub fn next_wake(&self) -> Option<Instant> {
        self.wakes.peek().map(|(_, Reverse((at, _)))| *at)
    }

    /// Takes out the next completion if it belongs to instant `at`.
    pub fn pop_completion(&mut self, at: Instant) -> Option<Event> {
        self.completions.peek().filter(|Reverse((next, ..))| *next == at)?;
        self.completions.pop().map(|Reverse((.., event))| event)
    }

    /// Takes out the host's next wake-up if it belongs to instant `at`.
    pub fn pop_wake(&mut self, at: Instant) -> Option<u64> {
        self.wakes.peek().filter(|(_, Reverse((next, _)))| *next == at)?;
        self.wakes.pop().map(|(token, _)| token)
    }

    /// All completions with their instants and sequence numbers, in no particular order.
    pub fn completions(&self) -> impl Iterator<Item = (Event, Instant, u64)> + '_ {
        self.completions.iter().map(|Reverse((at, sequence, event))| (*event, *at, *sequence))
    }

    /// Takes back every completion that `keep` does not want. Costs O(n).
    pub fn retain_completions(&mut self, mut keep: impl FnMut(Event) -> bool) {
        self.completions.retain(|Reverse((.., event))| keep(*event));
    }

    /// Takes all events back.
    pub fn clear(&mut self) {
        self.completions.clear();
        self.wakes.clear();
        self.sequence = 0;
    }
}
