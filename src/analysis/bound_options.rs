//! What a bound, and the search for bad runs, must take into account.

use serde::Serialize;

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

/// In which order host threads that are released at one instant act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SimultaneousLaunches {
    /// As declared, which is what a simulation does.
    #[default]
    AsDeclared,
    /// In any order. Where the order decides more than who is first in an EE or CE queue (the NULL stream is used,
    /// or two threads share a stream) this is not supported, and not tried either.
    AnyOrder,
}

/// What a bound must hold for. Every work-conserving placement is always among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BoundOptions {
    /// Block and copy times.
    pub block_times: BlockTimes,
    /// Orders of simultaneous launches.
    pub launches: SimultaneousLaunches,
}
