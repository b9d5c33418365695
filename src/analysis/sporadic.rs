//! Responses of streams whose releases are not given: jobs come a period or more apart, each is released at most a
//! jitter after it arrives, and nothing is known of how the streams are phased.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use smallvec::SmallVec;

use super::assumptions::launches_at_release;
use super::bound_options::BoundOptions;
use super::finish_bounds::finish_bounds;
use super::jobs::AnalysedJob;
use super::kept::AnalysisError;
use super::prepared::refuse_processes;
use super::safe_bound::Weights;
use super::search::{Base, ReleaseRule, SearchOptions, SearchResult, own_step, search_from};
use super::verdict::Verdict;
use crate::broken_bound::BrokenBound;
use crate::effort::Progress;
use crate::hosts::ProgramError;
use crate::scenario::{HostThread, ReleaseOrder, Scenario};
use crate::time::{Duration, Instant};

mod model;
mod phases;
mod responses;
mod uniprocessor;
mod window;

pub use model::SporadicRefusal;
use model::TaskSet;

/// Jobs of each stream in a run of the search, at least and at most.
const LEAST_JOBS: u64 = 2;
const MOST_JOBS: u64 = 12;

/// What is known of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SporadicVerdict {
    /// Label of the host thread.
    pub stream: String,
    /// From one arrival to the next at least.
    pub period_ns: Duration,
    /// From the arrival of a job to its release at most.
    pub jitter_ns: Duration,
    /// The longest response in any run that was simulated, from the arrival to the end of the last operation.
    pub worst_found_ns: Option<Duration>,
    /// No job of any phasing has a longer response.
    pub bound_ns: Option<Duration>,
    /// Counted from the arrival: what the scenario states, or else the period.
    pub deadline_ns: Option<Duration>,
    /// `None` without a deadline.
    pub verdict: Option<Verdict>,
    /// For which order of simultaneous releases that holds; bounds hold for any.
    pub order: ReleaseOrder,
}

/// The streams of a scenario over all phasings.
#[derive(Debug)]
pub struct SporadicVerdicts {
    /// By host thread as declared.
    pub streams: Vec<SporadicVerdict>,
    /// Why there are no bounds, or none on some streams.
    pub refusal: Option<SporadicRefusal>,
    /// Runs that were simulated.
    pub runs: u64,
    /// Absent if no run can be made up for the scenario.
    found: Option<SearchResult<'static>>,
    /// Of each stream: the job with the longest response.
    worst_job: Vec<Option<usize>>,
}

impl SporadicVerdicts {
    /// A scenario whose simulation has the longest response that was found for stream number `stream` of `streams`. The
    /// response counts from the arrival, so it is up to the jitter longer than what a simulation reports.
    #[must_use]
    pub fn witness(&self, stream: usize) -> Option<Scenario> {
        self.found.as_ref()?.witness((*self.worst_job.get(stream)?)?)
    }

    /// The number of the first stream among `streams` of which a job misses its deadline in a run that was found.
    #[must_use]
    pub fn first_miss(&self) -> Option<usize> {
        self.streams.iter().position(|stream| stream.verdict == Some(Verdict::Missed))
    }

    /// Whether every deadline is proven to be met.
    #[must_use]
    pub fn all_proven(&self) -> bool {
        self.streams.iter().all(|stream| stream.verdict.is_none_or(|verdict| verdict == Verdict::Proven))
    }
}

/// Bounds on the responses of every stream's jobs, from arrival to the end of the last operation, in every run in which
/// jobs come a period or more apart and are released up to the jitter (by thread; missing ones are 0) after that,
/// under every work-conserving placement, with blocks and copies up to as long as stated.
///
/// # Errors
/// [`ProgramError`] for a scenario that did not come through a reader.
pub fn sporadic_bounds(
    scenario: &Scenario,
    jitter: &[Duration],
) -> Result<Result<Vec<Duration>, SporadicRefusal>, ProgramError> {
    Ok(stream_bounds(scenario, jitter)?.and_then(StreamBounds::complete))
}

/// The bounds on those streams that have one, which hold whatever the others do.
#[derive(Debug)]
struct StreamBounds {
    /// By thread.
    responses: Vec<Option<Duration>>,
    /// Label of the first thread that has none.
    beyond: Option<String>,
}

impl StreamBounds {
    fn complete(self) -> Result<Vec<Duration>, SporadicRefusal> {
        match self.refusal() {
            Some(refusal) => Err(refusal),
            None => Ok(self.responses.into_iter().flatten().collect()),
        }
    }

    fn refusal(&self) -> Option<SporadicRefusal> {
        self.beyond.clone().map(|thread| SporadicRefusal::BeyondPeriod { thread })
    }
}

/// As [`sporadic_bounds`], without a bound for those streams whose jobs may be beyond their period.
fn stream_bounds(
    scenario: &Scenario,
    jitter: &[Duration],
) -> Result<Result<StreamBounds, SporadicRefusal>, ProgramError> {
    refuse_processes(scenario)?;
    let tasks = match TaskSet::new(scenario, jitter)? {
        Ok(tasks) => tasks,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let weights = Weights::new(scenario.device(), &tasks.classes);
    if let ([task], Some(alone)) = (&tasks.tasks[..], alone(scenario)?) {
        // No two of its jobs overlap then, so each is alone.
        let response = alone.saturating_add(Duration::from_ns(task.jitter));
        if response.as_ns() <= task.period {
            return Ok(Ok(StreamBounds { responses: vec![Some(response)], beyond: None }));
        }
    }
    let responses = if uniprocessor::applies(&tasks, &weights) {
        match uniprocessor::responses(&tasks) {
            Ok(responses) => responses.into_iter().map(Some).collect(),
            Err(refusal) => return Ok(Err(refusal)),
        }
    } else {
        responses::responses(&tasks, &weights)
    };
    let beyond = tasks.tasks.iter().zip(&responses).find(|(_, response)| response.is_none());
    let beyond = beyond.map(|(task, _)| task.label.clone());
    let responses = responses.into_iter().map(|response| response.map(Duration::from_ns)).collect();
    Ok(Ok(StreamBounds { responses, beyond }))
}

/// The bound on a job of the first thread that has the GPU for itself.
fn alone(scenario: &Scenario) -> Result<Option<Duration>, ProgramError> {
    let Some(thread) = scenario.threads.first() else { return Ok(None) };
    let once = HostThread::once(Arc::clone(&thread.label), Duration::ZERO, thread.steps.clone());
    let alone = Scenario { threads: vec![once], horizon: None, ..scenario.clone() };
    let bounds = finish_bounds(&alone, BoundOptions::default())?;
    let finish = bounds.operations.iter().try_fold(Instant::ZERO, |last, operation| Some(last.max(operation.finish?)));
    Ok(finish.filter(|_| bounds.refusal.is_none()).map(|finish| finish.since(Instant::ZERO)))
}

/// Bounds the response of every stream over all phasings, and searches for runs with long responses.
///
/// # Errors
/// [`AnalysisError`]: that of a simulation, or a run that was found exceeds a bound.
pub fn judge_sporadic(
    scenario: &Scenario,
    jitter: &[Duration],
    options: &SearchOptions,
    watch: Progress<'_>,
) -> Result<SporadicVerdicts, AnalysisError> {
    let (bounds, refusal) = match stream_bounds(scenario, jitter)? {
        Ok(bounds) => {
            let refusal = bounds.refusal();
            (Some(bounds.responses), refusal)
        }
        Err(refusal) => (None, Some(refusal)),
    };
    let unrolled = unrolled(scenario, jitter);
    let base = unrolled.map(|(scenario, jobs, releases)| {
        let scenario = Cow::Owned(scenario);
        Base { scenario, is_unrolled: true, jobs, own: None, releases }
    });
    let found = base.map(|base| search_from(base, options, watch)).transpose()?;
    let mut worst_job = vec![None; scenario.threads.len()];
    for (index, job) in found.iter().flat_map(|found| found.jobs.iter().enumerate()) {
        let longer = |other: usize| found.as_ref().is_some_and(|found| found.worst(index) > found.worst(other));
        let worst: &mut Option<usize> = &mut worst_job[job.thread as usize];
        if worst.is_none_or(longer) {
            *worst = Some(index);
        }
    }
    let streams = scenario.threads.iter().enumerate().map(|(index, thread)| {
        let worst_found_ns = worst_job[index].and_then(|job| found.as_ref()?.worst(job));
        let bound_ns = bounds.as_ref().and_then(|bounds| *bounds.get(index)?);
        let deadline_ns = thread.deadline();
        SporadicVerdict {
            stream: thread.label.to_string(),
            period_ns: thread.period.unwrap_or(Duration::ZERO),
            jitter_ns: jitter.get(index).copied().unwrap_or(Duration::ZERO),
            worst_found_ns,
            bound_ns,
            deadline_ns,
            verdict: deadline_ns.map(|deadline| Verdict::new(worst_found_ns, bound_ns, deadline)),
            order: options.bound.order,
        }
    });
    let streams: Vec<SporadicVerdict> = streams.collect();
    for SporadicVerdict { stream, worst_found_ns, bound_ns, .. } in &streams {
        let subject = || format!("a job of {stream} takes");
        BrokenBound::check(*worst_found_ns, ("the bound on all runs of all phasings", *bound_ns), subject)?;
    }
    let runs = found.as_ref().map_or(0, |found| found.runs);
    Ok(SporadicVerdicts { streams, refusal, runs, found, worst_job })
}

/// A few jobs of every stream as threads of their own, with kernels and copies of their own; `None` if some thread has
/// no period, does something else than launching at its release, or has times that are too long to be added.
fn unrolled(scenario: &Scenario, jitter: &[Duration]) -> Option<(Scenario, Vec<AnalysedJob>, Vec<ReleaseRule>)> {
    let mut base = Scenario {
        catalogue: scenario.catalogue.without_work(),
        block_times: std::collections::BTreeMap::new(),
        threads: Vec::new(),
        horizon: None,
        expected: None,
        examiner: None,
        ..scenario.clone()
    };
    let longest = scenario.threads.iter().filter_map(|thread| thread.period).max()?.as_ns();
    let (mut jobs, mut rules) = (Vec::new(), Vec::new());
    // The search is the same wherever threads stand in the file.
    let ranks = scenario.thread_ranks();
    let mut threads: Vec<(usize, &HostThread)> = scenario.threads.iter().enumerate().collect();
    threads.sort_by_key(|(index, _)| ranks[*index]);
    for (index, thread) in threads {
        let period = thread.period?.as_ns();
        let jitter = jitter.get(index).map_or(0, |jitter| jitter.as_ns());
        if period > model::LONGEST / MOST_JOBS || jitter > model::LONGEST {
            return None;
        }
        let mut rule = ReleaseRule { threads: Vec::new(), period, jitter };
        let number = longest.checked_mul(3)?.div_ceil(period.max(1)).clamp(LEAST_JOBS, MOST_JOBS);
        for job in 0..number {
            let mut steps = Vec::with_capacity(thread.steps.len());
            for step in launches_at_release(thread)? {
                let (kind, stream) = step.submission()?;
                steps.push(own_step(scenario, &mut base, kind, stream)?);
            }
            rule.threads.push(base.threads.len());
            let released = Duration::from_ns(job.checked_mul(period)?);
            let deadline = thread.deadline();
            let once = HostThread::once(format!("{} job {job}", thread.label), released, steps);
            base.threads.push(HostThread { deadline: deadline.into(), ..once });
            jobs.push(AnalysedJob {
                thread: u32::try_from(index).ok()?,
                stream: Arc::clone(&thread.label),
                job: u32::try_from(job).ok()?,
                released: Instant::ZERO + released,
                deadline,
                complete: true,
                operations: SmallVec::new(),
            });
        }
        rules.push(rule);
    }
    Some((base, jobs, rules))
}
