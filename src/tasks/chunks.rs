//! EDF in a reservation by chunks (RTNS 2020, Definitions 1 and 2, Theorem 4), for synchronous periodic tasks.
//!
//! Each job keeps its longest chunk, the earliest of equal ones, and has to be done within it. The task becomes a
//! sporadic one with D' the shortest chunk kept and T' the smallest distance between the starts of chunks kept, across
//! the end of the hyperperiod too; the test is dbf'(t) <= t. Sufficient: whoever is done within the chunks kept runs
//! inside the reservation and in time, and EDF finds a schedule where there is one.

use super::blocking::Blocking;
use super::processor_demand;
use super::reservation::Reservation;
use super::supply::Dedicated;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::unroll::{Chunk, Job, cycle, jobs};
use super::verdict::{Rejection, TaskVerdict};
use crate::effort::{self, Counted};

/// Jobs of one task that are unrolled at most.
const MAX_JOBS: u64 = 5_000_000;

/// Definition 2: (C, T', D') of one task.
///
/// # Errors
/// The verdict that ends the test: a job without any chunk, or too many jobs. The task is number 0 in it.
pub(crate) fn converted(task: &Timing, reservation: Reservation) -> Result<Timing, TaskVerdict> {
    let (task, without_chunk) = of_chunks_kept(task, reservation)?;
    match (task, without_chunk) {
        (_, Some(Job { release, deadline })) => {
            Err(TaskVerdict::No(Rejection::NoService { task: 0, release, deadline }))
        }
        (Some(task), None) => Ok(task),
        // A cycle has a job, and each has a chunk.
        (None, None) => Err(TaskVerdict::Unknown("there is no job to unroll".to_owned())),
    }
}

/// (C, T', D') from the chunks that the jobs keep, `None` if there are none at all; and the first job that has none.
///
/// # Errors
/// The verdict that ends the test: too many jobs.
pub(super) fn of_chunks_kept(
    task: &Timing,
    reservation: Reservation,
) -> Result<(Option<Timing>, Option<Job>), TaskVerdict> {
    let cycle = cycle(task, reservation).filter(|&cycle| cycle / task.period <= MAX_JOBS).ok_or_else(|| {
        TaskVerdict::Unknown("more than 5 million jobs of one task would have to be unrolled".to_owned())
    })?;
    effort::spend(Counted::States, cycle / task.period).map_err(|over| TaskVerdict::Unknown(over.to_string()))?;
    let (mut shortest, mut closest) = (TaskTime::MAX, TaskTime::MAX);
    let (mut first_start, mut last_start) = (None, TaskTime::ZERO);
    let mut without_chunk = None;
    for job in jobs(task, cycle) {
        let Some(kept) = longest(job.chunks(reservation), reservation.budget) else {
            without_chunk = without_chunk.or(Some(job));
            continue;
        };
        shortest = shortest.min(kept.length());
        if first_start.is_some() {
            closest = closest.min(kept.start - last_start);
        }
        first_start = first_start.or(Some(kept.start));
        last_start = kept.start;
    }
    let kept = first_start.map(|first| {
        let around_the_end = first + cycle - last_start;
        Timing { wcet: task.wcet, period: closest.min(around_the_end), deadline: shortest }
    });
    Ok((kept, without_chunk))
}

/// The longest chunk, the earliest of equal ones; none can be longer than the budget.
fn longest(chunks: impl Iterator<Item = Chunk>, budget: TaskTime) -> Option<Chunk> {
    let mut longest: Option<Chunk> = None;
    for chunk in chunks {
        if longest.is_none_or(|longest| chunk.length() > longest.length()) {
            longest = Some(chunk);
        }
        if chunk.length() == budget {
            break;
        }
    }
    longest
}

/// Whether synchronous periodic tasks meet their deadlines under EDF in `reservation`, and if not, why. Instants,
/// demand and supply in the reason are those of the converted tasks.
pub(crate) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    let mut all_converted = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        match converted(task, reservation) {
            Ok(task) => all_converted.push(task),
            Err(verdict) => return verdict.renumbered(&[index]),
        }
    }
    processor_demand::verdict(&all_converted, &Dedicated, &Blocking::default(), 1)
}
