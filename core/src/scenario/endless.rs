//! Threads without end: those that could never end are found before the run, and what is periodic without end is
//! released, in a run without a horizon, for one hyperperiod and as long as chains that begin in it may take.

use thiserror::Error;

use super::host_thread::{HostThread, Step};
use super::model::{ChainLink, Scenario};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{OperationKind, StreamId};

/// Without a horizon, what is periodic without end has at most this many jobs, all streams and hosts together.
pub(super) const MOST_JOBS: u64 = 10_000;

/// Why a thread never ends.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Endless {
    /// It repeats without limit, and the run has no horizon.
    #[error("nothing limits the iterations or the time of {thread:?}, so it never ends")]
    NoLimit {
        /// The thread's label.
        thread: String,
    },
    /// Without a horizon it is released for one hyperperiod, which has too many jobs.
    #[error(
        "it is periodic without end, and more than {MOST_JOBS} jobs come until one hyperperiod after the last first release"
    )]
    ManyJobs,
    /// Without a limit on iterations it has to wait for something that takes time, or it fills one instant forever.
    #[error(
        "an iteration of {thread:?} may take no time at all, and their number is not limited: time would stand still"
    )]
    NoTime {
        /// The thread's label.
        thread: String,
    },
}

impl Endless {
    /// What its author can do.
    #[doc(hidden)]
    pub fn help(&self) -> String {
        match self {
            Self::NoLimit { .. } | Self::ManyJobs => {
                let horizon = option("horizon").with("TIME");
                format!("limit its iterations (jobs) or its time, or bound the run with {horizon}")
            }
            Self::NoTime { .. } => {
                "limit its iterations, or let each of them wait for a kernel, a copy or a sleep".to_owned()
            }
        }
    }
}

/// Whether thread `thread` of `scenario` could never end, or keep time from going on; of one that another releases that
/// one is asked.
pub(super) fn check_end(scenario: &Scenario, thread: &HostThread) -> Result<(), Endless> {
    if thread.iterations.is_some() || thread.triggered_by.is_some() {
        return Ok(());
    }
    if !thread.may_end_early() && scenario.horizon.is_none() {
        return Err(Endless::NoLimit { thread: thread.label.to_string() });
    }
    if thread.period.is_some_and(|period| period > Duration::ZERO) || takes_time(scenario, &thread.steps) {
        return Ok(());
    }
    Err(Endless::NoTime { thread: thread.label.to_string() })
}

/// Whether going through `steps` once certainly takes time: a sleep, or an operation of non-zero length that is waited
/// for.
fn takes_time(scenario: &Scenario, steps: &[Step]) -> bool {
    let mut long_in: Vec<StreamId> = Vec::new();
    let mut last = None;
    for step in steps {
        last = step.submission().or(last);
        match *step {
            Step::Sleep(duration) | Step::Work(duration) if duration > Duration::ZERO => return true,
            step if step.waits_for_device() && !long_in.is_empty() => return true,
            Step::SynchronizeStream(stream) if long_in.contains(&stream) => return true,
            // Operations of one stream complete in order, so waiting for the last is waiting for all of its stream.
            Step::AwaitLast if last.is_some_and(|(_, stream)| long_in.contains(&stream)) => return true,
            _ => {}
        }
        if let Some((kind, stream)) = last
            && is_long(scenario, kind)
            && !long_in.contains(&stream)
        {
            long_in.push(stream);
        }
    }
    false
}

fn is_long(scenario: &Scenario, kind: OperationKind) -> bool {
    match kind {
        OperationKind::Kernel(kernel) => {
            scenario.kernels().get(kernel.index()).is_some_and(|kernel| kernel.duration.best > Duration::ZERO)
        }
        OperationKind::Copy(copy) => scenario
            .copies()
            .get(copy.index())
            .is_some_and(|copy| copy.time_on(&scenario.device().copy).is_none_or(|duration| duration > Duration::ZERO)),
        _ => false,
    }
}

/// Whether it is released every period without end, and waits for no other host first.
fn repeats(thread: &HostThread) -> bool {
    thread.period.is_some() && thread.iterations.is_none() && !thread.may_end_early() && thread.barrier.is_none()
}

/// Gives every thread that is periodic without end the jobs that are released within one hyperperiod from the last
/// release of a first job on, and within [what chains may take](longest_chain) after it, unless these are too many,
/// with a note that says so, if all others have a single job: beside one that says how many
/// it has, nobody knows for how long another is wanted.
///
/// # Errors
/// [`Endless::ManyJobs`] with the number of a thread, if those of the hyperperiod are too many jobs.
pub(super) fn limit_jobs(scenario: &mut Scenario) -> Result<(), (usize, Endless)> {
    let limited = limit_timed_jobs(scenario);
    scenario.count_triggered();
    limited
}

/// The same of those that have releases of their own.
fn limit_timed_jobs(scenario: &mut Scenario) -> Result<(), (usize, Endless)> {
    let is_single = |thread: &HostThread| thread.iterations == Some(1) || thread.triggered_by.is_some();
    let Some(first) = scenario.threads.iter().position(repeats).filter(|_| scenario.horizon.is_none()) else {
        return Ok(());
    };
    if !scenario.threads.iter().all(|thread| repeats(thread) || is_single(thread)) {
        return Ok(());
    }
    let too_many = (first, Endless::ManyJobs);
    let of_one = end_of_one(&scenario.threads).filter(|end| are_few(&scenario.threads, *end)).ok_or(too_many)?;
    let with_chains = longest_chain(scenario).and_then(|longest| of_one.checked_add(longest.as_ns()));
    let end = with_chains.filter(|end| are_few(&scenario.threads, *end)).unwrap_or(of_one);
    for thread in scenario.threads.iter_mut().filter(|thread| repeats(thread)) {
        thread.iterations = thread.period.map(|period| jobs_before(end, thread.release, period));
        thread.is_cut = true;
    }
    let what = if end > of_one { "one hyperperiod and the length of a chain" } else { "one hyperperiod" };
    let note = format!(
        "what is periodic without end is released before {}, {what} after the last first release; {} sets another end",
        Duration::from_ns(end),
        option("horizon").with("TIME")
    );
    scenario.notes.push(note);
    Ok(())
}

impl Scenario {
    /// The same with all that is released within so much more time of what has no end; `None`: nothing is missing, or
    /// there would be too many jobs.
    pub(crate) fn going_on(&self, more: Duration) -> Option<Self> {
        let end = self.cut_at()?.checked_add(more)?.as_ns();
        let (mut longer, mut jobs) = (self.clone(), 0_u64);
        let is_cut = |thread: &&mut HostThread| thread.is_cut && thread.triggered_by.is_none();
        for thread in longer.threads.iter_mut().filter(is_cut) {
            let of_thread = jobs_before(end, thread.release, thread.period?);
            jobs = jobs.checked_add(of_thread).filter(|jobs| *jobs <= MOST_JOBS)?;
            thread.iterations = Some(of_thread);
        }
        longer.count_triggered();
        Some(longer)
    }
}

/// Whether a file that leaves out how many jobs what has no end got here is read with just as many.
pub(in crate::scenario) fn comes_back(scenario: &Scenario) -> bool {
    if !scenario.threads.iter().any(|thread| thread.is_cut) {
        return false;
    }
    let mut again = scenario.clone();
    for thread in again.threads.iter_mut().filter(|thread| thread.is_cut) {
        (thread.iterations, thread.is_cut) = (None, false);
    }
    limit_jobs(&mut again).is_ok() && again.threads == scenario.threads
}

/// How many jobs are released before an instant \[ns\] that is not before the first.
fn jobs_before(end: u64, release: Duration, period: Duration) -> u64 {
    (end - release.as_ns()).div_ceil(period.as_ns().max(1))
}

/// Whether no more than [`MOST_JOBS`] jobs are released before an instant \[ns\].
fn are_few(threads: &[HostThread], end: u64) -> bool {
    let periodic = threads.iter().filter(|thread| repeats(thread));
    let count = periodic
        .map(|thread| Some(jobs_before(end, thread.release, thread.period?)))
        .try_fold(0_u64, |sum, jobs| sum.checked_add(jobs?));
    count.is_some_and(|count| count <= MOST_JOBS)
}

/// How long the longest chain may take whose jobs end by their deadlines and periods, whichever is later: each of them
/// waits for up to a period, and then runs (Davare et al., `docs/analysis.md`, "Chains"). `None`: too long.
fn longest_chain(scenario: &Scenario) -> Option<Duration> {
    let of_link = |link: &ChainLink| {
        let thread = scenario.threads.get(link.thread as usize)?;
        // Of one that others release each is taken to wait for a period, too.
        let period = scenario.timed(link.thread)?.period.unwrap_or_default();
        period.checked_add(period.max(thread.deadline().unwrap_or_default()))
    };
    let mut lengths = scenario.chains.iter().map(|chain| {
        chain.links.iter().map(of_link).try_fold(Duration::ZERO, |length, link| length.checked_add(link?))
    });
    lengths.try_fold(Duration::ZERO, |longest, length| Some(longest.max(length?)))
}

/// The instant one hyperperiod after the last release of a first job \[ns\], if it can be represented.
fn end_of_one(threads: &[HostThread]) -> Option<u64> {
    let mut periods = threads.iter().filter(|thread| repeats(thread)).filter_map(|thread| thread.period);
    let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
    let last = threads.iter().map(|thread| thread.release).max().unwrap_or_default();
    last.checked_add(hyperperiod).map(Duration::as_ns)
}
