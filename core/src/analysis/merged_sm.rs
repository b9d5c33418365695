//! **Merged SM**: Algorithm 2 of the thesis, fast, with releases (section 3.4, Fig. 3.3), its task model (section 3.1),
//! and the multiset h: blocks that run, by the time at which they end, with their owner.
//!
//! Claim: these are the finish times of every work-conserving placement (Coq: `merged_sm_exact`). Assumptions: every
//! block of every kernel takes the same, and nothing but room on the SMs holds a kernel. `assumptions` looks whether
//! that is so; `docs/analysis.md`, "When merging the SMs is exact", has the theorem.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU32;

use thiserror::Error;

use crate::limits::count_turn;
use crate::proven::Proven;
use crate::time::{Duration, Instant};

/// A kernel as Algorithm 2 sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MergedKernel {
    /// r: when it enters the EE queue \[ns\].
    pub release: Instant,
    /// C: how long one block runs \[ns\].
    pub block_time: Duration,
    /// g: blocks of the grid.
    pub blocks: u32,
}

/// One merged SM that holds `g_max` equal blocks; kernels are placed one after another, as they enter the EE queue.
///
/// `t_a` is the earliest time at which the next block can start, `g_f` the blocks that are free then, h the blocks that
/// run, by their ends. Gives the numbers of `algorithm_2`, at a cost of O(log `g_max`) amortized for each
/// of at most 2 `g_max` entries that a kernel leaves in h or takes out of it: once nothing but its own blocks ends, a
/// whole cycle moves every own entry by C and places as many blocks as they hold, so any number of cycles is one
/// multiplication.
#[derive(Debug, Clone)]
pub struct MergedSm {
    g_max: u32,
    t_a: Instant,
    g_f: u32,
    h: Pending<()>,
}

impl MergedSm {
    /// An empty merged SM at t = 0.
    pub fn new(g_max: NonZeroU32) -> Self {
        Self { g_max: g_max.get(), t_a: Instant::ZERO, g_f: g_max.get(), h: Pending::new() }
    }

    /// Empty again at t = 0, for `g_max` blocks.
    pub fn reset(&mut self, g_max: NonZeroU32) {
        self.g_max = g_max.get();
        self.clear();
    }

    /// Empty again at t = 0.
    pub fn clear(&mut self) {
        self.t_a = Instant::ZERO;
        self.g_f = self.g_max;
        self.h.clear();
    }

    /// Places a kernel and gives f, when it finishes. Kernels come in the order of the EE queue, so releases must not
    /// decrease.
    ///
    /// # Errors
    /// [`TimeOverflow`]; the merged SM is of no use then.
    pub fn place(&mut self, kernel: &MergedKernel) -> Result<Instant, TimeOverflow> {
        if kernel.release > self.t_a {
            self.advance(kernel.release);
        }
        let mut rest = kernel.blocks;
        while rest > self.g_f {
            count_turn();
            if self.g_f > 0 {
                self.h.push(self.t_a.checked_add(kernel.block_time).ok_or(TimeOverflow)?, self.g_f);
                rest -= self.g_f;
                self.g_f = 0;
            }
            let cycles = self.h.whole_cycles(rest, kernel.block_time);
            if cycles > 0 {
                // At most `rest` blocks, see `whole_cycles`.
                let blocks = u64::from(cycles) * self.h.own_blocks();
                rest -= u32::try_from(blocks).unwrap_or(rest);
                self.h.skip(cycles, kernel.block_time).ok_or(TimeOverflow)?;
            }
            // There is always an entry: free and running blocks together are g_max, and none is free.
            let Some(next) = self.h.earliest() else { break };
            self.advance(next);
        }
        let finish = self.t_a.checked_add(kernel.block_time).ok_or(TimeOverflow)?;
        self.h.push(finish, rest);
        self.g_f -= rest;
        self.h.finish_kernel(());
        Ok(finish)
    }

    /// Makes `t` the new `t_a`; whatever has ended by then is free.
    fn advance(&mut self, t: Instant) {
        self.t_a = t;
        let g_f = &mut self.g_f;
        self.h.take_until(t, |blocks, _| *g_f += blocks);
    }
}

/// The finish times of `kernels`, given in the order in which they enter the EE queue, on a merged SM of `g_max`
/// blocks.
///
/// # Errors
/// [`TimeOverflow`].
///
/// ```
/// use std::num::NonZeroU32;
/// use gpusched_core::analysis::{MergedKernel, finish_times};
/// use gpusched_core::time::{Duration, Instant};
///
/// // The example of section 3.5: (C, g).
/// let kernels = [(4, 2), (6, 7), (6, 2), (5, 5)].map(|(c, blocks)| MergedKernel {
///     release: Instant::ZERO,
///     block_time: Duration::from_ns(c),
///     blocks,
/// });
/// let finish = finish_times(NonZeroU32::new(8).unwrap(), &kernels)?;
/// assert_eq!(finish, [4, 10, 12, 11].map(Instant::from_ns));
/// # Ok::<(), gpusched_core::analysis::TimeOverflow>(())
/// ```
pub fn finish_times(g_max: NonZeroU32, kernels: &[MergedKernel]) -> Result<Vec<Instant>, TimeOverflow> {
    let mut sm = MergedSm::new(g_max);
    kernels.iter().map(|kernel| sm.place(kernel)).collect()
}

/// A result past the end of representable time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a kernel would finish after 2^64 ns")]
pub struct TimeOverflow;

/// A task τ = {T, C, g, b} (Eq. 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct KernelTask {
    /// T: period, which is the deadline too \[ns\].
    pub period: Duration,
    /// C: how long one block runs, at worst \[ns\].
    pub block_time: Duration,
    /// g: blocks of the grid.
    pub blocks: u32,
    /// b: threads of one block.
    pub threads: u32,
}

impl KernelTask {
    /// u = C g b / T \[threads\]: how many threads the task keeps busy on average (Eq. 3.3). `None` if T is zero.
    pub(crate) fn utilization(&self) -> Option<f64> {
        let work = self.block_time.as_ns() as f64 * f64::from(self.blocks) * f64::from(self.threads);
        (self.period > Duration::ZERO).then(|| work / self.period.as_ns() as f64)
    }
}

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
    /// ends, and so that at least one block is left for an ordinary step (one wave less than the quotient of all
    /// blocks, or the last wave would be counted as waiting).
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::algorithm_2;
    use super::*;

    fn kernels(set: &[(u64, u64, u32)]) -> Vec<MergedKernel> {
        let mut release = 0;
        set.iter()
            .map(|&(gap, c, blocks)| {
                release += gap;
                MergedKernel { release: Instant::from_ns(release), block_time: Duration::from_ns(c), blocks }
            })
            .collect()
    }

    fn g_max(blocks: u32) -> NonZeroU32 {
        NonZeroU32::new(blocks).unwrap()
    }

    fn finish(blocks: u32, set: &[(u64, u64, u32)]) -> Vec<u64> {
        finish_times(g_max(blocks), &kernels(set)).unwrap().into_iter().map(Instant::as_ns).collect()
    }

    #[test]
    fn thesis_section_3_5_and_the_orders_of_chapter_4() {
        let [k1, k2, k3, k4] = [(0, 4, 2), (0, 6, 7), (0, 6, 2), (0, 5, 5)];
        assert_eq!(finish(8, &[k1, k2, k3, k4]), [4, 10, 12, 11]);
        assert_eq!(finish(8, &[k2, k3, k4, k1]), [6, 12, 11, 10]);
        assert_eq!(finish(8, &[k2, k4, k1, k3]), [6, 11, 10, 12]);
        assert_eq!(finish(8, &[k2, k1, k3, k4]), [6, 8, 12, 11]);
    }

    #[test]
    fn a_cycle_belongs_to_the_kernel_only_if_every_resident_block_is_its_own() {
        // Six of the second kernel's blocks run while the last block of the first still holds its place.
        assert_eq!(finish(2, &[(0, 6, 3), (0, 1, 6)]), [12, 12]);
    }

    #[test]
    fn the_largest_grid_next_to_a_long_block() {
        // The long block ends at 10^9; until then seven blocks at a time, then eight.
        let grid = u32::try_from(i32::MAX).unwrap();
        assert_eq!(finish(8, &[(0, 1_000_000_000, 1), (0, 1, grid)]), [1_000_000_000, 306_783_379]);
        assert_eq!(
            finish(8, &[(0, 1_000_000, 1), (0, 1, grid)])[1],
            1_000_000 + (u64::from(grid) - 7_000_000).div_ceil(8)
        );
    }

    #[test]
    fn time_that_cannot_be_represented_is_an_error() {
        let set = kernels(&[(0, u64::MAX / 2, 17)]);
        assert_eq!(finish_times(g_max(8), &set), Err(TimeOverflow));
    }

    proptest! {
        #[test]
        fn fast_equals_printed(
            blocks in 1_u32..12,
            set in prop::collection::vec((prop_oneof![3 => Just(0_u64), 2 => 0_u64..25], 0_u64..9, 1_u32..60), 1..14),
        ) {
            let set = kernels(&set);
            let printed = algorithm_2::finish_times(g_max(blocks), &set).unwrap();
            prop_assert_eq!(finish_times(g_max(blocks), &set).unwrap(), printed);
        }
    }

    #[test]
    fn utilization_of_the_example_of_section_3_5_by_hand() {
        let task = |c, blocks| KernelTask {
            period: Duration::from_ns(15),
            block_time: Duration::from_ns(c),
            blocks,
            threads: 512,
        };
        let tasks = [task(4, 2), task(6, 7), task(6, 2), task(5, 5)];
        // 512 / 15 * (8 + 42 + 12 + 25)
        let total: f64 = tasks.iter().map(|task| task.utilization().unwrap()).sum();
        assert!((total - 512.0 * 87.0 / 15.0).abs() < 1e-9);
        assert_eq!(KernelTask { period: Duration::ZERO, ..tasks[0] }.utilization(), None);
    }
}
