//! Any scenario or profile, simulated over a grid of what-ifs, as a study.

use std::ops::Range;

use super::command::StudyExperiment;
use super::compute::{Experiment, Worker};
use super::grid::{Grid, GridAxis};
use super::scenario_point::{self, ScenarioPoint};
use super::simulate_tally::{Outcome, SimulateTally};
use super::tally::Tally;
use crate::hosts::{HeldAtMost, SimulateOptions, simulate_summed};
use crate::input::LastRead;
use crate::json::{Node, Problem};
use crate::run::KernelTimes;
use crate::scenario::Scenario;
use crate::spelling::{self, Spelling};

/// The points, once each was made into a scenario.
pub(super) fn checked(
    (grid, axes): (&Grid<'_>, &[GridAxis]),
    points: Vec<ScenarioPoint>,
    (samples, node): (u64, Node<'_>),
) -> Result<Vec<ScenarioPoint>, Problem> {
    let scenarios: Vec<&ScenarioPoint> = points.iter().collect();
    if !scenario_point::check((grid, axes), &scenarios, (samples, node), &|_, _| None)? && samples > 1 {
        return Err(node
            .problem("nothing is drawn, so that all samples of a point are the same")
            .with_help("state 1 sample, or \"vary\" block times, let \"placement\" be \"random\", or draw scenarios: \"load_percent\""));
    }
    Ok(points)
}

#[derive(Debug)]
pub(super) struct SimulateStudy {
    pub(super) points: Vec<ScenarioPoint>,
}

impl Experiment for SimulateStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SimulateWorker { points: &self.points, known: None, last: LastRead::default() })
    }
}

impl StudyExperiment for SimulateStudy {
    fn columns(&self) -> &'static str {
        Outcome::COLUMNS
    }

    fn input(&self, point: u64, sample: u64) -> Result<String, String> {
        super::point(&self.points, point)?.input(sample)
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(SimulateTally::default())
    }
}

struct SimulateWorker<'a> {
    points: &'a [ScenarioPoint],
    /// The point of the row computed last, its scenario, and whose jobs are counted.
    known: Option<(u64, Scenario, Option<u32>)>,
    last: LastRead<'a>,
}

impl Worker for SimulateWorker<'_> {
    /// Sample k of a point is the run with its seed plus k, as `gpusched simulate --seed` makes it.
    fn values(&mut self, number: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.points, number)?;
        if point.is_drawn() || self.known.as_ref().is_none_or(|(known, ..)| *known != number) {
            let (scenario, thread) =
                point.scenario(samples.start, &mut self.last).map_err(|error| error.to_string())?;
            self.known = Some((number, scenario, thread));
        }
        // It was just made known.
        let Some((_, scenario, thread)) = &mut self.known else { return Err("no scenario".to_owned()) };
        scenario.seed = point.seed_of(samples.start);
        let kernels = thread.map_or(KernelTimes::OfAll, KernelTimes::OfThread);
        let simulated = || simulate_summed(scenario, SimulateOptions::of(scenario), HeldAtMost::default(), kernels);
        let run = spelling::within(Spelling::Key, || simulated().map_err(|error| error.to_string()))?;
        Ok(Outcome::of(&run, kernels).to_string())
    }
}
