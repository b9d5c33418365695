//! The search for a division of execution times among chunks that demands no more than there is.

use std::ops::Range;

use super::super::task_time::TaskTime;
use super::cycle::Cycle;
use crate::effort::{self, Counted};

/// Sums that are kept at most, for each chunk of each task at each instant: some hundred megabytes.
const MAX_SUMS: usize = 20_000_000;

/// Depth-first over the jobs of all tasks, as long as what is demanded so far passes.
pub(in crate::tasks) struct Search<'a> {
    cycles: &'a [Cycle],
    instants: &'a [TaskTime],
    /// Of all tasks together, at each instant: what those before the present one demand, what it demands at least, and
    /// what those behind it demand at least.
    demand: Vec<TaskTime>,
    /// Divisions of single jobs that were tried.
    divisions: u64,
    /// Additions that may still be made.
    steps: u64,
    /// Sums that are kept now.
    sums: usize,
}

/// The windows of one task: what it demands in them, at least, with the jobs so far divided.
struct Windows {
    /// For each chunk that a window may begin with, at each instant.
    demand: Vec<Vec<TaskTime>>,
    /// For each of those, the division of all jobs that demands least in its windows.
    least: Vec<Vec<TaskTime>>,
}

/// The search would take too long.
pub(in crate::tasks) struct GivenUp;

impl<'a> Search<'a> {
    /// A search that adds up to `steps` times.
    pub(in crate::tasks) fn new(cycles: &'a [Cycle], instants: &'a [TaskTime], steps: u64) -> Self {
        Self { cycles, instants, demand: vec![TaskTime::ZERO; instants.len()], divisions: 0, steps, sums: 0 }
    }

    /// Whether some division passes; and how many of single jobs were tried.
    pub(in crate::tasks) fn run(mut self) -> Result<(bool, u64), GivenUp> {
        for cycle in self.cycles {
            let least = self.windows(cycle)?.most(self.instants.len());
            for (demand, least) in self.demand.iter_mut().zip(least) {
                *demand += least;
            }
        }
        let found = self.passes() && self.task(0)?;
        Ok((found, self.divisions))
    }

    fn spend(&mut self, steps: usize) -> Result<(), GivenUp> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(GivenUp)?;
        // Additions are what is done fastest.
        effort::spend(Counted::States, steps as u64 / 128).map_err(|_| GivenUp)
    }

    fn passes(&self) -> bool {
        self.demand.iter().zip(self.instants).all(|(demand, t)| demand <= t)
    }

    /// A task of which no job is divided yet. A window demands least of a job if the job executes as late as it can,
    /// counted from the beginning of the window: what ends later counts at fewer instants.
    fn windows(&mut self, cycle: &Cycle) -> Result<Windows, GivenUp> {
        let chunks = cycle.chunks.len();
        self.spend(chunks * chunks * self.instants.len())?;
        let mut windows = Windows { demand: Vec::with_capacity(chunks), least: Vec::with_capacity(chunks) };
        for first in 0..chunks {
            let mut work = vec![TaskTime::ZERO; chunks];
            for job in &cycle.jobs {
                let mut latest: Vec<usize> = job.clone().collect();
                latest.sort_by_key(|&last| std::cmp::Reverse(cycle.window(first, last)));
                cycle.pack(latest, cycle.wcet, &mut work);
            }
            let mut demand = vec![TaskTime::ZERO; self.instants.len()];
            for (last, &work) in work.iter().enumerate() {
                self.count(cycle, first, last, |at, times| demand[at] += times * work);
            }
            windows.demand.push(demand);
            windows.least.push(work);
        }
        Ok(windows)
    }

    /// Calls `each` with the number of every instant at which a window that begins with chunk `first` holds chunk `last`,
    /// and how often.
    fn count(&self, cycle: &Cycle, first: usize, last: usize, mut each: impl FnMut(usize, u64)) {
        let mut next = cycle.window(first, last);
        let mut times = 0;
        for at in self.instants.partition_point(|&t| t < next)..self.instants.len() {
            while self.instants[at] >= next {
                times += 1;
                next += cycle.period;
            }
            each(at, times);
        }
    }

    /// Whether the tasks from number `task` on can be divided so that all pass.
    fn task(&mut self, task: usize) -> Result<bool, GivenUp> {
        let Some(cycle) = self.cycles.get(task) else { return Ok(true) };
        let is_free = |job: &&Range<usize>| {
            let room: TaskTime = cycle.chunks[(*job).clone()].iter().map(|chunk| chunk.length()).sum();
            job.len() > 1 && room > cycle.wcet
        };
        let jobs: Vec<&Range<usize>> = cycle.jobs.iter().filter(is_free).collect();
        if jobs.is_empty() {
            return self.task(task + 1);
        }
        let sums = cycle.chunks.len() * self.instants.len();
        if self.sums + sums > MAX_SUMS {
            return Err(GivenUp);
        }
        self.sums += sums;
        let mut windows = self.windows(cycle)?;
        let found = self.jobs(task, cycle, &jobs, &mut windows);
        self.sums -= sums;
        found
    }

    /// Whether the given jobs of a task, and the tasks behind it, can be divided so that all pass. What was changed for
    /// it is as before where they cannot.
    fn jobs(
        &mut self,
        task: usize,
        cycle: &Cycle,
        jobs: &[&Range<usize>],
        windows: &mut Windows,
    ) -> Result<bool, GivenUp> {
        let Some((&job, others)) = jobs.split_first() else { return self.task(task + 1) };
        let before = windows.most(self.instants.len());
        let demand_before = self.demand.clone();
        let mut work = vec![TaskTime::ZERO; cycle.chunks.len()];
        cycle.pack(job.clone(), cycle.wcet, &mut work);
        loop {
            self.divisions += 1;
            self.spend(2 * cycle.chunks.len() * job.len() * self.instants.len())?;
            self.divide(cycle, job, &work, windows, false);
            let now = windows.most(self.instants.len());
            for ((demand, now), before) in self.demand.iter_mut().zip(now).zip(&before) {
                *demand += now - *before;
            }
            if self.passes() && self.jobs(task, cycle, others, windows)? {
                return Ok(true);
            }
            self.demand.clone_from(&demand_before);
            self.divide(cycle, job, &work, windows, true);
            if !cycle.advance(job, &mut work) {
                return Ok(false);
            }
        }
    }

    /// A job is divided so, in place of the division that demands least; or the other way round.
    fn divide(&self, cycle: &Cycle, job: &Range<usize>, work: &[TaskTime], windows: &mut Windows, back: bool) {
        for (first, (demand, least)) in windows.demand.iter_mut().zip(&windows.least).enumerate() {
            let (from, to) = if back { (work, &least[..]) } else { (&least[..], work) };
            // First what is more, so that no sum falls below zero.
            for last in job.clone().filter(|&last| to[last] > from[last]) {
                let more = to[last] - from[last];
                self.count(cycle, first, last, |at, times| demand[at] += times * more);
            }
            for last in job.clone().filter(|&last| to[last] < from[last]) {
                let less = from[last] - to[last];
                self.count(cycle, first, last, |at, times| demand[at] -= times * less);
            }
        }
    }
}

impl Windows {
    /// At each of so many instants, the most over all windows.
    fn most(&self, instants: usize) -> Vec<TaskTime> {
        let mut most = vec![TaskTime::ZERO; instants];
        for demand in &self.demand {
            for (most, &demand) in most.iter_mut().zip(demand) {
                *most = demand.max(*most);
            }
        }
        most
    }
}
