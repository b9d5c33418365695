//! Warps on one SM.

use gpusched::effort::Progress;
use gpusched::tables::WarpsDocument;
use gpusched::warps::{Instance, Question, SearchLimits, answer};
use pyo3::prelude::*;

use crate::document::Document;
use crate::errors::Failure;
use crate::given::Given;
use crate::options::time;
use crate::work::aside;

/// How long some warps of one kernel can take on one SM.
#[pyfunction]
#[pyo3(signature = (instance, *, estimate_from = None, time_limit = None, memory_limit_mib = 1024))]
pub(crate) fn warps(
    py: Python<'_>,
    instance: &Bound<'_, PyAny>,
    estimate_from: Option<u32>,
    time_limit: Option<&Bound<'_, PyAny>>,
    memory_limit_mib: u64,
) -> PyResult<Document> {
    let given = Given::new(instance)?;
    let time = time_limit.map(time).transpose()?.map(|time| std::time::Duration::from_nanos(time.as_ns()));
    aside(py, move || {
        let (name, text) = given.text()?;
        let Instance { text, string, warps, estimate_from: own } = Instance::from_json(&name, &text)?;
        let limits = SearchLimits { memory_bytes: memory_limit_mib.saturating_mul(1 << 20), time };
        let answer = answer(&string, &Question { warps, estimate_from: estimate_from.or(own), limits }, Progress::NONE);
        answer.check().map_err(|error| Failure::run(&error))?;
        let document = WarpsDocument { written: &text, string: &string, answer: &answer };
        Document::new(&document, answer.notes.clone())
    })
}
