//! Reservations in proportion to what tasks need.

use super::reservation::Reservations;
use super::task_set::{Allocation, TaskSet};
use super::task_time::TaskTime;
use super::utilization::compare_utilization;
use crate::limits::count_turn;

impl Reservations {
    /// The paper's choice (section 7.1.1, with the missing factor of the period): `Q_L` = P `U_L` / (`U_L` + `U_B`),
    /// rounded down, `U_L` being the highest utilization of one SM; `O_L` = 0, `O_B` = `Q_L`, `Q_B` = P - `Q_L`.
    pub fn proportional(set: &TaskSet, period: TaskTime) -> Self {
        let all = set.timings_of(Allocation::All);
        let singles: Vec<_> = (0..set.sms).map(|sm| set.timings_of(Allocation::Sm(sm))).collect();
        // The largest Q with Q (U_p + U_B) <= P U_p for some SM, that is (P - Q) U_p >= Q U_B.
        let enough = |budget: TaskTime| {
            singles.iter().any(|single| {
                let left = single
                    .iter()
                    .map(|task| (u128::from(task.wcet) * u128::from(period - budget), task.period.units()));
                let right = all.iter().map(|task| (u128::from(task.wcet) * u128::from(budget), task.period.units()));
                compare_utilization(left, right).is_none_or(std::cmp::Ordering::is_ge)
            })
        };
        let (mut low, mut high) = (0, period.units());
        while low < high {
            count_turn();
            let middle = low + (high - low).div_ceil(2);
            if enough(TaskTime::from_units(middle)) { low = middle } else { high = middle - 1 }
        }
        Self::split(period.units(), low)
    }
}
