//! The blocks of a kernel launch, expanded from its waves and stretches.

use std::ops::Range;

use super::entries::{Block, Stretch, Wave, WaveParts};
use super::record::Trace;
use crate::limits::{count_turn, end_if_stopped};
use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::workload::{BlockClock, OperationId, Part, Sequence, Start};

/// Blocks of one kernel that ran on one SM at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRun {
    /// The SM.
    pub sm: u16,
    /// How many blocks.
    pub blocks: u16,
    /// When they were assigned.
    pub start: Instant,
    /// When they completed.
    pub end: Instant,
    /// Number of the first block of the wave that they belong to.
    pub first_block: u32,
}

/// Blocks of one kernel on one SM, followed without a pause by as many others, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedRun {
    /// The first time.
    pub first: BlockRun,
    /// How often in all, at least 1; each time begins where the one before ends.
    pub times: u32,
}

impl RepeatedRun {
    /// How long the blocks run.
    pub fn duration(&self) -> Duration {
        self.first.end.since(self.first.start)
    }

    /// When the last of them completed.
    pub fn end(&self) -> Instant {
        self.first.start + self.duration().repeated(u64::from(self.times))
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u64 {
        u64::from(self.first.blocks) * u64::from(self.times)
    }
}

impl Trace {
    /// The blocks of a kernel launch, grouped by SM and instant, in the order of assignment. A stretch of many cycles
    /// is expanded as the iterator advances.
    pub fn block_runs(&self, operation: OperationId) -> impl Iterator<Item = BlockRun> + '_ {
        self.repeats(operation, Instant::ZERO..Instant::MAX).flat_map(move |(wave, start, first_block)| {
            self.parts_of(wave).iter().filter(|part| part.blocks > 0).map(move |part| BlockRun {
                sm: part.sm,
                blocks: part.blocks,
                start,
                end: self.end_of_wave(wave, start),
                first_block,
            })
        })
    }

    /// The blocks of a kernel launch one by one, in the order of assignment, expanded as the iterator advances.
    pub fn blocks(&self, operation: OperationId) -> impl Iterator<Item = Block> + '_ {
        self.blocks_within(operation, Instant::ZERO..Instant::MAX)
    }

    /// Those of [`Trace::blocks`] that were on an SM at some time of `window`; blocks of no length count at both
    /// of its ends. Cycles of a stretch that lie outside it are skipped, not expanded.
    pub fn blocks_within(&self, operation: OperationId, window: Range<Instant>) -> impl Iterator<Item = Block> + '_ {
        let mut repeats = self.repeats(operation, window);
        let mut sequence = Sequence::default();
        let mut current: Option<(&Wave, Range<Instant>)> = None;
        let (mut next, mut blocks, mut first) = (0, 0, 0);
        std::iter::from_fn(move || {
            if next == blocks {
                let (wave, start, first_block) = repeats.next()?;
                current = Some((wave, start..self.end_of_wave(wave, start)));
                first = first_block;
                // With one SM there is nothing to choose.
                let parts = self.parts_of(wave);
                (next, blocks) = (0, parts.iter().map(|part| u32::from(part.blocks)).sum());
                if parts.len() > 1 {
                    let (cursor, seed, operation) = (wave.cursor, self.seed, operation.0);
                    // What was dealt is known.
                    let mut choice = Start { cursor, seed, operation, first_block, lone_from: 0 };
                    sequence.begin(self.placement, parts, blocks, &mut choice);
                }
            }
            let (wave, time) = current.as_ref()?;
            let (start, end) = (time.start, time.end);
            let part = match self.parts_of(wave) {
                [only] => only,
                parts => parts.get(sequence.next(parts)? as usize)?,
            };
            let index = first + next;
            next += 1;
            Some(Block { index, sm: part.sm, start, end })
        })
    }

    /// The blocks of a kernel launch, grouped by SM and instant, where a stretch is not expanded: what follows on the
    /// same SM without a pause is one item. Each block is in exactly one item, and the items that overlap in time
    /// fit on their SM together.
    pub fn repeated_runs(&self, operation: OperationId) -> impl Iterator<Item = RepeatedRun> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        let repeated = waves.iter().filter_map(|&index| {
            let wave = self.waves.get(index as usize)?;
            let Some(stretch) = self.stretches.get(wave.stretch as usize) else { return Some((wave, 1)) };
            // A period is several turns, each as long as a block. Every turn takes exactly the places that the one
            // before has left, on the same SMs, so the first one stands for all.
            let turns = stretch.period.as_ns().checked_div(wave.duration.as_ns()).unwrap_or(1);
            let turns = u32::try_from(turns).unwrap_or(1).max(1);
            (index < stretch.first_wave + stretch.waves / turns).then(|| (wave, stretch.cycles.saturating_mul(turns)))
        });
        repeated.flat_map(move |(wave, times)| {
            self.parts_of(wave).iter().filter(|part| part.blocks > 0).map(move |part| {
                let (start, end) = (wave.start, self.end_of_wave(wave, wave.start));
                let first = BlockRun { sm: part.sm, blocks: part.blocks, start, end, first_block: wave.first_block };
                RepeatedRun { first, times }
            })
        })
    }

    /// The blocks of a kernel launch that are on SMs at `at`, after all events of that instant; not those of a context
    /// whose turn it is not. Stretches are not expanded.
    pub fn resident_at(&self, operation: OperationId, at: Instant) -> impl Iterator<Item = Part> + '_ {
        let is_turn = self.process_of(operation).is_none_or(|process| self.is_turn_of(process, at));
        self.begun_at(operation, at, Duration::ZERO).filter(move |_| is_turn)
    }

    /// Those of which an SM has something at `at`, if what a block holds comes free so long after its end.
    pub(super) fn held_on_sms(
        &self,
        operation: OperationId,
        at: Instant,
        block_gap: Duration,
    ) -> impl Iterator<Item = Part> + '_ {
        let is_turn = self.process_of(operation).is_none_or(|process| self.is_turn_of(process, at));
        self.begun_at(operation, at, block_gap).filter(move |_| is_turn)
    }

    /// Those that have begun and are suspended at `at`, as it is not the turn of their context (T4), and the SMs that
    /// keep them.
    pub fn suspended_at(&self, operation: OperationId, at: Instant) -> impl Iterator<Item = Part> + '_ {
        let is_turn = self.process_of(operation).is_none_or(|process| self.is_turn_of(process, at));
        self.begun_at(operation, at, Duration::ZERO).filter(move |_| !is_turn)
    }

    /// The blocks that have begun and not completed so long ago after all events of `at`.
    fn begun_at(&self, operation: OperationId, at: Instant, gap: Duration) -> impl Iterator<Item = Part> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        waves.iter().filter_map(|&index| self.waves.get(index as usize)).flat_map(move |wave| {
            let stretch = self.stretches.get(wave.stretch as usize);
            let (period, cycles) = stretch.map_or((0, 1), |stretch| (stretch.period.as_ns(), stretch.cycles));
            let since_first = at.since(wave.start).as_ns();
            let cycle = since_first.checked_div(period).unwrap_or(0).min(u64::from(cycles) - 1);
            let start = wave.start + Duration::from_ns(period * cycle);
            let end = self.end_of_wave(wave, start);
            // After the run there is what there was at its end.
            let resident = wave.start <= at && (at < end.saturating_add(gap) || end > self.end);
            self.parts_of(wave).iter().copied().filter(move |part| resident && part.blocks > 0)
        })
    }

    /// How many blocks of a kernel launch have begun after all events of `at`: they are numbered in the order of
    /// assignment. Stretches are not expanded.
    pub fn begun_by(&self, operation: OperationId, at: Instant) -> u32 {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        let waves = waves.iter().filter_map(|&index| self.waves.get(index as usize));
        let numbers = waves.filter(|wave| wave.start <= at).map(|wave| self.begun_with(wave, at));
        let before = self.begun_before.iter().filter(|(of, _)| *of == operation.0).map(|(_, begun)| *begun);
        numbers.chain(before).max().unwrap_or(0)
    }

    /// How many blocks of its launch have begun with a wave until `at`.
    pub(super) fn begun_with(&self, wave: &Wave, at: Instant) -> u32 {
        let repeated = self.stretches.get(wave.stretch as usize).map_or(0, |stretch| {
            let cycles = at.since(wave.start).as_ns().checked_div(stretch.period.as_ns()).unwrap_or(u64::MAX);
            stretch.blocks * u32::try_from(cycles).or_most().min(stretch.cycles - 1)
        });
        let own: u32 = self.parts_of(wave).iter().map(|part| u32::from(part.blocks)).sum();
        wave.first_block + repeated + own
    }

    /// Summed run time of the blocks of a kernel launch \[ns\], one entry for each SM and wave. What reaches beyond the
    /// end of the run does not count. Stretches are not expanded.
    pub fn block_time(&self, operation: OperationId) -> impl Iterator<Item = (u16, u128)> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        waves.iter().filter_map(|&index| self.waves.get(index as usize)).flat_map(|wave| self.block_time_of(wave))
    }

    /// [`Trace::block_time`] of the blocks of one wave, all its repetitions included.
    #[inline]
    pub(super) fn block_time_of<'a>(&'a self, wave: &'a Wave) -> impl Iterator<Item = (u16, u128)> + 'a {
        let (last, cycles) = self.last_repetition(wave);
        // Only the last of them can reach beyond the end.
        let last_time = if self.turns().is_empty() {
            (last + wave.duration).min(self.end) - last
        } else {
            let process = self.process_of_known(OperationId(wave.operation));
            self.time_in_turn(process, last..self.end_of_wave(wave, last).min(self.end))
        };
        let time = u128::from(wave.duration.as_ns()) * u128::from(cycles - 1) + u128::from(last_time.as_ns());
        self.parts_of(wave).iter().map(move |part| (part.sm, time * u128::from(part.blocks)))
    }

    /// When a wave happens for the last time, and how often in all.
    #[inline]
    pub(super) fn last_repetition(&self, wave: &Wave) -> (Instant, u32) {
        match self.stretches.get(wave.stretch as usize) {
            None => (wave.start, 1),
            Some(stretch) => (wave.start + stretch.period.repeated(u64::from(stretch.cycles - 1)), stretch.cycles),
        }
    }

    /// Every time that a wave of an operation happened and touched `window`: the wave, when, and its first block.
    fn repeats(&self, operation: OperationId, window: Range<Instant>) -> Repeats<'_> {
        Repeats::new(self, &self.waves_by_operation[self.wave_range(operation)], window)
    }

    /// The cycles of a stretch of which some wave may touch `window`.
    pub(super) fn cycles_within(&self, stretch: &Stretch, window: Range<Instant>) -> Range<u32> {
        let range = stretch.first_wave as usize..(stretch.first_wave + stretch.waves) as usize;
        let waves = self.waves.get(range).unwrap_or_default();
        let starts = waves.iter().map(|wave| wave.start).min();
        let ends = waves.iter().map(|wave| self.end_of_wave(wave, wave.start)).max();
        let (Some(first_start), Some(first_end), false) = (starts, ends, stretch.period == Duration::ZERO) else {
            return 0..stretch.cycles;
        };
        let period = stretch.period.as_ns();
        let cycles = |ns: u64| u32::try_from(ns).or_most().min(stretch.cycles);
        cycles(window.start.since(first_end).as_ns() / period)
            ..cycles(window.end.since(first_start).as_ns().div_ceil(period))
    }

    /// When the blocks of a wave end that began at `start`, in whichever cycle of its stretch.
    pub(super) fn end_of_wave(&self, wave: &Wave, start: Instant) -> Instant {
        if self.turns().is_empty() {
            return start + wave.duration;
        }
        let operation = OperationId(wave.operation);
        let process = self.process_of_known(operation);
        match self.kernel_of(operation).map_or(BlockClock::RunTime, |kernel| kernel.clock) {
            BlockClock::RunTime => self.end_of(process, start, wave.duration),
            BlockClock::Wall => self.end_of_timer(process, start + wave.duration),
        }
    }

    fn wave_range(&self, operation: OperationId) -> Range<usize> {
        // Whoever goes through a run comes by here.
        end_if_stopped();
        let Some(place) = self.place(operation) else { return 0..0 };
        match (self.first_wave.get(place), self.first_wave.get(place + 1)) {
            (Some(&first), Some(&end)) => first as usize..end as usize,
            _ => 0..0,
        }
    }

    #[inline]
    pub(super) fn parts_of<'a>(&'a self, wave: &'a Wave) -> &'a [Part] {
        match &wave.parts {
            WaveParts::One(part) => std::slice::from_ref(part),
            &WaveParts::Many(first, count) => &self.parts[first as usize..first as usize + usize::from(count)],
        }
    }
}

/// Every time that a wave of an operation happened and touched a window of time: the wave, when, and its first block.
#[derive(Debug, Clone)]
pub(super) struct Repeats<'a> {
    trace: &'a Trace,
    /// What is left of the operation's waves.
    waves: &'a [u32],
    window: Range<Instant>,
    repeating: Option<Repeating>,
}

/// A stretch that is being expanded.
#[derive(Debug, Clone)]
struct Repeating {
    stretch: Stretch,
    cycles: Range<u32>,
    /// The next wave of the first of these cycles.
    next: u32,
}

impl<'a> Repeats<'a> {
    /// Those of `waves` that touch `window`. The waves of a stretch follow each other.
    pub(super) fn new(trace: &'a Trace, waves: &'a [u32], window: Range<Instant>) -> Self {
        Self { trace, waves, window, repeating: None }
    }

    /// Whether a wave that starts at `start` touches the window; one of no length does so at both ends, too.
    fn touches(&self, wave: &Wave, start: Instant) -> bool {
        let end = self.trace.end_of_wave(wave, start);
        let begins = start < self.window.end || start == end && start == self.window.end;
        begins && (end > self.window.start || start >= self.window.start)
    }

    fn next_repeated(&mut self) -> Option<(&'a Wave, Instant, u32)> {
        while let Some(repeating) = &mut self.repeating {
            count_turn();
            let Repeating { stretch, cycles, next } = repeating;
            if cycles.start >= cycles.end {
                self.repeating = None;
                break;
            }
            let (stretch, cycle, index) = (*stretch, cycles.start, *next);
            *next += 1;
            if *next >= stretch.first_wave + stretch.waves {
                *next = stretch.first_wave;
                cycles.start += 1;
            }
            let wave = self.trace.waves.get(index as usize)?;
            let Some(shift) = stretch.period.checked_mul(u64::from(cycle)) else { continue };
            let start = wave.start + shift;
            if self.touches(wave, start) {
                return Some((wave, start, wave.first_block + stretch.blocks * cycle));
            }
        }
        None
    }
}

impl<'a> Iterator for Repeats<'a> {
    type Item = (&'a Wave, Instant, u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            count_turn();
            if self.repeating.is_some()
                && let Some(repeat) = self.next_repeated()
            {
                return Some(repeat);
            }
            let (&index, rest) = self.waves.split_first()?;
            let wave = self.trace.waves.get(index as usize)?;
            let Some(&stretch) = self.trace.stretches.get(wave.stretch as usize) else {
                self.waves = rest;
                if self.touches(wave, wave.start) {
                    return Some((wave, wave.start, wave.first_block));
                }
                continue;
            };
            self.waves = self.waves.get(stretch.waves as usize..).unwrap_or_default();
            let cycles = self.trace.cycles_within(&stretch, self.window.clone());
            self.repeating = Some(Repeating { stretch, cycles, next: stretch.first_wave });
        }
    }
}
