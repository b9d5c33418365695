//! The response of a job by the orders of dispatch of what can run beside it: `docs/analysis.md`, "Releases that are
//! not given".

use super::model::TaskSet;
use crate::analysis::safe_bound::{Job, Phased, Weights};

/// Jobs of one task beside another's above which nothing is explored.
const MOST_JOBS: u64 = 32;

/// Bounds the response of task number `index`, from the arrival of a job to the end of its last operation \[ns\], if
/// `responses` do those of all tasks and none is beyond its period. It holds if it is no more than `responses[index]`.
/// `None`: too much to explore, or it waits under N1 or N2.
pub(super) fn bound(tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[u64]) -> Option<u64> {
    let task = tasks.tasks.get(index).filter(|task| !task.coupled)?;
    // N1 and N2 hold streams among themselves; in what order they then go on, nothing is known.
    if tasks.tasks.iter().any(|other| other.coupled) {
        return None;
    }
    let mut others = Vec::new();
    for (_, (other, &response)) in tasks.tasks.iter().zip(responses).enumerate().filter(|(other, _)| *other != index) {
        // Jobs that arrived `response` before the release or earlier have ended by then.
        let before = response.saturating_sub(1);
        let reach = responses[index].checked_add(before)?;
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
    let phased =
        Phased { job: &task.operations, others, streams: tasks.streams, levels: tasks.levels, engines: tasks.engines };
    phased.response(&tasks.classes, weights)?.checked_add(task.jitter)
}
