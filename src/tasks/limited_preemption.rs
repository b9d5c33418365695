//! EDF in streams of PL priorities (RTNS 2020, section 5.2 and Lemma 1, corrected).
//!
//! Up to PL - 1 preemptions nest, each at the end of a block, so that it can cost one block of a preempted task. For
//! every absolute deadline t up to the hyperperiod:
//!
//! sum of `n_j(t)` (`C_j` + `PCmax_j`) + max { `C_h` + `PCmax_h` : `D_h` > t, at least PL - 1 tasks have longer
//! deadlines than h } <= t, and U with `C_j` + `PCmax_j` at most 1,
//!
//! where `n_j(t)` = max(0, floor((t - `D_j` + `T_j`) / `T_j`)) and `PCmax_j` is the largest PC of a task with a longer
//! deadline than j. For PL = 1 nothing is ever preempted and this is [`non_preemptive_edf`], without PC.
//!
//! What is wrong in print: the demand has no t; blocking is by l <= n - PL + 1, not n - PL - 1, and a single job in the
//! highest stream is enough to block; and the blocking job costs `PCmax_h` as well, because rule A2 lets blocks of a
//! lower stream fill the slots that its last wave leaves free, and the next job waits for those blocks.
//!
//! Sufficient for sporadic tasks whose kernels have blocks of one shape, C being the kernel's time alone on the GPU.

use super::blocking::Blocking;
use super::non_preemptive_edf;
use super::processor_demand;
use super::supply::Dedicated;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::verdict::TaskVerdict;

/// Tasks, each with its preemption cost, that have longer deadlines.
fn longer(tasks: &[(Timing, TaskTime)], deadline: TaskTime) -> impl Iterator<Item = &(Timing, TaskTime)> {
    tasks.iter().filter(move |(task, _)| task.deadline > deadline)
}

/// Execution times with the costs of preempting others added: C + `PCmax`.
pub(super) fn with_costs(tasks: &[(Timing, TaskTime)]) -> Vec<Timing> {
    let with_cost = |task: &Timing| {
        let cost = longer(tasks, task.deadline).map(|&(_, cost)| cost).max().unwrap_or(TaskTime::ZERO);
        Timing { wcet: task.wcet + cost, ..*task }
    };
    tasks.iter().map(|(task, _)| with_cost(task)).collect()
}

/// Execution times with preemption costs added, and who can block.
fn inflated(tasks: &[(Timing, TaskTime)], priority_levels: u32) -> (Vec<Timing>, Blocking) {
    let inflated = with_costs(tasks);
    let below = priority_levels.saturating_sub(1) as usize;
    let is_above = |task: &Timing| longer(tasks, task.deadline).take(below).count() == below;
    let blockers = inflated.iter().enumerate().filter(|(_, task)| is_above(task));
    let blocking = Blocking::new(blockers.map(|(index, task)| (index, task.deadline, task.wcet)));
    (inflated, blocking)
}

/// Whether tasks, each with its preemption cost, meet their deadlines in streams of `priority_levels` priorities.
pub(crate) fn test(tasks: &[(Timing, TaskTime)], priority_levels: u32) -> TaskVerdict {
    if priority_levels <= 1 {
        return non_preemptive_edf::test(&tasks.iter().map(|(task, _)| *task).collect::<Vec<_>>());
    }
    let (inflated, blocking) = inflated(tasks, priority_levels);
    processor_demand::verdict(&inflated, &Dedicated, &blocking, 1)
}
