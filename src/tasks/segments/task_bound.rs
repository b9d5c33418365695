//! What a test says of a task, and the order in which bounds follow from each other.

use super::segment_task_set::SegmentTaskSet;
use crate::time::Duration;

/// What a test says of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskBound {
    /// No job takes longer, and this is at most the deadline.
    Bounded(Duration),
    /// The bound exceeds the deadline: perhaps jobs miss it, perhaps not.
    Exceeds,
    /// A task that it depends on has no bound, so nothing is known.
    DependsOn(usize),
    /// Best effort: nothing is promised.
    BestEffort,
    /// The analysis is not for such sets; why.
    NotApplicable(&'static str),
}

impl TaskBound {
    /// The bound, if there is one.
    pub fn bound(&self) -> Option<Duration> {
        match self {
            Self::Bounded(bound) => Some(*bound),
            Self::Exceeds | Self::DependsOn(_) | Self::BestEffort | Self::NotApplicable(_) => None,
        }
    }

    /// Whether the test accepts the task: it has a bound, or is promised nothing.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Bounded(_) | Self::BestEffort)
    }
}

/// What a test says of each task of a set.
pub type ResponseBounds = Vec<TaskBound>;

/// Why a task has no bound within its period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoBound {
    /// There is none.
    Beyond,
    /// This task, which it depends on, has none.
    DependsOn(usize),
}

/// The bound of a task that another one depends on.
pub(super) fn known_of(known: &[Option<Duration>], task: usize) -> Result<Duration, NoBound> {
    known.get(task).copied().flatten().ok_or(NoBound::DependsOn(task))
}

/// What a test says of the tasks of a set, and bounds that are beyond deadlines but not beyond periods: these hold too.
pub(super) struct Responses {
    pub(super) bounds: ResponseBounds,
    pub(super) late: Vec<Option<Duration>>,
}

/// Goes through the tasks from the most urgent down. `response` gives the bound of one within its period from those of
/// more urgent ones, which has to do without those that have none.
pub(super) fn isolated(
    set: &SegmentTaskSet,
    mut response: impl FnMut(usize, &[Option<Duration>]) -> Result<Duration, NoBound>,
) -> Responses {
    let mut bounds = vec![TaskBound::BestEffort; set.tasks.len()];
    let mut known = vec![None; set.tasks.len()];
    let mut late = known.clone();
    for task in set.by_urgency() {
        let bound = response(task, &known);
        known[task] = bound.ok();
        bounds[task] = match bound {
            Ok(bound) if bound <= set.tasks[task].deadline => TaskBound::Bounded(bound),
            Ok(bound) => {
                late[task] = Some(bound);
                TaskBound::Exceeds
            }
            Err(NoBound::Beyond) => TaskBound::Exceeds,
            Err(NoBound::DependsOn(other)) => TaskBound::DependsOn(other),
        };
    }
    Responses { bounds, late }
}

/// The same of equations that are taken as they stand in print: `response` gives the bound of one from the bounds of
/// those before it, or nothing if it exceeds the deadline, and then less urgent ones have none either.
pub(super) fn in_order(
    set: &SegmentTaskSet,
    mut response: impl FnMut(usize, &[Option<Duration>]) -> Option<Duration>,
) -> ResponseBounds {
    let mut bounds = vec![TaskBound::BestEffort; set.tasks.len()];
    let mut known = vec![None; set.tasks.len()];
    let mut failed = None;
    for task in set.by_urgency() {
        bounds[task] = match failed {
            Some(other) => TaskBound::DependsOn(other),
            None => match response(task, &known) {
                Some(bound) => TaskBound::Bounded(bound),
                None => TaskBound::Exceeds,
            },
        };
        known[task] = bounds[task].bound();
        if failed.is_none() && known[task].is_none() {
            failed = Some(task);
        }
    }
    bounds
}
