//! Why an operation waited, and for how long.

use std::ops::Range;

use super::record::Trace;
use super::rule::Rule;
use super::turn::TurnEnd;
use super::wait::{NotedWait, Wait};
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

impl Trace {
    /// Why and for how long an operation waited until it was fully dispatched, in order of time.
    ///
    /// Together with the time in which its blocks were assigned without waiting, of length zero, this covers the
    /// whole time from its launch to its full dispatch.
    #[must_use]
    pub fn waits(&self, operation: OperationId) -> Vec<Wait> {
        let mut waits = self.open_waits(operation);
        for wait in &mut waits {
            wait.to = wait.to.min(self.end);
        }
        waits.retain(|wait| wait.from < wait.to);
        waits
    }

    /// The rule that holds an operation after all events of `at`; since when, and until when or [`Instant::MAX`] if it
    /// still holds when the run ends. `None`: it was not submitted yet, or nothing of it waits any more.
    #[must_use]
    pub fn held_at(&self, operation: OperationId, at: Instant) -> Option<Wait> {
        self.open_waits(operation).into_iter().find(|wait| wait.from <= at && at < wait.to)
    }

    /// As [`Trace::waits`], but what still waits when the run ends does so until [`Instant::MAX`], even if it began to
    /// wait at the last instant of the run.
    pub(crate) fn open_waits(&self, operation: OperationId) -> Vec<Wait> {
        let Some(record) = self.operations.get(operation.0 as usize) else { return Vec::new() };
        let first = self.waits.partition_point(|wait| wait.operation < operation.0);
        let noted = self.waits[first..].iter().take_while(|wait| wait.operation == operation.0).map(NotedWait::wait);
        let (in_stream, head): (Vec<Wait>, Vec<Wait>) = noted.partition(|wait| wait.rule.is_noted_in_stream());
        let (channel, mut own): (Vec<Wait>, Vec<Wait>) =
            in_stream.into_iter().partition(|wait| wait.rule == Rule::Channel);
        let reached_head = record.reached_head;
        if let Some(awaited) = self.awaited_by(operation).and_then(|other| self.operations.get(other.0 as usize)) {
            own.push(Wait { rule: Rule::E2, from: reached_head, to: awaited.finish.max(reached_head) });
        }

        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        let queue_rule = if is_copy { Rule::C1 } else { Rule::G2 };
        let null_rule = if self.is_null_stream(record.stream) { Rule::N1 } else { Rule::N2 };
        // What holds it by itself is named first; what then still holds it is the NULL stream, or blocking streams.
        let held_by_others = own.last().map_or(reached_head, |wait| wait.to);
        let passed_null = channel.first().map_or(record.queued, |wait| wait.from);
        let mut waits = vec![Wait { rule: queue_rule, from: record.launched, to: reached_head }];
        waits.extend(own);
        waits.push(Wait { rule: null_rule, from: held_by_others, to: passed_null });
        waits.extend(channel);
        match record.kind {
            OperationKind::Kernel(_) => {
                waits.push(Wait { rule: Rule::X1, from: record.queued, to: record.reached_queue_head });
                let at_head = record.reached_queue_head..record.last_start;
                waits.extend(self.only_in_turn(record.stream, &head, at_head));
            }
            OperationKind::Copy(_) => {
                let wait = Wait { rule: Rule::C2, from: record.queued, to: record.first_start };
                if self.items.copies_run_in_turn {
                    waits.extend(self.only_in_turn(record.stream, &[wait], record.queued..record.first_start));
                } else {
                    waits.push(wait);
                }
            }
            OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => {}
        }
        waits.retain(|wait| wait.from < wait.to);
        // Another rule may have held it between two rounds of one instant.
        waits.dedup_by(|next, wait| {
            let continues = wait.rule == next.rule && wait.to == next.from;
            if continues {
                wait.to = next.to;
            }
            continues
        });
        waits
    }

    /// T1 holds what is ready whenever no other rule does; only in the turn of its context do others.
    fn only_in_turn(&self, stream: StreamId, waits: &[Wait], time: Range<Instant>) -> Vec<Wait> {
        if self.turns.is_empty() {
            return waits.to_vec();
        }
        let process = self.process_of_stream(stream);
        let mut cut: Vec<Wait> = Vec::new();
        // Nothing is known of turns after the end of the run: what waits then does so under the rule that holds it.
        let known = time.start..time.end.min(self.end);
        for wait in waits {
            let parts = self.in_turn(process, wait.from..wait.to.min(known.end));
            cut.extend(parts.map(|part| Wait { rule: wait.rule, from: part.start, to: part.end }));
            if wait.to > known.end && self.is_turn_of_last(process) {
                cut.push(Wait { rule: wait.rule, from: wait.from.max(known.end), to: wait.to });
            }
        }
        cut.sort_unstable_by_key(|wait| wait.from);
        // Also while blocks of a turn whose slice is over run to their ends.
        let mut from = known.start;
        let mut rest = Vec::new();
        for (start, end) in cut.iter().map(|wait| (wait.from, wait.to)).chain([(known.end, known.end)]) {
            rest.push(Wait { rule: Rule::T1, from, to: start.min(known.end) });
            from = from.max(end);
        }
        cut.extend(rest.into_iter().filter(|wait| wait.from < wait.to));
        if time.end > known.end && !self.is_turn_of_last(process) {
            cut.push(Wait { rule: Rule::T1, from: known.end, to: time.end });
        }
        cut.sort_unstable_by_key(|wait| wait.from);
        cut
    }

    /// Whether it is the turn of a process when the run ends.
    fn is_turn_of_last(&self, process: ProcessId) -> bool {
        let last = self.turns.last();
        last.is_some_and(|turn| turn.process == process && turn.ended_by == TurnEnd::RunEnded && turn.start < self.end)
    }
}
