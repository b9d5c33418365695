//! What leaves a run while it goes on.

use super::jobs::Jobs;
use super::summary::Summary;
use crate::scenario::Scenario;
use crate::trace::{Shift, Trace};

/// Operations of a run that are told of together, and then forgotten.
#[derive(Debug, Clone)]
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
    /// Becomes the piece that comes again.
    pub(crate) fn move_by(&mut self, shift: &Shift) {
        let Self { trace, turns: _, jobs, over } = self;
        trace.move_by(shift);
        jobs.move_by(shift);
        (0..).zip(over).for_each(|(thread, over)| shift.iteration(thread, over));
    }

    /// What rows are made of, but for jobs.
    pub(crate) fn summary<'a>(&'a self, scenario: &'a Scenario) -> Summary<'a> {
        Summary::of_trace(scenario, &self.trace)
    }
}
