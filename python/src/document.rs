//! What a computation came to, in every form that the command prints.

use std::sync::Arc;

use gpusched::formats::{Report, TableStyle, csv_of, text_of, write_json};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::scenario::Scenario;

/// An answer as texts: JSON, comma-separated values, tables.
#[pyclass(frozen, get_all, module = "gpusched._gpusched")]
#[derive(Debug, Clone, Default)]
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
    /// A scenario that was made on the way: of a profile, or of a run that misses a deadline.
    scenario: Option<Scenario>,
}

/// A document as the command writes it.
pub(crate) fn json(report: &impl Report) -> Result<String, Failure> {
    written(|out| write_json(report, None, out))
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
    pub(crate) fn new(report: &impl Report, notes: Vec<String>) -> Result<Self, Failure> {
        Ok(Self {
            json: json(report)?,
            csv: csv_of(report),
            table: text_of(report, TableStyle::Plain),
            markdown: text_of(report, TableStyle::Markdown),
            notes,
            svg: None,
            scenario: None,
        })
    }

    /// With a figure.
    pub(crate) fn with_svg(self, svg: Option<String>) -> Self {
        Self { svg, ..self }
    }

    /// With a scenario that was made on the way.
    pub(crate) fn with_scenario(self, scenario: Option<gpusched::scenario::Scenario>) -> Self {
        let scenario = scenario.map(|scenario| Scenario { scenario: Arc::new(scenario), demands: None });
        Self { scenario, ..self }
    }
}

/// What a document is made of again, in another process.
type Parts = (String, String, String, String, Vec<String>, Option<String>, Option<Scenario>);

#[pymethods]
impl Document {
    /// Of its parts.
    #[new]
    fn of_parts(
        json: String,
        csv: String,
        table: String,
        markdown: String,
        notes: Vec<String>,
        svg: Option<String>,
        scenario: Option<Scenario>,
    ) -> Self {
        Self { json, csv, table, markdown, notes, svg, scenario }
    }

    fn __getnewargs__(&self) -> Parts {
        let Self { json, csv, table, markdown, notes, svg, scenario } = self.clone();
        (json, csv, table, markdown, notes, svg, scenario)
    }
}
