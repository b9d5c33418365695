//! The driver's default: contexts take turns of at most one time slice, whatever their tasks' priorities.
//!
//! After Wang, Liu, Wong and Kim, ECRTS 2024, section 6.2, with the switch to a task's own context added: a turn of the
//! task needs a switch too. A GPU segment of G takes ⌈G / L⌉ turns, and before each of them every other context has at
//! most one: ⌈G / L⌉ (ν (L + θ) + θ) of waiting. `docs/tasks.md` has the proofs.

use super::fixed_point::{Interference, least_response};
use super::segment_task_set::{GpuSharing, GpuWait, SegmentTask, SegmentTaskSet};
use super::task_bound::{NoBound, Responses, TaskBound, isolated, known_of};

/// Bounds for all tasks.
pub(super) fn responses(set: &SegmentTaskSet, waiting: GpuWait) -> Responses {
    if let Some(none) = not_applicable(set) {
        return none;
    }
    isolated(set, |task, known| {
        let this = &set.tasks[task];
        let is_local = |&other: &usize| set.on_one_core(task, other);
        let local = set.more_urgent(task).filter(is_local);
        // Busy tasks of higher priority on this core have no GPU segment while this one gets the CPU, and what the GPU
        // does for them while one of them waits is their progress: only others count.
        let is_other = |&user: &usize| match waiting {
            GpuWait::Suspend => user != task,
            GpuWait::Busy => user != task && !(is_local(&user) && set.tasks[user].is_more_urgent_than(this)),
        };
        let others = set.gpu_users().filter(is_other).count() as u64;
        let is_shared = set.gpu_users().count() > 1;
        let waits = |one: &SegmentTask| waiting_ns(one, others, is_shared, set.gpu);
        let interference = local.map(|other| {
            let other_task = &set.tasks[other];
            Ok(match waiting {
                GpuWait::Suspend if other_task.uses_gpu() => {
                    let work = other_task.cpu_ns() + other_task.misc_ns();
                    Interference::carried_in(other_task.period, known_of(known, other)?, work)
                }
                GpuWait::Suspend => Interference::released_within(other_task.period, other_task.cpu_ns()),
                GpuWait::Busy => {
                    Interference::released_within(other_task.period, other_task.alone_ns() + waits(other_task))
                }
            })
        });
        let interference = interference.collect::<Result<Vec<Interference>, NoBound>>()?;
        least_response(this.alone_ns() + waits(this), &interference, this.period).ok_or(NoBound::Beyond)
    })
}

/// What is said of sets in which a round has more than one turn of a context.
pub(super) fn not_applicable(set: &SegmentTaskSet) -> Option<Responses> {
    let why = "contexts of high level have several turns a round";
    let none = |bound: TaskBound| Responses { bounds: vec![bound; set.tasks.len()], late: vec![None; set.tasks.len()] };
    (!set.has_equal_levels()).then(|| none(TaskBound::NotApplicable(why)))
}

/// S: how long a job of a task that does not wait busily is suspended at most, in all its GPU segments \[ns\]. It does
/// not depend on what cores do.
pub(super) fn suspension_ns(set: &SegmentTaskSet, task: usize) -> u128 {
    let others = set.gpu_users().filter(|&user| user != task).count() as u64;
    set.tasks[task].exec_ns() + waiting_ns(&set.tasks[task], others, others > 0, set.gpu)
}

/// What a job of `task` waits for turns of `others` contexts, and for switches to its own if the GPU `is_shared`
/// \[ns\].
fn waiting_ns(task: &SegmentTask, others: u64, is_shared: bool, gpu: GpuSharing) -> u128 {
    let (slice, switch) = (u128::from(gpu.time_slice.as_ns()), u128::from(gpu.switch_cost.as_ns()));
    let turns: u128 = task.gpu_segments().map(|segment| u128::from(segment.exec.as_ns()).div_ceil(slice)).sum();
    let own_switch = if is_shared { switch } else { 0 };
    turns * (u128::from(others) * (slice + switch) + own_switch)
}
