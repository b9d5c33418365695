//! The event calendar: what is going to happen, in the one order that everything else relies on.

use std::cmp::Reverse;
use std::hash::BuildHasherDefault;

use priority_queue::PriorityQueue;
use rustc_hash::FxHasher;

use crate::time::Instant;

/// Something that is going to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The blocks of wave number `.0` of the trace complete.
    Wave(u32),
    /// The copy that is operation number `.0` completes.
    Copy(u32),
    /// The host wants to act; `.0` is the token it asked to be woken with.
    Wake(u64),
}

/// What comes first among the events of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Blocks and copies complete, in the order in which they had been assigned.
    Completion,
    /// The host acts, in the order of its tokens.
    Host,
}

/// Events in the order (instant, phase, sequence).
///
/// Built on the `priority-queue` crate, whose ties come out in no particular order: the sequence number in the key
/// makes them first in, first out. Its items are keyed, so an event can be moved or taken back ([`Calendar::push`] of
/// an event that is already there moves it), which skipping whole cycles of a kernel needs.
///
/// `push`, `pop` and `remove` cost O(log n) for n events, `next` O(1).
///
/// Measured against `std::collections::BinaryHeap` with the same key (hold model, `benches/operation.rs`, side by side
/// in one run): the heap is 2.5 to 3.4 times as fast per operation, 13 against 43 ns at 4 events and 64 against 164 ns
/// at 65,536. In whole scenarios (`benches/scenario.rs` with either queue in the engine) that is 6 to 7 % of the run
/// time, because one event stands for all blocks that a kernel is assigned at one instant. A heap would need a search
/// through all events to move or remove one; the keyed queue stays.
#[derive(Debug, Clone, Default)]
pub struct Calendar {
    queue: PriorityQueue<Event, Reverse<Key>, BuildHasherDefault<FxHasher>>,
}

type Key = (Instant, Phase, u64);

impl Calendar {
    /// An empty calendar.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing is going to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Enters `event`, or moves it if it is already there.
    pub fn push(&mut self, event: Event, at: Instant, phase: Phase, sequence: u64) {
        self.queue.push(event, Reverse((at, phase, sequence)));
    }

    /// The instant and phase of the next event.
    #[must_use]
    pub fn next(&self) -> Option<(Instant, Phase)> {
        self.queue.peek().map(|(_, Reverse((at, phase, _)))| (*at, *phase))
    }

    /// Takes out the next event if it belongs to instant `at` and phase `phase`.
    pub fn pop_at(&mut self, at: Instant, phase: Phase) -> Option<Event> {
        if self.next()? != (at, phase) {
            return None;
        }
        self.queue.pop().map(|(event, _)| event)
    }

    /// Takes out the next event, whatever it is.
    pub fn pop(&mut self) -> Option<(Instant, Phase, Event)> {
        self.queue.pop().map(|(event, Reverse((at, phase, _)))| (at, phase, event))
    }

    /// Takes all events back.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Takes `event` back.
    pub fn remove(&mut self, event: Event) {
        self.queue.remove(&event);
    }

    /// All events with their instants and sequence numbers, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Event, Instant, u64)> + '_ {
        self.queue.iter().map(|(event, Reverse((at, _, sequence)))| (*event, *at, *sequence))
    }
}
