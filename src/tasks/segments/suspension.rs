//! Three more ways to count the suspensions of more urgent tasks, applied to time slices: baselines of work on tasks
//! that suspend themselves.
//!
//! Under time slices a job is suspended for at most S, whatever the cores do ([`super::round_robin`]), so what is known
//! of tasks that suspend themselves on one core holds. Task k has C (here C + G^m), S and T, and tasks 1 to k - 1 are
//! more urgent, each with a bound R of at most its period. The response time is at most the least t with
//!
//! | suspensions are | `t = C_k + S_k + …` |
//! | --- | --- |
//! | jitter | `Σ ⌈(t + R_i - C_i) / T_i⌉ C_i`, which is [`super::round_robin`] |
//! | execution | `Σ ⌈t / T_i⌉ (C_i + S_i)` |
//! | blocking | `Σ min(C_i, S_i) + Σ ⌈t / T_i⌉ C_i` |
//! | of each what `x_i` says | `Σ ⌈(t + Q_i + (1 - x_i) (R_i - C_i)) / T_i⌉ C_i`, `Q_i = Σ S_j x_j` over j from i |
//!
//! Chen, Nelissen and Huang, "A Unifying Response Time Analysis Framework for Dynamic Self-Suspending Tasks", ECRTS
//! 2016: the four are its Eqs. 2, 1, 3 and 4 (Theorem 1), the last with any x of zeros and ones. `docs/tasks.md` says
//! more.

use super::fixed_point::{Interference, least_response};
use super::round_robin::{not_applicable, suspension_ns};
use super::segment_task_set::SegmentTaskSet;
use super::task_bound::{NoBound, Responses, isolated, known_of};
use crate::time::Duration;

/// As what the suspensions of more urgent tasks are counted.
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
pub(super) fn responses(set: &SegmentTaskSet, suspension_is: SuspensionIs) -> Responses {
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
                let Some(responses) = above.iter().map(|one| known_of(known, one.task).ok()).collect() else {
                    return first;
                };
                let others = [linear(&above, responses), as_blocking(&above)];
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
fn linear(above: &[Above], responses: Vec<Duration>) -> Vec<bool> {
    let mut sum = 0.0;
    let of = |(one, response): (&Above, Duration)| {
        sum += one.utilization();
        let jitter_ns = u128::from(response.as_ns()).saturating_sub(one.work_ns);
        one.suspension_ns == 0 || one.utilization() * jitter_ns as f64 > one.suspension_ns as f64 * sum
    };
    above.iter().zip(responses).map(of).collect()
}

/// The vector that is never worse than counting suspensions as blocking (Lemma 17).
fn as_blocking(above: &[Above]) -> Vec<bool> {
    above.iter().map(|one| one.suspension_ns <= one.work_ns).collect()
}
