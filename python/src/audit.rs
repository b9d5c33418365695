//! Audits of logs, of profiles and of runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use gpusched::audit::{AuditReport, ObservedRun, Tolerances, audit as audited, audit_logs, learn_placement};
use gpusched::effort::Progress;
use gpusched::input::{Input, InputError, are_logs};
use gpusched::logs::{BlockColumns, LogFiles, LogFilesError, LogFilesReader, LogsReading, read_logs_from};
use gpusched::profile::GpuProfile;
use gpusched::scenario::ReadOptions;
use gpusched::tables::ProfileAuditReport;
use gpusched::time::Duration;
use gpusched::words::did_you_mean_file;
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
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError> {
        let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut file = File::open(path).map_err(cannot)?;
        Ok(read_logs_from(&path.display().to_string(), &mut file, columns).map_err(cannot)?)
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
    columns: BlockColumns,
    learn_placement: bool,
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
                "columns" => asked.columns = columns(&value)?,
                "learn_placement" => asked.learn_placement = value.extract()?,
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
        let given = [
            ("scenario", self.scenario.is_some()),
            ("logs_alone", self.logs_alone),
            ("columns", !self.columns.is_empty()),
            ("learn_placement", self.learn_placement),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

/// Which column of a table of blocks says what: ours by the file's.
fn columns(said: &Bound<'_, PyAny>) -> PyResult<BlockColumns> {
    let said: BTreeMap<String, Bound<'_, PyAny>> = said.extract()?;
    let pairs = said.iter().map(|(ours, theirs)| Ok(format!("{ours}={}", theirs.str()?)));
    let text = pairs.collect::<PyResult<Vec<_>>>()?.join(",");
    BlockColumns::parse(&text).map_err(|error| PyValueError::new_err(error.to_string()))
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
        Audited::Files(paths) => match profile_of(&paths, &asked)? {
            Some(profile) => of_profile(profile, asked),
            None => of_logs(paths, asked),
        },
    })
}

/// The profile, if the one file is a profile rather than a log. Damaged logs are read as far as they go, and their
/// reader tells of files that cannot be read.
fn profile_of(paths: &[PathBuf], asked: &Asked) -> Result<Option<GpuProfile>, Failure> {
    let [path] = paths else { return Ok(None) };
    if !asked.columns.is_empty() || are_logs(path) {
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
    let observed = ObservedRun::of_run(&run.run);
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
    let Asked { scenario, logs_alone, columns, learn_placement: learns, tolerances, options } = asked;
    let ReadOptions { device, placement, .. } = options.opened()?.read;
    let files = LogFiles { paths, device, scenario, logs_alone, placement, columns };
    let reader = Reader::default();
    let failed = |error: LogFilesError| Failure::input(&*error);
    let mut learned = Vec::new();
    let mut report = audit_logs(files.read(&reader).map_err(failed)?, |seen| {
        if learns {
            learned.push(learn_placement(seen, &tolerances));
        }
        audited(seen, &tolerances, Progress::NONE)
    });
    report.learned = learned;
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
