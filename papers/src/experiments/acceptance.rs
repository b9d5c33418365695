//! Acceptance ratios: how many of many random task sets each test accepts (RTNS 2020, Figs. 6 to 8).

use std::borrow::Cow;

use crate::tasks::{
    Generator, Partition, Periods, ReservationPeriod, ReservationTest, TaskSet, TaskTime, Utilizations, necessary,
};

/// Acceptance against the utilization of each SM's own tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What is drawn; its `single_permille` is replaced by each point's.
    pub generator: Generator,
    /// The points: utilization of each SM's own tasks \[thousandths\].
    pub points: Vec<u32>,
    /// Task sets a point.
    pub samples: u64,
    /// Seed.
    pub seed: u64,
    /// The tests.
    pub tests: Vec<ReservationTest>,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurvePoint {
    /// Utilization of each SM's own tasks \[thousandths\].
    pub single_permille: u32,
    /// Utilization of the gang tasks \[thousandths\].
    pub gang_permille: u32,
    /// Task sets drawn.
    pub samples: u64,
    /// How many satisfy the necessary condition.
    pub necessary: u64,
    /// How many each test accepts on all SMs and for the gang tasks.
    pub accepted: Vec<(ReservationTest, u64)>,
}

/// Our longest list of periods; the paper does not give its own. The hyperperiod is 600,000.
const PERIODS: [TaskTime; 12] =
    times([10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 75_000, 100_000, 120_000, 150_000]);

/// Where one period is enough: that of all tasks and of the reservation.
const ONE_PERIOD: [TaskTime; 1] = times([10_000]);
const TWO_PERIODS: [TaskTime; 2] = times([8_000, 12_000]);

const fn times<const N: usize>(units: [u64; N]) -> [TaskTime; N] {
    let mut times = [TaskTime::ZERO; N];
    let mut index = 0;
    while index < N {
        times[index] = TaskTime::from_units(units[index]);
        index += 1;
    }
    times
}

/// What the paper does not state of Figs. 6 and 7: periods, and the number of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// All tasks and the reservation have one period; three tasks on each SM, two gang tasks. The paper's claim holds.
    OnePeriod,
    /// Periods of 8,000 and 12,000, of tasks and reservation alike; one task on each SM, one gang task. It holds for
    /// most points.
    TwoPeriods,
    /// Twelve periods from 10,000 to 150,000, of tasks and reservation alike; three tasks on each SM, two gang tasks.
    /// It does not hold.
    TwelvePeriods,
}

impl Inputs {
    fn periods(self) -> &'static [TaskTime] {
        match self {
            Self::OnePeriod => &ONE_PERIOD,
            Self::TwoPeriods => &TWO_PERIODS,
            Self::TwelvePeriods => &PERIODS,
        }
    }

    /// Tasks on each SM, and gang tasks.
    const fn tasks(self) -> (usize, usize) {
        if matches!(self, Self::TwoPeriods) { (1, 1) } else { (3, 2) }
    }
}

/// How Theorem 6 is taken in Fig. 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theorem6 {
    /// Deadlines are periods, as section 6.3 assumes: the printed theorem is right.
    ImplicitDeadlines,
    /// The printed theorem for deadlines from 0.75 of the period, as section 7.1.1 draws them: unsound.
    AsPrinted,
    /// Made right for such deadlines.
    Corrected,
}

fn generator(gang_permille: u32, inputs: Inputs) -> Generator {
    let (tasks_per_sm, gang_tasks) = inputs.tasks();
    Generator {
        sms: 2,
        tasks_per_sm,
        gang_tasks,
        single_permille: 0,
        gang_permille,
        utilizations: Utilizations::UUniFast,
        periods: Periods::List(inputs.periods().to_vec()),
        reservation: ReservationPeriod::Drawn,
        deadline_percent: 75,
    }
}

fn paper_curve(gang_permille: u32, inputs: Inputs, samples: u64, seed: u64) -> Curve {
    let mut curve = Curve::new(generator(gang_permille, inputs), samples, seed);
    if inputs == Inputs::TwelvePeriods {
        // Only with several periods can a job have no chunk.
        curve.tests.push(ReservationTest::ChunksAsPrinted);
    }
    curve
}

/// Between the inputs of [`Inputs::OnePeriod`] and [`Inputs::TwelvePeriods`]: for the first 1, 2, … of the twelve
/// periods, a curve of the tests that the paper compares.
#[doc(hidden)]
pub fn more_and_more_periods(gang_permille: u32, samples: u64, seed: u64) -> Vec<Curve> {
    let with = |count: usize| {
        let mut generator = generator(gang_permille, Inputs::TwelvePeriods);
        generator.periods = Periods::List(PERIODS[..count].to_vec());
        let curve = Curve::new(generator, samples, seed);
        Curve { tests: vec![ReservationTest::Sbf, ReservationTest::Chunks], ..curve }
    };
    (1..=PERIODS.len()).map(with).collect()
}

impl Curve {
    /// Fig. 6: gang utilization 0.2.
    pub fn figure_6(inputs: Inputs, samples: u64, seed: u64) -> Self {
        paper_curve(200, inputs, samples, seed)
    }

    /// Fig. 7: gang utilization 0.5.
    pub fn figure_7(inputs: Inputs, samples: u64, seed: u64) -> Self {
        paper_curve(500, inputs, samples, seed)
    }

    /// Fig. 8: harmonic periods, gang utilization 0.2 and 0.5.
    pub fn figure_8(theorem: Theorem6, samples: u64, seed: u64) -> [Self; 2] {
        [200, 500].map(|gang| {
            let mut generator = generator(gang, Inputs::TwelvePeriods);
            generator.periods = Periods::Harmonic(PERIODS.to_vec());
            let own = match theorem {
                Theorem6::ImplicitDeadlines => {
                    generator.deadline_percent = 100;
                    vec![ReservationTest::PeriodicResource, ReservationTest::HarmonicAsPrinted]
                }
                Theorem6::AsPrinted => vec![ReservationTest::HarmonicAsPrinted],
                Theorem6::Corrected => vec![ReservationTest::Harmonic],
            };
            let mut curve = Self::new(generator, samples, seed);
            curve.tests = vec![ReservationTest::Sbf, ReservationTest::SbfLinear];
            curve.tests.extend(own);
            curve.tests.push(ReservationTest::Exact);
            curve
        })
    }

    /// The curve of all tests that apply to the generator's sets, with a point every 0.1 from 0.2 on.
    pub fn new(generator: Generator, samples: u64, seed: u64) -> Self {
        let mut tests = vec![ReservationTest::Sbf, ReservationTest::SbfLinear, ReservationTest::Chunks];
        tests.extend(matches!(generator.periods, Periods::Harmonic(_)).then_some(ReservationTest::Harmonic));
        tests.push(ReservationTest::Exact);
        Self { points: Self::steps(generator.gang_permille, 200, 100), generator, samples, seed, tests }
    }

    /// Points from `first` up by `step` as long as the necessary condition `U_1` + `U_B` <= 1 can hold.
    pub fn steps(gang_permille: u32, first: u32, step: u32) -> Vec<u32> {
        (first..=1000_u32.saturating_sub(gang_permille)).step_by(step.max(1) as usize).collect()
    }

    /// The point whose task sets were counted so, see `count`.
    pub(crate) fn counted(&self, single_permille: u32, counts: &[u64]) -> CurvePoint {
        CurvePoint {
            single_permille,
            gang_permille: self.generator.gang_permille,
            samples: counts[0],
            necessary: counts[1],
            accepted: self.tests.iter().copied().zip(counts[2..].iter().copied()).collect(),
        }
    }
}

impl CurvePoint {
    /// How many sets `test` accepts; `None` if it was not applied.
    pub fn count(&self, test: ReservationTest) -> Option<u64> {
        self.accepted.iter().find(|(other, _)| *other == test).map(|(_, count)| *count)
    }

    /// The share of sets that `test` accepts; `None` if it was not applied, or nothing was drawn.
    pub fn ratio(&self, test: ReservationTest) -> Option<f64> {
        let count = self.count(test)?;
        (self.samples > 0).then(|| count as f64 / self.samples as f64)
    }
}

/// Of these task sets, of which some could not be drawn: how many there are, satisfy the necessary condition, and pass
/// each test.
pub(crate) fn count_accepted<'s>(
    tests: &[ReservationTest],
    sets: impl Iterator<Item = Option<Cow<'s, TaskSet>>>,
) -> Vec<u64> {
    let mut counts = vec![0; tests.len() + 2];
    for set in sets.flatten() {
        counts[0] += 1;
        counts[1] += u64::from(necessary(&set) == Some(true));
        for (count, &test) in counts[2..].iter_mut().zip(tests) {
            *count += u64::from(accepts(test, &set));
        }
    }
    counts
}

/// The set of a sample; `None` if its utilization cannot be divided so.
pub(crate) fn drawn(generator: &Generator, seed: u64, sample: u64) -> Option<TaskSet> {
    generator.sample(seed, u64::from(generator.single_permille) << 40 | sample)
}

fn accepts(test: ReservationTest, set: &TaskSet) -> bool {
    let both = set.reservations.as_ref();
    both.is_some_and(|both| Partition::of(set, both).all(|partition| partition.verdict(set, test).is_yes()))
}
