//! A task as the cycle of its chunks.

use std::ops::Range;

use super::super::hyperperiod::hyperperiod;
use super::super::reservation::Reservation;
use super::super::task_set::Timing;
use super::super::task_time::TaskTime;
use super::super::unroll::{Chunk, Job, cycle, jobs};

/// Chunks of one task at most.
const MAX_CHUNKS: usize = 256;
/// Instants at which demand is looked at, at most.
const MAX_INSTANTS: usize = 20_000;

/// A task as its cycle of chunks, grouped by job.
#[derive(Debug)]
pub(in crate::tasks) struct Cycle {
    pub(in crate::tasks) wcet: TaskTime,
    /// After how long the chunks repeat.
    pub(in crate::tasks) period: TaskTime,
    pub(in crate::tasks) chunks: Vec<Chunk>,
    /// For each job, its range of chunks.
    pub(in crate::tasks) jobs: Vec<Range<usize>>,
}

pub(in crate::tasks) enum NoCycle {
    TooManyChunks,
    /// The chunks of a job are shorter than what it executes.
    NoService(Job),
}

impl Cycle {
    pub(in crate::tasks) fn new(task: &Timing, reservation: Reservation) -> Result<Self, NoCycle> {
        let period = cycle(task, reservation).filter(|&cycle| cycle / task.period <= MAX_CHUNKS as u64);
        let period = period.ok_or(NoCycle::TooManyChunks)?;
        let mut unrolled = Self { wcet: task.wcet, period, chunks: Vec::new(), jobs: Vec::new() };
        for job in jobs(task, period) {
            let first = unrolled.chunks.len();
            unrolled.chunks.extend(job.chunks(reservation).take(MAX_CHUNKS + 1 - first));
            if unrolled.chunks.len() > MAX_CHUNKS {
                return Err(NoCycle::TooManyChunks);
            }
            let served: TaskTime = unrolled.chunks[first..].iter().map(|chunk| chunk.length()).sum();
            if served < task.wcet {
                return Err(NoCycle::NoService(job));
            }
            unrolled.jobs.push(first..unrolled.chunks.len());
        }
        Ok(unrolled)
    }

    /// How long a window is that begins with one chunk and ends with the next end of another.
    pub(in crate::tasks) fn window(&self, first: usize, last: usize) -> TaskTime {
        let (first, last) = (self.chunks[first], self.chunks[last]);
        let around = if last.start >= first.start { TaskTime::ZERO } else { self.period };
        last.start + around - first.start + last.length()
    }
}

/// All t up to the hyperperiod at which the demand of some task can grow. With U <= 1 it suffices to look that far.
/// `None` if they are too many.
pub(in crate::tasks) fn instants(cycles: &[Cycle]) -> Option<Vec<TaskTime>> {
    let end = hyperperiod(cycles.iter().map(|cycle| cycle.period))?;
    let mut instants = Vec::new();
    for cycle in cycles {
        let chunks = || 0..cycle.chunks.len();
        let mut ends: Vec<TaskTime> =
            chunks().flat_map(|first| chunks().map(move |last| cycle.window(first, last))).collect();
        ends.sort_unstable();
        ends.dedup();
        for repeat in 0..end / cycle.period {
            instants.extend(ends.iter().map(|&t| t + repeat * cycle.period).filter(|&t| t <= end));
            if instants.len() > 50 * MAX_INSTANTS {
                return None;
            }
        }
    }
    instants.sort_unstable();
    instants.dedup();
    (instants.len() <= MAX_INSTANTS).then_some(instants)
}
