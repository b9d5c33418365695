//! The response of a job by the orders of dispatch of what can run beside it: `docs/analysis.md`, "Releases that are
//! not given".

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{Job, Phased, Weights, Work};
use crate::limits::count_turn;

/// By when each operation of a task's job has ended, from its arrival \[ns\].
pub(super) type Ends = Vec<u64>;

/// Jobs of one task beside another's above which nothing is explored.
const MOST_JOBS: u64 = 32;

/// By when each operation of a job of task number `index` has ended, from its arrival \[ns\], if `responses` bound
/// those of all tasks and its own is not beyond its period. It holds if none is more than `responses[index]`. `None`:
/// too much to explore, or something holds operations that the orders of dispatch do not know, or it waits for a task
/// whose response is not known.
pub(super) fn ends(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
) -> Option<Vec<u64>> {
    let task = tasks.tasks.get(index)?;
    // Where threads wait for one another's operations, nothing is known of the order in which they then go on; nor when
    // a host of the job goes on that works.
    let works = task.operations.iter().any(|operation| matches!(operation.work, Work::Busy(_)));
    if works || !tasks.is_plain() || tasks.tasks.iter().any(|task| task.reached.is_some()) {
        return None;
    }
    let apart = set_apart(tasks, task);
    let is_lower = |other: usize| apart[other];
    // What is known of lower priorities is of little use, and there are fewer orders without it.
    let found = of_job(tasks, weights, index, responses, is_lower);
    let most = |ends: &Vec<u64>| ends.iter().max().copied().unwrap_or(0);
    let is_known = found.as_ref().is_some_and(|found| responses[index].is_some_and(|response| most(found) <= response));
    if is_known || !(0..tasks.tasks.len()).any(is_lower) {
        return found;
    }
    smaller(found, of_job(tasks, weights, index, responses, |_| false))
}

/// One by one, the smaller of two bounds.
pub(super) fn smaller(one: Option<Vec<u64>>, other: Option<Vec<u64>>) -> Option<Vec<u64>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.into_iter().zip(other).map(|(one, other)| one.min(other)).collect()),
        (one, other) => one.or(other),
    }
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
        count_turn();
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
fn of_job(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
    is_lower: impl Fn(usize) -> bool,
) -> Option<Vec<u64>> {
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
        let jobs = other.jobs(responses[index]?.checked_add(before)?, Some(0))?.max(1);
        if jobs > MOST_JOBS {
            return None;
        }
        let job = |number: u64| {
            let after = number.checked_mul(other.period)?;
            Some(Job { operations: &other.operations, before, after, begin: other.begin(*response) })
        };
        others.push((0..jobs).map(job).collect::<Option<Vec<_>>>()?);
    }
    let phased = Phased {
        job: &task.operations,
        begin: task.begin(responses[index]),
        others,
        lower,
        streams: tasks.streams,
        levels: tasks.levels,
        engines: tasks.engines,
    };
    let ends = phased.ends(&tasks.classes, weights)?;
    ends.into_iter().map(|end| end.checked_add(task.jitter)).collect()
}

/// When the last operation of a job has ended.
pub(super) fn last(ends: &Ends) -> u64 {
    ends.iter().max().copied().unwrap_or(0)
}
