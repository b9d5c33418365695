//! Acceptance of random sets of tasks with segments, and runs of them, as a study.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::command::StudyExperiment;
use super::compute::{Experiment, Worker};
use super::grid::{self, Change, Grid, Parameters, Read};
use super::sample_files;
use super::segment_tally::{COLUMNS, OfRuns, SegmentOutcome, SegmentTally};
use super::tally::Tally;
use crate::broken_bound::BrokenBound;
use crate::device::Device;
use crate::effort::{self, Progress};
use crate::hosts::{SegmentRunOptions, run_segment_tasks};
use crate::json::{Node, Problem};
use crate::tasks::segments::{
    GpuPolicy, GpuWait, Overload, SegmentGenerator, SegmentPreset, SegmentSets, SegmentTaskSet, SegmentTest, TaskBound,
};
use crate::time::Duration;

/// The GPU of runs. Nothing of it counts but that it takes one kernel: contexts come by turns.
const DEVICE: &str = "tx2";

/// One point: a distribution of sets, and what is asked of them.
#[derive(Clone)]
pub(super) struct SegmentPoint {
    preset: SegmentPreset,
    /// What is other than in the preset.
    changes: Vec<Other>,
    /// The preset with the changes, once all are known.
    generator: SegmentGenerator,
    /// Instead: the sets of files.
    files: Option<Arc<Vec<SegmentTaskSet>>>,
    tests: Vec<SegmentTest>,
    simulated_runs: u64,
    seed: u64,
}

impl Default for SegmentPoint {
    fn default() -> Self {
        let preset = SegmentPreset::Paper;
        let (changes, generator) = (Vec::new(), preset.generator());
        let tests = SegmentTest::sound().collect();
        Self { preset, changes, generator, files: None, tests, simulated_runs: 0, seed: 0 }
    }
}

/// What makes a distribution another one.
type Other = Arc<dyn Fn(&mut SegmentGenerator) + Send + Sync>;

/// How sets are drawn, where the paper and what its authors published differ.
const SETS: [(&str, SegmentSets); 2] = [("printed", SegmentSets::Printed), ("published", SegmentSets::Published)];
/// Whether all periods are drawn, or those of which each divides the longer ones.
const PERIODS_ARE: [(&str, bool); 2] = [("drawn", false), ("harmonic", true)];
/// Longest period \[ms\]: 2^48 ns.
const MAX_PERIOD_MS: u64 = 281_474_976;
const MAX_CPUS: u32 = 1_024;
const MAX_TASKS: u64 = 100;

fn changed<T: Clone + Send + Sync + 'static>(value: T, put: fn(&mut SegmentGenerator, T)) -> Change<SegmentPoint> {
    let change: Other = Arc::new(move |generator| put(generator, value.clone()));
    Box::new(move |point| point.changes.push(Arc::clone(&change)))
}

impl Parameters for SegmentPoint {
    const KEYS: &'static [(&'static str, Read<Self>)] = &[
        ("best_effort_permille", |value, _| {
            Ok(changed(value.whole_u32(0, 1_000)?, |it, permille| it.best_effort_permille = permille))
        }),
        ("channel_reset", |value, _| Ok(changed(value.time()?, |it, time| it.gpu.channel_reset = time))),
        ("cpus", |value, _| Ok(changed(value.whole_u32(1, MAX_CPUS)?, |it, cpus| it.cpus = cpus))),
        (sample_files::KEY, |value, files| {
            let sets = sample_files::each_text(value, files, |name, text| {
                SegmentTaskSet::from_json(name, text).map_err(|error| error.to_string())
            })?;
            Ok(Self::set(Arc::new(sets), |point, it| point.files = Some(it)))
        }),
        ("gpu_segments", |value, _| {
            Ok(changed(grid::range(value, (1, MAX_TASKS))?, |it, segments| it.gpu_segments = segments))
        }),
        ("gpu_tasks_permille", |value, _| {
            Ok(changed(grid::range(value, (0, 1_000))?, |it, range| it.gpu_tasks_permille = range))
        }),
        ("gpu_to_cpu_permille", |value, _| {
            Ok(changed(grid::range(value, (0, 1_000_000))?, |it, range| it.gpu_to_cpu_permille = range))
        }),
        ("misc_permille", |value, _| {
            Ok(changed(grid::range(value, (0, 1_000))?, |it, range| it.misc_permille = range))
        }),
        ("period_ms", |value, _| {
            Ok(changed(grid::range(value, (1, MAX_PERIOD_MS))?, |it, range| it.period_ms = range))
        }),
        ("periods_are", |value, _| {
            Ok(changed(grid::named(value, &PERIODS_ARE)?, |it, is_so| it.harmonic_periods = is_so))
        }),
        ("preset", |value, _| {
            let preset = grid::one_of(value, &SegmentPreset::ALL.map(SegmentPreset::name), SegmentPreset::from_name)?;
            Ok(Self::set(preset, |point, it| point.preset = it))
        }),
        ("sets", |value, _| Ok(changed(grid::named(value, &SETS)?, |it, sets| it.sets = sets))),
        ("simulated_runs", |value, _| {
            Ok(Self::set(value.whole_number(0, 1_000_000)?, |point, it| point.simulated_runs = it))
        }),
        ("switch_cost", |value, _| Ok(changed(value.time()?, |it, time| it.gpu.switch_cost = time))),
        ("tasks", |value, _| Ok(changed(value.whole_u32(1, 1_000)?, |it, tasks| it.tasks = Some(tasks)))),
        ("tasks_per_cpu", |value, _| {
            Ok(changed(grid::range(value, (1, MAX_TASKS))?, |it, tasks| it.tasks_per_cpu = tasks))
        }),
        ("tests", |value, _| {
            let tests = grid::distinct(value, &SegmentTest::ALL.map(SegmentTest::name), SegmentTest::from_name)?;
            Ok(Self::set(tests, |point, it| point.tests = it))
        }),
        ("time_slice", |value, _| {
            let slice = value.time()?;
            if slice == Duration::ZERO {
                return Err(value.expected("a time above zero"));
            }
            Ok(changed(slice, |it, time| it.gpu.time_slice = time))
        }),
        ("update_cost", |value, _| Ok(changed(value.time()?, |it, time| it.gpu.update_cost = time))),
        ("utilization_permille", |value, _| {
            Ok(changed(grid::range(value, (1, 1_000))?, |it, range| it.utilization_permille = range))
        }),
    ];

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

/// The points with their generators.
pub(super) fn checked(
    grid: &Grid<'_>,
    mut points: Vec<SegmentPoint>,
    samples: (u64, Node<'_>),
) -> Result<Vec<SegmentPoint>, Problem> {
    sample_files::check_keys(grid, &["simulated_runs", "tests"])?;
    sample_files::check_count(points.iter().map(|point| Some(point.files.as_ref()?.len())), samples)?;
    let keys = grid.keys()?;
    let node_of = |key: &str| keys.iter().find(|(known, _)| known == key).map(|(_, node)| *node);
    for key in ["utilization_permille", "tasks_per_cpu"] {
        if let (Some(node), Some(_)) = (node_of(key), node_of("tasks")) {
            return Err(node.problem(format!("{key:?} has no effect where \"tasks\" is stated")));
        }
    }
    let node: Node<'_> = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    for point in &mut points {
        let mut generator = point.preset.generator();
        point.changes.drain(..).for_each(|change| change(&mut generator));
        let gpu = generator.gpu;
        if gpu.switch_cost > gpu.time_slice {
            return Err(node.problem(format!(
                "\"switch_cost\" is {}, and \"time_slice\" {}: a switch costs at most a time slice",
                gpu.switch_cost, gpu.time_slice
            )));
        }
        point.generator = generator;
    }
    Ok(points)
}

impl SegmentPoint {
    /// The set of a sample: that of its file, or that of `gpusched tasks curve --segments utilization` with the same
    /// seed, if only the utilization is another than in the preset.
    fn sample(&self, sample: u64) -> Cow<'_, SegmentTaskSet> {
        if let Some(set) = self.files.as_ref().and_then(|sets| sets.get(usize::try_from(sample).ok()?)) {
            return Cow::Borrowed(set);
        }
        let point = u64::from(*self.generator.utilization_permille.start());
        Cow::Owned(self.generator.sample(self.seed, point << 40 | sample))
    }
}

pub(super) struct SegmentStudy {
    pub(super) points: Vec<SegmentPoint>,
}

impl Experiment for SegmentStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SegmentWorker(&self.points))
    }
}

impl StudyExperiment for SegmentStudy {
    fn columns(&self) -> &'static str {
        &COLUMNS
    }

    fn input(&self, point: u64, sample: u64) -> Result<String, String> {
        Ok(super::point(&self.points, point)?.sample(sample).to_json())
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(SegmentTally::default())
    }
}

struct SegmentWorker<'a>(&'a [SegmentPoint]);

impl Worker for SegmentWorker<'_> {
    fn values(&mut self, number: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.0, number)?;
        let set = point.sample(samples.start);
        let outcome = outcome(point, &set, point.seed.wrapping_add(samples.start))?;
        effort::check().map_err(|over| over.to_string())?;
        Ok(outcome.to_string())
    }
}

fn outcome(point: &SegmentPoint, set: &SegmentTaskSet, seed: u64) -> Result<SegmentOutcome, String> {
    let mut outcome = SegmentOutcome::new(set.load_permille());
    let mut ran: Vec<(SegmentTest, Runs)> = Vec::new();
    // What no policy can do: by turns least is asked of the cores.
    let overload = |wait| Overload::of(set, GpuPolicy::RoundRobin, wait, &[]);
    outcome.necessary = [GpuWait::Suspend, GpuWait::Busy].map(|wait| !overload(wait).is_certain());
    for test in &point.tests {
        let is_accepted = test.bounds(set).iter().all(TaskBound::is_accepted);
        outcome.accepted.insert(test.name(), is_accepted);
        if point.simulated_runs == 0 {
            continue;
        }
        let run = test.run_of();
        if !ran.iter().any(|(known, _)| *known == run) {
            ran.push((run, Runs::of(set, run, point.simulated_runs, seed)?));
        }
        let Some((_, runs)) = ran.iter().find(|(known, _)| *known == run) else { continue };
        let sound = if test.is_sound() { *test } else { run };
        outcome.runs.insert(sound.name(), runs.against(set, sound)?);
    }
    Ok(outcome)
}

/// What runs of a set show.
struct Runs {
    /// The longest response of each task.
    worst: Vec<Duration>,
    /// Whether no job was late in any.
    no_miss: bool,
}

impl Runs {
    /// Runs a set: all tasks released together, then with random offsets and gaps.
    fn of(set: &SegmentTaskSet, test: SegmentTest, runs: u64, seed: u64) -> Result<Self, String> {
        let device = Device::builtin(DEVICE).map_err(|error| error.to_string())?;
        let device = device.ok_or_else(|| format!("there is no device {DEVICE}"))?;
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let longest_period = set.tasks.iter().map(|task| task.period).max().unwrap_or_default();
        let (mut worst, mut no_miss) = (vec![Duration::ZERO; set.tasks.len()], true);
        for run in 0..runs {
            let mut varied = set.clone();
            if run > 0 {
                for task in &mut varied.tasks {
                    task.offset = Duration::from_ns(numbers.random_range(0..task.period.as_ns().max(1)));
                    task.sporadic = numbers.random();
                }
            }
            // Every task has a job within a period of its offset, and another one.
            let horizon = Some(Duration::from_ns(longest_period.as_ns().saturating_mul(3)));
            let options =
                SegmentRunOptions { horizon, seed: seed.wrapping_add(run), device: &device, records_cores: false };
            let found = run_segment_tasks(&varied, test, options, Progress::NONE).map_err(|error| error.to_string())?;
            for job in &found.jobs {
                let (task, response) = (&set.tasks[job.task], job.response());
                no_miss &= task.priority.is_none() || response.is_some_and(|response| response <= task.deadline);
                worst[job.task] = worst[job.task].max(response.unwrap_or_default());
            }
        }
        Ok(Self { worst, no_miss })
    }

    /// Beside the bounds of a sound test, which none of them exceeds.
    fn against(&self, set: &SegmentTaskSet, test: SegmentTest) -> Result<OfRuns, String> {
        let bounds = test.bounds(set);
        let mut ratios = Vec::new();
        for ((task, bound), worst) in set.tasks.iter().zip(&bounds).zip(&self.worst) {
            let Some(bound) = bound.bound() else { continue };
            let subject = || format!("a job of {} under {} takes", task.name, test.name());
            BrokenBound::check(Some(*worst), ("the bound on all runs", Some(bound)), subject)
                .map_err(|broken| broken.to_string())?;
            ratios.push(1_000 * u128::from(worst.as_ns()) / u128::from(bound.as_ns().max(1)));
        }
        let mean = ratios.iter().sum::<u128>().checked_div(ratios.len() as u128);
        let found_permille_of_bound = mean.and_then(|mean| u64::try_from(mean).ok());
        Ok(OfRuns { no_miss: self.no_miss, found_permille_of_bound })
    }
}
