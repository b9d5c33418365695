//! Python's dicts, lists and numbers as the text that the readers read.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// So deep no input is nested; a list that holds itself would have no end.
const DEEPEST: usize = 100;

/// A value as JSON text.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::with_capacity(1 << 10);
    write(value, &mut text, 0)?;
    Ok(text)
}

fn write(value: &Bound<'_, PyAny>, text: &mut String, depth: usize) -> PyResult<()> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err("nested too deep: does a list or dict hold itself?"));
    }
    if let Ok(string) = value.cast::<PyString>() {
        return write_string(string.to_str()?, text);
    }
    // Before whole numbers, which these are too.
    if let Ok(flag) = value.cast::<PyBool>() {
        text.push_str(if flag.is_true() { "true" } else { "false" });
        return Ok(());
    }
    if let Ok(number) = value.cast::<PyInt>() {
        match number.extract::<i64>() {
            Ok(number) => text.push_str(itoa::Buffer::new().format(number)),
            Err(_) => text.push_str(number.str()?.to_str()?),
        }
        return Ok(());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        text.push('{');
        for (index, (key, value)) in dict.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            look_for_signals(&value, index)?;
            let Ok(key) = key.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!("keys are strings, found {}", key.repr()?)));
            };
            write_string(key.to_str()?, text)?;
            text.push(':');
            write(&value, text, depth + 1)?;
        }
        text.push('}');
        return Ok(());
    }
    if let Ok(list) = value.cast::<PyList>() {
        return write_list(list.iter(), text, depth);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return write_list(tuple.iter(), text, depth);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        if !number.value().is_finite() {
            return Err(PyValueError::new_err(format!("{} is no number of a scenario", number.value())));
        }
        text.push_str(&number.value().to_string());
        return Ok(());
    }
    if value.is_none() {
        text.push_str("null");
        return Ok(());
    }
    // Numbers of NumPy, and whatever else gives itself as one of Python's own.
    if let Ok(own) = value.call_method0("tolist")
        && !own.get_type().is(value.get_type())
    {
        return write(&own, text, depth + 1);
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!("a scenario has no place for a value of type {}", kind.name()?)))
}

/// So that Ctrl-C ends it too.
fn look_for_signals(value: &Bound<'_, PyAny>, index: usize) -> PyResult<()> {
    if index.is_multiple_of(1024) { value.py().check_signals() } else { Ok(()) }
}

fn write_list<'py>(values: impl Iterator<Item = Bound<'py, PyAny>>, text: &mut String, depth: usize) -> PyResult<()> {
    text.push('[');
    for (index, value) in values.enumerate() {
        if index > 0 {
            text.push(',');
        }
        look_for_signals(&value, index)?;
        write(&value, text, depth + 1)?;
    }
    text.push(']');
    Ok(())
}

fn write_string(string: &str, text: &mut String) -> PyResult<()> {
    if string.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        text.push_str(&serde_json::to_string(string).map_err(|error| PyValueError::new_err(error.to_string()))?);
    } else {
        text.push('"');
        text.push_str(string);
        text.push('"');
    }
    Ok(())
}
