//! Runnables as kernels: a scenario from a model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::activations::{self, Activations, Plan, Sequence};
use super::cost::Costs;
use super::model::{AmaltheaModel, Runnable};
use super::options::{AmaltheaOptions, Clock};
use super::software;
use super::tasks_on_cores::{Action, TasksOnCores};
use super::xml::{AmaltheaError, Problem};
use crate::device::{BlockShape, Device};
use crate::scenario::{CoreShare, Deadline, Endless, HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use crate::spelling::option;
use crate::time::{Duration, MAX_INPUT_NS};
use crate::words::did_you_mean;
use crate::workload::{BlockClock, BlockTime, Copy, Kernel, ProcessId, StreamId, StreamSpec, WorkloadError};

/// Threads of one block where the model does not say: those of every experiment in the thesis.
const DEFAULT_BLOCK_SIZE: u32 = 512;

/// What is read where tasks run on their cores, and else counted as not read.
const READ_WITH_CORES: [&str; 10] = [
    "ClearEvent in a task",
    "LabelAccess",
    "SetEvent in a task",
    "WaitEvent in a task",
    "affinity of taskAllocation",
    "memoryMapping",
    "priority of taskAllocation",
    "schedulerAllocation",
    "taskAllocation",
    "taskSchedulers",
];

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
        let with_cores = self.uses_cores(chosen);
        let is_unread = |kind: &str| !with_cores || !READ_WITH_CORES.contains(&kind);
        let unread = self.skipped.iter().filter(|(kind, _)| is_unread(kind));
        let kinds: Vec<String> = unread.map(|(kind, count)| format!("{count} x {kind}")).collect();
        if !kinds.is_empty() {
            builder.note(format!("not read of the model: {}", kinds.join(", ")));
        }
        self.refuse_access_times(chosen, with_cores)?;
        let unit = self.unit(chosen)?;
        let costs = Costs::new(self, unit.processing_unit);
        let launched = self.chosen(chosen, &costs)?;
        let activations = Activations::new(self);
        let sequences = self.sequences(&launched, &activations);
        let on_cores =
            if with_cores { self.tasks_on_cores(chosen, &sequences, &activations) } else { TasksOnCores::default() };
        // What no task submits on its core is launched on its own.
        let is_alone = |one: &Sequence| !one.runnables.iter().any(|&runnable| on_cores.submits(runnable));
        let plans = sequences.iter().map(|sequence| {
            let plan = || activations.plan(sequence, chosen.one_job);
            Ok(is_alone(sequence).then(plan).transpose()?.map(|plan| plan.with_period_of(&sequence.label, options)))
        });
        let plans = plans.collect::<Result<Vec<Option<Plan>>, Problem>>()?;
        let processes = self.processes(&sequences, chosen, &mut builder)?;
        let mut build = Build { model: self, chosen, unit, costs, builder, submissions: BTreeMap::new() };
        let mut streams = Vec::with_capacity(sequences.len());
        for (sequence, process) in sequences.iter().zip(&processes) {
            streams.push(build.stream(sequence, *process)?);
        }
        for (sequence, stream) in sequences.iter().zip(&streams) {
            for &index in &sequence.runnables {
                let steps = build.submission(index, *stream)?;
                build.submissions.insert(index, steps);
            }
        }
        build.add_hosts(&on_cores, (&sequences, &streams, &processes))?;
        for ((sequence, plan), process) in sequences.iter().zip(plans).zip(processes) {
            if let Some(plan) = plan {
                build.launch(sequence, plan, process);
            }
        }
        let mut builder = build.builder;
        self.add_chains(&sequences, &on_cores, &activations, chosen, &mut builder);
        if let Some(name) = builder.unused_block_duration() {
            return Err(Problem::general(format!(
                "{name:?} was given a block duration, and no launched runnable of that name lacks ticks"
            )));
        }
        if let Some(unused) = builder.unused_timing() {
            return Err(Problem::general(unused));
        }
        let endless = |(_, why): (usize, Endless)| {
            Problem::general(why.to_string()).with_help(format!("{}, or: {}", why.help(), activations::advice()))
        };
        builder.limit_jobs().map_err(endless)?;
        let mut scenario = builder.build_ending().map_err(endless)?;
        scenario.tell_urgency_apart();
        Ok(scenario)
    }

    /// Refuses times of accesses that no core has.
    fn refuse_access_times(&self, chosen: &AmaltheaOptions, with_cores: bool) -> Result<(), Problem> {
        let key = option("access_time");
        if !with_cores && !chosen.access_times.is_empty() {
            let problem = Problem::general(format!("{key} has an effect only where tasks run on their cores"));
            return Err(problem.with_help(format!("{} runs them there", option("cores"))));
        }
        let names = || {
            let units = self.processing_units.iter();
            units.flat_map(|unit| [Some(&unit.name), unit.definition.as_ref()]).flatten().map(String::as_str)
        };
        match chosen.access_times.keys().find(|key| !names().any(|name| name == key.as_str())) {
            Some(unknown) => {
                let near = did_you_mean(unknown, names());
                Err(Problem::general(format!("{key}: no core or definition of cores is called {unknown:?}{near}")))
            }
            None => Ok(()),
        }
    }

    /// The file's name without its folders and ending.
    fn name(&self) -> String {
        let stem = Path::new(self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| self.file.to_owned())
    }
}

/// A scenario of a model, as far as it is built.
struct Build<'m, 't, 'o> {
    model: &'m AmaltheaModel<'t>,
    chosen: &'o AmaltheaOptions,
    unit: Clock<'m>,
    costs: Costs<'m, 't>,
    builder: ScenarioBuilder<'o>,
    /// What launches each runnable, with the copies around it.
    submissions: BTreeMap<usize, Vec<Step>>,
}

impl Build<'_, '_, '_> {
    /// How long a block runs: the runnable's ticks, or what the user gives for a runnable without any.
    fn block_time(&mut self, runnable: &Runnable, cycles: Option<super::TickRange>) -> Result<BlockTime, Problem> {
        let name = &runnable.name;
        let Some(((best, worst), missing)) = cycles.and_then(|cycles| self.chosen.ticks.of(cycles)) else {
            return self.builder.given_block_duration(&[name]).map(BlockTime::fixed).ok_or_else(|| {
                Problem::at(runnable.offset, format!("runnable {name:?} has no ticks")).with_help(format!(
                    "state the time of one block with {}",
                    option("block_duration").of(name, "TIME")
                ))
            });
        };
        if let Some(missing) = missing {
            let what = format!("runnable {name:?} states no {missing}, so the nearest number that it states counts");
            self.builder.note(what);
        }
        let frequency = self.unit.frequency.ok_or_else(|| self.model.no_frequency(self.unit.processing_unit))?;
        if let Some(note) = &self.unit.note {
            self.builder.note(note.clone());
        }
        let time = |ticks| {
            frequency.duration(ticks).filter(|time| time.as_ns() <= MAX_INPUT_NS).ok_or_else(|| {
                Problem::at(runnable.offset, format!("{ticks} ticks of runnable {name:?} take longer than 2^63 ns"))
            })
        };
        Ok(BlockTime { best: time(best)?, worst: time(worst)? })
    }

    /// The stream of a sequence.
    fn stream(&mut self, sequence: &Sequence, process: ProcessId) -> Result<StreamId, Problem> {
        let spec = StreamSpec { process, ..StreamSpec::new(sequence.label.as_str()) };
        let first = sequence.runnables.first().and_then(|&index| self.model.runnables.get(index));
        self.builder.add_stream(spec).map_err(|error| {
            first.map_or_else(|| Problem::general(error.to_string()), |runnable| runnable.refused(&error))
        })
    }

    /// What launches a runnable, with the copies around it.
    fn submission(&mut self, index: usize, stream: StreamId) -> Result<Vec<Step>, Problem> {
        let (model, mut steps) = (self.model, Vec::new());
        let Some(runnable) = model.runnables.get(index) else { return Ok(steps) };
        let given = || self.builder.options().block_durations.contains_key(&runnable.name);
        let cycles = self.costs.cycles(index).or_else(|problem| if given() { Ok(None) } else { Err(problem) })?;
        let duration = self.block_time(runnable, cycles)?;
        let kernel = self.kernel(runnable, duration)?;
        let has_copies = !self.chosen.without_copies;
        let around = if has_copies { software::around(model, index) } else { software::Around::default() };
        self.copies(&around.before, stream, &mut steps)?;
        let id = self.builder.add_kernel(kernel).map_err(|error| runnable.refused(&error))?;
        steps.push(Step::Launch(id, stream));
        self.copies(&around.after, stream, &mut steps)?;
        Ok(steps)
    }

    /// The host threads of tasks on their cores.
    fn add_hosts(
        &mut self,
        on_cores: &TasksOnCores,
        (sequences, streams, processes): (&[Sequence], &[StreamId], &[ProcessId]),
    ) -> Result<(), Problem> {
        for note in on_cores.notes.iter().chain(on_cores.hosts.iter().flat_map(|host| &host.doubts)) {
            self.builder.note(note.clone());
        }
        for host in &on_cores.hosts {
            let name = self.model.tasks.get(host.task).map_or("", |task| task.name.as_str());
            let mut steps = Vec::new();
            let mut of = BTreeSet::new();
            for action in &host.actions {
                match action {
                    Action::Work(time) => steps.push(Step::Work(*time)),
                    Action::Submit(runnable) => {
                        let own = sequences.iter().zip(processes);
                        of.extend(own.filter(|(one, _)| one.runnables.contains(runnable)).map(|(_, process)| *process));
                        steps.extend(self.submissions.get(runnable).into_iter().flatten());
                    }
                    Action::Await(sequence) => {
                        steps.extend(streams.get(*sequence).map(|&stream| Step::SynchronizeStream(stream)));
                    }
                }
            }
            if of.len() > 1 {
                let what = format!("task {name:?} launches into streams of several processes");
                let help = format!("{} puts tasks into one", option("process").of("TASK", "NAME"));
                return Err(Problem::general(what).with_help(help));
            }
            if steps.is_empty() {
                // It has jobs all the same.
                steps.push(Step::Work(Duration::ZERO));
            }
            let plan = host.plan.clone().with_period_of(name, self.builder.options());
            let process = of.first().copied().unwrap_or(ProcessId::FIRST);
            self.add_thread(name.into(), plan, (process, host.core), steps);
        }
        Ok(())
    }

    fn copies(&mut self, indices: &[usize], stream: StreamId, steps: &mut Vec<Step>) -> Result<(), Problem> {
        for runnable in indices.iter().filter_map(|&index| self.model.runnables.get(index)) {
            let Some(copy) = runnable.copy else { continue };
            let bytes = copy.bytes.unwrap_or_else(|| {
                self.builder
                    .note(format!("copy runnable {:?} accesses no label of known size: 0 bytes", runnable.name));
                0
            });
            if runnable.ticks().next().is_some() {
                self.builder.note(format!(
                    "ticks of copy runnable {:?} do not count: the copy takes what the device's bandwidth says",
                    runnable.name
                ));
            }
            let copy = Copy { direction: copy.direction, bytes: Some(bytes), duration: None };
            let id = self
                .builder
                .add_copy(copy)
                .map_err(|error| Problem::at(runnable.offset, format!("copy runnable {:?}: {error}", runnable.name)))?;
            steps.push(Step::Copy(id, stream));
        }
        Ok(())
    }

    /// The kernel that a runnable is.
    fn kernel(&mut self, runnable: &Runnable, duration: BlockTime) -> Result<Kernel, Problem> {
        let (name, chosen) = (&runnable.name, self.chosen);
        let blocks = match chosen.grid_sizes.get(name).copied().or(runnable.grid_size) {
            Some(blocks) => blocks,
            None if self.model.uses_cores(chosen) => {
                self.builder.note(format!(
                    "runnable {name:?} states no GridSize: its ticks are those of all of it, in one block"
                ));
                1
            }
            None => {
                let what = format!("runnable {name:?} has no custom property GridSize");
                let help = format!("give the number of its blocks with {}", option("grid_size").of(name, "N"));
                return Err(Problem::at(runnable.offset, what).with_help(help));
            }
        };
        let threads = chosen.block_sizes.get(name).copied().or(runnable.block_size).unwrap_or_else(|| {
            self.builder.note(format!(
                "runnables without a custom property BlockSize have blocks of {DEFAULT_BLOCK_SIZE} threads, as in the thesis"
            ));
            DEFAULT_BLOCK_SIZE
        });
        let name: Arc<str> = name.as_str().into();
        let shape = BlockShape {
            threads,
            registers_per_thread: runnable.registers.unwrap_or(0),
            shared_memory_bytes: runnable.shared_memory.unwrap_or(0),
        };
        let title = Arc::clone(&name);
        Ok(Kernel { name, title, blocks, shape, duration, clock: BlockClock::RunTime, sm_mask: None })
    }

    /// The host thread that launches runnables one after the other, each with the copies around it.
    fn launch(&mut self, sequence: &Sequence, plan: Plan, process: ProcessId) {
        let label: Arc<str> = sequence.label.as_str().into();
        let steps =
            sequence.runnables.iter().filter_map(|index| self.submissions.get(index)).flatten().copied().collect();
        let names = sequence.runnables.iter().filter_map(|&index| self.model.runnables.get(index));
        let names: Vec<String> = names.map(|runnable| format!("{:?}", runnable.name)).collect();
        let together = sequence.is_of_several().then(|| {
            format!(
                "one task calls {}: they are launched in this order in one stream, {label:?}, and are one job",
                names.join(", ")
            )
        });
        self.add_thread(label, plan, (process, None), steps);
        if let Some(note) = together {
            self.builder.note(note);
        }
    }

    /// Adds a host thread whose jobs come as `plan` says, of a process and maybe on a core.
    fn add_thread(
        &mut self,
        label: Arc<str>,
        plan: Plan,
        (process, core): (ProcessId, Option<CoreShare>),
        steps: Vec<Step>,
    ) {
        for note in plan.notes {
            self.builder.note(note);
        }
        self.builder.add_thread(HostThread {
            iterations: plan.period.is_none().then_some(1),
            period: plan.period,
            jitter: plan.jitter,
            unsure: plan.unsure.map(Into::into),
            deadline: plan.deadline.map_or(Deadline::Period, Deadline::After),
            process,
            core,
            ..HostThread::once(label, plan.release, steps)
        });
    }
}

impl Runnable {
    /// Why what becomes of it is refused.
    fn refused(&self, error: &WorkloadError) -> Problem {
        Problem::at(self.offset, format!("runnable {:?}: {error}", self.name))
    }
}

impl Plan {
    /// With the period that the user states for `name`, which counts in the hyperperiod too.
    fn with_period_of(mut self, name: &str, options: &ReadOptions) -> Self {
        self.period = options.periods.get(name).copied().or(self.period);
        let once = std::mem::take(&mut self.once);
        if self.period.is_none() {
            self.notes.extend(once);
        } else if !once.is_empty() {
            self.unsure = None;
        }
        self
    }
}
