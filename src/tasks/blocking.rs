//! Blocking by jobs with later deadlines.

use super::task_time::TaskTime;

/// The longest time for which a job with deadline t can be blocked by one job of a task with a longer relative
/// deadline: a step function of t that never grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocking {
    /// (deadline of a blocking task, longest blocking by it and all with longer deadlines, who that is), by deadline.
    steps: Vec<(TaskTime, TaskTime, usize)>,
}

impl Blocking {
    /// From (deadline, blocking time) of each task that can block, with its index.
    pub(super) fn new(blockers: impl Iterator<Item = (usize, TaskTime, TaskTime)>) -> Self {
        let mut steps: Vec<_> = blockers.map(|(task, deadline, time)| (deadline, time, task)).collect();
        steps.sort_unstable();
        for index in (1..steps.len()).rev() {
            if steps[index - 1].1 < steps[index].1 {
                (steps[index - 1].1, steps[index - 1].2) = (steps[index].1, steps[index].2);
            }
        }
        Self { steps }
    }

    /// max { blocking time of l : `D_l` > t }, who has it, and the smallest t' for which it is the same.
    pub(super) fn at(&self, t: TaskTime) -> (TaskTime, Option<usize>, TaskTime) {
        let next = self.steps.partition_point(|(deadline, ..)| *deadline <= t);
        let since = next.checked_sub(1).map_or(TaskTime::ZERO, |last| self.steps[last].0);
        self.steps.get(next).map_or((TaskTime::ZERO, None, since), |&(_, time, task)| (time, Some(task), since))
    }

    /// The blocking at t = 0, the longest.
    pub(super) fn longest(&self) -> TaskTime {
        self.steps.first().map_or(TaskTime::ZERO, |step| step.1)
    }

    /// From here on nothing blocks.
    pub(super) fn end(&self) -> TaskTime {
        self.steps.last().map_or(TaskTime::ZERO, |step| step.0)
    }
}
