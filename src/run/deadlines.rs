//! Jobs with deadlines, in the order and form in which pictures mark them: where they belong, when they are due, and
//! what became of them.

use std::ops::RangeInclusive;

use super::jobs::DeadlineOutcome;
use super::summary::Summary;
use crate::scenario::{HostThread, Scenario};
use crate::time::{Duration, Instant};
use crate::workload::StreamId;

/// One job with a deadline; or several jobs of one thread that had not begun when the run ended, of which there may be
/// more than memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueJobs {
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

/// All jobs with deadlines, in the order in which they are due.
pub(crate) fn due_jobs(summary: &Summary<'_>) -> Vec<DueJobs> {
    let threads = &summary.scenario.threads;
    if threads.iter().all(|thread| thread.deadline().is_none()) {
        return Vec::new();
    }
    let jobs = summary.jobs();
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
        let (Some(stream), Some(deadline), Some(period)) = (last_stream(thread), thread.deadline(), thread.period)
        else {
            continue;
        };
        let next = begun[backlog.thread as usize];
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
