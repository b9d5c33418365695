//! What a record holds of a run that goes on, for comparison.

use super::entries::{ContextTurn, NotedWait, OperationRecord, Stand, Stretch, Wave};
use super::observer::Recorder;
use super::record::Trace;
use crate::canonical::Canonical;
use crate::workload::{OperationId, Origin, Part};

impl Recorder {
    /// Writes all that sums are made of; the iteration to which an operation belongs is counted back from that of its
    /// thread.
    pub fn write_state(&self, iterations: &[u64], to: &mut Canonical) {
        let Self { trace, stretch: (_, left), keeps_details: _ } = self;
        let Trace {
            // Given.
            sms: _,
            is_observed: _,
            placement: _,
            seed: _,
            items: _,
            first,
            operations,
            waves,
            // Waves and stretches are written with theirs.
            parts: _,
            stretches: _,
            // With any, no state is like another.
            counter_values: _,
            waits,
            stands,
            awaited,
            turns,
            ran_out,
            copy_pauses,
            // Made once a piece leaves.
            end: _,
            first_wait: _,
            served: _,
            first_wave: _,
            waves_by_operation: _,
            numbers: _,
            // The launches that have blocks left say it.
            begun_before: _,
            // What they lead to is there, and those that are left are the run's.
            ready_choices: _,
        } = trace;
        to.number(*left);
        to.operation(*first);
        to.list(operations, |to, record| {
            let OperationRecord {
                kind,
                stream,
                origin: Origin { thread, iteration },
                // No sum has it.
                queue_order: _,
                launched,
                reached_head,
                queued,
                reached_queue_head,
                first_start,
                last_start,
                finish,
            } = *record;
            let present = iterations.get(thread as usize).copied().unwrap_or(0);
            to.value((kind, stream, thread, present.wrapping_sub(iteration.into())));
            for at in [launched, reached_head, queued, reached_queue_head, first_start, last_start, finish] {
                to.instant(at);
            }
        });
        to.list(waves, |to, &wave| self.write_wave(wave, to));
        to.list(waits, |to, &NotedWait { operation, rule, from, to: until }| {
            to.operation(operation);
            to.value(rule);
            to.instant(from);
            to.instant(until);
        });
        to.list(stands, |to, &Stand { operation, first_block, blocks, point, from, to: until }| {
            to.operation(operation.0);
            to.value((first_block, blocks, point));
            to.instant(from);
            to.instant(until);
        });
        // Which record it is, no sum has.
        to.list(awaited, |to, (OperationId(wait), _)| to.operation(*wait));
        to.list(turns, |to, &ContextTurn { process, switch_from, start, end, ended_by }| {
            to.value((process, ended_by));
            for at in [switch_from, start, end] {
                to.instant(at);
            }
        });
        to.list(ran_out, |to, &(from, until)| {
            to.instant(from);
            to.instant(until);
        });
        to.list(copy_pauses, |to, &(OperationId(copy), from, until)| {
            to.operation(copy);
            to.instant(from);
            to.instant(until);
        });
    }

    fn write_wave(&self, wave: Wave, to: &mut Canonical) {
        let Wave { operation, first_block, parts: _, cursor, stretch, start, duration } = wave;
        to.operation(operation);
        to.value((first_block, cursor));
        to.list(self.trace.parts_of(&wave), |to, &Part { sm, room, blocks }| to.value((sm, room, blocks)));
        // Waves of one stretch are adjacent, so that its numbers tell which are.
        to.optional(self.trace.stretches.get(stretch as usize), |to, stretch| {
            let Stretch { first_wave: _, waves, cycles, period, blocks } = *stretch;
            to.value((waves, cycles, period, blocks));
        });
        to.instant(start);
        to.duration(duration);
    }
}
