//! Response times of jobs, summed up by stream or host.

use serde::Serialize;

use super::jobs::{DeadlineOutcome, Jobs};
use crate::scenario::Scenario;
use crate::statistics::nearest_rank;
use crate::time::Duration;

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
pub(crate) fn each_response<'a, 'j>(
    scenario: &'a Scenario,
    jobs: &'j Jobs,
) -> impl Iterator<Item = Responses<'a>> + use<'a, 'j> {
    // Both are in the order of the threads.
    let (mut begun, mut backlogs) = (&jobs.begun[..], &jobs.backlog[..]);
    (0..).zip(&scenario.threads).filter_map(move |(index, thread)| {
        let (own, later) = begun.split_at(begun.iter().take_while(|job| job.thread <= index).count());
        begun = later;
        let (own_backlog, later) = backlogs.split_at(backlogs.iter().take_while(|one| one.thread <= index).count());
        backlogs = later;
        if !thread.submits() {
            return None;
        }
        let mut row = Responses {
            stream: &thread.label,
            benchmark: index,
            deadline_ns: thread.deadline(),
            misses: thread.deadline().map(|_| 0),
            ..Responses::default()
        };
        for job in own {
            row.jobs += 1;
            match job.response() {
                Some(response) => row.sorted.push(response),
                None => row.unfinished += 1,
            }
            if let Some(misses) = &mut row.misses {
                *misses += u64::from(job.outcome(jobs.end) == Some(DeadlineOutcome::Missed));
            }
        }
        for backlog in own_backlog {
            row.jobs += backlog.releases;
            row.unfinished += backlog.releases;
            row.misses = row.misses.map(|misses| misses + backlog.missed);
        }
        row.sum_up();
        Some(row)
    })
}

impl Responses<'_> {
    fn sum_up(&mut self) {
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
