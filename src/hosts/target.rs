//! What the host threads of a scenario submit their work to.

use crate::gpu::{Gpu, SubmitError};
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, Origin, StreamId};

/// The side of a GPU that host threads see: the simulated [`Gpu`], or an analysis that computes completions instead
/// of running blocks. Either way the same code runs the threads, so that no two readings of a program can differ.
pub trait Target {
    /// The present instant.
    fn now(&self) -> Instant;

    /// Asks for the host to be woken at `at`.
    fn wake_at(&mut self, at: Instant, token: u64);

    /// Submits an operation to a stream, at the present instant (G1).
    ///
    /// # Errors
    /// [`SubmitError`] for what is unknown or too much.
    fn submit(&mut self, stream: StreamId, kind: OperationKind, origin: Origin) -> Result<OperationId, SubmitError>;

    /// Whether an operation has completed.
    fn is_complete(&self, operation: OperationId) -> bool;

    /// The operation submitted last to `stream`, if it has not completed.
    fn last_in(&self, stream: StreamId) -> Option<OperationId>;

    /// Operations submitted so far.
    fn submitted(&self) -> usize;

    /// How many operations, in launch order, have completed before the first that has not.
    fn completed_in_a_row(&self) -> usize;
}

impl Target for Gpu {
    fn now(&self) -> Instant {
        Gpu::now(self)
    }

    fn wake_at(&mut self, at: Instant, token: u64) {
        Gpu::wake_at(self, at, token);
    }

    fn submit(&mut self, stream: StreamId, kind: OperationKind, origin: Origin) -> Result<OperationId, SubmitError> {
        Gpu::submit(self, stream, kind, origin)
    }

    fn is_complete(&self, operation: OperationId) -> bool {
        Gpu::is_complete(self, operation)
    }

    fn last_in(&self, stream: StreamId) -> Option<OperationId> {
        Gpu::last_in(self, stream)
    }

    fn submitted(&self) -> usize {
        Gpu::submitted(self)
    }

    fn completed_in_a_row(&self) -> usize {
        Gpu::completed_in_a_row(self)
    }
}
