//! EDF in a reservation by the demand of unrolled tasks (RTNS 2020, Lemma 3, corrected; Stigge, Ekberg, Guan and Wang,
//! "The Digraph Real-Time Task Model", RTAS 2011), for small sets of synchronous periodic tasks.
//!
//! A task is the cycle of all chunks of all its jobs over the hyperperiod H of its releases and the reservation. What
//! each chunk of a split job executes is not known, only that it is at most the chunk's length and C in total. For one
//! such division, dbf*(t) is the largest, over the chunk v that comes first, of the sum over chunks v' of
//! max(0, floor((t - O~(v') - D(v') + H) / H)) C(v'), with O~(v') = (O(v') - O(v)) mod H (Eq. 12 with the unrolled
//! hyperperiod for T).
//!
//! The answer is yes if some division, into any parts of units, has dbf*(t) <= t for all t. That is sufficient: a
//! division that passes is a schedule of chunks inside the reservation, and EDF finds a schedule where there is one. It
//! is not necessary, whatever Lemma 3 says: it lets the tasks' cycles start against each other in any way, and
//! synchronous tasks do not. (1, 2, 2) and (1, 4, 4) in R(0, 4, 5) are feasible and refused.
//!
//! The demand of a task at t is the largest of sums that are linear in what its chunks execute, so the divisions that
//! pass are the solutions of linear inequalities, far too many to be written down. We begin with none of them and look
//! for the instant at which the division found demands most too much; what it violates there is added, until nothing is
//! violated or what was added contradicts itself.

mod inequalities;

use std::ops::Range;

use inequalities::{GivenUp, Inequalities, take_steps};

use super::chunks::{Chunk, Job, cycle, jobs};
use super::reservation::Reservation;
use super::task_set::Timing;
use super::task_time::{TaskTime, compare_utilization, hyperperiod};
use super::verdict::{Rejection, TaskVerdict};
use crate::limits::count_turn;

/// Additions at most: a fraction of a second.
const MAX_STEPS: u64 = 200_000_000;

/// Whether synchronous periodic tasks pass, and if not, why.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    let too_large = |what: &str| TaskVerdict::Unknown(format!("too large for this test: more than {what}"));
    let load = tasks.iter().map(Timing::load);
    if compare_utilization(load, std::iter::once((1, 1))).is_none_or(std::cmp::Ordering::is_gt) {
        let share = tasks.iter().map(Timing::utilization).sum();
        return TaskVerdict::No(Rejection::Utilization { share, supplied_share: 1.0 });
    }
    let mut cycles = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        match Cycle::new(task, reservation) {
            Ok(cycle) => cycles.push(cycle),
            Err(NoCycle::TooManyChunks) => return too_large("256 chunks in one task"),
            Err(NoCycle::NoService(job)) => {
                let reason = Rejection::NoService { task: index, release: job.release, deadline: job.deadline };
                return TaskVerdict::No(reason);
            }
        }
    }
    let Some(instants) = instants(&cycles) else { return too_large("20,000 instants") };
    match divide(&cycles, &instants, MAX_STEPS) {
        Ok(Ok(())) => TaskVerdict::Yes,
        Ok(Err(instants)) => TaskVerdict::No(Rejection::EveryDivision { instants }),
        Err(GivenUp) => too_large("200 million additions, or 127 bits, to divide execution times among chunks"),
    }
}

/// Chunks of one task at most.
const MAX_CHUNKS: usize = 256;
/// Instants at which demand is looked at, at most.
const MAX_INSTANTS: usize = 20_000;

/// A task as its cycle of chunks, grouped by job.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) wcet: TaskTime,
    /// After how long the chunks repeat.
    pub(super) period: TaskTime,
    pub(super) chunks: Vec<Chunk>,
    /// For each job, its range of chunks.
    pub(super) jobs: Vec<Range<usize>>,
}

pub(super) enum NoCycle {
    TooManyChunks,
    /// The chunks of a job are shorter than what it executes.
    NoService(Job),
}

impl Cycle {
    pub(super) fn new(task: &Timing, reservation: Reservation) -> Result<Self, NoCycle> {
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
    pub(super) fn window(&self, first: usize, last: usize) -> TaskTime {
        let (first, last) = (self.chunks[first], self.chunks[last]);
        let around = if last.start >= first.start { TaskTime::ZERO } else { self.period };
        last.start + around - first.start + last.length()
    }
}

/// All t up to the hyperperiod at which the demand of some task can grow. With U <= 1 it suffices to look that far.
/// `None` if they are too many.
pub(super) fn instants(cycles: &[Cycle]) -> Option<Vec<TaskTime>> {
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

/// What one chunk executes.
#[derive(Clone, Copy)]
enum Share {
    /// Its job has no choice.
    Fixed(TaskTime),
    /// The unknown of that number.
    Unknown(usize),
}

/// The tasks, and the instants at which their demand is looked at.
struct Demands<'a> {
    cycles: &'a [Cycle],
    instants: &'a [TaskTime],
    /// By task, then chunk.
    shares: Vec<Vec<Share>>,
    /// Steps that may still be taken.
    steps: u64,
}

/// The window of each task that demands most at an instant.
struct Excess {
    /// Number of the instant.
    at: usize,
    /// By task, the chunk with which the window begins.
    first: Vec<usize>,
}

/// Whether some division passes, any parts of units allowed; if none does, instants at which no division does at once.
/// Takes up to `steps`, each about an addition.
fn divide(cycles: &[Cycle], instants: &[TaskTime], steps: u64) -> Result<Result<(), Vec<TaskTime>>, GivenUp> {
    let mut jobs = Vec::new();
    let mut shares = Vec::with_capacity(cycles.len());
    let mut unknowns = 0;
    for cycle in cycles {
        let mut of_task = Vec::with_capacity(cycle.chunks.len());
        for job in &cycle.jobs {
            let lengths = || cycle.chunks[job.clone()].iter().map(|chunk| chunk.length());
            if job.len() == 1 {
                of_task.push(Share::Fixed(cycle.wcet));
            } else if lengths().sum::<TaskTime>() == cycle.wcet {
                of_task.extend(lengths().map(Share::Fixed));
            } else {
                let own = unknowns..unknowns + job.len();
                of_task.extend(own.clone().map(Share::Unknown));
                unknowns = own.end;
                jobs.push((cycle.wcet, own));
            }
        }
        shares.push(of_task);
    }
    let mut inequalities = Inequalities::new(unknowns);
    // At least C and not just C: demand does not fall when a chunk executes more.
    for (wcet, own) in &jobs {
        inequalities.add(-whole(*wcet), own.clone().map(|unknown| (1, unknown)))?;
    }
    let mut demands = Demands { cycles, instants, shares, steps };
    let mut looked_at = Vec::new();
    loop {
        count_turn();
        if let Err(excluded) = inequalities.solve(&mut demands.steps)? {
            let mut excluded: Vec<TaskTime> = excluded
                .into_iter()
                .filter_map(|inequality| looked_at.get(inequality.checked_sub(jobs.len())?).copied())
                .collect();
            excluded.sort_unstable();
            excluded.dedup();
            return Ok(Err(excluded));
        }
        let (values, denominator) = inequalities.values()?;
        let Some(excess) = demands.largest_excess(&values, denominator)? else { return Ok(Ok(())) };
        let (constant, sum) = demands.inequality(&excess)?;
        inequalities.add(constant, sum)?;
        looked_at.push(instants[excess.at]);
    }
}

impl Demands<'_> {
    /// Where tasks whose unknowns have these values demand most too much.
    fn largest_excess(&mut self, values: &[i128], denominator: i128) -> Result<Option<Excess>, GivenUp> {
        let mut excess: Vec<i128> = Vec::with_capacity(self.instants.len());
        for &instant in self.instants {
            excess.push(-whole(instant).checked_mul(denominator).ok_or(GivenUp)?);
        }
        let mut firsts = Vec::with_capacity(self.cycles.len());
        for (cycle, shares) in self.cycles.iter().zip(&self.shares) {
            let mut executing = Vec::with_capacity(shares.len());
            for (chunk, &share) in shares.iter().enumerate() {
                let work = match share {
                    Share::Fixed(work) => whole(work).checked_mul(denominator).ok_or(GivenUp)?,
                    Share::Unknown(unknown) => values[unknown],
                };
                // A window that begins with a chunk that executes nothing demands no more than the next one.
                executing.extend((work > 0).then_some((chunk, work)));
            }
            let additions = (executing.len() * executing.len() * self.instants.len()) as u64;
            take_steps(&mut self.steps, additions)?;
            let mut most: Vec<(i128, usize)> = vec![(0, 0); self.instants.len()];
            for &(first, _) in &executing {
                let mut demand = vec![0_i128; self.instants.len()];
                for &(last, work) in &executing {
                    for (at, times) in self.counts(cycle, first, last) {
                        let more = work.checked_mul(times).ok_or(GivenUp)?;
                        demand[at] = demand[at].checked_add(more).ok_or(GivenUp)?;
                    }
                }
                for (most, demand) in most.iter_mut().zip(demand) {
                    if demand > most.0 {
                        *most = (demand, first);
                    }
                }
            }
            for (excess, &(demand, _)) in excess.iter_mut().zip(&most) {
                *excess = excess.checked_add(demand).ok_or(GivenUp)?;
            }
            firsts.push(most);
        }
        let largest = excess.iter().enumerate().filter(|(_, excess)| **excess > 0).max_by_key(|(_, excess)| **excess);
        Ok(largest.map(|(at, _)| Excess { at, first: firsts.iter().map(|most| most[at].1).collect() }))
    }

    /// How often a window that begins with chunk `first` holds chunk `last`, by the number of each instant at which it
    /// does.
    fn counts(&self, cycle: &Cycle, first: usize, last: usize) -> impl Iterator<Item = (usize, i128)> {
        let mut next = cycle.window(first, last);
        let mut times = 0;
        (self.instants.partition_point(|&t| t < next)..self.instants.len()).map(move |at| {
            while self.instants[at] >= next {
                count_turn();
                times += 1;
                next += cycle.period;
            }
            (at, times)
        })
    }

    /// What is left at the instant by the windows that demand most: what is fixed, and the unknowns.
    fn inequality(&self, excess: &Excess) -> Result<(i128, Vec<(i128, usize)>), GivenUp> {
        let instant = self.instants[excess.at];
        let mut constant = whole(instant);
        let mut sum = Vec::new();
        for ((cycle, shares), &first) in self.cycles.iter().zip(&self.shares).zip(&excess.first) {
            for (last, &share) in shares.iter().enumerate() {
                let Some(since) = instant.checked_sub(cycle.window(first, last)) else { continue };
                let times = i128::from(since / cycle.period) + 1;
                match share {
                    Share::Fixed(work) => {
                        let demand = times.checked_mul(whole(work)).ok_or(GivenUp)?;
                        constant = constant.checked_sub(demand).ok_or(GivenUp)?;
                    }
                    Share::Unknown(unknown) => sum.push((-times, unknown)),
                }
            }
        }
        Ok((constant, sum))
    }
}

fn whole(time: TaskTime) -> i128 {
    i128::from(time.units())
}
