//! The busy window of a job, for any GPU and any rules: `docs/analysis.md`, "Releases that are not given".

use super::model::{SporadicRefusal, Task, Tasks, Work};
use crate::analysis::safe_bound::{ONE, Weights};

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Lengths of a window that are tried.
const MOST_STEPS: u32 = 100_000;

/// Bounds the response of every task, from the arrival of a job to the end of its last operation \[ns\].
pub(super) fn responses(tasks: &Tasks, weights: &Weights<'_>, sms: u64) -> Result<Vec<u64>, SporadicRefusal> {
    let windows: Vec<Vec<Vec<u64>>> = tasks.tasks.iter().map(|task| choices(tasks, weights, task)).collect();
    // Every response takes its jitter at least; a bound only grows when another does.
    let mut responses: Vec<u64> = tasks.tasks.iter().map(|task| task.jitter).collect();
    for _ in 0..MOST_ROUNDS {
        let mut grew = false;
        for index in 0..tasks.tasks.len() {
            let task = &tasks.tasks[index];
            let beyond = || SporadicRefusal::BeyondPeriod { thread: task.label.clone() };
            let bound = windows[index].iter().filter_map(|weighed| {
                let window = Window { tasks, task: index, weighed, responses: &responses, weights, sms };
                (0..task.operations.len()).try_fold(task.jitter, |most, last| Some(most.max(window.response(last)?)))
            });
            let bound = bound.min().filter(|bound| *bound <= task.period).ok_or_else(beyond)?;
            if bound > responses[index] {
                responses[index] = bound;
                grew = true;
            }
        }
        if !grew {
            return Ok(responses);
        }
    }
    let label = tasks.tasks.first().map_or(String::new(), |task| task.label.clone());
    Err(SporadicRefusal::BeyondPeriod { thread: label })
}

/// Choices of weights for the heads that can hold a job of `task`, each of which gives a bound.
fn choices(tasks: &Tasks, weights: &Weights<'_>, task: &Task) -> Vec<Vec<u64>> {
    let level = lowest_level(tasks, task);
    let mut work = vec![0_u128; tasks.classes.len()];
    let mut heads = vec![false; tasks.classes.len()];
    for other in &tasks.tasks {
        for operation in &other.operations {
            if let Work::Kernel { class, blocks, block_time } = operation.work {
                // What the class adds in a given time, but for a factor.
                work[class] +=
                    u128::from(blocks) * u128::from(block_time) * (1 << 40) / u128::from(other.period.max(1));
                heads[class] |= other.highest <= level;
            }
        }
    }
    let mut order: Vec<usize> = (0..tasks.classes.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(work[class]));
    let many = vec![u64::MAX; tasks.classes.len()];
    let first = weights.lowered(&order, &heads, &many);
    order.reverse();
    vec![first, weights.lowered(&order, &heads, &many)]
}

/// The lowest priority of what a job can have to wait for, itself included.
fn lowest_level(tasks: &Tasks, task: &Task) -> usize {
    let coupled = tasks.tasks.iter().filter(|other| task.coupled && other.coupled);
    coupled.map(|other| other.lowest).fold(task.lowest, usize::max)
}

struct Window<'a> {
    tasks: &'a Tasks,
    task: usize,
    weighed: &'a [u64],
    responses: &'a [u64],
    weights: &'a Weights<'a>,
    sms: u64,
}

impl Window<'_> {
    /// The bound on the end of operation `last` of the job, from its arrival.
    fn response(&self, last: usize) -> Option<u64> {
        let task = &self.tasks.tasks[self.task];
        let own = match task.operations[last].work {
            Work::Kernel { block_time, .. } => block_time,
            Work::Copy(time) => time,
            Work::Memset => 0,
        };
        let most = task.period.checked_sub(own)?.checked_sub(task.jitter)?;
        let mut window = 0;
        for _ in 0..MOST_STEPS {
            let covered = self.covered(last, window)?;
            if covered <= window {
                return Some(task.jitter + window + own);
            }
            // More than the period is of no use.
            window = Some(covered).filter(|covered| *covered <= most)?;
        }
        None
    }

    /// How long operation `last` can wait for its last block, if what comes in `window` ns runs \[ns, rounded up\].
    fn covered(&self, last: usize, window: u64) -> Option<u64> {
        let task = &self.tasks.tasks[self.task];
        let stream = task.operations[last].stream;
        // Its own stream's operations before it are the chain.
        let chain: Vec<&Work> = task.operations[..last]
            .iter()
            .filter(|before| before.stream == stream)
            .map(|before| &before.work)
            .collect();
        let level = lowest_level(self.tasks, task);
        let with_copies = task.coupled
            || chain.iter().any(|work| matches!(work, Work::Copy(_)))
            || matches!(task.operations[last].work, Work::Copy(_));
        let weight = |class: usize| u128::from(self.weighed[class]);
        // In units of 1 / ONE ns.
        let load = |work: &Work| match *work {
            Work::Kernel { class, blocks, block_time } => {
                u128::from(blocks).checked_mul(u128::from(block_time))?.checked_mul(weight(class))
            }
            Work::Copy(time) if with_copies => u128::from(time).checked_mul(u128::from(ONE)),
            Work::Copy(_) | Work::Memset => Some(0),
        };
        let outside = |work: &Work| match *work {
            Work::Kernel { class, block_time, .. } => {
                u128::from(block_time) * u128::from(ONE).saturating_sub(weight(class))
            }
            Work::Copy(_) | Work::Memset => 0,
        };
        let mut total: u128 = chain.iter().map(|work| outside(work)).sum();
        for (number, operation) in task.operations.iter().enumerate() {
            let mut own = load(&operation.work)?;
            if number == last {
                // The last block runs after the window.
                own -= match operation.work {
                    Work::Kernel { class, block_time, .. } => u128::from(block_time) * weight(class),
                    Work::Copy(time) => u128::from(time) * u128::from(ONE),
                    Work::Memset => 0,
                };
            }
            total = total.checked_add(own)?;
        }
        let mut lower = 0_u128;
        for (index, other) in self.tasks.tasks.iter().enumerate() {
            if index == self.task && !task.coupled {
                continue;
            }
            let jobs = u128::from(window.checked_add(self.responses[index])?.div_ceil(other.period.max(1)));
            let mut of_job = 0_u128;
            for operation in &other.operations {
                of_job = of_job.checked_add(load(&operation.work)?)?;
                if task.coupled && other.coupled {
                    of_job = of_job.checked_add(outside(&operation.work))?;
                }
            }
            let of_all = of_job.checked_mul(jobs)?;
            // Copies know no priority.
            let has_copy =
                with_copies && other.operations.iter().any(|operation| matches!(operation.work, Work::Copy(_)));
            if Self::is_lower(other, level) && !has_copy {
                lower = lower.checked_add(of_all)?;
            } else {
                total = total.checked_add(of_all)?;
            }
        }
        if !task.coupled {
            let last = &task.operations[last].work;
            lower = lower.min(self.blocking(level, &[&chain[..], &[last]].concat())?);
        }
        total = total.checked_add(lower)?;
        u64::try_from(total.div_ceil(u128::from(ONE))).ok()
    }

    /// All kernels of a job of `other` are of a lower priority than whatever the job can wait for.
    fn is_lower(other: &Task, level: usize) -> bool {
        other.highest > level
    }

    /// What blocks of a lower priority can add to the waits of a chain's kernels: those that run when one begins, to
    /// their ends. A wait that begins with a launch finds only blocks that began before that instant.
    fn blocking(&self, level: usize, chain: &[&Work]) -> Option<u128> {
        let mut longest = 0;
        let mut lower: Vec<usize> = Vec::new();
        for other in self.tasks.tasks.iter().filter(|other| Self::is_lower(other, level)) {
            for operation in &other.operations {
                if let Work::Kernel { class, block_time, .. } = operation.work {
                    longest = longest.max(block_time);
                    lower.push(class);
                }
            }
        }
        let is_kernel = |work: &&Work| matches!(work, Work::Kernel { .. });
        let waits = chain.iter().filter(|work| is_kernel(work)).count() as u64;
        let at_launch = u64::from(chain.first().is_some_and(is_kernel));
        let time = u128::from(longest).checked_mul(u128::from(waits))?.saturating_sub(u128::from(at_launch));
        self.weights.heaviest_sm(&lower, self.weighed).checked_mul(u128::from(self.sms))?.checked_mul(time)
    }
}
