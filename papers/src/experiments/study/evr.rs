//! Applications with timing requirements under GPU-EvR and other schedulers, as a study, and points of curves over
//! applications that are injected at random, which are computed as rows of one.

use std::ops::Range;
use std::sync::Arc;

use super::StudyError;
use super::compute::{Experiment, Layout, Point, Points, StudyCommand, Tally, Worker, compute_all};
use super::grid::{self, Grid, Parameters, Read, keys};
use crate::applications::{ApplicationSet, Injections, MAX_INJECTIONS, Outcome, Variation};
use crate::device::Device;
use crate::effort;
use crate::experiments::evr::{PointTally, SweepOptions, SweepPoint};
use crate::experiments::{Fields, number};
use crate::hosts::gpu_evr::{EvrRules, MAX_SMS};
use crate::hosts::{Alone, Scheduler};
use crate::json::{Node, Problem};
use crate::statistics::Measure;
use crate::time::Duration;

/// The loosest requirement that a study may ask for \[percent of the execution time\].
const MAX_TIGHTNESS_PERCENT: u32 = 1_000_000;

/// One point as the study file states it.
#[derive(Debug, Clone)]
pub(super) struct EvrParameters {
    /// Name and text of the application file.
    applications: Option<Arc<(String, String)>>,
    device: Option<Arc<Device>>,
    scheduler: Scheduler,
    inject: Option<u32>,
    gap: Duration,
    per_period: Option<u32>,
    period: Duration,
    periods: u32,
    variation: Variation,
    rules: EvrRules,
    seed: u64,
}

impl Default for EvrParameters {
    /// As `gpusched evr` without options.
    fn default() -> Self {
        Self {
            applications: None,
            device: None,
            scheduler: Scheduler::ALL[0],
            inject: None,
            gap: Duration::from_ns(500_000_000),
            per_period: None,
            period: Duration::from_ns(1_000_000_000),
            periods: 10,
            variation: Variation::default(),
            rules: EvrRules::default(),
            seed: 0,
        }
    }
}

/// A number of applications or of periods.
fn count(value: Node<'_>) -> Result<u32, Problem> {
    value.whole_u32(1, MAX_INJECTIONS)
}

impl Parameters for EvrParameters {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "applications" => applications: {
            let name = value.string()?;
            let text = match ApplicationSet::builtin_json(&name) {
                Some(text) => text.to_owned(),
                None => files.text(value, &name)?,
            };
            Ok(Arc::new((name, text)))
        };
        "device" => device: grid::device(value, files).map(Arc::new);
        "execution" => variation.execution: value.time();
        "gap" => gap: value.time();
        "inject" => inject: count(value);
        "per_period" => per_period: count(value);
        "period" => period: value.time();
        "periods" => periods: count(value);
        "rules" => rules: {
            let mut rules = EvrRules::default();
            for (key, node) in value.object()?.into_distinct_entries()? {
                rules.set(&key, &node.string()?).map_err(|error| node.problem(error.to_string()))?;
            }
            Ok(rules)
        };
        "saturation_sms" => variation.saturation_sms: value.whole_u32(1, MAX_SMS);
        "scheduler" => scheduler: grid::one_of(value, &Scheduler::ALL, Scheduler::name);
        "tightness_percent" => variation.tightness_percent: value.whole_u32(1, MAX_TIGHTNESS_PERCENT);
    };

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

/// One point, ready to be run.
#[derive(Debug)]
pub(super) struct EvrPoint {
    pub(super) set: Arc<ApplicationSet>,
    pub(super) scheduler: Scheduler,
    pub(super) injections: Injections,
    pub(super) rules: EvrRules,
    pub(super) seed: u64,
}

/// A varied application file on a device, as it was read.
struct KnownSet {
    applications: Arc<(String, String)>,
    device: Option<Arc<Device>>,
    variation: Variation,
    set: Arc<ApplicationSet>,
}

/// A key, at which points it has an effect, and what it needs for that.
type Need = (&'static str, fn(&EvrParameters) -> bool, &'static str);

const NEEDS: [Need; 4] = [
    ("gap", |point| point.inject.is_some(), "\"inject\""),
    ("period", |point| point.per_period.is_some(), "\"per_period\""),
    ("periods", |point| point.per_period.is_some(), "\"per_period\""),
    ("rules", |point| point.scheduler == Scheduler::GpuEvr, "the scheduler gpu-evr"),
];

/// The points, each with its applications and injections.
pub(super) fn checked(grid: &Grid<'_>, points: &[EvrParameters]) -> Result<Vec<EvrPoint>, Problem> {
    let node = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    for (stated, value) in grid.keys()? {
        let need = NEEDS.iter().find(|(key, ..)| *key == stated);
        if let Some((key, _, what)) = need.filter(|(_, has_effect, _)| !points.iter().any(has_effect)) {
            return Err(value.problem(format!("{key:?} has no effect at any point: it needs {what}")));
        }
    }
    let mut known: Vec<KnownSet> = Vec::new();
    points.iter().map(|point| checked_point(node, point, &mut known)).collect()
}

fn checked_point(node: Node<'_>, point: &EvrParameters, known: &mut Vec<KnownSet>) -> Result<EvrPoint, Problem> {
    let Some(applications) = &point.applications else {
        return Err(node
            .problem("no applications are stated")
            .with_help("add \"applications\": a built-in set or a file"));
    };
    let same_device = |other: &Option<Arc<Device>>| match (other, &point.device) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    };
    let found = known.iter().find(|known| {
        Arc::ptr_eq(&known.applications, applications)
            && same_device(&known.device)
            && known.variation == point.variation
    });
    let set = if let Some(known) = found {
        Arc::clone(&known.set)
    } else {
        let set = ApplicationSet::from_json(&applications.0, &applications.1, point.device.as_deref().cloned());
        let set = set.map_err(|error| node.problem(error.to_string()))?;
        // Without a load to be set, the mean gap plays no part.
        let set = point.variation.apply(&set, Duration::ZERO).map_err(|error| node.problem(error.to_string()))?;
        let set = Arc::new(set);
        let (applications, device) = (Arc::clone(applications), point.device.clone());
        known.push(KnownSet { applications, device, variation: point.variation, set: Arc::clone(&set) });
        set
    };
    point.scheduler.check(&set.device).map_err(|error| node.problem(error.to_string()))?;
    let injections = match (point.inject, point.per_period) {
        (Some(_), Some(_)) => return Err(node.problem("\"inject\" and \"per_period\" exclude each other")),
        (Some(count), None) => Injections::Random { count, gap: point.gap },
        (None, Some(count)) => Injections::PerPeriod { count, period: point.period, periods: point.periods },
        (None, None) => set.generator.ok_or_else(|| {
            node.problem("nothing is drawn: the applications state arrivals")
                .with_help("add \"inject\" or \"per_period\"")
        })?,
    };
    // One draw tells whether all can be drawn.
    injections.draw(&set, point.seed, 0).map_err(|error| node.problem(error.to_string()))?;
    Ok(EvrPoint { set, scheduler: point.scheduler, injections, rules: point.rules, seed: point.seed })
}

/// How many applications are injected, in all or in each of so many periods.
pub(super) fn periods(injections: Injections) -> (u32, u32) {
    match injections {
        Injections::PerPeriod { count, periods, .. } => (count, periods),
        Injections::Random { count, .. } => (count, 1),
    }
}

impl Point for EvrPoint {
    /// The applications of the row computed last, to get injections, and what they take alone.
    type Kept<'p> = Option<(Arc<ApplicationSet>, ApplicationSet, Alone)>;

    fn columns() -> &'static str {
        "met,violation_ns,utilization,mean_power_w,application_power_w,energy_per_application_j"
    }

    fn values(&self, samples: Range<u64>, kept: &mut Self::Kept<'_>) -> Result<String, String> {
        if !kept.as_ref().is_some_and(|(of, ..)| Arc::ptr_eq(of, &self.set)) {
            *kept = None;
        }
        let (_, own, alone) =
            kept.get_or_insert_with(|| (Arc::clone(&self.set), (*self.set).clone(), Alone::default()));
        // A row has one sample: quantities of several would have to be rounded.
        own.injections =
            self.injections.draw(&self.set, self.seed, samples.start).map_err(|error| error.to_string())?;
        let usage = self.scheduler.totals(own, self.rules, alone).map_err(|error| error.to_string())?;
        let outcome = Outcome::of_usage(own, self.scheduler.name(), usage);
        Ok(PointTally::quantities(&outcome).map(|quantity| quantity.to_string()).join(","))
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(EvrTally { periods: periods(self.injections).1, sums: PointTally::default() })
    }
}

struct EvrTally {
    periods: u32,
    sums: PointTally,
}

pub(super) fn quantities(values: &str) -> Option<[f64; 6]> {
    let mut fields = Fields::of(values, ',');
    let quantities = fields.each(number)?;
    fields.end(quantities)
}

impl Tally for EvrTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        self.sums.add(quantities(values)?, self.periods);
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        self.sums.measures()
    }
}

/// DATE 2014, Figures 3 to 5: `counts` applications, each up to `gap` after the one before.
///
/// # Errors
/// As [`sample_applications`].
pub fn random_injection(
    set: &ApplicationSet,
    counts: &[u32],
    gap: Duration,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    all_points(set, counts.iter().map(|&count| Injections::Random { count, gap }), options)
}

/// DATE 2014, Figure 6: `counts` applications in each of `periods` periods; met and violations are per period.
///
/// # Errors
/// As [`sample_applications`].
pub fn per_period(
    set: &ApplicationSet,
    counts: &[u32],
    period: Duration,
    periods: u32,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    all_points(set, counts.iter().map(|&count| Injections::PerPeriod { count, period, periods }), options)
}

/// Runs every sample of one kind of injections under every scheduler; means and spreads are in the order of the
/// schedulers. Of samples that were run, `done` hears. When the work is stopped, the points are of what was complete by
/// then, and schedulers of which no sample was are not among them.
///
/// # Errors
/// [`StudyError::Sample`] if nothing can be injected, or the applications cannot be run; [`StudyError::EarlyEnd`] if
/// nothing was complete when it was stopped.
pub fn sample_applications(
    set: &ApplicationSet,
    injections: Injections,
    options: &SweepOptions,
    done: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<SweepPoint>, StudyError> {
    let points = points(set, std::iter::once(injections), options, done)?;
    if points.is_empty() {
        effort::check()?;
    }
    Ok(points)
}

/// [`points`], if all of their samples are complete.
fn all_points(
    set: &ApplicationSet,
    injections: impl Iterator<Item = Injections>,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    let points = points(set, injections, options, &mut |_| {})?;
    effort::check()?;
    Ok(points)
}

/// A study whose points are samples of another, and the samples of each the points of that.
struct BySample<'a>(&'a Points<EvrPoint>);

impl Experiment for BySample<'_> {
    fn worker(&self) -> Worker<'_> {
        let mut worker = self.0.worker();
        // A row has one sample.
        Box::new(move |sample, points| worker(points.start, sample..sample + 1))
    }
}

/// A study with one point for each kind of injections and scheduler.
fn points(
    set: &ApplicationSet,
    injections: impl Iterator<Item = Injections>,
    options: &SweepOptions,
    done: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<SweepPoint>, StudyError> {
    let set = Arc::new(set.clone());
    let (seed, rules) = (options.seed, options.rules);
    let mut experiment = Points(Vec::new());
    for injections in injections {
        let point = |&scheduler| EvrPoint { set: Arc::clone(&set), scheduler, injections, rules, seed };
        experiment.0.extend(options.schedulers.iter().map(point));
    }
    let points = &experiment.0;
    // Each sample is run of all points before the next one is, so that they have equally many whenever it ends.
    let layout = Layout { points: u64::from(options.samples), samples: points.len() as u64, per_row: 1 };
    let mut tallies = vec![PointTally::default(); points.len()];
    compute_all(&BySample(&experiment), (layout, StudyCommand::Evr), |row| {
        let place = usize::try_from(row.place.first).ok()?;
        let (point, tally) = points.get(place).zip(tallies.get_mut(place))?;
        done(1);
        tally.add(quantities(&row.values)?, periods(point.injections).1);
        Some(())
    })
    .map_err(|error| match error {
        StudyError::Sample { point, first, what, .. } => {
            StudyError::Sample { point: first, first: point, last: point, what }
        }
        error => error,
    })?;
    let of = |(point, tally): (&EvrPoint, &PointTally)| {
        tally.point(point.scheduler.name().to_owned(), set.synthetic, periods(point.injections).0)
    };
    Ok(points.iter().zip(&tallies).map(of).filter(|point| point.samples > 0).collect())
}
