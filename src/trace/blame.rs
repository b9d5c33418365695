//! Who made whom wait.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cause::Cause;
use super::queue::{Queue, Stay, engine_of, queue_contents};
use super::reasons::{Reason, reasons};
use super::record::Trace;
use super::rule::Rule;
use crate::device::{BlockDemand, Device};
use crate::limits::end_if_stopped;
use crate::time::Instant;
use crate::workload::{OperationId, ProcessId};

/// A part of the time that an operation waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blame {
    /// What waited.
    pub operation: OperationId,
    /// The rule that held it.
    pub rule: Rule,
    /// The rule that held what stood before it in its queue, if that needs no engine itself (a memset, record or wait)
    /// and did not stand behind its stream's head: E2 for what is behind a wait for an event. `None`: there is none
    /// such, and `blocking` was there itself.
    pub through: Option<Rule>,
    /// From.
    pub from: Instant,
    /// Until.
    pub to: Instant,
    /// The kernel or copy that stood in the way; `None`: there is none, as for a channel or a launch latency.
    pub blocking: Option<OperationId>,
    /// Under T1, and where it pauses because it is not its turn (T4, T5), the process whose turn it was; `None`:
    /// nobody's, as during a switch of contexts.
    pub turn_of: Option<ProcessId>,
}

/// Divides the time from each operation's launch until its first block was assigned (or it began, or the run ended) by
/// rule and by who stood in the way, by operation and time: the parts of one operation follow one another and add up to
/// that time. Behind them come its [pauses](Trace::pauses) (T4, T5), divided likewise: with the time in which it
/// [ran](Trace::runs) all parts add up to its response time. Of a simulated run.
///
/// - In a queue (G2, C1, X1, A2, N1, N2, C2, E2) it is the operation at the head. If that is a memset, record or wait,
///   it is whoever holds that, and [`through`](Blame::through) is under which rule.
/// - Where it is not the turn of its context (T1, T4, T5) it is each context that has a turn meanwhile; where a copy
///   stands still on an engine that contexts share by turns (T5), each copy that the engine serves.
/// - Where no SM has room (R2, R3, registers) it is, of the kernels on the GPU that share an SM with it and take some
///   of what the rule is about, the one that began first.
pub fn blame(trace: &Trace, device: &Device) -> Vec<Blame> {
    blame_for(trace, device, &reasons(trace, device))
}

/// As [`blame`], where the [`reasons`] of the run are known already.
pub(crate) fn blame_for(trace: &Trace, device: &Device, reasons: &[Reason]) -> Vec<Blame> {
    let mut accuser = Accuser { standing: Standing::new(trace, device), parts: Vec::new(), first: Vec::new() };
    let mut reasons = reasons.iter().peekable();
    for (id, record) in trace.numbered() {
        end_if_stopped();
        accuser.first.push(accuser.parts.len());
        let start = record.first_start().unwrap_or(trace.end()).min(trace.end());
        while let Some(reason) = reasons.next_if(|reason| reason.operation == id) {
            let to = reason.to.map_or(start, |to| to.min(start));
            // Those behind its first block are of what it runs.
            if reason.from < to {
                accuser.divide(reason, reason.from..to);
            }
        }
        accuser.divide_pauses(id);
    }
    accuser.parts
}

struct Accuser<'a> {
    standing: Standing<'a>,
    parts: Vec<Blame>,
    /// Where the parts of each operation begin.
    first: Vec<usize>,
}

impl Accuser<'_> {
    /// Divides `time` where someone else comes to stand in the way.
    fn divide(&mut self, reason: &Reason, mut time: Range<Instant>) {
        if reason.cause == Some(Cause::Turn) {
            return self.divide_by_turns(reason.operation, reason.rule, time);
        }
        while time.start < time.end {
            let (blocking, until) = match &reason.cause {
                Some(Cause::Room(_) | Cause::Cluster(_)) => {
                    self.standing.holder_at(reason.operation, reason.rule, time.start)
                }
                Some(cause) => {
                    cause.queue().map_or((None, Instant::MAX), |queue| self.standing.head_at(queue, time.start))
                }
                None => (None, Instant::MAX),
            };
            let until = until.min(time.end);
            self.add(reason, time.start..until, blocking);
            time.start = until;
        }
    }

    /// Divides the time in which an operation that has begun stands still.
    fn divide_pauses(&mut self, operation: OperationId) {
        let Standing { trace, device, .. } = self.standing;
        let rule = trace.pauses_under(operation);
        let in_turns = trace.runs_in_turns_of(operation).is_some();
        let engine = trace.record(operation).and_then(|record| engine_of(trace, device, record.kind));
        for mut pause in trace.pauses(operation) {
            if in_turns {
                self.divide_by_turns(operation, rule, pause);
                continue;
            }
            while pause.start < pause.end {
                let served = engine.map(|engine| self.standing.head_at(Queue::CopyEngine(engine), pause.start));
                let (blocking, until) = served.unwrap_or((None, Instant::MAX));
                let (from, to) = (pause.start, until.min(pause.end));
                self.push(Blame { operation, rule, through: None, from, to, blocking, turn_of: None });
                pause.start = to;
            }
        }
    }

    fn divide_by_turns(&mut self, operation: OperationId, rule: Rule, time: Range<Instant>) {
        let trace = self.standing.trace;
        let mut from = time.start;
        let turns = trace.turns_within(time.clone()).iter();
        let parts = turns.flat_map(|turn| [(turn.start, None), (turn.end, Some(turn.process))]);
        for (to, turn_of) in parts.chain([(time.end, None)]) {
            let to = to.clamp(from, time.end);
            if from < to {
                self.push(Blame { operation, rule, through: None, from, to, blocking: None, turn_of });
            }
            from = to;
        }
    }

    /// Adds one part, or where `blocking` needs no engine, those that hold it meanwhile.
    fn add(&mut self, reason: &Reason, time: Range<Instant>, blocking: Option<OperationId>) {
        let &Reason { operation, rule, .. } = reason;
        let records = self.standing.trace.operations();
        let passes_on = blocking.filter(|id| records.get(id.index()).is_some_and(|record| record.kind.is_instant()));
        // What stands in the way was launched before, so its parts are known.
        let held = passes_on.and_then(|id| Some(*self.first.get(id.index())?..*self.first.get(id.index() + 1)?));
        let Some(held) = held else {
            let (through, turn_of) = (None, None);
            self.push(Blame { operation, rule, through, from: time.start, to: time.end, blocking, turn_of });
            return;
        };
        for number in held {
            let part = self.parts[number];
            let (from, to) = (part.from.max(time.start), part.to.min(time.end));
            if from < to {
                let through = part.through.or(Some(part.rule)).filter(|rule| !rule.is_behind_in_stream());
                self.push(Blame { operation, rule, through, from, to, ..part });
            }
        }
    }

    /// Adds a part, joined to the one before it if both say the same.
    fn push(&mut self, part: Blame) {
        let same = |part: &Blame| (part.operation, part.rule, part.through, part.blocking, part.turn_of);
        match self.parts.last_mut() {
            Some(last) if same(last) == same(&part) && last.to == part.from => {
                last.to = part.to;
            }
            _ => self.parts.push(part),
        }
    }
}

/// Who is at the head of which queue and on the GPU, and when.
pub(super) struct Standing<'a> {
    trace: &'a Trace,
    device: &'a Device,
    queues: BTreeMap<Queue, Vec<Stay>>,
    running: Running,
}

impl<'a> Standing<'a> {
    pub(super) fn new(trace: &'a Trace, device: &'a Device) -> Self {
        let contents = queue_contents(trace, device).into_iter();
        let queues = contents.map(|contents| (contents.queue, contents.stays)).collect();
        Self { trace, device, queues, running: Running::new(trace) }
    }

    /// Who is in a queue over time, in order of entry.
    pub(super) fn stays(&self, queue: Queue) -> &[Stay] {
        self.queues.get(&queue).map_or(&[][..], Vec::as_slice)
    }

    /// Which of them are at the head in some time, one after another.
    pub(super) fn heads_in(&self, queue: Queue, time: &Range<Instant>) -> Range<usize> {
        let stays = self.stays(queue);
        let first = stays.partition_point(|stay| stay.left.is_some_and(|left| left <= time.start));
        let after = stays.partition_point(|stay| stay.left.is_some_and(|left| left < time.end)) + 1;
        let after = after.min(stays.len()).min(stays.partition_point(|stay| stay.entered < time.end));
        first.min(after)..after
    }

    /// The kernel that is blamed for that `operation` has no room at `at`, and until when it is.
    pub(super) fn holder_at(&self, operation: OperationId, rule: Rule, at: Instant) -> (Option<OperationId>, Instant) {
        self.running.first_at(at, |other| self.takes(other, rule) && self.share_an_sm(operation, other))
    }

    /// Who is at the head of a queue after all events of `at`, and until when.
    fn head_at(&self, queue: Queue, at: Instant) -> (Option<OperationId>, Instant) {
        let stays = self.stays(queue);
        // First in, first out: they leave in their order.
        let gone = stays.partition_point(|stay| stay.left.is_some_and(|left| left <= at));
        match stays.get(gone) {
            Some(head) if head.entered <= at => (Some(head.operation), head.left.unwrap_or(Instant::MAX)),
            Some(next) => (None, next.entered),
            None => (None, Instant::MAX),
        }
    }

    /// Whether a kernel takes some of what a rule of room is about.
    fn takes(&self, operation: OperationId, rule: Rule) -> bool {
        let kernel = self.trace.kernel_of(operation);
        let Some(demand) = kernel.and_then(|kernel| BlockDemand::new(&kernel.shape, self.device).ok()) else {
            return false;
        };
        match rule {
            Rule::R3 => demand.shared_memory_bytes > 0,
            Rule::Registers => demand.registers > 0,
            _ => true,
        }
    }

    fn share_an_sm(&self, one: OperationId, other: OperationId) -> bool {
        let (one, other) = (self.trace.mask_of(one), self.trace.mask_of(other));
        if one.is_none() || other.is_none() {
            return true;
        }
        self.device.sms_left_by(one).any(|sm| other.is_none_or(|mask| mask.enables_sm(sm, self.device)))
    }
}

/// Kernels by when they began.
struct Running {
    /// First start, finish, and which.
    kernels: Vec<(Instant, Instant, OperationId)>,
    /// The latest finish up to each.
    latest: Vec<Instant>,
}

impl Running {
    fn new(trace: &Trace) -> Self {
        let numbered = trace.numbered();
        let kernels = numbered.filter(|(id, _)| trace.kernel_of(*id).is_some());
        let mut kernels: Vec<_> = kernels
            .filter_map(|(id, record)| Some((record.first_start()?, record.finish().unwrap_or(Instant::MAX), id)))
            .collect();
        kernels.sort_unstable();
        let mut last = Instant::ZERO;
        let latest = kernels.iter().map(|(_, finish, _)| {
            last = last.max(*finish);
            last
        });
        Self { latest: latest.collect(), kernels }
    }

    /// The kernel that began first of those that run at `at` and are `wanted`, and until when it runs.
    fn first_at(&self, at: Instant, wanted: impl Fn(OperationId) -> bool) -> (Option<OperationId>, Instant) {
        let first = self.latest.partition_point(|finish| *finish <= at);
        let mut begun = self.kernels[first..].iter().take_while(|(start, ..)| *start <= at);
        match begun.find(|(_, finish, id)| *finish > at && wanted(*id)) {
            Some((_, finish, id)) => (Some(*id), *finish),
            None => (None, Instant::MAX),
        }
    }
}
