//! Responses `R_i` that bound one another, each by the smallest of the bounds that its job has (`docs/analysis.md`,
//! "Releases that are not given"):
//!
//! - the **bound by work over all phasings**, in `by_work.rs`;
//! - the **bound by orders of dispatch over all phasings**: with `F_i` the bound by orders of dispatch on a job that is
//!   released at r, beside jobs of every other stream j released at r - `R_j` + 1 ns + n `T_j` or later, or never, no
//!   job takes longer than its R if `J_i` + `F_i` <= `R_i` <= `T_i` for all i;
//! - **part by part**, of a job that is cut where its host has waited for all that it has submitted: with `F_s` a bound
//!   on what it submits in part s, all is done in J + w, for the least w that holds its work and sleeps, all `F_s`, and
//!   what more urgent hosts have of its core;
//! - on **one processor without preemption** the analysis of Davis, Burns, Bril and Lukkien, which is exact.

use super::by_work::ByWork;
use super::model::{Task, TaskSet, levels};
use super::{Side, SporadicRefusal, least_fixed_point};
use crate::analysis::safe_bound::{Job, Operation, Phased, Weights, Work};
use crate::effort;
use crate::limits::count_turn;

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Explorations by task after which bounds are those of the window alone.
const MOST_EXPLORED: usize = 24;

/// By when each operation and pause of every task's jobs has ended, from the arrival of a job \[ns\]; `None`: it may
/// take longer than is allowed. Bounds hold of the tasks that have one, whatever the others do.
///
/// Of what has SMs of its own, and shares nothing but copy engines, `sides` have bounds by orders of dispatch, too.
pub(super) fn ends(tasks: &TaskSet, weights: &Weights<'_>, sides: &[Side]) -> Vec<Option<Ends>> {
    let work = ByWork::new(tasks, weights);
    let parts: Vec<Option<Parts>> = tasks.tasks.iter().map(Parts::of).collect();
    let sides: Vec<Explored<'_>> = sides.iter().map(Explored::new).collect();
    let mut explorations = MOST_EXPLORED * tasks.tasks.len();
    let explored = fixed_point(tasks, |task, responses| {
        let by_work = work.ends(task, responses);
        let is_enough = |ends: &Ends| responses[task].is_some_and(|response| last(ends) <= response);
        // By orders of dispatch nothing is known of a job that has others of its own before it.
        let most_alone = tasks.tasks[task].most_alone();
        let may_queue = responses[task].is_none_or(|response| response > most_alone);
        let is_enough = by_work.as_ref().is_some_and(is_enough) || may_queue;
        if is_enough || explorations == 0 || effort::check().is_err() {
            return by_work;
        }
        explorations -= 1;
        let of_side = sides.iter().find_map(|side| Some((side, side.place(task)?)));
        let by_orders = match (of_side, &parts[task]) {
            (Some((side, place)), _) => side.ends(place, responses),
            (None, Some(parts)) => parts.ends(tasks, weights, task, responses),
            (None, None) => ends_by_orders(tasks, weights, task, responses),
        };
        smaller(by_orders.filter(|ends| tasks.tasks[task].is_done_within(most_alone, ends)), by_work)
    });
    if explored.iter().all(Option::is_some) {
        return explored;
    }
    let by_work = fixed_point(tasks, |task, responses| work.ends(task, responses));
    explored.into_iter().zip(by_work).map(|(one, other)| smaller(one, other)).collect()
}

/// Why the first task that has no bound has none: the first of those whose windows do not end even if jobs of others
/// that have none end by their periods, as others may have none for its sake.
pub(super) fn refusal(tasks: &TaskSet, weights: &Weights<'_>, ends: &[Option<Ends>]) -> Option<SporadicRefusal> {
    let unbounded: Vec<usize> = (0..ends.len()).filter(|&task| ends[task].is_none()).collect();
    let at_least = |(task, ends): (&Task, &Option<Ends>)| Some(ends.as_ref().map_or(task.period, last));
    let responses: Vec<Option<u64>> = tasks.tasks.iter().zip(ends).map(at_least).collect();
    let work = ByWork::new(tasks, weights);
    let load = |task: usize| work.load(task, &responses).filter(|load| load.sum() > load.window);
    let known = unbounded.iter().find_map(|&task| Some((task, Some(load(task)?))));
    let (task, load) = known.or_else(|| Some((*unbounded.first()?, None)))?;
    Some(SporadicRefusal::BeyondPeriod { thread: tasks.tasks[task].label.clone(), load })
}

/// A side with what its explorations need.
struct Explored<'a> {
    side: &'a Side,
    weights: Weights<'a>,
    parts: Vec<Option<Parts>>,
}

impl<'a> Explored<'a> {
    fn new(side: &'a Side) -> Self {
        let weights = Weights::new(&side.device, &side.tasks.classes);
        Self { side, weights, parts: side.tasks.tasks.iter().map(Parts::of).collect() }
    }

    /// Which of its tasks a task is, if it is one of this side.
    fn place(&self, task: usize) -> Option<usize> {
        self.side.of[..self.side.own].iter().position(|&of| of == task)
    }

    /// The bound by orders of dispatch on one of its tasks, with `responses` of all tasks.
    fn ends(&self, place: usize, responses: &[Option<u64>]) -> Option<Ends> {
        let Side { tasks, of, .. } = self.side;
        let responses: Vec<Option<u64>> = of.iter().map(|&of| responses.get(of).copied().flatten()).collect();
        match &self.parts[place] {
            Some(parts) => parts.ends(tasks, &self.weights, place, &responses),
            None => ends_by_orders(tasks, &self.weights, place, &responses),
        }
    }
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
            let bound = known[index].as_ref().map(last);
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

/// By when each operation of a task's job has ended, from its arrival \[ns\].
type Ends = Vec<u64>;

/// Jobs of one task beside another's above which nothing is explored.
const MOST_JOBS: u64 = 32;

/// By when each operation of a job of task number `index` has ended, from its arrival \[ns\], if `responses` bound
/// those of all tasks and its own is not beyond its period. It holds if none is more than `responses[index]`. `None`:
/// too much to explore, or something holds operations that the orders of dispatch do not know, or it waits for a task
/// whose response is not known.
fn ends_by_orders(tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[Option<u64>]) -> Option<Vec<u64>> {
    let task = tasks.tasks.get(index)?;
    // Where threads wait for one another's operations, nothing is known of the order in which they then go on; nor when
    // a host of the job goes on that works.
    let works = task.operations.iter().any(|operation| matches!(operation.work, Work::Busy(_)));
    if works || !tasks.is_plain() || tasks.tasks.iter().any(|task| task.reached.is_some()) {
        return None;
    }
    let apart = set_apart(tasks, task);
    let is_lower = |other: usize| apart[other];
    // What is known of lower priorities is of little use, and there are fewer orders without it.
    let found = of_job(tasks, weights, index, responses, is_lower);
    let is_known = found.as_ref().is_some_and(|found| responses[index].is_some_and(|response| last(found) <= response));
    if is_known || !(0..tasks.tasks.len()).any(is_lower) {
        return found;
    }
    smaller(found, of_job(tasks, weights, index, responses, |_| false))
}

/// One by one, the smaller of two bounds.
fn smaller(one: Option<Vec<u64>>, other: Option<Vec<u64>>) -> Option<Vec<u64>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.into_iter().zip(other).map(|(one, other)| one.min(other)).collect()),
        (one, other) => one.or(other),
    }
}

/// The copy engines of a task.
fn engines(task: &Task) -> impl Iterator<Item = usize> {
    task.operations.iter().filter_map(|operation| match operation.work {
        Work::Copy { engine, .. } => Some(engine),
        _ => None,
    })
}

/// By task: whether all of it is below all tasks of which this is not so, `task` among them, and none of its copies may
/// be before one of theirs.
fn set_apart(tasks: &TaskSet, task: &Task) -> Vec<bool> {
    let mut apart: Vec<bool> = tasks.tasks.iter().map(|other| other.highest > task.lowest).collect();
    loop {
        count_turn();
        let beside = || tasks.tasks.iter().zip(&apart).filter(|(_, apart)| !**apart).map(|(one, _)| one);
        let lowest = beside().map(|one| one.lowest).max();
        let used: Vec<usize> = beside().flat_map(engines).collect();
        let interferes =
            |other: &Task| Some(other.highest) <= lowest || engines(other).any(|engine| used.contains(&engine));
        let next = (0..apart.len()).find(|&other| apart[other] && interferes(&tasks.tasks[other]));
        let Some(next) = next else { return apart };
        apart[next] = false;
    }
}

/// The same, where of some tasks nothing is known but that they are below all others.
fn of_job(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    index: usize,
    responses: &[Option<u64>],
    is_lower: impl Fn(usize) -> bool,
) -> Option<Vec<u64>> {
    let task = &tasks.tasks[index];
    let (mut others, mut lower) = (Vec::new(), Vec::new());
    for (number, (other, response)) in tasks.tasks.iter().zip(responses).enumerate() {
        if number == index {
            continue;
        }
        if is_lower(number) {
            lower.push(&other.operations[..]);
            continue;
        }
        // Those that arrived by r - R_j are done at r, so that the first of the others comes at r - R_j + 1 ns.
        let before = (*response)?.saturating_sub(1);
        let jobs = other.jobs(responses[index]?.checked_add(before)?, Some(0))?.max(1);
        if jobs > MOST_JOBS {
            return None;
        }
        let job = |number: u64| {
            let after = number.checked_mul(other.period)?;
            Some(Job { operations: &other.operations, before, after, begin: other.begin(*response) })
        };
        others.push((0..jobs).map(job).collect::<Option<Vec<_>>>()?);
    }
    let phased = Phased {
        job: &task.operations,
        begin: task.begin(responses[index]),
        others,
        lower,
        streams: tasks.streams,
        levels: tasks.levels,
        engines: tasks.engines,
    };
    // J_i + F_i.
    let (jitter, ends) = (task.released_within(responses)?, phased.ends(&tasks.classes, weights)?);
    ends.into_iter().map(|end| end.checked_add(jitter)).collect()
}

/// When the last operation of a job has ended.
fn last(ends: &Ends) -> u64 {
    ends.iter().max().copied().unwrap_or(0)
}

/// Steps to a fixed point that are tried.
const MOST_RAISES: usize = 10_000;

/// A job whose host works, in parts: between two of them the host has waited for all that it has submitted. Its
/// response is bounded part by part (`docs/analysis.md`, "Cores").
#[derive(Debug, Clone)]
struct Parts {
    /// Work and sleeps of the host in all \[ns\].
    host: u64,
    /// What it submits in each part, as if a job did nothing else.
    submits: Vec<Task>,
    /// Operations and pauses of the job.
    operations: usize,
}

impl Parts {
    /// Of a task whose host works; `None`: it does not, or waits for others, or works before it has waited for all.
    fn of(task: &Task) -> Option<Self> {
        let works = |operation: &Operation| matches!(operation.work, Work::Busy(_));
        if task.reached.is_some() || task.members.len() != 1 || !task.operations.iter().any(works) {
            return None;
        }
        let mut host = 0_u64;
        let mut parts: Vec<Vec<Operation>> = vec![Vec::new()];
        let mut first = 0;
        for (number, operation) in task.operations.iter().enumerate() {
            let time = match operation.work {
                Work::Pause(time) | Work::Busy(time) => Some(time.as_ns()).filter(|_| task.waits_for_all(number)),
                _ => None,
            };
            if let Some(time) = time {
                host = host.checked_add(time)?;
                parts.push(Vec::new());
                first = number + 1;
            } else if works(operation) {
                return None;
            } else {
                let after = operation.after.iter().filter_map(|before| before.checked_sub(first)).collect();
                parts.last_mut()?.push(Operation { after, ..operation.clone() });
            }
        }
        let part = |operations: Vec<Operation>| {
            let (highest, lowest) = levels(&operations);
            Task { operations, highest, lowest, core: None, jitter: 0, trigger: None, is_timed: false, ..task.clone() }
        };
        let submits = parts.into_iter().filter(|part| !part.is_empty()).map(part).collect();
        Some(Self { host, submits, operations: task.operations.len() })
    }

    /// By when all of a job has ended, from its arrival \[ns\], if `responses` bound those of all tasks.
    fn ends(&self, tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[Option<u64>]) -> Option<Ends> {
        let task = tasks.tasks.get(index)?;
        // Work and sleeps, and all F_s.
        let mut alone = self.host;
        for part in &self.submits {
            alone = alone.checked_add(f_s(part, tasks, weights, index, responses)?)?;
        }
        let jitter = task.released_within(responses)?;
        let most = task.within.checked_sub(jitter)?;
        let reach = task.core.map_or(0, |core| core.reach());
        // And what more urgent hosts have of the core.
        let w = least_fixed_point(alone, (MOST_RAISES, tasks.tasks.len()), |w| {
            let sum = alone.checked_add(tasks.higher(task, w.checked_add(reach)?, responses)?)?;
            Some(sum).filter(|sum| *sum <= most.max(w))
        })?;
        Some(vec![jitter.checked_add(w)?; self.operations])
    }
}

/// `F_s`: how long a part takes from its launch to its end, if a job of the task did nothing else.
fn f_s(part: &Task, tasks: &TaskSet, weights: &Weights<'_>, index: usize, responses: &[Option<u64>]) -> Option<u64> {
    let mut tasks = tasks.clone();
    tasks.tasks[index] = part.clone();
    let work = ByWork::new(&tasks, weights);
    let mut responses = responses.to_vec();
    let mut longest = 0;
    for _ in 0..MOST_RAISES {
        responses[index] = Some(longest);
        let by_work = work.ends(index, &responses);
        let is_enough = by_work.as_ref().is_some_and(|ends| last(ends) <= longest);
        let by_orders = if is_enough { None } else { ends_by_orders(&tasks, weights, index, &responses) };
        let found = last(&smaller(by_orders, by_work)?);
        if found <= longest {
            return Some(longest);
        }
        longest = found;
    }
    None
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
