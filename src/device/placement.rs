//! The placement policies by their names.

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
        /// By levels of one block on each SM with room, GPC by GPC, lone TPCs first. How many each SM gets is dealt
        /// before: lone TPCs, then SMs by number. What logs of single blocks of a B200 show of kernels on an idle or
        /// evenly loaded GPU (repository memory-of-star/gpu_sheduler_survey, 2026). Assumed: the blocks that follow as
        /// others end are dealt in the same way, from the beginning.
        Gpc = "gpc",
        /// As `gpc` for the blocks with which a kernel begins; those that follow as others end go where most room is,
        /// ties in the order of `gpc`: the other assumption.
        GpcMostRoom = "gpc-most-room",
    }
}

impl Placement {
    /// Whether it goes by the GPCs of a device.
    pub const fn goes_by_gpcs(self) -> bool {
        matches!(self, Self::Gpc | Self::GpcMostRoom)
    }

    /// Whether it deals by levels the blocks of a kernel that are assigned from block `first_block` on.
    pub(crate) const fn deals(self, first_block: u32) -> bool {
        match self {
            Self::Gpc => true,
            Self::GpcMostRoom => first_block == 0,
            _ => false,
        }
    }
}
