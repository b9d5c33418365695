//! Time slices, as printed in Wang, Liu, Wong and Kim, ECRTS 2024, section 6.2. Unsound: for comparison only.
//!
//! Eq. 3 takes (L + θ) ν ⌈G / L⌉ as the waiting of a GPU segment, which leaves out the switch to the task's own context
//! before each of its turns. Where it costs nothing (θ = 0) the equations are right.
//!
//! Table 5 was not computed by these equations, but with other jitters and other numbers of contexts, which `Print`
//! tells apart; `docs/errata.md` has both.

use super::fixed_point::{Interference, least_response};
use super::segment_task_set::{GpuSharing, GpuWait, SegmentTask, SegmentTaskSet};
use super::task_bound::{ResponseBounds, in_order};

/// What of the paper is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Print {
    /// Eq. 3 to 8.
    Equations,
    /// Table 5: J = T - (C + G^m) in Eq. 8; with busy waiting, all GPU-using tasks but two delay a more urgent one on
    /// the same core (Eq. 6), whose C + G + G^m is added (in Eq. 7, C + G^m).
    Table5,
    /// What the analysis published by the authors computes (`rtenlab/gcaps-super-repo`, `analysis/default_driver.py`),
    /// and Fig. 8 shows: suspended as Table 5; busy without CPU-only tasks, with C + G + G^m of the others, and with ν
    /// of Eq. 6 as the more urgent GPU-using tasks of other cores and those among the n - 1 - i most urgent of all,
    /// where task i is the i-th, i from 0, of n.
    Published,
}

/// What section 6.2 says of all tasks. It proves nothing.
pub(super) fn bounds(set: &SegmentTaskSet, waiting: GpuWait, print: Print) -> ResponseBounds {
    in_order(set, |task, known| {
        let this = &set.tasks[task];
        let is_local = |other: usize| set.on_one_core(task, other);
        let others = set.gpu_users().filter(|&user| user != task).count() as u64;
        // Eq. 6: all users but the more urgent ones on this core, of which the one in question counts again.
        let is_hpp = |user: usize| is_local(user) && set.tasks[user].is_more_urgent_than(this);
        let delaying = match print {
            Print::Equations => set.gpu_users().filter(|&user| !is_hpp(user)).count() as u64 + 1,
            Print::Table5 => (set.gpu_users().count() as u64).saturating_sub(2),
            Print::Published => published_delaying(set, task),
        };
        let interference = set.more_urgent(task).filter(|&other| is_local(other)).filter_map(|other| {
            let other_task = &set.tasks[other];
            let on_cpu = other_task.cpu_ns() + other_task.misc_ns();
            Some(match (waiting, print) {
                (GpuWait::Suspend, Print::Equations) => {
                    Interference::carried_in(other_task.period, known[other]?, on_cpu)
                }
                (GpuWait::Suspend, Print::Table5 | Print::Published) => {
                    Interference::carried_in(other_task.period, other_task.period, on_cpu)
                }
                (GpuWait::Busy, Print::Equations) => {
                    let delay = interleaving_ns(other_task, delaying, set.gpu);
                    Interference::released_within(other_task.period, on_cpu + delay)
                }
                (GpuWait::Busy, Print::Published) if !other_task.uses_gpu() => return None,
                (GpuWait::Busy, Print::Table5 | Print::Published) => {
                    let delay = interleaving_ns(other_task, delaying, set.gpu);
                    let work = if other_task.uses_gpu() {
                        other_task.alone_ns() + other_task.misc_ns()
                    } else {
                        other_task.cpu_ns()
                    };
                    Interference::released_within(other_task.period, work + delay)
                }
            })
        });
        let interference: Vec<Interference> = interference.collect();
        let base = this.alone_ns() + interleaving_ns(this, others, set.gpu);
        least_response(base, &interference, this.deadline)
    })
}

/// ν of Eq. 6 as [`Print::Published`] has it.
fn published_delaying(set: &SegmentTaskSet, task: usize) -> u64 {
    let best_effort = (0..set.tasks.len()).filter(|&other| set.tasks[other].priority.is_none());
    let order: Vec<usize> = set.by_urgency().into_iter().chain(best_effort).collect();
    let place = order.iter().position(|&other| other == task).unwrap_or(0);
    let is_user = |&&other: &&usize| set.tasks[other].uses_gpu();
    let remote = order[..place].iter().filter(|&&other| !set.on_one_core(task, other)).filter(is_user).count();
    let taken_for_lower = order[..order.len() - 1 - place].iter().filter(is_user).count();
    (remote + taken_for_lower) as u64
}

/// Eq. 3, of all segments: (L + θ) ν ⌈G / L⌉ \[ns\].
fn interleaving_ns(task: &SegmentTask, others: u64, gpu: GpuSharing) -> u128 {
    let slice = u128::from(gpu.time_slice.as_ns());
    let turn = slice + u128::from(gpu.switch_cost.as_ns());
    let turns: u128 = task.gpu_segments().map(|segment| u128::from(segment.exec.as_ns()).div_ceil(slice)).sum();
    turn * u128::from(others) * turns
}
