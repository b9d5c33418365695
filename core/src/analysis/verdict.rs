//! Whether every job meets its deadline: proven, missed, or open.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::assumptions::note_on_channels;
use super::compare::AnalysisError;
use super::finish_bounds::{BoundRefusal, FinishBounds, finish_bounds};
use super::job_bounds::{JobBounds, Releases};
use super::jobs::JobResponses;
use super::partitions::job_bounds_of;
use super::prepared::shown;
use super::safe_bound::BoundOptions;
use super::search::{SearchOptions, SearchResult, search_known};
use crate::broken_bound::BrokenBound;
use crate::effort::{self, Progress};
use crate::hosts::simulate_in_brief;
use crate::named::named;
use crate::run::{ChainDelay, Jobs, Run, overload_notes};
use crate::scenario::{HostThread, ModelDemands, ReleaseOrder, Scenario};
use crate::spelling::option;
use crate::time::{Duration, Instant, is_in_time};
use crate::words::{first_of, merged};

named! {
    /// What is known of a deadline.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Verdict: ALL, words, Serialize {
        /// In time in every run: the bound on all responses meets the deadline.
        Proven = "proven",
        /// Not in time: a run was found that misses the deadline.
        Missed = "missed",
        /// Neither proven nor missed: the bound does not meet the deadline, or there is none, for which a note says
        /// why; and no run was found that misses it.
        Open = "open",
    }
}

impl Verdict {
    /// From the longest response found, the bound on all, and the deadline; or from finishes.
    pub fn new<T: Ord + Copy>(worst_found: Option<T>, bound: Option<T>, deadline: T) -> Self {
        if worst_found.is_some_and(|found| !is_in_time(found, deadline)) {
            Self::Missed
        } else if bound.is_some_and(|bound| is_in_time(bound, deadline)) {
            Self::Proven
        } else {
            Self::Open
        }
    }
}

/// One job and what is known of its response, which lies between what was found and the bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobVerdict {
    /// Label of the host thread.
    #[serde(serialize_with = "text")]
    pub stream: Arc<str>,
    /// Index of the host thread.
    #[serde(skip)]
    pub thread: u32,
    /// Number of the job, from 0.
    pub job: u32,
    /// Its release.
    pub released_ns: Instant,
    /// The longest response in any run that was simulated; `None`: it did not finish in any. Of a job that ends when
    /// more is released than the run has, no more than that it is longer than until then.
    pub worst_found_ns: Option<Duration>,
    /// Whether that is all that the run shows of it: it had not ended when more is released than the run has.
    #[serde(skip)]
    pub(crate) is_cut: bool,
    /// No response is longer; `None`: no bound is known, as for what may go on after the horizon.
    pub bound_ns: Option<Duration>,
    /// Counted from the release: what the scenario states, or else the period.
    pub deadline_ns: Option<Duration>,
    /// `None` without a deadline.
    pub verdict: Option<Verdict>,
    /// For which order of simultaneous releases that holds.
    pub order: ReleaseOrder,
}

/// Of verdicts with what was found and the deadline: the number of the miss that is latest.
pub(super) fn latest(
    verdicts: impl Iterator<Item = (Option<Verdict>, Option<Duration>, Option<Duration>)>,
) -> Option<usize> {
    let late = |found: Option<Duration>, deadline: Option<Duration>| {
        found.zip(deadline).map(|(found, deadline)| found.as_ns().saturating_sub(deadline.as_ns()))
    };
    let missed = verdicts.enumerate().filter(|(_, (verdict, ..))| *verdict == Some(Verdict::Missed));
    missed.max_by_key(|(_, (_, found, deadline))| late(*found, *deadline)).map(|(number, _)| number)
}

/// Why some are open although their bounds meet what is asked of them, each with its name: once for each reason, and
/// for those that differ in a name alone.
pub(crate) fn open_notes<'n>(open: impl Iterator<Item = (&'n str, &'n str)>) -> Vec<String> {
    let (mut reasons, mut numbers, mut names) = (Vec::new(), HashMap::new(), Vec::new());
    for (name, reason) in open {
        let number = *numbers.entry(reason).or_insert(reasons.len());
        if number == reasons.len() {
            reasons.push(reason);
            names.push(Vec::new());
        }
        names[number].push(name);
    }
    let note = |(reason, numbers): (String, Vec<usize>)| {
        let mut known = HashSet::new();
        let of_all = numbers.iter().flat_map(|&number| &names[number]).filter(|name| known.insert(**name));
        let of_all: Vec<&str> = of_all.copied().collect();
        format!("open though the bound meets it: {}: {reason}", first_of(&of_all))
    };
    merged(&reasons).into_iter().map(note).collect()
}

pub(super) fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// The jobs of a scenario.
#[derive(Debug)]
pub struct JobVerdicts<'s> {
    /// By host thread as declared, then by number; at the end those of threads none of whose jobs has begun in the
    /// scenario's own run although it should.
    pub jobs: Vec<JobVerdict>,
    /// Why there are no bounds.
    pub refusal: Option<BoundRefusal>,
    /// What bounds hold for and what was searched.
    pub options: BoundOptions,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Runs that were simulated.
    pub runs: u64,
    /// Whether a stated jitter is counted, so that bounds hold whenever jobs come.
    pub(crate) counts_jitter: bool,
    /// By host thread: no job takes longer, whenever jobs come; counted from where a jitter does. Empty if nothing asks
    /// for them.
    pub(super) responses: Vec<Option<Duration>>,
    /// The runs, by what was found in them.
    pub(super) found: SearchResult<'s>,
}

impl JobVerdict {
    /// The longest response that was found, in words: one that a run cut short is exceeded.
    pub(crate) fn worst_found(&self) -> Option<String> {
        let shown = self.worst_found_ns?.as_ns().saturating_sub(self.is_cut.into());
        Some(ChainDelay::known_length(Duration::from_ns(shown), self.is_cut))
    }
}

impl JobVerdicts<'_> {
    /// Why the jobs of a model that were judged may not be all, of chains: what a counted jitter covers left out.
    pub(crate) fn doubts_of_chains(&self, demands: Option<&ModelDemands>) -> Vec<String> {
        let doubts = demands.into_iter().flat_map(|demands| &demands.doubts);
        doubts.filter(|doubt| !(self.counts_jitter && doubt.is_jitter)).map(|doubt| doubt.what.clone()).collect()
    }

    /// The same, without the scenario that it is about.
    pub fn into_owned(self) -> JobVerdicts<'static> {
        let Self { jobs, refusal, options, notes, runs, counts_jitter, responses, found } = self;
        JobVerdicts { jobs, refusal, options, notes, runs, counts_jitter, responses, found: found.into_owned() }
    }

    /// A scenario whose simulation has the longest response that was found for job number `job` of `jobs`.
    pub fn witness(&self, job: usize) -> Option<Scenario> {
        self.found.witness(job)
    }

    /// The number of the job among `jobs` that misses its deadline by most in a run that was found.
    pub fn latest_miss(&self) -> Option<usize> {
        latest(self.jobs.iter().map(|job| (job.verdict, job.worst_found_ns, job.deadline_ns)))
    }

    /// Whether every deadline is proven to be met.
    pub fn all_proven(&self) -> bool {
        self.jobs.iter().all(|job| job.verdict.is_none_or(|verdict| verdict == Verdict::Proven))
    }
}

/// Bounds the response of every job, and searches for runs with long responses.
///
/// # Errors
/// [`AnalysisError`]: that of the simulation, or a run that was found exceeds a bound.
pub fn judge<'s>(
    scenario: &'s Scenario,
    options: &SearchOptions,
    watch: Progress<'_>,
) -> Result<JobVerdicts<'s>, AnalysisError> {
    let bounds = finish_bounds(scenario, options.bound)?;
    let run = simulate_in_brief(scenario)?;
    judge_known(scenario, (&run, &run.jobs()), &bounds, options, watch)
}

/// Searches for runs with long responses, and compares them with `bounds`, which are those of the scenario for the
/// same [`BoundOptions`] as in `options`; the run is the scenario's own, which is one of those searched, with its jobs.
///
/// # Errors
/// [`AnalysisError`]: that of the simulation, or a run that was found exceeds a bound.
pub(crate) fn judge_known<'s>(
    scenario: &'s Scenario,
    own: (&Run<'_>, &Jobs),
    bounds: &FinishBounds,
    options: &SearchOptions,
    watch: Progress<'_>,
) -> Result<JobVerdicts<'s>, AnalysisError> {
    let late = scenario.threads.iter().any(|thread| thread.jitter > Duration::ZERO);
    let unknown = scenario.threads.iter().find(|thread| thread.jitter >= HostThread::UNKNOWN_JITTER);
    let unsure = scenario.unsure_releases();
    // Releases that are late count from when they are stated.
    let jitter: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
    let jitter = if late && unknown.is_none() { &jitter[..] } else { &[] };
    let found = search_known(scenario, own, jitter, options, watch)?;
    let any = any_responses(scenario, bounds, jitter);
    let (responses, refusal) = any.unwrap_or_default();
    let known = match jitter {
        [] => JobResponses::new(scenario, &found.jobs, bounds),
        _ => JobResponses::of_any(&found.jobs, &JobBounds::from_releases(scenario, &responses)),
    };
    let refusal = if jitter.is_empty() { bounds.refusal.clone() } else { refusal };
    let until = scenario.known_until();
    let jobs = found.jobs.iter().zip(&known.responses).enumerate().map(|(index, (job, &bound_ns))| {
        // Of releases that are not known this bound says nothing; of later ones it may say nothing either.
        let proves = unknown.is_none() && unsure.is_none() && !known.unrepeated[index];
        let worst_found_ns = found.worst(index);
        JobVerdict {
            stream: Arc::clone(&job.stream),
            thread: job.thread,
            job: job.job,
            released_ns: job.released,
            worst_found_ns,
            is_cut: until.zip(worst_found_ns).is_some_and(|(until, found)| job.released.saturating_add(found) > until),
            bound_ns,
            deadline_ns: job.deadline,
            verdict: job.deadline.map(|deadline| Verdict::new(worst_found_ns, bound_ns.filter(|_| proves), deadline)),
            order: options.bound.order,
        }
    });
    let jobs: Vec<JobVerdict> = jobs.collect();
    // The own run is not always among those of the search.
    let in_own_run = |job: &JobVerdict| {
        let own = own.1.get(job.thread, job.job).filter(|_| unknown.is_none())?;
        Some(shown(until, own.released, own.response()?))
    };
    for job in &jobs {
        let subject = || format!("job {} of {} takes", job.job, job.stream);
        let found = job.worst_found_ns.max(in_own_run(job));
        BrokenBound::check(found, ("the bound on all runs", job.bound_ns), subject)?;
    }
    let mut notes: Vec<String> = refusal.iter().map(ToString::to_string).collect();
    let unbegun: Vec<JobVerdict> = unbegun(scenario, own.1, options.bound.order).collect();
    notes.extend(unbegun.iter().map(|job| {
        format!(
            "no job of {:?} has begun when the run ends ({}): of its deadline only that is known which had passed by \
             then; a longer {} shows more",
            job.stream,
            own.1.end,
            option("horizon")
        )
    }));
    if jitter.is_empty() {
        notes.extend_from_slice(&bounds.notes);
    } else {
        notes.push(
            "a stated jitter is counted: responses count from when a job is stated to come, and bounds hold for \
                    any releases at least a period apart, each up to its jitter later"
                .to_owned(),
        );
    }
    notes.extend(overload_notes(scenario));
    notes.extend(note_on_channels(scenario));
    notes.extend(unknown.map(|thread| {
        format!(
            "nothing is proven: how much later than stated jobs of {:?} are released is not known; {} with a jitter counts it",
            thread.label,
            option("sporadic")
        )
    }));
    notes.extend(unsure.map(|why| {
        format!(
            "nothing is proven: jobs may come at other times than those judged: {why}; over all phasings they are judged a \
             period or more apart"
        )
    }));
    notes.extend(stopped_note(bounds.stopped, "jobs", jobs.iter().map(|job| job.bound_ns), found.runs));
    let cut = found.jobs.iter().filter(|job| !job.complete).count();
    if cut > 0 {
        notes.push(format!(
            "{cut} of {} jobs are not launched as a whole by the horizon: they have no bound",
            jobs.len()
        ));
    }
    notes.extend(known.notes(scenario));
    let at_horizon = own.1.begun.iter().filter(|job| scenario.comes_at_horizon(job.thread, job.released)).count();
    if at_horizon > 0 {
        notes.push(format!("what is released just as the run ends is not judged (jobs: {at_horizon})"));
    }
    let jobs = jobs.into_iter().chain(unbegun).collect();
    let counts_jitter = !jitter.is_empty() && scenario.unsure_releases().is_none();
    let (options, runs) = (bounds.options, found.runs);
    Ok(JobVerdicts { jobs, refusal, options, notes, runs, counts_jitter, responses, found })
}

/// The first jobs of threads with a deadline none of whose jobs has begun when the scenario's own run ends although it
/// is released, or others release it.
fn unbegun<'j>(
    scenario: &'j Scenario,
    own: &'j Jobs,
    order: ReleaseOrder,
) -> impl Iterator<Item = JobVerdict> + use<'j> {
    let has_begun = |thread: u32| own.begun.iter().any(|job| job.thread == thread);
    (0..).zip(&scenario.threads).filter(move |(number, _)| !has_begun(*number)).filter_map(move |(number, thread)| {
        let backlog = own.backlog.iter().find(|backlog| backlog.thread == number);
        let deadline = thread.deadline().filter(|_| backlog.is_some() || thread.triggered_by.is_some())?;
        let is_missed = backlog.is_some_and(|backlog| backlog.missed > 0);
        // When others have released it nobody has noted: by the end.
        let stated = thread.triggered_by.is_none().then(|| Instant::ZERO + thread.release);
        Some(JobVerdict {
            stream: Arc::clone(&thread.label),
            thread: number,
            job: 0,
            released_ns: stated.unwrap_or(own.end),
            worst_found_ns: stated.map(|stated| own.end.since(stated).saturating_add(Duration::from_ns(1))),
            is_cut: stated.is_some(),
            bound_ns: None,
            deadline_ns: Some(deadline),
            verdict: Some(if is_missed { Verdict::Missed } else { Verdict::Open }),
            order,
        })
    })
}

/// By thread: bounds on any of its jobs, whenever these come, each up to its `jitter` late; and why some have none.
/// `None`: neither a chain nor a jitter asks for them.
fn any_responses(
    scenario: &Scenario,
    bounds: &FinishBounds,
    jitter: &[Duration],
) -> Option<(Vec<Option<Duration>>, Option<BoundRefusal>)> {
    let none = vec![None; scenario.threads.len()];
    let releases = match jitter {
        [] if scenario.chains.is_empty() => return None,
        [] if !bounds.responses.is_empty() => return Some((bounds.responses.clone(), None)),
        [] => Releases::Given,
        jitter => Releases::Late(jitter),
    };
    let refused = |reason, is_partial| Some(BoundRefusal::Jobs { reason, is_partial });
    Some(match effort::in_part(|| job_bounds_of(scenario, releases)) {
        Ok(Ok(JobBounds { responses, refusal })) => {
            let is_partial = responses.iter().any(Option::is_some);
            (responses, refusal.and_then(|reason| refused(reason, is_partial)))
        }
        Ok(Err(reason)) => (none, refused(reason, false)),
        // A scenario that was simulated has no such error.
        Err(_) => (none, None),
    })
}

/// What was not done when the work was stopped by [`effort`], if it was: bounds of what is called `what`, or, if these
/// are done, the search, which had come to so many `runs`.
pub(crate) fn stopped_note(
    bounds_stopped: bool,
    what: &str,
    bounds: impl ExactSizeIterator<Item = Option<Duration>>,
    runs: u64,
) -> Option<String> {
    if bounds_stopped {
        let all = bounds.len();
        let missing = bounds.filter(Option::is_none).count();
        return Some(format!(
            "bounds were not done when the work was stopped: {missing} of {all} {what} have none yet, and those of others \
             may be larger than they need be; what is proven is proven"
        ));
    }
    effort::check().is_err().then(|| {
        format!("the search for long responses was not done when the work was stopped: it had made {runs} runs; bounds are done")
    })
}
