//! The published result of a scenario.

use crate::time::{Duration, Instant};
use crate::workload::Placement;

/// What a paper or a measurement says should come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where the numbers come from.
    pub source: String,
    /// How far off a time may be.
    pub tolerance: Duration,
    /// The placement under which it was found.
    pub placement: Placement,
    /// Kernels of which something is known.
    pub kernels: Vec<ExpectedKernel>,
    /// Conditions under which it was found that the user has replaced: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

/// What is known of one kernel launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedKernel {
    /// The kernel's title.
    pub name: String,
    /// Which of its launches, from 0, in launch order.
    pub iteration: u32,
    /// Where in print the numbers stand, for example `Fig. 3`.
    pub place: Option<String>,
    /// When its first block starts.
    pub first_start: Option<Instant>,
    /// When its last block ends.
    pub finish: Option<Instant>,
    /// Blocks per SM, by SM id; compared only under the placement under which they were found.
    pub blocks_per_sm: Option<Vec<u32>>,
    /// The SM of each block, by its index in the grid, `None` where it is not known; compared as `blocks_per_sm` is.
    pub sm_of_block: Option<Vec<Option<u32>>>,
}
