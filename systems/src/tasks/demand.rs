//! Processor demand of sporadic tasks, and whether it stays within a supply.
//!
//! Quick processor-demand analysis (Zhang and Burns, "Schedulability Analysis for Real-Time Systems with EDF
//! Scheduling", IEEE Transactions on Computers 58(9), 2009), for any supply that never falls and with blocking that is
//! constant between deadlines: from a point t that passes with demand h(t), everything from the first instant at which
//! the supply reaches h(t) passes too, since demand never falls.

use std::cmp::Ordering;

use super::reservation::Supply;
use super::task_set::Timing;
use super::task_time::{TaskTime, compare_utilization, hyperperiod, scaled, sum};
use super::verdict::{Rejection, TaskVerdict};
use crate::effort::{self, Counted};
use crate::limits::{count_turn, end_if_stopped};

/// dbf(t): the most execution time that jobs with release and deadline within any interval of length t can ask for,
/// the sum of max(0, floor((t - D + T) / T)) C (Baruah, Rosier and Howell, "Algorithms and Complexity Concerning the
/// Preemptive Scheduling of Periodic, Real-Time Tasks on One Processor", 1990; RTNS 2020, Eq. 8 with its sign mended).
pub fn dbf(tasks: &[Timing], t: TaskTime) -> TaskTime {
    end_if_stopped();
    tasks.iter().filter(|task| t >= task.deadline).map(|task| ((t - task.deadline) / task.period + 1) * task.wcet).sum()
}

/// The last absolute deadline D + k T before `t`.
pub(crate) fn last_deadline_before(tasks: &[Timing], t: TaskTime) -> Option<TaskTime> {
    tasks
        .iter()
        .filter(|task| task.deadline < t)
        .map(|task| t - TaskTime::UNIT - (t - TaskTime::UNIT - task.deadline) % task.period)
        .max()
}

/// The first absolute deadline after `t`, or at 0 or later for `None`; and a task that has it.
pub(crate) fn first_deadline_after(tasks: &[Timing], t: Option<TaskTime>) -> Option<(TaskTime, usize)> {
    let next = |task: &Timing| match t {
        Some(t) if t >= task.deadline => task.deadline + ((t - task.deadline) / task.period + 1) * task.period,
        _ => task.deadline,
    };
    tasks.iter().map(next).zip(0..).min()
}

/// Points after which a decision is given up: some seconds.
const MAX_POINTS: u64 = 20_000_000;
/// Points after which it is looked whether to go on.
const EACH: u64 = 1_024;
/// Points looked at to show the first failing instant rather than any.
const MAX_EXPLAINED: u64 = 100_000;

/// Whether demand plus blocking is at most supply, always; or an instant at which it is not.
enum Decision {
    Holds,
    Fails(TaskTime),
    Overload,
    GivenUp(&'static str),
}

/// Decides dbf(t) + blocking(t) <= supply(t) at every absolute deadline t, and that utilization <= long-run supply; if
/// not, why. `unit` divides all times for display.
pub(super) fn verdict(tasks: &[Timing], supply: &impl Supply, blocking: &Blocking, unit: u64) -> TaskVerdict {
    let shown = |value: TaskTime| value.as_f64() / unit as f64;
    match decide(tasks, supply, blocking) {
        Decision::Holds => TaskVerdict::Yes,
        Decision::GivenUp(why) => TaskVerdict::Unknown(why.to_owned()),
        Decision::Overload => {
            let ((budget, period), _) = supply.rate_and_delay();
            let share = tasks.iter().map(Timing::utilization).sum();
            TaskVerdict::No(Rejection::Utilization { share, supplied_share: budget.as_f64() / period.as_f64() })
        }
        Decision::Fails(found) => {
            let fails = |t: TaskTime| dbf(tasks, t) + blocking.at(t).0 > supply.within(t);
            let mut next = first_deadline_after(tasks, None);
            let mut looked_at = 0;
            while let Some((t, _)) = next.filter(|&(t, _)| t < found && looked_at < MAX_EXPLAINED && !fails(t)) {
                count_turn();
                next = first_deadline_after(tasks, Some(t));
                looked_at += 1;
            }
            let instant = next.map(|(t, _)| t).filter(|&t| fails(t)).unwrap_or(found);
            let has_deadline = |task: &Timing| {
                instant.checked_sub(task.deadline).is_some_and(|since| since.is_multiple_of(task.period))
            };
            let (time, blocked_by, _) = blocking.at(instant);
            TaskVerdict::No(Rejection::Demand {
                task: tasks.iter().position(has_deadline).unwrap_or(0),
                instant: shown(instant),
                demand: shown(dbf(tasks, instant)),
                blocking: time,
                blocked_by: blocked_by.filter(|_| time > TaskTime::ZERO),
                supply: shown(supply.within(instant)),
            })
        }
    }
}

/// The same where nothing blocks: dbf(t) <= supply(t).
pub(super) fn within(tasks: &[Timing], supply: &impl Supply) -> TaskVerdict {
    verdict(tasks, supply, &Blocking::default(), 1)
}

fn decide(tasks: &[Timing], supply: &impl Supply, blocking: &Blocking) -> Decision {
    let ((budget, period), _) = supply.rate_and_delay();
    let load = tasks.iter().map(Timing::load);
    let is_full = match compare_utilization(load, std::iter::once((u128::from(budget), period.units()))) {
        Some(Ordering::Greater) => return Decision::Overload,
        Some(Ordering::Equal) => true,
        Some(Ordering::Less) => false,
        None => return Decision::GivenUp("utilization and supply are too close to be compared in 128 bits"),
    };
    let Some(bound) = bound(tasks, supply, blocking, is_full) else {
        return Decision::GivenUp("the hyperperiod does not fit 62 bits, and no shorter interval decides");
    };
    let mut next = last_deadline_before(tasks, bound + TaskTime::UNIT);
    for point in 0..MAX_POINTS {
        if point % EACH == EACH - 1 && effort::spend(Counted::States, EACH).is_err() {
            return Decision::GivenUp("it was stopped");
        }
        let Some(t) = next else { return Decision::Holds };
        let (blocked, _, same_since) = blocking.at(t);
        let enough = supply.time_for(dbf(tasks, t) + blocked);
        if enough > t {
            return Decision::Fails(t);
        }
        next = last_deadline_before(tasks, enough.max(same_since));
    }
    Decision::GivenUp("more than 20 million deadlines would have to be looked at")
}

/// An instant up to which a failure must show if there is one: the smaller of
/// - where the lines cross that bound demand from above, U t + sum of u (T - D) + longest blocking, and supply from
///   below, (Q / P) (t - delay);
/// - the hyperperiod of tasks and supply: beyond it demand grows by no more than supply (D <= T), and where nothing
///   blocks any more.
fn bound(tasks: &[Timing], supply: &impl Supply, blocking: &Blocking, is_full: bool) -> Option<TaskTime> {
    let ((budget, period), delay) = supply.rate_and_delay();
    let crossing = || {
        let rate = scaled(u128::from(budget), period.units());
        let load = sum(tasks.iter().map(Timing::load)).high;
        let gap = rate.low.checked_sub(load).filter(|&gap| gap > 0)?;
        let ahead: u128 = tasks
            .iter()
            .map(|task| scaled(task.wcet.into(), task.period.units()).high * u128::from(task.period - task.deadline))
            .sum();
        let above = ahead + (u128::from(blocking.longest()) << 32) + rate.high * u128::from(delay);
        u64::try_from(above.div_ceil(gap)).ok().filter(|&crossing| crossing < 1 << 61).map(TaskTime::from_units)
    };
    let crossing = if is_full { None } else { crossing() };
    // Computing the hyperperiod costs more than looking at a few more deadlines.
    let longest = tasks.iter().map(|task| task.period).max().unwrap_or(TaskTime::UNIT).max(period);
    if let Some(crossing) = crossing.filter(|&crossing| crossing.units() / 64 < longest.units()) {
        return Some(crossing.max(blocking.end()));
    }
    let hyperperiod = hyperperiod(tasks.iter().map(|task| task.period).chain([period]));
    let shorter = match (crossing, hyperperiod) {
        (Some(crossing), Some(hyperperiod)) => Some(crossing.min(hyperperiod)),
        (one, other) => one.or(other),
    };
    shorter.map(|shorter| shorter.max(blocking.end()))
}

/// The longest time for which a job with deadline t can be blocked by one job of a task with a longer relative
/// deadline: a step function of t that never grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocking {
    /// (deadline of a blocking task, longest blocking by it and all with longer deadlines, who that is), by deadline.
    steps: Vec<(TaskTime, TaskTime, usize)>,
}

impl Blocking {
    /// From (deadline, blocking time) of each task that can block, with its index.
    pub(super) fn new(blockers: impl Iterator<Item = (usize, TaskTime, TaskTime)>) -> Self {
        let mut steps: Vec<_> = blockers.map(|(task, deadline, time)| (deadline, time, task)).collect();
        steps.sort_unstable();
        for index in (1..steps.len()).rev() {
            if steps[index - 1].1 < steps[index].1 {
                (steps[index - 1].1, steps[index - 1].2) = (steps[index].1, steps[index].2);
            }
        }
        Self { steps }
    }

    /// max { blocking time of l : `D_l` > t }, who has it, and the smallest t' for which it is the same.
    pub(super) fn at(&self, t: TaskTime) -> (TaskTime, Option<usize>, TaskTime) {
        let next = self.steps.partition_point(|(deadline, ..)| *deadline <= t);
        let since = next.checked_sub(1).map_or(TaskTime::ZERO, |last| self.steps[last].0);
        self.steps.get(next).map_or((TaskTime::ZERO, None, since), |&(_, time, task)| (time, Some(task), since))
    }

    /// The blocking at t = 0, the longest.
    pub(super) fn longest(&self) -> TaskTime {
        self.steps.first().map_or(TaskTime::ZERO, |step| step.1)
    }

    /// From here on nothing blocks.
    pub(super) fn end(&self) -> TaskTime {
        self.steps.last().map_or(TaskTime::ZERO, |step| step.0)
    }
}
