//! Exceptions.

use std::error::Error;
use std::path::Path;

use gpusched::amalthea::AmaltheaError;
use gpusched::experiments::study::StudyError;
use gpusched::hosts::ProgramError;
use gpusched::input::InputError as LibraryInputError;
use gpusched::json::JsonError;
use gpusched::profile::GpuProfileError;
use gpusched::words::did_you_mean_file;
use gpusched::words::with_causes;
use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    gpusched,
    InputError,
    PyValueError,
    "Something in the input is not as it should be; its text is that of the command.\n\n\
     ``file`` is the file, or ``<dict>``; ``line`` and ``column`` (in characters) count from 1; ``path`` is the field, such\n\
     as ``kernels.K.blocks``; ``what`` says what was found and what was expected, ``help`` how to mend it. What is not known\n\
     is None, a path that is not known is empty."
);
create_exception!(gpusched, SimulationError, PyRuntimeError, "A scenario cannot be simulated to its end.");
create_exception!(gpusched, InternalError, PyRuntimeError, "A defect of gpusched itself: please report it.");

/// Puts them into the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let input = py.get_type::<InputError>();
    // Where nothing is known of them.
    for attribute in ["file", "line", "column", "help"] {
        input.setattr(attribute, py.None())?;
    }
    for attribute in ["path", "what"] {
        input.setattr(attribute, "")?;
    }
    module.add("InputError", input)?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

/// Something that goes wrong on a thread without the interpreter.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is wrong, at a place of a file where that is known.
    Input { text: String, place: Option<Box<Place>> },
    /// A file cannot be opened or written.
    File(std::io::Error),
    /// An argument is none of those that are possible.
    Argument(String),
    /// A run cannot go on.
    Simulation(String),
    /// More memory than there may be.
    Memory(String),
}

/// Where in a file.
#[derive(Debug)]
pub(crate) struct Place {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    path: String,
    what: String,
    help: Option<String>,
}

impl Failure {
    /// A run cannot go on.
    pub(crate) fn run(error: &(dyn Error + 'static)) -> Self {
        Self::Simulation(with_causes(error))
    }

    /// A file cannot be opened, said as the command does.
    pub(crate) fn open(path: &Path, error: &std::io::Error) -> Self {
        let near = did_you_mean_file(path);
        Self::File(std::io::Error::new(error.kind(), format!("cannot open {}{near}: {error}", path.display())))
    }

    /// Input of which no place is known.
    pub(crate) fn input(error: &(dyn Error + 'static)) -> Self {
        Self::Input { text: with_causes(error), place: None }
    }

    /// As an exception.
    pub(crate) fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Input { text, place } => match input_error(py, &text, place.as_deref()) {
                Ok(error) | Err(error) => error,
            },
            Self::File(error) => error.into(),
            Self::Argument(text) => PyValueError::new_err(text),
            Self::Simulation(text) => SimulationError::new_err(text),
            Self::Memory(text) => PyMemoryError::new_err(text),
        }
    }
}

fn input_error(py: Python<'_>, text: &str, place: Option<&Place>) -> PyResult<PyErr> {
    let error = InputError::new_err(text.to_owned());
    let value = error.value(py);
    value.setattr("file", place.map(|place| &place.file))?;
    value.setattr("line", place.and_then(|place| place.line))?;
    value.setattr("column", place.and_then(|place| place.column))?;
    value.setattr("path", place.map_or("", |place| &place.path))?;
    value.setattr("what", place.map_or(text, |place| place.what.as_str()))?;
    value.setattr("help", place.and_then(|place| place.help.as_ref()))?;
    Ok(error)
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        let text = error.to_string();
        let JsonError { file, line, column, path, what, help, .. } = error;
        let place = Place { file, line: Some(line), column: Some(column), path, what, help };
        Self::Input { text, place: Some(Box::new(place)) }
    }
}

impl From<LibraryInputError> for Failure {
    fn from(error: LibraryInputError) -> Self {
        match error {
            LibraryInputError::Scenario(error) => error.into(),
            LibraryInputError::Model(error) => error.into(),
            other => Self::input(&other),
        }
    }
}

impl From<GpuProfileError> for Failure {
    fn from(error: GpuProfileError) -> Self {
        LibraryInputError::from(error).into()
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        Self::run(&error)
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let text = with_causes(&error);
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        match (source.map(std::io::Error::kind), error) {
            (Some(kind), _) => Self::File(std::io::Error::new(kind, text)),
            (None, StudyError::File(error)) => error.into(),
            (None, StudyError::Sample { .. }) => Self::Simulation(text),
            (None, _) => Self::Input { text, place: None },
        }
    }
}

impl From<AmaltheaError> for Failure {
    fn from(error: AmaltheaError) -> Self {
        Self::input(&error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}
