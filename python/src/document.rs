//! What a computation came to, in every form that the command prints.

use gpusched::report::TableStyle;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::Failure;

/// An answer as texts: JSON, comma-separated values, tables.
#[pyclass(frozen, get_all, module = "gpusched")]
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The bytes of `--format json`.
    json: String,
    /// Those of `--format csv`.
    csv: String,
    /// The table for people.
    table: String,
    /// The same in Markdown.
    markdown: String,
    /// What the command says on standard error.
    notes: Vec<String>,
    /// A figure, where there is one.
    svg: Option<String>,
}

/// How JSON is laid out, as the command does for this document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    OneLine,
    Indented,
}

/// A document as the command writes it.
pub(crate) fn json(document: &impl Serialize, layout: Layout) -> Result<String, Failure> {
    let text = match layout {
        Layout::OneLine => serde_json::to_string(document),
        Layout::Indented => serde_json::to_string_pretty(document),
    };
    Ok(text.map_err(std::io::Error::from)? + "\n")
}

/// What is written to memory.
pub(crate) fn written<E>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<String, Failure>
where
    Failure: From<E>,
{
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    // The library writes nothing but text.
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

impl Document {
    /// Of its parts; rows and tables are made by what is given.
    pub(crate) fn new(
        document: &impl Serialize,
        layout: Layout,
        rows: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
        table: impl Fn(TableStyle) -> String,
        notes: Vec<String>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            json: json(document, layout)?,
            csv: written(rows)?,
            table: table(TableStyle::Plain),
            markdown: table(TableStyle::Markdown),
            notes,
            svg: None,
        })
    }

    /// With a figure.
    pub(crate) fn with_svg(self, svg: Option<String>) -> Self {
        Self { svg, ..self }
    }
}
