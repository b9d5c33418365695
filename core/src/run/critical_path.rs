//! What made a run, or one job of it, take as long as it did: kernels, copies, waits and host work, each of which could
//! begin only when the one before it had ended.
//!
//! It is followed backwards. What ran until an instant began at its first block; it had waited until then for somebody,
//! who is followed from that instant on, or for nobody (a launch latency, the turn of its context). What did not wait
//! was launched then, and its host is followed through its steps: work takes its time, and a synchronization that
//! returned as an operation ended waited for that. So the parts follow one another without a gap.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::summary::Summary;
use super::{HeldCall, IterationSpan};
use crate::limits::count_turn;
use crate::proven::OrMost;
use crate::scenario::{HostThread, Step, UnknownStream, followed};
use crate::time::{Duration, Instant};
use crate::trace::{Accuser, OperationRecord, Reason, Rule, reasons};
use crate::workload::{OperationId, OperationKind, Origin};

/// What took the time of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnPath {
    /// A kernel or copy, from its first block on, with whatever its later blocks waited for.
    Operation(OperationId),
    /// An operation waited for nobody's work.
    Wait(OperationId, Rule),
    /// A host thread, by its index, did work of its own or slept.
    Host(u32),
}

/// A part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// From.
    pub from: Instant,
    /// Until.
    pub to: Instant,
    /// What took that time.
    pub what: OnPath,
}

impl PathPart {
    /// How long it took.
    pub fn time(&self) -> Duration {
        self.to.since(self.from)
    }
}

/// Why a path is not known further back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEnd {
    /// It is, back to the beginning of the time that was asked for.
    Begin,
    /// It is: a job of this thread was released then, and waited for nothing before.
    Release(u32),
    /// A host, by its thread, waited for others at a barrier.
    Barrier(u32),
    /// A host, by its thread, worked on a core, which others may have had meanwhile.
    Core(u32),
    /// The steps of a host, by its thread, repeat too often to be followed.
    TooLong(u32),
    /// What made this operation begin, or its host go on, does not follow from the record.
    Unknown,
}

/// What took the time between two instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalPath {
    /// The job that it is of, by thread and iteration; `None`: it is of the whole run.
    pub job: Option<(u32, u32)>,
    /// From.
    pub from: Instant,
    /// Until.
    pub to: Instant,
    /// In order of time, without a gap. They begin later than `from` if nothing before them delayed it.
    pub parts: Vec<PathPart>,
    /// Why there is nothing before the first part.
    pub end: PathEnd,
    /// How long it was in which step of which host thread, by their indices.
    pub host_steps: Vec<(u32, u32, Duration)>,
}

impl CriticalPath {
    /// Of a whole run: until the last kernel or copy has ended. `None`: none has.
    pub fn of_run(summary: &Summary<'_>) -> Option<Self> {
        let ended = summary.trace.numbered().filter(|(_, record)| !record.kind.is_instant());
        let ended = ended.filter_map(|(id, record)| Some((record.finish()?, id)));
        let (to, last) = ended.max()?;
        Some(follow(summary, At::Ran(last), None, (Instant::ZERO, to)))
    }

    /// Of the longest job of the host thread with a name, or with an empty one of the whole run. `None`: nothing of
    /// that has ended.
    ///
    /// # Errors
    /// [`UnknownStream`]
    pub fn named(summary: &Summary<'_>, name: &str) -> Result<Option<Self>, UnknownStream> {
        match name {
            "" => Ok(Self::of_run(summary)),
            _ => Ok(Self::of_thread(summary, summary.scenario.thread_named(name)?)),
        }
    }

    /// Of the job with the longest response time of a host thread, by its index. `None`: none of its jobs has ended.
    pub fn of_thread(summary: &Summary<'_>, thread: u32) -> Option<Self> {
        let jobs = summary.jobs();
        let own = jobs.begun.iter().filter(|job| job.thread == thread);
        // Of several the first.
        let (_, job) =
            own.rev().filter_map(|job| Some((job.response()?, job))).max_by_key(|(response, _)| *response)?;
        let to = job.finished?;
        let is_last = |record: &OperationRecord| {
            (record.origin.thread, record.origin.iteration) == (thread, job.iteration) && record.finish() == Some(to)
        };
        // If none of its operations ended then, its host was at work until then.
        let last = summary.trace.numbered().filter(|(_, record)| is_last(record)).last();
        let at = last.map_or(At::Host { thread, iteration: job.iteration, done: usize::MAX }, |(id, _)| At::Ran(id));
        Some(follow(summary, at, Some((thread, job.iteration)), (job.released, to)))
    }
}

/// Where the way back has come.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Something ran until then.
    Ran(OperationId),
    /// Something could begin, or go on, at that instant.
    Waited(OperationId),
    /// A host had done so many steps of an iteration.
    Host { thread: u32, iteration: u32, done: usize },
}

/// The steps of one iteration of a thread, and which of them submit something.
struct Program<'a> {
    steps: Cow<'a, [Step]>,
    submissions: Vec<usize>,
}

impl<'a> Program<'a> {
    fn of(thread: &'a HostThread) -> Option<Self> {
        let repeats = thread.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
        let steps = if repeats { Cow::Owned(followed(thread, 1)?) } else { Cow::Borrowed(&*thread.steps) };
        let submits = |(number, step): (usize, &Step)| step.submission().map(|_| number);
        let submissions = steps.iter().enumerate().filter_map(submits).collect();
        Some(Self { steps, submissions })
    }
}

/// Goes back from `to`, where something ended, until `from` or as far as is known.
fn follow(summary: &Summary<'_>, at: At, job: Option<(u32, u32)>, time: (Instant, Instant)) -> CriticalPath {
    let reasons = reasons(summary.trace, summary.scenario.device());
    Walk::new(summary, &reasons).follow(at, job, time)
}

struct Walk<'s, 'a> {
    summary: &'s Summary<'a>,
    /// Who made whom wait.
    accuser: Accuser<'s>,
    /// By the instant at which they ended.
    ended: Vec<(Instant, OperationId)>,
    /// By the instant at which they began.
    begun: Vec<(Instant, OperationId)>,
    /// Which submission of its iteration each operation was, from 0.
    numbers: Vec<u32>,
    spans: FxHashMap<(u32, u32), IterationSpan>,
    programs: Vec<Option<Program<'a>>>,
    parts: Vec<PathPart>,
    host_steps: Vec<(u32, u32, Duration)>,
}

impl<'s, 'a> Walk<'s, 'a> {
    fn new(summary: &'s Summary<'a>, reasons: &'s [Reason]) -> Self {
        let Summary { scenario, trace, iterations, .. } = *summary;
        let mut ended: Vec<_> = trace.numbered().filter_map(|(id, record)| Some((record.finish()?, id))).collect();
        ended.sort_unstable();
        let begun = trace.numbered().filter_map(|(id, record)| Some((record.first_start()?, id)));
        let mut begun: Vec<_> = begun.collect();
        begun.sort_unstable();
        let mut submitted: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let number = |record: &OperationRecord| {
            let next = submitted.entry((record.origin.thread, record.origin.iteration)).or_default();
            *next += 1;
            *next - 1
        };
        Self {
            summary,
            accuser: Accuser::new(trace, scenario.device(), reasons),
            ended,
            begun,
            numbers: trace.operations().iter().map(number).collect(),
            spans: iterations.iter().map(|span| ((span.thread, span.iteration), *span)).collect(),
            programs: scenario.threads.iter().map(Program::of).collect(),
            parts: Vec::new(),
            host_steps: Vec::new(),
        }
    }

    fn follow(mut self, mut at: At, job: Option<(u32, u32)>, (from, to): (Instant, Instant)) -> CriticalPath {
        let mut now = to;
        // Of one instant: nobody waits for himself, but several may let one another go on at once.
        let mut seen: Vec<OperationId> = Vec::new();
        let end = loop {
            count_turn();
            if now <= from {
                break PathEnd::Begin;
            }
            let (before, next) = match at {
                At::Ran(id) => self.ran(id, now),
                At::Waited(id) if seen.contains(&id) => break PathEnd::Unknown,
                At::Waited(id) => {
                    seen.push(id);
                    self.waited(id, now)
                }
                At::Host { thread, iteration, done } => self.host((thread, iteration, done), now),
            };
            if before < now {
                seen.clear();
            }
            now = before;
            match next {
                Ok(next) => at = next,
                Err(end) => break end,
            }
        };
        let (mut parts, host_steps) = (self.parts, self.host_steps);
        parts.reverse();
        if let Some(first) = parts.first_mut() {
            first.from = first.from.max(from);
        }
        CriticalPath { job, from, to, parts, end, host_steps }
    }

    fn push(&mut self, from: Instant, to: Instant, what: OnPath) {
        // Work of a host in several steps is one part.
        match self.parts.last_mut() {
            Some(later) if later.what == what && later.from == to => later.from = from,
            _ => self.parts.push(PathPart { from, to, what }),
        }
    }

    fn ran(&mut self, id: OperationId, now: Instant) -> (Instant, Result<At, PathEnd>) {
        let record = self.summary.trace.record(id).filter(|record| !record.kind.is_instant());
        let start = record.and_then(OperationRecord::first_start).map_or(now, |start| start.min(now));
        if start < now {
            self.push(start, now, OnPath::Operation(id));
        }
        (start, Ok(At::Waited(id)))
    }

    fn waited(&mut self, id: OperationId, now: Instant) -> (Instant, Result<At, PathEnd>) {
        if let Some(other) = self.made_room(id, now) {
            return (now, Ok(At::Ran(other)));
        }
        match self.accuser.part_before(id, now).map(|wait| (wait.blocking, wait.from, wait.rule)) {
            Some((Some(blocking), ..)) => (now, Ok(At::Ran(blocking))),
            Some((None, from, rule)) => {
                self.push(from, now, OnPath::Wait(id, rule));
                (from, Ok(At::Waited(id)))
            }
            None => (now, self.launch_of(id, now).ok_or(PathEnd::Unknown)),
        }
    }

    /// The host of an operation that was launched at `now`.
    fn launch_of(&self, id: OperationId, now: Instant) -> Option<At> {
        let record = self.summary.trace.record(id).filter(|record| record.launched() == now)?;
        let (thread, iteration) = (record.origin.thread, record.origin.iteration);
        let program = self.programs.get(thread as usize)?.as_ref();
        // What repeats too often is told as such.
        let Some(program) = program else { return Some(At::Host { thread, iteration, done: 0 }) };
        let number = *self.numbers.get(id.index())?;
        Some(At::Host { thread, iteration, done: *program.submissions.get(number as usize)? })
    }

    /// Of a kernel that was told as a whole, without blocks, and waited in its EE queue: the kernel that ended at
    /// `now`, or else the last to begin of those that go on, whose last wave leaves room.
    fn made_room(&self, id: OperationId, now: Instant) -> Option<OperationId> {
        let trace = self.summary.trace;
        let record = trace.record(id).filter(|record| record.first_start() == Some(now))?;
        if record.queued().is_none_or(|queued| queued >= now) || trace.blocks(id).next().is_some() {
            return None;
        }
        let is_other = |other: &OperationId| {
            *other != id && trace.record(*other).is_some_and(|record| matches!(record.kind, OperationKind::Kernel(_)))
        };
        let first = self.ended.partition_point(|(end, _)| *end < now);
        let ended = self.ended[first..].iter().take_while(|(end, _)| *end == now).map(|(_, other)| *other);
        ended.filter(is_other).last().or_else(|| {
            let before = &self.begun[..self.begun.partition_point(|(start, _)| *start < now)];
            let goes_on = |other: &OperationId| trace.record(*other)?.finish().map(|finish| finish > now);
            before.iter().rev().map(|(_, other)| *other).find(|other| is_other(other) && goes_on(other) == Some(true))
        })
    }

    /// H2: what a call that frees memory waited for, if it held one of this thread until `now`.
    fn held_by(&self, thread: u32, iteration: u32, now: Instant) -> Option<OperationId> {
        let is_held = |call: &&HeldCall| call.thread == thread && call.rule == Rule::H2 && call.to() == Some(now);
        self.summary.held_calls.iter().find(is_held)?;
        self.waited_for(Step::Free, (thread, iteration, 0), now)
    }

    fn host(&mut self, (thread, iteration, done): (u32, u32, usize), now: Instant) -> (Instant, Result<At, PathEnd>) {
        if let Some(awaited) = self.held_by(thread, iteration, now) {
            return (now, Ok(At::Ran(awaited)));
        }
        let Some(Some(program)) = self.programs.get(thread as usize) else {
            return (now, Err(PathEnd::TooLong(thread)));
        };
        let done = done.min(program.steps.len());
        let Some(step) = done.checked_sub(1).map(|last| program.steps[last]) else {
            return (now, self.begin_of(thread, iteration, now));
        };
        let before = At::Host { thread, iteration, done: done - 1 };
        let submitted = program.submissions.partition_point(|submission| *submission < done);
        match step {
            Step::Sleep(time) => {
                let from = Instant::from_ns(now.as_ns().saturating_sub(time.as_ns()));
                if from < now {
                    self.push(from, now, OnPath::Host(thread));
                    self.host_steps.push((thread, u32::try_from(done - 1).or_most(), now.since(from)));
                }
                (from, Ok(before))
            }
            Step::Barrier(_) => (now, Err(PathEnd::Barrier(thread))),
            Step::Work(_) => (now, Err(PathEnd::Core(thread))),
            _ if step.waits_for_operations() => {
                let waited = self.waited_for(step, (thread, iteration, submitted), now);
                (now, Ok(waited.map_or(before, At::Ran)))
            }
            _ => (now, Ok(before)),
        }
    }

    /// The operation that a host waited for in a step that returned at `now`; `None`: none, it had ended before.
    fn waited_for(
        &self,
        step: Step,
        (thread, iteration, submitted): (u32, u32, usize),
        now: Instant,
    ) -> Option<OperationId> {
        let Summary { scenario, trace, .. } = *self.summary;
        let process = scenario.threads.get(thread as usize)?.process;
        let of_one = self.programs.get(thread as usize)?.as_ref()?.submissions.len();
        let first = self.ended.partition_point(|(end, _)| *end < now);
        let there = self.ended[first..].iter().take_while(|(end, _)| *end == now).map(|(_, id)| *id);
        there
            .filter(|id| {
                let Some(record) = trace.record(*id).filter(|record| record.launched() < now) else { return false };
                match step {
                    // What it submitted last, in this iteration or in one before.
                    Step::AwaitLast => {
                        let number = self.numbers.get(id.index()).map(|number| *number as usize + 1);
                        let (last, is_there) = match submitted {
                            0 => (of_one, record.origin.iteration < iteration),
                            _ => (submitted, record.origin.iteration == iteration),
                        };
                        is_there && record.origin.thread == thread && number == Some(last)
                    }
                    Step::SynchronizeStream(stream) => record.stream == stream,
                    Step::SynchronizeEvent(event) => record.kind == OperationKind::Record(event),
                    _ => trace.streams().get(record.stream.index()).is_some_and(|stream| stream.process == process),
                }
            })
            .last()
    }

    /// What comes before the first step of an iteration.
    fn begin_of(&self, thread: u32, iteration: u32, now: Instant) -> Result<At, PathEnd> {
        let own = self.summary.scenario.threads.get(thread as usize).ok_or(PathEnd::Unknown)?;
        let span = self.spans.get(&(thread, iteration)).filter(|span| span.start == now).ok_or(PathEnd::Unknown)?;
        if own.barrier.is_some() {
            return Err(PathEnd::Barrier(thread));
        }
        if let Some(trigger) = own.triggered_by.filter(|_| span.released == now) {
            // The end that releases it is that of its host's last step, or of its last operation.
            let host = self.spans.get(&(trigger, iteration)).filter(|span| span.end() == Some(now));
            let first = self.ended.partition_point(|(end, _)| *end < now);
            let mut there = self.ended[first..].iter().take_while(|(end, _)| *end == now).map(|(_, id)| *id);
            let origin = Origin { thread: trigger, iteration };
            let is_last = |id: &OperationId| self.summary.trace.record(*id).is_some_and(|one| one.origin == origin);
            let host = host.map(|_| At::Host { thread: trigger, iteration, done: usize::MAX });
            return host.or_else(|| there.find(is_last).map(At::Ran)).ok_or(PathEnd::Unknown);
        }
        let before = iteration.checked_sub(1).and_then(|before| self.spans.get(&(thread, before)));
        match before.filter(|before| before.end() == Some(span.start)) {
            // It was released then, if that was when it was due.
            Some(_) if own.period.is_none() || own.release_of(iteration.into()) < now => {
                Ok(At::Host { thread, iteration: iteration - 1, done: usize::MAX })
            }
            _ => Err(PathEnd::Release(thread)),
        }
    }
}
