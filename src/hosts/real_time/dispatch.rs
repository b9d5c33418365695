//! What all strategies share: jobs are released, a strategy moves them to streams, and what completes is recorded.

use super::activations::Activations;
use super::job::JobId;
use super::ready_queue::JobPriority;
use crate::gpu::{GpuEvent, GpuInterface, Host, RunError, SubmitError};
use crate::workload::OperationId;

/// What strategies differ in.
pub(super) trait Dispatch {
    fn released(&mut self, job: JobId, key: JobPriority);

    /// An operation of a job, whose task is named beside it, has completed. Says whether the job is done.
    fn completed(&mut self, operation: OperationId, of: (JobId, u32)) -> bool;

    /// All blocks of an operation were assigned.
    fn dispatched(&mut self, _operation: OperationId) {}

    /// Moves jobs to streams.
    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError>;
}

/// A strategy in front of the GPU.
#[derive(Debug)]
pub(super) struct Scheduled<D> {
    pub(super) activations: Activations,
    pub(super) strategy: D,
}

impl<D: Dispatch> Host for Scheduled<D> {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        self.activations.start(gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        match event {
            GpuEvent::Completed(operation) => {
                let job = self.activations.job_of(operation.0);
                let task = self.activations.job(job).task;
                if self.strategy.completed(operation, (job, task)) {
                    self.activations.finish(job, gpu.now());
                }
            }
            GpuEvent::FullyDispatched(operation) => self.strategy.dispatched(operation),
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        while let Some((job, key)) = self.activations.next_released(gpu) {
            self.strategy.released(job, key);
        }
        Ok(self.strategy.dispatch(&mut self.activations, gpu)?)
    }
}
