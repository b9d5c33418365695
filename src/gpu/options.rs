//! How to simulate.

use crate::time::Instant;
use crate::workload::Placement;

/// How to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuOptions {
    /// Which SM gets the next block.
    pub placement: Placement,
    /// For random placement and for varying durations.
    pub seed: u64,
    /// Nothing happens after this instant; [`Instant::MAX`]: no limit.
    pub horizon: Instant,
    /// Operations that a run may submit at most, so that a scenario that does not end cannot fill the memory.
    pub max_operations: u32,
    /// Take whole cycles of a kernel that fills the GPU in one step. The result is the same either way.
    pub skip_cycles: bool,
    /// A run that is [stopped](crate::effort::EarlyEnd::Stopped) ends there as at a horizon; else that is an error.
    pub may_be_cut: bool,
}

/// About 10 GB of trace.
const DEFAULT_MAX_OPERATIONS: u32 = 50_000_000;

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            placement: Placement::default(),
            seed: 0,
            horizon: Instant::MAX,
            max_operations: DEFAULT_MAX_OPERATIONS,
            skip_cycles: true,
            may_be_cut: false,
        }
    }
}
