//! EDF in a reservation by the demand of unrolled tasks (RTNS 2020, Lemma 3, corrected; Stigge, Ekberg, Guan and Wang,
//! "The Digraph Real-Time Task Model", RTAS 2011), for small sets of synchronous periodic tasks.
//!
//! A task is the cycle of all chunks of all its jobs over the hyperperiod H of its releases and the reservation. What
//! each chunk of a split job executes is not known, only that it is at most the chunk's length and C in total. For one
//! such division, dbf*(t) is the largest, over the chunk v that comes first, of the sum over chunks v' of
//! max(0, floor((t - O~(v') - D(v') + H) / H)) C(v'), with O~(v') = (O(v') - O(v)) mod H (Eq. 12 with the unrolled
//! hyperperiod for T).
//!
//! The answer is yes if some division into whole units has dbf*(t) <= t for all t. That is sufficient: a division that
//! passes is a schedule of chunks inside the reservation, and EDF finds a schedule where there is one. It is not
//! necessary, whatever Lemma 3 says: it lets the tasks' cycles start against each other in any way, and synchronous
//! tasks do not. (1, 3, 3) twice in R(0, 3, 4) is feasible and refused.

use super::hyperperiod::hyperperiod;
use super::reservation::Reservation;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::unroll::{Chunk, cycle, jobs};
use super::utilization::compare_utilization;
use super::verdict::{Rejection, TaskVerdict};

/// Chunks of one task at most.
const MAX_CHUNKS: usize = 256;
/// Instants at which demand is looked at, at most.
const MAX_INSTANTS: usize = 20_000;
/// Divisions of execution times tried, at most.
const MAX_DIVISIONS: u64 = 100_000;
/// Steps in total, at most: some seconds.
const MAX_STEPS: u64 = 400_000_000;

/// A task as its cycle of chunks, grouped by job.
struct Cycle {
    wcet: TaskTime,
    period: TaskTime,
    chunks: Vec<Chunk>,
    /// For each job, its range of chunks.
    jobs: Vec<std::ops::Range<usize>>,
}

/// Whether synchronous periodic tasks pass, and if not, why.
#[must_use]
pub fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    let too_large = |what: &str| TaskVerdict::Unknown(format!("too large for this test: more than {what}"));
    let load = tasks.iter().map(|task| task.load());
    if compare_utilization(load, std::iter::once((1, 1))).is_none_or(std::cmp::Ordering::is_gt) {
        let share = tasks.iter().map(|task| task.utilization()).sum();
        return TaskVerdict::No(Rejection::Utilization { share, supplied_share: 1.0 });
    }
    let mut cycles = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let Some(period) = cycle(task, reservation).filter(|&cycle| cycle / task.period <= MAX_CHUNKS as u64) else {
            return too_large("256 chunks in one task");
        };
        let mut unrolled = Cycle { wcet: task.wcet, period, chunks: Vec::new(), jobs: Vec::new() };
        for job in jobs(task, period) {
            let first = unrolled.chunks.len();
            unrolled.chunks.extend(job.chunks(reservation).take(MAX_CHUNKS + 1 - first));
            if unrolled.chunks.len() > MAX_CHUNKS {
                return too_large("256 chunks in one task");
            }
            let served: TaskTime = unrolled.chunks[first..].iter().map(|chunk| chunk.length()).sum();
            if served < task.wcet {
                let reason = Rejection::NoService { task: index, release: job.release, deadline: job.deadline };
                return TaskVerdict::No(reason);
            }
            unrolled.jobs.push(first..unrolled.chunks.len());
        }
        cycles.push(unrolled);
    }
    let Some(instants) = instants(&cycles) else { return too_large("20,000 instants") };
    let mut search = Search { cycles: &cycles, instants: &instants, divisions: 0, steps: 0 };
    match search.passes(0, &vec![TaskTime::ZERO; instants.len()]) {
        Some(true) => TaskVerdict::Yes,
        Some(false) => TaskVerdict::No(Rejection::EveryDivision { tried: search.divisions }),
        None => too_large("100,000 divisions of execution times"),
    }
}

/// All t up to the hyperperiod at which the demand of some task can grow. With U <= 1 it suffices to look that far.
fn instants(cycles: &[Cycle]) -> Option<Vec<TaskTime>> {
    let end = hyperperiod(cycles.iter().map(|cycle| cycle.period))?;
    let mut instants = Vec::new();
    for cycle in cycles {
        let mut ends: Vec<TaskTime> = Vec::new();
        for (first, then) in cycle.pairs() {
            ends.push(cycle.distance(first, then) + then.length());
        }
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

impl Cycle {
    fn pairs(&self) -> impl Iterator<Item = (Chunk, Chunk)> {
        self.chunks.iter().flat_map(|&first| self.chunks.iter().map(move |&then| (first, then)))
    }

    /// From the start of one chunk to the next start of another.
    fn distance(&self, first: Chunk, then: Chunk) -> TaskTime {
        if then.start >= first.start { then.start - first.start } else { then.start + self.period - first.start }
    }

    /// dbf* at each instant when the chunks execute `work`.
    fn demand(&self, work: &[TaskTime], instants: &[TaskTime]) -> Vec<TaskTime> {
        let mut demand = vec![TaskTime::ZERO; instants.len()];
        for (&first, _) in self.chunks.iter().zip(work).filter(|(_, work)| **work > TaskTime::ZERO) {
            let ends: Vec<(TaskTime, TaskTime)> = self
                .chunks
                .iter()
                .zip(work)
                .filter(|(_, work)| **work > TaskTime::ZERO)
                .map(|(&then, &work)| (self.distance(first, then) + then.length(), work))
                .collect();
            for (most, &t) in demand.iter_mut().zip(instants) {
                let count = |end: TaskTime| t.checked_sub(end).map_or(0, |since| since / self.period + 1);
                *most = (*most).max(ends.iter().map(|&(end, work)| count(end) * work).sum());
            }
        }
        demand
    }

    /// The next way to divide every job's C among its chunks, in some fixed order; false after the last.
    fn next_division(&self, work: &mut [TaskTime]) -> bool {
        for job in &self.jobs {
            if self.advance(job.clone(), work) {
                return true;
            }
            self.pack(job.clone(), self.wcet, work);
        }
        false
    }

    /// The lexicographically next smaller division of one job; false if there is none.
    fn advance(&self, job: std::ops::Range<usize>, work: &mut [TaskTime]) -> bool {
        let room = |at: usize, work: &[TaskTime]| self.chunks[at].length() - work[at];
        let mut room_behind = TaskTime::ZERO;
        let mut work_behind = TaskTime::ZERO;
        for at in job.clone().rev() {
            if work[at] > TaskTime::ZERO && room_behind > TaskTime::ZERO {
                work[at] -= TaskTime::UNIT;
                self.pack(at + 1..job.end, work_behind + TaskTime::UNIT, work);
                return true;
            }
            room_behind += room(at, work);
            work_behind += work[at];
        }
        false
    }

    /// Puts `amount` into the first chunks that have room for it.
    fn pack(&self, chunks: std::ops::Range<usize>, mut amount: TaskTime, work: &mut [TaskTime]) {
        for at in chunks {
            work[at] = amount.min(self.chunks[at].length());
            amount -= work[at];
        }
    }
}

/// Depth-first over the tasks, one division each, as long as the demand so far passes.
struct Search<'a> {
    cycles: &'a [Cycle],
    instants: &'a [TaskTime],
    divisions: u64,
    steps: u64,
}

impl Search<'_> {
    /// Whether the tasks from number `task` on can be divided so that all pass on top of `demand`; `None`: given up.
    fn passes(&mut self, task: usize, demand: &[TaskTime]) -> Option<bool> {
        let Some(cycle) = self.cycles.get(task) else { return Some(true) };
        let mut work = vec![TaskTime::ZERO; cycle.chunks.len()];
        for job in &cycle.jobs {
            cycle.pack(job.clone(), cycle.wcet, &mut work);
        }
        loop {
            self.divisions += 1;
            self.steps += (cycle.chunks.len() * cycle.chunks.len() * self.instants.len()) as u64;
            if self.divisions > MAX_DIVISIONS || self.steps > MAX_STEPS {
                return None;
            }
            let own = cycle.demand(&work, self.instants);
            let sum: Vec<TaskTime> = demand.iter().zip(own).map(|(&others, own)| others + own).collect();
            let fits = sum.iter().zip(self.instants).all(|(demand, t)| demand <= t);
            if fits && self.passes(task + 1, &sum)? {
                return Some(true);
            }
            if !cycle.next_division(&mut work) {
                return Some(false);
            }
        }
    }
}
