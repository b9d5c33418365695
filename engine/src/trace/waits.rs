//! Which rule held each operation from when to when. For what it waited under the rule is in `reasons`.

use std::ops::Range;

use super::entries::{NotedWait, OperationRecord, TurnEnd, Wait};
use super::record::Trace;
use super::rule::Rule;
use crate::limits::end_if_stopped;
use crate::proven::Proven;
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

impl Trace {
    /// Why and for how long an operation waited until it was fully dispatched, in order of time.
    ///
    /// Together with the time in which its blocks were assigned without waiting, of length zero, this covers the
    /// whole time from its launch to its full dispatch.
    pub fn waits(&self, operation: OperationId) -> Vec<Wait> {
        let mut waits = Vec::new();
        self.each_wait(operation, |wait| waits.push(wait));
        waits
    }

    /// Tells each of [`Trace::waits`], in the same order, without a list of them.
    pub fn each_wait(&self, operation: OperationId, mut visit: impl FnMut(Wait)) {
        self.each_open_wait(operation, |wait| {
            let to = wait.to.min(self.end);
            if wait.from < to {
                visit(Wait { to, ..wait });
            }
        });
    }

    /// The rule that holds an operation after all events of `at`; since when, and until when or [`Instant::MAX`] if it
    /// still holds when the run ends. `None`: it was not submitted yet, or nothing of it waits any more.
    pub fn held_at(&self, operation: OperationId, at: Instant) -> Option<Wait> {
        let mut held = None;
        self.each_open_wait(operation, |wait| {
            if wait.from <= at && at < wait.to {
                held = held.or(Some(wait));
            }
        });
        held
    }

    /// As [`Trace::waits`], but what still waits when the run ends does so until [`Instant::MAX`], even if it began to
    /// wait at the last instant of the run.
    pub(crate) fn open_waits(&self, operation: OperationId) -> Vec<Wait> {
        let mut waits = Vec::new();
        self.each_open_wait(operation, |wait| waits.push(wait));
        waits
    }

    fn each_open_wait(&self, operation: OperationId, mut visit: impl FnMut(Wait)) {
        end_if_stopped();
        let Some(record) = self.record(operation) else { return };
        let noted = self.noted_waits(operation);
        if let (OperationKind::Kernel(_), [], false) = (record.kind, noted, self.is_time_sliced()) {
            return self.each_plain_wait(record, visit);
        }
        let noted = |chosen: fn(Rule) -> bool| noted.iter().map(NotedWait::wait).filter(move |wait| chosen(wait.rule));
        let in_stream = || noted(|rule| rule.is_noted_in_stream() && rule != Rule::Channel);
        let channel = || noted(|rule| rule == Rule::Channel);
        let reached_head = record.reached_head;
        let awaited = self.awaited_by(operation).and_then(|other| self.record(other));
        let let_go = noted(|rule| rule == Rule::E2).next();
        let awaited = let_go.or_else(|| {
            awaited.map(|other| Wait { rule: Rule::E2, from: reached_head, to: other.finish.max(reached_head) })
        });

        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        let queue_rule = if is_copy { Rule::C1 } else { Rule::G2 };
        let null_rule = self.null_rule(record.stream);
        // What holds it by itself is named first; what then still holds it is the NULL stream, or blocking streams.
        // A value of a counter is looked for once they do not.
        let is_for_value = matches!(record.kind, OperationKind::WaitValue(_));
        let (for_time, for_value) =
            if is_for_value { (None, in_stream().next()) } else { (in_stream().next_back(), None) };
        let held_by_others = awaited.or(for_time).map_or(reached_head, |wait| wait.to);
        let passed_null = channel().next().or(for_value).map_or(record.queued, |wait| wait.from);
        let in_queue = |rule, to| Wait { rule, from: record.queued, to };
        let at_head = || noted(|rule| !rule.is_noted_in_stream());
        let (queue, held, cut) = match record.kind {
            OperationKind::Kernel(_) if !self.is_time_sliced() => {
                (Some(in_queue(Rule::X1, record.reached_queue_head)), Some(at_head()), Vec::new())
            }
            OperationKind::Kernel(_) => {
                let time = record.reached_queue_head..record.last_start;
                let cut = self.only_in_turn(record.stream, at_head(), time);
                (Some(in_queue(Rule::X1, record.reached_queue_head)), None, cut)
            }
            OperationKind::Copy(_) => {
                let wait = in_queue(Rule::C2, record.first_start);
                if self.copies_run_in_turns() && self.is_time_sliced() {
                    let cut =
                        self.only_in_turn(record.stream, std::iter::once(wait), record.queued..record.first_start);
                    (None, None, cut)
                } else {
                    (Some(wait), None, Vec::new())
                }
            }
            _ => (None, None, Vec::new()),
        };
        let waits = std::iter::once(Wait { rule: queue_rule, from: record.launched, to: reached_head })
            .chain(in_stream().filter(|_| !is_for_value))
            .chain(awaited)
            .chain([Wait { rule: null_rule, from: held_by_others, to: passed_null }])
            .chain(for_value)
            .chain(channel())
            .chain(queue)
            .chain(held.into_iter().flatten())
            .chain(cut);
        // Another rule may have held it between two rounds of one instant, so that what goes on is told as one.
        let mut told: Option<Wait> = None;
        waits.filter(|wait| wait.from < wait.to).for_each(|wait| match &mut told {
            Some(before) if before.rule == wait.rule && before.to == wait.from => before.to = wait.to,
            before => {
                if let Some(before) = before.replace(wait) {
                    visit(before);
                }
            }
        });
        if let Some(last) = told {
            visit(last);
        }
    }

    /// As [`Trace::each_open_wait`], of a kernel of which no waits are noted, in a run without turns. It waits for no
    /// event: kernels do not.
    fn each_plain_wait(&self, record: &OperationRecord, mut visit: impl FnMut(Wait)) {
        let null_rule = self.null_rule(record.stream);
        let (reached_head, queued) = (record.reached_head, record.queued);
        let waits = [
            Wait { rule: Rule::G2, from: record.launched, to: reached_head },
            Wait { rule: null_rule, from: reached_head, to: queued },
            Wait { rule: Rule::X1, from: queued, to: record.reached_queue_head },
        ];
        waits.into_iter().filter(|wait| wait.from < wait.to).for_each(&mut visit);
    }

    /// What holds the head of a stream queue behind others' operations: the NULL stream's waits for blocking streams,
    /// and they for it.
    #[inline]
    fn null_rule(&self, stream: StreamId) -> Rule {
        if self.is_null_stream(stream) { Rule::N1 } else { Rule::N2 }
    }

    /// What the record has of an operation's waits; nothing as long as the run is not over.
    #[inline]
    fn noted_waits(&self, operation: OperationId) -> &[NotedWait] {
        let Some(place) = self.place(operation) else { return &[] };
        match (self.first_wait.get(place), self.first_wait.get(place + 1)) {
            (Some(&first), Some(&next)) => &self.waits[first as usize..next as usize],
            _ => &[],
        }
    }

    /// Sorts waits by operation, and finds where those of each begin: looked for in a sorted list, they take longer
    /// than all else that is told of an operation.
    pub(super) fn index_waits(&mut self) {
        self.first_wait.clear();
        if self.waits.is_empty() {
            return;
        }
        self.waits.sort_by_key(|wait| wait.operation);
        self.first_wait.resize(self.operations.len() + 1, 0);
        // Each operation's number of waits, then the sum of those before it. There are fewer than 2^32: as many would
        // take 100 GB.
        for wait in &self.waits {
            self.first_wait[(wait.operation - self.first) as usize + 1] += 1;
        }
        let mut before = 0;
        for first in &mut self.first_wait {
            before += *first;
            *first = before;
        }
    }

    /// T1 holds what is ready whenever no other rule does; only in the turn of its context do others, as long as that
    /// takes what is new.
    fn only_in_turn(&self, stream: StreamId, waits: impl Iterator<Item = Wait>, time: Range<Instant>) -> Vec<Wait> {
        let process = self.process_of_stream(stream).proven("the trace has the stream of what waits");
        let mut cut: Vec<Wait> = Vec::new();
        // Nothing is known of turns after the end of the run: what waits then does so under the rule that holds it.
        let known = time.start..time.end.min(self.end);
        if time.start > self.end {
            // It never came to the head of its queue, and waits behind others to the end.
            return cut;
        }
        for wait in waits {
            let parts = self.in_open_turn(process, wait.from..wait.to.min(known.end));
            cut.extend(parts.into_iter().map(|part| Wait { rule: wait.rule, from: part.start, to: part.end }));
            if wait.to > known.end && self.is_turn_of_last(process) {
                cut.push(Wait { rule: wait.rule, from: wait.from.max(known.end), to: wait.to });
            }
        }
        cut.sort_unstable_by_key(|wait| wait.from);
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

    /// Whether it is the turn of a process when the run ends, and it takes what is new.
    fn is_turn_of_last(&self, process: ProcessId) -> bool {
        let last = self.turns.last().filter(|_| self.ran_out.last().is_none_or(|&(_, to)| to <= self.end));
        last.is_some_and(|turn| turn.process == process && turn.ended_by == TurnEnd::RunEnded && turn.start < self.end)
    }
}
