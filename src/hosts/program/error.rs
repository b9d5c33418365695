//! Why a program cannot be run to its end.

use thiserror::Error;

use crate::effort::EarlyEnd;
use crate::gpu::{RunError, SubmitError};
use crate::time::Instant;

/// Why the threads of a scenario cannot run to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The GPU cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A thread goes on and on at one instant without submitting anything.
    #[error("a host thread goes through more than {most} steps at {at} without submitting anything: time stands still")]
    HostStandsStill {
        /// The instant.
        at: Instant,
        /// The limit.
        most: u32,
    },
    /// Threads go on and on without submitting anything.
    #[error(
        "host threads go through more than {most} steps up to {at} while nothing is submitted and nothing completes: \
         shorten what they repeat, or end the run earlier"
    )]
    HostSubmitsNothing {
        /// How far the run came.
        at: Instant,
        /// The limit.
        most: u32,
    },
    /// The threads together would submit more than can be recorded.
    #[error("the scenario submits {count} operations; a run has {most} at most")]
    TooManyOperations {
        /// How many they would submit.
        count: u64,
        /// The limit.
        most: u32,
    },
    /// An analysis of what it does not know.
    #[error(
        "no analysis knows programmatic dependent launch (PDL): `gpusched simulate` runs this scenario, and nothing bounds it"
    )]
    Programmatic,
    /// The same of blocks that come in clusters.
    #[error("no analysis knows clusters of blocks: `gpusched simulate` runs this scenario, and nothing bounds it")]
    Clusters,
    /// The same of a device on which blocks leave a gap behind them.
    #[error(
        "no analysis knows gaps between blocks (block_gap_ns): `gpusched simulate` runs this scenario, and nothing bounds \
         it unless the option block_gap is 0s"
    )]
    BlockGap,
    /// Nothing is left to happen, and a thread still waits: threads that cross two barriers in opposite order.
    #[error("host thread {thread} (counted from 0) waits forever at a barrier that the others never reach")]
    WaitsForever {
        /// Index of the thread.
        thread: u32,
    },
}

impl ProgramError {
    /// Whether somebody stopped the run, and nothing is wrong with it.
    pub fn is_stop(&self) -> bool {
        *self == Self::Run(RunError::Submit(SubmitError::EarlyEnd(EarlyEnd::Stopped)))
    }
}

impl From<EarlyEnd> for ProgramError {
    fn from(over: EarlyEnd) -> Self {
        SubmitError::EarlyEnd(over).into()
    }
}

impl From<SubmitError> for ProgramError {
    fn from(error: SubmitError) -> Self {
        Self::Run(error.into())
    }
}
