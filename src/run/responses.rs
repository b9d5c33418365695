//! Response times of jobs, summed up by stream or host.

use std::borrow::Borrow;

use serde::Serialize;

use super::jobs::{Backlog, DeadlineOutcome, Job, Jobs};
use crate::scenario::{HostThread, Scenario};
use crate::statistics::rank;
use crate::time::{Duration, Instant};

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
        let Self { stream, benchmark, jobs, unfinished, min_ns, mean_ns, p95_ns, p99_ns, max_ns, .. } = *self;
        let Self { deadline_ns, misses, bound_ns, .. } = *self;
        Self {
            stream,
            benchmark,
            jobs,
            unfinished,
            min_ns,
            mean_ns,
            p95_ns,
            p99_ns,
            max_ns,
            deadline_ns,
            misses,
            bound_ns,
            times: Vec::new(),
            new_times: Vec::new(),
        }
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
