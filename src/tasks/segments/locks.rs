//! One lock for the GPU: MPCP and FMLP+, the baselines that time slices and GCAPS are compared with.
//!
//! A task holds the lock from the beginning to the end of each GPU segment, and its CPU part runs above all tasks
//! without the lock on its core. Tasks that wait for the lock are suspended. MPCP gives it to the most urgent of them
//! (Rajkumar, "Real-Time Synchronization Protocols for Shared Memory Multiprocessors", ICDCS 1990; Patel, Baek, Kim and
//! Rajkumar, "Analytical Enhancements and Practical Insights for MPCP with Self-Suspensions", RTAS 2018), FMLP+ to the
//! one that has waited longest (Brandenburg, "The FMLP+: An Asymptotically Optimal Real-Time Locking Protocol for
//! Suspension-Aware Analysis", ECRTS 2014).
//!
//! These bounds are for one lock, where they are simpler than theirs: the holder is delayed by nobody, for whoever else
//! is raised would hold the lock too. The GPU switches contexts at most once for each GPU segment. `docs/tasks.md` has
//! the proofs.

use super::fixed_point::{Interference, least_response};
use super::segment_task_set::{GpuSegment, GpuWait, SegmentTaskSet};
use super::task_bound::{NoBound, Responses, isolated, known_of};

/// Who of those that wait gets the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LockOrder {
    /// The most urgent: MPCP.
    Priority,
    /// The first: FMLP+.
    Fifo,
}

/// Bounds for all tasks.
pub(super) fn responses(set: &SegmentTaskSet, order: LockOrder, waiting: GpuWait) -> Responses {
    // A context that is alone never changes.
    let is_shared = set.gpu_users().count() > 1;
    let switch = if is_shared { u128::from(set.gpu.switch_cost.as_ns()) } else { 0 };
    let misc = |segment: &GpuSegment| u128::from(segment.misc.as_ns());
    let held = move |segment: &GpuSegment| u128::from(segment.exec.as_ns()) + misc(segment) + switch;
    isolated(set, |task, known| {
        let this = &set.tasks[task];
        let longest = |other: usize, length: &dyn Fn(&GpuSegment) -> u128| {
            set.tasks[other].gpu_segments().map(length).max().unwrap_or(0)
        };
        let requests = u128::from(this.gpu_count());
        // Less urgent tasks on this core that got the lock delay each of the CPU segments, once each: they asked for it
        // when this task was not ready.
        let on_cpu: &dyn Fn(&GpuSegment) -> u128 = if waiting == GpuWait::Busy { &held } else { &misc };
        let local_low = set.less_urgent(task).filter(|&low| set.on_one_core(task, low));
        let raised: u128 = local_low.map(|low| longest(low, on_cpu)).sum();
        let before: u128 = match order {
            LockOrder::Priority => set.less_urgent(task).map(|low| longest(low, &held)).max().unwrap_or(0),
            LockOrder::Fifo => set.gpu_users().filter(|&user| user != task).map(|user| longest(user, &held)).sum(),
        };
        let mut interference = Vec::new();
        for other in set.more_urgent(task) {
            let other_task = &set.tasks[other];
            let holds: u128 = other_task.gpu_segments().map(held).sum();
            let waits_for_it = requests > 0 && order == LockOrder::Priority;
            let work = match (set.on_one_core(task, other), waits_for_it || waiting == GpuWait::Busy) {
                (true, true) => other_task.cpu_ns() + holds,
                (true, false) => other_task.cpu_ns() + other_task.misc_ns(),
                (false, _) if waits_for_it => holds,
                (false, _) => continue,
            };
            // What takes nothing from it may do as it likes.
            if work == 0 {
                continue;
            }
            interference.push(if other_task.uses_gpu() {
                Interference::carried_in(other_task.period, known_of(known, other)?, work)
            } else {
                Interference::released_within(other_task.period, work)
            });
        }
        let own = this.alone_ns() + switch * requests;
        let base = own + requests * before + (requests + 1) * raised;
        least_response(base, &interference, this.period).ok_or(NoBound::Beyond)
    })
}
