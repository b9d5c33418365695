//! Responses `R_i` that bound one another, each by the smallest of the bounds that its job has (`docs/analysis.md`,
//! "Releases that are not given"):
//!
//! - the **bound by work over all phasings**, in `by_work.rs`;
//! - the **bound by orders of dispatch over all phasings**, in `orders.rs`: no job takes longer than its R if `J_i` +
//!   `F_i` <= `R_i` <= `T_i` for all i;
//! - **part by part**, in `parts.rs`;
//! - on **one processor without preemption** the analysis of Davis, Burns, Bril and Lukkien, which is exact.

use super::by_work::ByWork;
use super::model::{Task, TaskSet};
use super::orders::{Ends, Queue, Side, ends_by_orders, ends_of_queue, last, smaller};
use super::parts::Parts;
use super::{SporadicRefusal, least_fixed_point};
use crate::analysis::safe_bound::{Weights, Work};
use crate::effort;

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Explorations by task after which bounds are those of the window alone.
const MOST_EXPLORED: usize = 24;

/// By when each operation and pause of every task's jobs has ended, from the arrival of a job \[ns\]; `None`: it may
/// take longer than is allowed. Bounds hold of the tasks that have one, whatever the others do.
///
/// Of what has SMs of its own, and shares nothing but copy engines, or has turns, `sides` have bounds by orders of
/// dispatch, too.
pub(super) fn ends(tasks: &TaskSet, weights: &Weights<'_>, sides: &[Side]) -> Vec<Option<Ends>> {
    let work = ByWork::new(tasks, weights);
    let orders = Explorations::new(tasks, weights, sides);
    let mut explorations = MOST_EXPLORED * tasks.tasks.len();
    let explored = fixed_point(tasks, |task, responses| {
        let by_work = work.ends(task, responses);
        let is_enough = |ends: &Ends| responses[task].is_some_and(|response| last(ends) <= response);
        if by_work.as_ref().is_some_and(is_enough) || explorations == 0 || effort::check().is_err() {
            return by_work;
        }
        explorations -= 1;
        smaller(orders.ends(&work, task, responses), by_work)
    });
    if explored.iter().all(Option::is_some) {
        return explored;
    }
    let by_work = fixed_point(tasks, |task, responses| work.ends(task, responses));
    explored.into_iter().zip(by_work).map(|(one, other)| smaller(one, other)).collect()
}

/// The sides of a task set, and its tasks, with what explorations need.
struct Explorations<'a> {
    tasks: &'a TaskSet,
    weights: &'a Weights<'a>,
    parts: Vec<Option<Parts>>,
    sides: Vec<(&'a Side, Weights<'a>, Vec<Option<Parts>>)>,
}

impl<'a> Explorations<'a> {
    fn new(tasks: &'a TaskSet, weights: &'a Weights<'a>, sides: &'a [Side]) -> Self {
        let parts = |tasks: &TaskSet| tasks.tasks.iter().map(Parts::of).collect::<Vec<_>>();
        let side = |side: &'a Side| (side, Weights::new(&side.device, &side.tasks.classes), parts(&side.tasks));
        Self { tasks, weights, parts: parts(tasks), sides: sides.iter().map(side).collect() }
    }

    /// The bound by orders of dispatch on a task, with `responses` of all tasks.
    fn ends(&self, work: &ByWork<'_>, index: usize, responses: &[Option<u64>]) -> Option<Ends> {
        let task = &self.tasks.tasks[index];
        let of_side = self.sides.iter().find_map(|side| Some((side, side.0.place(index)?)));
        let context = of_side.and_then(|(side, _)| side.0.context);
        let of_all = || (self.tasks, self.weights, &self.parts[index], index, responses.to_vec());
        let beside = match of_side {
            Some(((side, weights, parts), place)) => {
                (&side.tasks, weights, &parts[place], place, side.of_each(responses))
            }
            None => of_all(),
        };
        // Of one job nothing is known that has others of its own before it.
        let most_alone = task.most_alone();
        let may_queue = responses[index].is_none_or(|response| response > most_alone);
        let alone = || {
            let (tasks, weights, parts, place, responses) = if context.is_some() { of_all() } else { beside.clone() };
            let ends = match parts {
                Some(parts) => parts.ends(tasks, weights, place, &responses),
                None => ends_by_orders(tasks, weights, place, &responses),
            };
            ends.filter(|ends| task.is_done_within(most_alone, ends))
        };
        let alone = if may_queue { None } else { alone() };
        let is_enough = |ends: &Ends| responses[index].is_some_and(|response| last(ends) <= response);
        if alone.is_some() && context.is_none() || alone.as_ref().is_some_and(is_enough) {
            return alone;
        }
        let lost = |queue: &Queue| {
            let Some(context) = context else { return Some(0) };
            work.lost((index, queue.jobs), (context, queue.kernels, queue.busy), queue.window, responses)
        };
        let (tasks, weights, _, place, of_each) = &beside;
        let has_core = self.tasks.has_core_to_itself(task);
        let jitter = task.released_within(responses)?;
        smaller(alone, ends_of_queue((tasks, weights), (*place, jitter, has_core, context.is_some()), of_each, lost))
    }
}

/// Why the first task that has no bound has none: the first of those whose windows do not end even if jobs of others
/// that have none end by their periods, as others may have none for its sake.
pub(super) fn refusal(tasks: &TaskSet, weights: &Weights<'_>, ends: &[Option<Ends>]) -> Option<SporadicRefusal> {
    let unbounded: Vec<usize> = (0..ends.len()).filter(|&task| ends[task].is_none()).collect();
    let at_least = |(task, ends): (&Task, &Option<Ends>)| Some(ends.as_ref().map_or(task.period, |ends| last(ends)));
    let responses: Vec<Option<u64>> = tasks.tasks.iter().zip(ends).map(at_least).collect();
    let work = ByWork::new(tasks, weights);
    let load = |task: usize| work.load(task, &responses).filter(|load| load.sum() > load.window);
    let known = unbounded.iter().find_map(|&task| Some((task, Some(load(task)?))));
    let (task, load) = known.or_else(|| Some((*unbounded.first()?, None)))?;
    Some(SporadicRefusal::BeyondPeriod { thread: tasks.tasks[task].label.clone(), load })
}

/// The least responses of which each is no less than what `ends` says by all, without those that are beyond their
/// period.
fn fixed_point(tasks: &TaskSet, mut ends: impl FnMut(usize, &[Option<u64>]) -> Option<Ends>) -> Vec<Option<Ends>> {
    // Every response takes its jitter at least; a bound only grows when another does.
    let mut responses: Vec<Option<u64>> = tasks.tasks.iter().map(|task| Some(task.jitter)).collect();
    let mut known: Vec<Option<Ends>> = vec![None; responses.len()];
    for _ in 0..MOST_ROUNDS {
        let mut grew = false;
        for (index, task) in tasks.tasks.iter().enumerate() {
            let Some(response) = responses[index] else { continue };
            known[index] = ends(index, &responses).filter(|ends| task.is_done_within(task.within, ends));
            let bound = known[index].as_ref().map(|ends| last(ends));
            if bound.is_none_or(|bound| bound > response) {
                responses[index] = bound;
                grew = true;
            }
        }
        if !grew {
            return known;
        }
    }
    vec![None; tasks.tasks.len()]
}

/// Places in a busy window, and steps to a fixed point, that are tried.
const MOST_STEPS: usize = 100_000;

/// What a sum over all tasks comes to where work is counted.
const STEPS_OF_A_SUM: usize = 64;

/// Whether the analysis applies.
///
/// One SM that is used, and every block keeps every other out: a processor without preemption, for which the classic
/// analyses are exact. Priorities are fixed, equal ones first in, first out.
///
/// A job enters its EE queue when it is released only if the job before it in its stream is done by then (G2); else it
/// enters later, and what others release meanwhile passes it. So first in, first out is by releases only among streams
/// whose jobs are all done within their periods: of several streams of one priority one of which may take longer, none
/// has a bound here. Priorities above and below are served all the same, as the processor is never idle with work.
///
/// Davis, Burns, Bril and Lukkien, "Controller Area Network (CAN) schedulability analysis: Refuted, revisited and
/// revised", Real-Time Systems 35, 2007, for fixed priorities; with each job one kernel, whose blocks are the
/// non-preemptive regions.
pub(super) fn is_uniprocessor(tasks: &TaskSet, weights: &Weights<'_>) -> bool {
    let classes = 0..tasks.classes.len();
    let mut pairs = classes.clone().flat_map(|one| classes.clone().map(move |other| (one, other)));
    let one_kernel = |task: &Task| {
        task.reached.is_none()
            && task.trigger.is_none()
            && matches!(&task.operations[..], [one] if matches!(one.work, Work::Kernel { .. }))
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
pub(super) fn exact_responses(tasks: &TaskSet) -> Vec<Option<u64>> {
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
    // B: a lower block began before the window did.
    let blocking =
        lower.iter().filter_map(|other| cost(other)).map(|(_, block)| block).max().unwrap_or(0).saturating_sub(1);
    let (_, block) = cost(task)?;
    // t, the busy period: the longest time without an instant at which all that was released before is done.
    let busy = least_fixed_point(1, (MOST_STEPS, STEPS_OF_A_SUM), |length| {
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
        // w, when the last block of the job at this place begins: after B, what is in front of it in its own queue, and
        // what comes above it until then.
        let front = blocking.checked_add(sum(&equal, place)?)?.checked_sub(block)?;
        let start =
            least_fixed_point(0, (MOST_STEPS, STEPS_OF_A_SUM), |start| front.checked_add(sum(&higher, start)?))?;
        worst = worst.max(start.checked_add(block)?.saturating_sub(place));
    }
    worst.checked_add(task.jitter)
}
