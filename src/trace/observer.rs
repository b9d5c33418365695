//! Observers: who is told what happens on the GPU, as it happens.
//!
//! The engine keeps no record. A [`Recorder`](super::Recorder) makes a trace, [`Finishes`] keeps one instant of each
//! operation, and others keep whatever sums they need. An observer is a type parameter of the GPU, so what it ignores
//! costs nothing.

use super::operation::NEVER;
use super::record::TraceFull;
use super::rule::Rule;
use super::turn::{ContextTurn, NewTurn, TurnEnd};
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, OperationKind, Origin, Part, StreamId};

/// A submitted operation (G1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
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
pub(crate) struct NewWave {
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
pub(crate) struct NewStretch {
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
pub(crate) trait Observer {
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
pub(crate) struct Finishes {
    finishes: Vec<Instant>,
}

impl Finishes {
    /// When an operation finished; `None` if it did not, or is unknown.
    pub(crate) fn finish(&self, operation: OperationId) -> Option<Instant> {
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
