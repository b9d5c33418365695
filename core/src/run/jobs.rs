//! Jobs: what deadlines and response times are about. A recorded run gives all jobs from its record. Of a long run only
//! a window is held: jobs that are not over yet, and jobs some of whose operations are still to be reported.

use smallvec::SmallVec;

use super::{IterationSpan, Run};
use crate::canonical::Canonical;
use crate::gpu::Ended;
use crate::limits::{count_turns, end_if_stopped};
use crate::proven::Proven;
use crate::scenario::{HostThread, Scenario};
use crate::time::{Duration, Instant, is_in_time};
use crate::trace::{OperationRecord, Shift, Trace};
use crate::workload::{OperationId, Origin};

/// One job: all operations, kernels, copies and memsets alike, that one release of a stream or one iteration of a host
/// submits, and what the host does beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Index of the host thread (the examiner's benchmark).
    pub thread: u32,
    /// Which job of that thread, from 0.
    pub iteration: u32,
    /// When it was released. With a period: the thread's release and that many periods, whether or not the thread was
    /// free to begin then. If another thread releases it: when that one's job of the same number, and all before that,
    /// had ended. Without either: when the iteration began, after its barrier; the first one of a thread that shares a
    /// core when that was to be, whether or not the core was free.
    pub released: Instant,
    /// When its first step began.
    pub began: Instant,
    /// When its host had done its last step, barriers at the end aside, and so submitted all its operations; `None` if
    /// the run ended before.
    pub host_finished: Option<Instant>,
    /// When the last of its operations had completed and its host had done its last step; `None` if that was not so
    /// when the run ended.
    pub finished: Option<Instant>,
    /// By when it should have finished, counted from its release.
    pub deadline: Option<Duration>,
}

/// What became of a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadlineOutcome {
    /// The job finished by then.
    Met,
    /// It finished later, or had not finished although its deadline had passed.
    Missed,
    /// The run ended before the job and before its deadline.
    Undecided,
}

impl DeadlineOutcome {
    /// Whether it was met; `None` if that was not decided.
    pub fn is_met(self) -> Option<bool> {
        match self {
            Self::Met => Some(true),
            Self::Missed => Some(false),
            Self::Undecided => None,
        }
    }
}

impl Job {
    /// From its release until all of it was done, on the GPU and on its host.
    pub fn response(&self) -> Option<Duration> {
        self.finished.map(|finished| finished.since(self.released))
    }

    /// What became of its deadline in a run that ended at `end`; `None` without a deadline.
    pub fn outcome(&self, end: Instant) -> Option<DeadlineOutcome> {
        // A deadline after the end of representable time cannot be missed.
        let due = self.due()?;
        Some(match self.finished {
            Some(finished) if is_in_time(finished, due) => DeadlineOutcome::Met,
            Some(_) => DeadlineOutcome::Missed,
            // Whatever completes at the end of a run has completed in it.
            None if end >= due => DeadlineOutcome::Missed,
            None => DeadlineOutcome::Undecided,
        })
    }

    /// The instant of its deadline.
    pub fn due(&self) -> Option<Instant> {
        self.deadline.map(|deadline| self.released.saturating_add(deadline))
    }
}

/// Releases of one thread that had come by the end of the run while the thread was still busy with earlier ones. They
/// are counted, not listed: there is no limit on how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Index of the host thread.
    pub thread: u32,
    /// How many releases.
    pub releases: u64,
    /// Those of them whose deadline had passed.
    pub missed: u64,
}

/// The jobs of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Jobs {
    /// Jobs that began, by thread and then by iteration. Iterations of threads that submit nothing, do no work and
    /// state no deadline are no jobs.
    pub begun: Vec<Job>,
    /// What the run, when it ended at its horizon, had not begun although it was released: late, not absent. At most
    /// one entry a thread.
    pub backlog: Vec<Backlog>,
    /// Where the jobs of each thread begin in `begun`; one more than threads.
    pub(super) first: Vec<usize>,
    /// How many earlier jobs of each thread are left out, past the end of the list none: they have left the record.
    pub(super) passed: Vec<u32>,
    /// When the run ended.
    pub end: Instant,
}

impl Run<'_> {
    /// The jobs of this run.
    pub fn jobs(&self) -> Jobs {
        Jobs::of(&self.scenario, &self.trace, self.ended, &self.iterations)
    }
}

impl Jobs {
    /// From what was recorded, how it ended, and the iterations that its threads began.
    pub(super) fn of(scenario: &Scenario, trace: &Trace, ended: Ended, iterations: &[IterationSpan]) -> Self {
        let threads = &scenario.threads;
        let submits: Vec<bool> = threads.iter().map(HostThread::does_jobs).collect();
        let counts = |span: &&IterationSpan| submits.get(span.thread as usize) == Some(&true);
        // Where the jobs of each thread begin; moved on as they are put there.
        let mut next = vec![0; threads.len() + 1];
        for span in iterations.iter().filter(counts) {
            next[span.thread as usize + 1] += 1;
        }
        for thread in 0..threads.len() {
            next[thread + 1] += next[thread];
        }
        let mut jobs =
            Self { end: trace.end(), first: next.clone(), passed: vec![0; threads.len()], ..Self::default() };
        let mut order = vec![0; next.last().copied().unwrap_or(0)];
        // Spans of one thread are in the order of its iterations, without gaps, from 0 or where the record begins.
        for (index, span) in iterations.iter().enumerate().filter(|(_, span)| counts(span)) {
            if next[span.thread as usize] == jobs.first[span.thread as usize] {
                jobs.passed[span.thread as usize] = span.iteration;
            }
            order[next[span.thread as usize]] = index;
            next[span.thread as usize] += 1;
        }
        let mut progress: Vec<Progress> = order.iter().map(|&index| Progress::new(iterations[index])).collect();
        for record in trace.operations() {
            if let Some(position) = jobs.position(record.origin.thread, record.origin.iteration) {
                progress[position].count(record.finish());
            }
        }
        jobs.begun = progress.iter().map(|progress| progress.job(threads)).collect();
        if ended != Ended::Done {
            for (index, thread) in (0..).zip(threads).filter(|(_, thread)| thread.does_jobs()) {
                let begun = jobs.first[index as usize + 1] - jobs.first[index as usize];
                let begun = begun as u64 + u64::from(jobs.passed[index as usize]);
                let backlog = jobs.backlog_of((index, thread), begun, jobs.end);
                jobs.backlog.extend(backlog);
            }
        }
        jobs
    }

    /// The job that is iteration `iteration` of thread `thread`, if it began.
    pub fn get(&self, thread: u32, iteration: u32) -> Option<&Job> {
        self.begun.get(self.position(thread, iteration)?)
    }

    /// Where the job that is iteration `iteration` of thread `thread` stands in `begun`, if it began.
    pub fn position(&self, thread: u32, iteration: u32) -> Option<usize> {
        end_if_stopped();
        let passed = self.passed.get(thread as usize).copied().unwrap_or(0);
        let position = self.first.get(thread as usize)?.checked_add(iteration.checked_sub(passed)? as usize)?;
        (position < *self.first.get(thread as usize + 1)?).then_some(position)
    }

    /// When the jobs of a thread, from number `next` on, were released by the ends of those of another thread.
    pub(super) fn released_by(&self, trigger: u32, next: u64) -> impl Iterator<Item = Instant> + '_ {
        let finished = move |number: u64| self.get(trigger, u32::try_from(number).ok()?)?.finished;
        (next..).map_while(finished).scan(Instant::ZERO, |released, finished| {
            *released = finished.max(*released);
            Some(*released)
        })
    }

    /// Releases of a thread, from iteration `next` on, that had come by `end`.
    fn backlog_of(&self, (index, thread): (u32, &HostThread), next: u64, end: Instant) -> Option<Backlog> {
        let Some(trigger) = thread.triggered_by else { return backlog(index, thread, next, end) };
        let is_late =
            |released: &Instant| thread.deadline().is_some_and(|deadline| released.saturating_add(deadline) <= end);
        let releases = self.released_by(trigger, next).count() as u64;
        let missed = self.released_by(trigger, next).filter(is_late).count() as u64;
        (releases > 0).then_some(Backlog { thread: index, releases, missed })
    }

    /// What they take \[bytes\], roughly.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.begun) + size_of_val(&*self.first) + size_of_val(&*self.passed)
    }

    /// Become those that come again.
    pub(super) fn move_by(&mut self, shift: &Shift) {
        // The backlog is that of the whole run.
        let Self { begun, backlog: _, first: _, passed, end } = self;
        for Job { thread, iteration, released, began, host_finished, finished, deadline: _ } in begun {
            shift.iteration(*thread, iteration);
            for at in [released, began].into_iter().chain(host_finished).chain(finished) {
                shift.instant(at);
            }
        }
        (0..).zip(passed).for_each(|(thread, passed)| shift.iteration(thread, passed));
        shift.instant(end);
    }

    /// Whether an operation and the iteration that submitted it were over when the run ended.
    pub(crate) fn has_ended_with(&self, record: &OperationRecord) -> bool {
        let Origin { thread, iteration } = record.origin;
        record.finish().is_some() && self.get(thread, iteration).is_some_and(|job| job.host_finished.is_some())
    }

    /// Jobs whose deadline was missed, those that never began included.
    pub fn misses(&self) -> u64 {
        let begun = self.begun.iter().filter(|job| job.outcome(self.end) == Some(DeadlineOutcome::Missed)).count();
        begun as u64 + self.backlog.iter().map(|backlog| backlog.missed).sum::<u64>()
    }
}

/// The same of a thread with a period.
fn backlog(index: u32, thread: &HostThread, next: u64, end: Instant) -> Option<Backlog> {
    let period = thread.period?.as_ns();
    let first = Instant::ZERO + thread.release;
    // An iteration that may not start any more is not late, it does not exist.
    let over = thread.time_limit.is_some_and(|limit| end >= first.saturating_add(limit));
    if over || period == 0 {
        return None;
    }
    // The number of releases at or before an instant, none for an instant before t = 0.
    let released_by = |at_ns: Option<u64>| match at_ns.and_then(|at| at.checked_sub(first.as_ns())) {
        Some(passed) => (passed / period).saturating_add(1).min(thread.iterations.unwrap_or(u64::MAX)),
        None => 0,
    };
    let late = |since_ns: u64| released_by(end.as_ns().checked_sub(since_ns)).saturating_sub(next);
    let releases = late(0);
    let missed = thread.deadline().map_or(0, |deadline| late(deadline.as_ns()));
    (releases > 0).then_some(Backlog { thread: index, releases, missed })
}

/// How far an iteration has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    pub(super) span: IterationSpan,
    /// The latest completion so far; `None` once an operation has not completed.
    pub(super) finished: Option<Instant>,
}

impl Progress {
    pub(super) fn new(span: IterationSpan) -> Self {
        Self { span, finished: Some(span.start) }
    }

    pub(super) fn count(&mut self, finish: Option<Instant>) {
        self.finished = self.finished.zip(finish).map(|(latest, finish)| latest.max(finish));
    }

    pub(super) fn job(&self, threads: &[HostThread]) -> Job {
        let IterationSpan { thread: index, iteration, released, start, .. } = self.span;
        let thread = &threads[index as usize];
        let end = self.span.end();
        // While the host is still at it, it may submit more.
        let finished = self.finished.zip(end).map(|(operations, host)| operations.max(host));
        Job {
            thread: index,
            iteration,
            released,
            began: start,
            host_finished: end,
            finished,
            deadline: thread.deadline(),
        }
    }
}

/// The jobs of all threads, in a window over the iterations of each.
#[derive(Debug)]
pub(crate) struct JobWindow<'s> {
    threads: &'s [HostThread],
    windows: Vec<Window>,
}

#[derive(Debug, Default)]
struct Window {
    /// Jobs of the thread that are not held any more: the first ones.
    passed: u32,
    /// Of many threads most have one, which is not looked for elsewhere.
    jobs: SmallVec<[Held; 1]>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    progress: Progress,
    /// Whether all its operations have been submitted and have completed. It may be told of then, and is not looked at
    /// again.
    is_over: bool,
}

impl<'s> JobWindow<'s> {
    pub(crate) fn new(scenario: &'s Scenario) -> Self {
        let threads = &scenario.threads;
        Self { threads, windows: threads.iter().map(|_| Window::default()).collect() }
    }

    /// Iterations begin to be jobs here, those of each thread in their order.
    pub(crate) fn extend(&mut self, spans: Vec<IterationSpan>) {
        for span in spans {
            let index = span.thread as usize;
            if self.threads[index].does_jobs() {
                debug_assert_eq!(
                    span.iteration as usize,
                    self.windows[index].passed as usize + self.windows[index].jobs.len()
                );
                self.windows[index].jobs.push(Held { progress: Progress::new(span), is_over: false });
            }
        }
    }

    /// Writes what is held of jobs, counted back from the iteration in which each thread is.
    pub(crate) fn write_state(&self, iterations: &[u64], to: &mut Canonical) {
        let Self { threads, windows } = self;
        let windows = windows.iter().zip(iterations).zip(*threads).filter(|(_, thread)| thread.does_jobs());
        to.list(windows, |to, ((Window { passed, jobs }, iteration), _)| {
            to.number(iteration.wrapping_sub((*passed).into()));
            to.list(jobs, |to, Held { progress: Progress { span, finished }, is_over }| {
                // Jobs of a thread are numbered without gaps.
                let IterationSpan { thread: _, iteration: _, released, start, end } = *span;
                to.instant(released);
                to.instant(start);
                to.instant(end);
                to.optional(*finished, Canonical::instant);
                to.number(*is_over);
            });
        });
    }

    fn get_mut(&mut self, origin: Origin) -> Option<&mut Held> {
        let window = self.windows.get_mut(origin.thread as usize)?;
        window.jobs.get_mut(origin.iteration.checked_sub(window.passed)? as usize)
    }

    /// Counts what is `held` of the operations, none of which was told of before its job was over.
    fn count<'r>(&mut self, held: impl Iterator<Item = (OperationId, &'r OperationRecord)>) {
        for (_, record) in held {
            if let Some(job) = self.get_mut(record.origin).filter(|job| !job.is_over) {
                job.progress.count(record.finish());
            }
        }
    }

    /// Finds the jobs that are over now, and tells `visit` of each; of the operations that are `held`, those
    /// before the number that comes back may be told of: they have completed, and their jobs are over.
    pub(crate) fn end_jobs<'r>(
        &mut self,
        held: impl Iterator<Item = (OperationId, &'r OperationRecord)> + Clone,
        mut visit: impl FnMut(&Job),
    ) -> OperationId {
        self.count(held.clone());
        let threads = self.threads;
        for job in self.windows.iter_mut().flat_map(|window| &mut window.jobs).filter(|job| !job.is_over) {
            if job.progress.finished.is_some() && job.progress.span.end().is_some() {
                job.is_over = true;
                visit(&job.progress.job(threads));
            } else {
                job.progress = Progress::new(job.progress.span);
            }
        }
        let mut until = OperationId(0);
        for (id, record) in held {
            if record.finish().is_none() || self.get_mut(record.origin).is_none_or(|job| !job.is_over) {
                return id;
            }
            until = OperationId(id.0 + 1);
        }
        until
    }

    /// Forgets the jobs that are over and of which no operation is `held` any more.
    pub(crate) fn forget<'r>(&mut self, held: impl Iterator<Item = (OperationId, &'r OperationRecord)>) {
        let mut first: Vec<Option<u32>> = vec![None; self.windows.len()];
        for (_, record) in held {
            if let Some(first) = first.get_mut(record.origin.thread as usize) {
                let iteration = record.origin.iteration;
                *first = Some(first.map_or(iteration, |first| first.min(iteration)));
            }
        }
        // The end of a job tells when one of another thread was released, as long as that has not begun.
        for (window, thread) in self.windows.iter().zip(self.threads) {
            let begun = window.passed.saturating_add(u32::try_from(window.jobs.len()).unwrap_or(u32::MAX));
            if let Some(first) = thread.triggered_by.and_then(|trigger| first.get_mut(trigger as usize)) {
                *first = Some(first.map_or(begun, |first| first.min(begun)));
            }
        }
        for (window, first) in self.windows.iter_mut().zip(first) {
            let most = first.map_or(usize::MAX, |first| first.saturating_sub(window.passed) as usize);
            let over = window.jobs.iter().take(most).take_while(|job| job.is_over).count();
            count_turns(over);
            window.jobs.drain(..over);
            window.passed += u32::try_from(over).proven("iterations of a thread have numbers of 32 bits");
        }
    }

    /// How many jobs of each thread are not held any more, the first ones.
    pub(crate) fn passed(&self) -> Vec<u32> {
        self.windows.iter().map(|window| window.passed).collect()
    }

    /// All that are known, as of a run that ended at `end`.
    pub(crate) fn jobs(&self, end: Instant) -> Jobs {
        let mut jobs = Jobs { end, ..Jobs::default() };
        for window in &self.windows {
            jobs.first.push(jobs.begun.len());
            jobs.passed.push(window.passed);
            jobs.begun.extend(window.jobs.iter().map(|job| job.progress.job(self.threads)));
        }
        jobs.first.push(jobs.begun.len());
        jobs
    }

    /// All that are left, once the run has ended and all its iterations are known; tells `visit` of those that were not
    /// over before. Beside its time and its iterations, `skipped` were skipped: of each thread so many, and so long.
    pub(crate) fn end<'r>(
        &mut self,
        held: impl Iterator<Item = (OperationId, &'r OperationRecord)>,
        (ended, end): (Ended, Instant),
        (skipped, skipped_time): (impl Iterator<Item = u64>, Duration),
        mut visit: impl FnMut(&Job),
    ) -> Jobs {
        self.count(held);
        let mut jobs = self.jobs(end);
        let held = self.windows.iter().flat_map(|window| &window.jobs);
        jobs.begun.iter().zip(held).filter(|(_, held)| !held.is_over).for_each(|(job, _)| visit(job));
        if ended != Ended::Done {
            let end = end.saturating_add(skipped_time);
            for (((index, thread), window), skipped) in (0..).zip(self.threads).zip(&self.windows).zip(skipped) {
                if thread.does_jobs() {
                    let begun = u64::from(window.passed) + window.jobs.len() as u64 + skipped;
                    let backlog = jobs.backlog_of((index, thread), begun, end);
                    jobs.backlog.extend(backlog);
                }
            }
        }
        jobs
    }
}
