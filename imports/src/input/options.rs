//! Options of a scenario: what a user may say beside an input, to the command, a study, Python or the page.
//!
//! [`OPTIONS`] is the one list of them. The command's flags, the keys of studies, Python's keywords, what the page
//! asks, the published schema and docs/options.md are made of it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Input, InputError};
use crate::amalthea::{AmaltheaOptions, Frequency};
use crate::device::Device;
use crate::named::named;
use crate::profile::{GpuProfile, Import, ImportOptions};
use crate::scenario::{Deadline, NewTime, ReadOptions, WhatIf};
use crate::spelling::option;
use crate::time::Duration;

mod table;
mod value;

pub use table::OPTIONS;
pub use value::{OptionValue, Setting};

/// Everything that is said beside an input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScenarioOptions {
    /// Of any input.
    pub read: ReadOptions,
    /// Of profiles.
    pub import: ImportOptions,
    /// Of AMALTHEA models.
    pub model: AmaltheaOptions,
    /// Changes to what was read.
    pub changes: WhatIf,
    /// A profile whose block times are taken for the same kernels of this one.
    pub block_times: Option<Arc<GpuProfile>>,
    /// The GPU, until [`open`](Self::open) reads it.
    pub device_file: Option<OptionFile>,
    /// The profile of `block_times`, until [`open`](Self::open) reads it.
    pub block_times_file: Option<OptionFile>,
    /// Keys of the options that were said one by one.
    pub given: BTreeSet<&'static str>,
}

/// A file that an option names, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionFile {
    /// Its path; of a device also the name of a built-in one.
    Path(PathBuf),
    /// What it would hold.
    Text {
        /// The name by which errors mention it.
        name: String,
        /// Its content.
        text: String,
    },
}

named! {
    /// What an option is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum OptionGroup: ALL {
        /// How any input is read and run.
        Run = "Any scenario",
        /// What AMALTHEA models do not say.
        Models = "AMALTHEA models",
        /// What is taken of profiles, and how.
        Profiles = "Profiles",
        /// What would be if the scenario were another.
        WhatIf = "What if",
    }
}

/// Where a value goes.
pub(crate) type SetOption<T> = fn(&mut ScenarioOptions, T);
/// Where the value of a stream, kernel or runnable goes.
pub(crate) type SetByName<T> = fn(&mut ScenarioOptions, String, T);

/// What values an option takes, and where they go.
#[derive(Debug, Clone, Copy)]
pub enum OptionKind {
    /// Yes or no.
    Flag(SetOption<bool>),
    /// A time.
    Time(SetOption<Duration>),
    /// A time above zero.
    TimeAboveZero(SetOption<Duration>),
    /// A whole number in a range.
    Number(u64, u64, SetOption<u64>),
    /// Best and worst percentage, as `80..100`.
    Percents(SetOption<(u32, u32)>),
    /// One of a few names.
    OneOf(fn() -> Vec<&'static str>, fn(&mut ScenarioOptions, &str)),
    /// Any name.
    Name(SetOption<String>),
    /// Any names, told one by one.
    Names(SetOption<String>),
    /// Lists of names, each a text with commas in it, told one by one.
    Lists(SetOption<String>),
    /// A frequency.
    Frequency(SetOption<Frequency>),
    /// A file; of a device also the name of a built-in one.
    File(SetOption<OptionFile>),
    /// Times by name.
    TimeOf(SetByName<Duration>),
    /// Times of blocks or hosts by name: a time, or a share of what they have, as `80%`.
    TimeOrShareOf(SetByName<NewTime>),
    /// Times above zero by name.
    TimeAboveZeroOf(SetByName<Duration>),
    /// Deadlines by name: a time above zero, or `none`.
    DeadlineOf(SetByName<Deadline>),
    /// Priorities by name: 0, or negative for more urgent.
    PriorityOf(SetByName<i32>),
    /// Names by name.
    NameOf(SetByName<String>),
    /// SM masks by name.
    MaskOf(SetByName<crate::device::SmMask>),
    /// Whole numbers from 1 by name.
    SizeOf(SetByName<u32>),
}

impl OptionKind {
    /// Whether its values are by name: an object, a dict, or `NAME=VALUE` again and again.
    pub const fn is_by_name(&self) -> bool {
        matches!(
            self,
            Self::TimeOf(_)
                | Self::TimeOrShareOf(_)
                | Self::TimeAboveZeroOf(_)
                | Self::DeadlineOf(_)
                | Self::PriorityOf(_)
                | Self::NameOf(_)
                | Self::MaskOf(_)
                | Self::SizeOf(_)
        )
    }
}

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioOption {
    /// Its name; as a flag it has dashes in place of underscores. One that is by name is in the singular.
    pub key: &'static str,
    /// What it is about.
    pub group: OptionGroup,
    /// What stands for a value in help; empty for flags.
    pub value_name: &'static str,
    /// A value as the command takes it; empty for flags.
    pub example: &'static str,
    /// What it says.
    pub help: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
}

impl ScenarioOption {
    /// The option of a key.
    pub fn of(key: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.key == key)
    }
}

impl ScenarioOption {
    /// Its example as a value of JSON, as studies and the page take it.
    pub fn example_in_json(&self) -> Value {
        let number = |text: &str| text.parse::<i64>().map_or_else(|_| json!(text), Value::from);
        let (name, value) = self.example.rsplit_once('=').unwrap_or(("", self.example));
        match self.kind {
            OptionKind::Flag(_) => json!(true),
            OptionKind::Number(..) => number(value),
            OptionKind::Names(_) => json!(value.split(',').collect::<Vec<_>>()),
            OptionKind::Lists(_) => json!([value]),
            OptionKind::PriorityOf(_) | OptionKind::SizeOf(_) => json!({name: number(value)}),
            kind if kind.is_by_name() => json!({name: value}),
            _ => json!(value),
        }
    }
}

impl ScenarioOptions {
    /// Those that only [`ReadOptions`] are said of.
    pub fn new(read: ReadOptions) -> Self {
        Self { read, ..Self::default() }
    }

    /// Reads the files that were named, and forgets their names; `read` gives the content of one, and what errors call
    /// it.
    ///
    /// # Errors
    /// As `read`; and [`InputError`] for what is no device or no profile.
    pub fn open<E: From<InputError>>(
        &mut self,
        is_there: impl Fn(&Path) -> bool,
        read: impl Fn(&Path) -> Result<(String, Vec<u8>), E>,
    ) -> Result<(), E> {
        let content = |file| match file {
            OptionFile::Path(path) => read(&path),
            OptionFile::Text { name, text } => Ok((name, text.into_bytes())),
        };
        if let Some(file) = self.device_file.take() {
            let builtin = match &file {
                OptionFile::Path(path) => builtin(path, is_there(path))?,
                OptionFile::Text { .. } => None,
            };
            self.read.device = Some(match builtin {
                Some(device) => device,
                None => device_of(content(file)?)?,
            });
        }
        if let Some(file) = self.block_times_file.take() {
            let (name, bytes) = content(file)?;
            let Input::Profile(other) = Input::of(&name, bytes)? else {
                return Err(InputError::NoProfile { option: option("block_times"), file: name }.into());
            };
            self.block_times = Some(Arc::new(other));
        }
        Ok(())
    }

    /// Takes what the files held that others name.
    pub fn take_files_of(&mut self, other: &Self) {
        (self.device_file, self.block_times_file) = (None, None);
        if other.read.device.is_some() {
            self.read.device.clone_from(&other.read.device);
        }
        if other.block_times.is_some() {
            self.block_times.clone_from(&other.block_times);
        }
    }

    /// A profile with the block times of the other one, if that is asked for.
    ///
    /// # Errors
    /// [`InputError`] if the other one has none.
    pub fn with_block_times<'p>(&self, profile: &'p GpuProfile) -> Result<Cow<'p, GpuProfile>, InputError> {
        let mut profile = Cow::Borrowed(profile);
        if let Some(other) = &self.block_times {
            profile.to_mut().take_block_times_of(other, self.read.device.as_ref())?;
        }
        Ok(profile)
    }

    /// Makes a scenario of a profile, and changes it.
    ///
    /// # Errors
    /// [`InputError`] for what does not fit the profile.
    pub fn import(&self, profile: &GpuProfile) -> Result<Import, InputError> {
        let mut import = self.with_block_times(profile)?.import(&self.import, &self.read)?;
        import.scenario = import.scenario.what_if(&self.changes)?;
        Ok(import)
    }
}

/// The built-in device of a name, which is else that of a file.
fn builtin(path: &Path, is_file: bool) -> Result<Option<Device>, InputError> {
    let builtin = path.to_str().map(Device::builtin).transpose()?.flatten();
    if builtin.is_none() && !is_file {
        return Err(InputError::NoDevice(path.display().to_string()));
    }
    Ok(builtin)
}

fn device_of((name, bytes): (String, Vec<u8>)) -> Result<Device, InputError> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Device::from_json(&name, &text)?),
        Err(source) => Err(InputError::NoText { file: name, source }),
    }
}
