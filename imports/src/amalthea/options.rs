//! What a user may say about a model beside its file: which runnables are launched, and at which clock ticks pass.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::Costs;
use super::hardware::ProcessingUnit;
use super::model::AmaltheaModel;
use super::quantities::Frequency;
use super::xml::Problem;
use super::{AmaltheaError, TickRange, Ticks};
use crate::named::named;
use crate::scenario::{ReadOptions, Scenario};
use crate::spelling::option;
use crate::time::Duration;
use crate::words::did_you_mean;

/// Which runnables run on the GPU, and what the model does not say of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AmaltheaOptions {
    /// The runnables to launch, in this order; empty: all that have a grid size, in document order.
    pub runnables: Vec<String>,
    /// Blocks of a runnable's kernel; replaces the model's `GridSize`.
    pub grid_sizes: BTreeMap<String, u32>,
    /// Threads of one block of a runnable's kernel; replaces the model's `BlockSize`.
    pub block_sizes: BTreeMap<String, u32>,
    /// The processing unit, or processing unit definition, whose ticks and frequency count; `None`: the model's GPU.
    pub processing_unit: Option<String>,
    /// The frequency; replaces the model's.
    pub frequency: Option<Frequency>,
    /// Which of a runnable's bounds counts.
    pub ticks: TickBound,
    /// Processes of tasks, by task (or by runnable that is alone in its stream). If there are any, or the model states
    /// a time slice for a launched task, every other task is a process of its own, called like its stream.
    pub processes: BTreeMap<String, String>,
    /// Leave copy runnables out.
    pub without_copies: bool,
    /// Launch each runnable once, at t = 0, whatever stimuli the model has.
    pub one_job: bool,
    /// Run what tasks do beside the GPU, on the cores to which the model allocates them.
    pub cores: bool,
    /// How long one access of a core to memory takes, by the name of the processing unit or of its definition; replaces
    /// the model's latencies and data rates.
    pub access_times: BTreeMap<String, Duration>,
}

named! {
    /// Which of the numbers that a model states for an amount of ticks becomes the time of a block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum TickBound: ALL, from_name {
        /// The upper bound: the worst case, which a response time analysis needs.
        #[default]
        Upper = "upper",
        /// The constant or average.
        Average = "average",
        Lower = "lower",
        /// Each block takes a random time between lower and upper bound.
        Bounds = "bounds",
    }
}

impl TickBound {
    /// Best and worst case. Where the model lacks the number that is asked for, the nearest one stands in, and the
    /// second value says what is missing. `None` if the model states no number at all.
    pub(super) fn of(self, range: TickRange) -> Option<((Ticks, Ticks), Option<&'static str>)> {
        let TickRange { lower, value, upper } = range;
        let best = lower.or(value).or(upper)?;
        let worst = upper.or(value).or(lower)?;
        let average = value.or(upper).or(lower)?;
        let lacks_bound = lower.is_none() || upper.is_none();
        Some(match self {
            Self::Upper => ((worst, worst), upper.is_none().then_some("upper bound")),
            Self::Average => ((average, average), value.is_none().then_some("average")),
            Self::Lower => ((best, best), lower.is_none().then_some("lower bound")),
            Self::Bounds => ((best, worst), lacks_bound.then_some("lower or upper bound")),
        })
    }
}

impl AmaltheaModel<'_> {
    /// Reads an AMALTHEA model and launches runnables of it; `file` is its name in errors.
    ///
    /// # Errors
    /// [`AmaltheaError`] as [`AmaltheaModel::parse`] and [`AmaltheaModel::scenario`] have it.
    pub fn read_scenario(
        file: &str,
        text: &str,
        chosen: &AmaltheaOptions,
        options: &ReadOptions,
    ) -> Result<Scenario, AmaltheaError> {
        AmaltheaModel::parse(file, text)?.scenario(chosen, options)
    }

    /// The runnables to launch, by index.
    pub(super) fn chosen(&self, chosen: &AmaltheaOptions, costs: &Costs<'_, '_>) -> Result<Vec<usize>, Problem> {
        let unknown = |name: &str| {
            let near = did_you_mean(name, self.runnables.iter().map(|runnable| runnable.name.as_str()));
            Problem::general(format!("no runnable of this model is called {name:?}{near}")).with_help(self.names_help())
        };
        let mut indices = Vec::new();
        if chosen.runnables.is_empty() {
            let with_cores = self.uses_cores(chosen);
            let on_gpu = self.tasks.iter().filter(|task| with_cores && self.is_on_gpu(task));
            let on_gpu: BTreeSet<usize> = on_gpu.flat_map(|task| task.calls.iter().copied()).collect();
            for (index, runnable) in self.runnables.iter().enumerate().filter(|(_, runnable)| runnable.copy.is_none()) {
                let has_size = runnable.grid_size.is_some() || chosen.grid_sizes.contains_key(&runnable.name);
                if has_size || on_gpu.contains(&index) {
                    indices.extend(costs.find(&runnable.name)?);
                }
            }
            if indices.is_empty() && !with_cores {
                let problem = Problem::general("no runnable of this model has a custom property GridSize");
                let (runnables, size) = (option("runnables").with("A,B"), option("grid_size").of("NAME", "N"));
                let help = format!("choose runnables with {runnables} and give {size} for each; {}", self.names_help());
                return Err(problem.with_help(help));
            }
        }
        for name in &chosen.runnables {
            let index = costs.find(name)?.ok_or_else(|| unknown(name))?;
            if indices.contains(&index) {
                return Err(Problem::general(format!("runnable {name:?} is chosen twice")));
            }
            if self.runnables.get(index).is_some_and(|runnable| runnable.copy.is_some()) {
                return Err(Problem::general(format!("runnable {name:?} is a copy, not a kernel"))
                    .with_help("copies are submitted with the runnable around which they stand"));
            }
            indices.push(index);
        }
        let launched: BTreeSet<&str> = indices
            .iter()
            .filter_map(|&index| self.runnables.get(index))
            .map(|runnable| runnable.name.as_str())
            .collect();
        let sized = chosen.grid_sizes.keys().map(|name| ("grid", name));
        let sized = sized.chain(chosen.block_sizes.keys().map(|name| ("block", name)));
        for (what, name) in sized {
            if costs.find(name)?.is_none() {
                return Err(unknown(name));
            }
            if !launched.contains(name.as_str()) {
                return Err(Problem::general(format!("a {what} size is given for {name:?}, which is not launched"))
                    .with_help(format!("{} names all runnables to launch", option("runnables"))));
            }
        }
        Ok(indices)
    }

    fn names_help(&self) -> String {
        const SHOWN: usize = 12;
        let mut names: Vec<&str> = self.runnables.iter().take(SHOWN).map(|runnable| runnable.name.as_str()).collect();
        if names.is_empty() {
            return "the model has no runnables".to_owned();
        }
        if self.runnables.len() > SHOWN {
            names.push("…");
        }
        format!("there are: {}", names.join(", "))
    }
}

/// The processing unit whose ticks count.
pub(super) struct Clock<'m> {
    pub(super) processing_unit: Option<&'m ProcessingUnit>,
    pub(super) frequency: Option<Frequency>,
    /// What the user should know of the choice.
    pub(super) note: Option<String>,
}

impl AmaltheaModel<'_> {
    /// Why it is unknown how long a tick is.
    pub(super) fn no_frequency(&self, unit: Option<&ProcessingUnit>) -> Problem {
        let what = match unit {
            Some(unit) => format!("the model states no frequency for processing unit {:?}", unit.name),
            None if self.processing_units.is_empty() => "the model has no processing units".to_owned(),
            None => "the model's processing units have different frequencies or features, and none is a GPU".to_owned(),
        };
        let choose = if unit.is_none() && !self.processing_units.is_empty() {
            let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
            format!("choose one with {} ({}), or ", option("processing_unit").with("NAME"), names.join(", "))
        } else {
            String::new()
        };
        Problem::general(format!("{what}, so it is unknown how long a tick is")).with_help(format!(
            "{choose}give {}, for example {}",
            option("frequency"),
            option("frequency").with("1.3GHz")
        ))
    }

    /// The processing unit that counts: the user's, or the model's only kind of GPU, or its only kind of all.
    pub(super) fn unit(&self, chosen: &AmaltheaOptions) -> Result<Clock<'_>, Problem> {
        let of = |unit: Option<&'_ ProcessingUnit>| chosen.frequency.or_else(|| unit.and_then(|unit| unit.frequency));
        if let Some(name) = &chosen.processing_unit {
            let by_name = self.processing_units.iter().find(|unit| unit.name == *name);
            let by_definition = || self.processing_units.iter().find(|unit| unit.definition.as_ref() == Some(name));
            let unit = by_name.or_else(by_definition).ok_or_else(|| {
                let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
                let problem = Problem::general(format!("no processing unit of this model is called {name:?}"));
                problem.with_help(format!("there are: {}", names.join(", ")))
            })?;
            let is_cpu = unit.kind.as_deref().is_some_and(|kind| kind != "GPU");
            let note = is_cpu.then(|| {
                format!(
                    "processing unit {:?} is no GPU ({}): its ticks are taken for the time of a block on the GPU",
                    unit.name,
                    unit.kind.as_deref().unwrap_or_default()
                )
            });
            return Ok(Clock { processing_unit: Some(unit), frequency: of(Some(unit)), note });
        }
        let is_gpu = |unit: &&ProcessingUnit| unit.kind.as_deref() == Some("GPU");
        if let Some(gpu) = agreed(self.processing_units.iter().filter(is_gpu)) {
            return Ok(Clock { processing_unit: Some(gpu), frequency: of(Some(gpu)), note: None });
        }
        let unit = agreed(self.processing_units.iter());
        let frequency = of(unit);
        let note = unit.zip(frequency).filter(|_| chosen.frequency.is_none()).map(|(unit, frequency)| {
            format!(
                "the model has no processing unit of puType GPU; ticks are taken at {frequency}, as on {:?}",
                unit.name
            )
        });
        Ok(Clock { processing_unit: unit, frequency, note })
    }
}

/// One of several processing units that are alike in all that counts; `None` if they are not, or if there are none.
fn agreed<'m>(mut units: impl Iterator<Item = &'m ProcessingUnit>) -> Option<&'m ProcessingUnit> {
    let first = units.next()?;
    let alike = |unit: &ProcessingUnit| {
        (unit.frequency, &unit.definition, &unit.per_cycle) == (first.frequency, &first.definition, &first.per_cycle)
    };
    units.all(alike).then_some(first)
}
