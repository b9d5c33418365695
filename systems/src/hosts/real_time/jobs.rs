//! Jobs of real-time tasks: who releases them, in which order they wait, and the record of every one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::hash::BuildHasherDefault;

use priority_queue::PriorityQueue;
use rustc_hash::FxHasher;

use super::super::SporadicDelays;
use crate::gpu::{GpuInterface, SubmitError};
use crate::named::named;
use crate::proven::Proven;
use crate::tasks::{Task, TaskTime};
use crate::time::{Instant, is_in_time};
use crate::workload::{KernelId, OperationId, OperationKind, Origin, StreamId};

/// Number of a job, in the order of release.
pub(crate) type JobId = u32;

/// One job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskJob {
    /// Its task.
    pub task: u32,
    /// Which job of its task, from 0.
    pub number: u32,
    /// Release.
    pub release: TaskTime,
    /// Absolute deadline.
    pub deadline: TaskTime,
    /// When it was done; `None`: not before the run ended.
    pub finish: Option<TaskTime>,
    /// How often a job of higher priority was put in front of it before all its blocks were assigned.
    pub preemptions: u32,
}

impl TaskJob {
    /// Finish minus release.
    pub fn response(&self) -> Option<TaskTime> {
        self.finish.map(|finish| finish.saturating_sub(self.release))
    }

    /// Whether it was done after its deadline, or not at all.
    pub fn is_late(&self) -> bool {
        self.finish.is_none_or(|finish| !is_in_time(finish, self.deadline))
    }
}

named! {
    /// Who goes first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Policy: ALL, from_name {
        /// Earliest deadline first: a job's priority is its absolute deadline.
        Edf = "edf",
        /// Fixed priorities: those the tasks state, or else their relative deadlines.
        Fp = "fp",
    }
}

impl Policy {
    pub(super) fn key(self, task: &Task, job: &TaskJob) -> JobPriority {
        let urgency = match self {
            Self::Edf => job.deadline.units(),
            Self::Fp => task.priority.unwrap_or(task.timing.deadline.units()),
        };
        JobPriority { urgency, release: job.release, task: job.task }
    }
}

/// The priority of a job; the smaller, the more urgent. Ties go to the earlier release, then to the first task: fields
/// are compared in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct JobPriority {
    /// The absolute deadline \[ns\], or the number of the fixed priority.
    pub(super) urgency: u64,
    /// When the job was released \[ns\].
    pub(super) release: TaskTime,
    pub(super) task: u32,
}

/// Activated jobs, keyed by task: a task is there with the priority of its oldest job that is not done or taken, and
/// that priority changes when the job goes.
///
/// Each operation costs O(log n) for n tasks.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadyQueue {
    queue: PriorityQueue<u32, Reverse<JobPriority>, BuildHasherDefault<FxHasher>>,
    /// Activated jobs of each task, oldest first.
    waiting: Vec<VecDeque<(JobId, JobPriority)>>,
}

impl ReadyQueue {
    /// An empty queue for tasks number 0 to `tasks - 1`.
    pub(super) fn new(tasks: usize) -> Self {
        Self { queue: PriorityQueue::default(), waiting: vec![VecDeque::new(); tasks] }
    }

    /// Enters an activated job.
    pub(super) fn activate(&mut self, job: JobId, key: JobPriority) {
        let Some(waiting) = self.waiting.get_mut(key.task as usize) else { return };
        waiting.push_back((job, key));
        if waiting.len() == 1 {
            self.queue.push(key.task, Reverse(key));
        }
    }

    /// The most urgent job.
    pub(super) fn first(&self) -> Option<(JobId, JobPriority)> {
        let (&task, _) = self.queue.peek()?;
        self.waiting.get(task as usize)?.front().copied()
    }

    /// Takes out the most urgent job.
    pub(super) fn take_first(&mut self) -> Option<(JobId, JobPriority)> {
        let (&task, _) = self.queue.peek()?;
        self.take(task)
    }

    /// Takes out the oldest job of `task`. The next one takes its place, with its own priority.
    pub(super) fn take(&mut self, task: u32) -> Option<(JobId, JobPriority)> {
        let waiting = self.waiting.get_mut(task as usize)?;
        let oldest = waiting.pop_front();
        match waiting.front() {
            Some(&(_, next)) => {
                self.queue.change_priority(&task, Reverse(next));
            }
            None => {
                self.queue.remove(&task);
            }
        }
        oldest
    }
}

/// Releases the jobs of all tasks before a horizon. Periodic ones at offset + k T; sporadic ones with a random delay of
/// up to half a period added to each gap, from a stream of random numbers of each task's own.
#[derive(Debug)]
pub(super) struct Activations {
    tasks: Vec<Task>,
    policy: Policy,
    horizon: TaskTime,
    /// The next release of each task that has one before the horizon, and the task: the earliest comes out first, and
    /// of equal ones the first task.
    next: BinaryHeap<Reverse<(TaskTime, u32)>>,
    delays: SporadicDelays,
    released: Vec<u32>,
    jobs: Vec<TaskJob>,
    /// The job that each operation of the GPU belongs to.
    launches: Vec<JobId>,
}

impl Activations {
    /// For the releases before `horizon`, about `expected` jobs.
    pub(super) fn new(tasks: &[Task], policy: Policy, horizon: TaskTime, seed: u64, expected: usize) -> Self {
        let delays = SporadicDelays::new(seed, tasks.len());
        let mut activations = Self {
            tasks: tasks.to_vec(),
            policy,
            horizon,
            next: BinaryHeap::with_capacity(tasks.len()),
            delays,
            released: vec![0; tasks.len()],
            jobs: Vec::with_capacity(expected),
            launches: Vec::with_capacity(expected),
        };
        for (number, task) in (0..).zip(tasks) {
            activations.enter(number, task.offset);
        }
        activations
    }

    /// Asks to be woken for the first job, with token 0; hosts that ask for more have to take others.
    ///
    /// There is one wake-up for all tasks, moved from release to release: the GPU's calendar stays short.
    pub(super) fn start(&self, gpu: &mut impl GpuInterface) {
        if let Some(&Reverse((at, _))) = self.next.peek() {
            gpu.wake_at(at.instant(), 0);
        }
    }

    /// The next job released up to the present instant that was not asked for yet, with its priority.
    pub(super) fn next_released(&mut self, gpu: &mut impl GpuInterface) -> Option<(JobId, JobPriority)> {
        let &Reverse((release, task)) = self.next.peek().filter(|next| next.0.0.instant() <= gpu.now())?;
        self.next.pop();
        let index = task as usize;
        let timing = self.tasks[index].timing;
        let deadline = release.saturating_add(timing.deadline);
        let job = TaskJob { task, number: self.released[index], release, deadline, finish: None, preemptions: 0 };
        self.released[index] += 1;
        self.enter(task, release.saturating_add(timing.period));
        self.start(gpu);
        let key = self.policy.key(&self.tasks[index], &job);
        let id = JobId::try_from(self.jobs.len()).proven("more jobs than MAX_JOBS are refused beforehand");
        self.jobs.push(job);
        Some((id, key))
    }

    /// Enters the next release of a task: at `earliest`, or later if it is sporadic.
    fn enter(&mut self, task: u32, earliest: TaskTime) {
        let release = earliest.saturating_add(self.delay(task as usize));
        if release < self.horizon {
            self.next.push(Reverse((release, task)));
        }
    }

    fn delay(&mut self, task: usize) -> TaskTime {
        let Task { sporadic, timing, .. } = self.tasks[task];
        if sporadic { TaskTime::from_units(self.delays.next(task, timing.period.units())) } else { TaskTime::ZERO }
    }

    pub(super) fn job(&self, job: JobId) -> &TaskJob {
        &self.jobs[job as usize]
    }

    /// Submits a kernel of `job`.
    pub(super) fn submit(
        &mut self,
        job: JobId,
        stream: StreamId,
        kernel: KernelId,
        gpu: &mut impl GpuInterface,
    ) -> Result<OperationId, SubmitError> {
        let &TaskJob { task, number, .. } = self.job(job);
        self.launches.push(job);
        gpu.submit(stream, OperationKind::Kernel(kernel), Origin { thread: task, iteration: number })
    }

    /// The job that an operation belongs to.
    pub(super) fn job_of(&self, operation: u32) -> JobId {
        self.launches[operation as usize]
    }

    /// `job` is done.
    pub(super) fn finish(&mut self, job: JobId, now: Instant) {
        self.jobs[job as usize].finish = Some(now.into());
    }

    /// Another job was put in front of `job`.
    pub(super) fn preempt(&mut self, job: JobId) {
        self.jobs[job as usize].preemptions += 1;
    }

    /// All jobs, and the job of each operation.
    pub(super) fn into_records(self) -> (Vec<TaskJob>, Vec<JobId>) {
        (self.jobs, self.launches)
    }
}
