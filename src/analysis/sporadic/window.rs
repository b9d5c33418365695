//! The busy window of a job, for any GPU and any rules: `docs/analysis.md`, "Releases that are not given".

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{ONE, Weights, Work};
use crate::limits::count_steps;

/// Lengths of a window that are tried.
const MOST_STEPS: u32 = 100_000;

/// The windows of all tasks.
#[derive(Debug)]
pub(super) struct Windows<'a> {
    tasks: &'a TaskSet,
    weights: &'a Weights<'a>,
    /// By task: weights, each of which gives a bound.
    choices: Vec<Vec<Vec<u64>>>,
}

impl<'a> Windows<'a> {
    pub(super) fn new(tasks: &'a TaskSet, weights: &'a Weights<'a>) -> Self {
        let choices = tasks.tasks.iter().map(|task| choices(tasks, weights, task)).collect();
        Self { tasks, weights, choices }
    }

    /// Bounds the response of a task, from the arrival of a job to the end of its last operation \[ns\], if `responses`
    /// do those of all tasks.
    pub(super) fn bound(&self, task: usize, responses: &[Option<u64>]) -> Option<u64> {
        let &Self { tasks, weights, .. } = self;
        let Task { jitter, operations, .. } = &tasks.tasks[task];
        let bounds = self.choices[task].iter().filter_map(|weighed| {
            let window = Window { tasks, task, weighed, responses, weights };
            (0..operations.len()).try_fold(*jitter, |most, last| Some(most.max(window.response(last)?)))
        });
        bounds.min()
    }
}

/// Choices of weights for the heads that can hold a job of `task`, each of which gives a bound.
fn choices(tasks: &TaskSet, weights: &Weights<'_>, task: &Task) -> Vec<Vec<u64>> {
    let level = lowest_level(tasks, task);
    let mut work = vec![0_u128; tasks.classes.len()];
    let mut heads = vec![false; tasks.classes.len()];
    for other in &tasks.tasks {
        for operation in &other.operations {
            if let Work::Kernel { class, blocks, block_time, .. } = operation.work {
                // What the class adds in a given time, but for a factor.
                work[class] +=
                    u128::from(blocks) * u128::from(block_time.as_ns()) * (1 << 40) / u128::from(other.period.max(1));
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
fn lowest_level(tasks: &TaskSet, task: &Task) -> usize {
    let coupled = tasks.tasks.iter().filter(|other| task.coupled && other.coupled);
    coupled.map(|other| other.lowest).fold(task.lowest, usize::max)
}

struct Window<'a> {
    tasks: &'a TaskSet,
    task: usize,
    weighed: &'a [u64],
    responses: &'a [Option<u64>],
    weights: &'a Weights<'a>,
}

impl Window<'_> {
    /// The bound on the end of operation `last` of the job, from its arrival.
    fn response(&self, last: usize) -> Option<u64> {
        let task = &self.tasks.tasks[self.task];
        let own = match task.operations[last].work {
            Work::Kernel { block_time: time, .. } | Work::Copy { worst: time, .. } => time.as_ns(),
            Work::Memset => 0,
        };
        let operations: usize = self.tasks.tasks.iter().map(|task| task.operations.len()).sum();
        let most = task.period.checked_sub(own)?.checked_sub(task.jitter)?;
        let mut window = 0;
        for _ in 0..MOST_STEPS {
            count_steps(8 * operations);
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
            || chain.iter().any(|work| matches!(work, Work::Copy { .. }))
            || matches!(task.operations[last].work, Work::Copy { .. });
        let weight = |class: usize| u128::from(self.weighed[class]);
        // In units of 1 / ONE ns.
        let load = |work: &Work| match *work {
            Work::Kernel { class, blocks, block_time, .. } => {
                u128::from(blocks).checked_mul(u128::from(block_time.as_ns()))?.checked_mul(weight(class))
            }
            Work::Copy { worst, .. } if with_copies => u128::from(worst.as_ns()).checked_mul(u128::from(ONE)),
            Work::Copy { .. } | Work::Memset => Some(0),
        };
        let outside = |work: &Work| match *work {
            Work::Kernel { class, block_time, .. } => {
                u128::from(block_time.as_ns()) * u128::from(ONE).saturating_sub(weight(class))
            }
            Work::Copy { .. } | Work::Memset => 0,
        };
        let mut total: u128 = chain.iter().map(|work| outside(work)).sum();
        for (number, operation) in task.operations.iter().enumerate() {
            let mut own = load(&operation.work)?;
            if number == last {
                // The last block runs after the window.
                own -= match operation.work {
                    Work::Kernel { class, block_time, .. } => u128::from(block_time.as_ns()) * weight(class),
                    Work::Copy { worst, .. } => u128::from(worst.as_ns()) * u128::from(ONE),
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
            // How many jobs of one that may be beyond its period there are is not known.
            let jobs = self.responses[index].and_then(|response| window.checked_add(response));
            let jobs = jobs.map(|reach| u128::from(reach.div_ceil(other.period.max(1))));
            let mut of_job = 0_u128;
            for operation in &other.operations {
                of_job = of_job.checked_add(load(&operation.work)?)?;
                if task.coupled && other.coupled {
                    of_job = of_job.checked_add(outside(&operation.work))?;
                }
            }
            let of_all = jobs.and_then(|jobs| of_job.checked_mul(jobs));
            // Copies know no priority.
            let has_copy =
                with_copies && other.operations.iter().any(|operation| matches!(operation.work, Work::Copy { .. }));
            if Self::is_lower(other, level) && !has_copy {
                lower = of_all.map_or(u128::MAX, |of_all| lower.saturating_add(of_all));
            } else {
                total = total.checked_add(of_all?)?;
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
                    longest = longest.max(block_time.as_ns());
                    lower.push(class);
                }
            }
        }
        let is_kernel = |work: &&Work| matches!(work, Work::Kernel { .. });
        let waits = chain.iter().filter(|work| is_kernel(work)).count() as u64;
        let at_launch = u64::from(chain.first().is_some_and(is_kernel));
        let time = u128::from(longest).checked_mul(u128::from(waits))?.saturating_sub(u128::from(at_launch));
        self.weights.heaviest_sm(&lower, self.weighed).checked_mul(u128::from(self.tasks.sms))?.checked_mul(time)
    }
}
