//! Bounds on the jobs of host threads, whenever these come: how long each may take, from its arrival to the end of each
//! of its operations, with whatever holds operations on the GPU (`docs/analysis.md`, "Releases that are not given" and
//! "Host programs, processes, links and channels").

use crate::gpu::SubmitError;
use crate::scenario::Scenario;
use crate::time::Duration;

use super::safe_bound::Weights;

mod cores;
mod coupling;
mod model;
mod phases;
mod program;
mod refusal;
mod responses;
mod segments;
mod turns;
mod uniprocessor;
mod window;

pub(super) use coupling::reached;
pub(super) use model::{LONGEST, Releases, TaskSet};
pub use refusal::SporadicRefusal;

/// The bounds on those threads that have one, which hold whatever the others do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobBounds {
    /// By thread: from the arrival of a job to the end of its last operation, and of what its host does, at most.
    pub(super) responses: Vec<Option<Duration>>,
    /// Why the first thread that has none has none.
    pub(super) refusal: Option<SporadicRefusal>,
}

/// The bounds of a scenario.
pub(super) fn job_bounds(
    scenario: &Scenario,
    releases: Releases<'_>,
) -> Result<Result<JobBounds, SporadicRefusal>, SubmitError> {
    match TaskSet::new(scenario, releases)? {
        Ok(tasks) => Ok(Ok(of_tasks(scenario, &tasks))),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// The same, of tasks that are known.
pub(super) fn of_tasks(scenario: &Scenario, tasks: &TaskSet) -> JobBounds {
    let weights = Weights::new(scenario.device(), &tasks.classes);
    let exact = if uniprocessor::applies(tasks, &weights) { uniprocessor::responses(tasks) } else { Vec::new() };
    let mut ends: Vec<_> = exact.into_iter().map(|response| response.map(|response| vec![response])).collect();
    if ends.is_empty() || ends.iter().any(Option::is_none) {
        let by_work = responses::ends(tasks, &weights);
        ends.resize(by_work.len(), None);
        ends = ends.into_iter().zip(by_work).map(|(exact, by_work)| exact.or(by_work)).collect();
    }
    let mut bounds = JobBounds { responses: vec![None; scenario.threads.len()], refusal: None };
    for (task, ends) in tasks.tasks.iter().zip(ends) {
        let Some(ends) = ends else {
            bounds.refusal.get_or_insert_with(|| SporadicRefusal::BeyondPeriod { thread: task.label.clone() });
            continue;
        };
        for (member, &(thread, offset)) in task.members.iter().enumerate() {
            let of_member = task.operations.iter().zip(&ends).filter(|(operation, _)| operation.member == member);
            // One that does nothing is over when it is released.
            let last = of_member.map(|(_, end)| *end).max().unwrap_or(task.jitter);
            bounds.responses[thread] = Some(Duration::from_ns(last.saturating_sub(offset)));
        }
    }
    bounds
}
