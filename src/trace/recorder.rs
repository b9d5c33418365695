//! How a trace comes about: told step by step what happens.

use super::observer::{Launch, NewStretch, NewWave, Observer};
use super::operation::{NEVER, OperationRecord};
use super::record::{Trace, TraceFull};
use super::rule::Rule;
use super::turn::{ContextTurn, NewTurn, TurnEnd};
use super::wait::NotedWait;
use super::wave::{NO_STRETCH, Stretch, Wave};
use crate::effort::Counted;
use crate::limits::count;
use crate::time::{Duration, Instant};
use crate::workload::{Items, OperationId, Part, Placement};

/// Turns of contexts that are recorded at most: about 2 GB.
const MOST_TURNS: usize = 1 << 25;

/// Choices that are recorded at most, so that the record of a long run does not grow with them.
const MOST_CHOICES: usize = 1 << 12;

/// Makes a [`Trace`]. Operations have to be told in the order of their numbers; what is told of one that was not
/// launched is passed over.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub(super) trace: Trace,
    /// The stretch that is being told, and how many of its waves are still to come.
    pub(super) stretch: (u32, u32),
}

impl Recorder {
    /// Nothing has happened on a device of so many SMs. Placement and seed are what single blocks are expanded by.
    pub(crate) fn new(sms: u32, placement: Placement, seed: u64) -> Self {
        Self { trace: Trace::new(sms, placement, seed), stretch: (NO_STRETCH, 0) }
    }

    /// The trace, once the end of the run was told. The items are those that the launches name.
    pub(crate) fn into_trace(self, items: Items) -> Trace {
        Trace { items, ..self.trace }
    }

    fn with(&mut self, operation: OperationId, write: impl FnOnce(&mut OperationRecord)) {
        let place = self.trace.place(operation);
        if let Some(record) = place.and_then(|place| self.trace.operations.get_mut(place)) {
            write(record);
        }
    }
}

impl Observer for Recorder {
    fn reserve(&mut self, launches: usize) {
        /// Of a device with thousands of SMs, a million launches may have more parts than there is memory.
        const MOST_PARTS: usize = 1 << 20;
        let trace = &mut self.trace;
        let parts = launches.saturating_mul(trace.sms as usize).min(MOST_PARTS);
        // Where there is no room for all that is expected, each finds its own or not.
        let _ = trace.operations.try_reserve(launches);
        let _ = trace.waves.try_reserve(launches);
        let _ = trace.parts.try_reserve(parts);
    }

    fn clear(&mut self) {
        let trace = &mut self.trace;
        trace.end = Instant::ZERO;
        trace.first = 0;
        trace.operations.clear();
        trace.waves.clear();
        trace.parts.clear();
        trace.stretches.clear();
        trace.waits.clear();
        trace.first_wait.clear();
        trace.awaited.clear();
        trace.turns.clear();
        trace.ran_out.clear();
        trace.copy_pauses.clear();
        trace.ready_choices.clear();
        self.stretch = (NO_STRETCH, 0);
    }

    fn launched(&mut self, operation: OperationId, launch: &Launch) {
        debug_assert_eq!(self.trace.place(operation), Some(self.trace.operations.len()));
        self.trace.operations.push(OperationRecord::new(launch.kind, launch.stream, launch.origin, launch.at));
    }

    fn awaits(&mut self, operation: OperationId, record: OperationId) {
        self.trace.awaited.push((operation, record));
    }

    fn reached_head(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.reached_head = at);
    }

    fn queued(&mut self, operation: OperationId, order: Option<u32>, at: Instant) {
        self.with(operation, |record| {
            record.queued = at;
            record.queue_order = order.unwrap_or(record.queue_order);
        });
    }

    fn chose(&mut self, among: usize, chosen: usize) {
        if self.trace.ready_choices.len() < MOST_CHOICES {
            // A queue's operations have numbers of 32 bits.
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            self.trace.ready_choices.push((number(among), number(chosen)));
        }
    }

    fn reached_queue_head(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.reached_queue_head = at);
    }

    fn dispatched(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.first_start = at);
    }

    fn fully_dispatched(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.last_start = at);
    }

    fn finished(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.finish = at);
    }

    fn waited(&mut self, operation: OperationId, rule: Rule, from: Instant, to: Instant) {
        // That of a wait for an event also tells that it waits no longer, though its record has not completed (PDL).
        if from < to || rule == Rule::E2 {
            self.trace.waits.push(NotedWait { operation: operation.0, rule, from, to });
        }
    }

    fn wave(&mut self, wave: &NewWave, parts: &[Part]) -> Result<(), TraceFull> {
        let parts = self.trace.add_parts(parts)?;
        let (stretch, left) = &mut self.stretch;
        let own = if *left > 0 { *stretch } else { NO_STRETCH };
        *left = left.saturating_sub(1);
        self.trace.add_wave(Wave {
            operation: wave.operation.0,
            first_block: wave.first_block,
            parts,
            cursor: wave.cursor,
            stretch: own,
            start: wave.start,
            duration: wave.duration,
        })
    }

    fn stretch(&mut self, stretch: &NewStretch) -> Result<(), TraceFull> {
        let index = u32::try_from(self.trace.stretches.len()).ok().filter(|&next| next != NO_STRETCH);
        let index = index.ok_or(TraceFull)?;
        let first_wave = u32::try_from(self.trace.waves.len()).map_err(|_| TraceFull)?;
        let &NewStretch { waves, cycles, period, blocks } = stretch;
        self.trace.stretches.push(Stretch { first_wave, waves, cycles, period, blocks });
        self.stretch = (index, waves);
        Ok(())
    }

    fn turn_begins(&mut self, turn: &NewTurn) -> Result<(), TraceFull> {
        let &NewTurn { process, switch_from, start } = turn;
        if self.trace.turns.len() >= MOST_TURNS {
            return Err(TraceFull);
        }
        // Unless it is told to end, it ends with the run.
        self.trace.turns.push(ContextTurn { process, switch_from, start, end: NEVER, ended_by: TurnEnd::RunEnded });
        Ok(())
    }

    fn rounds(&mut self, turns: &[ContextTurn], times: u64, period: Duration) -> Result<(), TraceFull> {
        let all = usize::try_from(times).ok().and_then(|times| times.checked_mul(turns.len())).ok_or(TraceFull)?;
        let own = &mut self.trace.turns;
        if own.len().saturating_add(all) > MOST_TURNS {
            return Err(TraceFull);
        }
        count(Counted::Blocks, all as u64);
        // How its switch began, only the one that was told knows.
        let first = own.pop().map_or(Instant::ZERO, |first| first.switch_from);
        let begin = own.len();
        let mut switch_to_first = None;
        for time in 0..times {
            let shift = period.repeated(time);
            own.extend(turns.iter().map(|turn| ContextTurn {
                switch_from: turn.switch_from + shift,
                start: turn.start + shift,
                end: turn.end + shift,
                ..*turn
            }));
            // The next begins with the switch from the last of this one.
            if let Some(from) = switch_to_first.replace(own.last().map_or(Instant::ZERO, |last| last.end)) {
                let this = own.len() - turns.len();
                own[this].switch_from = from;
            }
        }
        if let Some(told) = own.get_mut(begin) {
            told.switch_from = first;
        }
        Ok(())
    }

    fn turn_ran_out(&mut self, from: Instant, to: Instant) {
        if from < to {
            self.trace.ran_out.push((from, to));
        }
    }

    fn turn_ends(&mut self, at: Instant, why: TurnEnd) {
        if let Some(turn) = self.trace.turns.last_mut() {
            (turn.end, turn.ended_by) = (at, why);
        }
    }

    fn copy_stops(&mut self, operation: OperationId, at: Instant) {
        // Unless it is told to go on, it stands still until the end of the run.
        self.trace.copy_pauses.push((operation, at, NEVER));
    }

    fn copy_goes_on(&mut self, operation: OperationId, at: Instant) {
        // Of each engine and context one copy stands still at most: it is among the last.
        let mut last = self.trace.copy_pauses.iter_mut().rev();
        if let Some((.., to)) = last.find(|(id, _, to)| *id == operation && *to == NEVER) {
            *to = at;
        }
    }

    fn ended(&mut self, at: Instant) {
        self.trace.index(at);
        debug_assert!(self.trace.operations.iter().all(|record| record.launched != NEVER));
    }
}
