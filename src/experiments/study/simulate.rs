//! Any scenario or profile, simulated over a grid of what-ifs, as a study.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::command::StudyExperiment;
use super::compute::{Experiment, Worker};
use super::grid::{self, Change, Files, Grid, Parameters, Read};
use super::simulate_tally::{Outcome, SimulateTally};
use super::tally::Tally;
use crate::hosts::simulate;
use crate::input::options::{OPTIONS, ScenarioOption, ScenarioOptions};
use crate::input::{Input, InputError};
use crate::json::{Node, Problem};
use crate::near::did_you_mean;
use crate::scenario::Scenario;
use crate::spelling::{self, Spelling};

/// One point: a scenario, and what is changed in it.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatePoint {
    input: Option<Arc<Input>>,
    options: ScenarioOptions,
    /// Whose jobs are counted, a stream with operations or a host; `None`: all.
    responses_of: Option<String>,
}

/// The option that counts samples, and is read with them.
const SEED: &str = "seed";

impl Parameters for SimulatePoint {
    /// Those of a study alone.
    const KEYS: &'static [(&'static str, Read<Self>)] = &[
        ("responses_of", |value, _| Ok(Self::set(value.string()?, |point, it| point.responses_of = Some(it)))),
        ("scenario", |value, files| {
            let name = value.string()?;
            let input = Input::of(&name, files.bytes(value, &name)?);
            let input = Arc::new(input.map_err(|error| value.problem(error.to_string()))?);
            Ok(Self::set(input, |point, it| point.input = Some(it)))
        }),
    ];

    fn keys() -> Vec<&'static str> {
        let options = OPTIONS.iter().map(|option| option.key).filter(|key| *key != SEED);
        let mut keys: Vec<&str> = options.chain(Self::KEYS.iter().map(|(key, _)| *key)).collect();
        keys.sort_unstable();
        keys
    }

    fn read(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        let of_option = || ScenarioOption::of(key).map(|option| Self::read_option(option, value, files));
        grid::of_table(key, value, files).or_else(of_option)
    }

    fn set_seed(&mut self, seed: u64) {
        self.options.read.seed = Some(seed);
    }
}

/// Why a file that an option names is of no use.
enum Unopened {
    Said(Problem),
    Input(InputError),
}

impl From<InputError> for Unopened {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl Unopened {
    fn at(self, value: Node<'_>) -> Problem {
        match self {
            Self::Said(problem) => problem,
            Self::Input(error) => spelling::within(Spelling::Key, || value.problem(error.to_string())),
        }
    }
}

impl SimulatePoint {
    fn read_option(
        option: &'static ScenarioOption,
        value: Node<'_>,
        files: &Files<'_>,
    ) -> Result<Change<Self>, Problem> {
        let setting = option.read(&value)?;
        let mut alone = ScenarioOptions::default();
        setting.apply(&mut alone);
        // Files are read once, with the study.
        let read = |path: &Path| {
            let name = path.to_string_lossy().into_owned();
            files.bytes(value, &name).map(|bytes| (name, bytes)).map_err(Unopened::Said)
        };
        alone.open(|path| read(path).is_ok(), read).map_err(|error| error.at(value))?;
        Ok(Box::new(move |point| {
            setting.apply(&mut point.options);
            point.options.take_files_of(&alone);
        }))
    }

    /// The scenario as it is run, and the index of the host thread whose jobs are counted.
    fn scenario(&self) -> Result<(Scenario, Option<u32>), String> {
        let input = self.input.as_deref().ok_or("no scenario is stated: add \"scenario\": a file")?;
        let scenario =
            spelling::within(Spelling::Key, || input.scenario(&self.options).map_err(|error| error.to_string()))?;
        let Some(name) = &self.responses_of else { return Ok((scenario, None)) };
        let found = (0..).zip(&scenario.threads).find(|(_, thread)| thread.submits() && *thread.label == **name);
        let Some((thread, _)) = found else {
            let submitting = scenario.threads.iter().filter(|thread| thread.submits());
            let known: Vec<&str> = submitting.map(|thread| &*thread.label).collect();
            return Err(format!(
                "\"responses_of\": no stream or host is called {name:?}{}; there are {}",
                did_you_mean(name, known.iter().copied()),
                known.join(", ")
            ));
        };
        Ok((scenario, Some(thread)))
    }
}

/// The points, once each was made into a scenario.
pub(super) fn checked(
    grid: &Grid<'_>,
    points: Vec<SimulatePoint>,
    (samples, node): (u64, Node<'_>),
) -> Result<Vec<SimulatePoint>, Problem> {
    let place = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    let mut is_drawn = false;
    for (number, point) in points.iter().enumerate() {
        let of_point = |what: String| match points.len() {
            1 => place.problem(what),
            _ => place.problem(format!("point {number}: {what}")),
        };
        is_drawn |= point.scenario().map_err(of_point)?.0.depends_on_seed();
    }
    if samples > 1 && !is_drawn {
        return Err(node
            .problem("nothing is drawn, so that all samples of a point are the same")
            .with_help("state 1 sample, or \"vary\" block times, or let \"placement\" be \"random\""));
    }
    Ok(points)
}

#[derive(Debug)]
pub(super) struct SimulateStudy {
    pub(super) points: Vec<SimulatePoint>,
}

impl Experiment for SimulateStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SimulateWorker { points: &self.points, known: None })
    }
}

impl StudyExperiment for SimulateStudy {
    fn columns(&self) -> &'static str {
        Outcome::COLUMNS
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(SimulateTally::default())
    }
}

struct SimulateWorker<'a> {
    points: &'a [SimulatePoint],
    /// The point of the row computed last, its scenario, and whose jobs are counted.
    known: Option<(u64, Scenario, Option<u32>)>,
}

impl Worker for SimulateWorker<'_> {
    /// Sample k of a point is the run with its seed plus k, as `gpusched simulate --seed` makes it.
    fn values(&mut self, number: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.points, number)?;
        if self.known.as_ref().is_none_or(|(known, ..)| *known != number) {
            let (scenario, thread) = point.scenario()?;
            self.known = Some((number, scenario, thread));
        }
        // It was just made known.
        let Some((_, scenario, thread)) = &mut self.known else { return Err("no scenario".to_owned()) };
        scenario.seed = point.options.read.seed.unwrap_or(0).wrapping_add(samples.start);
        let run = spelling::within(Spelling::Key, || simulate(scenario).map_err(|error| error.to_string()))?;
        Ok(Outcome::of(&run, *thread).to_string())
    }
}
