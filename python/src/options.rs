//! What a caller says beside a scenario, by keyword.

use std::collections::BTreeMap;
use std::path::Path;

use gpusched::amalthea::ModelDemands;
use gpusched::experiments::profile_replay::HeldOut;
use gpusched::input::Input;
use gpusched::input::options::{OPTIONS, OptionFile, OptionValue, ScenarioOption, ScenarioOptions};
use gpusched::profile::Import;
use gpusched::scenario::Scenario;
use gpusched::time::Duration;
use gpusched::words::did_you_mean;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::Failure;
use crate::given::Given;

/// The options of a caller, with files not read yet.
#[derive(Debug, Default)]
pub(crate) struct Options(ScenarioOptions);

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

/// The options that there are, and what each of them says.
pub(crate) fn all() -> Vec<(&'static str, &'static str)> {
    OPTIONS.iter().map(|option| (option.key, option.help)).collect()
}

/// What a message says behind a name that is not among those known.
#[pyfunction]
#[pyo3(name = "did_you_mean")]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is copied to be read")]
pub(crate) fn near_to(given: &str, known: Vec<String>) -> String {
    did_you_mean(given, known.iter().map(String::as_str))
}

/// A value of Python.
struct Value<'py>(Bound<'py, PyAny>);

impl OptionValue for Value<'_> {
    type Error = PyErr;

    fn wrong(&self, expected: &str) -> PyErr {
        match self.0.repr() {
            Ok(found) => PyValueError::new_err(format!("expected {expected}, found {found}")),
            Err(error) => error,
        }
    }

    fn refused(&self, why: String) -> PyErr {
        PyValueError::new_err(why)
    }

    fn flag(&self) -> PyResult<bool> {
        self.0.extract()
    }

    fn whole(&self, least: i64, most: u64) -> PyResult<i128> {
        let number = self.0.extract::<i64>().map(i128::from).or_else(|_| self.0.extract::<u64>().map(i128::from));
        let number = number.ok().filter(|number| (i128::from(least)..=i128::from(most)).contains(number));
        number.ok_or_else(|| self.wrong(&format!("a whole number from {least} to {most}")))
    }

    fn time(&self) -> PyResult<Duration> {
        time(&self.0)
    }

    /// Two whole numbers are a range.
    fn text(&self) -> PyResult<String> {
        match self.0.extract::<(u32, u32)>() {
            Ok((from, to)) => Ok(format!("{from}..{to}")),
            Err(_) => self.0.extract(),
        }
    }

    fn texts(&self) -> PyResult<Vec<String>> {
        self.0.extract()
    }

    fn entries(&self) -> PyResult<Vec<(String, Self)>> {
        pairs(&self.0, |value| Ok(Self(value.clone())))
    }

    fn file(&self) -> PyResult<OptionFile> {
        Ok(match Given::new(&self.0)? {
            Given::File(path) => OptionFile::Path(path),
            Given::Text { name, text } => OptionFile::Text { name, text },
        })
    }
}

impl Options {
    /// Of keywords.
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = Self::default();
        for (key, value) in given.into_iter().flatten() {
            if !value.is_none() {
                options.set(&key.extract::<String>()?, value)?;
            }
        }
        Ok(options)
    }

    /// Whether nothing is said.
    pub(crate) fn is_empty(given: Option<&Bound<'_, PyDict>>) -> bool {
        given.is_none_or(|given| given.iter().all(|(_, value)| value.is_none()))
    }

    /// Says one of them.
    pub(crate) fn set(&mut self, key: &str, value: Bound<'_, PyAny>) -> PyResult<()> {
        let Some(option) = ScenarioOption::of(key) else {
            let near = did_you_mean(key, OPTIONS.iter().map(|option| option.key));
            let text = format!("there is no option {key:?}{near}; help(gpusched.simulate) lists them");
            return Err(PyTypeError::new_err(text));
        };
        let py = value.py();
        let about = |error: PyErr| PyErr::from_type(error.get_type(py), format!("{key}: {}", error.value(py)));
        option.read(&Value(value)).map_err(about)?.apply(&mut self.0);
        Ok(())
    }

    /// With files read.
    pub(crate) fn opened(mut self) -> Result<ScenarioOptions, Failure> {
        self.0.open(Path::exists, |path| Given::File(path.to_path_buf()).bytes())?;
        Ok(self.0)
    }

    /// The key of an option that was said, and is for profiles alone.
    pub(crate) fn for_profiles(&self) -> Option<&'static str> {
        self.0.given.iter().copied().find(|key| ["gpu", "set_priority"].contains(key))
    }

    /// Makes a scenario of an input.
    pub(crate) fn scenario(self, given: Given) -> Result<(Scenario, Option<ModelDemands>), Failure> {
        Ok(given.input()?.scenario_with_demands(&self.opened()?)?)
    }

    /// Makes a scenario of what starts in a profile from one time to another.
    pub(crate) fn import(self, given: Given, window: (Option<Duration>, Option<Duration>)) -> Result<Import, Failure> {
        let input = given.input()?;
        let mut options = self.opened()?;
        (options.import.from, options.import.to) = window;
        input.refuse_options(&options)?;
        match input {
            Input::Profile(profile) => {
                let mut import = options.import(&profile)?;
                let other = options.with_block_times(&profile)?;
                HeldOut::tell_first::<Failure>(&other, &mut import, &options.read)?;
                Ok(import)
            }
            other => {
                let text = format!("{} is no profile; Scenario.read makes scenarios of other inputs", other.file());
                Err(Failure::Input { text, place: None })
            }
        }
    }
}
