//! Verdicts on scenarios of a file or drawn, as a study: what is known of the deadlines of one, and of those of a
//! point.

use std::fmt;
use std::ops::Range;

use super::compute::{Point, Tally};
use super::grid::{self, Change, Files, Grid, GridAxis, Parameters, Read, keys};
use super::scenario_point::{self, ScenarioPoint};
use crate::analysis::{BoundOptions, LadderRow, Rung, SearchOptions, Verdict, judge, ladder_of_runs};
use crate::effort::{self, Progress};
use crate::experiments::{Fields, number};
use crate::input::LastRead;
use crate::json::{Node, Problem};
use crate::scenario::{HostThread, Scenario};
use crate::spelling::{self, Spelling};
use crate::statistics::{Measure, Moments, PartsOfRuns, nearest_rank};
use crate::time::Duration;

/// One point: scenarios, and what is asked of them.
#[derive(Debug, Clone)]
pub(super) struct AnalyzePoint {
    scenario: ScenarioPoint,
    tests: Vec<Rung>,
    search_runs: u64,
}

impl Default for AnalyzePoint {
    fn default() -> Self {
        Self { scenario: ScenarioPoint::default(), tests: Vec::new(), search_runs: 256 }
    }
}

impl Parameters for AnalyzePoint {
    /// Those that a scenario does not have.
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "search_runs" => search_runs: value.whole_number(1, 1_000_000);
        "tests" => tests: grid::distinct(value, &Rung::ALL, Rung::name);
    };

    fn others() -> Vec<&'static str> {
        ScenarioPoint::keys()
    }

    fn read_other(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        Some(grid::within(ScenarioPoint::read(key, value, files)?, |point: &mut Self| &mut point.scenario))
    }

    fn set_seed(&mut self, seed: u64) {
        self.scenario.set_seed(seed);
    }
}

/// The points, once each was made into a scenario with deadlines.
pub(super) fn checked(
    (grid, axes): (&Grid<'_>, &[GridAxis]),
    points: Vec<AnalyzePoint>,
    (samples, node): (u64, Node<'_>),
) -> Result<Vec<AnalyzePoint>, Problem> {
    let scenarios: Vec<&ScenarioPoint> = points.iter().map(|point| &point.scenario).collect();
    scenario_point::check((grid, axes), &scenarios, (samples, node), &|scenario, thread| {
        let judged = || scenario.threads.iter().zip(0..).filter(|(_, index)| thread.is_none_or(|one| one == *index));
        let has_deadline = judged().any(|(thread, _)| thread.deadline().is_some());
        (!has_deadline).then(|| "no job has a deadline to judge: add \"deadline\": {STREAM: TIME}".to_owned())
    })?;
    if samples > 1 && !scenarios.iter().any(|point| point.is_drawn()) {
        return Err(node
            .problem("no scenario is drawn, so that all samples of a point are the same")
            .with_help("state 1 sample, or draw scenarios: \"load_percent\" in place of \"scenario\""));
    }
    Ok(points)
}

impl Point for AnalyzePoint {
    type Kept<'p> = LastRead<'p>;

    fn columns() -> &'static str {
        ScenarioVerdicts::COLUMNS
    }

    fn values<'p>(&'p self, samples: Range<u64>, last: &mut LastRead<'p>) -> Result<String, String> {
        let made = self.scenario.scenario(samples.start, last);
        let (scenario, thread) = made.map_err(|error| error.to_string())?;
        let verdicts = spelling::within(Spelling::Key, || verdicts(&scenario, thread, self))?;
        // Bounds of work that was stopped are others.
        effort::check().map_err(|over| over.to_string())?;
        Ok(verdicts.to_string())
    }

    fn input(&self, sample: u64) -> Result<String, String> {
        self.scenario.scenario_file(sample)
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(VerdictTally::default())
    }
}

fn verdicts(scenario: &Scenario, thread: Option<u32>, point: &AnalyzePoint) -> Result<ScenarioVerdicts, String> {
    let mut placements = SearchOptions::default().placements;
    if !placements.contains(&scenario.placement) {
        placements.push(scenario.placement);
    }
    let bound = BoundOptions::of(scenario);
    let options = SearchOptions { bound, placements, runs: point.search_runs, seed: scenario.seed, time_limit: None };
    let judged = judge(scenario, &options, Progress::NONE).map_err(|error| error.to_string())?;
    let is_meant = |index: u32| thread.is_none_or(|thread| thread == index);
    let (mut counts, mut ratios) = ([0; 4], Vec::new());
    for job in judged.jobs.iter().filter(|job| is_meant(job.thread)) {
        let Some(verdict) = job.verdict else { continue };
        counts[0] += 1;
        counts[1 + verdict as usize] += 1;
        let permille = |(bound, found): (u128, u64)| u64::try_from(1_000 * bound / u128::from(found.max(1))).ok();
        let pair = job.bound_ns.map(|bound| u128::from(bound.as_ns())).zip(job.worst_found_ns.map(Duration::as_ns));
        ratios.extend(pair.and_then(permille));
    }
    ratios.sort_unstable();
    let mut tests = [None; Rung::ALL.len()];
    if !point.tests.is_empty() {
        let ladder = ladder_of_runs(scenario, point.search_runs).map_err(|error| error.to_string())?;
        let meant = thread.and_then(|thread| scenario.threads.get(thread as usize));
        let is_meant = |row: &&LadderRow| meant.is_none_or(|thread: &HostThread| *thread.label == *row.stream);
        for test in &point.tests {
            tests[*test as usize] =
                Some(of_all(ladder.rows.iter().filter(is_meant).map(|row| row.under(*test).verdict)));
        }
    }
    let ratios = [nearest_rank(&ratios, 50), ratios.last().copied()];
    Ok(ScenarioVerdicts { counts, ratios, tests })
}

/// Missed if one is, proven if all are.
fn of_all(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.fold(Verdict::Proven, |all, one| match (all, one) {
        (Verdict::Missed, _) | (_, Verdict::Missed) => Verdict::Missed,
        (Verdict::Proven, Verdict::Proven) => Verdict::Proven,
        _ => Verdict::Open,
    })
}

/// One scenario in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScenarioVerdicts {
    /// Jobs with a deadline, and how many of them are of each [`Verdict`].
    pub(super) counts: [u64; 4],
    /// Bound / worst found of a job, the median over the jobs and the most \[thousandths\].
    pub(super) ratios: [Option<u64>; 2],
    /// On all streams together under each [`Rung`], if that was asked for.
    pub(super) tests: [Option<Verdict>; Rung::ALL.len()],
}

impl ScenarioVerdicts {
    pub(super) const COLUMNS: &'static str = "jobs,proven,missed,open,bound_over_worst_permille,most_bound_over_worst_permille,\
         sporadic,jitter,given,stated-times,declared-order,order-and-times,run";

    fn parse(values: &str) -> Option<Self> {
        let verdict = |field: &str| Verdict::ALL.into_iter().find(|verdict| verdict.name() == field);
        let mut fields = Fields::of(values, ',');
        let counts = fields.each(number)?;
        let ratios = fields.each_if_any(number)?;
        let tests = fields.each_if_any(verdict)?;
        fields.end(Self { counts, ratios, tests })
    }
}

impl fmt::Display for ScenarioVerdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [jobs, proven, missed, open] = self.counts;
        write!(f, "{jobs},{proven},{missed},{open}")?;
        for ratio in self.ratios {
            write!(f, ",{}", ratio.map_or_else(String::new, |ratio| ratio.to_string()))?;
        }
        self.tests.iter().try_for_each(|test| write!(f, ",{}", test.map_or("", Verdict::name)))
    }
}

/// The scenarios of a point, which are drawn independently of each other, as their jobs are not.
#[derive(Debug, Default)]
pub(super) struct VerdictTally {
    verdicts: [PartsOfRuns; 3],
    ratio: Moments,
    most: Option<u64>,
    /// Under each assumption that was asked for: how many are proven, and how many not known to miss.
    tests: [Option<[PartsOfRuns; 2]>; Rung::ALL.len()],
}

/// The names under which the shares of an assumption are told: proven, and no miss found in any run; of the one run
/// these are the same.
const fn names(test: Rung) -> [&'static str; 2] {
    match test {
        Rung::Sporadic => ["sporadic", "sporadic_no_miss"],
        Rung::Jitter => ["jitter", "jitter_no_miss"],
        Rung::Given => ["given", "given_no_miss"],
        Rung::StatedTimes => ["stated-times", "stated-times_no_miss"],
        Rung::DeclaredOrder => ["declared-order", "declared-order_no_miss"],
        Rung::OrderAndTimes => ["order-and-times", "order-and-times_no_miss"],
        Rung::Run => ["run", ""],
    }
}

impl Tally for VerdictTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        let ScenarioVerdicts { counts: [jobs, verdicts @ ..], ratios: [median, most], tests } =
            ScenarioVerdicts::parse(values)?;
        for (sum, count) in self.verdicts.iter_mut().zip(verdicts) {
            sum.add(count, jobs);
        }
        if let Some(median) = median {
            self.ratio.add(median as f64 / 1_000.0);
        }
        self.most = self.most.max(most);
        for (sums, verdict) in self.tests.iter_mut().zip(tests) {
            let Some(verdict) = verdict else { continue };
            let [proven, no_miss] = sums.get_or_insert_default();
            proven.add(u64::from(verdict == Verdict::Proven), 1);
            no_miss.add(u64::from(verdict != Verdict::Missed), 1);
        }
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let mut measures = Vec::new();
        for (test, sums) in Rung::ALL.into_iter().zip(&self.tests) {
            if let Some(sums) = sums {
                let named = names(test).into_iter().filter(|name| !name.is_empty());
                measures.extend(named.zip(sums.map(Measure::PartsOfRuns)));
            }
        }
        let names = ["jobs_proven", "jobs_missed", "jobs_open"];
        measures.extend(names.into_iter().zip(self.verdicts.map(Measure::PartsOfRuns)));
        measures.push(("bound_over_worst", self.ratio.measure()));
        measures.extend(self.most.map(|most| ("most_bound_over_worst", Measure::Largest(most as f64 / 1_000.0))));
        measures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back() {
        let tests = [None, None, Some(Verdict::Open), None, None, Some(Verdict::Proven), Some(Verdict::Missed)];
        let row = ScenarioVerdicts { counts: [5, 2, 1, 2], ratios: [Some(1_250), None], tests };
        assert_eq!(row.to_string(), "5,2,1,2,1250,,,,open,,,proven,missed");
        assert_eq!(ScenarioVerdicts::parse(&row.to_string()), Some(row));
        assert_eq!(ScenarioVerdicts::COLUMNS.split(',').count(), row.to_string().split(',').count());
        assert!(ScenarioVerdicts::COLUMNS.ends_with(&Rung::ALL.map(Rung::name).join(",")));
        for wrong in ["", "5,2,1,2,1250,,,,open,,,proven", "5,2,1,2,1250,,,,opened,,,proven,missed"] {
            assert_eq!(ScenarioVerdicts::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shares_are_of_scenarios_and_of_their_jobs() {
        let mut tally = VerdictTally::default();
        for row in ["4,4,0,0,1000,1000,,,proven,,,,", "4,1,1,2,3000,9000,,,missed,,,,", "4,2,0,2,,,,,open,,,,"] {
            tally.add(1, row).expect("it is a row");
        }
        let value =
            |name: &str| tally.measures().iter().find(|(other, _)| *other == name).and_then(|(_, it)| it.value());
        let third = Some(1.0 / 3.0);
        assert_eq!((value("given"), value("given_no_miss")), (third, Some(2.0 / 3.0)));
        assert_eq!(["jobs_proven", "jobs_missed", "jobs_open"].map(value), [Some(7.0 / 12.0), Some(1.0 / 12.0), third]);
        assert_eq!((value("bound_over_worst"), value("most_bound_over_worst")), (Some(2.0), Some(9.0)));
        assert_eq!(value("sporadic"), None, "it was not asked for");
    }
}
