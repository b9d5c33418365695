//! Time slices, the driver's default: contexts take turns of at most one slice, whatever their tasks' priorities.

use super::bounds::{
    Interference, NoBound, ResponseBounds, Responses, TaskBound, in_order, isolated, known_of, least_response,
};
use super::segment_task_set::{GpuSharing, GpuWait, SegmentTask, SegmentTaskSet};
use crate::time::Duration;

/// Bounds for all tasks.
///
/// After Wang, Liu, Wong and Kim, ECRTS 2024, section 6.2, with the switch to a task's own context added: a turn of the
/// task needs a switch too. A GPU segment of G takes ⌈G / L⌉ turns, and before each of them every other context has at
/// most one: ⌈G / L⌉ (ν (L + θ) + θ) of waiting. `docs/tasks.md` has the proofs.
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
fn not_applicable(set: &SegmentTaskSet) -> Option<Responses> {
    let why = "contexts of high level have several turns a round";
    let none = |bound: TaskBound| Responses { bounds: vec![bound; set.tasks.len()], late: vec![None; set.tasks.len()] };
    (!set.has_equal_levels()).then(|| none(TaskBound::NotApplicable(why)))
}

/// S: how long a job of a task that does not wait busily is suspended at most, in all its GPU segments \[ns\]. It does
/// not depend on what cores do.
fn suspension_ns(set: &SegmentTaskSet, task: usize) -> u128 {
    let others = set.gpu_users().filter(|&user| user != task).count() as u64;
    set.tasks[task].exec_ns() + waiting_ns(&set.tasks[task], others, others > 0, set.gpu)
}

/// What a job of `task` waits for turns of `others` contexts, and for switches to its own if the GPU `is_shared`
/// \[ns\].
fn waiting_ns(task: &SegmentTask, others: u64, is_shared: bool, gpu: GpuSharing) -> u128 {
    let own_switch = if is_shared { u128::from(gpu.switch_cost.as_ns()) } else { 0 };
    turns(task, gpu) * (u128::from(others) * turn_ns(gpu) + own_switch)
}

/// The turns that the GPU segments of a job take, all together: the sum of ⌈G / L⌉.
fn turns(task: &SegmentTask, gpu: GpuSharing) -> u128 {
    let slice = u128::from(gpu.time_slice.as_ns());
    task.gpu_segments().map(|segment| u128::from(segment.exec.as_ns()).div_ceil(slice)).sum()
}

/// L + θ \[ns\].
fn turn_ns(gpu: GpuSharing) -> u128 {
    u128::from(gpu.time_slice.as_ns()) + u128::from(gpu.switch_cost.as_ns())
}

/// What is computed of the printed analysis (ECRTS 2024, section 6.2). Unsound: for comparison only.
///
/// Eq. 3 takes (L + θ) ν ⌈G / L⌉ as the waiting of a GPU segment, which leaves out the switch to the task's own context
/// before each of its turns. Where it costs nothing (θ = 0) the equations are right.
///
/// Table 5 was not computed by these equations, but with other jitters and other numbers of contexts, which `Print`
/// tells apart; `docs/errata.md` has both.
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
pub(super) fn bounds_as_printed(set: &SegmentTaskSet, waiting: GpuWait, print: Print) -> ResponseBounds {
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
    turn_ns(gpu) * u128::from(others) * turns(task, gpu)
}

/// As what the suspensions of more urgent tasks are counted: baselines of work on tasks that suspend themselves, here
/// applied to time slices.
///
/// Under time slices a job is suspended for at most S, whatever the cores do ([`suspension_ns`]), so what is known
/// of tasks that suspend themselves on one core holds. Task k has C (here C + G^m), S and T, and tasks 1 to k - 1 are
/// more urgent, each with a bound R of at most its period. The response time is at most the least t with
///
/// | suspensions are | `t = C_k + S_k + …` |
/// | --- | --- |
/// | jitter | `Σ ⌈(t + R_i - C_i) / T_i⌉ C_i`, which is [`responses`] |
/// | execution | `Σ ⌈t / T_i⌉ (C_i + S_i)` |
/// | blocking | `Σ min(C_i, S_i) + Σ ⌈t / T_i⌉ C_i` |
/// | of each what `x_i` says | `Σ ⌈(t + Q_i + (1 - x_i) (R_i - C_i)) / T_i⌉ C_i`, `Q_i = Σ S_j x_j` over j from i |
///
/// Chen, Nelissen and Huang, "A Unifying Response Time Analysis Framework for Dynamic Self-Suspending Tasks", ECRTS
/// 2016: the four are its Eqs. 2, 1, 3 and 4 (Theorem 1), the last with any x of zeros and ones. `docs/tasks.md` says
/// more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SuspensionIs {
    /// As execution: the oblivious analysis.
    Execution,
    /// As blocking.
    Blocking,
    /// Of each task as jitter or as a part of the window: the best of the vectors that the paper has.
    WhatServesBest,
}

/// A more urgent task of the core.
struct Above {
    task: usize,
    period: Duration,
    /// C \[ns\].
    work_ns: u128,
    /// S \[ns\].
    suspension_ns: u128,
}

impl Above {
    /// U.
    fn utilization(&self) -> f64 {
        self.work_ns as f64 / self.period.as_ns() as f64
    }
}

/// Bounds for all tasks.
pub(super) fn responses_by_suspension(set: &SegmentTaskSet, suspension_is: SuspensionIs) -> Responses {
    if let Some(none) = not_applicable(set) {
        return none;
    }
    let work_ns = |task: usize| set.tasks[task].cpu_ns() + set.tasks[task].misc_ns();
    isolated(set, |task, known| {
        let more_urgent = |&other: &usize| set.tasks[other].is_more_urgent_than(&set.tasks[task]);
        let local = set.by_urgency().into_iter().filter(more_urgent).filter(|&other| set.on_one_core(task, other));
        let above: Vec<Above> = local
            .map(|other| Above {
                task: other,
                period: set.tasks[other].period,
                work_ns: work_ns(other),
                suspension_ns: suspension_ns(set, other),
            })
            .collect();
        let base_ns = work_ns(task) + suspension_ns(set, task);
        let least = |base_ns: u128, interference: &[Interference]| {
            least_response(base_ns, interference, set.tasks[task].period).ok_or(NoBound::Beyond)
        };
        match suspension_is {
            SuspensionIs::Execution => {
                let released = |one: &Above| Interference::released_within(one.period, one.work_ns + one.suspension_ns);
                least(base_ns, &above.iter().map(released).collect::<Vec<_>>())
            }
            SuspensionIs::Blocking => {
                for one in &above {
                    known_of(known, one.task)?;
                }
                let blocking: u128 = above.iter().map(|one| one.work_ns.min(one.suspension_ns)).sum();
                let released = |one: &Above| Interference::released_within(one.period, one.work_ns);
                least(base_ns + blocking, &above.iter().map(released).collect::<Vec<_>>())
            }
            SuspensionIs::WhatServesBest => {
                let of = |vector: &[bool]| least(base_ns, &interference(&above, vector, known)?);
                // As jitter, where tasks that are never suspended need no bound.
                let as_jitter: Vec<bool> = above.iter().map(|one| one.suspension_ns == 0).collect();
                let first = of(&as_jitter);
                let Some(responses_by_suspension) = above.iter().map(|one| known_of(known, one.task).ok()).collect()
                else {
                    return first;
                };
                let others = [linear(&above, responses_by_suspension), as_blocking(&above)];
                others.iter().map(|vector| of(vector)).fold(first, |best, other| match (best, other) {
                    (Ok(best), Ok(other)) => Ok(best.min(other)),
                    (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                    (Err(first), Err(_)) => Err(first),
                })
            }
        }
    })
}

/// What the tasks above take, with those of `vector` counted in windows and the others with jitter.
fn interference(above: &[Above], vector: &[bool], known: &[Option<Duration>]) -> Result<Vec<Interference>, NoBound> {
    let mut found = Vec::with_capacity(above.len());
    // Q.
    let mut suspended_ns = 0;
    for (one, is_in_window) in above.iter().zip(vector).rev() {
        let own_ns = if *is_in_window {
            suspended_ns += one.suspension_ns;
            0
        } else {
            u128::from(known_of(known, one.task)?.as_ns()).saturating_sub(one.work_ns)
        };
        let jitter_ns = suspended_ns + own_ns;
        found.push(Interference { period_ns: one.period.as_ns(), jitter_ns, work_ns: one.work_ns });
    }
    Ok(found)
}

/// The vector that is best if ⌈t⌉ is taken for t (Eq. 27).
fn linear(above: &[Above], responses_by_suspension: Vec<Duration>) -> Vec<bool> {
    let mut sum = 0.0;
    let of = |(one, response): (&Above, Duration)| {
        sum += one.utilization();
        let jitter_ns = u128::from(response.as_ns()).saturating_sub(one.work_ns);
        one.suspension_ns == 0 || one.utilization() * jitter_ns as f64 > one.suspension_ns as f64 * sum
    };
    above.iter().zip(responses_by_suspension).map(of).collect()
}

/// The vector that is never worse than counting suspensions as blocking (Lemma 17).
fn as_blocking(above: &[Above]) -> Vec<bool> {
    above.iter().map(|one| one.suspension_ns <= one.work_ns).collect()
}

/// The documented latency of the high-level contexts of a set, until one of them runs. The execution time of a
/// low-level one is its longest GPU segment: the guide's formula is for low-level work that does not yield. `None` if
/// no task has a context of high level.
pub(crate) fn drive_os_latency(set: &SegmentTaskSet) -> Option<Duration> {
    let users = || set.gpu_users().map(|user| &set.tasks[user]);
    let high = users().filter(|task| task.has_high_level).count() as u64;
    let low = users().filter(|task| !task.has_high_level);
    let longest = low.flat_map(|task| task.gpu_segments().map(|segment| segment.exec)).max();
    let others = set.gpu.time_slice.repeated(high.checked_sub(1)?);
    Some(others.saturating_add(longest.unwrap_or_default()).saturating_add(set.gpu.channel_reset))
}
