//! EDF in a reservation, decided by simulation, for synchronous periodic tasks with D <= T.
//!
//! The paper has no exact test. All jobs released in the hyperperiod H of tasks and reservation have deadlines up to H,
//! so a run of length H without a miss ends idle and in the state in which it began, and repeats for ever.
//!
//! The run takes place in the time of the reservation: an instant t becomes the service sigma(t) supplied until t, and
//! a job that ends at service v is in time exactly if v <= sigma(d).

use super::reservation::Reservation;
use super::task_set::Timing;
use super::task_time::{TaskTime, hyperperiod};
use super::verdict::{Rejection, TaskVerdict};
use crate::effort::{self, Counted};
use crate::limits::count_turn;
use crate::proven::Proven;

/// Jobs that are simulated at most: some seconds.
const MAX_JOBS: u128 = 50_000_000;

/// What a run has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdfRun {
    /// Jobs that were completed.
    pub completed: u64,
    /// The first miss, if there was one.
    pub miss: Option<Miss>,
}

/// A job that was not done by its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Miss {
    /// Index of the task.
    pub task: usize,
    /// Release of the job.
    pub release: TaskTime,
    /// Its absolute deadline.
    pub deadline: TaskTime,
    /// What was left to do at the deadline.
    pub left: TaskTime,
}

/// A task during the run. Deadlines do not exceed periods and the run ends at the first miss, so a task has at most
/// one job that is not done. Services are instants in the time of the reservation.
#[derive(Clone, Default)]
struct Running {
    /// What is left of the present job; 0 if it is done.
    left: TaskTime,
    release: TaskTime,
    deadline: TaskTime,
    /// sigma(deadline).
    due: TaskTime,
    next_release: TaskTime,
    /// sigma(next release).
    next_service: TaskTime,
}

/// Simulates preemptive EDF inside `reservation` for the jobs released in [0, `end`), until all are done or one misses
/// its deadline. Ties of deadlines go to the earlier release, then to the first task.
pub(super) fn simulate(tasks: &[Timing], reservation: Reservation, end: TaskTime) -> EdfRun {
    let mut running = vec![Running::default(); tasks.len()];
    let (mut completed, mut now) = (0, TaskTime::ZERO);
    loop {
        count_turn();
        let mut next = TaskTime::MAX;
        let mut chosen: Option<(TaskTime, TaskTime, usize)> = None;
        for (index, (state, task)) in running.iter_mut().zip(tasks).enumerate() {
            if state.next_service <= now && state.next_release < end {
                if state.left > TaskTime::ZERO {
                    return EdfRun { completed, miss: Some(state.missed(index, state.left)) };
                }
                state.left = task.wcet;
                state.release = state.next_release;
                state.deadline = state.release + task.deadline;
                state.due = reservation.supplied(state.deadline);
                state.next_release += task.period;
                state.next_service = reservation.supplied(state.next_release);
            }
            if state.next_release < end {
                // A release after the one above that the reservation does not tell apart from it is an overload.
                next = next.min(state.next_service.max(now));
            }
            let key = (state.deadline, state.release, index);
            if state.left > TaskTime::ZERO && chosen.is_none_or(|chosen| key < chosen) {
                chosen = Some(key);
            }
        }
        let Some((.., index)) = chosen else {
            if next == TaskTime::MAX {
                return EdfRun { completed, miss: None };
            }
            now = next;
            continue;
        };
        let state = &mut running[index];
        let until = next.min(now + state.left);
        if until > state.due {
            let left = state.left - state.due.saturating_sub(now);
            return EdfRun { completed, miss: Some(state.missed(index, left)) };
        }
        state.left -= until - now;
        completed += u64::from(state.left == TaskTime::ZERO);
        now = until;
    }
}

impl Running {
    fn missed(&self, task: usize, left: TaskTime) -> Miss {
        Miss { task, release: self.release, deadline: self.deadline, left }
    }
}

/// Whether synchronous periodic tasks meet their deadlines under EDF in `reservation`: exact. If not, the first miss.
pub(super) fn test(tasks: &[Timing], reservation: Reservation) -> TaskVerdict {
    if tasks.is_empty() {
        return TaskVerdict::Yes;
    }
    let periods = tasks.iter().map(|task| task.period);
    let Some(end) = hyperperiod(periods.clone().chain([reservation.period])) else {
        return TaskVerdict::Unknown("the hyperperiod does not fit 62 bits".to_owned());
    };
    // Jobs until then, unless a miss shows earlier.
    let jobs: u128 = periods.map(|period| u128::from(end / period)).sum();
    if let Err(over) = effort::spend(Counted::States, u64::try_from(jobs.min(MAX_JOBS)).proven("MAX_JOBS has 64 bits"))
    {
        return TaskVerdict::Unknown(over.to_string());
    }
    let shortened = if jobs > MAX_JOBS {
        u64::try_from(u128::from(end) * MAX_JOBS / jobs).map_or(end, TaskTime::from_units)
    } else {
        end
    };
    match simulate(tasks, reservation, shortened).miss {
        Some(Miss { task, release, deadline, left }) => {
            TaskVerdict::No(Rejection::Miss { task, release, deadline, left })
        }
        None if shortened == end => TaskVerdict::Yes,
        None => TaskVerdict::Unknown(format!("no miss in [0, {shortened}), but the hyperperiod, {end}, is longer")),
    }
}
