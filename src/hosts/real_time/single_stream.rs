//! The single-stream strategy (RTNS 2020, section 5.1): one stream, h-sq. "When scheduler is invoked and the stream
//! queue is empty, the highest priority job in rq is moved to h-sq." Nothing is preempted.

use super::activations::Activations;
use super::dispatch::Dispatch;
use super::grid::{Grid, GridError};
use super::job::JobId;
use super::ready_queue::{JobPriority, ReadyQueue};
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::Task;
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

/// Runs one job at a time.
#[derive(Debug)]
pub(super) struct SingleStream {
    rq: ReadyQueue,
    kernels: Vec<KernelId>,
    stream: StreamId,
    is_busy: bool,
}

impl SingleStream {
    /// Makes streams and kernels known to `gpu`.
    pub(super) fn new(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let stream = gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new("h-sq") })?;
        let kernels = Grid::add_kernels(tasks, gpu)?;
        let rq = ReadyQueue::new(tasks.len());
        Ok(Self { rq, kernels, stream, is_busy: false })
    }
}

impl Dispatch for SingleStream {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.rq.activate(job, key);
    }

    fn completed(&mut self, _operation: OperationId, _of: (JobId, u32)) -> bool {
        self.is_busy = false;
        true
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        if self.is_busy {
            return Ok(());
        }
        if let Some((job, key)) = self.rq.take_first() {
            activations.submit(job, self.stream, self.kernels[key.task as usize], gpu)?;
            self.is_busy = true;
        }
        Ok(())
    }
}
