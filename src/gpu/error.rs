//! Why the GPU refuses something, or a run cannot go on.

use thiserror::Error;

use crate::effort::EarlyEnd;
use crate::time::Instant;
use crate::trace::TraceFull;
use crate::workload::{OperationId, WorkloadError};

/// Why the GPU does not take something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// A stream, kernel or copy that the device does not take.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// A stream, event, kernel or copy that was never made known.
    #[error("no such stream, event, kernel or copy")]
    Unknown,
    /// Processes of two catalogues, of which nobody says which is which.
    #[error("several processes are made known beside others")]
    SeveralProcesses,
    /// The run was stopped, or is more work than its input may ask for.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// More operations than the run may submit.
    #[error("the scenario submits more than {most} operations")]
    TooManyOperations {
        /// The limit.
        most: u32,
    },
}

/// Why a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The GPU refused what the host submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// An operation would end after the end of representable time.
    #[error("operation {} would end after 2^64 ns", operation.0)]
    TimeOverflow {
        /// The operation.
        operation: OperationId,
    },
    /// The run goes on until 2^64 ns, the end of representable time, which stands for "never".
    #[error("the run goes on until 2^64 ns, the end of representable time")]
    EndOfTime,
    /// More steps at one instant than a scenario that makes progress can have.
    #[error("more than {MAX_ROUNDS} rounds of zero-length operations at {at}: time does not go on")]
    NoProgress {
        /// The instant.
        at: Instant,
    },
    /// The record has no room left.
    #[error(transparent)]
    TraceFull(#[from] TraceFull),
}

/// Rounds at one instant after which a run is given up.
pub(super) const MAX_ROUNDS: u64 = 100_000_000;
