//! Whole cycles of a kernel that fills the GPU, in one step.
//!
//! While a kernel is the blocked head, no SM has room for one more of its blocks. When some of its own blocks
//! complete, exactly their places become free and it takes them again at once, on the same SMs: its state repeats
//! with the duration C of its blocks for as long as nothing else happens. So the waves of one cycle are recorded once,
//! with the number of cycles, and the events that were in the calendar move by that many times C. At least one block
//! is left for the ordinary steps, so that the end of the kernel is never inside a stretch.

use std::ops::Range;

use super::{BackendContext, RunningKernel, Share, SmBackend};
use crate::gpu::calendar::{Completion, Event};
use crate::gpu::host::RunError;
use crate::time::{Duration, Instant};
use crate::trace::{NewStretch, NewWave, Observer, TraceFull};
use crate::workload::{Part, Placement, Start, distribute};

/// A wave of the head kernel that is running: its place, its end, and its place in the order of assignment.
pub(super) type Running = (u32, Instant, u64);

/// What one period looks like.
#[derive(Debug, Clone, Default)]
pub(super) struct Period {
    parts: Vec<Part>,
    /// The waves: which of the parts, how many blocks, and the round-robin pointer before it.
    waves: Vec<(Range<usize>, u32, u32)>,
    /// How many cycles of the block time it has.
    cycles: u32,
}

impl SmBackend {
    /// Skips as many whole cycles of the kernel at place `head`, a blocked head, as happen before anything else.
    #[inline(never)]
    pub(super) fn skip_cycles<O: Observer>(
        &mut self,
        head: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let kernel = &self.kernels[head as usize];
        let worth_trying = kernel.running > 0
            && kernel.unassigned / 2 > kernel.running
            && !kernel.programmatic.is_dependent
            && !kernel.synchronizes
            && !(self.skip_attempt.0 == kernel.operation && kernel.unassigned > self.skip_attempt.1);
        if !worth_trying || !self.may_skip_cycles {
            return Ok(());
        }
        let Some(block_time) = kernel.duration else { return Ok(()) };
        let kernel = *kernel;
        // Looking at the whole calendar once per cycle costs no more than the cycle itself.
        self.skip_attempt = (kernel.operation, kernel.unassigned - kernel.running);
        let mut running = std::mem::take(&mut self.scratch_running);
        let mut period = std::mem::take(&mut self.scratch_period);
        let skipped = self.skip_cycles_of(head, kernel, block_time, &mut running, &mut period, context);
        self.scratch_running = running;
        self.scratch_period = period;
        skipped
    }

    /// As [`SmBackend::skip_cycles`], where it is worth trying, with room to work in.
    fn skip_cycles_of<O: Observer>(
        &mut self,
        head: u32,
        kernel: RunningKernel,
        block_time: Duration,
        running: &mut Vec<Running>,
        period: &mut Period,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let others = self.split_calendar(head, running, context);
        running.sort_unstable_by_key(|&(_, end, sequence)| (end, sequence));
        let ends_differ = running.windows(2).all(|pair| pair[0].1 < pair[1].1);
        let Some(&(_, last_end, _)) = running.last() else { return Ok(()) };
        if !ends_differ || last_end >= others || !self.one_period(kernel, running, period) {
            return Ok(());
        }
        // A period is made of `cycles` cycles of duration C each; see `one_period`.
        let cycles = u64::from(period.cycles);
        let Some(length) = block_time.checked_mul(cycles) else { return Ok(()) };
        let blocks = u64::from(kernel.running) * cycles;
        let by_blocks = u64::from(kernel.unassigned - 1) / blocks;
        let by_time = match length.as_ns() {
            0 => u64::MAX,
            // The last completion of a skipped cycle must come before the next other event.
            ns => match last_end.checked_add(length) {
                Some(end) if end < others => (others.as_ns() - 1 - end.as_ns()) / ns + 1,
                _ => 0,
            },
        };
        let periods = by_blocks.min(by_time);
        if periods == 0 {
            return Ok(());
        }
        // Fewer than the blocks of one grid, which fit 32 bits.
        let periods = u32::try_from(periods).map_err(|_| TraceFull)?;
        Self::record_stretch(kernel, running, period, (block_time, length, periods), context)?;
        self.move_behind(head, running, (length, periods), context)?;
        self.kernels[head as usize].unassigned -= kernel.running * period.cycles * periods;
        Ok(())
    }

    /// Puts the running waves of the head kernel into `running`; gives the instant of the first event that is
    /// something else.
    fn split_calendar<O>(&self, head: u32, running: &mut Vec<Running>, context: &BackendContext<'_, O>) -> Instant {
        running.clear();
        let mut others = context.horizon.saturating_add(Duration::from_ns(1));
        others = context.calendar.next_besides_completions().map_or(others, |other| other.min(others));
        for Completion { event, at, sequence } in context.calendar.completions() {
            match event {
                Event::Wave(index) | Event::TimedWave(index) if self.waves[index as usize].kernel == head => {
                    running.push((index, at, sequence));
                }
                _ => others = others.min(at),
            }
        }
        others
    }

    /// What one period looks like. Most policies repeat after one cycle; the round-robin pointer may take several
    /// cycles until it stands where it stood. Says no if it does not within as many cycles as there are SMs.
    fn one_period(&mut self, kernel: RunningKernel, running: &[Running], period: &mut Period) -> bool {
        period.parts.clear();
        period.waves.clear();
        let mut cursor = self.cursor;
        for cycles in (1_u32..).take(self.sms.len()) {
            for &(index, _, _) in running {
                let wave = &self.waves[index as usize];
                let first = period.parts.len();
                period.parts.extend(wave.shares().map(|Share { sm, blocks }| Part { sm, room: blocks, blocks: 0 }));
                let mut start = Start { cursor, ..self.start_of(kernel.operation, kernel.blocks - kernel.unassigned) };
                distribute(self.placement, &mut period.parts[first..], wave.blocks, &mut start, &mut self.order);
                period.waves.push((first..period.parts.len(), wave.blocks, cursor));
                cursor = start.cursor;
            }
            if cursor == self.cursor || self.placement != Placement::RoundRobin {
                period.cycles = cycles;
                return true;
            }
        }
        false
    }

    /// Tells the observer of `periods` periods.
    fn record_stretch<O: Observer>(
        kernel: RunningKernel,
        running: &[Running],
        one: &Period,
        (duration, period, periods): (Duration, Duration, u32),
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let operation = kernel.operation;
        let overflow = RunError::TimeOverflow { operation };
        let waves = u32::try_from(one.waves.len()).map_err(|_| TraceFull)?;
        let blocks = kernel.running * one.cycles;
        context.observer.stretch(&NewStretch { waves, cycles: periods, period, blocks })?;
        let mut first_block = kernel.blocks - kernel.unassigned;
        for (position, (parts, blocks, cursor)) in one.waves.iter().enumerate() {
            let cycle = (position / running.len()) as u64;
            let (_, end, _) = running[position % running.len()];
            let start = duration.checked_mul(cycle).and_then(|shift| end.checked_add(shift)).ok_or(overflow)?;
            let wave = NewWave { operation, first_block, blocks: *blocks, cursor: *cursor, start, duration };
            context.observer.wave(&wave, &one.parts[parts.clone()])?;
            first_block += blocks;
        }
        Ok(())
    }

    /// Moves the running waves behind the skipped periods: they hold the same places there.
    fn move_behind<O>(
        &self,
        head: u32,
        running: &[Running],
        (period, periods): (Duration, u32),
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let overflow = RunError::TimeOverflow { operation: self.kernels[head as usize].operation };
        let skipped = period.checked_mul(u64::from(periods)).ok_or(overflow)?;
        let kernel = self.kernels[head as usize];
        let is_own = |event| match event {
            Event::Wave(index) | Event::TimedWave(index) => self.waves[index as usize].kernel == head,
            _ => false,
        };
        context.calendar.retain_completions(|event| !is_own(event));
        for &(index, end, _) in running {
            let end = end.checked_add(skipped).ok_or(overflow)?;
            context.calendar.complete_at(end, kernel.end_of_wave(index));
        }
        Ok(())
    }
}
