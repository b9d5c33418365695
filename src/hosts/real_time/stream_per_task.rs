//! No scheduler at all: "the default execution (a stream per task)" of RTNS 2020, section 7.2. Every job is launched
//! when it is activated, in its task's own stream of the default priority, and the GPU does as it pleases.

use super::activations::Activations;
use super::dispatch::Dispatch;
use super::grid::{Grid, GridError};
use super::job::JobId;
use super::ready_queue::JobPriority;
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::Task;
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

/// Launches every job at its release.
#[derive(Debug)]
pub(super) struct StreamPerTask {
    launches: Vec<(StreamId, KernelId)>,
    released: Vec<(JobId, JobPriority)>,
}

impl StreamPerTask {
    /// Makes streams and kernels known to `gpu`.
    pub(super) fn new(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let mut streams = Vec::new();
        for task in tasks {
            streams.push(gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(task.name.clone()) })?);
        }
        let launches = streams.into_iter().zip(Grid::add_kernels(tasks, gpu)?).collect();
        Ok(Self { launches, released: Vec::new() })
    }
}

impl Dispatch for StreamPerTask {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.released.push((job, key));
    }

    fn completed(&mut self, _operation: OperationId, _of: (JobId, u32)) -> bool {
        true
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        for (job, key) in self.released.drain(..) {
            let (stream, kernel) = self.launches[key.task as usize];
            activations.submit(job, stream, kernel, gpu)?;
        }
        Ok(())
    }
}
