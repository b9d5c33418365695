//! What happened, compactly: it grows with events, not with blocks.

use std::ops::Range;

use super::engine::Gpu;
use super::operation::{NEVER, OperationRecord};
use super::placement::{Sequence, Start};
use super::rule::Rule;
use super::simulation::RunError;
use super::wave::{Block, NO_STRETCH, Part, Stretch, Wave};
use crate::time::{Duration, Instant};
use crate::workload::{Copy, Kernel, OperationId, OperationKind, Placement, StreamId, StreamSpec};

/// The record of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    sms: u32,
    placement: Placement,
    seed: u64,
    end: Instant,
    pub(super) streams: Vec<StreamSpec>,
    pub(super) kernels: Vec<Kernel>,
    pub(super) copies: Vec<Copy>,
    pub(super) operations: Vec<OperationRecord>,
    pub(super) waves: Vec<Wave>,
    pub(super) parts: Vec<Part>,
    pub(super) stretches: Vec<Stretch>,
    /// Waits that cannot be told from the instants of an operation, sorted by operation once the run is over.
    waits: Vec<(u32, Wait)>,
    /// For each operation, where its waves begin in `waves_by_operation`; filled once the run is over.
    first_wave: Vec<u32>,
    waves_by_operation: Vec<u32>,
}

/// A time during which an operation waited, and the rule that held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The rule.
    pub rule: Rule,
    /// From.
    pub from: Instant,
    /// Until; the end of the run for what still waited then.
    pub to: Instant,
}

impl Wait {
    /// How long.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.to.since(self.from)
    }
}

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
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.first.end.since(self.first.start)
    }

    /// When the last of them completed.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.first.start + self.duration().checked_mul(u64::from(self.times)).unwrap_or_default()
    }

    /// Blocks in all.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        u64::from(self.first.blocks) * u64::from(self.times)
    }
}

impl Trace {
    pub(super) fn new(sms: u32, placement: Placement, seed: u64) -> Self {
        Self {
            sms,
            placement,
            seed,
            end: Instant::ZERO,
            streams: Vec::new(),
            kernels: Vec::new(),
            copies: Vec::new(),
            operations: Vec::new(),
            waves: Vec::new(),
            parts: Vec::new(),
            stretches: Vec::new(),
            waits: Vec::new(),
            first_wave: Vec::new(),
            waves_by_operation: Vec::new(),
        }
    }

    /// Makes room for `launches` kernel launches of one wave each.
    pub(super) fn reserve(&mut self, launches: usize) {
        self.operations.reserve(launches);
        self.waves.reserve(launches);
        self.parts.reserve(launches.saturating_mul(self.sms as usize));
    }

    /// Forgets what happened.
    pub(super) fn clear(&mut self) {
        self.end = Instant::ZERO;
        self.operations.clear();
        self.waves.clear();
        self.parts.clear();
        self.stretches.clear();
        self.waits.clear();
        self.first_wave.clear();
        self.waves_by_operation.clear();
    }

    /// Forgets kernels and copies.
    pub(super) fn forget_work(&mut self) {
        self.kernels.clear();
        self.copies.clear();
    }

    /// SMs of the device.
    #[must_use]
    pub fn sms(&self) -> u32 {
        self.sms
    }

    /// The policy by which blocks were placed.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The last instant at which something happened, or the horizon if the run ended there.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.end
    }

    /// All streams; number 0 is the NULL stream.
    #[must_use]
    pub fn streams(&self) -> &[StreamSpec] {
        &self.streams
    }

    /// All kernels that were made known.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// All copies that were made known.
    #[must_use]
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// All operations, in launch order (G1).
    #[must_use]
    pub fn operations(&self) -> &[OperationRecord] {
        &self.operations
    }

    /// Number of waves recorded, each one instant at which blocks of one kernel were assigned (stretches once).
    #[must_use]
    pub fn waves(&self) -> usize {
        self.waves.len()
    }

    /// The kernel of a kernel launch; `None` for copies, memsets and unknown operations.
    #[must_use]
    pub fn kernel_of(&self, operation: OperationId) -> Option<&Kernel> {
        match self.operations.get(operation.0 as usize)?.kind {
            OperationKind::Kernel(kernel) => self.kernels.get(kernel.0 as usize),
            _ => None,
        }
    }

    /// Why and for how long an operation waited until it was fully dispatched, in order of time.
    ///
    /// Together with the time in which its blocks were assigned without waiting, of length zero, this covers the
    /// whole time from its launch to its full dispatch.
    #[must_use]
    pub fn waits(&self, operation: OperationId) -> Vec<Wait> {
        let mut waits = self.open_waits(operation);
        for wait in &mut waits {
            wait.to = wait.to.min(self.end);
        }
        waits.retain(|wait| wait.from < wait.to);
        waits
    }

    /// The rule that holds an operation after all events of `at`; since when, and until when or [`Instant::MAX`] if it
    /// still holds when the run ends. `None`: it was not submitted yet, or nothing of it waits any more.
    #[must_use]
    pub fn held_at(&self, operation: OperationId, at: Instant) -> Option<Wait> {
        self.open_waits(operation).into_iter().find(|wait| wait.from <= at && at < wait.to)
    }

    /// As [`Trace::waits`], but what still waits when the run ends does so until [`Instant::MAX`], even if it began to
    /// wait at the last instant of the run.
    pub(crate) fn open_waits(&self, operation: OperationId) -> Vec<Wait> {
        let Some(record) = self.operations.get(operation.0 as usize) else { return Vec::new() };
        let first = self.waits.partition_point(|(other, _)| *other < operation.0);
        let noted = self.waits[first..].iter().take_while(|(other, _)| *other == operation.0).map(|(_, wait)| *wait);
        let (channel, head): (Vec<Wait>, Vec<Wait>) = noted.partition(|wait| wait.rule == Rule::Channel);

        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        let queue_rule = if is_copy { Rule::C1 } else { Rule::G2 };
        let null_rule = if record.stream == StreamId::NULL { Rule::N1 } else { Rule::N2 };
        let passed_null = channel.first().map_or(record.queued, |wait| wait.from);
        let mut waits = vec![
            Wait { rule: queue_rule, from: record.launched, to: record.reached_head },
            Wait { rule: null_rule, from: record.reached_head, to: passed_null },
        ];
        waits.extend(channel);
        match record.kind {
            OperationKind::Kernel(_) => {
                waits.push(Wait { rule: Rule::X1, from: record.queued, to: record.reached_queue_head });
                waits.extend(head);
            }
            OperationKind::Copy(_) => {
                waits.push(Wait { rule: Rule::C2, from: record.queued, to: record.first_start });
            }
            OperationKind::Memset => {}
        }
        waits.retain(|wait| wait.from < wait.to);
        // Another rule may have held it between two rounds of one instant.
        waits.dedup_by(|next, wait| {
            let continues = wait.rule == next.rule && wait.to == next.from;
            if continues {
                wait.to = next.to;
            }
            continues
        });
        waits
    }

    /// The blocks of a kernel launch, grouped by SM and instant, in the order of assignment. A stretch of many cycles
    /// is expanded as the iterator advances.
    pub fn block_runs(&self, operation: OperationId) -> impl Iterator<Item = BlockRun> + '_ {
        self.turns(operation, Instant::ZERO..Instant::MAX).flat_map(move |(wave, start, first_block)| {
            self.parts_of(wave).iter().filter(|part| part.blocks > 0).map(move |part| BlockRun {
                sm: part.sm,
                blocks: part.blocks,
                start,
                end: start + wave.duration,
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
        let mut turns = self.turns(operation, window);
        let mut sequence = Sequence::default();
        let mut current: Option<(&Wave, Instant, u32)> = None;
        let mut next = 0;
        std::iter::from_fn(move || {
            if next == sequence.order.len() {
                let (wave, start, first_block) = turns.next()?;
                let mut choice = Start { cursor: wave.cursor, seed: self.seed, operation: operation.0, first_block };
                sequence.choose(self.placement, self.parts_of(wave), wave.blocks, &mut choice);
                current = Some((wave, start, first_block));
                next = 0;
            }
            let (wave, start, first_block) = current?;
            let part = self.parts_of(wave).get(*sequence.order.get(next)?)?;
            // Fewer than the blocks of one grid, which fit 32 bits.
            let index = first_block + u32::try_from(next).ok()?;
            next += 1;
            Some(Block { index, sm: part.sm, start, end: start + wave.duration })
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
                let (start, end) = (wave.start, wave.start + wave.duration);
                let first = BlockRun { sm: part.sm, blocks: part.blocks, start, end, first_block: wave.first_block };
                RepeatedRun { first, times }
            })
        })
    }

    /// The blocks of a kernel launch that are on SMs at `at`, after all events of that instant. Stretches are not
    /// expanded.
    pub fn resident_at(&self, operation: OperationId, at: Instant) -> impl Iterator<Item = Part> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        waves.iter().filter_map(|&index| self.waves.get(index as usize)).flat_map(move |wave| {
            let stretch = self.stretches.get(wave.stretch as usize);
            let (period, cycles) = stretch.map_or((0, 1), |stretch| (stretch.period.as_ns(), stretch.cycles));
            let since_first = at.since(wave.start).as_ns();
            let cycle = since_first.checked_div(period).unwrap_or(0).min(u64::from(cycles) - 1);
            let into_block = since_first - period * cycle;
            let resident = wave.start <= at && into_block < wave.duration.as_ns();
            self.parts_of(wave).iter().copied().filter(move |part| resident && part.blocks > 0)
        })
    }

    /// Summed run time of the blocks of a kernel launch \[ns\], one entry for each SM and wave. What reaches beyond the
    /// end of the run does not count. Stretches are not expanded.
    pub fn block_time(&self, operation: OperationId) -> impl Iterator<Item = (u16, u128)> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        waves.iter().filter_map(|&index| self.waves.get(index as usize)).flat_map(move |wave| {
            let cycles = self.stretches.get(wave.stretch as usize).map_or(1, |stretch| stretch.cycles);
            let period = self.stretches.get(wave.stretch as usize).map_or(Duration::ZERO, |stretch| stretch.period);
            // Only the last of them can reach beyond the end.
            let last = wave.start + period.checked_mul(u64::from(cycles - 1)).unwrap_or_default();
            let last_time = (last + wave.duration).min(self.end) - last;
            let time = u128::from(wave.duration.as_ns()) * u128::from(cycles - 1) + u128::from(last_time.as_ns());
            self.parts_of(wave).iter().map(move |part| (part.sm, time * u128::from(part.blocks)))
        })
    }

    /// Every time that a wave of an operation happened and touched `window`: the wave, when, and its first block.
    fn turns(
        &self,
        operation: OperationId,
        window: Range<Instant>,
    ) -> impl Iterator<Item = (&Wave, Instant, u32)> + '_ {
        let waves = &self.waves_by_operation[self.wave_range(operation)];
        let mut position = 0;
        std::iter::from_fn(move || {
            let index = *waves.get(position)?;
            let wave = self.waves.get(index as usize)?;
            let stretch = self.stretches.get(wave.stretch as usize).copied();
            position += stretch.map_or(1, |stretch| stretch.waves as usize);
            Some((index, stretch))
        })
        .flat_map(move |(index, stretch)| {
            let waves = stretch.map_or(1, |stretch| stretch.waves);
            let (from, to) = (window.start, window.end);
            let cycles = stretch.map_or(0..1, |stretch| self.cycles_within(&stretch, from..to));
            cycles.flat_map(move |cycle| {
                (index..index + waves).filter_map(move |index| {
                    let wave = self.waves.get(index as usize)?;
                    let (period, blocks) = stretch.map_or((Duration::ZERO, 0), |s| (s.period, s.blocks));
                    let shift = period.checked_mul(u64::from(cycle))?;
                    let start = wave.start + shift;
                    let end = start + wave.duration;
                    let begins = start < to || start == end && start == to;
                    let touches = begins && (end > from || start >= from);
                    touches.then(|| (wave, start, wave.first_block + blocks * cycle))
                })
            })
        })
    }

    /// The cycles of a stretch of which some wave may touch `window`.
    fn cycles_within(&self, stretch: &Stretch, window: Range<Instant>) -> Range<u32> {
        let range = stretch.first_wave as usize..(stretch.first_wave + stretch.waves) as usize;
        let waves = self.waves.get(range).unwrap_or_default();
        let starts = waves.iter().map(|wave| wave.start).min();
        let ends = waves.iter().map(|wave| wave.start + wave.duration).max();
        let (Some(first_start), Some(first_end), false) = (starts, ends, stretch.period == Duration::ZERO) else {
            return 0..stretch.cycles;
        };
        let period = stretch.period.as_ns();
        let cycles = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX).min(stretch.cycles);
        cycles(window.start.since(first_end).as_ns() / period)
            ..cycles(window.end.since(first_start).as_ns().div_ceil(period))
    }

    fn wave_range(&self, operation: OperationId) -> Range<usize> {
        let index = operation.0 as usize;
        match (self.first_wave.get(index), self.first_wave.get(index + 1)) {
            (Some(&first), Some(&end)) => first as usize..end as usize,
            _ => 0..0,
        }
    }

    fn parts_of(&self, wave: &Wave) -> &[Part] {
        &self.parts[wave.parts.0 as usize..(wave.parts.0 + wave.parts.1) as usize]
    }

    pub(super) fn add_parts(&mut self, parts: &[Part]) -> Result<(u32, u32), RunError> {
        let first = u32::try_from(self.parts.len()).map_err(|_| RunError::TraceFull)?;
        let count = u32::try_from(parts.len()).map_err(|_| RunError::TraceFull)?;
        self.parts.extend_from_slice(parts);
        first.checked_add(count).map(|_| (first, count)).ok_or(RunError::TraceFull)
    }

    pub(super) fn add_wave(&mut self, wave: Wave) -> Result<u32, RunError> {
        let index = u32::try_from(self.waves.len()).map_err(|_| RunError::TraceFull)?;
        self.waves.push(wave);
        Ok(index)
    }

    pub(super) fn next_stretch(&self) -> Result<u32, RunError> {
        u32::try_from(self.stretches.len()).ok().filter(|&next| next != NO_STRETCH).ok_or(RunError::TraceFull)
    }

    pub(super) fn note_wait(&mut self, operation: u32, rule: Rule, from: Instant, to: Instant) {
        if from < to {
            self.waits.push((operation, Wait { rule, from, to }));
        }
    }
}

impl Gpu {
    /// Ends the record at `end`: what still waits does so for good, and the indexes are built.
    pub(super) fn close(&mut self, end: Instant) {
        let open_heads: Vec<_> = self.ee_queues.iter_mut().filter_map(|queue| queue.blocked.take()).collect();
        for (head, rule, since) in open_heads {
            self.trace.note_wait(head, rule, since, NEVER);
        }
        while let Some((operation, since)) = self.channel_queue.pop_front() {
            self.trace.note_wait(operation, Rule::Channel, since, NEVER);
        }
        self.trace.index(end);
        debug_assert!(self.trace.operations.iter().all(|record| record.launched != NEVER));
    }
}

impl Trace {
    /// Ends the record at `end` and builds its indexes.
    pub(super) fn index(&mut self, end: Instant) {
        self.end = end;
        self.waits.sort_by_key(|(operation, _)| *operation);

        // Where each operation's waves end, then, filled from the end, where they begin.
        let operations = self.operations.len();
        self.first_wave.clear();
        self.first_wave.resize(operations + 1, 0);
        for wave in &self.waves {
            self.first_wave[wave.operation as usize] += 1;
        }
        let mut end = 0;
        for first in &mut self.first_wave {
            end += *first;
            *first = end;
        }
        self.waves_by_operation.clear();
        self.waves_by_operation.resize(self.waves.len(), 0);
        // Waves are counted with 32 bits.
        for (index, wave) in self.waves.iter().enumerate().rev() {
            let first = &mut self.first_wave[wave.operation as usize];
            *first -= 1;
            self.waves_by_operation[*first as usize] = u32::try_from(index).unwrap_or(u32::MAX);
        }
    }
}
