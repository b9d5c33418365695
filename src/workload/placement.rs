//! The placement policies: their names, and which SM gets the next block.
//!
//! The simulated GPU asks how many blocks each SM gets (`distribute`); the trace keeps these counts and expands them to
//! single blocks when asked (`choose`). Both follow from the same few numbers, so the rule stands here, below both.

mod choose;
mod distribute;
mod random;

pub use choose::Part;
pub(crate) use choose::{Sequence, Start};
pub(crate) use distribute::distribute;

use serde::Serialize;

/// A policy for choosing among the SMs on which a block fits. The published rules do not say which one it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The SM that could hold the most further blocks of this kernel right now, re-evaluated for every block; ties by
    /// the device's SM order. What measurements show: Gilman, Ogden, Guo and Walls, "Demystifying the Placement
    /// Policies of the NVIDIA GPU Thread Block Scheduler for Concurrent Kernels", 2021.
    #[default]
    MostRoom,
    /// The next SM after the last one used, by number; the pointer is shared by all kernels and starts at SM 0.
    RoundRobin,
    /// The lowest-numbered SM.
    LowestId,
    /// Any, with equal probability (`ChaCha8`, seeded).
    Random,
}

impl Placement {
    /// All policies, the default first.
    pub const ALL: [Self; 4] = [Self::MostRoom, Self::RoundRobin, Self::LowestId, Self::Random];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MostRoom => "most-room",
            Self::RoundRobin => "round-robin",
            Self::LowestId => "lowest-id",
            Self::Random => "random",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }
}
