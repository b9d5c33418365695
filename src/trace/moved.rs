//! What was recorded once, as it comes again.

use super::operation::OperationRecord;
use super::record::Trace;
use super::turn::ContextTurn;
use super::wait::NotedWait;
use super::wave::Wave;
use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::workload::OperationId;

/// From what happened to the same that comes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shift {
    /// How much later.
    pub(crate) time: Duration,
    /// How many operations later.
    pub(crate) operations: u32,
    /// By thread: how many iterations later.
    pub(crate) iterations: Vec<u32>,
}

impl Shift {
    /// None, of so many threads.
    pub(crate) fn none(threads: usize) -> Self {
        Self { time: Duration::ZERO, operations: 0, iterations: vec![0; threads] }
    }

    /// So many others after this one.
    pub(crate) fn add(&mut self, other: &Self, times: u64) {
        let all = |one: u32| u32::try_from(u64::from(one).saturating_mul(times)).or_most();
        self.time = self.time.saturating_add(other.time.repeated(times));
        self.operations = self.operations.saturating_add(all(other.operations));
        self.iterations.iter_mut().zip(&other.iterations).for_each(|(own, one)| *own = own.saturating_add(all(*one)));
    }

    /// When it comes again; what never comes, never does.
    pub(crate) fn instant(&self, at: &mut Instant) {
        *at = at.saturating_add(self.time);
    }

    fn operation(&self, number: &mut u32) {
        *number = number.saturating_add(self.operations);
    }

    /// Which iteration it is when it comes again.
    pub(crate) fn iteration(&self, thread: u32, iteration: &mut u32) {
        *iteration = iteration.saturating_add(self.iterations.get(thread as usize).copied().unwrap_or(0));
    }
}

impl Trace {
    /// Becomes what comes again.
    pub(crate) fn move_by(&mut self, shift: &Shift) {
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
            waits,
            awaited,
            turns,
            ran_out,
            served,
            copy_pauses,
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
        for NotedWait { operation, rule: _, from, to } in waits {
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
