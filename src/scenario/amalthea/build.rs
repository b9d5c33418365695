//! Runnables as kernels: a scenario from a model.

use std::path::Path;
use std::sync::Arc;

use super::activate::{self, Activations, Plan, Sequence};
use super::copies;
use super::cost::Costs;
use super::error::{AmaltheaError, Problem};
use super::model::{AmaltheaModel, Runnable};
use super::options::{AmaltheaOptions, TickBound};
use super::unit::Clock;
use crate::device::{BlockShape, Device};
use crate::scenario::ScenarioBuilder;
use crate::scenario::deadline::Deadline;
use crate::scenario::endless::Endless;
use crate::scenario::model::{HostThread, Scenario, Step};
use crate::scenario::options::ReadOptions;
use crate::spelling::option;
use crate::time::MAX_INPUT_NS;
use crate::workload::{BlockClock, BlockTime, Copy, Kernel, ProcessId, StreamId, StreamSpec};

/// Threads of one block where the model does not say: those of every experiment in the thesis.
const DEFAULT_BLOCK_SIZE: u32 = 512;

impl AmaltheaModel<'_> {
    /// Launches runnables as kernels, each in a stream of its own or with others that its task calls, in the order that
    /// `chosen` gives: whenever the stimulus of its task says, or once at t = 0. Without a horizon, periodic ones are
    /// released for one hyperperiod.
    ///
    /// # Errors
    /// [`AmaltheaError`] if a runnable is unknown or ambiguous, has no grid size or no ticks, states work that is not
    /// read, calls itself, is released in a way that the model leaves open, or can never run on the device, if nothing
    /// says how long a tick is, or if one hyperperiod has too many jobs.
    pub fn scenario(&self, chosen: &AmaltheaOptions, options: &ReadOptions) -> Result<Scenario, AmaltheaError> {
        self.build(chosen, options).map_err(|problem| self.error(problem))
    }

    fn build(&self, chosen: &AmaltheaOptions, options: &ReadOptions) -> Result<Scenario, Problem> {
        let Ok(Some(device)) = Device::builtin("tx2") else {
            return Err(Problem::general("the built-in device tx2 cannot be read"));
        };
        let mut builder = ScenarioBuilder::new(self.name(), device, options);
        builder.settings(None, None, None);
        if !self.skipped.is_empty() {
            let kinds: Vec<String> = self.skipped.iter().map(|(kind, count)| format!("{count} x {kind}")).collect();
            builder.note(format!("not read of the model: {}", kinds.join(", ")));
        }
        let unit = self.unit(chosen)?;
        let mut costs = Costs::new(self, unit.processing_unit);
        let launched = self.chosen(chosen, &costs)?;
        let activations = Activations::new(self);
        let sequences = self.sequences(&launched, &activations);
        let plans = sequences.iter().map(|sequence| {
            let mut plan = activations.plan(sequence, chosen.one_job)?;
            // The user's period counts in the hyperperiod too.
            plan.period = options.periods.get(&sequence.label).copied().or(plan.period);
            let once = std::mem::take(&mut plan.once);
            if plan.period.is_none() {
                plan.notes.extend(once);
            }
            Ok(plan)
        });
        let plans = plans.collect::<Result<Vec<Plan>, Problem>>()?;
        let processes = self.processes(&sequences, chosen, &mut builder)?;
        for ((sequence, plan), process) in sequences.iter().zip(plans).zip(processes) {
            self.launch(sequence, (plan, process), &mut costs, (chosen, &unit), &mut builder)?;
        }
        self.add_chains(&sequences, &activations, chosen, &mut builder);
        if let Some(name) = builder.unused_block_duration() {
            return Err(Problem::general(format!(
                "{name:?} was given a block duration, and no launched runnable of that name lacks ticks"
            )));
        }
        if let Some(unused) = builder.unused_timing() {
            return Err(Problem::general(unused));
        }
        let endless = |(_, why): (usize, Endless)| {
            Problem::general(why.to_string()).with_help(format!("{}, or: {}", why.help(), activate::advice()))
        };
        builder.limit_jobs().map_err(endless)?;
        builder.build_ending().map_err(endless)
    }

    /// The file's name without its folders and ending.
    fn name(&self) -> String {
        let stem = Path::new(self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| self.file.to_owned())
    }

    /// How long a block runs: the runnable's ticks, or what the user gives for a runnable without any.
    fn block_time(
        &self,
        runnable: &Runnable,
        cycles: Option<super::TickRange>,
        unit: &Clock<'_>,
        bound: TickBound,
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<BlockTime, Problem> {
        let name = &runnable.name;
        let Some(((best, worst), missing)) = cycles.and_then(|cycles| bound.of(cycles)) else {
            return builder.given_block_duration(&[name]).map(BlockTime::fixed).ok_or_else(|| {
                Problem::at(runnable.offset, format!("runnable {name:?} has no ticks")).with_help(format!(
                    "state the time of one block with {}",
                    option("block_duration").of(name, "TIME")
                ))
            });
        };
        if let Some(missing) = missing {
            builder.note(format!("runnable {name:?} states no {missing}, so the nearest number that it states counts"));
        }
        let frequency = unit.frequency.ok_or_else(|| self.no_frequency(unit.processing_unit))?;
        if let Some(note) = &unit.note {
            builder.note(note.clone());
        }
        let time = |ticks| {
            frequency.duration(ticks).filter(|time| time.as_ns() <= MAX_INPUT_NS).ok_or_else(|| {
                Problem::at(runnable.offset, format!("{ticks} ticks of runnable {name:?} take longer than 2^63 ns"))
            })
        };
        Ok(BlockTime { best: time(best)?, worst: time(worst)? })
    }

    /// The host thread that launches runnables one after the other, each with the copies around it.
    fn launch(
        &self,
        sequence: &Sequence,
        (plan, process): (Plan, ProcessId),
        costs: &mut Costs<'_, '_>,
        (chosen, unit): (&AmaltheaOptions, &Clock<'_>),
        builder: &mut ScenarioBuilder<'_>,
    ) -> Result<(), Problem> {
        let label: Arc<str> = sequence.label.as_str().into();
        let spec = || StreamSpec { process, ..StreamSpec::new(Arc::clone(&label)) };
        let mut stream = None;
        let mut steps = Vec::new();
        for &index in &sequence.runnables {
            let Some(runnable) = self.runnables.get(index) else { continue };
            let given = || builder.options().block_durations.contains_key(&runnable.name);
            let cycles = costs.cycles(index).or_else(|problem| if given() { Ok(None) } else { Err(problem) })?;
            let duration = self.block_time(runnable, cycles, unit, chosen.ticks, builder)?;
            let kernel = kernel(runnable, chosen, duration, builder)?;
            let around = if chosen.without_copies { copies::Around::default() } else { copies::around(self, index) };
            let refused = |error: crate::workload::WorkloadError| {
                Problem::at(runnable.offset, format!("runnable {:?}: {error}", runnable.name))
            };
            let stream = match stream {
                Some(stream) => stream,
                None => *stream.insert(builder.add_stream(spec()).map_err(refused)?),
            };
            self.copies(&around.before, stream, &mut steps, builder)?;
            let id = builder.add_kernel(kernel).map_err(refused)?;
            steps.push(Step::Launch(id, stream));
            self.copies(&around.after, stream, &mut steps, builder)?;
        }
        for note in plan.notes {
            builder.note(note);
        }
        if sequence.is_of_several() {
            let names = sequence.runnables.iter().filter_map(|&index| self.runnables.get(index));
            let names: Vec<String> = names.map(|runnable| format!("{:?}", runnable.name)).collect();
            builder.note(format!(
                "one task calls {}: they are launched in this order in one stream, {label:?}, and are one job",
                names.join(", ")
            ));
        }
        builder.add_thread(HostThread {
            iterations: plan.period.is_none().then_some(1),
            period: plan.period,
            jitter: plan.jitter,
            deadline: plan.deadline.map_or(Deadline::Period, Deadline::After),
            process,
            ..HostThread::once(label, plan.release, steps)
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
            let copy = Copy { direction: copy.direction, bytes: Some(bytes), duration: None };
            let id = builder
                .add_copy(copy)
                .map_err(|error| Problem::at(runnable.offset, format!("copy runnable {:?}: {error}", runnable.name)))?;
            steps.push(Step::Copy(id, stream));
        }
        Ok(())
    }
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
            .with_help(format!("give the number of its blocks with {}", option("grid_size").of(name, "N")))
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
        clock: BlockClock::RunTime,
        sm_mask: None,
    })
}
