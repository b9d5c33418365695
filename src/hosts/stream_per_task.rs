//! No scheduler at all: "the default execution (a stream per task)" of RTNS 2020, section 7.2. Every job is launched
//! when it is activated, in its task's own stream of the default priority, and the GPU does as it pleases.

use super::real_time::{Activations, Grid, GridError};
use crate::gpu::{Gpu, GpuEvent, Host, SubmitError};
use crate::workload::{KernelId, OperationKind, Origin, StreamId, StreamSpec};

/// Launches every job at its release.
#[derive(Debug)]
pub struct StreamPerTask {
    activations: Activations,
    launches: Vec<(StreamId, KernelId)>,
}

impl StreamPerTask {
    /// Makes streams and kernels known to `gpu`.
    ///
    /// # Errors
    /// A task that cannot be launched.
    pub fn new(activations: Activations, gpu: &mut Gpu) -> Result<Self, GridError> {
        let mut launches = Vec::new();
        for task in activations.tasks() {
            let stream = gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(task.name.clone()) })?;
            let grid = Grid::new(task, gpu.device())?;
            launches.push((stream, grid.add_kernel(task, grid.blocks, gpu)?));
        }
        Ok(Self { activations, launches })
    }

    /// What was recorded.
    #[must_use]
    pub fn into_activations(self) -> Activations {
        self.activations
    }
}

impl Host for StreamPerTask {
    fn start(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        self.activations.start(gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &Gpu) {
        if let GpuEvent::Completed(operation) = event {
            let job = self.activations.job_of(operation.0);
            self.activations.finish(job, gpu.now());
        }
    }

    fn on_wake(&mut self, _token: u64) {}

    fn act(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        while let Some((job, key)) = self.activations.next_released(gpu) {
            let (stream, kernel) = self.launches[key.task as usize];
            let origin = Origin { thread: key.task, iteration: self.activations.job(job).number };
            self.activations.launches(job);
            gpu.submit(stream, OperationKind::Kernel(kernel), origin)?;
        }
        Ok(())
    }
}
