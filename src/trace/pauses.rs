//! When what has begun stands still: suspended blocks (T4), and copies whose engine serves another context (T5).

use std::ops::Range;

use super::record::Trace;
use super::rule::Rule;
use super::turn::CopyPause;
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, OperationKind, ProcessId};

impl Trace {
    /// The parts of the time from an operation's first block, or the start of its copy, until it finished or the run
    /// ended, in which it stood still: for a kernel the turns of others and switches (T4); for a copy likewise where it
    /// runs in turns only, or the time in which its engine served another context (T5).
    pub fn pauses(&self, operation: OperationId) -> impl Iterator<Item = Range<Instant>> + '_ {
        let time = self.begun_time(operation);
        let turns = time.clone().zip(self.runs_in_turns_of(operation));
        let by_turn = turns.into_iter().flat_map(|(time, process)| self.out_of_turn(process, time));
        by_turn.chain(self.copy_pauses_of(operation).iter().map(|&(_, from, to)| from..to))
    }

    /// The rest of that time, in which it ran.
    pub fn runs(&self, operation: OperationId) -> impl Iterator<Item = Range<Instant>> + '_ {
        let time = self.begun_time(operation).unwrap_or(Instant::ZERO..Instant::ZERO);
        let mut from = time.start;
        let end = std::iter::once(time.end..time.end);
        let between = move |pause: Range<Instant>| std::mem::replace(&mut from, pause.end)..pause.start;
        self.pauses(operation).chain(end).map(between).filter(|part| part.start < part.end)
    }

    /// How long all its pauses are.
    pub fn paused(&self, operation: OperationId) -> Duration {
        let Some(time) = self.begun_time(operation) else { return Duration::ZERO };
        if let Some(process) = self.runs_in_turns_of(operation) {
            let whole = time.end.since(time.start);
            return Duration::from_ns(whole.as_ns() - self.time_in_turn(process, time).as_ns());
        }
        let pauses = self.copy_pauses_of(operation).iter();
        pauses.fold(Duration::ZERO, |sum, &(_, from, to)| sum + to.since(from))
    }

    /// For how long it ran, without its pauses.
    pub fn ran(&self, operation: OperationId) -> Duration {
        let time = self.begun_time(operation).unwrap_or(Instant::ZERO..Instant::ZERO);
        Duration::from_ns(time.end.since(time.start).as_ns() - self.paused(operation).as_ns())
    }

    pub(super) fn pauses_under(&self, operation: OperationId) -> Rule {
        if self.kernel_of(operation).is_some() { Rule::T4 } else { Rule::T5 }
    }

    /// The process in whose turns alone it runs; `None`: it runs whoever has a turn.
    pub(super) fn runs_in_turns_of(&self, operation: OperationId) -> Option<ProcessId> {
        let in_turns = match self.record(operation)?.kind {
            OperationKind::Kernel(_) => true,
            OperationKind::Copy(_) => self.copies_run_in_turns(),
            OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => false,
        };
        self.context_with_turns(operation).filter(|_| in_turns)
    }

    /// From its start until it finished or the run ended.
    fn begun_time(&self, operation: OperationId) -> Option<Range<Instant>> {
        let record = self.record(operation)?;
        let start = record.first_start()?;
        Some(start..record.finish().unwrap_or(self.end).max(start))
    }

    fn copy_pauses_of(&self, operation: OperationId) -> &[CopyPause] {
        let first = self.copy_pauses.partition_point(|&(id, ..)| id < operation);
        let rest = &self.copy_pauses[first..];
        &rest[..rest.partition_point(|&(id, ..)| id == operation)]
    }

    /// Ends the pauses in which the run ended, and puts all in order.
    pub(super) fn index_copy_pauses(&mut self) {
        let end = self.end;
        for (_, _, to) in &mut self.copy_pauses {
            *to = (*to).min(end);
        }
        self.copy_pauses.retain(|&(_, from, to)| from < to);
        self.copy_pauses.sort_unstable();
    }
}
