//! What leaves a run while it goes on.

use super::jobs::Jobs;
use super::summary::Summary;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// Operations of a run that are told of together, and then forgotten.
#[derive(Debug)]
pub(crate) struct RunPiece {
    /// What happened to them: as if the run had ended when they left.
    pub(crate) trace: Trace,
    /// How many of the turns of contexts leave with it, the first ones.
    pub(crate) turns: usize,
    /// Their jobs, which are over, or the run is.
    pub(crate) jobs: Jobs,
    /// How many jobs of each thread have left with it and with those before, the first ones: their operations all have.
    pub(crate) over: Vec<u32>,
}

impl RunPiece {
    /// What rows are made of, but for jobs.
    pub(crate) fn summary<'a>(&'a self, scenario: &'a Scenario) -> Summary<'a> {
        Summary::of_trace(scenario, &self.trace)
    }
}
