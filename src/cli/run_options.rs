//! Options of every command that takes a scenario, and of every command that takes measured logs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{ArgAction, Args};
use gpusched::amalthea::ModelDemands;
use gpusched::audit::Tolerances;
use gpusched::device::Device;
use gpusched::input::options::{OPTIONS, OptionFile, OptionGroup, ScenarioOptions};
use gpusched::input::{Input, InputError};
use gpusched::logs::{BlockColumns, LogFiles, LogFilesError, LogFilesReader, LogInput, LogsReading};
use gpusched::pictures::timeline::Lanes;
use gpusched::probe::ProbeFolder;
use gpusched::profile::{GpuProfile, Import};
use gpusched::scenario::{LogUse, ReadOptions, ReadProgress, Scenario, WhatIf};
use gpusched::spelling::option;
use gpusched::time::{Duration, Instant};
use gpusched::workload::Placement;

use super::needs::{self, Kind};
use super::option_arguments::{All, OptionArguments, one_of};
use super::output::note;
use super::several::Files;
use super::{ending, input, progress};

/// How to read and run a scenario.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunOptions {
    /// Scenario file, in gpusched's own format or `cuda_scheduling_examiner`'s, an AMALTHEA model, or a profile of
    /// PyTorch (Kineto), Nsight Systems (SQLite export) or nvprof (CSV); - reads standard input
    // One, unless a command says that it takes several.
    #[arg(required = true, num_args = 1, action = ArgAction::Set)]
    scenario: Vec<PathBuf>,
    #[command(flatten)]
    arguments: OptionArguments<All>,
}

impl RunOptions {
    /// What the user says of the scenario, with files read.
    pub(crate) fn options(&self) -> anyhow::Result<ScenarioOptions> {
        self.arguments.options()
    }

    /// What `--block-times` says of the times that verdicts are to hold for, in place of a profile: `stated`, or, as
    /// `--vary` does, percentages of the stated times, which are then varied. Nothing: it does not.
    pub(crate) fn stated_block_times(&self) -> anyhow::Result<Option<Self>> {
        const BLOCK_TIMES: &str = "block_times";
        let said = self.arguments.said()?;
        let Some(OptionFile::Path(path)) = said.block_times_file else { return Ok(None) };
        let stated = self.arguments.without_option(BLOCK_TIMES);
        let Some(word) = path.to_str().filter(|word| needs::names_no_file(OsStr::new(word))) else { return Ok(None) };
        if word != "stated" && said.read.vary_percent.is_some() {
            bail!("--block-times {word} says what --vary says");
        }
        let arguments = if word == "stated" { stated } else { stated.and("vary", word) };
        Ok(Some(Self { arguments, ..self.clone() }))
    }

    /// The instants that an option names, each no later than the run may last.
    pub(crate) fn instants(option: &str, at: &[Duration], scenario: &Scenario) -> anyhow::Result<Vec<Instant>> {
        if let Some(at) = at.iter().find(|at| scenario.horizon.is_some_and(|horizon| **at > horizon)) {
            bail!("{option} {at} is after the horizon, up to which the run goes");
        }
        Ok(at.iter().map(|&at| Instant::ZERO + at).collect())
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
        Self::input_from(self.path())
    }

    fn input_from(path: &Path) -> anyhow::Result<Input> {
        let input = input::scenario(path)?;
        let kind = match &input {
            Input::Profile(_) => Kind::Profile,
            Input::Model { .. } => Kind::Model,
            Input::Scenario { .. } => Kind::Scenario,
        };
        needs::input(kind, input.file())?;
        Ok(input)
    }

    /// The options of logs, if the input is a directory or a log rather than a scenario.
    pub(crate) fn logs(&self, columns: &ColumnsOption) -> anyhow::Result<Option<LogOptions>> {
        if !columns.is_given() && !input::are_logs(self.path()) {
            return Ok(None);
        }
        let ScenarioOptions { device_file, read, .. } = self.arguments.said()?;
        let device = match device_file {
            Some(OptionFile::Path(path)) => Some(path.to_string_lossy().into_owned()),
            _ => None,
        };
        Ok(Some(LogOptions::new(self.path(), device, read.placement, columns.clone())))
    }

    pub(crate) fn read(&self, logs: LogUse) -> anyhow::Result<Scenario> {
        self.scenario(&self.input()?, logs)
    }

    pub(crate) fn read_from(&self, path: &Path, logs: LogUse) -> anyhow::Result<Scenario> {
        Ok(self.read_with_lanes(path, logs)?.0)
    }

    /// Reads one of the inputs, and what the lanes of its figure are where nobody says more: of an application the
    /// streams, which its profile has.
    pub(crate) fn read_with_lanes(&self, path: &Path, logs: LogUse) -> anyhow::Result<(Scenario, Lanes)> {
        ending::per_input(|| {
            let input = Self::input_from(path)?;
            let lanes = if matches!(input, Input::Profile(_)) { Lanes::Streams } else { Lanes::Sms };
            Ok((self.scenario(&input, logs)?, lanes))
        })
    }

    /// What is said of the scenarios as programs that share a GPU.
    pub(crate) fn of_programs(&self) -> anyhow::Result<OfPrograms> {
        Ok(OfPrograms::new(self.options()?))
    }

    /// Reads one of the scenarios, and what is asked of it if it is an AMALTHEA model.
    pub(crate) fn read_with_demands(&self, path: &Path) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        ending::per_input(|| self.made(&Self::input_from(path)?, LogUse::Unused))
    }

    /// Reads one of the scenarios as it is before changes, which come with it.
    pub(crate) fn read_before_changes(&self, path: &Path) -> anyhow::Result<(Scenario, WhatIf)> {
        ending::per_input(|| {
            let mut options = self.options()?;
            let changes = std::mem::take(&mut options.changes);
            Ok((Self::input_from(path)?.scenario(&options)?, changes))
        })
    }

    /// Makes a scenario of the input, whatever it is, and changes it as the user wants.
    pub(crate) fn scenario(&self, input: &Input, logs: LogUse) -> anyhow::Result<Scenario> {
        Ok(self.made(input, logs)?.0)
    }

    fn made(&self, input: &Input, logs: LogUse) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        let mut options = self.options()?;
        options.read.logs = logs;
        options.read.progress = progress::is_shown().then_some(ReadProgress(progress::reach));
        let (scenario, demands) = input.scenario_with_demands(&options)?;
        let is_same_without = |key: &str| -> anyhow::Result<bool> {
            let mut other = self.arguments.without(key)?;
            other.take_files_of(&options);
            (other.read.logs, other.read.progress) = (logs, options.read.progress);
            Ok(input.scenario(&other).is_ok_and(|other| other == scenario))
        };
        let given = OPTIONS.iter().filter(|option| options.given.contains(option.key));
        for of_models in given.filter(|option| option.group == OptionGroup::Models) {
            if is_same_without(of_models.key)? {
                let (file, flag) = (input.file(), option(of_models.key));
                note(&format!("{file}: {flag} has no effect: the model gives the same scenario without it"));
            }
        }
        if options.read.as_threads && is_same_without("as_threads")? {
            note(&format!("{}: --as-threads has no effect: nothing asks for processes", input.file()));
        }
        if matches!(input, Input::Profile(_)) && options.changes != WhatIf::default() {
            note(&format!("{}: gpusched replay-log sets the profile without these changes beside this", input.file()));
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
        let mut options = self.options()?;
        options.read.logs = LogUse::Unused;
        (options.import.from, options.import.to) = (from, to);
        Ok(options.import(profile)?)
    }
}

/// What a user says of programs that share a GPU.
pub(crate) struct OfPrograms {
    /// Of each, while it is read.
    each: ScenarioOptions,
    /// Of the run of all.
    pub(crate) all: ReadOptions,
    /// What is changed of all of it.
    pub(crate) changes: WhatIf,
}

impl OfPrograms {
    fn new(mut each: ScenarioOptions) -> Self {
        let read = &mut each.read;
        read.logs = LogUse::Unused;
        let all = ReadOptions {
            seed: read.seed,
            horizon: read.horizon.take(),
            vary_percent: read.vary_percent.take(),
            periods: std::mem::take(&mut read.periods),
            deadlines: std::mem::take(&mut read.deadlines),
            time_slice: read.time_slice.take(),
            switch_cost: read.switch_cost.take(),
            logs: LogUse::Unused,
            ..ReadOptions::default()
        };
        let changes = std::mem::take(&mut each.changes);
        Self { each, all, changes }
    }

    /// Reads one of the programs, and says whether it is a profile.
    pub(crate) fn read(&self, path: &Path) -> anyhow::Result<(Scenario, bool)> {
        ending::per_input(|| {
            let input = RunOptions::input_from(path)?;
            Ok((input.scenario(&self.each)?, matches!(input, Input::Profile(_))))
        })
    }
}

/// Which logs, from which GPU, and how far to trust them.
#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// Logs of `cuda_scheduling_examiner` or tables of blocks (CSV), or directories that hold them, or one profile of
    /// PyTorch, Nsight Systems or nvprof; - reads standard input
    #[arg(required = true, value_name = "LOG|DIR")]
    logs: Vec<PathBuf>,
    /// GPU on which they were taken: a built-in name or a device file [default: what its scenario or the logs say]
    #[arg(long, value_name = "NAME|FILE")]
    device: Option<String>,
    /// The scenario that made them; it tells what logs do not: priorities, SM masks, copies, memsets
    /// [default: scenario.json in the same directory, if there is one]
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Use nothing but the logs, even if a scenario lies beside them
    #[arg(long, conflicts_with = "scenario")]
    logs_alone: bool,
    /// Which SM gets the next block, by the model [default: the scenario's, or the device's]
    #[arg(long, value_name = "POLICY", value_parser = one_of(Placement::ALL, Placement::name))]
    pub(crate) placement: Option<Placement>,
    #[command(flatten)]
    columns: ColumnsOption,
    /// Tolerance between the host's clock and the GPU's, in microseconds
    #[arg(long, value_name = "US", default_value = "500", value_parser = parse_microseconds)]
    tolerance_us: i64,
    /// Tolerance between times on one clock, in microseconds
    #[arg(long, value_name = "US", default_value = "10", value_parser = parse_microseconds)]
    clock_tolerance_us: i64,
}

/// Which column of a table of blocks says what.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ColumnsOption {
    /// Which columns of a table of blocks (CSV) say what, where their names do not, as in `sm=smid,start_ns=t0`; where
    /// the file has no column NAME, it is the value of all rows (threads=128)
    #[arg(long, value_name = "COLUMN=NAME,...", value_parser = BlockColumns::parse)]
    columns: Option<BlockColumns>,
}

impl ColumnsOption {
    /// Whether something is said.
    pub(crate) fn is_given(&self) -> bool {
        self.columns.is_some()
    }
}

/// Decimal microseconds as nanoseconds.
fn parse_microseconds(text: &str) -> Result<i64, String> {
    let time = Duration::parse(&format!("{text}us")).map_err(|_| "expected microseconds from 0, for example 2.5")?;
    i64::try_from(time.as_ns()).map_err(|_| "that is too long".to_owned())
}

impl LogOptions {
    /// One log or directory, with the other options as they are by default.
    pub(crate) fn new(
        path: &Path,
        device: Option<String>,
        placement: Option<Placement>,
        columns: ColumnsOption,
    ) -> Self {
        Self {
            logs: vec![path.to_path_buf()],
            device,
            scenario: None,
            logs_alone: false,
            placement,
            columns,
            tolerance_us: 500,
            clock_tolerance_us: 10,
        }
    }

    /// The profile, if the one file that is named is a profile rather than a log.
    pub(crate) fn profile(&self) -> anyhow::Result<Option<GpuProfile>> {
        let [path] = &*self.logs else { return Ok(None) };
        if self.columns.is_given() || input::are_logs(path) {
            return Ok(None);
        }
        match input::scenario(path) {
            Ok(Input::Profile(profile)) => {
                needs::input(Kind::Profile, &profile.file)?;
                Ok(Some(profile))
            }
            Err(error) if matches!(error.downcast_ref(), Some(InputError::Profile(_))) => Err(error),
            // Damaged logs are read as far as they go, and the reader of logs tells of files that cannot be read.
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// The folder that the probe wrote; `None`: several are named.
    pub(crate) fn probe(&self) -> anyhow::Result<Option<ProbeFolder>> {
        let [folder] = &*self.logs else { return Ok(None) };
        ProbeFolder::read(folder, &Reader).map(Some).map_err(anyhow::Error::from_boxed)
    }

    pub(crate) fn device(&self) -> anyhow::Result<Option<Device>> {
        self.device.as_deref().map(input::device).transpose()
    }

    pub(crate) fn tolerances(&self) -> Tolerances {
        Tolerances { across_clocks_ns: self.tolerance_us, one_clock_ns: self.clock_tolerance_us }
    }

    /// Reads everything: the logs of each directory are sorted into runs.
    pub(crate) fn read(&self) -> anyhow::Result<LogInput> {
        let first = self.logs.first().map_or(Path::new("-"), PathBuf::as_path);
        needs::input(Kind::Logs, &first.display().to_string())?;
        let files = LogFiles {
            paths: self.logs.clone(),
            device: self.device()?,
            scenario: self.scenario.clone(),
            logs_alone: self.logs_alone,
            placement: self.placement,
            columns: self.columns.columns.clone().unwrap_or_default(),
        };
        files.read(&Reader).map_err(anyhow::Error::from_boxed)
    }
}

/// Reads files as every command does.
struct Reader;

impl LogFilesReader for Reader {
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError> {
        Ok(input::log(path, columns)?)
    }

    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError> {
        Ok(input::read(path)?)
    }

    fn note(&self, text: &str) {
        note(text);
    }
}
