//! Response times of jobs, summed up by stream or host.

use std::borrow::Borrow;

use serde::Serialize;

use super::jobs::{Backlog, DeadlineOutcome, Job, Jobs};
use crate::scenario::{HostThread, Scenario};
use crate::statistics::nearest_rank;
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
    /// Response times of the jobs that finished, ascending.
    #[serde(skip)]
    pub sorted: Vec<Duration>,
}

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
        if !thread.submits() {
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
            Some(response) => self.sorted.push(response),
            None => self.unfinished += 1,
        }
        if let Some(misses) = &mut self.misses {
            *misses += u64::from(job.outcome(end) == Some(DeadlineOutcome::Missed));
        }
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
        let sorted = Vec::new();
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
            sorted,
        }
    }

    /// All jobs are counted.
    pub(super) fn sum_up(&mut self) {
        self.sorted.sort_unstable();
        let sum: u128 = self.sorted.iter().map(|response| u128::from(response.as_ns())).sum();
        // The mean of 64-bit numbers is one.
        let mean = sum.checked_div(self.sorted.len() as u128).and_then(|mean| u64::try_from(mean).ok());
        self.mean_ns = mean.map(Duration::from_ns);
        self.min_ns = self.sorted.first().copied();
        self.p95_ns = nearest_rank(&self.sorted, 95);
        self.p99_ns = nearest_rank(&self.sorted, 99);
        self.max_ns = self.sorted.last().copied();
    }
}
