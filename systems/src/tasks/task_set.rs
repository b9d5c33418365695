//! Tasks and sets of them.

use std::sync::Arc;

use serde::Serialize;

use super::reservation::Reservations;
use super::task_time::{TaskTime, compare_utilization};
use crate::device::BlockShape;
use crate::limits::count_turn;

/// The largest time that a task file may state, in its unit: 2^48, more than three days of nanoseconds. Sums over all
/// tasks of a set up to twice their hyperperiods then fit 64 bits.
pub(super) const MAX_TIME: TaskTime = TaskTime::from_units(1 << 48);

/// What demand depends on: worst-case execution time C, period T, relative deadline D <= T.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Timing {
    /// C, worst-case execution time, at least 1.
    pub wcet: TaskTime,
    /// T, period, or shortest time between two releases of a sporadic task; at least 1.
    pub period: TaskTime,
    /// D, deadline counted from the release; at most T.
    pub deadline: TaskTime,
}

impl Timing {
    /// (C, T, D), in units.
    pub const fn new(wcet: u64, period: u64, deadline: u64) -> Self {
        Self {
            wcet: TaskTime::from_units(wcet),
            period: TaskTime::from_units(period),
            deadline: TaskTime::from_units(deadline),
        }
    }

    /// C / T as numerator and denominator.
    pub fn load(&self) -> (u128, u64) {
        (self.wcet.into(), self.period.units())
    }

    /// C / T, for display.
    pub fn utilization(&self) -> f64 {
        self.wcet.as_f64() / self.period.as_f64()
    }
}

/// Which SMs a task uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// One SM (the paper's "single").
    Sm(u32),
    /// All SMs at once (the paper's "all").
    All,
}

/// The grid that a job launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskKernel {
    /// Blocks of the grid.
    pub blocks: u32,
    /// What one block needs.
    pub shape: BlockShape,
    /// How long one block runs.
    pub block_time: TaskTime,
}

/// A periodic or sporadic task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    /// Its name.
    pub name: Arc<str>,
    /// C, T and D.
    pub timing: Timing,
    /// PC, the time that preempting it can cost: one block of it.
    pub preemption_cost: TaskTime,
    /// Where it runs.
    pub allocation: Allocation,
    /// Release of its first job.
    pub offset: TaskTime,
    /// Whether T is only the shortest time between releases.
    pub sporadic: bool,
    /// Its fixed priority, a smaller number being more urgent; `None`: its deadline.
    pub priority: Option<u64>,
    /// What it launches; `None`: a grid that keeps its SMs busy for C, in blocks of PC.
    pub kernel: Option<TaskKernel>,
}

impl Task {
    /// A periodic task whose first job is released at 0; `preemption_cost` is in units.
    pub fn new(name: &str, timing: Timing, preemption_cost: u64, allocation: Allocation) -> Self {
        Self {
            name: name.into(),
            timing,
            preemption_cost: TaskTime::from_units(preemption_cost),
            allocation,
            offset: TaskTime::ZERO,
            sporadic: false,
            priority: None,
            kernel: None,
        }
    }

    /// Whether its jobs are released at 0, T, 2T, …: what the tests for synchronous periodic tasks need.
    pub fn is_synchronous_periodic(&self) -> bool {
        self.offset == TaskTime::ZERO && !self.sporadic
    }
}

/// A set of tasks and the platform that they are meant for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskSet {
    /// SMs.
    pub sms: u32,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The two reservations, if they were chosen.
    pub reservations: Option<Reservations>,
    /// PL, number of stream priorities.
    pub priority_levels: u32,
}

impl TaskSet {
    /// PL of sets that state none: the two of the paper.
    #[doc(hidden)]
    pub const PRIORITY_LEVELS: u32 = 2;

    /// C, T and D of all tasks.
    pub fn timings(&self) -> Vec<Timing> {
        self.tasks.iter().map(|task| task.timing).collect()
    }

    /// The tasks of one allocation, as indexes into `tasks`.
    pub fn allocated_to(&self, allocation: Allocation) -> Vec<usize> {
        (0..self.tasks.len()).filter(|&index| self.tasks[index].allocation == allocation).collect()
    }

    /// C, T and D of the tasks of one allocation.
    pub fn timings_of(&self, allocation: Allocation) -> Vec<Timing> {
        self.tasks.iter().filter(|task| task.allocation == allocation).map(|task| task.timing).collect()
    }
}

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
