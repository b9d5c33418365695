//! Options of every command that takes a scenario.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{ArgAction, Args};
use gpusched::input::Input;
use gpusched::input::options::{OPTIONS, OptionFile, OptionGroup, ScenarioOptions};
use gpusched::pictures::timeline::Lanes;
use gpusched::profile::{GpuProfile, Import};
use gpusched::scenario::amalthea::ModelDemands;
use gpusched::scenario::{LogUse, ReadProgress, Scenario, WhatIf};
use gpusched::spelling::option;
use gpusched::time::Duration;

use super::log_input::{ColumnsOption, LogOptions};
use super::needs::{self, Kind};
use super::option_arguments::{All, OptionArguments};
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

    /// Reads one of the scenarios, and what is asked of it if it is an AMALTHEA model.
    pub(crate) fn read_with_demands(&self, path: &Path) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        ending::per_input(|| self.made(&Self::input_from(path)?, LogUse::Unused))
    }

    /// Makes a scenario of the input, whatever it is, and changes it as the user wants.
    pub(crate) fn scenario(&self, input: &Input, logs: LogUse) -> anyhow::Result<Scenario> {
        Ok(self.made(input, logs)?.0)
    }

    fn made(&self, input: &Input, logs: LogUse) -> anyhow::Result<(Scenario, Option<ModelDemands>)> {
        let mut options = self.options()?;
        options.read.logs = logs;
        options.read.progress = progress::is_shown().then_some(ReadProgress(progress::has_parsed));
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
