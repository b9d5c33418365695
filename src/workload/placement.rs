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

use crate::named::named;

named! {
    /// A policy for choosing among the SMs on which a block fits. The published rules do not say which one it gets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Placement: ALL, from_name, Serialize {
        /// The SM that could hold the most further blocks of this kernel right now, re-evaluated for every block; ties
        /// by the device's SM order. What measurements show: Gilman, Ogden, Guo and Walls, "Demystifying the Placement
        /// Policies of the NVIDIA GPU Thread Block Scheduler for Concurrent Kernels", 2021.
        #[default]
        MostRoom = "most-room",
        /// The next SM after the last one used, by number; the pointer is shared by all kernels and starts at SM 0.
        RoundRobin = "round-robin",
        /// The lowest-numbered SM.
        LowestId = "lowest-id",
        /// Any, with equal probability (`ChaCha8`, seeded).
        Random = "random",
    }
}
