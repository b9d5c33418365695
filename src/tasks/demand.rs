//! Processor demand of sporadic tasks.

use super::task_set::Timing;
use super::task_time::TaskTime;
use crate::limits::end_if_stopped;

/// dbf(t): the most execution time that jobs with release and deadline within any interval of length t can ask for,
/// the sum of max(0, floor((t - D + T) / T)) C (Baruah, Rosier and Howell, "Algorithms and Complexity Concerning the
/// Preemptive Scheduling of Periodic, Real-Time Tasks on One Processor", 1990; RTNS 2020, Eq. 8 with its sign mended).
pub(crate) fn dbf(tasks: &[Timing], t: TaskTime) -> TaskTime {
    end_if_stopped();
    tasks.iter().filter(|task| t >= task.deadline).map(|task| ((t - task.deadline) / task.period + 1) * task.wcet).sum()
}

/// The last absolute deadline D + k T before `t`.
pub(crate) fn last_deadline_before(tasks: &[Timing], t: TaskTime) -> Option<TaskTime> {
    tasks
        .iter()
        .filter(|task| task.deadline < t)
        .map(|task| t - TaskTime::UNIT - (t - TaskTime::UNIT - task.deadline) % task.period)
        .max()
}

/// The first absolute deadline after `t`, or at 0 or later for `None`; and a task that has it.
pub(crate) fn first_deadline_after(tasks: &[Timing], t: Option<TaskTime>) -> Option<(TaskTime, usize)> {
    let next = |task: &Timing| match t {
        Some(t) if t >= task.deadline => task.deadline + ((t - task.deadline) / task.period + 1) * task.period,
        _ => task.deadline,
    };
    tasks.iter().map(next).zip(0..).min()
}
