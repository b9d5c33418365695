//! One SM that is used, and every block keeps every other out: a processor without preemption, for which the classic
//! analyses are exact. Priorities are fixed, equal ones first in, first out.
//!
//! Davis, Burns, Bril and Lukkien, "Controller Area Network (CAN) schedulability analysis: Refuted, revisited and
//! revised", Real-Time Systems 35, 2007, for fixed priorities; with each job one kernel, whose blocks are the
//! non-preemptive regions.

use super::model::{Task, TaskSet};
use super::refusal::SporadicRefusal;
use crate::analysis::safe_bound::{Weights, Work};
use crate::limits::count_steps;

/// Places in a busy window, and steps to a fixed point, that are tried.
const MOST_STEPS: usize = 100_000;

/// What a sum over all tasks comes to where work is counted.
const STEPS_OF_A_SUM: usize = 64;

/// Whether the analysis applies.
pub(super) fn applies(tasks: &TaskSet, weights: &Weights<'_>) -> bool {
    let classes = 0..tasks.classes.len();
    let mut pairs = classes.clone().flat_map(|one| classes.clone().map(move |other| (one, other)));
    let one_kernel = |task: &Task| {
        task.reached.is_none() && matches!(&task.operations[..], [one] if matches!(one.work, Work::Kernel { .. }))
    };
    tasks.sms == 1
        && tasks.is_sporadic
        && tasks.is_plain()
        && tasks.tasks.iter().all(|task| one_kernel(task) && task.jitter < task.period)
        && pairs.all(|(one, other)| weights.exclude_each_other(one, other))
}

/// (all blocks, one block) \[ns\].
fn cost(task: &Task) -> Option<(u64, u64)> {
    match task.operations.first()?.work {
        Work::Kernel { blocks, block_time, .. } => {
            let block_time = block_time.as_ns();
            Some((u64::from(blocks).checked_mul(block_time)?, block_time))
        }
        _ => None,
    }
}

/// Cost of what a task releases in a window of `length` ns, its last instant included.
fn demand(task: &Task, length: u64) -> Option<u64> {
    cost(task)?.0.checked_mul((length.checked_add(task.jitter)? / task.period.max(1)).checked_add(1)?)
}

/// Bounds the response of every task, from the arrival of a job to the end of its kernel \[ns\].
pub(super) fn responses(tasks: &TaskSet) -> Result<Vec<u64>, SporadicRefusal> {
    let of = |task: &Task| {
        let beyond = || SporadicRefusal::BeyondPeriod { thread: task.label.clone() };
        response(tasks, task).ok_or_else(beyond)
    };
    tasks.tasks.iter().map(of).collect()
}

fn response(tasks: &TaskSet, task: &Task) -> Option<u64> {
    let level = task.lowest;
    let of = |keep: fn(usize, usize) -> bool| {
        let tasks = tasks.tasks.iter().filter(move |other| keep(other.lowest, level));
        tasks.collect::<Vec<_>>()
    };
    let (higher, equal, lower) =
        (of(|other, own| other < own), of(|other, own| other == own), of(|other, own| other > own));
    let sum = |tasks: &[&Task], length: u64| {
        tasks.iter().try_fold(0_u64, |sum, other| sum.checked_add(demand(other, length)?))
    };
    // A lower block began before the window did.
    let blocking =
        lower.iter().filter_map(|other| cost(other)).map(|(_, block)| block).max().unwrap_or(0).saturating_sub(1);
    let (_, block) = cost(task)?;
    // The longest time without an instant at which all that was released before is done.
    let busy = fixed_point(1, |length| {
        let before = length.checked_sub(1)?;
        blocking.checked_add(sum(&higher, before)?)?.checked_add(sum(&equal, before)?)
    })?;
    let mut worst = 0_u64;
    let mut places: Vec<u64> = vec![0];
    for other in &equal {
        let first = other.jitter.div_ceil(other.period.max(1));
        for job in 0..MOST_STEPS as u64 {
            let place = (first + job).checked_mul(other.period.max(1))?.checked_sub(other.jitter)?;
            if place >= busy {
                break;
            }
            places.push(place);
        }
    }
    places.sort_unstable();
    places.dedup();
    if places.len() >= MOST_STEPS {
        return None;
    }
    for place in places {
        // What is in front of its last block, of its own queue.
        let front = blocking.checked_add(sum(&equal, place)?)?.checked_sub(block)?;
        let start = fixed_point(0, |start| front.checked_add(sum(&higher, start)?))?;
        worst = worst.max(start.checked_add(block)?.saturating_sub(place));
    }
    worst.checked_add(task.jitter)
}

/// The least fixed point from `start` on of a function that does not fall.
fn fixed_point(start: u64, of: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let mut length = start;
    for _ in 0..MOST_STEPS {
        count_steps(STEPS_OF_A_SUM);
        let next = of(length)?;
        if next <= length {
            return Some(length);
        }
        length = next;
    }
    None
}
