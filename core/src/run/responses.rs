//! Response times of jobs, summed up by stream or host; and jobs with deadlines, in the order and form in which
//! pictures mark them.

use std::borrow::Borrow;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::jobs::{Backlog, DeadlineOutcome, Job, Jobs};
use crate::scenario::{HostThread, Scenario};
use crate::statistics::rank;
use crate::time::{Duration, Instant};
use crate::workload::StreamId;

/// The jobs of one stream with operations, or of one host, in numbers; serialized as pages have them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Responses<'a> {
    /// Name of the stream or host (the examiner's label).
    pub stream: &'a str,
    /// Index of the host thread (the examiner's benchmark).
    #[serde(skip)]
    pub benchmark: u32,
    /// Jobs released by the end of the run.
    pub jobs: u64,
    /// Those of them that had not finished when the run ended; they have no response time.
    pub unfinished: u64,
    /// Shortest response time.
    pub min_ns: Option<Duration>,
    /// Mean response time, rounded down.
    pub mean_ns: Option<Duration>,
    /// The smallest response time that 95 of 100 jobs do not exceed (nearest rank).
    pub p95_ns: Option<Duration>,
    /// Likewise for 99 of 100.
    pub p99_ns: Option<Duration>,
    /// Longest response time.
    pub max_ns: Option<Duration>,
    /// Deadline of each job, counted from its release.
    pub deadline_ns: Option<Duration>,
    /// Jobs that missed it, finished or not; `None` without a deadline.
    pub misses: Option<u64>,
    /// What no response of a job of the run exceeds, if that was analysed and is known of all of them.
    #[serde(skip)]
    pub bound_ns: Option<Duration>,
    /// Response times of the jobs that finished, each once, ascending, and how many jobs had it.
    #[serde(skip)]
    pub times: Vec<(Duration, u64)>,
    /// Response times of one job each that are not among them yet.
    #[serde(skip)]
    new_times: Vec<Duration>,
}

/// So many new response times are put among the others together at least.
const TOGETHER: usize = 64;

/// [`Summary::responses`](super::Summary::responses), made one by one: of many streams they take more memory than all
/// that is known of their jobs.
pub(crate) fn each_response<J: Borrow<Jobs>>(
    scenario: &Scenario,
    jobs: J,
) -> impl Iterator<Item = Responses<'_>> + use<'_, J> {
    // Both are in the order of the threads.
    let (mut begun, mut late) = (0, 0);
    (0..).zip(&scenario.threads).filter_map(move |(index, thread)| {
        let jobs = jobs.borrow();
        let own = jobs.begun[begun..].iter().take_while(|job| job.thread <= index);
        let own_late = jobs.backlog[late..].iter().take_while(|one| one.thread <= index);
        let mut row = Responses::none(index, thread);
        own.for_each(|job| {
            begun += 1;
            row.count(job, jobs.end);
        });
        own_late.for_each(|backlog| {
            late += 1;
            row.count_late(backlog);
        });
        if !thread.does_jobs() {
            return None;
        }
        row.sum_up();
        Some(row)
    })
}

impl<'a> Responses<'a> {
    /// No job of a thread yet.
    pub(super) fn none(index: u32, thread: &'a HostThread) -> Self {
        let (deadline_ns, misses) = (thread.deadline(), thread.deadline().map(|_| 0));
        Self { stream: &thread.label, benchmark: index, deadline_ns, misses, ..Self::default() }
    }

    /// One more job, of a run that ended at `end`.
    pub(super) fn count(&mut self, job: &Job, end: Instant) {
        self.jobs += 1;
        match job.response() {
            Some(response) => self.count_time(response),
            None => self.unfinished += 1,
        }
        if let Some(misses) = &mut self.misses {
            *misses += u64::from(job.outcome(end) == Some(DeadlineOutcome::Missed));
        }
    }

    pub(super) fn count_time(&mut self, response: Duration) {
        if let Ok(place) = self.times.binary_search_by_key(&response, |&(time, _)| time) {
            self.times[place].1 += 1;
            return;
        }
        if self.new_times.capacity() == 0 {
            // Of many streams most have one.
            self.new_times.reserve_exact(1);
        }
        self.new_times.push(response);
        // Half as many as are known, so that each is moved a few times in all.
        if self.new_times.len() >= TOGETHER.max(self.times.len() / 2) {
            self.merge_times();
        }
    }

    fn merge_times(&mut self) {
        if self.new_times.is_empty() {
            return;
        }
        if self.times.capacity() == 0 {
            self.times.reserve_exact(self.new_times.len());
        }
        self.times.extend(self.new_times.drain(..).map(|time| (time, 1)));
        self.times.sort_unstable();
        self.times.dedup_by(|next, before| {
            let is_same = next.0 == before.0;
            before.1 += if is_same { next.1 } else { 0 };
            is_same
        });
    }

    /// The response time that so many jobs do not exceed, and no shorter one.
    pub(crate) fn time_of_rank(&self, rank: u64) -> Option<Duration> {
        let mut counted = 0;
        let reaches = |&&(_, jobs): &&(Duration, u64)| {
            counted += jobs;
            counted >= rank
        };
        self.times.iter().find(reaches).map(|&(time, _)| time)
    }

    /// How many jobs finished.
    pub(crate) fn finished(&self) -> u64 {
        self.times.iter().map(|&(_, jobs)| jobs).sum()
    }

    /// Jobs that had not begun.
    pub(super) fn count_late(&mut self, backlog: &Backlog) {
        self.jobs += backlog.releases;
        self.unfinished += backlog.releases;
        self.misses = self.misses.map(|misses| misses + backlog.missed);
    }

    /// The same numbers, without the response times that they are of: there may be millions.
    pub(crate) fn without_single_ones(&self) -> Self {
        Self { times: Vec::new(), new_times: Vec::new(), ..*self }
    }

    /// What was counted since it was `before` is counted again, `times` times.
    pub(super) fn repeat(&mut self, before: &mut Self, times: u64) {
        self.merge_times();
        before.merge_times();
        let again = |now: &mut u64, before: u64| *now += (*now - before) * times;
        again(&mut self.jobs, before.jobs);
        again(&mut self.unfinished, before.unfinished);
        if let Some((misses, before)) = self.misses.as_mut().zip(before.misses) {
            again(misses, before);
        }
        let mut old = before.times.iter().peekable();
        for (time, jobs) in &mut self.times {
            // All that were there before still are.
            let before = old.next_if(|(old, _)| old == time).map_or(0, |&(_, jobs)| jobs);
            again(jobs, before);
        }
    }

    /// All jobs are counted.
    pub(super) fn sum_up(&mut self) {
        self.merge_times();
        self.new_times = Vec::new();
        let sum: u128 = self.times.iter().map(|&(time, jobs)| u128::from(time.as_ns()) * u128::from(jobs)).sum();
        let finished = self.finished();
        // The mean of 64-bit numbers is one.
        let mean = sum.checked_div(u128::from(finished)).and_then(|mean| u64::try_from(mean).ok());
        self.mean_ns = mean.map(Duration::from_ns);
        self.min_ns = self.times.first().map(|&(time, _)| time);
        self.p95_ns = self.time_of_rank(rank(finished, 95));
        self.p99_ns = self.time_of_rank(rank(finished, 99));
        self.max_ns = self.times.last().map(|&(time, _)| time);
    }
}

/// One job with a deadline; or several jobs of one thread that had not begun when the run ended, of which there may be
/// more than memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueJobs {
    /// Index of the host thread.
    pub(crate) thread: u32,
    /// The stream to which an iteration of the thread submits last.
    pub(crate) stream: StreamId,
    /// Which job of the thread is the first, from 0.
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// When the first of them was released.
    released: Instant,
    /// When the first of them is due.
    due: Instant,
    /// From one to the next.
    period: Duration,
    /// By when each should have finished, counted from its release.
    pub(crate) deadline: Duration,
    /// Response time, if there is one; only of a single job.
    pub(crate) response: Option<Duration>,
    /// What became of each.
    pub(crate) outcome: DeadlineOutcome,
}

impl DueJobs {
    /// When number `number` of them is due, counted from 0.
    pub(crate) fn due_of(&self, number: u64) -> Instant {
        self.period.checked_mul(number).map_or(Instant::MAX, |passed| self.due.saturating_add(passed))
    }

    /// When number `number` of them was released, counted from 0.
    pub(crate) fn released_of(&self, number: u64) -> Instant {
        self.period.checked_mul(number).map_or(Instant::MAX, |passed| self.released.saturating_add(passed))
    }

    /// When it finished; `None` if it had not when the run ended.
    pub(crate) fn finished(&self) -> Option<Instant> {
        self.response.map(|response| self.released.saturating_add(response))
    }

    pub(crate) fn is_missed(&self) -> bool {
        self.outcome == DeadlineOutcome::Missed
    }

    /// Those of them that are due within `window`.
    pub(crate) fn within(&self, window: &RangeInclusive<Instant>) -> Option<Self> {
        let (start, end) = (window.start().as_ns(), window.end().as_ns());
        let (due, period) = (self.due.as_ns(), self.period.as_ns().max(1));
        let from = start.saturating_sub(due).div_ceil(period);
        let until = (end.checked_sub(due)? / period).saturating_add(1).min(self.count);
        (from < until).then(|| Self {
            first: self.first + from,
            count: until - from,
            released: self.released_of(from),
            due: self.due_of(from),
            ..*self
        })
    }

    /// What is said of number `number` of them.
    pub(crate) fn sentence(&self, number: u64, scenario: &Scenario) -> String {
        let thread = scenario.threads.get(self.thread as usize).map_or("", |thread| &*thread.label);
        let response = match (self.response, self.outcome) {
            (Some(response), _) => format!("response {response}"),
            (None, DeadlineOutcome::Undecided) => "not finished, nor due, when the run ended".to_owned(),
            (None, _) => "not finished when the run ended".to_owned(),
        };
        let missed = if self.is_missed() { ": deadline missed" } else { "" };
        let (job, deadline, due) = (self.first + number, self.deadline, self.due_of(number));
        format!("{thread}, job {job}{missed}; {response}, deadline {deadline}, due at {due}")
    }
}

/// Those of a scenario's `jobs` that have deadlines, in the order in which they are due.
pub(super) fn due_jobs(scenario: &Scenario, jobs: &Jobs) -> Vec<DueJobs> {
    let threads = &scenario.threads;
    let mut begun = vec![0_u64; threads.len()];
    let mut due_jobs = Vec::new();
    for job in &jobs.begun {
        let Some(thread) = threads.get(job.thread as usize) else { continue };
        // Those of a thread have no gaps, and earlier ones may have left the record.
        begun[job.thread as usize] = u64::from(job.iteration) + 1;
        let (Some(stream), Some(deadline), Some(due)) = (last_stream(thread), job.deadline, job.due()) else {
            continue;
        };
        let Some(outcome) = job.outcome(jobs.end) else { continue };
        due_jobs.push(DueJobs {
            thread: job.thread,
            stream,
            first: job.iteration.into(),
            count: 1,
            released: job.released,
            due,
            period: Duration::from_ns(1),
            deadline,
            response: job.response(),
            outcome,
        });
    }
    for backlog in &jobs.backlog {
        let Some(thread) = threads.get(backlog.thread as usize) else { continue };
        let (Some(stream), Some(deadline)) = (last_stream(thread), thread.deadline()) else { continue };
        let next = begun[backlog.thread as usize];
        let one_by_one = thread.triggered_by.into_iter().flat_map(|trigger| jobs.released_by(trigger, next));
        for (first, released) in (next..).zip(one_by_one) {
            let due = released.saturating_add(deadline);
            let is_late = due <= jobs.end;
            due_jobs.push(DueJobs {
                thread: backlog.thread,
                stream,
                first,
                count: 1,
                released,
                due,
                period: Duration::from_ns(1),
                deadline,
                response: None,
                outcome: if is_late { DeadlineOutcome::Missed } else { DeadlineOutcome::Undecided },
            });
        }
        let Some(period) = thread.period else { continue };
        let late = [(DeadlineOutcome::Missed, 0, backlog.missed)];
        let later = [(DeadlineOutcome::Undecided, backlog.missed, backlog.releases - backlog.missed)];
        for (outcome, skipped, count) in late.into_iter().chain(later).filter(|(.., count)| *count > 0) {
            let released = thread.release_of(next + skipped);
            due_jobs.push(DueJobs {
                thread: backlog.thread,
                stream,
                first: next + skipped,
                count,
                released,
                due: released.saturating_add(deadline),
                period,
                deadline,
                response: None,
                outcome,
            });
        }
    }
    crate::sorted::sort_by_key(&mut due_jobs, |jobs| (jobs.due, jobs.thread, jobs.first));
    due_jobs
}

/// The stream to which an iteration submits last: where its end is seen.
fn last_stream(thread: &HostThread) -> Option<StreamId> {
    thread.steps.iter().rev().find_map(|step| step.submission().map(|(_, stream)| stream))
}
