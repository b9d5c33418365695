//! The event calendar: what is going to happen, in the one order that everything else relies on.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::hash::BuildHasherDefault;

use priority_queue::PriorityQueue;
use rustc_hash::FxHasher;

use crate::canonical::Canonical;
use crate::time::{Duration, Instant};
use crate::workload::ProcessId;

/// Something that is going to complete; the numbers are the backend's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Blocks that were assigned together.
    Wave(u32),
    /// The same of blocks that watch a timer, which goes on when the calendar stands still.
    TimedWave(u32),
    /// Blocks that were assigned together come to a point at which they signal or wait.
    Point(u32),
    /// A copy on a copy engine.
    Copy(u32),
    /// Whatever completes next of the context whose turn it is.
    Context,
    /// A turn begins, or may not go on.
    Turn,
    /// What a block held that has ended comes free.
    Freed,
}

/// An operation at the head of its stream queue that a launch latency or kernel gap holds (L1, L2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Latency {
    /// Until then.
    pub until: Instant,
    /// Its number.
    pub operation: u32,
    /// Since then.
    pub since: Instant,
    /// It is behind the kernel that has triggered it, and may go on beside that from then on (PDL).
    pub is_triggered: bool,
    /// The process whose turn lasts until then (T2): it had reached the GPU, and nothing but a gap holds it.
    pub keeps_turn_of: Option<ProcessId>,
}

impl Latency {
    /// Of an operation that has been triggered (PDL).
    pub(crate) fn triggered(operation: u32, until: Instant) -> Self {
        Self { until, operation, since: until, is_triggered: true, keeps_turn_of: None }
    }
}

/// Events in the order (instant, phase, sequence): of one instant, the ends of latencies come first, in launch order;
/// then completions, in the order in which what completes was begun; then the host's wake-ups, in the order of their
/// tokens.
///
/// Completions are in a binary heap: they never move, except when whole cycles of a kernel are skipped, which looks at
/// all of them anyway. Wake-ups are in a keyed queue (`priority-queue`), because a host may move one
/// (`wake_at` with a token that is already there); it keeps an index that completions have no use for. In a
/// run of one-block kernels the heap takes 6 % of all instructions, where the keyed queue took 17 %. Copies that share
/// a link are slowed and sped up by others: of each link, only the completion that comes next is here, in a place of
/// its own, where it moves (`move_to`).
///
/// A context that is not in its turn has a calendar of its own that stands still: completions are kept as instants of a
/// clock that was held for as long as the calendar was (`stand_still`), so that a switch costs the same
/// however many blocks are on the GPU.
///
/// Entering and taking out cost O(log n) for n events, `next` O(1).
#[derive(Debug, Clone, Default)]
pub struct Calendar {
    latencies: BinaryHeap<Reverse<Latency>>,
    completions: BinaryHeap<Completion>,
    /// What completes next on each shared link; empty as long as there is none.
    links: Vec<Option<Completion>>,
    wakes: PriorityQueue<u64, Reverse<(Instant, u64)>, BuildHasherDefault<FxHasher>>,
    /// When the first of them is: every round asks, and it costs as much as a block to look into the queue.
    next_wake: Option<Instant>,
    sequence: u64,
    /// How long it has stood still.
    held: Duration,
    /// Whether there was ever a [`Event::TimedWave`].
    is_timed: bool,
}

/// A completion; the one that comes first is the largest, as the heap has that on top.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    pub(crate) at: Instant,
    /// No two have the same.
    pub(crate) sequence: u64,
    pub(crate) event: Event,
}

impl Completion {
    /// Instant and sequence as one number: one comparison without a branch.
    fn key(&self) -> u128 {
        u128::from(self.at.as_ns()) << 64 | u128::from(self.sequence)
    }
}

impl Ord for Completion {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Completion {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.key() >= other.key()
    }
}

impl PartialEq for Completion {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Completion {}

impl Calendar {
    /// An empty calendar.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Enters the end of a latency.
    pub(crate) fn hold(&mut self, latency: Latency) {
        self.latencies.push(Reverse(latency));
    }

    /// Whether a kernel of a process is held by a gap alone, for which its context keeps its turn (T2). Costs O(n).
    pub(crate) fn keeps_turn(&self, process: ProcessId) -> bool {
        self.latencies.iter().any(|Reverse(latency)| latency.keeps_turn_of == Some(process))
    }

    /// Takes back that a kernel may go on beside the one that has triggered it. Costs O(n).
    pub(crate) fn forget_trigger(&mut self, operation: u32) {
        self.latencies.retain(|Reverse(latency)| !(latency.is_triggered && latency.operation == operation));
    }

    /// An instant on the clock that stands still with it.
    #[inline]
    pub(crate) fn clock(&self, at: Instant) -> Instant {
        Instant::from_ns(at.since(Instant::ZERO + self.held).as_ns())
    }

    /// Stands still from `from` to `to`: what would have completed later does so as much later. Blocks that watch a
    /// timer complete when they would have, or at `to` if that is over; these cost O(n) each time.
    pub(crate) fn stand_still(&mut self, from: Instant, to: Instant) {
        let length = to.since(from);
        self.held += length;
        if self.is_timed {
            let now = self.clock(to);
            let mut all = std::mem::take(&mut self.completions).into_vec();
            for one in all.iter_mut().filter(|one| matches!(one.event, Event::TimedWave(_))) {
                one.at = Instant::from_ns(one.at.as_ns().saturating_sub(length.as_ns())).max(now);
            }
            self.completions = all.into();
        }
    }

    /// When the first of the blocks that watch a timer is due, whatever stands still until then.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        if !self.is_timed {
            return None;
        }
        let timed = self.completions.iter().filter(|one| matches!(one.event, Event::TimedWave(_)));
        timed.map(|one| one.at + self.held).min()
    }

    /// Goes on numbering where `other` is.
    pub(crate) fn count_on_from(&mut self, other: &Self) {
        self.sequence = other.sequence;
    }

    /// Enters a completion behind all those of the same instant.
    pub fn complete_at(&mut self, at: Instant, event: Event) {
        let sequence = self.begin();
        let at = self.clock(at);
        self.is_timed |= matches!(event, Event::TimedWave(_));
        self.completions.push(Completion { at, sequence, event });
    }

    /// Enters the completion of what began as number `sequence`.
    pub(crate) fn complete_begun(&mut self, at: Instant, sequence: u64, event: Event) {
        let at = self.clock(at);
        self.completions.push(Completion { at, sequence, event });
    }

    /// The place, among completions of one instant, of what begins now.
    pub(crate) fn begin(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Of the link of copy engine `engine`, the copy that began as number `sequence` is the next to complete, at `at`,
    /// whatever was entered before; `None`: nothing completes there.
    pub(crate) fn move_link(&mut self, engine: u32, next: Option<(Instant, u64)>) {
        self.move_to(engine, Event::Copy(engine), next);
    }

    /// What is at `place` comes at another instant, or not at all. Places are few.
    pub(crate) fn move_to(&mut self, place: u32, event: Event, next: Option<(Instant, u64)>) {
        let place = place as usize;
        if place >= self.links.len() {
            if next.is_none() {
                return;
            }
            self.links.resize(place + 1, None);
        }
        self.links[place] = next.map(|(at, sequence)| Completion { at: self.clock(at), sequence, event });
    }

    /// The completion that comes next, and its place among those of its instant.
    pub(crate) fn next_completion(&self) -> Option<(Instant, u64)> {
        let first = self.completions.peek().copied().max(self.first_on_links());
        first.map(|first| (first.at + self.held, first.sequence))
    }

    /// The instant of the next event that is not at `place`.
    pub(crate) fn next_besides(&self, place: u32) -> Option<Instant> {
        let others =
            self.links.iter().enumerate().filter(|(own, _)| *own != place as usize).filter_map(|(_, one)| *one);
        let completion = others.max().max(self.completions.peek().copied()).map(|first| first.at + self.held);
        earlier(earlier(completion, self.next_wake), self.latencies.peek().map(|Reverse(latency)| latency.until))
    }

    /// The copy on a link that completes first. Without shared links, which is the rule, it costs a comparison.
    #[inline]
    fn first_on_links(&self) -> Option<Completion> {
        if self.links.is_empty() {
            return None;
        }
        // The one that comes first is the largest.
        self.links.iter().flatten().max().copied()
    }

    /// Enters the host's wake-up `token`, or moves it if it is already there.
    pub(crate) fn wake_at(&mut self, at: Instant, token: u64) {
        self.wakes.push(token, Reverse((at, token)));
        self.note_next_wake();
    }

    fn note_next_wake(&mut self) {
        self.next_wake = self.wakes.peek().map(|(_, Reverse((at, _)))| *at);
    }

    /// The instant of the next event.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        let completion = self.completions.peek().map(|first| first.at + self.held);
        earlier(completion, self.next_besides_completions())
    }

    /// The instant of the next event that is no completion, or one on a shared link.
    #[inline]
    pub(crate) fn next_besides_completions(&self) -> Option<Instant> {
        let next = earlier(self.next_wake, self.latencies.peek().map(|Reverse(latency)| latency.until));
        earlier(next, self.first_on_links().map(|copy| copy.at + self.held))
    }

    /// Takes out the next latency if it ends by `at`.
    #[inline]
    pub(crate) fn pop_latency(&mut self, at: Instant) -> Option<Latency> {
        self.latencies.peek().filter(|Reverse(latency)| latency.until <= at)?;
        self.latencies.pop().map(|Reverse(latency)| latency)
    }

    /// Takes out the next completion if it belongs to instant `at`.
    pub(crate) fn pop_completion(&mut self, at: Instant) -> Option<Event> {
        let at = self.clock(at);
        let first = self.completions.peek();
        let on_links = self.first_on_links().filter(|copy| copy.at == at && first.is_none_or(|first| copy > first));
        if let Some(copy) = on_links {
            self.links.iter_mut().filter(|link| **link == Some(copy)).for_each(|link| *link = None);
            return Some(copy.event);
        }
        first.filter(|first| first.at == at)?;
        self.completions.pop().map(|first| first.event)
    }

    /// Takes out the host's next wake-up if it belongs to instant `at`.
    #[inline]
    pub(crate) fn pop_wake(&mut self, at: Instant) -> Option<u64> {
        self.next_wake.filter(|next| *next == at)?;
        let token = self.wakes.pop().map(|(token, _)| token);
        self.note_next_wake();
        token
    }

    /// All completions, those on shared links aside, in no particular order.
    pub(crate) fn completions(&self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.iter().map(|one| Completion { at: one.at + self.held, ..*one })
    }

    /// Takes back every completion that `keep` does not want. Costs O(n).
    pub(crate) fn retain_completions(&mut self, mut keep: impl FnMut(Event) -> bool) {
        self.completions.retain(|one| keep(one.event));
    }

    /// How much has begun that completes.
    pub(super) const fn begun(&self) -> u64 {
        self.sequence
    }

    /// Writes what is going to happen, as seen at `now`, at which it stands still or goes on; what an event is, `write`
    /// knows.
    pub(super) fn write_state(&self, now: Instant, to: &mut Canonical, mut write: impl FnMut(&mut Canonical, Event)) {
        // The number of what begins next is that of the whole GPU, which all states are counted from.
        let Self { latencies, completions, links, wakes, next_wake: _, sequence: _, held, is_timed } = self;
        let mut latencies: Vec<Latency> = latencies.iter().map(|&Reverse(latency)| latency).collect();
        latencies.sort_unstable();
        // Whose turn lasts is seen from what stands in its stream.
        to.list(latencies, |to, Latency { until, operation, since, is_triggered, keeps_turn_of: _ }| {
            to.instant(until);
            to.operation(operation);
            to.instant(since);
            to.number(is_triggered);
        });
        let mut one = |to: &mut Canonical, Completion { at, sequence, event }: Completion| {
            to.begun(sequence);
            // Those that watch a timer are not held.
            match event {
                Event::TimedWave(_) => to.instant(at + *held),
                _ => to.seen_from(now, at + *held),
            }
            write(to, event);
        };
        let mut completions: Vec<Completion> = completions.iter().copied().collect();
        completions.sort_unstable_by_key(|completion| completion.sequence);
        to.list(completions, &mut one);
        to.list((0_u64..).zip(links).filter_map(|(place, link)| Some((place, (*link)?))), |to, (place, link)| {
            to.number(place);
            one(to, link);
        });
        let mut wakes: Vec<(u64, Instant)> = wakes.iter().map(|(&token, &Reverse((at, _)))| (token, at)).collect();
        wakes.sort_unstable();
        to.list(wakes, |to, (token, at)| {
            to.number(token);
            to.instant(at);
        });
        to.number(*is_timed);
    }

    /// Takes all events back.
    pub(crate) fn clear(&mut self) {
        self.latencies.clear();
        self.completions.clear();
        self.links.clear();
        self.wakes.clear();
        self.next_wake = None;
        self.sequence = 0;
        self.held = Duration::ZERO;
        self.is_timed = false;
    }
}

/// The earlier of two instants, as far as there are any.
#[inline]
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
