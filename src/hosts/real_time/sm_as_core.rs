//! The SMs-as-cores strategy (RTNS 2020, section 5.3): a task bound to an SM waits in that core's queue and runs there
//! alone among its like; a task that uses all SMs waits in a queue of its own. The heads of the queues go to streams of
//! low and high priority by the rules of the multiple-streams strategy.
//!
//! The paper leaves open how those rules apply to several cores. Ours: each SM has its own stack of priority levels, as
//! in [`MultiStream`](super::multi_stream::MultiStream). A job goes on top where it is more urgent than what is there
//! and a level is left; one that takes all SMs needs that on every SM. The most urgent head goes first, and while one
//! for all SMs waits, no less urgent one overtakes it.
//!
//! What the GPU makes of it is not what independent cores would do: the EE queue of a priority serves all SMs, so a
//! kernel that waits for its own SM holds back those behind it for another (X1), and lower priorities (A2).

use super::activations::Activations;
use super::dispatch::Dispatch;
use super::grid::{Grid, GridError};
use super::job::JobId;
use super::ready_queue::{JobPriority, ReadyQueue};
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::{Allocation, Task};
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

/// Runs tasks on their SMs, and others on all of them.
#[derive(Debug)]
pub(super) struct SmAsCore {
    /// SM0-q, SM1-q, …, and last the queue of tasks for all SMs.
    queues: Vec<ReadyQueue>,
    /// The queue of each task.
    queue_of: Vec<usize>,
    kernels: Vec<KernelId>,
    /// For each queue, its streams from low to high priority.
    streams: Vec<Vec<StreamId>>,
    /// For each SM, what runs there, from low to high priority.
    stacks: Vec<Vec<Submitted>>,
}

#[derive(Debug, Clone, Copy)]
struct Submitted {
    operation: OperationId,
    job: JobId,
    key: JobPriority,
    level: usize,
    is_dispatched: bool,
}

impl SmAsCore {
    /// Makes streams and kernels known to `gpu`.
    pub(super) fn new(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Self, GridError> {
        let sms = gpu.device().sms as usize;
        let mut priorities: Vec<i32> = gpu.device().priorities().collect();
        priorities.reverse();
        let mut streams = vec![Vec::new(); sms + 1];
        for (queue, streams) in streams.iter_mut().enumerate() {
            for &priority in &priorities {
                let name = if queue == sms { "all SMs".to_owned() } else { format!("SM {queue}") };
                let name = format!("{name} at priority {priority}");
                streams.push(gpu.add_stream(StreamSpec { priority, blocking: false, ..StreamSpec::new(name) })?);
            }
        }
        let kernels = Grid::add_kernels(tasks, gpu)?;
        let queues = vec![ReadyQueue::new(tasks.len()); sms + 1];
        let queue_of = tasks.iter().map(|task| match task.allocation {
            Allocation::Sm(sm) => (sm as usize).min(sms),
            Allocation::All => sms,
        });
        Ok(Self { queues, queue_of: queue_of.collect(), kernels, streams, stacks: vec![Vec::new(); sms] })
    }

    /// The most urgent head that may go to a stream now: its queue, and the level.
    fn next(&self) -> Option<(usize, usize)> {
        let mut heads: Vec<(JobPriority, usize)> =
            (0..).zip(&self.queues).filter_map(|(queue, heads)| Some((heads.first()?.1, queue))).collect();
        heads.sort_unstable();
        for (key, queue) in heads {
            let is_for_all = queue == self.stacks.len();
            let needed = if is_for_all { &self.stacks[..] } else { &self.stacks[queue..=queue] };
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

impl Dispatch for SmAsCore {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.queues[self.queue_of[key.task as usize]].activate(job, key);
    }

    fn completed(&mut self, operation: OperationId, _of: (JobId, u32)) -> bool {
        for stack in &mut self.stacks {
            stack.retain(|submitted| submitted.operation != operation);
        }
        true
    }

    fn dispatched(&mut self, operation: OperationId) {
        for submitted in self.stacks.iter_mut().flatten() {
            submitted.is_dispatched |= submitted.operation == operation;
        }
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        while let Some((queue, level)) = self.next() {
            let Some((job, key)) = self.queues[queue].take_first() else { return Ok(()) };
            let kernel = self.kernels[key.task as usize];
            let operation = activations.submit(job, self.streams[queue][level], kernel, gpu)?;
            let submitted = Submitted { operation, job, key, level, is_dispatched: false };
            let sms = if queue == self.stacks.len() { 0..queue } else { queue..queue + 1 };
            let mut preempted: Vec<JobId> = Vec::new();
            for stack in &mut self.stacks[sms] {
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
