//! When the waves of an operation happened: once, or again and again in a stretch.

use std::ops::Range;

use super::record::Trace;
use super::wave::{Stretch, Wave};
use crate::limits::count_turn;
use crate::time::Instant;

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
