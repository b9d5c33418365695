//! Acceptance of random sets of tasks with segments, and runs of them, as a study: what tests and runs say of one set,
//! and of those of a point.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::compute::{Point, Tally};
use super::grid::{self, Change, Files, Grid, Parameters, Read, keys};
use crate::broken_bound::BrokenBound;
use crate::effort::{self, Progress};
use crate::experiments::{Fields, number};
use crate::hosts::{SegmentRunOptions, run_segment_tasks};
use crate::json::{Node, Problem};
use crate::statistics::{Measure, Moments, PartsOfRuns};
use crate::tasks::segments::{
    GpuPolicy, GpuWait, Overload, SegmentGenerator, SegmentPreset, SegmentSets, SegmentTaskSet, SegmentTest, TaskBound,
};
use crate::time::{Duration, is_in_time};

/// One point: a distribution of sets, and what is asked of them.
#[derive(Clone)]
pub(super) struct SegmentPoint {
    preset: SegmentPreset,
    /// What is other than in the preset.
    changes: Vec<Change<SegmentGenerator>>,
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

/// How sets are drawn, where the paper and what its authors published differ.
const SETS: [(&str, SegmentSets); 2] = [("printed", SegmentSets::Printed), ("published", SegmentSets::Published)];
/// Whether all periods are drawn, or those of which each divides the longer ones.
const PERIODS_ARE: [(&str, bool); 2] = [("drawn", false), ("harmonic", true)];
/// Longest period \[ms\]: 2^48 ns.
const MAX_PERIOD_MS: u64 = 281_474_976;
const MAX_CPUS: u32 = 1_024;
const MAX_TASKS: u64 = 100;

impl Parameters for SegmentGenerator {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "best_effort_permille" => best_effort_permille: value.whole_u32(0, 1_000);
        "channel_reset" => gpu.channel_reset: value.time();
        "cpus" => cpus: value.whole_u32(1, MAX_CPUS);
        "gpu_segments" => gpu_segments: grid::range::<usize>(value, (1, MAX_TASKS));
        "gpu_tasks_permille" => gpu_tasks_permille: grid::range::<u32>(value, (0, 1_000));
        "gpu_to_cpu_permille" => gpu_to_cpu_permille: grid::range::<u32>(value, (0, 1_000_000));
        "misc_permille" => misc_permille: grid::range::<u32>(value, (0, 1_000));
        "period_ms" => period_ms: grid::range::<u64>(value, (1, MAX_PERIOD_MS));
        "periods_are" => harmonic_periods: grid::named(value, &PERIODS_ARE);
        "sets" => sets: grid::named(value, &SETS);
        "switch_cost" => gpu.switch_cost: value.time();
        "tasks" => tasks: value.whole_u32(1, 1_000);
        "tasks_per_cpu" => tasks_per_cpu: grid::range::<u32>(value, (1, MAX_TASKS));
        "time_slice" => gpu.time_slice: grid::positive(&value);
        "update_cost" => gpu.update_cost: value.time();
        "utilization_permille" => utilization_permille: grid::range::<u32>(value, (1, 1_000));
    };
}

impl Parameters for SegmentPoint {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        grid::FILES => files: {
            let sets = grid::each_text_file(value, files, |name, text| {
                SegmentTaskSet::from_json(name, text).map_err(|error| error.to_string())
            });
            sets.map(Arc::new)
        };
        "preset" => preset: grid::one_of(value, &SegmentPreset::ALL, SegmentPreset::name);
        "simulated_runs" => simulated_runs: value.whole_number(0, 1_000_000);
        "tests" => tests: grid::distinct(value, &SegmentTest::ALL, SegmentTest::name);
    };

    fn others() -> Vec<&'static str> {
        SegmentGenerator::keys()
    }

    fn read_other(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        let change = SegmentGenerator::read(key, value, files)?;
        Some(Self::set(change, |point, it| point.changes.push(it)))
    }

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
    grid::check_keys(grid, &["simulated_runs", "tests"])?;
    grid::check_count(points.iter().map(|point| Some(point.files.as_ref()?.len())), samples)?;
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

impl Point for SegmentPoint {
    type Kept<'p> = ();

    fn columns() -> &'static str {
        &COLUMNS
    }

    fn values(&self, samples: Range<u64>, (): &mut ()) -> Result<String, String> {
        let set = self.sample(samples.start);
        let outcome = outcome(self, &set, self.seed.wrapping_add(samples.start))?;
        effort::check().map_err(|over| over.to_string())?;
        Ok(outcome.to_string())
    }

    fn input(&self, sample: u64) -> Result<String, String> {
        Ok(self.sample(sample).to_json())
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(SegmentTally::default())
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
        // Nothing of it counts but that it takes one kernel: contexts come by turns.
        let device = grid::default_device()?;
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
                no_miss &= task.priority.is_none() || response.is_some_and(|end| is_in_time(end, task.deadline));
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

/// What runs of a set show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OfRuns {
    /// Whether no job was late in any.
    pub(super) no_miss: bool,
    /// The longest response found in parts of the bound \[thousandths\], the mean over tasks that have one.
    pub(super) found_permille_of_bound: Option<u64>,
}

/// One set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentOutcome {
    /// What all its tasks need, in parts of the cores \[thousandths\].
    load_permille: u64,
    /// Whether nothing is known that no schedule could give it, where tasks are suspended and where they are busy.
    pub(super) necessary: [bool; 2],
    /// By the test's name: whether it accepts the set. Those that were not applied are missing.
    pub(super) accepted: BTreeMap<&'static str, bool>,
    /// By the name of the sound test that shares the GPU likewise.
    pub(super) runs: BTreeMap<&'static str, OfRuns>,
}

/// The names of columns and measures.
struct Names {
    /// Of each test: accepted, and that weighted by utilization.
    tests: Vec<(&'static str, String)>,
    /// Of each sound test: its own, no miss in any run, and found / bound.
    runs: Vec<(&'static str, String, String)>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| Names {
    tests: SegmentTest::ALL.iter().map(|test| (test.name(), format!("{}_weighted", test.name()))).collect(),
    runs: SegmentTest::sound()
        .map(|test| (test.name(), format!("{}_no_miss", test.name()), format!("{}_found_over_bound", test.name())))
        .collect(),
});

const NECESSARY: [&str; 2] = ["necessary-suspend", "necessary-busy"];

/// The columns of a row.
pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    let first = ["load_permille"].into_iter().chain(NECESSARY).map(str::to_owned);
    let tests = NAMES.tests.iter().map(|(name, _)| (*name).to_owned());
    let runs = NAMES.runs.iter().flat_map(|(_, no_miss, ratio)| [no_miss.clone(), format!("{ratio}_permille")]);
    first.chain(tests).chain(runs).collect::<Vec<_>>().join(",")
});

impl SegmentOutcome {
    pub(super) fn new(load_permille: u64) -> Self {
        Self { load_permille, necessary: [true; 2], accepted: BTreeMap::new(), runs: BTreeMap::new() }
    }

    fn parse(values: &str) -> Option<Self> {
        let mut fields = Fields::of(values, ',');
        let [load_permille] = fields.each(number)?;
        let mut read = Self { necessary: fields.each(flag)?, ..Self::new(load_permille) };
        for (name, _) in &NAMES.tests {
            let [is_accepted] = fields.each_if_any(flag)?;
            read.accepted.extend(is_accepted.map(|is_accepted| (*name, is_accepted)));
        }
        for (name, ..) in &NAMES.runs {
            let [no_miss] = fields.each_if_any(flag)?;
            let [found_permille_of_bound] = fields.each_if_any(number)?;
            read.runs.extend(no_miss.map(|no_miss| (*name, OfRuns { no_miss, found_permille_of_bound })));
        }
        fields.end(read)
    }
}

fn flag(field: &str) -> Option<bool> {
    match field {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

impl fmt::Display for SegmentOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [suspend, busy] = self.necessary.map(u8::from);
        write!(f, "{},{suspend},{busy}", self.load_permille)?;
        let or_empty = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        for (name, _) in &NAMES.tests {
            write!(f, ",{}", or_empty(self.accepted.get(name).copied().map(u64::from)))?;
        }
        for (name, ..) in &NAMES.runs {
            let of = self.runs.get(name);
            let ratio = of.and_then(|of| of.found_permille_of_bound);
            write!(f, ",{},{}", or_empty(of.map(|of| u64::from(of.no_miss))), or_empty(ratio))?;
        }
        Ok(())
    }
}

/// The sets of a point, which are drawn independently of each other.
#[derive(Debug, Default)]
pub(super) struct SegmentTally {
    necessary: [PartsOfRuns; 2],
    /// By test: of how many sets it accepts which, plain and weighted by utilization (A. Bastoni, B. B. Brandenburg and
    /// J. H. Anderson, "Cache-related preemption and migration delays", OSPERT 2010).
    accepted: BTreeMap<&'static str, [PartsOfRuns; 2]>,
    runs: BTreeMap<&'static str, (PartsOfRuns, Moments)>,
}

impl Tally for SegmentTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        let SegmentOutcome { load_permille, necessary, accepted, runs } = SegmentOutcome::parse(values)?;
        for (sum, holds) in self.necessary.iter_mut().zip(necessary) {
            sum.add(u64::from(holds), 1);
        }
        for (name, is_accepted) in accepted {
            let [plain, weighted] = self.accepted.entry(name).or_default();
            plain.add(u64::from(is_accepted), 1);
            weighted.add(if is_accepted { load_permille } else { 0 }, load_permille);
        }
        for (name, OfRuns { no_miss, found_permille_of_bound }) in runs {
            let (sum, ratios) = self.runs.entry(name).or_default();
            sum.add(u64::from(no_miss), 1);
            if let Some(ratio) = found_permille_of_bound {
                ratios.add(ratio as f64 / 1_000.0);
            }
        }
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let applied =
            || NAMES.tests.iter().filter_map(|(name, weighted)| Some((*name, &**weighted, self.accepted.get(name)?)));
        let run =
            || NAMES.runs.iter().filter_map(|(name, no_miss, ratio)| Some((no_miss, ratio, self.runs.get(name)?)));
        let necessary = NECESSARY.into_iter().zip(self.necessary.map(Measure::PartsOfRuns));
        let plain = applied().map(|(name, _, sums)| (name, Measure::PartsOfRuns(sums[0])));
        let no_miss = run().map(|(name, _, (sum, _))| (&**name, Measure::PartsOfRuns(*sum)));
        let weighted = applied().map(|(_, name, sums)| (name, Measure::PartsOfRuns(sums[1])));
        let ratios = run().map(|(_, name, (_, ratios))| (&**name, ratios.measure()));
        necessary.chain(plain).chain(no_miss).chain(weighted).chain(ratios).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(load: u64, accepted: bool, no_miss: bool, ratio: Option<u64>) -> SegmentOutcome {
        let mut outcome = SegmentOutcome::new(load);
        outcome.accepted.insert("gcaps-suspend", accepted);
        outcome.runs.insert("gcaps-suspend", OfRuns { no_miss, found_permille_of_bound: ratio });
        outcome
    }

    #[test]
    fn a_row_is_read_back() {
        let row = outcome(512, true, false, Some(250));
        assert_eq!(SegmentOutcome::parse(&row.to_string()), Some(row.clone()));
        assert_eq!(row.to_string().split(',').count(), COLUMNS.split(',').count());
        for wrong in ["", "512,1", "512,1,2"] {
            assert_eq!(SegmentOutcome::parse(wrong), None, "{wrong}");
        }
    }

    /// Accepted are sets of 200 and 400 thousandths, and not one of 600: half of all utilization.
    #[test]
    fn weighted_shares_are_of_utilization() {
        let mut tally = SegmentTally::default();
        for (load, accepted, ratio) in [(200, true, Some(500)), (400, true, Some(1_000)), (600, false, None)] {
            tally.add(1, &outcome(load, accepted, true, ratio).to_string()).expect("it is a row");
        }
        let value =
            |name: &str| tally.measures().iter().find(|(other, _)| *other == name).and_then(|(_, it)| it.value());
        assert_eq!((value("gcaps-suspend"), value("gcaps-suspend_weighted")), (Some(2.0 / 3.0), Some(0.5)));
        assert_eq!((value("gcaps-suspend_no_miss"), value("gcaps-suspend_found_over_bound")), (Some(1.0), Some(0.75)));
        assert_eq!((value("necessary-busy"), value("mpcp-busy")), (Some(1.0), None));
    }
}
