//! Whether execution times can be divided among chunks so that no more is demanded than there is.
//!
//! The demand of a task at t is the largest of sums that are linear in what its chunks execute, so the divisions that
//! pass are the solutions of linear inequalities, far too many to be written down. We begin with none of them and look
//! for the instant at which the division found demands most too much; what it violates there is added, until nothing is
//! violated or what was added contradicts itself.

use super::super::task_time::TaskTime;
use super::cycle::Cycle;
use super::inequalities::{GivenUp, Inequalities, take_steps};
use crate::limits::count_turn;

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
pub(super) fn divide(
    cycles: &[Cycle],
    instants: &[TaskTime],
    steps: u64,
) -> Result<Result<(), Vec<TaskTime>>, GivenUp> {
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
