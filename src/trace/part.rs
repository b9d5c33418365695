//! A part of a long run, put together again from the pieces that left it.

use super::numbers::{KindCounts, Numbers};
use super::record::Trace;
use super::wave::{NO_STRETCH, Stretch, Wave};
use crate::time::Instant;

/// Adjacent pieces of a run in which nothing waits for events, and contexts take no turns.
#[derive(Debug, Default)]
pub(crate) struct Part {
    trace: Option<Trace>,
    /// What it is if nothing of the run is in it.
    empty: Trace,
    /// Operations that came before.
    before: KindCounts,
}

impl Part {
    /// Takes the piece that left next, if it begins here or has begun before.
    pub(crate) fn add(&mut self, piece: Trace, begins_here: impl FnOnce(&Trace) -> bool) {
        match &mut self.trace {
            Some(trace) => trace.append(piece),
            None if begins_here(&piece) => self.trace = Some(piece),
            None => {
                piece.operations.iter().for_each(|record| _ = self.before.count(record));
                self.empty = Trace { items: piece.items, ..Trace::new(piece.sms, piece.placement, piece.seed) };
            }
        }
    }

    /// Its record, of a run that ended then. Operations count from 0, as in that of a whole run.
    pub(crate) fn record(self, end: Instant) -> Trace {
        let mut trace = self.trace.unwrap_or(self.empty);
        let first = std::mem::take(&mut trace.first);
        for number in trace.waves.iter_mut().map(|wave| &mut wave.operation) {
            *number = number.saturating_sub(first);
        }
        for number in trace.waits.iter_mut().map(|wait| &mut wait.operation) {
            *number = number.saturating_sub(first);
        }
        trace.numbers = Numbers::after(self.before);
        trace.index(end);
        trace
    }
}

impl Trace {
    fn append(&mut self, next: Self) {
        let to_u32 = |length: usize| u32::try_from(length).unwrap_or(NO_STRETCH);
        let (waves, parts) = (to_u32(self.waves.len()), to_u32(self.parts.len()));
        let stretches = to_u32(self.stretches.len());
        self.operations.extend(next.operations);
        self.parts.extend(next.parts);
        let moved = |stretch: Stretch| Stretch { first_wave: stretch.first_wave.saturating_add(waves), ..stretch };
        self.stretches.extend(next.stretches.into_iter().map(moved));
        self.waves.extend(next.waves.into_iter().map(|wave| Wave {
            parts: (wave.parts.0.saturating_add(parts), wave.parts.1),
            // Number NO_STRETCH, which says that there is none, is the greatest.
            stretch: wave.stretch.saturating_add(stretches),
            ..wave
        }));
        self.waits.extend(next.waits);
    }
}
