//! The multiset h of Algorithm 2: blocks that run, by the time at which they end, with their owner.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::limits::count_turn;
use crate::proven::Proven;
use crate::time::{Duration, Instant};

/// h, split into the blocks of the kernel that is being placed and those of all kernels before it.
///
/// A kernel's own blocks end in the order in which they were placed, so a queue is enough for them, and moving all of
/// them by the same time costs one addition. The others are in a heap. `D` is what a block takes.
///
/// Invariant: `shift` is at most the time of every own entry. New own entries are never earlier than those before
/// them, and `shift` starts anew at zero whenever there are none.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending<D: Ord> {
    /// (time less `shift`, blocks), ascending.
    own: VecDeque<(Instant, u32)>,
    shift: Duration,
    own_blocks: u64,
    others: BinaryHeap<Reverse<(Instant, u32, D)>>,
}

impl<D: Ord + Copy> Pending<D> {
    pub(super) fn new() -> Self {
        Self { own: VecDeque::new(), shift: Duration::ZERO, own_blocks: 0, others: BinaryHeap::new() }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.own.clear();
        self.own_blocks = 0;
        self.others.clear();
    }

    /// Blocks of the kernel that is being placed.
    pub(super) fn own_blocks(&self) -> u64 {
        self.own_blocks
    }

    /// Enters own blocks that end at `at`, which is not before any own entry. Equal times are one entry.
    pub(super) fn push(&mut self, at: Instant, blocks: u32) {
        if self.own.is_empty() {
            self.shift = Duration::ZERO;
        }
        let stored = Instant::ZERO + at.since(Instant::ZERO + self.shift);
        match self.own.back_mut() {
            Some((last, count)) if *last == stored => *count += blocks,
            _ => self.own.push_back((stored, blocks)),
        }
        self.own_blocks += u64::from(blocks);
    }

    /// The earliest time in h.
    pub(super) fn earliest(&self) -> Option<Instant> {
        let own = self.own.front().map(|(at, _)| *at + self.shift);
        let other = self.others.peek().map(|Reverse((at, _, _))| *at);
        match (own, other) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        }
    }

    /// Takes out everything that ends at or before `at`; `free` gets the blocks and, if they are another kernel's,
    /// what one of them takes.
    pub(super) fn take_until(&mut self, at: Instant, mut free: impl FnMut(u32, Option<D>)) {
        while let Some(&(stored, blocks)) = self.own.front()
            && stored + self.shift <= at
        {
            count_turn();
            self.own.pop_front();
            self.own_blocks -= u64::from(blocks);
            free(blocks, None);
        }
        while let Some(&Reverse((end, blocks, demand))) = self.others.peek()
            && end <= at
        {
            count_turn();
            self.others.pop();
            free(blocks, Some(demand));
        }
    }

    /// How many whole cycles of `block_time` the own blocks repeat with `rest` blocks to place: each takes all own
    /// entries out and puts them back later, which changes nothing but the time. Only before another kernel's block
    /// ends, and so that at least one block is left for an ordinary step (section 8 of the specification: one wave
    /// less than the quotient of all blocks, or the last wave would be counted as waiting).
    pub(super) fn whole_cycles(&self, rest: u32, block_time: Duration) -> u32 {
        let Some(&(last, _)) = self.own.back() else { return 0 };
        let by_blocks = u64::from(rest.saturating_sub(1)) / self.own_blocks.max(1);
        let last = last + self.shift;
        let by_time = self.others.peek().and_then(|&Reverse((other, _, _))| match other.since(last).as_ns() {
            0 => Some(0),
            left => (left - 1).checked_div(block_time.as_ns()).map(|whole| whole + 1),
        });
        let cycles = by_time.map_or(by_blocks, |by_time| by_time.min(by_blocks));
        u32::try_from(cycles).proven("less than `rest`")
    }

    /// Lets `cycles` cycles pass. `None` past the end of time.
    pub(super) fn skip(&mut self, cycles: u32, block_time: Duration) -> Option<()> {
        let shift = self.shift.checked_add(block_time.checked_mul(u64::from(cycles))?)?;
        self.own.back()?.0.checked_add(shift)?;
        self.shift = shift;
        Some(())
    }

    /// The kernel is placed; its blocks become those of another.
    pub(super) fn finish_kernel(&mut self, demand: D) {
        let shift = self.shift;
        self.others.extend(self.own.drain(..).map(|(at, blocks)| Reverse((at + shift, blocks, demand))));
        self.own_blocks = 0;
    }
}
