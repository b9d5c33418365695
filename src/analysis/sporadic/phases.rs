//! The response of a job by the orders of dispatch of what can run beside it: `docs/analysis.md`, "Releases that are
//! not given".

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{Job, Phased, Weights, Work};

/// Jobs of one task beside another's above which nothing is explored.
const MOST_JOBS: u64 = 32;

/// Bounds the response of task number `index`, from the arrival of a job to the end of its last operation \[ns\], if
/// `responses` do those of all tasks and none is beyond its period. It holds if it is no more than `responses[index]`.
/// `None`: too much to explore, or it waits under N1 or N2, or for a task whose response is not known.
pub(super) fn bound(tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[Option<u64>]) -> Option<u64> {
    let task = tasks.tasks.get(index).filter(|task| !task.coupled)?;
    // N1 and N2 hold streams among themselves; in what order they then go on, nothing is known.
    if tasks.tasks.iter().any(|other| other.coupled) {
        return None;
    }
    let apart = set_apart(tasks, task);
    let is_lower = |other: usize| apart[other];
    // What is known of lower priorities is of little use, and there are fewer orders without it.
    let found = response(tasks, weights, index, responses, is_lower);
    let is_known = found.is_some_and(|found| responses[index].is_some_and(|response| found <= response));
    if is_known || !(0..tasks.tasks.len()).any(is_lower) {
        return found;
    }
    found.into_iter().chain(response(tasks, weights, index, responses, |_| false)).min()
}

/// The copy engines of a task.
fn engines(task: &Task) -> impl Iterator<Item = usize> {
    task.operations.iter().filter_map(|operation| match operation.work {
        Work::Copy { engine, .. } => Some(engine),
        _ => None,
    })
}

/// By task: whether all of it is below all tasks of which this is not so, `task` among them, and none of its copies may
/// be before one of theirs.
fn set_apart(tasks: &TaskSet, task: &Task) -> Vec<bool> {
    let mut apart: Vec<bool> = tasks.tasks.iter().map(|other| other.highest > task.lowest).collect();
    loop {
        let beside = || tasks.tasks.iter().zip(&apart).filter(|(_, apart)| !**apart).map(|(one, _)| one);
        let lowest = beside().map(|one| one.lowest).max();
        let used: Vec<usize> = beside().flat_map(engines).collect();
        let interferes =
            |other: &Task| Some(other.highest) <= lowest || engines(other).any(|engine| used.contains(&engine));
        let next = (0..apart.len()).find(|&other| apart[other] && interferes(&tasks.tasks[other]));
        let Some(next) = next else { return apart };
        apart[next] = false;
    }
}

/// The same, where of some tasks nothing is known but that they are below all others.
fn response(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
    is_lower: impl Fn(usize) -> bool,
) -> Option<u64> {
    let task = &tasks.tasks[index];
    let (mut others, mut lower) = (Vec::new(), Vec::new());
    for (number, (other, response)) in tasks.tasks.iter().zip(responses).enumerate() {
        if number == index {
            continue;
        }
        if is_lower(number) {
            lower.push(&other.operations[..]);
            continue;
        }
        // Jobs that arrived `response` before the release or earlier have ended by then.
        let before = (*response)?.saturating_sub(1);
        let reach = responses[index]?.checked_add(before)?;
        let jobs = reach.div_ceil(other.period.max(1)).max(1);
        if jobs > MOST_JOBS {
            return None;
        }
        let job = |number: u64| {
            let after = number.checked_mul(other.period)?;
            Some(Job { operations: &other.operations, before, after })
        };
        others.push((0..jobs).map(job).collect::<Option<Vec<_>>>()?);
    }
    let phased = Phased {
        job: &task.operations,
        others,
        lower,
        streams: tasks.streams,
        levels: tasks.levels,
        engines: tasks.engines,
    };
    phased.response(&tasks.classes, weights)?.checked_add(task.jitter)
}
