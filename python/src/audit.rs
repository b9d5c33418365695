//! Audits of logs, of profiles and of runs.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

use gpusched::audit::{AuditReport, Observation, Tolerances, audit as audited, audit_logs};
use gpusched::effort::Progress;
use gpusched::input::{Input, InputError, are_logs};
use gpusched::logs::{LogFiles, LogFilesError, LogFilesReader, LogReading, read_log_from};
use gpusched::near::did_you_mean_file;
use gpusched::profile::GpuProfile;
use gpusched::scenario::ReadOptions;
use gpusched::tables::ProfileAuditReport;
use gpusched::time::Duration;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document::Document;
use crate::errors::Failure;
use crate::given::Given;
use crate::options::Options;
use crate::run::Run;
use crate::work::on_all_cores;

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
    Files(Vec<PathBuf>),
}

/// What is said beside it.
#[derive(Debug, Default)]
struct Asked {
    scenario: Option<PathBuf>,
    logs_alone: bool,
    tolerances: Tolerances,
    /// Those that are read as of scenarios.
    options: Options,
}

impl Asked {
    fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut asked = Self::default();
        for (key, value) in given.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
            match key.extract::<String>()?.as_str() {
                "scenario" => asked.scenario = Some(value.extract()?),
                "logs_alone" => asked.logs_alone = value.extract()?,
                "tolerance_us" => asked.tolerances.across_clocks_ns = nanoseconds(&value)?,
                "clock_tolerance_us" => asked.tolerances.one_clock_ns = nanoseconds(&value)?,
                key @ ("device" | "placement" | "gpu" | "set_priority") => asked.options.set(key, value)?,
                other => return Err(PyTypeError::new_err(format!("there is no option {other:?}"))),
            }
        }
        Ok(asked)
    }

    /// An option that is for logs alone.
    fn for_logs(&self) -> Option<&'static str> {
        let alone = self.logs_alone.then_some("logs_alone");
        self.scenario.as_ref().map(|_| "scenario").or(alone)
    }
}

/// Microseconds as whole nanoseconds.
fn nanoseconds(microseconds: &Bound<'_, PyAny>) -> PyResult<i64> {
    let wrong = || PyValueError::new_err("expected microseconds from 0");
    let text = format!("{}us", microseconds.extract::<f64>()?);
    let time = Duration::parse(&text).map_err(|_| wrong())?;
    i64::try_from(time.as_ns()).map_err(|_| wrong())
}

/// Checks measured logs, a profile or a run against the scheduling rules.
#[pyfunction]
#[pyo3(signature = (what, **options))]
pub(crate) fn audit(
    py: Python<'_>,
    what: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let asked = Asked::new(options)?;
    let what = if let Ok(run) = what.cast::<Run>() {
        Audited::Run(run.get().clone())
    } else {
        let paths = what.extract().map(|path| vec![path]).or_else(|_| what.extract());
        let wrong = |_| PyTypeError::new_err("expected the path of logs or of a profile, a list of logs, or a Run");
        Audited::Files(paths.map_err(wrong)?)
    };
    on_all_cores(py, move || match what {
        Audited::Run(run) => of_run(&run, &asked),
        Audited::Files(paths) => match profile_of(&paths)? {
            Some(profile) => of_profile(profile, asked),
            None => of_logs(paths, asked),
        },
    })
}

/// The profile, if the one file is a profile rather than a log. Damaged logs are read as far as they go, and their
/// reader tells of files that cannot be read.
fn profile_of(paths: &[PathBuf]) -> Result<Option<GpuProfile>, Failure> {
    let [path] = paths else { return Ok(None) };
    if are_logs(path) {
        return Ok(None);
    }
    let Ok((name, bytes)) = Given::File(path.clone()).bytes() else { return Ok(None) };
    match Input::of(&name, bytes) {
        Ok(Input::Profile(profile)) => Ok(Some(profile)),
        Err(error @ InputError::Profile(_)) => Err(error.into()),
        Ok(_) | Err(_) => Ok(None),
    }
}

fn refused(option: Option<&str>, kind: &str, what: &str) -> Result<(), Failure> {
    match option {
        Some(option) => Err(Failure::Argument(format!("{option} is for {kind}, and {what}"))),
        None => Ok(()),
    }
}

fn of_run(run: &Run, asked: &Asked) -> Result<Document, Failure> {
    refused(asked.options.for_profiles(), "profiles", "this is a run")?;
    refused(asked.for_logs(), "logs", "this is a run")?;
    let observed = Observation::of_run(&run.run);
    let mut report = AuditReport::new(Vec::new());
    let findings = audited(&observed.map_err(|error| Failure::run(&error))?, &asked.tolerances, Progress::NONE);
    report.add(findings, &run.run.scenario.device().name);
    told(&report, Vec::new())
}

fn of_logs(paths: Vec<PathBuf>, asked: Asked) -> Result<Document, Failure> {
    refused(asked.options.for_profiles(), "profiles", "these are logs")?;
    for path in &paths {
        let cannot = |error: std::io::Error| {
            let near = did_you_mean_file(path);
            std::io::Error::new(error.kind(), format!("cannot read {}{near}: {error}", path.display()))
        };
        std::fs::metadata(path).map_err(cannot)?;
    }
    let Asked { scenario, logs_alone, tolerances, options } = asked;
    let ReadOptions { device, placement, .. } = options.opened()?.read;
    let files = LogFiles { paths, device, scenario, logs_alone, placement };
    let reader = Reader::default();
    let failed = |error: LogFilesError| Failure::input(&*error);
    let report = audit_logs(files.read(&reader).map_err(failed)?, |seen| audited(seen, &tolerances, Progress::NONE));
    told(&report, reader.notes.into_inner())
}

fn told(report: &AuditReport, mut notes: Vec<String>) -> Result<Document, Failure> {
    notes.extend(report.notes.iter().cloned());
    Document::new(report, notes)
}

fn of_profile(mut profile: GpuProfile, asked: Asked) -> Result<Document, Failure> {
    refused(asked.for_logs(), "logs", "this is a profile")?;
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::input(error);
    let options = asked.options.opened()?;
    profile.set_priorities(&options.changes.priorities).map_err(|error| failed(&error))?;
    let report = ProfileAuditReport::of(&profile, options.import.gpu, options.read.device);
    let report = report.map_err(|error| failed(&error))?;
    Document::new(&report, report.notes.clone())
}
