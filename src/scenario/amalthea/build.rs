//! Runnables as kernels: a scenario from a model.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::copies;
use super::cost::Costs;
use super::error::{AmaltheaError, Problem};
use super::frequency::Frequency;
use super::model::{AmaltheaModel, ProcessingUnit, Runnable};
use super::options::{AmaltheaOptions, TickBound};
use crate::device::{BlockShape, Device};
use crate::scenario::ScenarioBuilder;
use crate::scenario::model::{HostThread, Scenario, Step};
use crate::scenario::options::ReadOptions;
use crate::time::Duration;
use crate::workload::{BlockTime, Copy, Kernel, StreamId, StreamSpec};

/// Threads of one block where the model does not say: those of every experiment in the thesis.
const DEFAULT_BLOCK_SIZE: u32 = 512;

impl AmaltheaModel<'_> {
    /// Launches runnables as kernels, each once at t = 0 in a stream of its own, in the order that `chosen` gives.
    ///
    /// # Errors
    /// [`AmaltheaError`] if a runnable is unknown or ambiguous, has no grid size or no ticks, calls itself, or can
    /// never run on the device, or if nothing says how long a tick is.
    pub fn scenario(&self, chosen: &AmaltheaOptions, options: &ReadOptions) -> Result<Scenario, AmaltheaError> {
        self.build(chosen, options).map_err(|problem| self.error(problem))
    }

    fn build(&self, chosen: &AmaltheaOptions, options: &ReadOptions) -> Result<Scenario, Problem> {
        let device = match Device::builtin("tx2") {
            Ok(Some(device)) => device,
            _ => return Err(Problem::general("the built-in device tx2 cannot be read")),
        };
        let mut builder = ScenarioBuilder::new(self.name(), device, options);
        builder.settings(None, None, None);
        let unit = self.unit(chosen)?;
        let mut costs = Costs::new(self, unit.unit);
        let launched = self.chosen(chosen, &costs)?;
        for &index in &launched {
            let Some(runnable) = self.runnables.get(index) else { continue };
            let duration = self.block_time(runnable, costs.cycles(index)?, &unit, chosen.ticks, &mut builder)?;
            let kernel = kernel(runnable, chosen, duration, &mut builder)?;
            let around = if chosen.without_copies { copies::Around::default() } else { copies::around(self, index) };
            self.launch(runnable, kernel, &around, &mut builder)?;
        }
        if let Some(name) = builder.unused_block_duration() {
            return Err(Problem::general(format!(
                "{name:?} was given a block duration, and no launched runnable of that name lacks ticks"
            )));
        }
        Ok(builder.build())
    }

    /// The file's name without its folders and ending.
    fn name(&self) -> String {
        let stem = Path::new(self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| self.file.to_owned())
    }

    /// The runnables to launch, by index.
    fn chosen(&self, chosen: &AmaltheaOptions, costs: &Costs<'_, '_>) -> Result<Vec<usize>, Problem> {
        let unknown = |name: &str| {
            Problem::general(format!("no runnable of this model is called {name:?}")).with_help(self.names_help())
        };
        let mut indices = Vec::new();
        if chosen.runnables.is_empty() {
            for runnable in self.runnables.iter().filter(|runnable| runnable.copy.is_none()) {
                if runnable.grid_size.is_some() || chosen.grid_sizes.contains_key(&runnable.name) {
                    indices.extend(costs.find(&runnable.name)?);
                }
            }
            if indices.is_empty() {
                let problem = Problem::general("no runnable of this model has a custom property GridSize");
                let help = "choose runnables with --runnables A,B and give --grid-size NAME=N for each";
                return Err(problem.with_help(format!("{help}; {}", self.names_help())));
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
                    .with_help("--runnables names all runnables to launch"));
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

    /// How long a block runs: the runnable's ticks, or what the user gives for a runnable without any.
    fn block_time(
        &self,
        runnable: &Runnable,
        cycles: Option<super::TickRange>,
        unit: &Unit<'_>,
        bound: TickBound,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<BlockTime, Problem> {
        let name = &runnable.name;
        let Some(((best, worst), missing)) = cycles.and_then(|cycles| bound.of(cycles)) else {
            return builder.given_block_duration(&[name]).map(BlockTime::fixed).ok_or_else(|| {
                Problem::at(runnable.offset, format!("runnable {name:?} has no ticks"))
                    .with_help(format!("state the time of one block with --block-duration {name}=TIME"))
            });
        };
        if let Some(missing) = missing {
            builder.note(format!("runnable {name:?} states no {missing}, so the nearest number that it states counts"));
        }
        let frequency = unit.frequency.ok_or_else(|| self.no_frequency(unit.unit))?;
        if let Some(note) = &unit.note {
            builder.note(note.clone());
        }
        let time = |ticks| {
            frequency.duration(ticks).ok_or_else(|| {
                Problem::at(runnable.offset, format!("{ticks} ticks of runnable {name:?} take longer than 2^64 ns"))
            })
        };
        Ok(BlockTime { best: time(best)?, worst: time(worst)? })
    }

    fn no_frequency(&self, unit: Option<&ProcessingUnit>) -> Problem {
        let what = match unit {
            Some(unit) => format!("the model states no frequency for processing unit {:?}", unit.name),
            None if self.processing_units.is_empty() => "the model has no processing units".to_owned(),
            None => "the model's processing units have different frequencies or features, and none is a GPU".to_owned(),
        };
        let choose = if unit.is_none() && !self.processing_units.is_empty() {
            let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
            format!("choose one with --processing-unit NAME ({}), or ", names.join(", "))
        } else {
            String::new()
        };
        Problem::general(format!("{what}, so it is unknown how long a tick is"))
            .with_help(format!("{choose}give --frequency, for example --frequency 1.3GHz"))
    }

    /// The processing unit that counts: the user's, or the model's only kind of GPU, or its only kind of all.
    fn unit(&self, chosen: &AmaltheaOptions) -> Result<Unit<'_>, Problem> {
        let of = |unit: Option<&'_ ProcessingUnit>| chosen.frequency.or_else(|| unit.and_then(|unit| unit.frequency));
        if let Some(name) = &chosen.processing_unit {
            let by_name = self.processing_units.iter().find(|unit| unit.name == *name);
            let by_definition = || self.processing_units.iter().find(|unit| unit.definition.as_ref() == Some(name));
            let unit = by_name.or_else(by_definition).ok_or_else(|| {
                let names: Vec<&str> = self.processing_units.iter().map(|unit| unit.name.as_str()).collect();
                let problem = Problem::general(format!("no processing unit of this model is called {name:?}"));
                problem.with_help(format!("there are: {}", names.join(", ")))
            })?;
            return Ok(Unit { unit: Some(unit), frequency: of(Some(unit)), note: None });
        }
        let is_gpu = |unit: &&ProcessingUnit| unit.kind.as_deref() == Some("GPU");
        if let Some(gpu) = agreed(self.processing_units.iter().filter(is_gpu)) {
            return Ok(Unit { unit: Some(gpu), frequency: of(Some(gpu)), note: None });
        }
        let unit = agreed(self.processing_units.iter());
        let frequency = of(unit);
        let note = unit.zip(frequency).filter(|_| chosen.frequency.is_none()).map(|(unit, frequency)| {
            format!(
                "the model has no processing unit of puType GPU; ticks are taken at {frequency}, as on {:?}",
                unit.name
            )
        });
        Ok(Unit { unit, frequency, note })
    }

    /// The host thread that launches one runnable with the copies around it.
    fn launch(
        &self,
        runnable: &Runnable,
        kernel: Kernel,
        around: &copies::Around,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<(), Problem> {
        let label = Arc::clone(&kernel.name);
        let refused = |error: crate::gpu::SubmitError| {
            Problem::at(runnable.offset, format!("runnable {:?}: {error}", runnable.name))
        };
        let stream = builder.add_stream(StreamSpec::new(Arc::clone(&label))).map_err(refused)?;
        let mut steps = Vec::new();
        self.copies(&around.before, stream, &mut steps, builder)?;
        let id = builder.add_kernel(kernel).map_err(refused)?;
        steps.push(Step::Launch(id, stream));
        self.copies(&around.after, stream, &mut steps, builder)?;
        builder.add_thread(HostThread {
            label,
            release: Duration::ZERO,
            iterations: Some(1),
            time_limit: None,
            period: None,
            deadline: None,
            barrier: None,
            steps,
        });
        Ok(())
    }

    fn copies(
        &self,
        indices: &[usize],
        stream: StreamId,
        steps: &mut Vec<Step>,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<(), Problem> {
        for runnable in indices.iter().filter_map(|&index| self.runnables.get(index)) {
            let Some(copy) = runnable.copy else { continue };
            let bytes = copy.bytes.unwrap_or_else(|| {
                builder.note(format!("copy runnable {:?} accesses no label of known size: 0 bytes", runnable.name));
                0
            });
            if runnable.ticks().next().is_some() {
                builder.note(format!(
                    "ticks of copy runnable {:?} do not count: the copy takes what the device's bandwidth says",
                    runnable.name
                ));
            }
            let copy = Copy { direction: copy.direction, bytes, duration: None };
            let id = builder
                .add_copy(copy)
                .map_err(|error| Problem::at(runnable.offset, format!("copy runnable {:?}: {error}", runnable.name)))?;
            steps.push(Step::Copy(id, stream));
        }
        Ok(())
    }
}

/// The processing unit whose ticks count.
struct Unit<'m> {
    unit: Option<&'m ProcessingUnit>,
    frequency: Option<Frequency>,
    /// What the user should know of the choice.
    note: Option<String>,
}

/// One of several processing units that are alike in all that counts; `None` if they are not, or if there are none.
fn agreed<'m>(mut units: impl Iterator<Item = &'m ProcessingUnit>) -> Option<&'m ProcessingUnit> {
    let first = units.next()?;
    let alike = |unit: &ProcessingUnit| {
        (unit.frequency, &unit.definition, &unit.per_cycle) == (first.frequency, &first.definition, &first.per_cycle)
    };
    units.all(alike).then_some(first)
}

/// The kernel that a runnable is.
fn kernel(
    runnable: &Runnable,
    chosen: &AmaltheaOptions,
    duration: BlockTime,
    builder: &mut ScenarioBuilder<'_>,
) -> Result<Kernel, Problem> {
    let name = &runnable.name;
    let blocks = chosen.grid_sizes.get(name).copied().or(runnable.grid_size).ok_or_else(|| {
        Problem::at(runnable.offset, format!("runnable {name:?} has no custom property GridSize"))
            .with_help(format!("give the number of its blocks with --grid-size {name}=N"))
    })?;
    let threads = chosen.block_sizes.get(name).copied().or(runnable.block_size).unwrap_or_else(|| {
        builder.note(format!(
            "runnables without a custom property BlockSize have blocks of {DEFAULT_BLOCK_SIZE} threads, as in the thesis"
        ));
        DEFAULT_BLOCK_SIZE
    });
    let name: Arc<str> = name.as_str().into();
    Ok(Kernel {
        title: Arc::clone(&name),
        name,
        blocks,
        shape: BlockShape {
            threads,
            registers_per_thread: runnable.registers.unwrap_or(0),
            shared_memory_bytes: runnable.shared_memory.unwrap_or(0),
        },
        duration,
        sm_mask: None,
    })
}
