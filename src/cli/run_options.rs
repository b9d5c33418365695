//! Options of every command that takes a scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args};
use gpusched::device::Device;
use gpusched::input::Input;
use gpusched::profile::{GpuProfile, Import, ImportOptions};
use gpusched::scenario::amalthea::ModelDemands;
use gpusched::scenario::{Deadline, LogUse, ReadOptions, ReadProgress, Scenario};
use gpusched::time::Duration;
use gpusched::workload::Placement;

use super::amalthea_options::ModelOptions;
use super::log_input::LogOptions;
use super::needs::{self, Kind};
use super::output::note;
use super::profile_options::ProfileOptions;
use super::several::Files;
use super::what_if_options::WhatIfOptions;
use super::{ending, input, progress};

/// How to read and run a scenario.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Scenario file, in gpusched's own format or `cuda_scheduling_examiner`'s, an AMALTHEA model, or a profile of
    /// PyTorch (Kineto), Nsight Systems (SQLite export) or nvprof (CSV); - reads standard input
    // One, unless a command says that it takes several.
    #[arg(required = true, num_args = 1, action = ArgAction::Set)]
    scenario: Vec<PathBuf>,
    /// GPU to simulate: a built-in name (see `gpusched devices`) or a device file [default: the scenario's, or tx2]
    #[arg(long, value_name = "NAME|FILE")]
    device: Option<String>,
    /// No kernel or copy goes on earlier than TIME after its launch (rule L1) [default: the device's]
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    launch_latency: Option<Duration>,
    /// No kernel goes on earlier than TIME after the one before it in its stream has completed (rule L2) [default: the
    /// device's]
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    kernel_gap: Option<Duration>,
    /// Which SM gets the next block [default: the scenario's, or most-room]
    #[arg(long, value_name = "POLICY", value_parser = PossibleValuesParser::new(Placement::ALL.map(Placement::name)))]
    placement: Option<String>,
    /// How long a block runs of a kernel whose file does not say: LABEL is the benchmark's label, its file name
    /// without .so, or the kernel's name
    #[arg(long, value_name = "LABEL=TIME", value_parser = parse_block_duration)]
    block_duration: Vec<(String, Duration)>,
    /// Replay what asks for processes or MPS clients of its own as threads of one process
    #[arg(long)]
    as_threads: bool,
    /// Replay processes as clients of MPS, whose streams are as of one context, instead of contexts that take turns
    #[arg(long, conflicts_with = "as_threads")]
    mps: bool,
    /// A turn of a context lasts TIME at most (rule T2) [default: the process's, or the device's]
    #[arg(long, value_name = "TIME", value_parser = parse_time_slice)]
    time_slice: Option<Duration>,
    /// A switch of contexts costs TIME (rule T3) [default: the scenario's, or the device's]
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    switch_cost: Option<Duration>,
    /// Release STREAM (a stream with operations, a host, or a benchmark's label) once every TIME; what has a single job
    /// repeats until the horizon. May be repeated
    #[arg(long, value_name = "STREAM=TIME", value_parser = parse_stream_time)]
    period: Vec<(String, Duration)>,
    /// By when each job of STREAM, with all its kernels and copies, should have finished, counted from its release; or
    /// none [default: the scenario's, or the period]. May be repeated
    #[arg(long, value_name = "STREAM=TIME|none", value_parser = parse_stream_deadline)]
    deadline: Vec<(String, Deadline)>,
    /// End the run at this time, for example 10s
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    horizon: Option<Duration>,
    /// Let each block run for a random share of its stated time, from BEST to WORST percent, for example 80..100
    #[arg(long, value_name = "BEST..WORST", value_parser = parse_range)]
    vary: Option<(u32, u32)>,
    /// Seed for random placement and varying block times [default: the scenario's, or 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    profile: ProfileOptions,
    #[command(flatten)]
    what_if: WhatIfOptions,
}

fn parse_block_duration(text: &str) -> Result<(String, Duration), String> {
    let (label, time) = text.rsplit_once('=').ok_or("expected LABEL=TIME, for example mandelbrot=2ms")?;
    Ok((label.to_owned(), Duration::parse(time).map_err(|error| error.to_string())?))
}

pub(crate) fn parse_stream_time(text: &str) -> Result<(String, Duration), String> {
    let (stream, time) = of_stream(text)?;
    match Duration::parse(time) {
        Ok(Duration::ZERO) => Err("expected a time above zero".to_owned()),
        Ok(time) => Ok((stream.to_owned(), time)),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_stream_deadline(text: &str) -> Result<(String, Deadline), String> {
    let (stream, deadline) = of_stream(text)?;
    Ok((stream.to_owned(), Deadline::parse(deadline)?))
}

fn of_stream(text: &str) -> Result<(&str, &str), &'static str> {
    text.rsplit_once('=').ok_or("expected STREAM=TIME, for example camera=40ms")
}

/// The names and values of an option that may be repeated, each name once.
pub(crate) fn by_name<T: Copy>(option: &str, given: &[(String, T)]) -> anyhow::Result<BTreeMap<String, T>> {
    let mut values = BTreeMap::new();
    for (name, value) in given {
        if values.insert(name.clone(), *value).is_some() {
            bail!("{option} is given twice for {name:?}");
        }
    }
    Ok(values)
}

fn parse_time_slice(text: &str) -> Result<Duration, String> {
    match Duration::parse(text) {
        Ok(Duration::ZERO) => Err("expected a time above zero".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    const EXPECTED: &str = "expected two whole percentages up to 10000, the first not above the second: 80..100";
    ReadOptions::parse_vary(text).ok_or_else(|| EXPECTED.to_owned())
}

impl RunOptions {
    /// The device that the user names.
    pub(crate) fn device(&self) -> anyhow::Result<Option<Device>> {
        self.device.as_deref().map(input::device).transpose()
    }

    /// What the user says of profiles.
    pub(crate) fn profile_options(&self) -> &ProfileOptions {
        &self.profile
    }

    /// The scenario files, for commands that take several.
    pub(crate) fn files(&self) -> anyhow::Result<Files> {
        Files::new(&self.scenario)
    }

    /// The first scenario file, which there is.
    pub(crate) fn path(&self) -> &Path {
        self.scenario.first().map_or(Path::new("-"), PathBuf::as_path)
    }

    /// Reads the input, whatever it is.
    pub(crate) fn input(&self) -> anyhow::Result<Input> {
        self.input_from(self.path())
    }

    fn input_from(&self, path: &Path) -> anyhow::Result<Input> {
        let mut input = input::scenario(path)?;
        let kind = match &input {
            Input::Profile(_) => Kind::Profile,
            Input::Model { .. } => Kind::Model,
            Input::Scenario { .. } => Kind::Scenario,
        };
        needs::input(kind, input.file())?;
        if let Input::Profile(profile) = &mut input {
            self.profile.set_block_times(profile, self.device()?.as_ref())?;
        }
        Ok(input)
    }

    /// The options of logs, if the input is a directory or a log rather than a scenario.
    pub(crate) fn logs(&self) -> Option<LogOptions> {
        input::are_logs(self.path()).then(|| LogOptions::new(self.path(), self.device.clone(), self.placement.clone()))
    }

    /// Reads the scenario.
    pub(crate) fn read(&self, logs: LogUse) -> anyhow::Result<Scenario> {
        self.scenario(&self.input()?, logs)
    }

    /// Reads one of the scenarios.
    pub(crate) fn read_from(&self, path: &Path, logs: LogUse) -> anyhow::Result<Scenario> {
        ending::per_input(|| self.scenario(&self.input_from(path)?, logs))
    }

    /// Reads one of the scenarios, and what is asked of it if it is an AMALTHEA model.
    pub(crate) fn read_with_demands(&self, path: &Path) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        ending::per_input(|| self.made(&self.input_from(path)?, LogUse::Unused))
    }

    /// Makes a scenario of the input, whatever it is, and changes it as the user wants.
    pub(crate) fn scenario(&self, input: &Input, logs: LogUse) -> anyhow::Result<Scenario> {
        Ok(self.made(input, logs)?.0)
    }

    fn made(&self, input: &Input, logs: LogUse) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        let (options, changes) = (self.read_options(logs)?, self.what_if.changes());
        let (scenario, demands) =
            input.scenario_with_demands(&options, &self.profile.options(), &self.model.options()?, &changes)?;
        if input.is_model() {
            let without = self.model.without_effect(|model| {
                let other = input.scenario_with_demands(&options, &self.profile.options(), model, &changes);
                other.is_ok_and(|other| other.0 == scenario)
            })?;
            for text in without {
                note(&format!("{}: {text}", input.file()));
            }
        }
        if self.as_threads {
            let options = ReadOptions { as_threads: false, ..self.read_options(logs)? };
            let other =
                input.scenario_with_demands(&options, &self.profile.options(), &self.model.options()?, &changes);
            if other.is_ok_and(|other| other.0 == scenario) {
                note(&format!("{}: --as-threads has no effect: nothing asks for processes", input.file()));
            }
        }
        needs::note_lacking_of_scenario(input.file(), &scenario)?;
        Ok((scenario, demands))
    }

    /// Makes a scenario of what starts in a profile from one time to another, and changes it as the user wants.
    pub(crate) fn import(
        &self,
        profile: &GpuProfile,
        (from, to): (Option<Duration>, Option<Duration>),
    ) -> anyhow::Result<Import> {
        let chosen = ImportOptions { from, to, ..self.profile.options() };
        let mut import = profile.import(&chosen, &self.read_options(LogUse::Unused)?)?;
        import.scenario = import.scenario.what_if(&self.what_if.changes())?;
        Ok(import)
    }

    fn read_options(&self, logs: LogUse) -> anyhow::Result<ReadOptions> {
        Ok(ReadOptions {
            device: self.device()?,
            launch_latency: self.launch_latency,
            kernel_gap: self.kernel_gap,
            placement: self.placement.as_deref().and_then(Placement::from_name),
            seed: self.seed,
            horizon: self.horizon,
            vary_percent: self.vary,
            block_durations: by_name("--block-duration", &self.block_duration)?,
            periods: by_name("--period", &self.period)?,
            deadlines: by_name("--deadline", &self.deadline)?,
            other_block_duration: None,
            as_threads: self.as_threads,
            mps: self.mps,
            time_slice: self.time_slice,
            switch_cost: self.switch_cost,
            logs,
            progress: progress::is_shown().then_some(ReadProgress(progress::has_parsed)),
        })
    }
}
