//! How the contexts of several processes share a GPU: time slices, switches, runlists (rules T2 to T5).

use serde::Serialize;

use crate::named::named;
use crate::time::Duration;

/// What a device states about contexts that share it (rules T2 to T5, `docs/model.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeSlicing {
    /// T2: a turn of a context lasts at most so long, unless its process states its own.
    pub time_slice: Duration,
    /// T3: from the end of one context's turn to the beginning of another's; no block runs meanwhile.
    pub switch_cost: Duration,
    /// T5: copies of several contexts on one copy engine take turns of this length.
    pub copy_time_slice: Duration,
    /// T5: whether copy engines go on during another context's turn.
    pub runlists: Runlists,
    /// T4: what becomes of blocks that run when a turn is over.
    pub preemption: Preemption,
}

impl TimeSlicing {
    /// What a device file has that says nothing of it: nominal slices of 2 ms, switches that cost nothing, copies that
    /// trade every millisecond, runlists of their own for copy engines, and preemption in mid-block.
    pub const NOMINAL: Self = Self {
        time_slice: Duration::from_ns(2_000_000),
        switch_cost: Duration::ZERO,
        copy_time_slice: Duration::from_ns(1_000_000),
        runlists: Runlists::Separate,
        preemption: Preemption::MidBlock,
    };
}

impl Default for TimeSlicing {
    fn default() -> Self {
        Self::NOMINAL
    }
}

named! {
    /// Whether copy engines are scheduled together with the compute engine (Bakita and Anderson, RTAS 2024).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Runlists: ALL, from_name, Serialize {
        /// Copy engines have runlists of their own: copies of a context go on during another's turn.
        #[default]
        Separate = "separate",
        /// One runlist for all engines: copies of a context progress in its turn only.
        Shared = "shared",
    }
}

named! {
    /// What becomes of blocks that run when their context's turn is over.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Preemption: ALL, from_name, Serialize {
        /// They stop where they are and go on in the context's next turn, on the same SMs (Pascal and later).
        #[default]
        MidBlock = "mid-block",
        /// They run to their ends, and only then is the turn over (Maxwell and Kepler).
        BlockEnd = "block-end",
    }
}
