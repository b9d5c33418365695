//! A scenario at one point of a grid: of a file or drawn, with what is changed in it.

use std::fmt;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use super::grid::{self, Change, Files, Grid, GridAxis, Parameters, Read, keys};
use super::pipelines::Pipelines;
use crate::input::options::{OPTIONS, ScenarioOption, ScenarioOptions};
use crate::input::{Input, InputError, LastRead};
use crate::json::{Edited, JsonError, Node, Problem, is_comment, with_field};
use crate::scenario::Scenario;
use crate::spelling::{self, Spelling};
use crate::words::did_you_mean;

/// A scenario, and what is changed in it.
#[derive(Debug, Clone, Default)]
pub(super) struct ScenarioPoint {
    /// `None`: it is drawn.
    input: Option<Arc<Input>>,
    /// Instead of one: those of the samples.
    files: Option<Arc<Vec<Input>>>,
    pipelines: Pipelines,
    /// Keys that were said of what is drawn.
    of_pipelines: Vec<String>,
    options: ScenarioOptions,
    edits: Vec<Edit>,
    /// Whose jobs are counted, a stream with operations or a host; `None`: all.
    responses_of: Option<String>,
}

/// Another value of a field.
#[derive(Debug, Clone)]
struct Edit {
    /// Its path, as the study has it.
    path: String,
    /// The value, as JSON.
    value: String,
    /// Where it stands in the study \[bytes\].
    offset: usize,
}

/// Why there is no scenario at a point.
pub(super) struct NoScenario {
    /// Where the reason stands in the study \[bytes\], if that is known.
    offset: Option<usize>,
    what: String,
}

impl NoScenario {
    fn said(what: impl fmt::Display) -> Self {
        Self { offset: None, what: what.to_string() }
    }
}

impl fmt::Display for NoScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The option that counts samples, and is read with them.
const SEED: &str = "seed";

/// The key of several fields that are set together.
const SET: &str = "set";

/// Fields of a scenario that change nothing of how it runs.
const WITHOUT_EFFECT: [&str; 5] = ["format", "name", "source", "expected", "$schema"];

impl Parameters for ScenarioPoint {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        grid::FILES => files: {
            let of = |name: &str, content| Input::of(name, content).map_err(|error| error.to_string());
            grid::each_file(value, files, of).map(Arc::new)
        };
        "responses_of" => responses_of: value.string();
        "scenario" => input: {
            let name = value.string()?;
            let input = Input::of(&name, files.bytes(value, &name)?);
            input.map(Arc::new).map_err(|error| value.problem(error.to_string()))
        };
    };

    fn others() -> Vec<&'static str> {
        let options = OPTIONS.iter().map(|option| option.key).filter(|key| *key != SEED);
        options.chain(Pipelines::keys()).chain([SET]).collect()
    }

    fn read_other(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        if key == SET || is_path(key) {
            return Some(Self::set(Edit::all(key, value), |point, it| point.edits.extend(it)));
        }
        if let Some(change) = Pipelines::read(key, value, files) {
            let key = key.to_owned();
            return Some(grid::within(change, move |point: &mut Self| {
                point.of_pipelines.push(key.clone());
                &mut point.pipelines
            }));
        }
        ScenarioOption::of(key).map(|option| Self::read_option(option, value, files))
    }

    fn set_seed(&mut self, seed: u64) {
        self.options.read.seed = Some(seed);
    }
}

impl Edit {
    /// Of a path, or of several that are set together.
    fn all(key: &str, value: Node<'_>) -> Result<Vec<Self>, Problem> {
        if key != SET {
            return Ok(vec![Self::of(key, value)?]);
        }
        value.object()?.into_distinct_entries()?.iter().map(|(path, value)| Self::of(path, *value)).collect()
    }

    fn of(path: &str, value: Node<'_>) -> Result<Self, Problem> {
        let first = path.split(['.', '[']).next().unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        if WITHOUT_EFFECT.contains(&first) || is_comment(first) || is_comment(last) {
            return Err(value.problem(format!("{path:?} changes nothing of how a scenario runs")));
        }
        if ScenarioOption::of(path).is_some() {
            return Err(value.problem(format!("{path:?} is a key of studies: state it as such, not as a field to set")));
        }
        Ok(Self { path: path.to_owned(), value: value.raw().to_owned(), offset: value.start() })
    }

    fn no(&self, what: impl fmt::Display) -> NoScenario {
        NoScenario { offset: Some(self.offset), what: what.to_string() }
    }
}

/// Whether a key is the path of a field.
fn is_path(key: &str) -> bool {
    key.contains(['.', '['])
}

/// Whether the one is a part of the other, or the same.
fn overlap(one: &str, other: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_in(one, other) || is_in(other, one)
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

impl ScenarioPoint {
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
        Ok(Arc::new(move |point| {
            setting.apply(&mut point.options);
            point.options.take_files_of(&alone);
        }))
    }

    /// Whether each sample is a scenario of its own.
    pub(super) fn is_drawn(&self) -> bool {
        self.input.is_none()
    }

    fn seed(&self) -> u64 {
        self.options.read.seed.unwrap_or(0)
    }

    /// The seed of what the run of a sample draws.
    pub(super) fn seed_of(&self, sample: u64) -> u64 {
        self.seed().wrapping_add(sample)
    }

    /// The scenario of a sample, and the index of the host thread whose jobs are counted. What the run of it draws is
    /// seeded by the study's seed plus the sample's number, as `gpusched simulate --seed` takes it.
    pub(super) fn scenario<'p>(
        &'p self,
        sample: u64,
        last: &mut LastRead<'p>,
    ) -> Result<(Scenario, Option<u32>), NoScenario> {
        let mut scenario = spelling::within(Spelling::Key, || self.read_scenario(sample, last))?;
        scenario.seed = self.seed_of(sample);
        let Some(name) = &self.responses_of else { return Ok((scenario, None)) };
        let found = (0..).zip(&scenario.threads).find(|(_, thread)| thread.does_jobs() && *thread.label == **name);
        let Some((thread, _)) = found else {
            let submitting = scenario.threads.iter().filter(|thread| thread.does_jobs());
            let known: Vec<&str> = submitting.map(|thread| &*thread.label).collect();
            return Err(NoScenario::said(format!(
                "\"responses_of\": no stream or host is called {name:?}{}; there are {}",
                did_you_mean(name, known.iter().copied()),
                known.join(", ")
            )));
        };
        Ok((scenario, Some(thread)))
    }

    /// The scenario of a sample, as a file.
    pub(super) fn scenario_file(&self, sample: u64) -> Result<String, String> {
        let (scenario, _) = self.scenario(sample, &mut LastRead::default()).map_err(|error| error.to_string())?;
        scenario.to_native_json().map_err(|error| error.to_string())
    }

    fn read_scenario<'p>(&'p self, sample: u64, last: &mut LastRead<'p>) -> Result<Scenario, NoScenario> {
        let read = |input: &Input, edits: &[Edited]| {
            input.scenario(&self.options).map_err(|error| self.refused(&error, edits))
        };
        let of_sample = |inputs: &'p Arc<Vec<Input>>| inputs.get(usize::try_from(sample).ok()?);
        let file = self.files.as_ref().and_then(of_sample);
        if file.is_some() && self.input.is_some() {
            return Err(NoScenario::said("\"scenario\" names one file for all samples, and \"files\" one for each"));
        }
        let Some(input) = file.or(self.input.as_deref()) else {
            let drawn = Input::Scenario { file: "drawn".to_owned(), text: self.draw(sample)? };
            let (input, edits) = self.edited(&drawn)?;
            return read(&input, &edits);
        };
        if let Some(key) = self.of_pipelines.first() {
            let by = if self.files.is_some() { grid::FILES } else { "scenario" };
            return Err(NoScenario::said(format!("{key:?} is for scenarios that are drawn, and {by:?} names a file")));
        }
        if self.edits.is_empty() {
            return input.scenario_again(&self.options, last).map_err(|error| self.refused(&error, &[]));
        }
        let (input, edits) = self.edited(input)?;
        read(&input, &edits)
    }

    fn draw(&self, sample: u64) -> Result<String, NoScenario> {
        if self.of_pipelines.is_empty() {
            return Err(NoScenario::said(
                "no scenario is stated: add \"scenario\": a file, or \"load_percent\" to draw some",
            ));
        }
        if let Some(wrong) = self.pipelines.wrong() {
            return Err(NoScenario::said(wrong));
        }
        let default = || grid::default_device().map_err(NoScenario::said);
        let device = self.options.read.device.clone().map_or_else(default, Ok)?;
        Ok(self.pipelines.scenario(&device, self.seed(), sample))
    }

    /// The input with other values in its fields, and their paths.
    fn edited(&self, input: &Input) -> Result<(Input, Vec<Edited>), NoScenario> {
        let mut edits: Vec<Edited> = Vec::with_capacity(self.edits.len());
        let Input::Scenario { file, text } = input else {
            let edit = self.edits.first().ok_or_else(|| NoScenario::said("nothing is changed"))?;
            return Err(edit.no(format!("fields are set in scenario files, and {} is none", input.file())));
        };
        let mut text = text.clone();
        for edit in &self.edits {
            let edited =
                with_field(&text, &edit.path, &edit.value).map_err(|what| edit.no(format!("{file}: {what}")))?;
            if self.options.read.device.is_some() && overlap(&edited.path, "device") {
                return Err(edit.no(format!("{:?} is set, and \"device\" puts another one in its place", edit.path)));
            }
            if edits.iter().any(|known| overlap(&known.path, &edited.path)) {
                return Err(edit.no(format!("{} is set twice", edited.path)));
            }
            text.clone_from(&edited.text);
            edits.push(edited);
        }
        Ok((Input::Scenario { file: file.clone(), text }, edits))
    }

    /// What a reader refuses, at the value that is to blame if one is.
    fn refused(&self, error: &InputError, edits: &[Edited]) -> NoScenario {
        let InputError::Scenario(JsonError { file, path, what, help, .. }) = error else {
            return NoScenario::said(error);
        };
        match self.edits.iter().zip(edits).find(|(_, edited)| overlap(&edited.path, path)) {
            Some((edit, _)) => {
                let help = help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
                edit.no(format!("{file}: {path}: {what}{help}"))
            }
            None => NoScenario::said(error),
        }
    }
}

/// Makes the first scenario of each point, and all of those that are of files; `wrong` says what else is wrong with it,
/// of which this thread's jobs or all are looked at. Whether samples differ at any point.
pub(super) fn check(
    (grid, axes): (&Grid<'_>, &[GridAxis]),
    points: &[&ScenarioPoint],
    (samples, node): (u64, Node<'_>),
    wrong: &dyn Fn(&Scenario, Option<u32>) -> Option<String>,
) -> Result<bool, Problem> {
    grid::check_count(points.iter().map(|point| Some(point.files.as_ref()?.len())), (samples, node))?;
    let place = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    let sets_fields = |axis: &GridAxis| axis.values.len() > 1 && (axis.key == SET || is_path(&axis.key));
    let (mut is_drawn, mut digests, mut last) = (false, Vec::new(), LastRead::default());
    for (number, point) in points.iter().enumerate() {
        let file = |sample: u64| point.files.as_ref()?.get(usize::try_from(sample).ok()?);
        let mut made = |sample: u64| {
            let made = point.scenario(sample, &mut last).and_then(|(scenario, thread)| {
                match (wrong(&scenario, thread), file(sample)) {
                    (Some(what), Some(file)) => Err(NoScenario::said(format!("{}: {what}", file.file()))),
                    (Some(what), None) => Err(NoScenario::said(what)),
                    (None, _) => Ok(scenario),
                }
            });
            made.map_err(|NoScenario { offset, what }| match offset {
                Some(offset) => Problem::at(offset, what),
                None if points.len() == 1 => place.problem(what),
                None => place.problem(format!("point {number}: {what}")),
            })
        };
        let scenario = made(0)?;
        for sample in (1..samples).take_while(|sample| file(*sample).is_some()) {
            made(sample)?;
        }
        is_drawn |= point.is_drawn() || scenario.depends_on_seed();
        if axes.iter().any(sets_fields) {
            digests.push(FxBuildHasher.hash_one(format!("{:?}", Scenario { notes: Vec::new(), ..scenario })));
        }
    }
    let mut stride = 1;
    for axis in axes.iter().rev() {
        let length = axis.values.len();
        let is_first = |index: &usize| (index / stride).is_multiple_of(length);
        let differs = |index: usize| (1..length).any(|value| digests[index] != digests[index + value * stride]);
        if sets_fields(axis) && !(0..points.len()).filter(is_first).any(differs) {
            return Err(place.problem(format!(
                "{:?} makes no difference at any point: another key of the study wins over it",
                axis.key
            )));
        }
        stride *= length;
    }
    Ok(is_drawn)
}
