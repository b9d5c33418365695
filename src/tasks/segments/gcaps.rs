//! GCAPS: the GPU goes to the most urgent task between the two driver calls of its GPU segment.
//!
//! The policy of Wang, Liu, Wong and Kim, ECRTS 2024, section 5: a call of cost ε at each end of a GPU segment puts the
//! task's context on the runlist alone, or behind. The bound is ours, because the paper's leaves out what happens on
//! the CPU of whoever holds the GPU ([`super::gcaps_as_printed`]). `docs/tasks.md` has the proof, in short: at each
//! instant of a response, the task itself goes on, or a job of a more urgent task does, or a driver call of a less
//! urgent one is under way; and each of these is counted.

use super::fixed_point::{Interference, least_response};
use super::segment_task_set::{GpuWait, SegmentTaskSet};
use super::task_bound::{NoBound, Responses, isolated, known_of};
use crate::time::Duration;

/// Bounds for all tasks.
pub(super) fn responses(set: &SegmentTaskSet, waiting: GpuWait) -> Responses {
    isolated(set, |task, known| response(set, waiting, (task, set.tasks[task].period), known))
}

/// The bound of one task, if it is at most `limit`, from `known` bounds of those that are more urgent.
pub(super) fn response(
    set: &SegmentTaskSet,
    waiting: GpuWait,
    (task, limit): (usize, Duration),
    known: &[Option<Duration>],
) -> Result<Duration, NoBound> {
    let update = u128::from(set.gpu.update().as_ns());
    let this = &set.tasks[task];
    let view = View { set, waiting, task, update };
    let mut interference = Vec::new();
    for other in set.more_urgent(task) {
        let other_task = &set.tasks[other];
        let work = if set.on_one_core(task, other) { view.local_ns(other) } else { view.remote_ns(other) };
        // A local task that never suspends itself is not pending where the busy window of its core begins.
        let stays = set.on_one_core(task, other) && (waiting == GpuWait::Busy || !other_task.uses_gpu());
        // What takes nothing from it may do as it likes.
        if work == 0 {
            continue;
        }
        interference.push(if stays {
            Interference::released_within(other_task.period, work)
        } else {
            Interference::carried_in(other_task.period, known_of(known, other)?, work)
        });
    }
    let calls = 2 * u128::from(this.gpu_count());
    let blocked_in_calls = if set.less_urgent(task).any(|other| set.tasks[other].uses_gpu()) { calls } else { 0 };
    let blocking = update * (view.ready_intervals(task) * view.callers_on_core_of(task) + blocked_in_calls);
    least_response(this.alone_ns() + calls * update + blocking, &interference, limit).ok_or(NoBound::Beyond)
}

/// The set as one task sees it.
struct View<'s> {
    set: &'s SegmentTaskSet,
    waiting: GpuWait,
    task: usize,
    /// ε \[ns\].
    update: u128,
}

impl View<'_> {
    /// How often a job of `other` becomes ready to run on its core: when it is released, and after suspensions.
    fn ready_intervals(&self, other: usize) -> u128 {
        match self.waiting {
            GpuWait::Suspend => 1 + u128::from(self.set.tasks[other].gpu_count()),
            GpuWait::Busy => 1,
        }
    }

    /// Tasks on the core of `other`, less urgent than the task in question, that may have a driver call to make: each
    /// delays a ready interval by at most one.
    fn callers_on_core_of(&self, other: usize) -> u128 {
        let set = self.set;
        let callers =
            set.less_urgent(self.task).filter(|&low| set.on_one_core(low, other) && set.tasks[low].uses_gpu());
        callers.count() as u128
    }

    /// 4 ε for each GPU segment: two calls, each behind one of a less urgent task.
    fn calls_ns(&self, other: usize) -> u128 {
        4 * self.update * u128::from(self.set.tasks[other].gpu_count())
    }

    /// What a job of a more urgent task on this core takes \[ns\].
    fn local_ns(&self, other: usize) -> u128 {
        let other_task = &self.set.tasks[other];
        let on_cpu = other_task.cpu_ns() + other_task.misc_ns() + self.calls_ns(other);
        match self.waiting {
            GpuWait::Busy => on_cpu + other_task.exec_ns(),
            GpuWait::Suspend if self.set.tasks[self.task].uses_gpu() && other_task.uses_gpu() => {
                let delayed = self.update * self.ready_intervals(other) * self.callers_on_core_of(other);
                on_cpu + other_task.exec_ns() + delayed
            }
            GpuWait::Suspend => on_cpu,
        }
    }

    /// What a job of a more urgent task on another core takes \[ns\].
    fn remote_ns(&self, other: usize) -> u128 {
        let (set, other_task) = (self.set, &self.set.tasks[other]);
        // More urgent tasks on this core that may wait for `other`.
        let mut local_users = set
            .more_urgent(self.task)
            .filter(|&local| set.on_one_core(local, self.task) && set.tasks[local].uses_gpu())
            .filter(|&local| other_task.is_more_urgent_than(&set.tasks[local]));
        let waits_for_gpu =
            set.tasks[self.task].uses_gpu() || (self.waiting == GpuWait::Busy && local_users.clone().next().is_some());
        if !waits_for_gpu {
            // A local task in a driver call may still wait for one of `other`.
            let calls = 2 * self.update * u128::from(other_task.gpu_count());
            return if local_users.next().is_some() { calls } else { 0 };
        }
        let mut preempted = set.more_urgent(self.task).filter(|&holder| {
            set.on_one_core(holder, other)
                && set.tasks[holder].uses_gpu()
                && other_task.is_more_urgent_than(&set.tasks[holder])
        });
        let preempting = if preempted.next().is_some() { other_task.cpu_ns() } else { 0 };
        if !other_task.uses_gpu() {
            return preempting;
        }
        let delayed = self.update * self.ready_intervals(other) * self.callers_on_core_of(other);
        other_task.misc_ns() + other_task.exec_ns() + self.calls_ns(other) + delayed + preempting
    }
}
