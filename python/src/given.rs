//! What a caller gives: a dict, a path, or something that makes a dict of itself.

use std::fs;
use std::path::{Path, PathBuf};

use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::input::Input;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::to_json::to_json;

/// What is to be read, and the name by which errors mention it.
#[derive(Debug, Clone)]
pub(crate) enum Given {
    /// A file.
    File(PathBuf),
    /// A text.
    Text { name: String, text: String },
}

/// What a dict is called in errors.
const DICT: &str = "<dict>";

impl Given {
    /// Of an argument: a dict, a path, or an object whose method `to_dict` gives a dict.
    pub(crate) fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyDict>() {
            return Ok(Self::Text { name: DICT.to_owned(), text: to_json(value)? });
        }
        if value.hasattr("to_dict")? {
            let dict = value.call_method0("to_dict")?;
            return Ok(Self::Text { name: DICT.to_owned(), text: to_json(&dict)? });
        }
        let Ok(path) = value.extract::<PathBuf>() else {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "expected a dict, the path of a file or a builder, found {kind}"
            )));
        };
        // What begins so is no name that anybody gives a file.
        if path.to_str().is_some_and(|path| path.trim_start().starts_with(['{', '<'])) {
            return Err(PyValueError::new_err(
                "a string is the path of a file; Scenario.from_text reads a scenario's text",
            ));
        }
        Ok(Self::File(path))
    }

    /// The name and the bytes.
    pub(crate) fn bytes(self) -> Result<(String, Vec<u8>), Failure> {
        match self {
            Self::Text { name, text } => Ok((name, text.into_bytes())),
            Self::File(path) => {
                if path.is_dir() {
                    let text = format!("{} is a directory; expected a file", path.display());
                    return Err(Failure::File(std::io::Error::new(std::io::ErrorKind::IsADirectory, text)));
                }
                let bytes = fs::read(&path).map_err(|error| Failure::open(&path, &error))?;
                Ok((path.display().to_string(), bytes))
            }
        }
    }

    /// The name and the text.
    pub(crate) fn text(self) -> Result<(String, String), Failure> {
        if let Self::Text { name, text } = self {
            return Ok((name, text));
        }
        let (name, bytes) = self.bytes()?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|error| Failure::Input {
            text: format!("cannot read {name}: it is no text: {error}"),
            place: None,
        })?;
        Ok((name, text))
    }

    /// Whatever it is, as far as its first bytes tell.
    pub(crate) fn input(self) -> Result<Input, Failure> {
        let (name, bytes) = self.bytes()?;
        Ok(Input::of(&name, bytes)?)
    }

    /// The folder of a file.
    pub(crate) fn folder(&self) -> PathBuf {
        match self {
            Self::File(path) => path.parent().map(Path::to_path_buf).unwrap_or_default(),
            Self::Text { .. } => PathBuf::new(),
        }
    }

    /// A device: the name of a built-in one, a file, or a dict.
    pub(crate) fn device(self) -> Result<Device, Failure> {
        if let Self::File(path) = &self
            && let Some(name) = path.to_str()
        {
            if let Some(device) = Device::builtin(name)? {
                return Ok(device);
            }
            if !path.exists() {
                return Err(Failure::Argument(format!(
                    "no built-in device and no file is called {name:?}; built in are {}",
                    BUILTIN_NAMES.join(", ")
                )));
            }
        }
        let (name, text) = self.text()?;
        Ok(Device::from_json(&name, &text)?)
    }
}
