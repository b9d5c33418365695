//! Acceptance ratios of random task sets, as a study.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::StudyError;
use super::compute::{Layout, Point, Points, StudyCommand, Tally, compute_all};
use super::grid::{self, Grid, Parameters, Read, keys};
use crate::effort;
use crate::experiments::acceptance::{Curve, CurvePoint, count_accepted, drawn};
use crate::experiments::{Fields, number};
use crate::json::{Node, Problem};
use crate::statistics::Measure;
use crate::tasks::{
    Generator, Periods, ReservationPeriod, ReservationTest, Reservations, TaskSet, TaskTime, Utilizations,
};

/// One point: a distribution of task sets, and the tests applied to them.
#[derive(Debug, Clone)]
pub(super) struct CurveParameters {
    generator: Generator,
    periods: Vec<TaskTime>,
    periods_are: PeriodsAre,
    /// Instead: the sets of files, by their names.
    files: Option<Arc<Vec<(String, TaskSet)>>>,
    tests: Vec<ReservationTest>,
    seed: u64,
}

/// How the list of periods is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeriodsAre {
    List,
    Harmonic,
    LogUniform,
}

const PERIODS_ARE: [(&str, PeriodsAre); 3] =
    [("list", PeriodsAre::List), ("harmonic", PeriodsAre::Harmonic), ("log-uniform", PeriodsAre::LogUniform)];
const RESERVATIONS: [(&str, ReservationPeriod); 2] =
    [("drawn", ReservationPeriod::Drawn), ("shortest", ReservationPeriod::Shortest)];

/// Most tasks on an SM, or of all SMs.
const MAX_TASKS: u32 = 1_000;

impl Default for CurveParameters {
    /// As `gpusched tasks curve` without options, at utilization 0.2.
    fn default() -> Self {
        Self {
            generator: Generator {
                sms: 2,
                tasks_per_sm: 3,
                gang_tasks: 2,
                single_permille: 200,
                gang_permille: 200,
                utilizations: Utilizations::UUniFast,
                periods: Periods::List(Vec::new()),
                reservation: ReservationPeriod::Drawn,
                deadline_percent: 75,
            },
            periods: [10_000, 20_000, 25_000, 40_000, 50_000, 100_000].map(TaskTime::from_units).to_vec(),
            periods_are: PeriodsAre::List,
            files: None,
            tests: vec![
                ReservationTest::Sbf,
                ReservationTest::SbfLinear,
                ReservationTest::Chunks,
                ReservationTest::Exact,
            ],
            seed: 0,
        }
    }
}

impl Parameters for CurveParameters {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "deadlines_from_percent" => generator.deadline_percent: value.whole_u32(0, 100);
        grid::FILES => files: {
            // It measures the kernels of sets, as of `gpusched tasks`.
            let device = grid::default_device().map_err(|what| value.problem(what))?;
            let sets = grid::each_text_file(value, files, |name, text| {
                let set = TaskSet::from_json(name, text, &device).map_err(|error| error.to_string())?;
                Ok((name.to_owned(), set))
            });
            sets.map(Arc::new)
        };
        "gang_tasks" => generator.gang_tasks: value.whole_u32(0, MAX_TASKS).map(|tasks| tasks as usize);
        "gang_utilization_permille" => generator.gang_permille: value.whole_u32(0, 1_000);
        "periods" => periods: {
            let help = "two periods with \"periods_are\": \"log-uniform\" are the shortest and the longest";
            let periods = value.filled_list().map_err(|problem| problem.with_help(help))?.into_iter();
            let periods = periods.map(|period| period.whole_number(1, 1 << 48).map(TaskTime::from_units));
            periods.collect::<Result<Vec<TaskTime>, Problem>>()
        };
        "periods_are" => periods_are: grid::named(value, &PERIODS_ARE);
        "reservation_period" => generator.reservation: if value.is_string() {
            grid::named(value, &RESERVATIONS)
        } else {
            value.whole_number(1, 1 << 48).map(|units| ReservationPeriod::Fixed(TaskTime::from_units(units)))
        };
        "sms" => generator.sms: value.whole_u32(1, 128);
        "tasks_per_sm" => generator.tasks_per_sm: value.whole_u32(0, MAX_TASKS).map(|tasks| tasks as usize);
        "tests" => tests: grid::distinct(value, &ReservationTest::ALL, ReservationTest::name);
        "utilization_permille" => generator.single_permille: value.whole_u32(0, 1_000);
        "utilizations" => generator.utilizations: grid::one_of(value, &Utilizations::ALL, Utilizations::name);
    };

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

/// The sets of files with the reservation of a point, if they have one or the point states its period.
fn with_reservations(point: &CurveParameters, sets: &[(String, TaskSet)]) -> Result<Vec<(String, TaskSet)>, String> {
    let mut sets = sets.to_vec();
    for (name, set) in &mut sets {
        match point.generator.reservation {
            ReservationPeriod::Fixed(period) => set.reservations = Some(Reservations::proportional(set, period)),
            _ if set.reservations.is_none() => {
                return Err(format!(
                    "{name} has no reservation, which the tests are about: state \"reservation_period\" to choose one"
                ));
            }
            _ => {}
        }
    }
    Ok(sets)
}

/// The points with their periods, if they have tasks and sound periods.
pub(super) fn checked(
    grid: &Grid<'_>,
    mut points: Vec<CurveParameters>,
    samples: (u64, Node<'_>),
) -> Result<Vec<CurveParameters>, Problem> {
    grid::check_keys(grid, &["reservation_period", "tests"])?;
    grid::check_count(points.iter().map(|point| Some(point.files.as_ref()?.len())), samples)?;
    let node = grid.parameters.or(grid.axes).unwrap_or(grid.root);
    let states_reservation = grid.keys()?.iter().any(|(key, _)| key == "reservation_period");
    for point in &mut points {
        if let Some(sets) = &point.files {
            if states_reservation && !matches!(point.generator.reservation, ReservationPeriod::Fixed(_)) {
                return Err(node.problem("\"reservation_period\" of sets in files is a number"));
            }
            point.files = Some(Arc::new(with_reservations(point, sets).map_err(|what| node.problem(what))?));
            continue;
        }
        if point.generator.tasks_per_sm + point.generator.gang_tasks == 0 {
            return Err(node.problem("tasks_per_sm and gang_tasks are both 0: there are no tasks"));
        }
        let periods = point.periods.clone();
        point.generator.periods = match (point.periods_are, &periods[..]) {
            (PeriodsAre::List, _) => Periods::List(periods),
            (PeriodsAre::Harmonic, _) => {
                if let ReservationPeriod::Fixed(own) = point.generator.reservation
                    && !periods.iter().any(|task| task.is_multiple_of(own) || own.is_multiple_of(*task))
                {
                    let what = "reservation_period: no period of the list divides it or is a multiple of it";
                    return Err(node.problem(what));
                }
                Periods::Harmonic(periods)
            }
            (PeriodsAre::LogUniform, &[least, most]) if least <= most => Periods::LogUniform(least, most),
            (PeriodsAre::LogUniform, _) => {
                return Err(node.problem("log-uniform periods need two periods, the shortest and the longest"));
            }
        };
    }
    Ok(points)
}

impl CurveParameters {
    /// The set of a sample; `None` if its utilization cannot be divided so.
    fn of_sample(&self, sample: u64) -> Option<Cow<'_, TaskSet>> {
        match &self.files {
            Some(sets) => sets.get(usize::try_from(sample).ok()?).map(|(_, set)| Cow::Borrowed(set)),
            None => drawn(&self.generator, self.seed, sample).map(Cow::Owned),
        }
    }
}

impl Point for CurveParameters {
    type Kept<'p> = ();

    fn columns() -> &'static str {
        "drawn,necessary,sbf,sbf-linear,chunks,harmonic,digraph,exact,periodic-resource,chunks-as-printed,harmonic-as-printed"
    }

    fn values(&self, samples: Range<u64>, (): &mut ()) -> Result<String, String> {
        let counts = count_accepted(&self.tests, samples.map(|sample| self.of_sample(sample)));
        let accepted = ReservationTest::ALL.map(|test| self.tests.iter().position(|other| *other == test));
        let places = [Some(0), Some(1)].into_iter().chain(accepted.map(|place| place.map(|place| place + 2)));
        let fields: Vec<String> =
            places.map(|place| place.map_or_else(String::new, |place| counts[place].to_string())).collect();
        Ok(fields.join(","))
    }

    fn input(&self, sample: u64) -> Result<String, String> {
        let set = self.of_sample(sample).ok_or_else(|| "the utilization cannot be divided so".to_owned())?;
        Ok(set.to_json())
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(AcceptanceTally::new(&self.tests))
    }
}

/// Sums of the columns; a test that is not applied has none.
struct AcceptanceTally {
    samples: u64,
    counts: [Option<u64>; 2 + ReservationTest::ALL.len()],
}

impl AcceptanceTally {
    fn new(tests: &[ReservationTest]) -> Self {
        let mut counts = [Some(0); 2 + ReservationTest::ALL.len()];
        for (count, test) in counts[2..].iter_mut().zip(ReservationTest::ALL) {
            *count = tests.contains(&test).then_some(0);
        }
        Self { samples: 0, counts }
    }
}

impl Tally for AcceptanceTally {
    fn add(&mut self, samples: u64, values: &str) -> Option<()> {
        self.samples += samples;
        let mut fields = Fields::of(values, ',');
        let counts: [Option<u64>; 2 + ReservationTest::ALL.len()] = fields.each_if_any(number)?;
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            match (sum, count) {
                (Some(sum), Some(count)) => *sum += count,
                (None, None) => {}
                _ => return None,
            }
        }
        fields.end(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let drawn = self.counts[0].unwrap_or(0);
        let names = ["drawn", "necessary"].into_iter().chain(ReservationTest::ALL.map(ReservationTest::name));
        let share = |(index, (name, count)): (usize, (&'static str, &Option<u64>))| {
            Some((name, Measure::Share { count: (*count)?, of: if index == 0 { self.samples } else { drawn } }))
        };
        names.zip(&self.counts).enumerate().filter_map(share).collect()
    }
}

impl Curve {
    /// Computes one point on rayon's current threads, as a study of one point. `done` is told how many task sets were
    /// tried since it was last called. The result depends on the curve only.
    ///
    /// # Errors
    /// None that task sets give; [`StudyError`] is what all studies may return.
    pub fn point(&self, single_permille: u32, done: impl Fn(u64) + Sync) -> Result<CurvePoint, StudyError> {
        let parameters = CurveParameters {
            generator: Generator { single_permille, ..self.generator.clone() },
            tests: self.tests.clone(),
            seed: self.seed,
            ..CurveParameters::default()
        };
        let command = StudyCommand::TasksCurve;
        let layout = Layout { points: 1, samples: self.samples, per_row: command.samples_per_row() };
        let mut tally = AcceptanceTally::new(&self.tests);
        compute_all(&Points(vec![parameters]), (layout, command), |row| {
            tally.add(row.place.samples, &row.values)?;
            done(row.place.samples);
            Some(())
        })?;
        effort::check()?;
        let of_test = |test: &ReservationTest| ReservationTest::ALL.iter().position(|other| other == test);
        let places = [Some(0), Some(1)].into_iter().chain(self.tests.iter().map(|test| Some(of_test(test)? + 2)));
        let counts: Vec<u64> = places.map(|place| place.and_then(|place| tally.counts[place]).unwrap_or(0)).collect();
        Ok(self.counted(single_permille, &counts))
    }
}
