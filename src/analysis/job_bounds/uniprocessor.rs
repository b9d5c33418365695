//! One SM that is used, and every block keeps every other out: a processor without preemption, for which the classic
//! analyses are exact. Priorities are fixed, equal ones first in, first out.
//!
//! A job enters its EE queue when it is released only if the job before it in its stream is done by then (G2); else it
//! enters later, and what others release meanwhile passes it. So first in, first out is by releases only among streams
//! whose jobs are all done within their periods: of several streams of one priority one of which may take longer, none
//! has a bound here. Priorities above and below are served all the same, as the processor is never idle with work.
//!
//! Davis, Burns, Bril and Lukkien, "Controller Area Network (CAN) schedulability analysis: Refuted, revisited and
//! revised", Real-Time Systems 35, 2007, for fixed priorities; with each job one kernel, whose blocks are the
//! non-preemptive regions.

use super::model::{Task, TaskSet};
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

/// Bounds the response of every task, from the arrival of a job to the end of its kernel \[ns\]; `None`: there is none,
/// or jobs of its priority may come into their queue in another order than they are released.
pub(super) fn responses(tasks: &TaskSet) -> Vec<Option<u64>> {
    let all: Vec<Option<u64>> = tasks.tasks.iter().map(|task| response(tasks, task)).collect();
    // Suppose every job of a priority so far is done by its bound, and so before the next one of its stream is
    // released: then all have come in the order of releases, and the next to be done is, too. What has no length may be
    // done in a later round of that very instant.
    let is_in_order = |(task, response): (&Task, &Option<u64>)| {
        let most =
            if cost(task).is_some_and(|(_, block)| block > 0) { task.period } else { task.period.saturating_sub(1) };
        response.is_some_and(|response| response <= most)
    };
    let holds = |task: &Task| {
        let equal = || tasks.tasks.iter().zip(&all).filter(|(other, _)| other.lowest == task.lowest);
        equal().count() == 1 || equal().all(is_in_order)
    };
    tasks.tasks.iter().zip(&all).map(|(task, response)| response.filter(|_| holds(task))).collect()
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
