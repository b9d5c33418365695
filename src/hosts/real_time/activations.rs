//! Who releases jobs, and the record of every job.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::sporadic_delays::SporadicDelays;
use super::job::{JobId, TaskJob};
use super::ready_queue::{JobPriority, Policy};
use crate::gpu::{GpuInterface, SubmitError};
use crate::proven::Proven;
use crate::tasks::{Task, TaskTime};
use crate::time::Instant;
use crate::workload::{KernelId, OperationId, OperationKind, Origin, StreamId};

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
