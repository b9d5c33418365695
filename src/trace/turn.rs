//! One turn of a context.

use serde::Serialize;

use crate::named::named;
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, ProcessId};

/// A turn that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewTurn {
    /// The process whose context it is of.
    pub process: ProcessId,
    /// When the switch to it began; `start` if there is none.
    pub switch_from: Instant,
    /// When blocks of it may run.
    pub start: Instant,
}

named! {
    /// Why a turn ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum TurnEnd {
        /// Its slice was over and another context had work (T2).
        TimeSlice = "time slice",
        /// Its context had no resident block and none to assign (T2).
        NoWork = "no work",
        /// Its context was taken off the runlist.
        TakenOff = "taken off the runlist",
        RunEnded = "end of the run",
    }
}

/// A turn of a context: the time in which blocks of it, and of no other, run (T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTurn {
    /// The process whose context it is of.
    pub process: ProcessId,
    /// When the switch to it began, in which no block ran (T3); `start` if there was none.
    pub switch_from: Instant,
    /// When it began; the end of the run if that came before.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// Why it ended.
    pub ended_by: TurnEnd,
}

impl ContextTurn {
    /// How long it lasted.
    pub fn duration(&self) -> Duration {
        self.end.since(self.start)
    }

    /// How long the switch to it took.
    pub fn switch(&self) -> Duration {
        self.start.since(self.switch_from)
    }
}

/// The turns of one process, in order of time: from when to when, and how long all before them lasted together.
pub(super) type Served = Vec<(Instant, Instant, Duration)>;

/// A time in which a copy stood still as its engine served another context: which, from when to when.
pub(super) type CopyPause = (OperationId, Instant, Instant);
