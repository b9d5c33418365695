//! EDF in streams: in one, where nothing is preempted, and in streams of several priorities.

use super::demand::{self, Blocking};
use super::reservation::Dedicated;
use super::task_set::Timing;
use super::task_time::TaskTime;
use super::verdict::TaskVerdict;

/// Whether the tasks meet their deadlines under non-preemptive EDF in one stream, and if not, why (RTNS 2020, section
/// 5.1 and Theorem 1, corrected).
///
/// For every absolute deadline t: dbf(t) + max { `C_l` : `D_l` > t } <= t, and U <= 1 (Jeffay, Stanat and Martel, "On
/// Non-Preemptive Scheduling of Periodic and Sporadic Tasks", RTSS 1991, for D = T). The printed Eq. 3 has no t in its
/// demand, and asks for the blocking of every task at every t, also before any of its deadlines, which nothing passes.
///
/// Sufficient for sporadic tasks, hence for periodic ones with any offsets. Jobs of length `C_l` block for `C_l`
/// although one that started strictly earlier blocks for less than `C_l`: in whole time units the test is safe by one
/// unit.
pub(crate) fn non_preemptive(tasks: &[Timing]) -> TaskVerdict {
    let blockers = tasks.iter().enumerate().map(|(index, task)| (index, task.deadline, task.wcet));
    demand::verdict(tasks, &Dedicated, &Blocking::new(blockers), 1)
}

/// Tasks, each with its preemption cost, that have longer deadlines.
fn longer(tasks: &[(Timing, TaskTime)], deadline: TaskTime) -> impl Iterator<Item = &(Timing, TaskTime)> {
    tasks.iter().filter(move |(task, _)| task.deadline > deadline)
}

/// The tasks, with the cost of preempting others added to their execution times: C + `PCmax`.
fn with_costs(tasks: &[(Timing, TaskTime)]) -> Vec<Timing> {
    let with_cost = |(task, _): &(Timing, TaskTime)| {
        let cost = longer(tasks, task.deadline).map(|&(_, cost)| cost).max().unwrap_or(TaskTime::ZERO);
        Timing { wcet: task.wcet + cost, ..*task }
    };
    tasks.iter().map(with_cost).collect()
}

/// Whether tasks, each with its preemption cost, meet their deadlines under EDF in streams of PL = `priority_levels`
/// priorities, and if not, why (RTNS 2020, section 5.2 and Lemma 1, corrected).
///
/// Up to PL - 1 preemptions nest, each at the end of a block, so that it can cost one block of a preempted task. For
/// every absolute deadline t up to the hyperperiod:
///
/// sum of `n_j(t)` (`C_j` + `PCmax_j`) + max { `C_h` + `PCmax_h` : `D_h` > t, at least PL - 1 tasks have longer
/// deadlines than h } <= t, and U with `C_j` + `PCmax_j` at most 1,
///
/// where `n_j(t)` = max(0, floor((t - `D_j` + `T_j`) / `T_j`)) and `PCmax_j` is the largest PC of a task with a longer
/// deadline than j. For PL = 1 nothing is ever preempted and this is [`non_preemptive`], without PC.
///
/// What is wrong in print: the demand has no t; blocking is by l <= n - PL + 1, not n - PL - 1, and a single job in the
/// highest stream is enough to block; and the blocking job costs `PCmax_h` as well, because rule A2 lets blocks of a
/// lower stream fill the slots that its last wave leaves free, and the next job waits for those blocks.
///
/// Sufficient for sporadic tasks whose kernels have blocks of one shape, C being the kernel's time alone on the GPU.
pub(crate) fn limited_preemption(tasks: &[(Timing, TaskTime)], priority_levels: u32) -> TaskVerdict {
    if priority_levels <= 1 {
        return non_preemptive(&tasks.iter().map(|(task, _)| *task).collect::<Vec<_>>());
    }
    let inflated = with_costs(tasks);
    let below = (priority_levels - 1) as usize;
    let is_above = |task: &Timing| longer(tasks, task.deadline).take(below).count() == below;
    let blockers = inflated.iter().enumerate().filter(|(_, task)| is_above(task));
    let blocking = Blocking::new(blockers.map(|(index, task)| (index, task.deadline, task.wcet)));
    demand::verdict(&inflated, &Dedicated, &blocking, 1)
}

/// What Lemma 1 says as printed. Unsound, for comparison only: a yes proves nothing.
///
/// Blocking is by `C_l` alone, of the tasks l <= n - PL - 1 in the order of deadlines (Eq. 4), where
/// [`limited_preemption`] has `C_l` + `PCmax_l` and l <= n - PL + 1. So that anything passes, its misprints are read as
/// [`non_preemptive`] reads those of Theorem 1: with t in the demand, and from the first deadline on. Eq. 5 defines the
/// cost of task j with l from i + 1 on; it is read as j + 1.
pub(super) fn limited_preemption_as_printed(tasks: &[(Timing, TaskTime)], priority_levels: u32) -> TaskVerdict {
    let last = tasks.len().saturating_sub(priority_levels as usize + 1);
    let mut by_deadline: Vec<usize> = (0..tasks.len()).collect();
    crate::sorted::sort_by_key(&mut by_deadline, |&index| tasks[index].0.deadline);
    let blockers = by_deadline.into_iter().take(last);
    let blocking = Blocking::new(blockers.map(|index| (index, tasks[index].0.deadline, tasks[index].0.wcet)));
    demand::verdict(&with_costs(tasks), &Dedicated, &blocking, 1)
}
