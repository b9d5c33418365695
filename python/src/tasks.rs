//! Sets of real-time tasks: tests, and runs.

use std::path::PathBuf;

use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::hosts::{Policy, RunOptions, SegmentRunOptions, Strategy, run_segment_tasks, run_tasks as run_set};
use gpusched::tables::{SegmentReport, SegmentRunReport, TaskReport, TaskRunReport};
use gpusched::tasks::segments::{SegmentTaskSet, SegmentTest};
use gpusched::tasks::{ReservationTest, TaskSet, TaskTime, TestResults};
use gpusched::time::Duration;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::document::Document;
use crate::errors::Failure;
use crate::given::Given;
use crate::options::named;
use crate::work::aside;

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
    aside(py, move || match Tasks::read(given, device)? {
        Tasks::Sms(set, _) => of_sms(&set, &tests),
        Tasks::Segments(set, _) => of_segments(&set, &tests),
    })
}

/// What a tasks file has, and the GPU that measures or runs it.
enum Tasks {
    /// Tasks of SMs.
    Sms(TaskSet, Box<Device>),
    /// Tasks with CPU and GPU segments.
    Segments(SegmentTaskSet, Option<Given>),
}

impl Tasks {
    fn read(given: Given, device: Option<Given>) -> Result<Self, Failure> {
        let (name, text) = given.text()?;
        if SegmentTaskSet::is_claimed_by(&text) {
            return Ok(Self::Segments(SegmentTaskSet::from_json(&name, &text)?, device));
        }
        let device = usual(device)?;
        Ok(Self::Sms(TaskSet::from_json(&name, &text, &device)?, Box::new(device)))
    }
}

/// The device that is meant if none is named.
fn usual(device: Option<Given>) -> Result<Device, Failure> {
    device.unwrap_or_else(|| Given::File(PathBuf::from("tx2"))).device()
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
    let (lemma_1, others): (Vec<_>, Vec<_>) =
        names.iter().cloned().partition(|name| name == TestResults::MULTI_STREAM_AS_PRINTED);
    let tests = match names {
        [_, ..] if others.is_empty() => Vec::new(),
        _ => chosen(&others, &ReservationTest::ALL, ReservationTest::name, ReservationTest::is_sound)?,
    };
    let mut analysis = TestResults::new(set, &tests);
    if !lemma_1.is_empty() {
        analysis = analysis.with_multi_stream_as_printed(set);
    }
    let report = TaskReport { set, analysis: &analysis, budgets: None };
    Document::new(&report, Vec::new())
}

fn of_segments(set: &SegmentTaskSet, names: &[String]) -> Result<Document, Failure> {
    let tests = chosen(names, &SegmentTest::ALL, SegmentTest::name, SegmentTest::is_sound)?;
    let tests: Vec<_> = tests.into_iter().map(|test| (test, test.bounds(set))).collect();
    let report = SegmentReport { set, tests: &tests, slack: None };
    Document::new(&report, Vec::new())
}

/// How a task set is run.
#[derive(Debug, Default)]
struct Asked {
    policy: Option<Policy>,
    /// In the file's unit.
    horizon: Option<u64>,
    seed: u64,
    synchronization: u64,
    device: Option<Given>,
}

/// The longest that a scheduler may take to learn of a completion, in the file's unit.
const MOST_SYNCHRONIZATION: u64 = 1 << 48;

impl Asked {
    fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut asked = Self::default();
        for (key, value) in given.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
            match key.extract::<String>()?.as_str() {
                "policy" => {
                    asked.policy = Some(named(&value, Policy::from_name, &Policy::ALL.map(Policy::name))?);
                }
                "horizon" => asked.horizon = Some(value.extract()?),
                "seed" => asked.seed = value.extract()?,
                "synchronization" => asked.synchronization = value.extract()?,
                "device" => asked.device = Some(Given::new(&value)?),
                other => return Err(PyTypeError::new_err(format!("there is no option {other:?}"))),
            }
        }
        if asked.synchronization > MOST_SYNCHRONIZATION {
            return Err(PyValueError::new_err("synchronization: expected a time up to 2^48"));
        }
        Ok(asked)
    }
}

/// Runs a task set on the simulated GPU.
#[pyfunction]
#[pyo3(signature = (tasks, strategy, **options))]
pub(crate) fn run_tasks(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    strategy: String,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let (given, mut asked) = (Given::new(tasks)?, Asked::new(options)?);
    aside(py, move || match Tasks::read(given, asked.device.take())? {
        Tasks::Sms(set, device) => run_of_sms(&set, *device, &strategy, &asked),
        Tasks::Segments(set, device) => run_of_segments(&set, &usual(device)?, &strategy, &asked),
    })
}

fn none_of(strategy: &str, names: &[&'static str]) -> Failure {
    Failure::Argument(format!("strategy: {strategy:?} is none of {}, which such tasks have", names.join(", ")))
}

fn run_of_sms(set: &TaskSet, device: Device, strategy: &str, asked: &Asked) -> Result<Document, Failure> {
    let unknown = || none_of(strategy, &Strategy::ALL.map(Strategy::name));
    let strategy = Strategy::from_name(strategy).ok_or_else(unknown)?;
    let policy = asked.policy.unwrap_or(Policy::Edf);
    let horizon = asked.horizon.map(TaskTime::from_units);
    let synchronization = TaskTime::from_units(asked.synchronization);
    let options = RunOptions { strategy, policy, horizon, seed: asked.seed, synchronization, device };
    let run = run_set(set, &options, Progress::NONE).map_err(|error| Failure::run(&error))?;
    let report = TaskRunReport { set, run: &run, strategy: strategy.name(), policy: policy.name() };
    Document::new(&report, Vec::new())
}

fn run_of_segments(set: &SegmentTaskSet, device: &Device, strategy: &str, asked: &Asked) -> Result<Document, Failure> {
    let names: Vec<&str> = SegmentTest::sound().map(SegmentTest::name).collect();
    let test = SegmentTest::from_name(strategy).filter(|test| test.is_sound());
    let test = test.ok_or_else(|| none_of(strategy, &names))?;
    let others = [("policy", asked.policy.is_some()), ("synchronization", asked.synchronization > 0)];
    if let Some((option, _)) = others.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Argument(format!("{option} is not for tasks with CPU and GPU segments")));
    }
    let horizon = asked.horizon.map(Duration::from_ns);
    let options = SegmentRunOptions { horizon, seed: asked.seed, device, records_cores: false };
    let run = run_segment_tasks(set, test, options, Progress::NONE);
    let run = run.map_err(|error| Failure::run(&error))?;
    let report = SegmentRunReport::new(set, test, &run).map_err(|error| Failure::run(&error))?;
    Document::new(&report, Vec::new())
}
