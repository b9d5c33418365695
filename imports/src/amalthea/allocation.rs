//! Which core each task shares with others, and how urgent it is there, by the model's mapping: partitioned preemptive
//! fixed priority. And of which process each stream is.

use std::collections::{BTreeMap, BTreeSet};

use super::activations::Sequence;
use super::hardware::ProcessingUnit;
use super::mapping::Allocation;
use super::model::{AmaltheaModel, Task};
use super::options::AmaltheaOptions;
use super::xml::Problem;
use crate::scenario::{CoreShare, ScenarioBuilder};
use crate::spelling::option;
use crate::words::did_you_mean;
use crate::workload::{ProcessId, ProcessSpec};

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
        let (units, priorities) = (BTreeMap::new(), BTreeMap::new());
        let mut shares = Self { units, priorities, doubts: BTreeMap::new(), model };
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
            of_unit.insert(format!("tasks on {core:?} are scheduled by {how}, here by fixed priority, preemptively"));
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

impl AmaltheaModel<'_> {
    /// Whether tasks are allocated to cores, and there is no GPU.
    pub(super) fn has_cores_alone(&self) -> bool {
        let is_on_core = |task: &Task| matches!(self.mapping.of_task(&task.name), [one] if self.unit_of(one).is_some());
        self.processing_units.iter().all(|unit| unit.kind.as_deref() != Some("GPU"))
            && self.tasks.iter().any(is_on_core)
    }

    /// The process of each sequence. A process has the least of the time slices that the model states for its tasks.
    pub(super) fn processes(
        &self,
        sequences: &[Sequence],
        chosen: &AmaltheaOptions,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<Vec<ProcessId>, Problem> {
        let task = |sequence: &Sequence| sequence.task.and_then(|task| self.tasks.get(task));
        let task_name = |sequence: &Sequence| task(sequence).map_or("", |task| task.name.as_str()).to_owned();
        let names =
            || sequences.iter().flat_map(|one| [task_name(one), one.label.clone()]).filter(|name| !name.is_empty());
        if let Some(unknown) = chosen.processes.keys().find(|key| !names().any(|name| name == **key)) {
            let all: Vec<String> = names().collect();
            let near = did_you_mean(unknown, all.iter().map(String::as_str));
            let what = format!("{}: nothing of a task called {unknown:?} is launched{near}", option("process"));
            return Err(Problem::general(what));
        }
        let slice = |sequence: &Sequence| self.mapping.time_slice(&task(sequence)?.name);
        let with_slices = sequences.iter().any(|sequence| slice(sequence).is_some());
        if chosen.processes.is_empty() && !with_slices {
            return Ok(vec![ProcessId::FIRST; sequences.len()]);
        }
        let name_of = |sequence: &Sequence| {
            let stated = chosen.processes.get(&task_name(sequence)).or_else(|| chosen.processes.get(&sequence.label));
            stated.cloned().unwrap_or_else(|| sequence.label.clone())
        };
        let mut specs: Vec<ProcessSpec> = Vec::new();
        for sequence in sequences {
            let (name, slice) = (name_of(sequence), slice(sequence));
            match specs.iter_mut().find(|known| *known.name == *name) {
                Some(known) => known.time_slice = known.time_slice.into_iter().chain(slice).min(),
                None => specs.push(ProcessSpec { time_slice: slice, ..ProcessSpec::new(name) }),
            }
        }
        if with_slices {
            builder.note(format!(
                "the model states time slices of tasks, so these are processes whose contexts take turns; {} runs them as \
                 threads of one",
                option("as_threads")
            ));
        }
        let mut known = BTreeMap::new();
        for spec in specs {
            let name = spec.name.to_string();
            let added =
                builder.add_process(spec).map_err(|error| Problem::general(format!("process {name:?}: {error}")))?;
            known.insert(name, added);
        }
        Ok(sequences
            .iter()
            .map(|sequence| known.get(&name_of(sequence)).copied().unwrap_or(ProcessId::FIRST))
            .collect())
    }
}
