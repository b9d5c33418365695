//! How often what is periodic without end is released in a run without a horizon: for one hyperperiod.

use super::endless::{Endless, MOST_JOBS};
use super::model::{HostThread, Scenario};
use crate::spelling::option;
use crate::time::Duration;

/// Whether it is released every period without end, and waits for no other host first.
fn repeats(thread: &HostThread) -> bool {
    thread.period.is_some() && thread.iterations.is_none() && !thread.may_end_early() && thread.barrier.is_none()
}

/// Gives every thread that is periodic without end the jobs that are released within one hyperperiod from the last
/// release of a first job on, with a note that says so, if all others have a single job: beside one that says how many
/// it has, nobody knows for how long another is wanted.
///
/// # Errors
/// [`Endless::ManyJobs`] with the number of a thread, if these are too many jobs.
pub(super) fn limit_jobs(scenario: &mut Scenario) -> Result<(), (usize, Endless)> {
    let is_single = |thread: &HostThread| thread.iterations == Some(1);
    let Some(first) = scenario.threads.iter().position(repeats).filter(|_| scenario.horizon.is_none()) else {
        return Ok(());
    };
    if !scenario.threads.iter().all(|thread| repeats(thread) || is_single(thread)) {
        return Ok(());
    }
    let too_many = (first, Endless::ManyJobs);
    let end = end_of_one(&scenario.threads).ok_or(too_many.clone())?;
    let jobs = |release: Duration, period: Duration| (end - release.as_ns()).div_ceil(period.as_ns().max(1));
    let periodic = scenario.threads.iter().filter(|thread| repeats(thread));
    let count = periodic
        .map(|thread| Some(jobs(thread.release, thread.period?)))
        .try_fold(0_u64, |sum, jobs| sum.checked_add(jobs?));
    if count.is_none_or(|count| count > MOST_JOBS) {
        return Err(too_many);
    }
    for thread in scenario.threads.iter_mut().filter(|thread| repeats(thread)) {
        thread.iterations = thread.period.map(|period| jobs(thread.release, period));
        thread.is_cut = true;
    }
    let note = format!(
        "what is periodic without end is released before {}, one hyperperiod after the last first release; {} sets \
         another end",
        Duration::from_ns(end),
        option("horizon").with("TIME")
    );
    scenario.notes.push(note);
    Ok(())
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

/// The instant one hyperperiod after the last release of a first job \[ns\], if it can be represented.
fn end_of_one(threads: &[HostThread]) -> Option<u64> {
    let mut periods = threads.iter().filter(|thread| repeats(thread)).filter_map(|thread| thread.period);
    let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
    let last = threads.iter().map(|thread| thread.release).max().unwrap_or_default();
    last.checked_add(hyperperiod).map(Duration::as_ns)
}
