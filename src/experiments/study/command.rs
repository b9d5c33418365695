//! The commands that a study can repeat, and what it asks of them.

use super::compute::Experiment;
use super::tally::Tally;

/// Which command a study repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyCommand {
    /// `gpusched merged-sm`
    MergedSm,
    /// `gpusched tasks curve`
    TasksCurve,
    /// `gpusched evr`
    Evr,
    /// `gpusched simulate`
    Simulate,
}

impl StudyCommand {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::MergedSm, Self::TasksCurve, Self::Evr, Self::Simulate];

    /// The command as it is typed, and stands in study files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MergedSm => "merged-sm",
            Self::TasksCurve => "tasks curve",
            Self::Evr => "evr",
            Self::Simulate => "simulate",
        }
    }

    /// Samples of a row if the file does not say: some 10 ms of work.
    #[must_use]
    pub const fn samples_per_row(self) -> u64 {
        match self {
            Self::MergedSm => 1_000,
            Self::TasksCurve => 100,
            Self::Evr | Self::Simulate => 1,
        }
    }
}

/// An experiment of which a study can be made.
pub(super) trait StudyExperiment: Experiment + Send {
    /// Names of a row's values, separated by commas.
    fn columns(&self) -> &'static str;
    /// Sums up the rows of a point.
    fn tally(&self, point: u64) -> Box<dyn Tally>;
}
