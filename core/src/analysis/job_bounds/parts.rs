//! **Part by part** (`docs/analysis.md`, "Cores"): a job that is cut where its host has waited for all that it has
//! submitted. With `F_s` a bound on what it submits in part s, all is done in J + w, for the least w that holds its
//! work and sleeps, all `F_s`, and what more urgent hosts have of its core.

use super::by_work::ByWork;
use super::least_fixed_point;
use super::model::{Task, TaskSet, levels};
use super::orders::{Ends, ends_by_orders, last, smaller};
use crate::analysis::safe_bound::{Operation, Weights, Work};

/// Steps to a fixed point that are tried.
const MOST_RAISES: usize = 10_000;

/// A job whose host works, in parts: between two of them the host has waited for all that it has submitted. Its
/// response is bounded part by part (`docs/analysis.md`, "Cores").
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// Work and sleeps of the host in all \[ns\].
    host: u64,
    /// What it submits in each part, as if a job did nothing else.
    submits: Vec<Task>,
    /// Operations and pauses of the job.
    operations: usize,
}

impl Parts {
    /// Of a task whose host works; `None`: it does not, or waits for others, or works before it has waited for all.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let works = |operation: &Operation| matches!(operation.work, Work::Busy(_));
        if task.reached.is_some() || task.members.len() != 1 || !task.works() {
            return None;
        }
        let mut host = 0_u64;
        let mut parts: Vec<Vec<Operation>> = vec![Vec::new()];
        let mut first = 0;
        for (number, operation) in task.operations.iter().enumerate() {
            let time = match operation.work {
                Work::Pause(time) | Work::Busy(time) => Some(time.as_ns()).filter(|_| task.waits_for_all(number)),
                _ => None,
            };
            if let Some(time) = time {
                host = host.checked_add(time)?;
                parts.push(Vec::new());
                first = number + 1;
            } else if works(operation) {
                return None;
            } else {
                let after = operation.after.iter().filter_map(|before| before.checked_sub(first)).collect();
                parts.last_mut()?.push(Operation { after, ..operation.clone() });
            }
        }
        let part = |operations: Vec<Operation>| {
            let (highest, lowest) = levels(&operations);
            Task { operations, highest, lowest, core: None, jitter: 0, trigger: None, is_timed: false, ..task.clone() }
        };
        let submits = parts.into_iter().filter(|part| !part.is_empty()).map(part).collect();
        Some(Self { host, submits, operations: task.operations.len() })
    }

    /// By when all of a job has ended, from its arrival \[ns\], if `responses` bound those of all tasks.
    pub(super) fn ends(
        &self,
        tasks: &TaskSet,
        weights: &Weights<'_>,
        index: usize,
        responses: &[Option<u64>],
    ) -> Option<Ends> {
        let task = tasks.tasks.get(index)?;
        // Work and sleeps, and all F_s.
        let mut alone = self.host;
        for part in &self.submits {
            alone = alone.checked_add(f_s(part, tasks, weights, index, responses)?)?;
        }
        let jitter = task.released_within(responses)?;
        let most = task.within.checked_sub(jitter)?;
        let reach = task.core.map_or(0, |core| core.reach());
        // And what more urgent hosts have of the core.
        let w = least_fixed_point(alone, (MOST_RAISES, tasks.tasks.len()), |w| {
            let sum = alone.checked_add(tasks.higher(task, w.checked_add(reach)?, responses)?)?;
            Some(sum).filter(|sum| *sum <= most.max(w))
        })?;
        Some(vec![jitter.checked_add(w)?; self.operations])
    }
}

/// `F_s`: how long a part takes from its launch to its end, if a job of the task did nothing else.
fn f_s(part: &Task, tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[Option<u64>]) -> Option<u64> {
    let mut tasks = tasks.clone();
    tasks.tasks[index] = part.clone();
    let work = ByWork::new(&tasks, weights);
    let mut responses = responses.to_vec();
    let mut longest = 0;
    for _ in 0..MOST_RAISES {
        responses[index] = Some(longest);
        let by_work = work.ends(index, &responses);
        let is_enough = by_work.as_ref().is_some_and(|ends| last(ends) <= longest);
        let by_orders = if is_enough { None } else { ends_by_orders(&tasks, weights, index, &responses) };
        let found = last(&smaller(by_orders, by_work)?);
        if found <= longest {
            return Some(longest);
        }
        longest = found;
    }
    None
}
