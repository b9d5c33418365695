//! The response of a job whose host works: part by part, where the host waits for all that it has submitted
//! (`docs/analysis.md`, "Cores").

use super::model::{Task, TaskSet, levels};
use super::phases::{self, Ends, last, smaller};
use super::window::Windows;
use crate::analysis::safe_bound::{Operation, Weights, Work};
use crate::limits::count_steps;

/// Steps to a fixed point that are tried.
const MOST_STEPS: u32 = 10_000;

/// A job in parts: between two of them the host has waited for all that it has submitted.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    /// How long the host works and sleeps in all \[ns\].
    host: u64,
    /// What it submits in each part, as if a job did nothing else.
    parts: Vec<Task>,
    /// Operations and pauses of the job.
    operations: usize,
}

impl Segments {
    /// Of a task whose host works; `None`: it does not, or waits for others, or works before it has waited for all.
    pub(super) fn of(task: &Task) -> Option<Self> {
        let works = |operation: &Operation| matches!(operation.work, Work::Busy(_));
        if task.reached.is_some() || task.members.len() != 1 || !task.operations.iter().any(works) {
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
            Task { operations, highest, lowest, core: None, jitter: 0, is_timed: false, ..task.clone() }
        };
        let parts = parts.into_iter().filter(|part| !part.is_empty()).map(part).collect();
        Some(Self { host, parts, operations: task.operations.len() })
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
        let mut alone = self.host;
        for part in &self.parts {
            alone = alone.checked_add(of_part(part, tasks, weights, index, responses)?)?;
        }
        let most = task.within.checked_sub(task.jitter)?;
        let reach = task.core.map_or(0, |core| core.reach());
        let mut window = alone;
        for _ in 0..MOST_STEPS {
            count_steps(tasks.tasks.len());
            let covered = alone.checked_add(tasks.higher(task, window.checked_add(reach)?, responses)?)?;
            if covered <= window {
                return Some(vec![task.jitter.checked_add(window)?; self.operations]);
            }
            window = Some(covered).filter(|covered| *covered <= most)?;
        }
        None
    }
}

/// How long a part takes from its launch to its end, if a job of the task did nothing else.
fn of_part(
    part: &Task,
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
) -> Option<u64> {
    let mut tasks = tasks.clone();
    tasks.tasks[index] = part.clone();
    let windows = Windows::new(&tasks, weights);
    let mut responses = responses.to_vec();
    let mut longest = 0;
    for _ in 0..MOST_STEPS {
        responses[index] = Some(longest);
        let by_window = windows.ends(index, &responses);
        let is_enough = by_window.as_ref().is_some_and(|ends| last(ends) <= longest);
        let by_orders = if is_enough { None } else { phases::ends(&tasks, weights, index, &responses) };
        let found = last(&smaller(by_orders, by_window)?);
        if found <= longest {
            return Some(longest);
        }
        longest = found;
    }
    None
}
