//! The strategies of RTNS 2020 without reservations, and what all strategies share: jobs are released, a strategy moves
//! them to streams, and what completes is recorded.
//!
//! [`Stacks`] move jobs from queues to streams of low and high priority, of which those in use are a stack: a job goes
//! on top of it if a level is left and it is more urgent than the job there, and preempts that at the end of its
//! blocks.
//!
//! **Single stream** (section 5.1): one stream, h-sq. "When scheduler is invoked and the stream queue is empty, the
//! highest priority job in rq is moved to h-sq." Nothing is preempted.
//!
//! **Multiple streams** (section 5.2): as many streams as priority levels, PL. The paper's three cases, for PL = 2, at
//! each scheduling event:
//!
//! 1. h-sq and l-sq are empty: the highest priority task of rq goes to l-sq.
//! 2. h-sq is empty, l-sq is not: if the highest priority in rq is greater than that of the task in l-sq, it goes to
//!    h-sq, and preempts the other at the end of its blocks.
//! 3. Otherwise no scheduling decision is taken. So a job in h-sq alone keeps everybody else waiting.
//!
//! **SMs as cores** (section 5.3): a task bound to an SM waits in that core's queue and runs there alone among its
//! like; a task that uses all SMs waits in a queue of its own. The heads of the queues go to streams by the rules of
//! the multiple-streams strategy. The paper leaves open how those rules apply to several cores. Ours: each SM has its
//! own stack, and a job that takes all SMs needs a level on every one. The most urgent head goes first, and while one
//! for all SMs waits, no less urgent one overtakes it.
//!
//! What the GPU makes of it is not what independent cores would do: the EE queue of a priority serves all SMs, so a
//! kernel that waits for its own SM holds back those behind it for another (X1), and lower priorities (A2).
//!
//! **A stream per task** (section 7.2, "the default execution"): no scheduler at all. Every job is launched when it is
//! activated, in its task's own stream of the default priority, and the GPU does as it pleases.

use super::grid::{Grid, GridError};
use super::jobs::{Activations, JobId, JobPriority, ReadyQueue};
use crate::gpu::{GpuEvent, GpuInterface, Host, RunError, SubmitError};
use crate::tasks::{Allocation, Task};
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

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

/// Moves jobs from queues to stacks of streams.
#[derive(Debug)]
pub(super) struct Stacks {
    /// rq alone; or SM0-q, SM1-q, …, and last the queue of tasks for all SMs.
    queues: Vec<ReadyQueue>,
    /// The queue of each task.
    queue_of: Vec<usize>,
    kernels: Vec<KernelId>,
    /// For each queue, its streams from low to high priority.
    streams: Vec<Vec<StreamId>>,
    /// For each queue but that of tasks for all SMs, what is in its streams, from low to high priority.
    used: Vec<Vec<Submitted>>,
}

#[derive(Debug, Clone, Copy)]
struct Submitted {
    operation: OperationId,
    job: JobId,
    key: JobPriority,
    level: usize,
    is_dispatched: bool,
}

/// A stream for each of the GPU's priority levels, from low to high.
fn streams(gpu: &mut impl GpuInterface, name: &str) -> Result<Vec<StreamId>, SubmitError> {
    let mut priorities: Vec<i32> = gpu.device().priorities().collect();
    priorities.reverse();
    let spec = |priority| StreamSpec {
        priority,
        blocking: false,
        ..StreamSpec::new(format!("{name} at priority {priority}"))
    };
    priorities.into_iter().map(|priority| gpu.add_stream(spec(priority))).collect()
}

impl Stacks {
    /// Makes the stream and kernels of the single-stream strategy known to `gpu`.
    pub(super) fn single_stream(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let stream = gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new("h-sq") })?;
        Self::new(tasks, vec![vec![stream]], vec![0; tasks.len()], 1, gpu)
    }

    /// Makes streams and kernels of the multiple-streams strategy known to `gpu`.
    pub(super) fn multi_stream(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let streams = streams(gpu, "sq")?;
        Self::new(tasks, vec![streams], vec![0; tasks.len()], 1, gpu)
    }

    /// Makes streams and kernels of the SMs-as-cores strategy known to `gpu`.
    pub(super) fn sms_as_cores(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let sms = gpu.device().sms as usize;
        let names = (0..sms).map(|sm| format!("SM {sm}")).chain(["all SMs".to_owned()]);
        let streams = names.map(|name| streams(gpu, &name)).collect::<Result<_, _>>()?;
        let queue_of = tasks.iter().map(|task| match task.allocation {
            Allocation::Sm(sm) => (sm as usize).min(sms),
            Allocation::All => sms,
        });
        Self::new(tasks, streams, queue_of.collect(), sms, gpu)
    }

    fn new(
        tasks: &[Task],
        streams: Vec<Vec<StreamId>>,
        queue_of: Vec<usize>,
        stacks: usize,
        gpu: &mut impl GpuInterface,
    ) -> Result<Self, GridError> {
        let kernels = Grid::add_kernels(tasks, gpu)?;
        let queues = vec![ReadyQueue::new(tasks.len()); streams.len()];
        Ok(Self { queues, queue_of, kernels, streams, used: vec![Vec::new(); stacks] })
    }

    /// The most urgent head that may go to a stream now: its queue, and the level.
    fn next(&self) -> Option<(usize, usize)> {
        let mut heads: Vec<(JobPriority, usize)> =
            (0..).zip(&self.queues).filter_map(|(queue, heads)| Some((heads.first()?.1, queue))).collect();
        heads.sort_unstable();
        for (key, queue) in heads {
            let is_for_all = queue == self.used.len();
            let needed = if is_for_all { &self.used[..] } else { &self.used[queue..=queue] };
            let tops = || needed.iter().filter_map(|stack| stack.last());
            let level = tops().map(|top| top.level + 1).max().unwrap_or(0);
            if level < self.streams[queue].len() && tops().all(|top| key < top.key) {
                return Some((queue, level));
            }
            if is_for_all {
                return None;
            }
        }
        None
    }
}

impl Dispatch for Stacks {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.queues[self.queue_of[key.task as usize]].activate(job, key);
    }

    fn completed(&mut self, operation: OperationId, _of: (JobId, u32)) -> bool {
        for stack in &mut self.used {
            stack.retain(|submitted| submitted.operation != operation);
        }
        true
    }

    fn dispatched(&mut self, operation: OperationId) {
        for submitted in self.used.iter_mut().flatten() {
            submitted.is_dispatched |= submitted.operation == operation;
        }
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        while let Some((queue, level)) = self.next() {
            let Some((job, key)) = self.queues[queue].take_first() else { return Ok(()) };
            let kernel = self.kernels[key.task as usize];
            let operation = activations.submit(job, self.streams[queue][level], kernel, gpu)?;
            let submitted = Submitted { operation, job, key, level, is_dispatched: false };
            let sms = if queue == self.used.len() { 0..queue } else { queue..queue + 1 };
            let mut preempted: Vec<JobId> = Vec::new();
            for stack in &mut self.used[sms] {
                preempted.extend(stack.last().filter(|below| !below.is_dispatched).map(|below| below.job));
                stack.push(submitted);
            }
            preempted.dedup();
            for job in preempted {
                activations.preempt(job);
            }
        }
        Ok(())
    }
}

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
