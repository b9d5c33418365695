//! EDF in a reservation by chunks (RTNS 2020, Definitions 1 and 2, Theorem 4), for synchronous periodic tasks.
//!
//! Each job keeps its longest chunk, the earliest of equal ones, and has to be done within it. The task becomes a
//! sporadic one with D' the shortest chunk kept and T' the smallest distance between the starts of chunks kept, across
//! the end of the hyperperiod too; the test is dbf'(t) <= t. Sufficient: whoever is done within the chunks kept runs
//! inside the reservation and in time, and EDF finds a schedule where there is one.

use super::demand;
use super::reservation::{Dedicated, Reservation};
use super::task_set::Timing;
use super::task_time::{TaskTime, hyperperiod};
use super::verdict::{Rejection, TaskVerdict};
use crate::effort::{self, Counted};
use crate::limits::{count_turn, end_if_stopped};

/// Jobs of one task that are unrolled at most.
const MAX_JOBS: u64 = 5_000_000;

/// Definition 2: (C, T', D') of one task.
///
/// # Errors
/// The verdict that ends the test: a job without any chunk, or too many jobs. The task is number 0 in it.
pub fn converted(task: &Timing, reservation: Reservation) -> Result<Timing, TaskVerdict> {
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
    test_converted(tasks, |task| converted(task, reservation).map(Some))
}

/// What Theorem 4 says of the chunks that Algorithm 1 leaves, read literally. Unsound, for comparison only: a yes
/// proves nothing.
///
/// Algorithm 1 makes a chunk of each overlap of a job with an instance of the reservation. A job that overlaps none
/// leaves no chunk behind, and nothing after it (Definitions 1 and 2, Theorem 4) asks what became of that job: C is
/// demanded of the other jobs only. [`test()`] refuses such a set. If each job has a chunk, the two agree.
pub(super) fn test_as_printed(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    test_converted(tasks, |task| Ok(of_chunks_kept(task, reservation)?.0))
}

/// Whether the converted tasks ask for no more than there is; `convert` may leave one out, or end the test.
fn test_converted(tasks: &[Timing], convert: impl Fn(&Timing) -> Result<Option<Timing>, TaskVerdict>) -> TaskVerdict {
    let mut all_converted = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        match convert(task) {
            Ok(converted) => all_converted.extend(converted),
            Err(verdict) => return verdict.renumbered(&[index]),
        }
    }
    demand::within(&all_converted, &Dedicated)
}

/// Part of one instance of a reservation that lies between release and deadline of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) start: TaskTime,
    pub(super) end: TaskTime,
}

impl Chunk {
    pub(super) fn length(self) -> TaskTime {
        self.end - self.start
    }
}

/// A job with its release and absolute deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) release: TaskTime,
    pub(super) deadline: TaskTime,
}

impl Job {
    pub(super) fn chunks(self, reservation: Reservation) -> impl Iterator<Item = Chunk> {
        let served = reservation.served(self.release, self.deadline).inspect(|_| count_turn());
        served.map(|(start, end)| Chunk { start, end })
    }
}

/// After what time releases of a task and the reservation repeat; `None` if that does not fit 62 bits.
pub(super) fn cycle(task: &Timing, reservation: Reservation) -> Option<TaskTime> {
    hyperperiod([task.period, reservation.period])
}

/// The jobs of a synchronous periodic task that are released in [0, `end`).
pub(super) fn jobs(task: &Timing, end: TaskTime) -> impl Iterator<Item = Job> + use<> {
    let Timing { period, deadline, .. } = *task;
    let job = move |job| Job { release: job * period, deadline: job * period + deadline };
    (0..end.div_ceil(period)).inspect(|_| end_if_stopped()).map(job)
}
