//! GCAPS: the GPU goes to the most urgent task between the two driver calls of its GPU segment.
//!
//! The policy of Wang, Liu, Wong and Kim, ECRTS 2024, section 5: a call of cost ε at each end of a GPU segment puts the
//! task's context on the runlist alone, or behind. The bound is ours, because the paper's leaves out what happens on
//! the CPU of whoever holds the GPU ([`bounds_as_printed`]). `docs/tasks.md` has the proof, in short: at each
//! instant of a response, the task itself goes on, or a job of a more urgent task does, or a driver call of a less
//! urgent one is under way; and each of these is counted.

use super::bounds::{Interference, NoBound, ResponseBounds, Responses, in_order, isolated, known_of, least_response};
use super::segment_task_set::{GpuWait, SegmentTaskSet};
use crate::limits::count_turn;
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

/// What section 6.3 of the paper says of all tasks, as printed. Unsound, for comparison only: it proves nothing.
///
/// Lemmas 10 and 13 count what a more urgent task on another core does on the GPU, and forget what it does on its CPU
/// between the two driver calls, alone or preempted there, while its context alone is on the runlist. Lemma 8 counts
/// one blocking for each GPU segment, which has two driver calls. `docs/errata.md` has witnesses.
pub(super) fn bounds_as_printed(set: &SegmentTaskSet, waiting: GpuWait) -> ResponseBounds {
    in_order(set, |task, known| response_as_printed(set, waiting, task, known))
}

/// What it says of one task, if that is at most the deadline, from what is `known` of all that are more urgent.
pub(super) fn response_as_printed(
    set: &SegmentTaskSet,
    waiting: GpuWait,
    task: usize,
    known: &[Option<Duration>],
) -> Option<Duration> {
    let update = u128::from(set.gpu.update().as_ns());
    let this = &set.tasks[task];
    let mut interference = Vec::new();
    for other in set.more_urgent(task) {
        let other_task = &set.tasks[other];
        let (period, response) = (other_task.period, known[other]?);
        let (cpu, misc, exec) = (other_task.cpu_ns(), other_task.misc_ns(), other_task.exec_ns());
        let updates = 2 * update * u128::from(other_task.gpu_count());
        let is_local = set.on_one_core(task, other);
        // J^g = R - G^e, also where the work is more than that (Lemmas 10, 11 and 13).
        let remote = |work_ns| Interference { work_ns, ..Interference::carried_in(period, response, exec) };
        match (waiting, is_local, other_task.uses_gpu()) {
            (_, true, false) => interference.push(Interference::released_within(period, cpu)),
            (_, false, false) => {}
            (GpuWait::Busy, true, true) => {
                interference.push(Interference::released_within(period, cpu + misc + exec + updates));
            }
            (GpuWait::Suspend, true, true) => {
                let carried = Interference::carried_in(period, response, cpu + misc);
                interference.push(Interference { work_ns: cpu + misc + updates, ..carried });
                if this.uses_gpu() {
                    interference.push(remote(exec));
                }
            }
            (GpuWait::Suspend, false, true) if !this.uses_gpu() => {}
            (_, false, true) => interference.push(remote(exec + updates)),
        }
    }
    let base = this.alone_ns() + update * u128::from(1 + 3 * this.gpu_count());
    least_response(base, &interference, this.deadline)
}

/// The bound of one task of a set, if it is at most the deadline, from bounds of all that are more urgent.
type Response<'r> = &'r dyn Fn(&SegmentTaskSet, usize, &[Option<Duration>]) -> Option<Duration>;

/// Gives GPU segments priorities that differ from those on the CPU (ECRTS 2024, sections 5.3 and 6.4).
///
/// On each core the GPU segments keep the order that their tasks have on the CPU, or tasks could wait for each other
/// for ever. Then the order of GPU priorities is one order of all tasks that also says who is more urgent on each core:
/// CPU priorities count nowhere else. So whatever bounds a set with one priority for each task bounds this too, and an
/// assignment is the set with other priorities.
///
/// This is Audsley's search: the lowest priority that is left goes to the least urgent task that stays within its
/// deadline there, while nothing is known of more urgent ones but that they meet theirs. Only the last of each core is
/// tried. Gives the set with the priorities found, the most urgent being 0; nothing if some priority fits no task, in
/// which case there may still be an assignment.
pub(super) fn search(set: &SegmentTaskSet, response: Response<'_>) -> Option<SegmentTaskSet> {
    let deadlines: Vec<Option<Duration>> = set.tasks.iter().map(|task| Some(task.deadline)).collect();
    let mut left = set.by_urgency();
    let mut trial = set.clone();
    rank(&mut trial, &left);
    while !left.is_empty() {
        count_turn();
        let lowest = left.len() - 1;
        let is_last_of_core =
            |&place: &usize| left[place + 1..].iter().all(|&other| !set.on_one_core(left[place], other));
        let fits = |&place: &usize| {
            let mut at_the_end = left.clone();
            let task = at_the_end.remove(place);
            at_the_end.push(task);
            rank(&mut trial, &at_the_end);
            response(&trial, task, &deadlines).is_some()
        };
        let candidates: Vec<usize> = (0..left.len()).rev().filter(is_last_of_core).collect();
        let chosen = candidates.into_iter().find(fits)?;
        let task = left.remove(chosen);
        left.push(task);
        rank(&mut trial, &left);
        left.truncate(lowest);
    }
    Some(trial)
}

/// Gives these tasks the most urgent priorities, in this order.
fn rank(set: &mut SegmentTaskSet, order: &[usize]) {
    for (rank, &task) in order.iter().enumerate() {
        set.tasks[task].priority = Some(rank as u64);
    }
}
