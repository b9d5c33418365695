//! What a computation came to, in every form that the command prints.

use std::sync::Arc;

use gpusched::formats::{Frame, Report, TableStyle, csv_of, frame_of_rows, frames_of, text_of, write_json};
use pyo3::exceptions::PyValueError;
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
    /// The same in HTML.
    html: String,
    /// Its lists for data frames, by name; the first has the rows of `--format csv`.
    frames: Vec<(String, String)>,
    /// What the command says on standard error.
    notes: Vec<String>,
    /// A figure, where there is one.
    svg: Option<String>,
    /// An interactive page for a cell of a notebook, where there is one that is not too large.
    page: Option<String>,
    /// A scenario that was made on the way: of a profile, or of a run that misses a deadline.
    scenario: Option<Scenario>,
}

/// The frame of a list of a report, or that there is none.
pub(crate) fn frame_among(list: &str, frames: impl IntoIterator<Item = (String, String)>) -> PyResult<String> {
    let mut known = Vec::new();
    for (name, rows) in frames {
        if name == list {
            return Ok(rows);
        }
        known.push(name);
    }
    let known = known.join(", ");
    Err(PyValueError::new_err(format!("there is no frame of {list:?}; there are frames of {known}")))
}

/// The frames of a report, those of its rows first: a list of its document has the same, or they stand beside it.
fn frames(report: &impl Report) -> Vec<(String, String)> {
    let rows = frame_of_rows(report);
    let lists = frames_of(report, None);
    let list = lists.iter().find(|frame| frame.rows == rows).map_or("rows", |frame| &frame.list).to_owned();
    let others = lists.into_iter().filter(|frame| frame.list != list).map(|Frame { list, rows }| (list, rows));
    let others: Vec<_> = others.collect();
    [(list, rows)].into_iter().chain(others).collect()
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
            html: text_of(report, TableStyle::Html),
            frames: frames(report),
            notes,
            svg: None,
            page: None,
            scenario: None,
        })
    }

    /// With a figure.
    pub(crate) fn with_svg(self, svg: Option<String>) -> Self {
        Self { svg, ..self }
    }

    /// With an interactive page.
    pub(crate) fn with_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// With a scenario that was made on the way.
    pub(crate) fn with_scenario(self, scenario: Option<gpusched::scenario::Scenario>) -> Self {
        let scenario = scenario.map(|scenario| Scenario { scenario: Arc::new(scenario), demands: None });
        Self { scenario, ..self }
    }
}

#[pymethods]
impl Document {
    /// Of what [`Document::__getnewargs__`] gave.
    #[new]
    fn of_parts(parts: Parts) -> Self {
        let ([json, csv, table, markdown, html], frames, notes, [svg, page], scenario) = parts;
        Self { json, csv, table, markdown, html, frames, notes, svg, page, scenario }
    }

    fn __getnewargs__(&self) -> (Parts,) {
        let Self { json, csv, table, markdown, html, frames, notes, svg, page, scenario } = self.clone();
        (([json, csv, table, markdown, html], frames, notes, [svg, page], scenario),)
    }

    /// A list for a data frame: a line of kinds, then comma-separated values.
    #[pyo3(signature = (list = None))]
    fn frame(&self, list: Option<&str>) -> PyResult<String> {
        let first = self.frames.first().map_or("", |(name, _)| name);
        frame_among(list.unwrap_or(first), self.frames.iter().cloned())
    }
}

/// What a document is made of again, in another process.
type Parts = ([String; 5], Vec<(String, String)>, Vec<String>, [Option<String>; 2], Option<Scenario>);
