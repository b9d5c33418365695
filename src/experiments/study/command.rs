//! The commands that a study can repeat, and what it asks of them.

use super::compute::Experiment;
use super::tally::Tally;
use crate::named::named;

named! {
    /// Which command a study repeats.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum StudyCommand: ALL, from_name {
        /// `gpusched merged-sm`
        MergedSm = "merged-sm",
        /// `gpusched tasks curve`
        TasksCurve = "tasks curve",
        /// `gpusched tasks curve --segments`
        TasksSegments = "tasks segments",
        /// `gpusched evr`
        Evr = "evr",
        /// `gpusched analyze`
        Analyze = "analyze",
        /// `gpusched simulate`
        Simulate = "simulate",
    }
}

impl StudyCommand {
    /// Samples of a row if the file does not say: some 10 ms of work.
    pub(crate) const fn samples_per_row(self) -> u64 {
        match self {
            Self::MergedSm => 1_000,
            Self::TasksCurve => 100,
            Self::TasksSegments | Self::Evr | Self::Analyze | Self::Simulate => 1,
        }
    }
}

pub(super) trait StudyExperiment: Experiment + Send {
    /// Names of a row's values, separated by commas.
    fn columns(&self) -> &'static str;
    /// What is drawn at a sample of a point, as a file that the command takes.
    ///
    /// # Errors
    /// Why there is none.
    fn input(&self, _point: u64, _sample: u64) -> Result<String, String> {
        Err("what its samples draw is no file".to_owned())
    }
    /// Sums up the rows of a point.
    fn tally(&self, point: u64) -> Box<dyn Tally>;
}
