//! What a bound, and the search for bad runs, must take into account.

use serde::Serialize;

use crate::scenario::{ReleaseOrder, Scenario};
use crate::time::Duration;

/// For how long blocks and copies may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockTimes {
    /// For any time up to the longest that is stated, blocks of one kernel for different times; copies likewise. What
    /// `safe_finish` means.
    #[default]
    UpToStated,
    /// For any time between the shortest and the longest that are stated; copies for just what is stated. A bound of
    /// this kind says nothing about blocks that run shorter than declared.
    Declared,
}

impl BlockTimes {
    /// The shortest time of what takes no less than that as it is stated.
    pub(super) fn shortest(self, stated: Duration) -> Duration {
        match self {
            Self::UpToStated => Duration::ZERO,
            Self::Declared => stated,
        }
    }
}

/// What a bound must hold for. Every work-conserving placement is always among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BoundOptions {
    /// Block and copy times.
    pub block_times: BlockTimes,
    /// Orders of simultaneous releases.
    pub order: ReleaseOrder,
}

impl BoundOptions {
    /// What `safe_finish` holds for: shorter blocks and copies, and releases of one instant in the order of
    /// declaration.
    pub const DECLARED: Self = Self { block_times: BlockTimes::UpToStated, order: ReleaseOrder::Declared };

    /// What verdicts on a scenario are to hold for.
    pub fn of(scenario: &Scenario) -> Self {
        Self { block_times: BlockTimes::default(), order: scenario.release_order }
    }
}
