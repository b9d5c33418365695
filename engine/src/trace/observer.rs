//! Observers: who is told what happens on the GPU, as it happens.
//!
//! The engine keeps no record. A [`Recorder`] makes a trace, [`Finishes`] keeps one instant of each
//! operation, and others keep whatever sums they need. An observer is a type parameter of the GPU, so what it ignores
//! costs nothing.

use super::entries::{
    ContextTurn, NEVER, NO_STRETCH, NewTurn, NotedWait, OperationRecord, Stand, Stretch, TurnEnd, Wave,
};
use super::record::{Trace, TraceFull};
use super::rule::Rule;
use crate::effort::Counted;
use crate::limits::count;
use crate::time::{Duration, Instant};
use crate::workload::{Items, OperationId, OperationKind, Origin, Part, Placement, StreamId};

/// A submitted operation (G1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// What it is.
    pub kind: OperationKind,
    /// Where it was submitted.
    pub stream: StreamId,
    /// Who submitted it.
    pub origin: Origin,
    /// When.
    pub at: Instant,
}

/// Blocks of one kernel that are assigned in one go and end together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewWave {
    /// The kernel launch.
    pub operation: OperationId,
    /// Number of its first block.
    pub first_block: u32,
    /// How many blocks.
    pub blocks: u32,
    /// The round-robin pointer before the wave.
    pub cursor: u32,
    /// When they are assigned.
    pub start: Instant,
    /// How long they run.
    pub duration: Duration,
}

/// The `waves` waves that are told next repeat as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewStretch {
    /// How many waves make up one cycle.
    pub waves: u32,
    /// How often the cycle happens, at least once.
    pub cycles: u32,
    /// From one cycle to the next.
    pub period: Duration,
    /// Blocks of one cycle.
    pub blocks: u32,
}

/// Told what happens, in the order of time; methods that are not implemented ignore it.
pub trait Observer {
    /// G1: an operation was submitted. Operations come in the order of their numbers.
    fn launched(&mut self, operation: OperationId, launch: &Launch) {
        let _ = (operation, launch);
    }

    /// E2: a wait for an event, just submitted, is for that record of it.
    fn awaits(&mut self, operation: OperationId, record: OperationId) {
        let _ = (operation, record);
    }

    /// It reached the head of its stream queue.
    fn reached_head(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// G2, C1: it entered its EE or CE queue, as number `order` of all operations; what needs no engine has
    /// no queue and no number.
    fn queued(&mut self, operation: OperationId, order: Option<u32>, at: Instant) {
        let _ = (operation, order, at);
    }

    /// Whether [`Observer::chose`] makes a difference to it.
    fn notes_choices(&self) -> bool {
        false
    }

    /// Of `among` operations that might enter a queue next at one instant, the one of number `chosen` does.
    fn chose(&mut self, among: usize, chosen: usize) {
        let _ = (among, chosen);
    }

    /// It reached the head of its EE queue.
    fn reached_queue_head(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// Its first block was assigned, or it began.
    fn dispatched(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// G3, C3: its last block was assigned, or it began.
    fn fully_dispatched(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// G4, C4: it has completed.
    fn finished(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// A rule held it, where that cannot be told from the instants above.
    fn waited(&mut self, operation: OperationId, rule: Rule, from: Instant, to: Instant) {
        let _ = (operation, rule, from, to);
    }

    /// Blocks were assigned together, to these SMs; waves come in the order of their starts.
    ///
    /// # Errors
    /// If there is no room to note it.
    fn wave(&mut self, wave: &NewWave, parts: &[Part]) -> Result<(), TraceFull> {
        let _ = (wave, parts);
        Ok(())
    }

    /// Blocks have waited for others while they ran, or still do when the run ends. Told when their wait is over.
    fn stood(&mut self, stand: &Stand) {
        let _ = stand;
    }

    /// The waves that come next repeat.
    ///
    /// # Errors
    /// If there is no room to note it.
    fn stretch(&mut self, stretch: &NewStretch) -> Result<(), TraceFull> {
        let _ = stretch;
        Ok(())
    }

    /// T1: the turn of a context begins at `turn.start`, which may be later, after a switch.
    ///
    /// # Errors
    /// If there is no room to note it.
    fn turn_begins(&mut self, turn: &NewTurn) -> Result<(), TraceFull> {
        let _ = turn;
        Ok(())
    }

    /// The turn that began last, and those that follow it, are `turns`; after `period` they come again, `times` times
    /// in all.
    ///
    /// # Errors
    /// If there is no room to note them.
    fn rounds(&mut self, turns: &[ContextTurn], times: u64, period: Duration) -> Result<(), TraceFull> {
        let _ = (turns, times, period);
        Ok(())
    }

    /// From `from` to `to` the turn that began last lasted only until blocks of its context had run to their ends (T4),
    /// and nothing began in it.
    fn turn_ran_out(&mut self, from: Instant, to: Instant) {
        let _ = (from, to);
    }

    /// The turn that began last ends.
    fn turn_ends(&mut self, at: Instant, why: TurnEnd) {
        let _ = (at, why);
    }

    /// T5: a copy that has begun stands still, as its engine serves another context.
    fn copy_stops(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// T5: it goes on.
    fn copy_goes_on(&mut self, operation: OperationId, at: Instant) {
        let _ = (operation, at);
    }

    /// What counters hold when the run is over, by [`CounterId`](crate::workload::CounterId); the rest is 0.
    fn counters(&mut self, values: &[u64]) {
        let _ = values;
    }

    /// The run is over.
    fn ended(&mut self, at: Instant) {
        let _ = at;
    }

    /// Another run begins: forget this one.
    fn clear(&mut self) {}

    /// About so many kernels of one wave each will be launched.
    fn reserve(&mut self, launches: usize) {
        let _ = launches;
    }
}

/// Keeps when each operation finished, and nothing else: 8 bytes an operation.
#[derive(Debug, Clone, Default)]
pub struct Finishes {
    finishes: Vec<Instant>,
}

impl Finishes {
    /// When an operation finished; `None` if it did not, or is unknown.
    pub fn finish(&self, operation: OperationId) -> Option<Instant> {
        self.finishes.get(operation.index()).copied().filter(|&finish| finish != NEVER)
    }
}

impl Observer for Finishes {
    fn launched(&mut self, _operation: OperationId, _launch: &Launch) {
        self.finishes.push(NEVER);
    }

    fn finished(&mut self, operation: OperationId, at: Instant) {
        if let Some(finish) = self.finishes.get_mut(operation.index()) {
            *finish = at;
        }
    }

    fn clear(&mut self) {
        self.finishes.clear();
    }

    fn reserve(&mut self, launches: usize) {
        self.finishes.reserve(launches);
    }
}

/// Turns of contexts that are recorded at most: about 2 GB.
const MOST_TURNS: usize = 1 << 25;

/// Choices that are recorded at most, so that the record of a long run does not grow with them.
const MOST_CHOICES: usize = 1 << 12;

/// Makes a [`Trace`]. Operations have to be told in the order of their numbers; what is told of one that was not
/// launched is passed over.
#[derive(Debug, Clone)]
pub struct Recorder {
    pub(super) trace: Trace,
    /// The stretch that is being told, and how many of its waves are still to come.
    pub(super) stretch: (u32, u32),
    /// Whether waves and waits are kept.
    pub(crate) keeps_details: bool,
}

impl Recorder {
    /// Nothing has happened on a device of so many SMs. Placement and seed are what single blocks are expanded by.
    pub fn new(sms: u32, placement: Placement, seed: u64) -> Self {
        Self { trace: Trace::new(sms, placement, seed), stretch: (NO_STRETCH, 0), keeps_details: true }
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
        if !self.keeps_details {
            return;
        }
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
        trace.stands.clear();
        trace.counter_values.clear();
        trace.turns.clear();
        trace.ran_out.clear();
        trace.copy_pauses.clear();
        trace.ready_choices.clear();
        self.stretch = (NO_STRETCH, 0);
    }

    #[inline]
    fn launched(&mut self, operation: OperationId, launch: &Launch) {
        debug_assert_eq!(self.trace.place(operation), Some(self.trace.operations.len()));
        self.trace.operations.push(OperationRecord::new(launch.kind, launch.stream, launch.origin, launch.at));
    }

    fn awaits(&mut self, operation: OperationId, record: OperationId) {
        self.trace.awaited.push((operation, record));
    }

    #[inline]
    fn reached_head(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.reached_head = at);
    }

    #[inline]
    fn queued(&mut self, operation: OperationId, order: Option<u32>, at: Instant) {
        self.with(operation, |record| {
            record.queued = at;
            record.queue_order = order.unwrap_or(record.queue_order);
        });
    }

    fn notes_choices(&self) -> bool {
        self.trace.ready_choices.len() < MOST_CHOICES
    }

    fn chose(&mut self, among: usize, chosen: usize) {
        if self.notes_choices() {
            // A queue's operations have numbers of 32 bits.
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            self.trace.ready_choices.push((number(among), number(chosen)));
        }
    }

    #[inline]
    fn reached_queue_head(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.reached_queue_head = at);
    }

    #[inline]
    fn dispatched(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.first_start = at);
    }

    #[inline]
    fn fully_dispatched(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.last_start = at);
    }

    #[inline]
    fn finished(&mut self, operation: OperationId, at: Instant) {
        self.with(operation, |record| record.finish = at);
    }

    fn waited(&mut self, operation: OperationId, rule: Rule, from: Instant, to: Instant) {
        // That of a wait for an event also tells that it waits no longer, though its record has not completed (PDL).
        if self.keeps_details && (from < to || rule == Rule::E2) {
            self.trace.waits.push(NotedWait { operation: operation.0, rule, from, to });
        }
    }

    fn wave(&mut self, wave: &NewWave, parts: &[Part]) -> Result<(), TraceFull> {
        if !self.keeps_details {
            return Ok(());
        }
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

    fn stood(&mut self, stand: &Stand) {
        if stand.from < stand.to {
            self.trace.stands.push(*stand);
        }
    }

    fn stretch(&mut self, stretch: &NewStretch) -> Result<(), TraceFull> {
        if !self.keeps_details {
            return Ok(());
        }
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

    fn counters(&mut self, values: &[u64]) {
        self.trace.counter_values = values.to_vec();
    }

    fn ended(&mut self, at: Instant) {
        self.trace.index(at);
        debug_assert!(self.trace.operations.iter().all(|record| record.launched != NEVER));
    }
}
