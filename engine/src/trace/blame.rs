//! Blame: which kernel, copy or context made which operation wait, under which rule, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::entries::OperationRecord;
use super::queue::{Cause, Queue, Stay, engine_of, queue_contents};
use super::reasons::{Reason, reasons};
use super::record::Trace;
use super::rule::Rule;
use crate::device::{BlockDemand, Device};
use crate::limits::{count_turn, end_if_stopped};
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
    /// The kernel or copy that stood in the way; `None`: there is none, as for any free channel or a launch latency.
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
/// - In a queue (G2, C1, X1, A2, N1, N2, C2, E2) it is the operation at the head; in a hardware channel that streams
///   were dealt to, the last one ahead of it that goes on no earlier. If that is a memset, record or wait,
///   it is whoever holds that, and [`through`](Blame::through) is under which rule.
/// - Where it is not the turn of its context (T1, T4, T5) it is each context that has a turn meanwhile; where a copy
///   stands still on an engine that contexts share by turns (T5), each copy that the engine serves.
/// - Where no SM has room (R2, R3, registers) it is, of the kernels on the GPU that share an SM with it and take some
///   of what the rule is about, the one that began first.
pub fn blame(trace: &Trace, device: &Device) -> Vec<Blame> {
    let (mut parts, reasons) = (Vec::new(), reasons(trace, device));
    let accuser = Accuser::new(trace, device, &reasons);
    for (id, _) in trace.numbered() {
        accuser.each_part(id, |part| parts.push(part));
    }
    parts
}

/// Who stood in the way of each operation, found where it is asked for: queues are long, and each operation in one has
/// a part for each that was before it.
pub struct Accuser<'a> {
    standing: Standing<'a>,
    /// The [`reasons`] of the run.
    reasons: &'a [Reason],
    /// What held memsets, records and waits while they were at the heads of their streams, for what stood behind them.
    held: Vec<Blame>,
    /// Where those of each operation begin.
    first: Vec<usize>,
}

/// Time in which an operation waited behind a queue, whose heads go one after another.
#[derive(Debug)]
pub struct BehindHeads {
    /// By which rule it waited.
    pub rule: Rule,
    /// In which queue.
    pub queue: Queue,
    /// The time from when the one before the first of these places left until the last has.
    pub places: Range<usize>,
}

impl<'a> Accuser<'a> {
    /// Of a run, with its [`reasons`].
    pub fn new(trace: &'a Trace, device: &'a Device, reasons: &'a [Reason]) -> Self {
        let (held, first) = (Vec::new(), Vec::with_capacity(trace.operations().len() + 1));
        let mut accuser = Self { standing: Standing::new(trace, device), reasons, held, first };
        for (id, record) in trace.numbered() {
            end_if_stopped();
            accuser.first.push(accuser.held.len());
            if let Some(at_head) = record.reached_head().filter(|_| record.kind.is_instant()) {
                let mut held = Vec::new();
                let mut parts = Parts::told_to(|part: Blame| held.extend((part.to > at_head).then_some(part)));
                for (reason, time) in accuser.reasons_of(id).filter(|(_, time)| time.end > at_head) {
                    accuser.divide(reason, time, &mut parts);
                }
                parts.end();
                accuser.held.append(&mut held);
            }
        }
        accuser.first.push(accuser.held.len());
        accuser
    }

    /// All parts of an operation, in order of time.
    pub fn each_part(&self, operation: OperationId, visit: impl FnMut(Blame)) {
        let mut parts = Parts::told_to(visit);
        for (reason, time) in self.reasons_of(operation) {
            self.divide(reason, time, &mut parts);
        }
        self.divide_pauses(operation, &mut parts);
        parts.end();
    }

    /// The same, where `behind` is told of the heads of a queue, from one place to another, in place of the part that
    /// each of them is.
    pub fn each_lump(&self, operation: OperationId, visit: impl FnMut(Blame), mut behind: impl FnMut(BehindHeads)) {
        let mut parts = Parts::told_to(visit);
        for (reason, time) in self.reasons_of(operation) {
            let lump = self.behind_heads(reason, &time);
            let Some((lump, before, after)) = lump else {
                self.divide(reason, time, &mut parts);
                continue;
            };
            self.divide(reason, time.start..before, &mut parts);
            self.divide(reason, after..time.end, &mut parts);
            behind(lump);
        }
        self.divide_pauses(operation, &mut parts);
        parts.end();
    }

    /// What stands in the way of an operation that waits behind a queue until the one at a place of it has gone, which
    /// is there next.
    pub fn each_part_of_place(
        &self,
        (operation, rule): (OperationId, Rule),
        (queue, place): (Queue, usize),
        visit: impl FnMut(Blame),
    ) {
        let stays = self.standing.stays(queue);
        let left = |place: usize| stays.get(place).and_then(|stay| stay.left);
        let (Some(from), Some(to)) = (place.checked_sub(1).and_then(left), left(place)) else { return };
        let mut parts = Parts::told_to(visit);
        self.divide_behind(operation, rule, queue, from..to, &mut parts);
        parts.end();
    }

    /// The part of the wait of an operation, until its first block, that `at` ends or lies in.
    pub fn part_before(&self, operation: OperationId, at: Instant) -> Option<Blame> {
        let mut reasons = self.reasons_of(operation).filter(|(_, time)| time.start < at && at <= time.end);
        let (reason, time) = reasons.next_back()?;
        let divide = |time| {
            let mut last = None;
            let is_there = |part: &Blame| part.from < at && at <= part.to;
            let mut parts = Parts::told_to(|part: Blame| last = Some(part).filter(is_there).or(last));
            self.divide(reason, time, &mut parts);
            parts.end();
            last
        };
        let queue = reason.cause.as_ref().and_then(Cause::queue);
        if queue.is_some_and(|queue| self.standing.leave_in_order(queue)) {
            let just_before = Instant::from_ns(at.as_ns().saturating_sub(1));
            // Where nobody stood in the way, it is asked since when.
            if let Some(part) = divide(just_before..at).filter(|part| part.blocking.is_some()) {
                return Some(part);
            }
        }
        divide(time)
    }

    /// Why an operation waited until its first block was assigned, and when: what is behind that is of what it runs.
    fn reasons_of(
        &self,
        operation: OperationId,
    ) -> impl DoubleEndedIterator<Item = (&'a Reason, Range<Instant>)> + use<'a> {
        end_if_stopped();
        let Self { standing: Standing { trace, .. }, reasons, .. } = *self;
        let first = reasons.partition_point(|reason| reason.operation < operation);
        let count = reasons[first..].partition_point(|reason| reason.operation == operation);
        let start = trace.record(operation).and_then(OperationRecord::first_start);
        let start = start.unwrap_or(trace.end()).min(trace.end());
        let own = reasons[first..first + count].iter();
        let with_time = own.map(move |reason| (reason, reason.from..reason.to.map_or(start, |to| to.min(start))));
        with_time.filter(|(_, time)| time.start < time.end)
    }

    /// Of the time behind a queue, the heads that came and went within it, from when to when; `None` if they are few.
    fn behind_heads(&self, reason: &Reason, time: &Range<Instant>) -> Option<(BehindHeads, Instant, Instant)> {
        let queue = reason.cause.as_ref()?.queue().filter(|queue| self.standing.leave_in_order(*queue))?;
        let stays = self.standing.stays(queue);
        let has_left = |at: Instant| stays.partition_point(|stay| stay.left.is_some_and(|left| left <= at));
        let (first, last) = (has_left(time.start), has_left(time.end));
        let left = |place: usize| stays.get(place).and_then(|stay| stay.left);
        let places = first + 1..last;
        let (from, to) = (left(first)?, left(last.checked_sub(1)?)?);
        (places.len() > 1).then_some((BehindHeads { rule: reason.rule, queue, places }, from, to))
    }

    /// Divides `time` where someone else comes to stand in the way.
    fn divide(&self, reason: &Reason, mut time: Range<Instant>, parts: &mut Parts<impl FnMut(Blame)>) {
        let &Reason { operation, rule, .. } = reason;
        match &reason.cause {
            Some(Cause::Turn) => self.divide_by_turns(operation, rule, time, parts),
            Some(cause) if cause.is_room() => {
                while time.start < time.end {
                    count_turn();
                    let (blocking, until) = self.standing.holder_at(operation, rule, time.start);
                    let until = until.min(time.end);
                    self.add((operation, rule), time.start..until, blocking, parts);
                    time.start = until;
                }
            }
            Some(Cause::Channel(Some(ahead))) => {
                let at_head = self.standing.instant_at_head(*ahead, &time).unwrap_or(time.start);
                for (time, blocking) in [(time.start..at_head, None), (at_head..time.end, Some(*ahead))] {
                    if !time.is_empty() {
                        self.add((operation, rule), time, blocking, parts);
                    }
                }
            }
            cause => match cause.as_ref().and_then(Cause::queue) {
                Some(queue) => self.divide_behind(operation, rule, queue, time, parts),
                None => self.add((operation, rule), time, None, parts),
            },
        }
    }

    /// Divides time behind a queue where it has another head.
    fn divide_behind(
        &self,
        operation: OperationId,
        rule: Rule,
        queue: Queue,
        mut time: Range<Instant>,
        parts: &mut Parts<impl FnMut(Blame)>,
    ) {
        while time.start < time.end {
            count_turn();
            let (blocking, until) = self.standing.head_at(queue, time.start);
            let until = until.min(time.end);
            self.add((operation, rule), time.start..until, blocking, parts);
            time.start = until;
        }
    }

    /// Divides the time in which an operation that has begun stands still.
    fn divide_pauses(&self, operation: OperationId, parts: &mut Parts<impl FnMut(Blame)>) {
        let Standing { trace, device, .. } = self.standing;
        let rule = trace.pauses_under(operation);
        let in_turns = trace.runs_in_turns_of(operation).is_some();
        let engine = trace.record(operation).and_then(|record| engine_of(trace, device, record.kind));
        for mut pause in trace.pauses(operation) {
            if in_turns {
                self.divide_by_turns(operation, rule, pause, parts);
                continue;
            }
            while pause.start < pause.end {
                count_turn();
                let served = engine.map(|engine| self.standing.head_at(Queue::CopyEngine(engine), pause.start));
                let (blocking, until) = served.unwrap_or((None, Instant::MAX));
                let (from, to) = (pause.start, until.min(pause.end));
                parts.push(Blame { operation, rule, through: None, from, to, blocking, turn_of: None });
                pause.start = to;
            }
        }
    }

    fn divide_by_turns(
        &self,
        operation: OperationId,
        rule: Rule,
        time: Range<Instant>,
        parts: &mut Parts<impl FnMut(Blame)>,
    ) {
        let trace = self.standing.trace;
        let mut from = time.start;
        let turns = trace.turns_within(time.clone()).iter();
        let by_turn = turns.flat_map(|turn| [(turn.start, None), (turn.end, Some(turn.process))]);
        for (to, turn_of) in by_turn.chain([(time.end, None)]) {
            let to = to.clamp(from, time.end);
            if from < to {
                parts.push(Blame { operation, rule, through: None, from, to, blocking: None, turn_of });
            }
            from = to;
        }
    }

    /// Adds one part, or where `blocking` needs no engine, those that hold it meanwhile.
    fn add(
        &self,
        (operation, rule): (OperationId, Rule),
        time: Range<Instant>,
        blocking: Option<OperationId>,
        parts: &mut Parts<impl FnMut(Blame)>,
    ) {
        let records = self.standing.trace.operations();
        let passes_on = blocking.filter(|id| records.get(id.index()).is_some_and(|record| record.kind.is_instant()));
        // What stands in the way was launched before, so what holds it is known.
        let held = passes_on.and_then(|id| self.first.get(id.index()..=id.index() + 1));
        let Some(&[first, next]) = held else {
            let (through, turn_of) = (None, None);
            parts.push(Blame { operation, rule, through, from: time.start, to: time.end, blocking, turn_of });
            return;
        };
        for part in &self.held[first..next] {
            let (from, to) = (part.from.max(time.start), part.to.min(time.end));
            if from < to {
                let through = part.through.or(Some(part.rule)).filter(|rule| !rule.is_behind_in_stream());
                parts.push(Blame { operation, rule, through, from, to, ..*part });
            }
        }
    }
}

/// Parts that follow one another, of which those that say the same are told as one.
struct Parts<V> {
    last: Option<Blame>,
    visit: V,
}

impl<V: FnMut(Blame)> Parts<V> {
    fn told_to(visit: V) -> Self {
        Self { last: None, visit }
    }

    fn push(&mut self, part: Blame) {
        let same = |part: &Blame| (part.operation, part.rule, part.through, part.blocking, part.turn_of);
        match &mut self.last {
            Some(last) if same(last) == same(&part) && last.to == part.from => last.to = part.to,
            last => last.replace(part).into_iter().for_each(&mut self.visit),
        }
    }

    fn end(mut self) {
        self.last.into_iter().for_each(&mut self.visit);
    }
}

/// Who is at the head of which queue and on the GPU, and when.
pub(super) struct Standing<'a> {
    trace: &'a Trace,
    device: &'a Device,
    queues: BTreeMap<Queue, Vec<Stay>>,
    /// Those that all leave in the order in which they entered.
    in_order: BTreeSet<Queue>,
    running: Running,
}

impl<'a> Standing<'a> {
    pub(super) fn new(trace: &'a Trace, device: &'a Device) -> Self {
        let contents = queue_contents(trace, device).into_iter();
        let queues: BTreeMap<Queue, Vec<Stay>> = contents.map(|contents| (contents.queue, contents.stays)).collect();
        let left = |stay: &Stay| stay.left.unwrap_or(Instant::MAX);
        let in_order = queues.iter().filter(|(_, stays)| stays.is_sorted_by_key(left)).map(|(queue, _)| *queue);
        Self { trace, device, in_order: in_order.collect(), queues, running: Running::new(trace) }
    }

    fn leave_in_order(&self, queue: Queue) -> bool {
        self.in_order.contains(&queue)
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

    /// Since when in some time an operation that needs no engine is at the head of its stream: before, nobody in
    /// particular holds what is behind it in its channel. `None`: it needs an engine.
    pub(super) fn instant_at_head(&self, operation: OperationId, time: &Range<Instant>) -> Option<Instant> {
        let record = self.trace.record(operation).filter(|record| record.kind.is_instant())?;
        Some(record.reached_head().unwrap_or(time.end).clamp(time.start, time.end))
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
        if self.device.gpus() == 1 && (self.trace.mask_of(one).is_none() || self.trace.mask_of(other).is_none()) {
            return true;
        }
        let others: Vec<u32> = self.trace.sms_of(other, self.device).collect();
        self.trace.sms_of(one, self.device).any(|sm| others.binary_search(&sm).is_ok())
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
