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

use super::activations::Activations;
use super::dispatch::Dispatch;
use super::grid::{Grid, GridError};
use super::job::JobId;
use super::ready_queue::{JobPriority, ReadyQueue};
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::Task;
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

/// Runs one job in each stream, preempting at the end of blocks.
#[derive(Debug)]
pub(super) struct MultiStream {
    rq: ReadyQueue,
    kernels: Vec<KernelId>,
    /// From the lowest priority, l-sq, to the highest, h-sq.
    streams: Vec<StreamId>,
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
    pub(super) fn new(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let mut priorities: Vec<i32> = gpu.device().priorities().collect();
        priorities.reverse();
        let mut streams = Vec::new();
        for priority in priorities {
            let name = format!("sq at priority {priority}");
            streams.push(gpu.add_stream(StreamSpec { priority, blocking: false, ..StreamSpec::new(name) })?);
        }
        let kernels = Grid::add_kernels(tasks, gpu)?;
        let rq = ReadyQueue::new(tasks.len());
        let in_stream = vec![None; streams.len()];
        Ok(Self { rq, kernels, streams, in_stream })
    }
}

impl Dispatch for MultiStream {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.rq.activate(job, key);
    }

    fn completed(&mut self, operation: OperationId, _of: (JobId, u32)) -> bool {
        for slot in &mut self.in_stream {
            slot.take_if(|submitted| submitted.operation == operation);
        }
        true
    }

    fn dispatched(&mut self, operation: OperationId) {
        for submitted in self.in_stream.iter_mut().flatten() {
            submitted.is_dispatched |= submitted.operation == operation;
        }
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        let Some((job, key)) = self.rq.first() else { return Ok(()) };
        let top = self.in_stream.iter().rposition(Option::is_some);
        let level = top.map_or(0, |top| top + 1);
        let below = top.and_then(|top| self.in_stream[top]);
        if level == self.streams.len() || below.is_some_and(|below| key >= below.key) {
            return Ok(());
        }
        if let Some(below) = below.filter(|below| !below.is_dispatched) {
            activations.preempt(below.job);
        }
        self.rq.take_first();
        let operation = activations.submit(job, self.streams[level], self.kernels[key.task as usize], gpu)?;
        self.in_stream[level] = Some(Submitted { operation, job, key, is_dispatched: false });
        Ok(())
    }
}
