//! The wait of each operation in a few phases, for those who look at one operation rather than at sums.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Range;

use super::blame::Standing;
use super::queue::{Cause, Queue};
use super::reasons::Reason;
use super::record::Trace;
use super::rule::Rule;
use crate::device::Device;
use crate::limits::{count_turn, end_if_stopped};
use crate::time::Instant;
use crate::workload::OperationId;

/// Who stood in the way is named up to so many; the last one, who let go, always is.
const MOST_NAMED: usize = 3;
/// Operations that need no engine and wait for one another, through which those who hold the last are looked for.
const MOST_PASSED: usize = 100;

/// A time in which one rule held an operation, whoever stood in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// What waited.
    pub operation: OperationId,
    /// The rule that held it.
    pub rule: Rule,
    /// From.
    pub from: Instant,
    /// Until, at most until its first block was assigned or the run ended.
    pub to: Instant,
    /// Who stood in the way, in order of time: at most three, the last of whom did so last. As
    /// [`blame`](super::blame()) says it, except that records, waits and memsets are passed over where others stood
    /// there too.
    pub blocking: Vec<OperationId>,
    /// How many more there were before the last.
    pub more: usize,
}

/// Divides the time from each operation's launch until its first block was assigned into phases, by operation and time.
/// They cover the same time as [`blame`](super::blame()) under the same rules, but are as few as waits are, however
/// long queues get. `reasons` are those of the run.
pub fn phases(trace: &Trace, device: &Device, reasons: &[Reason]) -> Vec<Phase> {
    let standing = Standing::new(trace, device);
    let mut sweep = Sweep {
        trace,
        standing: &standing,
        phases: Vec::new(),
        queues: Vec::new(),
        first: Vec::new(),
        engaged: BTreeMap::new(),
    };
    let mut reasons = reasons.iter().peekable();
    for (id, record) in trace.numbered() {
        end_if_stopped();
        sweep.first.push(sweep.phases.len());
        let start = record.first_start().unwrap_or(trace.end()).min(trace.end());
        while let Some((reason, time)) = next_phase(&mut reasons, id, start) {
            count_turn();
            if !time.is_empty() {
                sweep.add(reason, time);
            }
        }
    }
    sweep.phases
}

struct Sweep<'a> {
    trace: &'a Trace,
    standing: &'a Standing<'a>,
    phases: Vec<Phase>,
    /// The queue whose head each of them waits for.
    queues: Vec<Option<Queue>>,
    /// Where the phases of each operation begin.
    first: Vec<usize>,
    /// For each queue, how many of its first entries need an engine.
    engaged: BTreeMap<Queue, Vec<usize>>,
}

impl Sweep<'_> {
    fn add(&mut self, reason: &Reason, time: Range<Instant>) {
        let (blocking, more) = match &reason.cause {
            Some(cause) if cause.is_room() => ends_of(holders(self.standing, reason, &time)),
            Some(Cause::Channel(Some(ahead))) => match self.standing.instant_at_head(*ahead, &time) {
                Some(at_head) => self.held(*ahead, &(at_head..time.end), MOST_PASSED),
                None => (vec![*ahead], 0),
            },
            Some(cause) => cause.queue().map(|queue| self.heads(queue, &time, MOST_PASSED)).unwrap_or_default(),
            None => Default::default(),
        };
        self.queues.push(reason.cause.as_ref().and_then(Cause::queue));
        let (operation, rule) = (reason.operation, reason.rule);
        self.phases.push(Phase { operation, rule, from: time.start, to: time.end, blocking, more });
    }

    /// The heads of a queue in some time, as far as they are named, and how many more there were.
    fn heads(&mut self, queue: Queue, time: &Range<Instant>, passed: usize) -> (Vec<OperationId>, usize) {
        let (trace, stays) = (self.trace, self.standing.stays(queue));
        // Whether one needs an engine, and is at the head for some time.
        let is_engaged = |place: &usize| {
            let stay = &stays[*place];
            let record = trace.operations().get(stay.operation.index());
            let before = place.checked_sub(1).and_then(|before| stays[before].left);
            let since = before.map_or(stay.entered, |left| left.max(stay.entered));
            record.is_some_and(|record| !record.kind.is_instant()) && stay.left.is_none_or(|left| left > since)
        };
        let range = self.standing.heads_in(queue, time);
        let Some(last) = range.clone().rev().find(is_engaged) else {
            // Nobody needs an engine: it is those who hold the last, which was launched before.
            let last = range.last().and_then(|place| stays.get(place));
            return last.map(|head| self.held(head.operation, time, passed)).unwrap_or_default();
        };
        let engaged = self.engaged.entry(queue).or_insert_with(|| {
            let mut count = 0;
            let counted = (0..stays.len()).map(|place| {
                count += usize::from(is_engaged(&place));
                count
            });
            std::iter::once(0).chain(counted).collect()
        });
        let count = engaged[range.end] - engaged[range.start];
        let first = range.filter(is_engaged).take(MOST_NAMED.min(count) - 1);
        let named: Vec<OperationId> = first.chain([last]).map(|place| stays[place].operation).collect();
        (named, count.saturating_sub(MOST_NAMED))
    }

    /// Who held an operation in some time; `passed` is how many more that hold nothing themselves are passed over.
    fn held(&mut self, operation: OperationId, time: &Range<Instant>, passed: usize) -> (Vec<OperationId>, usize) {
        let Some(passed) = passed.checked_sub(1) else { return Default::default() };
        let begin = self.first.get(operation.index()).copied().unwrap_or(self.phases.len());
        let end = self.first.get(operation.index() + 1).copied().unwrap_or(self.phases.len());
        let (mut all, mut more) = (Vec::new(), 0);
        for number in begin..end {
            let (from, to) = (self.phases[number].from.max(time.start), self.phases[number].to.min(time.end));
            if let Some(queue) = self.queues[number].filter(|_| from < to) {
                let (held, others) = self.heads(queue, &(from..to), passed);
                all.extend(held);
                more += others;
            }
        }
        let (named, others) = ends_of(all);
        (named, more + others)
    }
}

/// The next reason of an operation, with the time until another rule holds it.
fn next_phase<'r>(
    reasons: &mut Peekable<impl Iterator<Item = &'r Reason>>,
    operation: OperationId,
    start: Instant,
) -> Option<(&'r Reason, Range<Instant>)> {
    let reason = reasons.next_if(|reason| reason.operation == operation)?;
    let mut to = reason.to;
    // N1 and A2 may go on behind another queue; room may come nearest on another SM.
    let same_queue =
        |next: &Reason| next.cause.as_ref().and_then(Cause::queue) == reason.cause.as_ref().and_then(Cause::queue);
    while let Some(next) = reasons.next_if(|next| {
        next.operation == operation && next.rule == reason.rule && Some(next.from) == to && same_queue(next)
    }) {
        to = next.to;
    }
    Some((reason, reason.from.min(start)..to.map_or(start, |to| to.min(start))))
}

/// Who is blamed for that there is no room, one after another.
fn holders(standing: &Standing<'_>, reason: &Reason, time: &Range<Instant>) -> Vec<OperationId> {
    let mut holders = Vec::new();
    let mut at = time.start;
    while at < time.end {
        count_turn();
        let (holder, until) = standing.holder_at(reason.operation, reason.rule, at);
        holders.extend(holder);
        at = until;
    }
    holders
}

/// At most three of them, the last among them, and how many more there are.
fn ends_of(mut all: Vec<OperationId>) -> (Vec<OperationId>, usize) {
    all.dedup();
    let more = all.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        all.drain(MOST_NAMED - 1..MOST_NAMED - 1 + more);
    }
    (all, more)
}
