//! The multiple-streams strategy (RTNS 2020, section 5.2): as many streams as priority levels, PL.
//!
//! The paper's three cases, for PL = 2, at each scheduling event:
//!
//! 1. h-sq and l-sq are empty: the highest priority task of rq goes to l-sq.
//! 2. h-sq is empty, l-sq is not: if the highest priority in rq is greater than that of the task in l-sq, it goes to
//!    h-sq, and preempts the other at the end of its blocks.
//! 3. Otherwise no scheduling decision is taken. So a job in h-sq alone keeps everybody else waiting.
//!
//! With more levels: the streams in use are a stack, whose top is the highest of them in use; a job goes on top of it
//! if a level is left and it is more urgent than the job there.

use super::real_time::{Activations, Grid, GridError, JobId, JobPriority, ReadyQueue};
use crate::gpu::{Gpu, GpuEvent, Host, SubmitError};
use crate::workload::{KernelId, OperationId, OperationKind, Origin, StreamId, StreamSpec};

/// Runs one job in each stream, preempting at the end of blocks.
#[derive(Debug)]
pub struct MultiStream {
    activations: Activations,
    rq: ReadyQueue,
    kernels: Vec<KernelId>,
    /// From the lowest priority, l-sq, to the highest, h-sq.
    streams: Vec<StreamId>,
    /// What is in each stream.
    in_stream: Vec<Option<Submitted>>,
}

#[derive(Debug, Clone, Copy)]
struct Submitted {
    operation: OperationId,
    job: JobId,
    key: JobPriority,
    is_dispatched: bool,
}

impl MultiStream {
    /// Makes streams and kernels known to `gpu`, one stream for each of its priority levels.
    ///
    /// # Errors
    /// A task that cannot be launched.
    pub fn new(activations: Activations, gpu: &mut Gpu) -> Result<Self, GridError> {
        let mut priorities: Vec<i32> = gpu.device().priorities().collect();
        priorities.reverse();
        let mut streams = Vec::new();
        for priority in priorities {
            let name = format!("sq at priority {priority}");
            streams.push(gpu.add_stream(StreamSpec { priority, blocking: false, ..StreamSpec::new(name) })?);
        }
        let mut kernels = Vec::new();
        for task in activations.tasks() {
            let grid = Grid::new(task, gpu.device())?;
            kernels.push(grid.add_kernel(task, grid.blocks, gpu)?);
        }
        let rq = ReadyQueue::new(activations.tasks().len());
        let in_stream = vec![None; streams.len()];
        Ok(Self { activations, rq, kernels, streams, in_stream })
    }

    /// What was recorded.
    #[must_use]
    pub fn into_activations(self) -> Activations {
        self.activations
    }
}

impl Host for MultiStream {
    fn start(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        self.activations.start(gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &Gpu) {
        match event {
            GpuEvent::Completed(operation) => {
                let job = self.activations.job_of(operation.0);
                self.activations.finish(job, gpu.now());
                for slot in &mut self.in_stream {
                    slot.take_if(|submitted| submitted.operation == operation);
                }
            }
            GpuEvent::FullyDispatched(operation) => {
                for submitted in self.in_stream.iter_mut().flatten() {
                    submitted.is_dispatched |= submitted.operation == operation;
                }
            }
            GpuEvent::BlocksCompleted { .. } => {}
        }
    }

    fn on_wake(&mut self, _token: u64) {}

    fn act(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        while let Some((job, key)) = self.activations.next_released(gpu) {
            self.rq.activate(job, key);
        }
        let Some((job, key)) = self.rq.first() else { return Ok(()) };
        let top = self.in_stream.iter().rposition(Option::is_some);
        let level = top.map_or(0, |top| top + 1);
        let below = top.and_then(|top| self.in_stream[top]);
        if level == self.streams.len() || below.is_some_and(|below| key >= below.key) {
            return Ok(());
        }
        if let Some(below) = below.filter(|below| !below.is_dispatched) {
            self.activations.preempt(below.job);
        }
        self.rq.take_first();
        let origin = Origin { thread: key.task, iteration: self.activations.job(job).number };
        self.activations.launches(job);
        let operation =
            gpu.submit(self.streams[level], OperationKind::Kernel(self.kernels[key.task as usize]), origin)?;
        self.in_stream[level] = Some(Submitted { operation, job, key, is_dispatched: false });
        Ok(())
    }
}
