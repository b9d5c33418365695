//! The single-stream strategy (RTNS 2020, section 5.1): one stream, h-sq. "When scheduler is invoked and the stream
//! queue is empty, the highest priority job in rq is moved to h-sq." Nothing is preempted.

use super::real_time::{Activations, Grid, GridError, ReadyQueue};
use crate::gpu::{Gpu, GpuEvent, Host, SubmitError};
use crate::workload::{KernelId, OperationKind, Origin, StreamId, StreamSpec};

/// Runs one job at a time.
#[derive(Debug)]
pub struct SingleStream {
    activations: Activations,
    rq: ReadyQueue,
    kernels: Vec<KernelId>,
    stream: StreamId,
    is_busy: bool,
}

impl SingleStream {
    /// Makes streams and kernels known to `gpu`.
    ///
    /// # Errors
    /// A task that cannot be launched.
    pub fn new(activations: Activations, gpu: &mut Gpu) -> Result<Self, GridError> {
        let stream = gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new("h-sq") })?;
        let mut kernels = Vec::new();
        for task in activations.tasks() {
            let grid = Grid::new(task, gpu.device())?;
            kernels.push(grid.add_kernel(task, grid.blocks, gpu)?);
        }
        let rq = ReadyQueue::new(activations.tasks().len());
        Ok(Self { activations, rq, kernels, stream, is_busy: false })
    }

    /// What was recorded.
    #[must_use]
    pub fn into_activations(self) -> Activations {
        self.activations
    }
}

impl Host for SingleStream {
    fn start(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        self.activations.start(gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &Gpu) {
        if let GpuEvent::Completed(operation) = event {
            let job = self.activations.job_of(operation.0);
            self.activations.finish(job, gpu.now());
            self.is_busy = false;
        }
    }

    fn on_wake(&mut self, _token: u64) {}

    fn act(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        while let Some((job, key)) = self.activations.next_released(gpu) {
            self.rq.activate(job, key);
        }
        if self.is_busy {
            return Ok(());
        }
        if let Some((job, key)) = self.rq.take_first() {
            let origin = Origin { thread: key.task, iteration: self.activations.job(job).number };
            self.activations.launches(job);
            gpu.submit(self.stream, OperationKind::Kernel(self.kernels[key.task as usize]), origin)?;
            self.is_busy = true;
        }
        Ok(())
    }
}
