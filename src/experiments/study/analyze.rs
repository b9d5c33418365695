//! Verdicts on scenarios of a file or drawn, as a study.

use std::ops::Range;

use super::command::StudyExperiment;
use super::compute::{Experiment, Worker};
use super::grid::{self, Change, Files, Grid, GridAxis, Parameters, Read};
use super::scenario_point::{self, ScenarioPoint};
use super::tally::Tally;
use super::verdict_tally::{ScenarioVerdicts, VerdictTally};
use crate::analysis::{BoundOptions, LadderRow, Rung, SearchOptions, Verdict, judge, ladder_of_runs};
use crate::effort::{self, Progress};
use crate::input::LastRead;
use crate::json::{Node, Problem};
use crate::scenario::{HostThread, Scenario};
use crate::spelling::{self, Spelling};
use crate::statistics::nearest_rank;
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
    const KEYS: &'static [(&'static str, Read<Self>)] = &[
        ("search_runs", |value, _| {
            Ok(Self::set(value.whole_number(1, 1_000_000)?, |point, it| point.search_runs = it))
        }),
        ("tests", |value, _| {
            let tests = grid::distinct(value, &Rung::ALL.map(Rung::name), Rung::from_name)?;
            Ok(Self::set(tests, |point, it| point.tests = it))
        }),
    ];

    fn keys() -> Vec<&'static str> {
        let mut keys: Vec<&str> = ScenarioPoint::keys();
        keys.extend(Self::KEYS.iter().map(|(key, _)| *key));
        keys.sort_unstable();
        keys
    }

    fn read(key: &str, value: Node<'_>, files: &Files<'_>) -> Option<Result<Change<Self>, Problem>> {
        let of_scenario = || {
            let change = ScenarioPoint::read(key, value, files)?;
            Some(change.map(|change| -> Change<Self> { Box::new(move |point| change(&mut point.scenario)) }))
        };
        grid::of_table(key, value, files).or_else(of_scenario)
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

#[derive(Debug)]
pub(super) struct AnalyzeStudy {
    pub(super) points: Vec<AnalyzePoint>,
}

impl Experiment for AnalyzeStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(AnalyzeWorker { points: &self.points, last: LastRead::default() })
    }
}

impl StudyExperiment for AnalyzeStudy {
    fn columns(&self) -> &'static str {
        ScenarioVerdicts::COLUMNS
    }

    fn input(&self, point: u64, sample: u64) -> Result<String, String> {
        super::point(&self.points, point)?.scenario.input(sample)
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(VerdictTally::default())
    }
}

struct AnalyzeWorker<'a> {
    points: &'a [AnalyzePoint],
    last: LastRead<'a>,
}

impl Worker for AnalyzeWorker<'_> {
    fn values(&mut self, number: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.points, number)?;
        let made = point.scenario.scenario(samples.start, &mut self.last);
        let (scenario, thread) = made.map_err(|error| error.to_string())?;
        let verdicts = spelling::within(Spelling::Key, || verdicts(&scenario, thread, point))?;
        // Bounds of work that was stopped are others.
        effort::check().map_err(|over| over.to_string())?;
        Ok(verdicts.to_string())
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
