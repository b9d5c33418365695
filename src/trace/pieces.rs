//! A record that leaves piece by piece while the run goes on, so that no more is held than what still happens.
//!
//! A piece is a [`Trace`] of adjacent operations, with their own numbers and with all that is known of them. Of each
//! that has finished it tells what the trace of the whole run tells, but for what it waited for, which may have left.

use super::operation::OperationRecord;
use super::record::Trace;
use super::recorder::Recorder;
use super::wait::NotedWait;
use super::wave::{NO_STRETCH, Stretch, Wave};
use crate::time::Instant;
use crate::workload::{Items, OperationId, Part};

/// What leaves a record together.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) trace: Trace,
    /// How many of the turns of contexts leave with it, the first ones; the others are in the next piece, too.
    pub(crate) turns: usize,
}

/// Waves with their parts and stretches, in an order that keeps those of a stretch together.
#[derive(Default)]
struct Waves {
    all: Vec<Wave>,
    parts: Vec<Part>,
    stretches: Vec<Stretch>,
    /// The stretch that was put in last, as the record numbers it.
    last: Option<u32>,
}

impl Waves {
    fn push(&mut self, wave: Wave, from: &Trace) {
        let to_u32 = |length: usize| u32::try_from(length).unwrap_or(NO_STRETCH);
        let parts = from.parts_of(&wave);
        let first = (to_u32(self.parts.len()), wave.parts.1);
        self.parts.extend_from_slice(parts);
        let stretch = from.stretches.get(wave.stretch as usize).map(|&stretch| {
            if self.last.replace(wave.stretch) != Some(wave.stretch) {
                self.stretches.push(Stretch { first_wave: to_u32(self.all.len()), ..stretch });
            }
            to_u32(self.stretches.len() - 1)
        });
        self.all.push(Wave { parts: first, stretch: stretch.unwrap_or(NO_STRETCH), ..wave });
    }

    fn put_into(self, trace: &mut Trace) {
        let Self { all, parts, stretches, .. } = self;
        (trace.waves, trace.parts, trace.stretches) = (all, parts, stretches);
    }
}

impl Trace {
    /// Roughly how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.operations)
            + size_of_val(&*self.waves)
            + size_of_val(&*self.parts)
            + size_of_val(&*self.waits)
            + size_of_val(&*self.turns)
    }
}

impl Recorder {
    /// What is held: roughly how many bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.trace.bytes()
    }

    /// The operations that are held, with their numbers.
    pub(crate) fn held(&self) -> impl Iterator<Item = (OperationId, &OperationRecord)> + Clone {
        self.trace.numbered()
    }

    /// Whether the record can be parted: not in the midst of a stretch.
    pub(crate) fn can_be_parted(&self) -> bool {
        self.stretch.1 == 0
    }

    /// Takes out the operations before number `until`, which all have finished, after all events of `at`; the run goes
    /// on.
    pub(crate) fn take_before(&mut self, until: OperationId, at: Instant, items: &Items) -> Piece {
        let own = &mut self.trace;
        let count = own.place(until).unwrap_or(0).min(own.operations.len());
        let mut piece =
            Trace { first: own.first, items: items.clone(), ..Trace::new(own.sms, own.placement, own.seed) };
        piece.operations = own.operations.drain(..count).collect();
        own.first = until.0.max(own.first);
        let (mut leaving, mut staying) = (Waves::default(), Waves::default());
        for &wave in &own.waves {
            let side = if wave.operation < until.0 { &mut leaving } else { &mut staying };
            side.push(wave, own);
        }
        leaving.put_into(&mut piece);
        staying.put_into(own);
        let leaves = |wait: &mut NotedWait| wait.operation < until.0;
        piece.waits = own.waits.extract_if(.., leaves).collect();
        let awaited = own.awaited.partition_point(|&(wait, _)| wait < until);
        piece.awaited = own.awaited.drain(..awaited).collect();
        piece.copy_pauses = own.copy_pauses.extract_if(.., |(copy, ..)| *copy < until).collect();
        piece.turns.clone_from(&own.turns);
        piece.ready_choices.clone_from(&own.ready_choices);
        piece.ran_out.clone_from(&own.ran_out);
        // Turns that are over before whatever is held was launched tell nothing more, but that there are turns.
        let since = own.operations.first().map_or(at, |first| first.launched);
        let over = own.turns.partition_point(|turn| turn.end < since).min(own.turns.len().saturating_sub(1));
        own.turns.drain(..over);
        own.ran_out.drain(..own.ran_out.partition_point(|&(_, to)| to < since));
        piece.index(at);
        Piece { trace: piece, turns: over }
    }

    /// Takes out all that is left once the end of the run was told.
    pub(crate) fn take_rest(&mut self, items: Items) -> Piece {
        let own = &mut self.trace;
        let empty = Trace::new(own.sms, own.placement, own.seed);
        let trace = Trace { items, ..std::mem::replace(own, empty) };
        Piece { turns: trace.turns.len(), trace }
    }

    /// Takes out the blocks that have completed after all events of `at`, where contexts do not take turns; tells
    /// `visit` of which operation they were, and their [`Trace::block_time`].
    pub(crate) fn take_completed_blocks(&mut self, at: Instant, mut visit: impl FnMut(&OperationRecord, u16, u128)) {
        let own = &mut self.trace;
        if !own.turns.is_empty() {
            return;
        }
        own.end = at;
        let mut staying = Waves::default();
        for &wave in &own.waves {
            let Some(record) = own.record(OperationId(wave.operation)) else { continue };
            // Of a stretch all leave together.
            let is_over = |wave: &Wave| own.last_repetition(wave).0 + wave.duration <= at;
            let together = own.stretches.get(wave.stretch as usize).and_then(|stretch| {
                own.waves.get(stretch.first_wave as usize..(stretch.first_wave + stretch.waves) as usize)
            });
            if together.map_or_else(|| is_over(&wave), |waves| waves.iter().all(is_over)) {
                own.block_time_of(&wave).for_each(|(sm, time)| visit(record, sm, time));
            } else {
                staying.push(wave, own);
            }
        }
        staying.put_into(own);
    }
}
