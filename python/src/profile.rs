//! Profiles of applications, and how kernels fill the GPU.

use std::sync::Arc;

use gpusched::analysis::occupancy_of_scenario;
use gpusched::tables::OccupancyDocument;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document::Document;
use crate::given::Given;
use crate::options::{Options, time};
use crate::scenario::Wanted;
use crate::work::aside;

/// Makes a scenario of a profile, and says what was read, assumed and left out.
#[pyfunction]
#[pyo3(signature = (profile, *, start = None, end = None, **options))]
pub(crate) fn import_profile(
    py: Python<'_>,
    profile: &Bound<'_, PyAny>,
    start: Option<&Bound<'_, PyAny>>,
    end: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let (given, options) = (Given::new(profile)?, Options::new(options)?);
    let (start, end) = (start.map(time).transpose()?, end.map(time).transpose()?);
    aside(py, move || {
        let import = options.import(given, (start, end))?;
        let document = Document::new(&import, import.scenario.notes.clone())?;
        Ok(document.with_scenario(Some(import.scenario)))
    })
}

/// How each kernel fills the GPU when it runs alone.
#[pyfunction]
#[pyo3(signature = (scenario, **options))]
pub(crate) fn occupancy(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let wanted = Wanted::new(scenario, options)?;
    aside(py, move || {
        let scenario = Arc::clone(&wanted.read()?.scenario);
        let (report, device) = (occupancy_of_scenario(&scenario), &scenario.device().name);
        let notes = [&scenario.notes[..], &report.notes].concat();
        let document = OccupancyDocument { device, report: &report, notes: &notes };
        Document::new(&document, notes.clone())
    })
}
