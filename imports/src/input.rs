//! Files of any kind from which a scenario can be made, told apart by their content: logs, profiles, AMALTHEA models
//! and scenario files.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use thiserror::Error;

use crate::amalthea::{AmaltheaError, AmaltheaModel, ModelDemands};
use crate::device::BUILTIN_NAMES;
use crate::json::JsonError;
use crate::logs::{begins_a_log, begins_a_table};
use crate::profile::{GpuProfile, GpuProfileError, ProfileFormat, uncompressed};
use crate::scenario::{ReadOptions, Scenario, WhatIfError};
use crate::spelling::{self, CalledOption};
use crate::words::did_you_mean;

pub mod options;

use options::{OPTIONS, OptionGroup, ScenarioOption, ScenarioOptions};

/// What a scenario is made of, told by its content.
#[derive(Debug)]
pub enum Input {
    /// A profile of a real application.
    Profile(GpuProfile),
    /// An AMALTHEA model, or any other XML.
    Model {
        /// The name by which errors mention it.
        file: String,
        /// What it holds.
        text: String,
    },
    /// Any other text: a scenario file, of whichever format.
    Scenario {
        /// The name by which errors mention it.
        file: String,
        /// What it holds.
        text: String,
    },
}

/// A scenario file as it was read last, for scenarios that differ from it by changes alone.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct LastRead<'i>(Option<(&'i Input, &'i ReadOptions, Scenario)>);

/// Why no scenario can be made of a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The profile is damaged, or does not fit.
    #[error(transparent)]
    Profile(#[from] GpuProfileError),
    /// The AMALTHEA model is wrong.
    #[error(transparent)]
    Model(#[from] AmaltheaError),
    /// The scenario file is wrong.
    #[error(transparent)]
    Scenario(#[from] JsonError),
    /// A change that is asked for cannot be made.
    #[error(transparent)]
    Change(#[from] WhatIfError),
    /// An option means nothing to such an input.
    #[error("{option} is for {kind}, and {file} is none")]
    OnlyFor {
        /// The option.
        option: CalledOption<'static>,
        /// The inputs that it is for.
        kind: &'static str,
        /// The file.
        file: String,
    },
    /// Neither a built-in device nor a file has the name of the GPU.
    #[error("no built-in device and no file is called {0:?}{near}; built in are {known}",
        near = did_you_mean(.0, BUILTIN_NAMES), known = BUILTIN_NAMES.join(", "))]
    NoDevice(String),
    /// An option names a file that is no profile.
    #[error("{option}: {file} is no profile")]
    NoProfile {
        /// The option.
        option: CalledOption<'static>,
        /// The file.
        file: String,
    },
    /// It is what a GPU did, and says nothing of what it is to do.
    #[error("{file} is {what}, not a scenario: audit and replay-log judge it, and convert makes a scenario of it")]
    Measured {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
    },
    /// It is neither a profile nor text.
    #[error("cannot read {file}: it is no text")]
    NoText {
        /// The file.
        file: String,
        /// Where it stops being text.
        source: std::string::FromUtf8Error,
    },
}

/// Bytes at the beginning of a file by which a log is known.
const HEAD_BYTES: usize = 1 << 16;

/// Whether a path names logs: a directory, or a file that begins as one or as a table of blocks with known columns. Not
/// if it cannot be read.
pub fn are_logs(path: &Path) -> bool {
    let begins_as_log = || {
        let mut head = Vec::new();
        let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
        file.take(HEAD_BYTES as u64)
            .read_to_end(&mut head)
            .is_ok_and(|_| begins_a_log(&head) || begins_a_table(&head))
            .then_some(())
    };
    path.is_dir() || begins_as_log().is_some()
}

/// How names of reports end that Nsight Systems records.
const NSIGHT_REPORTS: [&str; 2] = [".nsys-rep", ".qdrep"];

impl Input {
    /// Of the content of a file, which may be compressed with gzip; `file` is its name in errors.
    ///
    /// # Errors
    /// [`InputError`] for damaged profiles and what is no text. Scenario files and models are not looked into.
    pub fn of(file: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        Self::with(file, bytes, GpuProfile::read)
    }

    /// The same, where of profiles nothing is asked but what was recorded.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    #[doc(hidden)]
    pub fn as_recorded(file: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        Self::with(file, bytes, GpuProfile::read_as_recorded)
    }

    fn with(
        file: &str,
        bytes: Vec<u8>,
        read: fn(&str, &[u8]) -> Result<GpuProfile, GpuProfileError>,
    ) -> Result<Self, InputError> {
        let content = uncompressed(file, Cow::Owned(bytes))?;
        if ProfileFormat::of(&content).is_some() {
            return Ok(Self::Profile(read(file, &content)?));
        }
        let head = &content[..content.len().min(HEAD_BYTES)];
        let is_measured = |what| Err(InputError::Measured { file: file.to_owned(), what });
        if begins_a_table(head) {
            return is_measured("a table of blocks");
        }
        if begins_a_log(head) {
            return is_measured("a log");
        }
        match String::from_utf8(content.into_owned()) {
            Ok(text) if AmaltheaModel::is_likely(&text) => Ok(Self::Model { file: file.to_owned(), text }),
            Ok(text) => Ok(Self::Scenario { file: file.to_owned(), text }),
            // The one format that is known by nothing but its name, as it is not published.
            Err(_) if NSIGHT_REPORTS.iter().any(|ending| file.ends_with(ending)) => {
                let report = GpuProfileError::new(file, "this is a report of Nsight Systems, and not an export of one");
                Err(report
                    .with_help(format!("nsys export --type sqlite {file:?} makes one that gpusched reads"))
                    .into())
            }
            Err(source) => Err(InputError::NoText { file: file.to_owned(), source }),
        }
    }

    /// Makes a scenario of it.
    ///
    /// # Errors
    /// [`InputError`] with what is wrong, also with the options.
    pub fn scenario(&self, options: &ScenarioOptions) -> Result<Scenario, InputError> {
        Ok(self.scenario_with_demands(options)?.0)
    }

    /// The same, of a scenario file that may have been read in that way just before.
    #[doc(hidden)]
    pub fn scenario_again<'i>(
        &'i self,
        options: &'i ScenarioOptions,
        last: &mut LastRead<'i>,
    ) -> Result<Scenario, InputError> {
        let Self::Scenario { file, text } = self else { return self.scenario(options) };
        self.refuse_options(options)?;
        let read = match last.0.take() {
            Some((input, read, scenario)) if std::ptr::eq(input, self) && *read == options.read => scenario,
            _ => Scenario::from_json(file, text, &options.read)?,
        };
        let changed = read.clone().what_if(&options.changes);
        last.0 = Some((self, &options.read, read));
        Ok(changed?)
    }

    /// Makes a scenario of it, with what an AMALTHEA model asks of it.
    ///
    /// # Errors
    /// As [`scenario`](Self::scenario).
    pub fn scenario_with_demands(
        &self,
        options: &ScenarioOptions,
    ) -> Result<(Scenario, Option<ModelDemands>), InputError> {
        self.refuse_options(options)?;
        let ScenarioOptions { read, model: chosen, changes, .. } = options;
        Ok(match self {
            Self::Profile(profile) => (options.import(profile)?.scenario, None),
            Self::Model { file, text } => {
                let model = AmaltheaModel::parse(file, text)?;
                let scenario = model.scenario(chosen, read)?.what_if(changes)?;
                let demands = model.demands(chosen, &scenario)?;
                (scenario, Some(demands))
            }
            Self::Scenario { file, text } => (Scenario::from_json(file, text, read)?.what_if(changes)?, None),
        })
    }

    /// Whether it is an AMALTHEA model.
    pub fn is_model(&self) -> bool {
        matches!(self, Self::Model { .. })
    }

    /// Refuses options that mean nothing to it.
    ///
    /// # Errors
    /// [`InputError::OnlyFor`]
    pub fn refuse_options(&self, options: &ScenarioOptions) -> Result<(), InputError> {
        let is_meant = |group| match group {
            OptionGroup::Run | OptionGroup::WhatIf => true,
            OptionGroup::Models => self.is_model(),
            OptionGroup::Profiles => matches!(self, Self::Profile(_)),
        };
        let given = OPTIONS.iter().filter(|option| options.given.contains(option.key));
        match given.into_iter().find(|option| !is_meant(option.group)) {
            Some(ScenarioOption { key, group, .. }) => {
                let kind = if *group == OptionGroup::Models { "AMALTHEA models" } else { "profiles" };
                Err(InputError::OnlyFor { option: spelling::option(key), kind, file: self.file().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// The name by which errors mention it.
    pub fn file(&self) -> &str {
        match self {
            Self::Profile(profile) => &profile.file,
            Self::Model { file, .. } | Self::Scenario { file, .. } => file,
        }
    }
}
