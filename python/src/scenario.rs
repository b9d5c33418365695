//! A scenario that was read.

use std::sync::Arc;

use gpusched::amalthea::ModelDemands;
use gpusched::scenario::{JoinedScenario, ReadOptions, Together};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::errors::Failure;
use crate::given::Given;
use crate::options::Options;
use crate::work::aside;

/// A scenario that was read and checked. It never changes, and can be simulated and analysed any number of times.
#[pyclass(frozen, from_py_object, module = "gpusched")]
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) scenario: Arc<gpusched::scenario::Scenario>,
    pub(crate) demands: Option<Arc<ModelDemands>>,
}

/// What is to be simulated: read already, or to be read.
#[derive(Debug)]
pub(crate) enum Wanted {
    Read(Scenario),
    ToRead(Given, Box<Options>),
}

impl Wanted {
    pub(crate) fn new(value: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        if let Ok(known) = value.cast::<Scenario>() {
            if !Options::is_empty(options) {
                return Err(PyTypeError::new_err("options count where a scenario is read: give them to Scenario.read"));
            }
            return Ok(Self::Read(known.get().clone()));
        }
        Ok(Self::ToRead(Given::new(value)?, Box::new(Options::new(options)?)))
    }

    /// Reads it.
    pub(crate) fn read(self) -> Result<Scenario, Failure> {
        match self {
            Self::Read(scenario) => Ok(scenario),
            Self::ToRead(given, options) => {
                let (scenario, demands) = options.scenario(given)?;
                Ok(Scenario { scenario: Arc::new(scenario), demands: demands.map(Arc::new) })
            }
        }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario: a dict, the path of a file of any format, or a builder; options as for `simulate`.
    #[staticmethod]
    #[pyo3(signature = (scenario, **options))]
    fn read(py: Python<'_>, scenario: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let wanted = Wanted::new(scenario, options)?;
        aside(py, move || wanted.read())
    }

    /// Reads a text of any format; errors call it `name`; options as for `simulate`.
    #[staticmethod]
    #[pyo3(signature = (text, name = "<text>", **options))]
    fn from_text(py: Python<'_>, text: String, name: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let given = Given::Text { name: name.to_owned(), text };
        let wanted = Wanted::ToRead(given, Box::new(Options::new(options)?));
        aside(py, move || wanted.read())
    }

    /// Several scenarios as programs on one GPU, as one scenario: `how` is what the command takes behind `--as`.
    #[staticmethod]
    fn together(py: Python<'_>, scenarios: Vec<Bound<'_, PyAny>>, how: &str) -> PyResult<Self> {
        let how = Together::parse(how).map_err(|expected| PyValueError::new_err(format!("{how:?}: {expected}")))?;
        let wanted =
            scenarios.into_iter().map(|scenario| Wanted::new(&scenario, None)).collect::<PyResult<Vec<Wanted>>>()?;
        aside(py, move || {
            let read = wanted.into_iter().map(|wanted| Ok((*wanted.read()?.scenario).clone()));
            let scenarios = read.collect::<Result<Vec<_>, Failure>>()?;
            let joined = JoinedScenario::new(&scenarios, &how, &ReadOptions::default());
            let joined = joined.map_err(|error| Failure::Argument(error.to_string()))?;
            Ok(Self { scenario: Arc::new(joined.scenario), demands: None })
        })
    }

    /// The scenario's name.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    /// The name of the GPU.
    #[getter]
    fn device(&self) -> &str {
        &self.scenario.device().name
    }

    /// What its reader had to say.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.notes.clone()
    }

    /// The same scenario in gpusched's own format, as `gpusched convert` writes it.
    fn to_json(&self) -> PyResult<String> {
        self.scenario.to_native_json().map_err(|error| PyTypeError::new_err(error.to_string()))
    }

    /// Another process reads what `to_json` gives.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyType>,))> {
        let (py, own) = (slf.py(), slf.get());
        if own.demands.is_some() {
            let text = "a scenario of an AMALTHEA model is not pickled: what its runnables ask for would be lost; \
                        read the model in each process";
            return Err(PyTypeError::new_err(text));
        }
        let call = py.import("operator")?.getattr("methodcaller")?;
        let restore = call.call1(("_restored", own.to_json()?, own.scenario.notes.clone()))?;
        Ok((restore, (py.get_type::<Self>(),)))
    }

    #[staticmethod]
    fn _restored(py: Python<'_>, text: String, notes: Vec<String>) -> PyResult<Self> {
        aside(py, move || {
            let given = Given::Text { name: "<pickle>".to_owned(), text };
            let (mut scenario, _) = Options::default().scenario(given)?;
            scenario.notes = notes;
            Ok(Self { scenario: Arc::new(scenario), demands: None })
        })
    }

    fn __repr__(&self) -> String {
        format!("<gpusched.Scenario {:?} on {}>", self.scenario.name, self.scenario.device().name)
    }
}
