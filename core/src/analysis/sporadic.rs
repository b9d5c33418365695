//! Responses of streams whose releases are not given: jobs come a period or more apart, each is released at most a
//! jitter after it arrives, and nothing is known of how the streams are phased.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use smallvec::SmallVec;

use super::assumptions::launches_at_release;
use super::compare::AnalysisError;
use super::finish_bounds::finish_bounds;
use super::job_bounds::{JobBounds, LONGEST, Releases, SporadicRefusal, TaskSet};
use super::jobs::AnalysedJob;
use super::partitions::{job_bounds_of, partitions};
use super::prepared::refuse_what_nothing_bounds;
use super::safe_bound::BoundOptions;
use super::search::{
    Base, ReleaseRule, SearchOptions, SearchResult, own_step, search_from, search_known, without_threads,
};
use super::verdict::{Verdict, latest};
use crate::broken_bound::BrokenBound;
use crate::effort::{self, Progress};
use crate::hosts::{ProgramError, simulate_in_brief};
use crate::scenario::{BarrierId, HostThread, ReleaseOrder, Scenario, Step};
use crate::time::{Duration, Instant};

/// Jobs of each stream in a run of the search, at least and at most, but no more than it has.
const LEAST_JOBS: u64 = 2;
const MOST_JOBS: u64 = 12;

/// What is known of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SporadicVerdict {
    /// Label of the host thread.
    pub stream: String,
    /// From one arrival to the next at least; of jobs that others release, of those from which on one releases the
    /// other up to them.
    pub period_ns: Duration,
    /// From the arrival of a job to its release at most.
    pub jitter_ns: Duration,
    /// The longest response in any run that was simulated, from the arrival to the end of the job; of jobs that others
    /// release, from the release.
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
    /// Whether the work was stopped before all bounds were computed: others may be smaller, and more of them known.
    pub stopped: bool,
    /// Runs that were simulated.
    pub runs: u64,
    /// By host thread: bounds as [`JobBounds`] has them.
    pub(crate) responses: Vec<Option<Duration>>,
    /// None if no run can be made up for the scenario; then, if that leaves a deadline open, runs with the releases
    /// that the scenario states.
    found: Vec<SearchResult<'static>>,
    /// Of each stream: the search, and the job in it, with the longest response.
    worst_job: Vec<Option<(usize, usize)>>,
}

impl SporadicVerdicts {
    /// A scenario whose simulation has the longest response that was found for stream number `stream` of `streams`. The
    /// response counts from the arrival, so it is up to the jitter longer than what a simulation reports.
    pub fn witness(&self, stream: usize) -> Option<Scenario> {
        let (search, job) = (*self.worst_job.get(stream)?)?;
        self.found.get(search)?.witness(job)
    }

    /// The number of the stream among `streams` of which a job misses its deadline by most in a run that was found.
    pub fn latest_miss(&self) -> Option<usize> {
        latest(self.streams.iter().map(|stream| (stream.verdict, stream.worst_found_ns, stream.deadline_ns)))
    }

    /// Whether every deadline is proven to be met.
    pub fn all_proven(&self) -> bool {
        self.streams.iter().all(|stream| stream.verdict.is_none_or(|verdict| verdict == Verdict::Proven))
    }
}

/// Bounds on the responses of every stream's jobs, from arrival to the end of the job, in every run in which jobs come
/// a period or more apart and are released up to the jitter (by thread; missing ones are 0) after that, or by the ends
/// of those of others, from which on the responses count then, under every work-conserving placement, with blocks and
/// copies up to as long as stated.
///
/// # Errors
/// [`ProgramError`] for a scenario that did not come through a reader.
pub fn sporadic_bounds(
    scenario: &Scenario,
    jitter: &[Duration],
) -> Result<Result<Vec<Duration>, SporadicRefusal>, ProgramError> {
    Ok(stream_bounds(scenario, jitter)?.bounds.and_then(|bounds| match bounds.refusal {
        Some(refusal) => Err(refusal),
        None => Ok(JobBounds::from_releases(scenario, &bounds.responses).into_iter().flatten().collect()),
    }))
}

/// The bounds on those streams that have one, as far as there is time for them.
fn stream_bounds(scenario: &Scenario, jitter: &[Duration]) -> Result<StreamBounds, ProgramError> {
    effort::in_part(|| {
        let bounds = known_stream_bounds(scenario, jitter)?;
        Ok(StreamBounds { bounds, stopped: effort::check().is_err() })
    })
}

/// What is known of streams, and whether the work was stopped before all of it was.
struct StreamBounds {
    bounds: Result<JobBounds, SporadicRefusal>,
    stopped: bool,
}

fn known_stream_bounds(
    scenario: &Scenario,
    jitter: &[Duration],
) -> Result<Result<JobBounds, SporadicRefusal>, ProgramError> {
    refuse_what_nothing_bounds(scenario)?;
    let releases = Releases::Sporadic(jitter);
    if scenario.threads.len() == 1
        && partitions(scenario).is_none()
        && let Ok(tasks) = TaskSet::new(scenario, releases)?
        && let [task] = &tasks.tasks[..]
        && !task.pauses()
        && let Some(alone) = alone(scenario)?
    {
        // No two of its jobs overlap then, so each is alone.
        let response = alone.saturating_add(jitter.first().copied().unwrap_or(Duration::ZERO));
        if task.is_done_within(task.period, &vec![response.as_ns(); task.operations.len()]) {
            return Ok(Ok(JobBounds { responses: vec![Some(response)], refusal: None }));
        }
    }
    Ok(job_bounds_of(scenario, releases)?)
}

/// The bound on a job of the first thread that has the GPU for itself.
fn alone(scenario: &Scenario) -> Result<Option<Duration>, ProgramError> {
    let Some(thread) = scenario.threads.first() else { return Ok(None) };
    let once = HostThread::once(Arc::clone(&thread.label), Duration::ZERO, thread.steps.clone());
    let once = HostThread { process: thread.process, ..once };
    let alone = Scenario { threads: vec![once], horizon: None, ..scenario.clone() };
    let bounds = finish_bounds(&alone, BoundOptions::default())?;
    let finish = bounds.operations.iter().try_fold(Instant::ZERO, |last, operation| Some(last.max(operation.finish?)));
    Ok(finish
        .filter(|_| bounds.refusal.is_none() && bounds.responses.is_empty())
        .map(|finish| finish.since(Instant::ZERO)))
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
    let StreamBounds { bounds, stopped } = stream_bounds(scenario, jitter)?;
    let (bounds, refusal) = match bounds {
        Ok(bounds) => (Some(bounds.responses), bounds.refusal),
        Err(refusal) => (None, Some(refusal)),
    };
    let waits = |step: &Step| matches!(step, Step::Wait(..));
    let has_ready_orders = scenario.threads.iter().flat_map(|thread| &thread.steps).any(waits);
    let unrolled = unrolled(scenario, jitter);
    let base = unrolled.map(|(scenario, jobs, releases)| {
        let scenario = Cow::Owned(scenario);
        Base { scenario, is_unrolled: true, jobs, own: None, releases, chains: None, has_ready_orders }
    });
    let mut found: Vec<SearchResult<'static>> =
        base.map(|base| search_from(base, options, watch)).transpose()?.into_iter().collect();
    let mut worst_job = worst_jobs(&found, scenario.threads.len());
    let responses = bounds.unwrap_or_else(|| vec![None; scenario.threads.len()]);
    let bounds = JobBounds::from_releases(scenario, &responses);
    let bound_of = |index: usize| bounds.get(index).copied().flatten();
    let is_open = |(index, thread): (usize, &HostThread)| {
        let worst = worst_job[index].and_then(|(search, job)| found[search].worst(job));
        thread.deadline().is_some_and(|deadline| Verdict::new(worst, bound_of(index), deadline) == Verdict::Open)
    };
    // Releases that are stated are such as may come, and more of them than the runs above have.
    if !found.is_empty() && scenario.threads.iter().enumerate().any(is_open) {
        let run = simulate_in_brief(scenario)?;
        let affordable = SearchOptions::affordable(&run, None);
        let options = SearchOptions { runs: options.runs.min(affordable.runs), ..options.clone() };
        found.push(search_known(scenario, (&run, &run.jobs()), &[], &options, watch)?.into_owned());
        worst_job = worst_jobs(&found, scenario.threads.len());
    }
    let streams = scenario.threads.iter().enumerate().map(|(index, thread)| {
        let worst_found_ns = worst_job[index].and_then(|(search, job)| found[search].worst(job));
        let bound_ns = bound_of(index);
        let deadline_ns = thread.deadline();
        SporadicVerdict {
            stream: thread.label.to_string(),
            period_ns: period_of(scenario, index).unwrap_or(Duration::ZERO),
            jitter_ns: jitter.get(index).copied().filter(|_| thread.triggered_by.is_none()).unwrap_or(Duration::ZERO),
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
    let runs = found.iter().map(|found| found.runs).sum();
    Ok(SporadicVerdicts { streams, refusal, stopped, runs, responses, found, worst_job })
}

/// From one arrival of a thread's jobs to the next, if they have a period, or those by which they are released in the
/// end.
fn period_of(scenario: &Scenario, thread: usize) -> Option<Duration> {
    scenario.timed(u32::try_from(thread).ok()?)?.period
}

/// Of each of so many threads: in which search which job has the longest response.
fn worst_jobs(found: &[SearchResult<'_>], threads: usize) -> Vec<Option<(usize, usize)>> {
    let mut worst_job = vec![None; threads];
    for (search, result) in found.iter().enumerate() {
        for (index, job) in result.jobs.iter().enumerate() {
            let longer = |(search, other): (usize, usize)| result.worst(index) > found[search].worst(other);
            let worst: &mut Option<(usize, usize)> = &mut worst_job[job.thread as usize];
            if worst.is_none_or(longer) {
                *worst = Some((search, index));
            }
        }
    }
    worst_job
}

/// A few jobs of every stream as threads of their own, with kernels and copies of their own; `None` if some thread has
/// no period, meets others at a barrier, begins a job by waiting for what the one before launched last, or has times
/// that are too long to be added.
fn unrolled(scenario: &Scenario, jitter: &[Duration]) -> Option<(Scenario, Vec<AnalysedJob>, Vec<ReleaseRule>)> {
    let mut base = without_threads(scenario);
    let longest = scenario.threads.iter().filter_map(|thread| thread.period).max()?.as_ns();
    let (mut jobs, mut rules) = (Vec::new(), Vec::new());
    let mut places: BTreeMap<(usize, u64), usize> = BTreeMap::new();
    // The search is the same wherever threads stand in the file.
    let ranks = scenario.thread_ranks();
    let mut threads: Vec<(usize, &HostThread)> = scenario.threads.iter().enumerate().collect();
    threads.sort_by_key(|(index, _)| ranks[*index]);
    for (index, thread) in threads {
        let period = period_of(scenario, index)?.as_ns();
        let is_timed = thread.triggered_by.is_none();
        // Of what is not known no run is made up; in those without it jobs are released as they arrive.
        let jitter = jitter.get(index).filter(|jitter| is_timed && **jitter != HostThread::UNKNOWN_JITTER);
        let jitter = jitter.map_or(0, |jitter| jitter.as_ns());
        if period > LONGEST / MOST_JOBS || jitter > LONGEST {
            return None;
        }
        let mut rule = ReleaseRule { threads: Vec::new(), arrivals: Vec::new(), period: Some(period), jitter };
        let number = longest.checked_mul(3)?.div_ceil(period.max(1)).clamp(LEAST_JOBS, MOST_JOBS);
        let timed = scenario.timed(u32::try_from(index).ok()?)?;
        let number = most_jobs(timed).map_or(number, |most| number.min(most));
        for job in 0..number {
            let steps = steps_of(scenario, &mut base, thread, (index, job, number))?;
            places.insert((index, job), base.threads.len());
            rule.threads.push(base.threads.len());
            let released = Duration::from_ns(job.checked_mul(period)?);
            rule.arrivals.push(released.as_ns());
            let deadline = thread.deadline();
            let release = if is_timed { released } else { Duration::ZERO };
            let once = HostThread::once(format!("{} job {job}", thread.label), release, steps);
            base.threads.push(HostThread {
                process: thread.process,
                core: thread.core,
                deadline: deadline.into(),
                ..once
            });
            jobs.push(AnalysedJob {
                thread: u32::try_from(index).ok()?,
                stream: Arc::clone(&thread.label),
                job: u32::try_from(job).ok()?,
                released: Instant::ZERO + released,
                host_finished: None,
                deadline,
                complete: true,
                operations: SmallVec::new(),
            });
        }
        // Those that others release come with these.
        rules.extend(Some(rule).filter(|_| is_timed));
    }
    for (&(thread, job), &place) in &places {
        if let Some(trigger) = scenario.threads[thread].triggered_by {
            let trigger = places.get(&(trigger as usize, job))?;
            base.threads[place].triggered_by = Some(u32::try_from(*trigger).ok()?);
        }
    }
    Some((base, jobs, rules))
}

/// How many jobs a thread may have in a run that is made up; `None`: it has no end. Of one that may end early, later
/// jobs than the first may be too late to come.
fn most_jobs(thread: &HostThread) -> Option<u64> {
    thread.may_end_early().then_some(1).into_iter().chain(thread.iterations_in_all()).min()
}

/// The steps of job number `job` of `number` of the thread number `index`.
///
/// A host that does more than to launch at its release begins a job when it has ended the one before: the last step of
/// one and the first of the next is a barrier of these two.
fn steps_of(
    scenario: &Scenario,
    base: &mut Scenario,
    thread: &HostThread,
    (index, job, number): (usize, u64, u64),
) -> Option<Vec<Step>> {
    let mut before_launches = thread.steps.iter().take_while(|step| step.submission().is_none());
    let waits_for_earlier = before_launches.any(|step| *step == Step::AwaitLast);
    // Threads of their own do not know what another one has launched last.
    if thread.barriers().next().is_some() || waits_for_earlier && thread.submits() {
        return None;
    }
    // Of two jobs the later one does not begin while the host of the one before waits, for its core or for what it has
    // launched.
    let is_all = |launches: &&[Step]| launches.len() == thread.steps.len() && !thread.works();
    let at_release = launches_at_release(thread).filter(is_all);
    let own = |base: &mut Scenario, step: &Step| match step.submission() {
        Some((kind, stream)) => own_step(scenario, base, kind, stream),
        None => Some(*step),
    };
    let mut steps =
        at_release.unwrap_or(&thread.steps).iter().map(|step| own(base, step)).collect::<Option<Vec<_>>>()?;
    if at_release.is_none() {
        let barrier = |job: u64| {
            let place = u64::try_from(index).ok()?.checked_mul(MOST_JOBS)?.checked_add(job)?;
            Some(Step::Barrier(BarrierId(u32::try_from(place).ok()?)))
        };
        if job + 1 < number {
            steps.push(barrier(job)?);
        }
        if job > 0 {
            steps.insert(0, barrier(job - 1)?);
            for step in &mut steps {
                if let Step::Repeat { from, .. } = step {
                    *from += 1;
                }
            }
        }
    }
    Some(steps)
}
