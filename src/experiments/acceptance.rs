//! Acceptance ratios: how many of many random task sets each test accepts (RTNS 2020, Figs. 6 to 8).

use std::fmt::Write;
use std::ops::Range;

use crate::tasks::{
    Generator, Partition, Periods, ReservationPeriod, ReservationTest, TaskSet, Utilizations, necessary,
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

/// Our list of periods; the paper does not give its own. The hyperperiod is 600,000.
const PERIODS: [u64; 12] =
    [10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 75_000, 100_000, 120_000, 150_000];

/// Tasks on each SM, and gang tasks; the paper does not give them.
const TASKS_PER_SM: usize = 3;
const GANG_TASKS: usize = 2;

/// Fig. 6: gang utilization 0.2.
#[must_use]
pub fn figure_6(samples: u64, seed: u64) -> Curve {
    paper_curve(200, Periods::List(PERIODS.to_vec()), samples, seed)
}

/// Fig. 7: gang utilization 0.5.
#[must_use]
pub fn figure_7(samples: u64, seed: u64) -> Curve {
    paper_curve(500, Periods::List(PERIODS.to_vec()), samples, seed)
}

/// Fig. 8: harmonic periods, gang utilization 0.2 and 0.5.
#[must_use]
pub fn figure_8(samples: u64, seed: u64) -> [Curve; 2] {
    [200, 500].map(|gang| paper_curve(gang, Periods::Harmonic(PERIODS.to_vec()), samples, seed))
}

fn paper_curve(gang_permille: u32, periods: Periods, samples: u64, seed: u64) -> Curve {
    let generator = Generator {
        sms: 2,
        tasks_per_sm: TASKS_PER_SM,
        gang_tasks: GANG_TASKS,
        single_permille: 0,
        gang_permille,
        utilizations: Utilizations::UUniFast,
        periods,
        reservation: ReservationPeriod::Drawn,
        deadline_percent: 75,
    };
    Curve::new(generator, samples, seed)
}

impl Curve {
    /// The curve of all tests that apply to the generator's sets, with a point every 0.1 from 0.2 on.
    #[must_use]
    pub fn new(generator: Generator, samples: u64, seed: u64) -> Self {
        let mut tests = vec![ReservationTest::Sbf, ReservationTest::SbfLinear, ReservationTest::Chunks];
        tests.extend(matches!(generator.periods, Periods::Harmonic(_)).then_some(ReservationTest::Harmonic));
        tests.push(ReservationTest::Exact);
        Self { points: Self::steps(generator.gang_permille, 200, 100), generator, samples, seed, tests }
    }

    /// Points from `first` up by `step` as long as the necessary condition `U_1` + `U_B` <= 1 can hold.
    #[must_use]
    pub fn steps(gang_permille: u32, first: u32, step: u32) -> Vec<u32> {
        (first..=1000_u32.saturating_sub(gang_permille)).step_by(step.max(1) as usize).collect()
    }

    /// The point whose task sets were counted so, see [`count`].
    pub(crate) fn counted(&self, single_permille: u32, counts: &[u64]) -> CurvePoint {
        CurvePoint {
            single_permille,
            gang_permille: self.generator.gang_permille,
            samples: counts[0],
            necessary: counts[1],
            accepted: self.tests.iter().copied().zip(counts[2..].iter().copied()).collect(),
        }
    }

    /// The header of the curve's table, without a line end.
    #[must_use]
    pub fn csv_header(&self) -> String {
        let mut header = "gang_utilization,single_utilization,samples,necessary".to_owned();
        for test in &self.tests {
            header += ",";
            header += test.name();
        }
        header
    }
}

impl CurvePoint {
    /// One line of the curve's table, without a line end.
    #[must_use]
    pub fn csv_line(&self) -> String {
        let mut line = format!(
            "{},{},{},{}",
            decimal(self.gang_permille),
            decimal(self.single_permille),
            self.samples,
            self.necessary
        );
        for (_, count) in &self.accepted {
            // Writing to a string cannot fail.
            let _ = write!(line, ",{count}");
        }
        line
    }

    /// Reads a line that [`CurvePoint::csv_line`] wrote for `curve`; `None` if it is no such line.
    #[must_use]
    pub fn from_csv(curve: &Curve, line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != 4 + curve.tests.len() {
            return None;
        }
        let permille = |text: &str| curve.points.iter().copied().find(|&point| decimal(point) == text);
        let counts: Vec<u64> = fields[2..].iter().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let point = curve.counted(permille(fields[1])?, &counts);
        (point.csv_line() == line).then_some(point)
    }

    /// The share of sets that `test` accepts; `None` if it was not applied, or nothing was drawn.
    #[must_use]
    pub fn ratio(&self, test: ReservationTest) -> Option<f64> {
        let (_, count) = self.accepted.iter().find(|(other, _)| *other == test)?;
        (self.samples > 0).then(|| *count as f64 / self.samples as f64)
    }
}

/// Of the task sets of some samples: how many were drawn, satisfy the necessary condition, and pass each test.
pub(crate) fn count_accepted(
    generator: &Generator,
    tests: &[ReservationTest],
    seed: u64,
    samples: Range<u64>,
) -> Vec<u64> {
    let mut counts = vec![0; tests.len() + 2];
    for sample in samples {
        let index = u64::from(generator.single_permille) << 40 | sample;
        let Some(set) = generator.sample(seed, index) else { continue };
        counts[0] += 1;
        counts[1] += u64::from(necessary::test(&set) == Some(true));
        for (count, &test) in counts[2..].iter_mut().zip(tests) {
            *count += u64::from(accepts(test, &set));
        }
    }
    counts
}

/// Thousandths as a decimal.
fn decimal(permille: u32) -> String {
    format!("{}.{:03}", permille / 1000, permille % 1000)
}

fn accepts(test: ReservationTest, set: &TaskSet) -> bool {
    let both = set.reservations.as_ref();
    both.is_some_and(|both| Partition::of(set, both).all(|partition| partition.verdict(set, test).is_yes()))
}
