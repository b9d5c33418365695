//! Whole cycles of a kernel that fills the GPU, in one step.
//!
//! While a kernel is the blocked head, no SM has room for one more of its blocks. When some of its own blocks
//! complete, exactly their places become free and it takes them again at once, on the same SMs: its state repeats
//! with the duration C of its blocks for as long as nothing else happens. So the waves of one cycle are recorded once,
//! with the number of cycles, and the events that were in the calendar move by that many times C. At least one block
//! is left for the ordinary steps, so that the end of the kernel is never inside a stretch.

use std::ops::Range;

use super::calendar::{Event, Phase};
use super::engine::{Gpu, Progress};
use super::simulation::RunError;
use crate::time::{Duration, Instant};
use crate::trace::{Part, Stretch, TraceFull, Wave};
use crate::workload::{OperationId, OperationKind, Placement};
use crate::workload::{Sequence, Start, distribute};

/// A wave of the head kernel that is running: its index, its end, and its place in the order of assignment.
pub(super) type Running = (u32, Instant, u64);

impl Gpu {
    /// Skips as many whole cycles of `operation`, a blocked head, as happen before anything else.
    pub(super) fn skip_cycles(&mut self, operation: u32) -> Result<(), RunError> {
        let record = self.progress[operation as usize];
        let OperationKind::Kernel(kernel) = self.trace.operations[operation as usize].kind else { return Ok(()) };
        let time = self.trace.kernels[kernel.0 as usize].duration;
        let worth_trying = record.running > 0
            && record.unassigned / 2 > record.running
            && !(self.skip_attempt.0 == operation && record.unassigned > self.skip_attempt.1);
        let differ = time.varies() || self.block_times[kernel.0 as usize].is_some();
        if !worth_trying || differ || self.options.report_blocks || !self.options.skip_cycles {
            return Ok(());
        }
        // Looking at the whole calendar once per cycle costs no more than the cycle itself.
        self.skip_attempt = (operation, record.unassigned - record.running);
        let mut running = std::mem::take(&mut self.scratch_running);
        let skipped = self.skip_cycles_of(operation, record, time.worst, &mut running);
        self.scratch_running = running;
        skipped
    }

    /// As [`Gpu::skip_cycles`], where it is worth trying; `running` is room for the running waves.
    fn skip_cycles_of(
        &mut self,
        operation: u32,
        record: Progress,
        block_time: Duration,
        running: &mut Vec<Running>,
    ) -> Result<(), RunError> {
        let others = self.split_calendar(operation, running);
        running.sort_unstable_by_key(|&(_, end, sequence)| (end, sequence));
        let ends_differ = running.windows(2).all(|pair| pair[0].1 < pair[1].1);
        let Some(&(_, last_end, _)) = running.last() else { return Ok(()) };
        if !ends_differ || last_end >= others {
            return Ok(());
        }
        let Some(cycle) = self.one_period(operation, running) else { return Ok(()) };
        // A period is made of `turns` cycles of duration C each; see `one_period`.
        let turns = u64::from(cycle.turns);
        let Some(period) = block_time.checked_mul(turns) else { return Ok(()) };
        let blocks = u64::from(record.running) * turns;
        let by_blocks = u64::from(record.unassigned - 1) / blocks;
        let by_time = match period.as_ns() {
            0 => u64::MAX,
            // The last completion of a skipped cycle must come before the next other event.
            ns => match last_end.checked_add(period) {
                Some(end) if end < others => (others.as_ns() - 1 - end.as_ns()) / ns + 1,
                _ => 0,
            },
        };
        let periods = by_blocks.min(by_time);
        if periods == 0 {
            return Ok(());
        }
        self.record_stretch(operation, running, &cycle, period, periods)
    }

    /// Puts the running waves of `operation` into `running`; gives the instant of the first event that is something
    /// else.
    fn split_calendar(&self, operation: u32, running: &mut Vec<Running>) -> Instant {
        running.clear();
        let mut others = self.options.horizon.saturating_add(Duration::from_ns(1));
        for (event, at, sequence) in self.calendar.iter() {
            match event {
                Event::Wave(index) if self.trace.waves[index as usize].operation == operation => {
                    running.push((index, at, sequence));
                }
                _ => others = others.min(at),
            }
        }
        others
    }

    /// What one period looks like. Most policies repeat after one cycle; the round-robin pointer may take several
    /// turns until it stands where it stood. `None` if it does not within as many turns as there are SMs.
    fn one_period(&self, operation: u32, running: &[Running]) -> Option<Period> {
        let mut period = Period { parts: Vec::new(), waves: Vec::with_capacity(running.len()), turns: 0 };
        let mut cursor = self.cursor;
        for turns in 1..=u32::try_from(self.sms.len()).unwrap_or(u32::MAX) {
            for &(index, _, _) in running {
                let wave = &self.trace.waves[index as usize];
                let range = wave.parts.0 as usize..(wave.parts.0 + wave.parts.1) as usize;
                let used = self.trace.parts[range].iter().filter(|part| part.blocks > 0);
                let first = period.parts.len();
                period.parts.extend(used.map(|part| Part { room: part.blocks, blocks: 0, ..*part }));
                let mut start = Start { cursor, seed: self.options.seed, operation, first_block: 0 };
                distribute(
                    self.options.placement,
                    &mut period.parts[first..],
                    wave.blocks,
                    &mut start,
                    &mut Sequence::default(),
                );
                period.waves.push((first..period.parts.len(), cursor));
                cursor = start.cursor;
            }
            if cursor == self.cursor || self.options.placement != Placement::RoundRobin {
                return Some(Period { turns, ..period });
            }
        }
        None
    }

    /// Records `periods` periods and moves the running waves behind them.
    fn record_stretch(
        &mut self,
        operation: u32,
        running: &[Running],
        cycle: &Period,
        period: Duration,
        periods: u64,
    ) -> Result<(), RunError> {
        let overflow = RunError::TimeOverflow { operation: OperationId(operation) };
        let record = self.progress[operation as usize];
        let OperationKind::Kernel(kernel) = self.trace.operations[operation as usize].kind else { return Ok(()) };
        let kernel = &self.trace.kernels[kernel.0 as usize];
        let (grid, duration) = (kernel.blocks, kernel.duration.worst);
        // Fewer than the blocks of one grid, which fit 32 bits.
        let cycles = u32::try_from(periods).map_err(|_| TraceFull)?;
        let blocks = record.running * cycle.turns;
        let stretch = self.trace.next_stretch()?;
        let skipped = period.checked_mul(periods - 1).ok_or(overflow)?;
        let mut first_block = grid - record.unassigned;
        let mut first_wave = None;
        for (position, (parts, cursor)) in cycle.waves.iter().enumerate() {
            let parts = &cycle.parts[parts.clone()];
            let turn = position / running.len();
            let (_, end, _) = running[position % running.len()];
            let turn_start = duration.checked_mul(turn as u64).and_then(|shift| end.checked_add(shift));
            let start = turn_start.ok_or(overflow)?;
            let wave = Wave {
                operation,
                first_block,
                blocks: parts.iter().map(|part| u32::from(part.blocks)).sum(),
                parts: self.trace.add_parts(parts)?,
                cursor: *cursor,
                stretch,
                start,
                duration,
            };
            first_block += wave.blocks;
            let index = self.trace.add_wave(wave)?;
            first_wave.get_or_insert(index);
            // Only the last turn of the last period is still running when the stretch is over.
            if turn + 1 == cycle.turns as usize {
                let end = start.checked_add(skipped).and_then(|last| last.checked_add(duration)).ok_or(overflow)?;
                let sequence = self.next_sequence();
                self.calendar.push(Event::Wave(index), end, Phase::Completion, sequence);
            }
        }
        for &(index, _, _) in running {
            self.calendar.remove(Event::Wave(index));
        }
        let waves = u32::try_from(cycle.waves.len()).map_err(|_| TraceFull)?;
        let first_wave = first_wave.ok_or(TraceFull)?;
        self.trace.stretches.push(Stretch { first_wave, waves, cycles, period, blocks });
        self.progress[operation as usize].unassigned -= blocks * cycles;
        Ok(())
    }
}

/// What one period looks like.
struct Period {
    parts: Vec<Part>,
    /// The waves: which of the parts, and the round-robin pointer before it.
    waves: Vec<(Range<usize>, u32)>,
    /// Cycles.
    turns: u32,
}
