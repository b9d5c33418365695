//! Audits of measured logs, occupancy, task sets, warps.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpusched::analysis::occupancy_of_scenario;
use gpusched::audit::{AuditReport, Observation, Tolerances, audit as audited, audit_logs};
use gpusched::logs::{LogFiles, LogFilesError, LogFilesReader, LogReading, read_log_from};
use gpusched::report::segment_bounds::SegmentReport;
use gpusched::report::task_analysis::TaskReport;
use gpusched::report::{
    OccupancyDocument, RowsPart, WarpsDocument, finding_rows, finding_table, occupancy_rows, occupancy_table,
    warps_rows, warps_table,
};
use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
use gpusched::tasks::{ReservationTest, TaskSet, TestResults};
use gpusched::warps::{Instance, Question, SearchLimits, answer};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document::{Document, Layout};
use crate::errors::Failure;
use crate::given::Given;
use crate::options::time;
use crate::run::Run;
use crate::scenario::Wanted;
use crate::work::aside;

/// Reads logs, and keeps what is to be told.
#[derive(Debug, Default)]
struct Reader {
    notes: RefCell<Vec<String>>,
}

impl LogFilesReader for Reader {
    fn log(&self, path: &Path) -> Result<LogReading, LogFilesError> {
        let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut file = File::open(path).map_err(cannot)?;
        Ok(read_log_from(&path.display().to_string(), &mut file).map_err(cannot)?)
    }

    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        Ok((path.display().to_string(), text))
    }

    fn note(&self, text: &str) {
        self.notes.borrow_mut().push(text.to_owned());
    }
}

/// What is audited.
enum Audited {
    Run(Run),
    Logs { files: Box<LogFiles>, device: Option<Given> },
}

/// Checks measured logs, or a run, against the scheduling rules.
#[pyfunction]
#[pyo3(signature = (what, *, device = None, scenario = None, logs_alone = false, tolerance_us = 500.0, clock_tolerance_us = 10.0))]
pub(crate) fn audit(
    py: Python<'_>,
    what: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    scenario: Option<PathBuf>,
    logs_alone: bool,
    tolerance_us: f64,
    clock_tolerance_us: f64,
) -> PyResult<Document> {
    let what = if let Ok(run) = what.cast::<Run>() {
        Audited::Run(run.get().clone())
    } else {
        let paths = match what.extract::<PathBuf>() {
            Ok(path) => vec![path],
            Err(_) => what.extract()?,
        };
        let device = device.map(Given::new).transpose()?;
        let files = LogFiles { paths, scenario, logs_alone, ..LogFiles::default() };
        Audited::Logs { files: Box::new(files), device }
    };
    let tolerances =
        Tolerances { across_clocks_ns: nanoseconds(tolerance_us)?, one_clock_ns: nanoseconds(clock_tolerance_us)? };
    aside(py, move |_| audit_of(what, &tolerances))
}

/// Microseconds as whole nanoseconds.
fn nanoseconds(microseconds: f64) -> PyResult<i64> {
    let wrong = || pyo3::exceptions::PyValueError::new_err("expected microseconds from 0");
    let text = format!("{microseconds}us");
    let time = gpusched::time::Duration::parse(&text).map_err(|_| wrong())?;
    i64::try_from(time.as_ns()).map_err(|_| wrong())
}

fn audit_of(what: Audited, tolerances: &Tolerances) -> Result<Document, Failure> {
    let reader = Reader::default();
    let report = match what {
        Audited::Run(run) => {
            let scenario = &*run.scenario.scenario;
            let observed = Observation::of_trace(scenario, &run.run.trace, run.run.ended);
            let mut report = AuditReport::new(Vec::new());
            report.add(audited(&observed.map_err(|error| Failure::run(&error))?, tolerances), &scenario.device().name);
            report
        }
        Audited::Logs { mut files, device } => {
            files.device = device.map(Given::device).transpose()?;
            let failed = |error: LogFilesError| Failure::input(&*error);
            audit_logs(files.read(&reader).map_err(failed)?, tolerances)
        }
    };
    let mut notes = reader.notes.into_inner();
    notes.extend(report.notes.iter().cloned());
    let rows = |out: &mut Vec<u8>| finding_rows(&report.violations, RowsPart::CSV, out);
    Document::new(&report, Layout::Indented, rows, |style| finding_table(&report, style), notes)
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
    aside(py, move |_| {
        let scenario = Arc::clone(&wanted.read()?.scenario);
        let (report, device) = (occupancy_of_scenario(&scenario), &scenario.device().name);
        let document = OccupancyDocument { device, report: &report, notes: &scenario.notes };
        let rows = |out: &mut Vec<u8>| occupancy_rows(&report, RowsPart::CSV, out);
        let table = |style| occupancy_table(&report, style);
        Document::new(&document, Layout::Indented, rows, table, scenario.notes.clone())
    })
}

/// What the schedulability tests say of a task set.
#[pyfunction]
#[pyo3(signature = (tasks, *, device = None, tests = Vec::new()))]
pub(crate) fn tasks(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    tests: Vec<String>,
) -> PyResult<Document> {
    let (given, device) = (Given::new(tasks)?, device.map(Given::new).transpose()?);
    aside(py, move |_| {
        let (name, text) = given.text()?;
        if SegmentTaskSet::is_claimed_by(&text) {
            return of_segments(&SegmentTaskSet::from_json(&name, &text)?, &tests);
        }
        let device = device.unwrap_or_else(|| Given::File(PathBuf::from("tx2"))).device()?;
        of_sms(&TaskSet::from_json(&name, &text, &device)?, &tests)
    })
}

/// The tests of these names, or all that are sound.
fn chosen<T: Copy>(
    names: &[String],
    all: &[T],
    name: fn(T) -> &'static str,
    is_sound: fn(T) -> bool,
) -> Result<Vec<T>, Failure> {
    if names.is_empty() {
        return Ok(all.iter().copied().filter(|&test| is_sound(test)).collect());
    }
    let find = |wanted: &String| {
        let known = || all.iter().map(|&test| name(test)).collect::<Vec<_>>().join(", ");
        let found = all.iter().copied().find(|&test| name(test) == wanted.as_str());
        found.ok_or_else(|| Failure::Argument(format!("tests: {wanted:?} is none of {}", known())))
    };
    names.iter().map(find).collect()
}

fn of_sms(set: &TaskSet, names: &[String]) -> Result<Document, Failure> {
    let tests = chosen(names, &ReservationTest::ALL, ReservationTest::name, ReservationTest::is_sound)?;
    let analysis = TestResults::new(set, &tests);
    let report = TaskReport { set, analysis: &analysis, budgets: None };
    let rows = |out: &mut Vec<u8>| report.write_rows(RowsPart::CSV, out);
    Document::new(&report, Layout::Indented, rows, |style| report.table(style), Vec::new())
}

fn of_segments(set: &SegmentTaskSet, names: &[String]) -> Result<Document, Failure> {
    let tests = chosen(names, &SegmentTest::ALL, SegmentTest::name, SegmentTest::is_sound)?;
    let tests: Vec<_> = tests.into_iter().map(|test| (test, test.bounds(set))).collect();
    let report = SegmentReport { set, tests: &tests };
    let rows = |out: &mut Vec<u8>| report.write_rows(RowsPart::CSV, out);
    Document::new(&report.document_with_bounds(), Layout::Indented, rows, |style| report.table(style), Vec::new())
}

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
    aside(py, move |_| {
        let (name, text) = given.text()?;
        let Instance { text, string, warps, estimate_from: own } = Instance::from_json(&name, &text)?;
        let limits = SearchLimits { memory_bytes: memory_limit_mib.saturating_mul(1 << 20), time };
        let answer = answer(&string, &Question { warps, estimate_from: estimate_from.or(own), limits });
        let document = WarpsDocument { written: &text, string: &string, answer: &answer };
        let rows = |out: &mut Vec<u8>| warps_rows(&text, &string, &answer, RowsPart::CSV, out);
        let table = |style| warps_table(&text, &string, &answer, style);
        Document::new(&document, Layout::OneLine, rows, table, answer.notes.clone())
    })
}
