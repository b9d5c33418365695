//! What a caller says beside a scenario, by keyword.

use std::collections::BTreeMap;

use gpusched::device::{ChannelOrder, SmMask};
use gpusched::input::Input;
use gpusched::profile::{GpuProfile, Import, ImportOptions, Launches};
use gpusched::scenario::amalthea::{AmaltheaOptions, Frequency, ModelDemands, TickBound};
use gpusched::scenario::{Deadline, ReadOptions, Scenario, WhatIf};
use gpusched::time::Duration;
use gpusched::workload::Placement;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::Failure;
use crate::given::Given;

/// The options of a caller, with files not read yet.
#[derive(Debug, Default)]
pub(crate) struct Options {
    read: ReadOptions,
    import: ImportOptions,
    model: AmaltheaOptions,
    what_if: WhatIf,
    /// An option of profiles that was given: other inputs are refused with it.
    given_for_profiles: Option<&'static str>,
    /// An option of AMALTHEA models that was given.
    given_for_models: Option<&'static str>,
    device: Option<Given>,
    block_times: Option<Given>,
}

/// A time: a string with a unit, such as "250 ms", or whole nanoseconds.
pub(crate) fn time(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    if let Ok(text) = value.cast::<PyString>() {
        return Duration::parse(text.to_str()?).map_err(|error| PyValueError::new_err(error.to_string()));
    }
    // Those of NumPy too.
    if value.hasattr(intern!(value.py(), "__index__"))? {
        let wrong = || PyValueError::new_err("expected whole nanoseconds from 0 to 2^64 - 1");
        return value.extract().map(Duration::from_ns).map_err(|_| wrong());
    }
    Err(PyTypeError::new_err(format!(
        "expected a time as a string with its unit, such as \"250 ms\", or whole nanoseconds, found {}",
        value.repr()?
    )))
}

pub(crate) fn pairs<'py, T>(
    value: &Bound<'py, PyAny>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<(String, T)>> {
    let Ok(dict) = value.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!("expected a dict from names, found {}", value.repr()?)));
    };
    dict.iter().map(|(key, value)| Ok((key.extract()?, read(&value)?))).collect()
}

/// A time, or "none".
fn deadline(value: &Bound<'_, PyAny>) -> PyResult<Deadline> {
    match value.cast::<PyString>() {
        Ok(text) => Deadline::parse(text.to_str()?).map_err(PyValueError::new_err),
        Err(_) => time(value).map(Deadline::After),
    }
}

pub(crate) fn map<'py, T>(
    value: &Bound<'py, PyAny>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<BTreeMap<String, T>> {
    Ok(pairs(value, read)?.into_iter().collect())
}

/// One of a few names.
pub(crate) fn named<T>(
    value: &Bound<'_, PyAny>,
    find: impl Fn(&str) -> Option<T>,
    names: &[&'static str],
) -> PyResult<T> {
    let name: String = value.extract()?;
    find(&name).ok_or_else(|| PyValueError::new_err(format!("{name:?} is none of {}", names.join(", "))))
}

/// Best and worst percentage: "80..100" or (80, 100).
fn vary(value: &Bound<'_, PyAny>) -> PyResult<(u32, u32)> {
    let text = match value.extract::<(u32, u32)>() {
        Ok((best, worst)) => format!("{best}..{worst}"),
        Err(_) => value.extract()?,
    };
    let wrong = || PyValueError::new_err("vary: two whole percentages up to 10000, the first not above the second");
    ReadOptions::parse_vary(&text).ok_or_else(wrong)
}

impl Options {
    /// Of keywords.
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = Self::default();
        for (key, value) in given.into_iter().flatten() {
            let key: String = key.extract()?;
            if !value.is_none() {
                options.set(&key, &value)?;
            }
        }
        Ok(options)
    }

    /// Whether nothing is said.
    pub(crate) fn is_empty(given: Option<&Bound<'_, PyDict>>) -> bool {
        given.is_none_or(|given| given.iter().all(|(_, value)| value.is_none()))
    }

    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = &mut self.read;
        match key {
            "device" => self.device = Some(Given::new(value)?),
            "launch_latency" => read.launch_latency = Some(time(value)?),
            "kernel_gap" => read.kernel_gap = Some(time(value)?),
            "placement" => {
                read.placement = Some(named(value, Placement::from_name, &Placement::ALL.map(Placement::name))?);
            }
            "seed" => read.seed = Some(value.extract()?),
            "horizon" => read.horizon = Some(time(value)?),
            "vary" => read.vary_percent = Some(vary(value)?),
            "block_durations" => read.block_durations = map(value, time)?,
            "periods" => read.periods = map(value, time)?,
            "deadlines" => read.deadlines = map(value, deadline)?,
            "as_threads" => read.as_threads = value.extract()?,
            "mps" => read.mps = value.extract()?,
            "time_slice" => read.time_slice = Some(time(value)?),
            "switch_cost" => read.switch_cost = Some(time(value)?),
            _ => return self.set_what_if(key, value),
        }
        Ok(())
    }

    fn set_what_if(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let WhatIf { priorities, streams, sm_masks, connections, channel_order, block_times } = &mut self.what_if;
        match key {
            "set_priority" => *priorities = pairs(value, |value| value.extract())?,
            "set_stream" => *streams = pairs(value, |value| value.extract())?,
            "set_block_time" => *block_times = pairs(value, time)?,
            "sm_mask" => {
                *sm_masks = pairs(value, |value| {
                    let text: String = value.extract()?;
                    SmMask::parse(&text).map_err(|error| PyValueError::new_err(error.to_string()))
                })?;
            }
            "connections" => *connections = Some(value.extract()?),
            "channel_order" => {
                let names = ChannelOrder::ALL.map(ChannelOrder::name);
                *channel_order = Some(named(value, ChannelOrder::from_name, &names)?);
            }
            _ => return self.set_of_formats(key, value),
        }
        Ok(())
    }

    /// Those of profiles and of AMALTHEA models.
    fn set_of_formats(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let ImportOptions { gpu, launches, .. } = &mut self.import;
        let AmaltheaOptions {
            runnables,
            grid_sizes,
            block_sizes,
            processing_unit,
            frequency,
            ticks,
            without_copies,
            one_job,
        } = &mut self.model;
        let given: &'static str = match key {
            "gpu" => {
                *gpu = Some(value.extract()?);
                "gpu"
            }
            "launches" => {
                *launches = named(value, Launches::from_name, &Launches::ALL.map(Launches::name))?;
                "launches"
            }
            "block_times" => {
                self.block_times = Some(Given::new(value)?);
                "block_times"
            }
            "runnables" => {
                *runnables = value.extract()?;
                "runnables"
            }
            "grid_sizes" => {
                *grid_sizes = map(value, |value| value.extract())?;
                "grid_sizes"
            }
            "block_sizes" => {
                *block_sizes = map(value, |value| value.extract())?;
                "block_sizes"
            }
            "processing_unit" => {
                *processing_unit = Some(value.extract()?);
                "processing_unit"
            }
            "frequency" => {
                let text: String = value.extract()?;
                *frequency = Some(Frequency::parse(&text).map_err(|error| PyValueError::new_err(error.to_string()))?);
                "frequency"
            }
            "ticks" => {
                *ticks = named(value, TickBound::from_name, &TickBound::ALL.map(TickBound::name))?;
                "ticks"
            }
            "without_copies" => {
                *without_copies = value.extract()?;
                "without_copies"
            }
            "one_job" => {
                *one_job = value.extract()?;
                "one_job"
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "there is no option {key:?}; help(gpusched.simulate) lists them"
                )));
            }
        };
        if matches!(given, "gpu" | "launches" | "block_times") {
            self.given_for_profiles.get_or_insert(given);
        } else {
            self.given_for_models.get_or_insert(given);
        }
        Ok(())
    }

    /// Makes a scenario of an input.
    pub(crate) fn scenario(mut self, given: Given) -> Result<(Scenario, Option<ModelDemands>), Failure> {
        let input = self.input(given)?;
        let Self { read, import, model, what_if, .. } = self;
        Ok(input.scenario_with_demands(&read, &import, &model, &what_if)?)
    }

    /// Makes a scenario of what starts in a profile from one time to another.
    pub(crate) fn import(
        mut self,
        given: Given,
        (from, to): (Option<Duration>, Option<Duration>),
    ) -> Result<Import, Failure> {
        let profile = match self.input(given)? {
            Input::Profile(profile) => profile,
            other => {
                let text = format!("{} is no profile; Scenario.read makes scenarios of other inputs", other.file());
                return Err(Failure::Input { text, place: None });
            }
        };
        let chosen = ImportOptions { from, to, ..self.import };
        let mut import = profile.import(&chosen, &self.read).map_err(|error| Failure::input(&error))?;
        import.scenario = import.scenario.what_if(&self.what_if).map_err(|error| Failure::input(&error))?;
        Ok(import)
    }

    /// Reads the input, and what is said of it in other files.
    fn input(&mut self, given: Given) -> Result<Input, Failure> {
        let mut input = given.input()?;
        input.refuse_options(self.given_for_profiles, self.given_for_models)?;
        self.read.device = self.device.take().map(Given::device).transpose()?;
        if let (Some(other), Input::Profile(profile)) = (self.block_times.take(), &mut input) {
            take_block_times(profile, other, &self.read)?;
        }
        Ok(input)
    }
}

fn take_block_times(profile: &mut GpuProfile, other: Given, read: &ReadOptions) -> Result<(), Failure> {
    let Input::Profile(other) = other.input()? else {
        return Err(Failure::Argument("block_times: that is no profile".to_owned()));
    };
    profile.take_block_times_of(&other, read.device.as_ref()).map_err(|error| Failure::input(&error))
}
