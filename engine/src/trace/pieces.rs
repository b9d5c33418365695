//! A record that leaves piece by piece while the run goes on, so that no more is held than what still happens.
//!
//! A piece is a [`Trace`] of adjacent operations, with their own numbers and with all that is known of them. Of each
//! that has finished it tells what the trace of the whole run tells, but for what it waited for, which may have left.

use super::entries::{
    ContextTurn, KindCounts, NO_STRETCH, NotedWait, Numbers, OperationRecord, Stand, Stretch, Wave, WaveParts,
};
use super::observer::Recorder;
use super::record::Trace;
use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::workload::{Items, OperationId, Part};

/// What leaves a record together.
#[derive(Debug, Default)]
pub struct Piece {
    /// What is over, and is not looked at again.
    pub trace: Trace,
    /// How many of the turns of contexts leave with it, the first ones; the others are in the next piece, too.
    pub turns: usize,
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
        let mut parts = wave.parts;
        if let WaveParts::Many(first, _) = &mut parts {
            *first = to_u32(self.parts.len());
            self.parts.extend_from_slice(from.parts_of(&wave));
        }
        let stretch = from.stretches.get(wave.stretch as usize).map(|&stretch| {
            if self.last.replace(wave.stretch) != Some(wave.stretch) {
                self.stretches.push(Stretch { first_wave: to_u32(self.all.len()), ..stretch });
            }
            to_u32(self.stretches.len() - 1)
        });
        self.all.push(Wave { parts, stretch: stretch.unwrap_or(NO_STRETCH), ..wave });
    }

    fn put_into(self, trace: &mut Trace) {
        let Self { all, parts, stretches, .. } = self;
        (trace.waves, trace.parts, trace.stretches) = (all, parts, stretches);
    }
}

impl Trace {
    /// Roughly how many bytes it takes.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.operations)
            + size_of_val(&*self.waves)
            + size_of_val(&*self.parts)
            + size_of_val(&*self.waits)
            + size_of_val(&*self.turns)
    }
}

impl Recorder {
    /// What is held: roughly how many bytes.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.trace.bytes()
    }

    /// The operations that are held, with their numbers.
    pub fn held(&self) -> impl Iterator<Item = (OperationId, &OperationRecord)> + Clone {
        self.trace.numbered()
    }

    /// Whether the record can be parted: not in the midst of a stretch.
    pub fn can_be_parted(&self) -> bool {
        self.stretch.1 == 0
    }

    /// Takes out the operations before number `until`, which all have finished, after all events of `at`; the run goes
    /// on.
    pub fn take_before(&mut self, until: OperationId, at: Instant, items: &Items) -> Piece {
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
        piece.stands = own.stands.extract_if(.., |stand| stand.operation < until).collect();
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
    pub fn take_rest(&mut self, items: Items) -> Piece {
        let own = &mut self.trace;
        let empty = Trace::new(own.sms, own.placement, own.seed);
        let trace = Trace { items, ..std::mem::replace(own, empty) };
        Piece { turns: trace.turns.len(), trace }
    }

    /// Takes out the blocks that have completed after all events of `at`, where contexts do not take turns; tells
    /// `visit` of which operation they were, and their [`Trace::block_time`].
    pub fn take_completed_blocks(&mut self, at: Instant, mut visit: impl FnMut(&OperationRecord, u16, u128)) {
        let own = &mut self.trace;
        if !own.turns.is_empty() {
            return;
        }
        own.end = at;
        let mut begun = std::mem::take(&mut own.begun_before);
        begun.retain(|&(of, _)| own.record(OperationId(of)).is_some_and(|record| record.last_start().is_none()));
        let mut note = |record: &OperationRecord, operation: u32, blocks: u32| {
            if record.last_start().is_none() {
                match begun.iter_mut().find(|(of, _)| *of == operation) {
                    Some((_, most)) => *most = blocks.max(*most),
                    None => begun.push((operation, blocks)),
                }
            }
        };
        if own.stretches.is_empty() {
            // In place: what is written next needs no new memory.
            let (mut waves, mut places) = (std::mem::take(&mut own.waves), 0);
            waves.retain_mut(|wave| {
                let Some(record) = own.record(OperationId(wave.operation)) else { return false };
                if wave.start + wave.duration <= at {
                    own.block_time_of(wave).for_each(|(sm, time)| visit(record, sm, time));
                    note(record, wave.operation, own.begun_with(wave, at));
                    return false;
                }
                if let WaveParts::Many(first, count) = &mut wave.parts {
                    let from = *first as usize;
                    own.parts.copy_within(from..from + usize::from(*count), places as usize);
                    *first = places;
                    places += u32::from(*count);
                }
                true
            });
            own.parts.truncate(places as usize);
            own.waves = waves;
            own.begun_before = begun;
            return;
        }
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
                note(record, wave.operation, own.begun_with(&wave, at));
            } else {
                staying.push(wave, own);
            }
        }
        staying.put_into(own);
        own.begun_before = begun;
    }
}

/// Adjacent pieces of a run in which nothing waits for events, and contexts take no turns.
#[derive(Debug, Default)]
pub struct RecordPart {
    trace: Option<Trace>,
    /// What it is if nothing of the run is in it.
    empty: Trace,
    /// Operations that came before.
    before: KindCounts,
}

impl RecordPart {
    /// Takes the piece that left next, if it begins here or has begun before.
    pub fn add(&mut self, piece: Trace, begins_here: impl FnOnce(&Trace) -> bool) {
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
    pub fn record(self, end: Instant) -> Trace {
        let mut trace = self.trace.unwrap_or(self.empty);
        let first = std::mem::take(&mut trace.first);
        for number in trace.waves.iter_mut().map(|wave| &mut wave.operation) {
            *number = number.saturating_sub(first);
        }
        for number in trace.waits.iter_mut().map(|wait| &mut wait.operation) {
            *number = number.saturating_sub(first);
        }
        for OperationId(number) in trace.stands.iter_mut().map(|stand| &mut stand.operation) {
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
            parts: wave.parts.behind(parts),
            // Number NO_STRETCH, which says that there is none, is the greatest.
            stretch: wave.stretch.saturating_add(stretches),
            ..wave
        }));
        self.waits.extend(next.waits);
        self.stands.extend(next.stands);
    }
}

// What was recorded once, as it comes again.

/// From what happened to the same that comes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shift {
    /// How much later.
    pub time: Duration,
    /// How many operations later.
    pub operations: u32,
    /// By thread: how many iterations later.
    pub iterations: Vec<u32>,
}

impl Shift {
    /// None, of so many threads.
    pub fn none(threads: usize) -> Self {
        Self { time: Duration::ZERO, operations: 0, iterations: vec![0; threads] }
    }

    /// So many others after this one.
    pub fn add(&mut self, other: &Self, times: u64) {
        let all = |one: u32| u32::try_from(u64::from(one).saturating_mul(times)).or_most();
        self.time = self.time.saturating_add(other.time.repeated(times));
        self.operations = self.operations.saturating_add(all(other.operations));
        self.iterations.iter_mut().zip(&other.iterations).for_each(|(own, one)| *own = own.saturating_add(all(*one)));
    }

    /// When it comes again; what never comes, never does.
    pub fn instant(&self, at: &mut Instant) {
        *at = at.saturating_add(self.time);
    }

    fn operation(&self, number: &mut u32) {
        *number = number.saturating_add(self.operations);
    }

    /// Which iteration it is when it comes again.
    pub fn iteration(&self, thread: u32, iteration: &mut u32) {
        *iteration = iteration.saturating_add(self.iterations.get(thread as usize).copied().unwrap_or(0));
    }
}

impl Trace {
    /// Becomes what comes again.
    #[doc(hidden)]
    pub fn move_by(&mut self, shift: &Shift) {
        let Self {
            // The same of all.
            sms: _,
            is_observed: _,
            placement: _,
            seed: _,
            items: _,
            end,
            first,
            operations,
            waves,
            // In these nothing has a time or a number of its own.
            ready_choices: _,
            parts: _,
            stretches: _,
            counter_values: _,
            waits,
            stands,
            awaited,
            turns,
            ran_out,
            served,
            copy_pauses,
            begun_before,
            // By places in this record.
            first_wait: _,
            first_wave: _,
            waves_by_operation: _,
            numbers: _,
        } = self;
        let span = |(from, to): (&mut Instant, &mut Instant)| [from, to].into_iter().for_each(|at| shift.instant(at));
        shift.instant(end);
        shift.operation(first);
        for record in operations {
            let OperationRecord {
                kind: _,
                stream: _,
                origin,
                // Only records of whole runs are asked for it.
                queue_order: _,
                launched,
                reached_head,
                queued,
                reached_queue_head,
                first_start,
                last_start,
                finish,
            } = record;
            shift.iteration(origin.thread, &mut origin.iteration);
            for at in [launched, reached_head, queued, reached_queue_head, first_start, last_start, finish] {
                shift.instant(at);
            }
        }
        for Wave { operation, first_block: _, parts: _, cursor: _, stretch: _, start, duration: _ } in waves {
            shift.operation(operation);
            shift.instant(start);
        }
        for (operation, _) in begun_before {
            shift.operation(operation);
        }
        for NotedWait { operation, rule: _, from, to } in waits {
            shift.operation(operation);
            span((from, to));
        }
        for Stand { operation: OperationId(operation), first_block: _, blocks: _, point: _, from, to } in stands {
            shift.operation(operation);
            span((from, to));
        }
        for (OperationId(wait), OperationId(record)) in awaited {
            shift.operation(wait);
            shift.operation(record);
        }
        for ContextTurn { process: _, switch_from, start, end, ended_by: _ } in turns {
            shift.instant(switch_from);
            span((start, end));
        }
        for (from, to) in ran_out {
            span((from, to));
        }
        served.iter_mut().flatten().for_each(|(from, to, _)| span((from, to)));
        for (OperationId(copy), from, to) in copy_pauses {
            shift.operation(copy);
            span((from, to));
        }
    }
}
