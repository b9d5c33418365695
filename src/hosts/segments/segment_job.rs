//! Jobs of tasks with segments, and the steps that they go through.

use crate::time::{Duration, Instant};
use crate::workload::{KernelId, OperationId};

/// A job that was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentJob {
    /// Its task, as an index into the set.
    pub task: usize,
    /// Its number among the task's jobs.
    pub number: u64,
    /// When it was released.
    pub released: Instant,
    /// When it was done.
    pub finished: Option<Instant>,
}

impl SegmentJob {
    /// From release to end, if it was done.
    pub fn response(&self) -> Option<Duration> {
        self.finished.map(|finished| finished.since(self.released))
    }
}

/// What a core was busy with, without a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreRun {
    /// The core.
    pub cpu: u32,
    /// Whose job it was, as an index into the set.
    pub task: usize,
    /// What for.
    pub what: CoreUse,
    /// From when.
    pub from: Instant,
    /// To when.
    pub to: Instant,
}

/// What a task has a core for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreUse {
    /// A CPU segment, or the CPU's part of a GPU segment.
    Works,
    /// A driver call.
    Call,
    /// Nothing: it waits for the GPU or for a driver call.
    Waits,
}

impl CoreUse {
    /// As a sentence has it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Call => "is in a driver call",
            Self::Waits => "keeps the core busy",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// So much on the CPU is left.
    Cpu(Duration),
    /// Work of the GPU, and the operation once it is submitted.
    Gpu { kernel: KernelId, operation: Option<OperationId> },
    /// A driver call, the first or second of a segment.
    Call { is_first: bool, left: Duration, state: CallState },
    /// Wants the lock, for which it asked then.
    Lock { asked: Option<Instant> },
    /// Gives the lock back.
    Unlock,
}

/// Where a driver call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallState {
    /// Not reached on a core.
    Ahead,
    /// Waits until no other call is under way, on its core.
    Asked,
    UnderWay,
}
