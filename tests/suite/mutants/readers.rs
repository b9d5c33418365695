//! What each reader is given, and what is done with what it accepts: the same as one call of the command does.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use gpusched::applications::{ApplicationSet, Outcome, Variation};
use gpusched::audit::{Tolerances, audit, audit_logs};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::experiments::study::{ShardStatus, Study};
use gpusched::formats::{Report, write_json};
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, UsageDetail, simulate};
use gpusched::input::options::ScenarioOptions;
use gpusched::input::{Input, InputError, are_logs};
use gpusched::json::JsonError;
use gpusched::logs::{BlockColumns, LogFiles, LogFilesError, LogFilesReader, LogsReading, read_logs_from};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{
    OutcomeDocument, ProfileAuditReport, SegmentReport, ShardsDocument, SimulationReport, TaskReport, WarpsDocument,
};
use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
use gpusched::tasks::{ReservationTest, TaskSet, TestResults};
use gpusched::warps::{Instance, Question, SearchLimits, answer};
use gpusched::words::with_causes;

use super::shown;
use crate::common::tx2;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What the command says behind `error: `.
    pub(crate) message: String,
    /// Line and column, from 1, where a reader tells them.
    pub(crate) place: Option<(usize, usize)>,
    /// Whether the file was read, and what is in it cannot be done.
    pub(crate) was_read: bool,
}

/// The JSON that the command prints of a file of this name, or why it prints none.
pub(crate) type Answer = Result<Vec<u8>, Refusal>;

/// The whole way from a file to what is printed of it.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    pub(crate) answer: fn(&str, &[u8]) -> Answer,
    /// The arguments of the command that does the same with `FILE`.
    pub(crate) command: &'static [&'static str],
    /// Whether the format has no keys but its own.
    pub(crate) knows_all_keys: bool,
}

/// The scenario that is run on devices.
pub(crate) const ON_DEVICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/small/native.json");

pub(crate) const SCENARIO: Reader =
    Reader { name: "scenario", answer: of_input, command: &["simulate", "FILE"], knows_all_keys: true };
pub(crate) const FOREIGN: Reader = Reader { name: "foreign", knows_all_keys: false, ..SCENARIO };
pub(crate) const LOG: Reader =
    Reader { name: "log", answer: of_log, command: &["audit", "FILE"], knows_all_keys: false };
pub(crate) const DEVICE: Reader = Reader {
    name: "device",
    answer: of_device,
    command: &["simulate", ON_DEVICE, "--device", "FILE"],
    knows_all_keys: true,
};
pub(crate) const APPLICATIONS: Reader =
    Reader { name: "applications", answer: of_applications, command: &["evr", "FILE"], knows_all_keys: true };
pub(crate) const TASKS: Reader =
    Reader { name: "tasks", answer: of_tasks, command: &["tasks", "FILE"], knows_all_keys: true };
pub(crate) const WARPS: Reader =
    Reader { name: "warps", answer: of_warps, command: &["warps", "--instance", "FILE"], knows_all_keys: true };
pub(crate) const STUDY: Reader =
    Reader { name: "study", answer: of_study, command: &["study", "status", "FILE"], knows_all_keys: true };

impl From<JsonError> for Refusal {
    fn from(error: JsonError) -> Self {
        Self { place: Some((error.line, error.column)), was_read: false, message: error.to_string() }
    }
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Self {
        let place = match &error {
            InputError::Scenario(error) => Some((error.line, error.column)),
            InputError::Model(error) => error.place.as_ref().map(|place| (place.line, place.column)),
            _ => None,
        };
        Self { message: with_causes(&error), place, was_read: false }
    }
}

/// What was read cannot be done.
fn undone(error: &dyn std::error::Error) -> Refusal {
    Refusal { message: with_causes(error), place: None, was_read: true }
}

/// What cannot be read, as the command says it.
fn unread(message: impl Display) -> Refusal {
    Refusal { message: message.to_string(), place: None, was_read: false }
}

fn as_text<'a>(file: &str, content: &'a [u8]) -> Result<&'a str, Refusal> {
    let owned = || String::from_utf8(content.to_vec()).map(drop);
    std::str::from_utf8(content).map_err(|_| {
        let why = owned().err().map(|error| error.to_string()).unwrap_or_default();
        unread(format!("cannot read {file}: it is no text: {why}"))
    })
}

fn printed(report: &impl Report) -> Answer {
    let mut bytes = Vec::new();
    write_json(report, None, &mut bytes).map_err(|error| undone(&error))?;
    Ok(bytes)
}

fn simulated(scenario: &Scenario) -> Answer {
    let run = simulate(scenario).map_err(|error| undone(&error))?;
    let summary = Summary::of(&run);
    shown::of_run(summary);
    printed(&SimulationReport::of(summary))
}

fn of_input(file: &str, content: &[u8]) -> Answer {
    let input = Input::of(file, content.to_vec())?;
    match &input {
        Input::Model { text, .. } => shown::of_model(file, text),
        Input::Scenario { text, .. } => {
            let options = ReadOptions { as_threads: true, ..ReadOptions::default() };
            let is_placed = |error: &JsonError| error.line >= 1 && error.column >= 1 && !error.what.is_empty();
            assert!(Scenario::from_json(file, text, &options).as_ref().err().is_none_or(is_placed));
        }
        Input::Profile(_) => {}
    }
    let scenario = input.scenario(&ScenarioOptions::default())?;
    simulated(&scenario)
}

fn of_device(file: &str, content: &[u8]) -> Answer {
    let device = Some(Device::from_json(file, as_text(file, content)?)?);
    let text = fs::read_to_string(ON_DEVICE).expect("it is there");
    let scenario = Scenario::from_json(ON_DEVICE, &text, &ReadOptions { device, ..ReadOptions::default() });
    simulated(&scenario.map_err(|error| undone(&error))?)
}

fn of_applications(file: &str, content: &[u8]) -> Answer {
    let set = ApplicationSet::from_json(file, as_text(file, content)?, None)?;
    for scheduler in Scheduler::ALL {
        scheduler.check(&set.device).map_err(|error| undone(&error))?;
    }
    let generator = set.generator;
    let set = Variation::default().varied(set, generator).map_err(|error| undone(&error))?;
    let set = set.injected(generator, 0).map_err(|error| undone(&error))?;
    for scheduler in Scheduler::ALL {
        scheduler.check_work(&set).map_err(|error| undone(&error))?;
    }
    let outcome = |scheduler: Scheduler| {
        let usage = scheduler.usage(&set, EvrRules::default(), UsageDetail::ALL_SMS_OVER_TIME);
        let failed =
            |error| Refusal { message: format!("under {scheduler}: {}", with_causes(&error)), ..undone(&error) };
        Ok(Outcome::of_usage(&set, scheduler.name(), usage.map_err(failed)?))
    };
    let outcomes: Vec<Outcome> = Scheduler::ALL.into_iter().map(outcome).collect::<Result<_, Refusal>>()?;
    printed(&OutcomeDocument { set: &set, seed: 0, outcomes: &outcomes })
}

fn of_tasks(file: &str, content: &[u8]) -> Answer {
    let text = as_text(file, content)?;
    if SegmentTaskSet::is_claimed_by(text) {
        let set = SegmentTaskSet::from_json(file, text)?;
        let tests: Vec<_> = SegmentTest::sound().map(|test| (test, test.bounds(&set))).collect();
        return printed(&SegmentReport { set: &set, tests: &tests, slack: None });
    }
    let set = TaskSet::from_json(file, text, &tx2())?;
    let tests: Vec<ReservationTest> = ReservationTest::sound().collect();
    printed(&TaskReport { set: &set, analysis: &TestResults::new(&set, &tests), budgets: None })
}

fn of_warps(file: &str, content: &[u8]) -> Answer {
    let Instance { text, string, warps, estimate_from } = Instance::from_json(file, as_text(file, content)?)?;
    let limits = SearchLimits { memory_bytes: 1 << 30, time: None };
    let answer = answer(&string, &Question { warps, estimate_from, limits }, Progress::NONE);
    answer.check().map_err(|error| undone(&error))?;
    printed(&WarpsDocument { written: &text, string: &string, answer: &answer })
}

fn of_study(file: &str, content: &[u8]) -> Answer {
    let nowhere = |_: &str| Err(io::Error::from_raw_os_error(2));
    let study = Study::from_json(file, as_text(file, content)?, &nowhere)?;
    let shards =
        ShardStatus::of_all(&study, &Path::new(file).with_extension("results")).map_err(|error| undone(&error))?;
    printed(&ShardsDocument { study: &study, shards: &shards, complete: false })
}

/// One log, which is in memory.
struct OneLog<'a>(&'a [u8]);

impl LogFilesReader for OneLog<'_> {
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError> {
        Ok(read_logs_from(&path.display().to_string(), &mut io::Cursor::new(self.0), columns)?)
    }

    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError> {
        Err(format!("{} is not asked for", path.display()).into())
    }

    fn note(&self, _: &str) {}
}

/// Whether its beginning is that of a log, of which nobody but the reader of files asks.
fn is_a_log(file: &str, content: &[u8]) -> bool {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutant_logs");
    let path = folder.join(file);
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, content)).expect("the build directory can be written");
    let is_a_log = are_logs(&path);
    fs::remove_file(path).expect("it was written");
    is_a_log
}

fn of_log(file: &str, content: &[u8]) -> Answer {
    if !is_a_log(file, content) {
        match Input::of(file, content.to_vec()) {
            Ok(Input::Profile(profile)) => {
                let report = ProfileAuditReport::of(&profile, None, None).map_err(|error| undone(&error))?;
                return printed(&report);
            }
            Err(error @ InputError::Profile(_)) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }
    let files = LogFiles { paths: vec![PathBuf::from(file)], ..LogFiles::default() };
    let input = files.read(&OneLog(content)).map_err(|error| unread(with_causes(&*error)))?;
    printed(&audit_logs(input, |seen| audit(seen, &Tolerances::default(), Progress::NONE)))
}
