//! Counters in memory on which blocks, streams and hosts wait for one another; cooperative grids.

use std::sync::Arc;

use super::Share;

numbered! {
    /// A counter that was made known. It is 0 when a run begins, and all GPUs and hosts see it.
    pub struct CounterId;
}

numbered! {
    /// A value of a counter that was made known, for which streams and hosts wait, or which they write.
    pub struct ValueId;
}

/// A value of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterValue {
    /// The counter.
    pub counter: CounterId,
    /// Who waits goes on once the counter is not below it (`CU_STREAM_WAIT_VALUE_GEQ`); who writes sets the counter
    /// to it.
    pub value: u64,
}

/// What a block does at one point of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointAction {
    /// Adds 1 to a counter.
    Signal(CounterId),
    /// Goes on once the counter is not below that value; until then it keeps what it has of its SM.
    Wait(CounterValue),
    /// Goes on once every block of its launch has come as far (`cooperative_groups::grid_group::sync`).
    GridSync,
}

/// A point of a block's time at which it signals or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SyncPoint {
    /// When, as a share of the time for which the block runs, waits not counted.
    pub at: Share,
    /// What it does then.
    pub action: PointAction,
}

/// How blocks of a kernel depend on other blocks while they run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synchronization {
    /// Whether all blocks of a launch are assigned at one instant (`cudaLaunchCooperativeKernel`).
    pub is_cooperative: bool,
    /// What each block does, in order.
    pub points: Arc<[SyncPoint]>,
}

impl Synchronization {
    /// Whether it says nothing.
    pub fn is_none(&self) -> bool {
        !self.is_cooperative && self.points.is_empty()
    }

    /// Whether a block may have to wait for others.
    pub fn waits(&self) -> bool {
        self.points.iter().any(|point| !matches!(point.action, PointAction::Signal(_)))
    }

    /// Points in the order in which a block comes to them: by share; of one share signals come first, then barriers of
    /// the grid, then waits, each in the order stated.
    #[must_use]
    pub fn in_order(is_cooperative: bool, mut points: Vec<SyncPoint>) -> Self {
        points.sort_by_key(|point| {
            let rank = match point.action {
                PointAction::Signal(_) => 0,
                PointAction::GridSync => 1,
                PointAction::Wait(_) => 2,
            };
            (point.at, rank)
        });
        Self { is_cooperative, points: points.into() }
    }

    /// It, with signals at the end of each block, after all waits.
    #[must_use]
    pub fn with_signals_at_end(self, counters: impl IntoIterator<Item = CounterId>) -> Self {
        let at_end =
            counters.into_iter().map(|counter| SyncPoint { at: Share::ALL, action: PointAction::Signal(counter) });
        Self { points: self.points.iter().copied().chain(at_end).collect(), ..self }
    }
}
