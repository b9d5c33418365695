//! The smallest budgets that pass each test.

use super::analysis::ReservationTest;
use super::reservation::Reservation;
use super::task_set::{Allocation, TaskSet};
use super::task_time::TaskTime;
use super::verdict::TaskVerdict;
use crate::effort;
use crate::limits::count_turn;

/// Budgets tried one by one, at most, where the answer need not be monotone.
const MAX_TRIED: u64 = 20_000;

/// What a test needs with a given period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallestBudget {
    /// The test.
    pub test: ReservationTest,
    /// `Q_L`: the smallest budget of R(0, Q, P) with which every SM's tasks pass; `None`: none does, or it was not
    /// found.
    pub single: Option<TaskTime>,
    /// `Q_B`: the smallest budget of R(P - Q, Q, P) with which the gang tasks pass.
    pub all: Option<TaskTime>,
    /// Whether both fit into one period.
    pub fits: bool,
}

/// For each test, the smallest budgets of two reservations of one period that pass it, `R_L` at the period's beginning
/// and `R_B` at its end.
///
/// Where more service can never hurt, by bisection. The answers of the other tests need not be monotone in the budget;
/// there every budget is tried, from the smallest, and the search is given up after 20,000. Tests that are not sound
/// are left out. What is stopped or too much by [`effort`] is not found.
pub fn smallest_budgets(set: &TaskSet, period: TaskTime, tests: &[ReservationTest]) -> Vec<SmallestBudget> {
    let passes = |test: ReservationTest, allocation: Allocation, reservation: Reservation| {
        set.timings_of(allocation).is_empty()
            || super::Partition { allocation, reservation }.verdict(set, test) == TaskVerdict::Yes
    };
    tests
        .iter()
        .filter(|test| test.is_sound())
        .map(|&test| {
            let on_sms = |budget: TaskTime| {
                (0..set.sms)
                    .all(|sm| passes(test, Allocation::Sm(sm), Reservation { offset: TaskTime::ZERO, budget, period }))
            };
            let gang = |budget: TaskTime| {
                let offset = (period - budget) % period;
                passes(test, Allocation::All, Reservation { offset, budget, period })
            };
            let single = smallest(period, test, on_sms);
            let all = smallest(period, test, gang);
            let fits = single.zip(all).is_some_and(|(single, all)| single + all <= period);
            SmallestBudget { test, single, all, fits }
        })
        .collect()
}

fn smallest(period: TaskTime, test: ReservationTest, passes: impl Fn(TaskTime) -> bool) -> Option<TaskTime> {
    if !test.is_monotone_in_budget() {
        return (0..=period.units().min(MAX_TRIED))
            .map(TaskTime::from_units)
            .map_while(|budget| effort::check().is_ok().then_some(budget))
            .find(|&budget| passes(budget));
    }
    if !passes(period) {
        return None;
    }
    let (mut low, mut high) = (0, period.units());
    while low < high {
        count_turn();
        let middle = low + (high - low) / 2;
        if passes(TaskTime::from_units(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(TaskTime::from_units(low))
}
