//! Which core each task shares with others, and how urgent it is there, by the model's mapping: partitioned preemptive
//! fixed priority.

use std::collections::{BTreeMap, BTreeSet};

use super::mapping::Allocation;
use super::model::{AmaltheaModel, ProcessingUnit, Task};
use crate::scenario::model::CoreShare;

/// Algorithms under which the most urgent task has its core.
const FIXED_PRIORITY: [&str; 2] = [PREEMPTIVE, "OSEK"];

/// The one whose name says that tasks are preemptive where they do not say so themselves. Under OSEK there are others.
const PREEMPTIVE: &str = "FixedPriorityPreemptive";

/// What the mapping says of tasks.
pub(super) struct CoreShares<'m> {
    /// By the number of the task: its processing unit, by number.
    units: BTreeMap<usize, usize>,
    /// By the number of the task: how urgent it is; a smaller number is more urgent.
    priorities: BTreeMap<usize, i32>,
    /// By processing unit: why who has it when may be otherwise.
    pub(super) doubts: BTreeMap<usize, BTreeSet<String>>,
    model: &'m AmaltheaModel<'m>,
}

impl<'m> CoreShares<'m> {
    /// Of all tasks that are allocated to one core.
    pub(super) fn of(model: &'m AmaltheaModel<'m>) -> Self {
        let none = || (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (units, priorities, doubts) = none();
        let mut shares = Self { units, priorities, doubts, model };
        for (number, task) in model.tasks.iter().enumerate() {
            if let [allocation] = model.mapping.of_task(&task.name)
                && let Some(unit) = model.unit_of(allocation)
                && model.processing_units.get(unit).is_some_and(|unit| unit.kind.as_deref() != Some("GPU"))
            {
                shares.add(number, task, allocation, unit);
            }
        }
        shares
    }

    fn add(&mut self, number: usize, task: &Task, allocation: &Allocation, unit: usize) {
        let of_unit = self.doubts.entry(unit).or_default();
        let scheduler = allocation.scheduler.as_deref();
        let algorithm = scheduler.and_then(|name| self.model.mapping.scheduler(name)?.algorithm.as_deref());
        if algorithm.is_none_or(|algorithm| !FIXED_PRIORITY.contains(&algorithm)) {
            let core = self.model.processing_units.get(unit).map_or("", |unit| unit.name.as_str());
            let how = algorithm.unwrap_or("what is not stated");
            of_unit.insert(format!("tasks on {core} are scheduled by {how}, here by fixed priority, preemptively"));
        }
        match task.is_preemptive {
            Some(false) => {
                of_unit.insert(format!("task {:?} does not let others have its core at any time", task.name));
            }
            None if algorithm != Some(PREEMPTIVE) => {
                of_unit.insert(format!(
                    "it is not stated whether task {:?} is preemptive, as it is taken to be",
                    task.name
                ));
            }
            _ => {}
        }
        // A larger number is more urgent in models.
        if let Some(priority) = allocation.priority.and_then(|priority| i32::try_from(priority.checked_neg()?).ok()) {
            self.priorities.insert(number, priority);
        } else {
            of_unit.insert(format!("no priority is read of task {:?}, which is below all others", task.name));
        }
        self.units.insert(number, unit);
    }

    /// The processing unit of a task, if it is one core.
    pub(super) fn unit(&self, task: usize) -> Option<usize> {
        self.units.get(&task).copied()
    }

    /// How urgent a task is on its core; a smaller number is more urgent.
    pub(super) fn priority(&self, task: usize) -> i32 {
        self.priorities.get(&task).copied().unwrap_or(i32::MAX)
    }

    /// The number that a processing unit has as a core: the one at the end of its name, if all are told apart by that.
    pub(super) fn core(&self, unit: usize) -> u32 {
        let at_end = |unit: &ProcessingUnit| {
            let digits = unit.name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            unit.name.get(digits..)?.parse::<u32>().ok().filter(|number| *number <= CoreShare::MOST_CORE)
        };
        let used: BTreeSet<usize> = self.units.values().copied().collect();
        let all: Option<BTreeSet<u32>> =
            used.iter().map(|&unit| at_end(self.model.processing_units.get(unit)?)).collect();
        let own = self.model.processing_units.get(unit).and_then(at_end);
        match own.filter(|_| all.is_some_and(|all| all.len() == used.len())) {
            Some(number) => number,
            None => used
                .iter()
                .position(|one| *one == unit)
                .and_then(|at| u32::try_from(at).ok())
                .unwrap_or(0)
                .min(CoreShare::MOST_CORE),
        }
    }
}

impl AmaltheaModel<'_> {
    /// The number of the only processing unit on which something may run that is allocated so.
    fn unit_of(&self, allocation: &Allocation) -> Option<usize> {
        let of_scheduler = || {
            let scheduler = self.mapping.scheduler(allocation.scheduler.as_deref()?)?;
            Some(scheduler.responsible_for.as_slice())
        };
        let names = if allocation.affinity.is_empty() { of_scheduler()? } else { allocation.affinity.as_slice() };
        let [name] = names else { return None };
        self.processing_units.iter().position(|unit| unit.name == *name)
    }

    /// Whether a task is allocated to a GPU.
    pub(super) fn is_on_gpu(&self, task: &Task) -> bool {
        let on_gpu = |allocation: &Allocation| {
            let unit = self.unit_of(allocation).and_then(|unit| self.processing_units.get(unit));
            unit.is_some_and(|unit| unit.kind.as_deref() == Some("GPU"))
        };
        matches!(self.mapping.of_task(&task.name), [one] if on_gpu(one))
    }
}
