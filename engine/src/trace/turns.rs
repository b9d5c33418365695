//! The turns of contexts, and what follows from them: when blocks that were suspended end, and when they pause.
//!
//! A block keeps its start and the time for which it runs. While it is not the turn of its context (T1) it does not run
//! (T4); so it ends when its context has had turns of that time since it began. One that watches a timer ends by the
//! clock, or as the next turn of its context begins. Everything about that is derived here.

use std::ops::Range;

use super::entries::{ContextTurn, CopyPause};
use super::queue::QueueContext;
use super::record::Trace;
use super::rule::Rule;
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::workload::{CheckedProcess, GreenContextId, OperationId, OperationKind, ProcessId, StreamId, StreamSpec};

impl Trace {
    /// Whether contexts of several processes took turns, as far as any had work; of a measured run that is not known.
    pub fn is_time_sliced(&self) -> bool {
        self.turn_taking().is_some() && !self.is_observed
    }

    /// The turns of all contexts, in order of time; none where there is one process, or all are clients of MPS.
    pub fn turns(&self) -> &[ContextTurn] {
        &self.turns
    }

    /// The turn that is on after all events of `at`, or whose switch is; `None`: nobody has one.
    pub fn turn_at(&self, at: Instant) -> Option<&ContextTurn> {
        let after = self.turns.partition_point(|turn| turn.end <= at);
        self.turns.get(after).filter(|turn| turn.switch_from <= at)
    }

    /// When the next turn of a process begins, if it is not its turn after all events of `at`; `None` if it has none.
    /// Turns without length do not count.
    pub fn next_turn_of(&self, process: ProcessId, at: Instant) -> Option<Instant> {
        let turns = self.served(process, at)?.iter().filter(|(from, to, _)| from < to);
        turns.map(|&(from, ..)| from).find(|from| *from > at)
    }

    /// The turns that touch a time.
    pub(super) fn turns_within(&self, time: Range<Instant>) -> &[ContextTurn] {
        let first = self.turns.partition_point(|turn| turn.end <= time.start);
        let after = self.turns.partition_point(|turn| turn.switch_from < time.end);
        &self.turns[first.min(after)..after]
    }

    /// The process of an operation; `None` if the trace has no such operation.
    pub fn process_of(&self, operation: OperationId) -> Option<ProcessId> {
        self.process_of_stream(self.record(operation)?.stream)
    }

    /// The process of an operation that the trace has.
    #[doc(hidden)]
    pub fn process_of_known(&self, operation: OperationId) -> ProcessId {
        self.process_of(operation).proven("the trace has the operation, and its stream")
    }

    /// The process of a stream; `None` if the trace has no such stream.
    pub fn process_of_stream(&self, stream: StreamId) -> Option<ProcessId> {
        self.items.streams.get(stream.index()).map(|stream| stream.process)
    }

    /// The NULL stream of a stream's process.
    pub(super) fn null_stream_of(&self, stream: StreamId) -> StreamId {
        let process = self.process_of_stream(stream).and_then(|process| self.items.processes.get(process.index()));
        process.map_or(StreamId::NULL, CheckedProcess::null_stream)
    }

    /// Whether a stream is the NULL stream of its process.
    pub fn is_null_stream(&self, stream: StreamId) -> bool {
        self.null_stream_of(stream) == stream
    }

    /// Whether copies run in the turns of their contexts only (T5).
    pub fn copies_run_in_turns(&self) -> bool {
        self.turn_taking().is_some_and(|taking| taking.copies_run_in_turn)
    }

    /// Who shares the EE queues of a process: the first of the clients of MPS that may use the whole GPU, if it is one
    /// of them, or else nobody beside itself.
    fn context_of(&self, process: ProcessId) -> ProcessId {
        self.items.queue_contexts.get(process.index()).copied().unwrap_or(process)
    }

    /// Whose EE queues the kernels of a stream wait in.
    pub fn queue_context_of(&self, stream: &StreamSpec) -> QueueContext {
        QueueContext { process: self.context_of(stream.process), green: stream.green_context }
    }

    /// All who have EE queues: each context, under MPS each client with a part of the SMs and all others together; and
    /// of a context with green contexts whatever is in none of them, then each.
    pub fn queue_contexts(&self) -> Vec<QueueContext> {
        let processes = (0..).take(self.processes().len().max(1)).map(|number| self.context_of(ProcessId(number)));
        let mut contexts: Vec<QueueContext> = processes.map(QueueContext::from).collect();
        contexts.sort_unstable();
        contexts.dedup();
        // There is one process, then.
        let green = (0..).take(self.items.green_contexts.len()).map(|number| Some(GreenContextId(number)));
        contexts.extend(green.map(|green| QueueContext { process: ProcessId::FIRST, green }));
        contexts
    }

    /// What tells one who has EE queues from the others; `None` if there is one only.
    pub fn queue_context_name(&self, context: QueueContext) -> Option<&str> {
        match context.green {
            Some(green) => self.items.green_contexts.get(green.index()).map(|green| &*green.name),
            None if !self.items.green_contexts.is_empty() => Some("no green context"),
            None if self.mps() => {
                let is_one = |process: &&ProcessId| **process == context.process;
                let several = self.items.queue_contexts.iter().any(|process| *process != context.process);
                let is_alone = self.items.queue_contexts.iter().filter(is_one).nth(1).is_none();
                let name = if is_alone { self.process_name(context.process) } else { "clients of all SMs" };
                several.then_some(name)
            }
            None => self.is_time_sliced().then(|| self.process_name(context.process)),
        }
    }

    /// The process whose turns an operation's blocks run in; `None` if contexts do not take turns, and share the SMs.
    pub fn context_with_turns(&self, operation: OperationId) -> Option<ProcessId> {
        self.process_of(operation).filter(|_| !self.turns.is_empty())
    }

    /// The turns of a process that end after `at`; `None` if contexts do not take turns, and each runs always.
    fn served(&self, process: ProcessId, at: Instant) -> Option<&[(Instant, Instant, Duration)]> {
        if self.turns.is_empty() {
            return None;
        }
        let served = self.served.get(process.index()).map_or(&[][..], Vec::as_slice);
        Some(&served[served.partition_point(|&(_, end, _)| end <= at)..])
    }

    /// When something of a process that begins at `start` and runs for `duration` ends. What has not ended when the run
    /// does goes on as if it were its turn from then on.
    pub fn end_of(&self, process: ProcessId, start: Instant, duration: Duration) -> Instant {
        let Some(served) = self.served(process, start).filter(|_| duration > Duration::ZERO) else {
            return start + duration;
        };
        let Some(&(first_start, _, first_before)) = served.first() else {
            return self.end.max(start) + duration;
        };
        // By when all turns together have lasted so long.
        let due = first_before + start.since(first_start) + duration;
        let last = served.partition_point(|&(_, _, before)| before < due).saturating_sub(1);
        let (from, to, before) = served[last];
        let end = from.max(start) + Duration::from_ns(due.as_ns() - before.as_ns() - start.since(from).as_ns());
        if end <= to { end } else { self.end.max(start) + end.since(to) }
    }

    /// When something of a process ends that is due at an instant whether or not it is its turn then: in that turn, or
    /// as soon as the next begins. What has not ended when the run does is told as ending right after it.
    pub(super) fn end_of_timer(&self, process: ProcessId, due: Instant) -> Instant {
        if self.turns.is_empty() {
            return due;
        }
        let served = self.served.get(process.index()).map_or(&[][..], Vec::as_slice);
        // A turn that ends at that instant still counts.
        let turn = served.get(served.partition_point(|&(_, to, _)| to < due));
        turn.map_or(self.end + Duration::from_ns(1), |&(from, ..)| from).max(due)
    }

    /// The parts of a time in which it is the turn of a process: all of it if contexts do not take turns.
    pub fn in_turn(&self, process: ProcessId, time: Range<Instant>) -> impl Iterator<Item = Range<Instant>> + '_ {
        let served = self.served(process, time.start);
        let whole = served.is_none().then(|| time.clone());
        let parts = served.unwrap_or_default().iter().map_while(move |&(from, to, _)| {
            let part = from.max(time.start)..to.min(time.end);
            (from < time.end).then_some(part)
        });
        whole.into_iter().chain(parts).filter(|part| part.start < part.end)
    }

    /// The parts of a time in which it is the turn of a process, and not only until blocks have run to their ends.
    pub(super) fn in_open_turn(&self, process: ProcessId, time: Range<Instant>) -> Vec<Range<Instant>> {
        let mut open = Vec::new();
        if self.turns.is_empty() {
            return open;
        }
        for part in self.in_turn(process, time) {
            let mut from = part.start;
            let first = self.ran_out.partition_point(|&(_, to)| to <= from);
            for &(closed, to) in self.ran_out[first..].iter().take_while(|&&(closed, _)| closed < part.end) {
                open.push(from..closed);
                from = to;
            }
            open.push(from..part.end);
        }
        open.retain(|part| part.start < part.end);
        open
    }

    /// The parts of a time in which it is not the turn of a process.
    pub fn out_of_turn(&self, process: ProcessId, time: Range<Instant>) -> impl Iterator<Item = Range<Instant>> + '_ {
        let mut from = time.start;
        let end = std::iter::once(time.end..time.end);
        self.in_turn(process, time)
            .chain(end)
            .map(move |part| std::mem::replace(&mut from, part.end)..part.start)
            .filter(|part| part.start < part.end)
    }

    /// For how much of a time it is the turn of a process.
    pub fn time_in_turn(&self, process: ProcessId, time: Range<Instant>) -> Duration {
        let Some(served) = self.served(process, time.start) else { return time.end.since(time.start) };
        let until = served.partition_point(|&(from, ..)| from < time.end);
        let (Some(&(first, _, before)), Some(&(last, end, before_last))) = (served.first(), served[..until].last())
        else {
            return Duration::ZERO;
        };
        // What all turns up to the end of the time lasted, less what they did before it.
        let all = before_last + end.min(time.end).since(last);
        Duration::from_ns(all.as_ns().saturating_sub((before + time.start.max(first).since(first)).as_ns()))
    }

    /// Whether it is the turn of a process, after all events of `at`.
    pub fn is_turn_of(&self, process: ProcessId, at: Instant) -> bool {
        self.served(process, at).is_none_or(|served| served.first().is_some_and(|&(from, ..)| from <= at))
    }

    /// Ends the turn that the end of the run cut off, and sums up the turns of each process.
    pub(super) fn index_turns(&mut self) {
        let end = self.end;
        self.served.clear();
        for turn in &mut self.turns {
            let has_begun = turn.start <= end;
            turn.start = turn.start.min(end);
            turn.end = turn.end.min(end);
            let number = turn.process.index();
            if number >= self.served.len() {
                self.served.resize(number + 1, Vec::new());
            }
            let own = &mut self.served[number];
            let before = own.last().map_or(Duration::ZERO, |&(from, to, before)| before + to.since(from));
            match own.last_mut() {
                // Its level gave it the next turn, too: nothing paused.
                Some((_, to, _)) if *to == turn.start => *to = turn.end,
                // A turn without length is enough for what has become due in the meantime.
                _ if has_begun => own.push((turn.start, turn.end, before)),
                _ => {}
            }
        }
    }
}

// When what has begun stands still: suspended blocks (T4), and copies whose engine serves another context (T5).

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
            _ => false,
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
