//! What a user may say about a model beside its file.

use std::collections::BTreeMap;

use super::frequency::Frequency;
use super::model::AmaltheaModel;
use super::{AmaltheaError, TickRange, Ticks};
use crate::named::named;
use crate::scenario::Scenario;
use crate::scenario::options::ReadOptions;
use crate::time::Duration;

/// Which runnables run on the GPU, and what the model does not say of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AmaltheaOptions {
    /// The runnables to launch, in this order; empty: all that have a grid size, in document order.
    pub runnables: Vec<String>,
    /// Blocks of a runnable's kernel; replaces the model's `GridSize`.
    pub grid_sizes: BTreeMap<String, u32>,
    /// Threads of one block of a runnable's kernel; replaces the model's `BlockSize`.
    pub block_sizes: BTreeMap<String, u32>,
    /// The processing unit, or processing unit definition, whose ticks and frequency count; `None`: the model's GPU.
    pub processing_unit: Option<String>,
    /// The frequency; replaces the model's.
    pub frequency: Option<Frequency>,
    /// Which of a runnable's bounds counts.
    pub ticks: TickBound,
    /// Processes of tasks, by task (or by runnable that is alone in its stream). If there are any, or the model states
    /// a time slice for a launched task, every other task is a process of its own, called like its stream.
    pub processes: BTreeMap<String, String>,
    /// Leave copy runnables out.
    pub without_copies: bool,
    /// Launch each runnable once, at t = 0, whatever stimuli the model has.
    pub one_job: bool,
    /// Run what tasks do beside the GPU, on the cores to which the model allocates them.
    pub cores: bool,
    /// How long one access of a core to memory takes, by the name of the processing unit or of its definition; replaces
    /// the model's latencies and data rates.
    pub access_times: BTreeMap<String, Duration>,
}

named! {
    /// Which of the numbers that a model states for an amount of ticks becomes the time of a block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum TickBound: ALL, from_name {
        /// The upper bound: the worst case, which a response time analysis needs.
        #[default]
        Upper = "upper",
        /// The constant or average.
        Average = "average",
        Lower = "lower",
        /// Each block takes a random time between lower and upper bound.
        Bounds = "bounds",
    }
}

impl TickBound {
    /// Best and worst case. Where the model lacks the number that is asked for, the nearest one stands in, and the
    /// second value says what is missing. `None` if the model states no number at all.
    pub(super) fn of(self, range: TickRange) -> Option<((Ticks, Ticks), Option<&'static str>)> {
        let TickRange { lower, value, upper } = range;
        let best = lower.or(value).or(upper)?;
        let worst = upper.or(value).or(lower)?;
        let average = value.or(upper).or(lower)?;
        let lacks_bound = lower.is_none() || upper.is_none();
        Some(match self {
            Self::Upper => ((worst, worst), upper.is_none().then_some("upper bound")),
            Self::Average => ((average, average), value.is_none().then_some("average")),
            Self::Lower => ((best, best), lower.is_none().then_some("lower bound")),
            Self::Bounds => ((best, worst), lacks_bound.then_some("lower or upper bound")),
        })
    }
}

impl Scenario {
    /// Reads an AMALTHEA model and launches runnables of it; `file` is its name in errors.
    ///
    /// # Errors
    /// [`AmaltheaError`] as [`AmaltheaModel::parse`] and [`AmaltheaModel::scenario`] have it.
    pub fn from_amalthea(
        file: &str,
        text: &str,
        chosen: &AmaltheaOptions,
        options: &ReadOptions,
    ) -> Result<Self, AmaltheaError> {
        AmaltheaModel::parse(file, text)?.scenario(chosen, options)
    }
}
