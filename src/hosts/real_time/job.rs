//! Jobs: one activation of a task each.

use crate::tasks::TaskTime;

/// Number of a job, in the order of release.
pub(crate) type JobId = u32;

/// One job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskJob {
    /// Its task.
    pub task: u32,
    /// Which job of its task, from 0.
    pub number: u32,
    /// Release.
    pub release: TaskTime,
    /// Absolute deadline.
    pub deadline: TaskTime,
    /// When it was done; `None`: not before the run ended.
    pub finish: Option<TaskTime>,
    /// How often a job of higher priority was put in front of it before all its blocks were assigned.
    pub preemptions: u32,
}

impl TaskJob {
    /// Finish minus release.
    pub fn response(&self) -> Option<TaskTime> {
        self.finish.map(|finish| finish.saturating_sub(self.release))
    }

    /// Whether it was done after its deadline, or not at all.
    pub fn is_late(&self) -> bool {
        self.finish.is_none_or(|finish| finish > self.deadline)
    }
}
