//! EDF in streams of PL priorities by RTNS 2020, Lemma 1 as printed. Unsound: for comparison only.
//!
//! Blocking is by `C_l` alone, of the tasks l <= n - PL - 1 in the order of deadlines (Eq. 4), where
//! [`limited_preemption`] has `C_l` + `PCmax_l` and l <= n - PL + 1. So that anything passes, its misprints are read as
//! [`non_preemptive_edf`](super::non_preemptive_edf) reads those of Theorem 1: with t in the demand, and from the first
//! deadline on. Eq. 5 defines the cost of task j with l from i + 1 on; it is read as j + 1.

use super::blocking::Blocking;
use super::limited_preemption;
use super::processor_demand;
use super::supply::Dedicated;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::verdict::TaskVerdict;

/// What Lemma 1 says of tasks, each with its preemption cost, in streams of `priority_levels` priorities. A yes proves
/// nothing.
pub(super) fn test(tasks: &[(Timing, TaskTime)], priority_levels: u32) -> TaskVerdict {
    let last = tasks.len().saturating_sub(priority_levels as usize + 1);
    let mut by_deadline: Vec<usize> = (0..tasks.len()).collect();
    crate::sorted::sort_by_key(&mut by_deadline, |&index| tasks[index].0.deadline);
    let blockers = by_deadline.into_iter().take(last);
    let blocking = Blocking::new(blockers.map(|index| (index, tasks[index].0.deadline, tasks[index].0.wcet)));
    processor_demand::verdict(&limited_preemption::with_costs(tasks), &Dedicated, &blocking, 1)
}
