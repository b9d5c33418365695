//! The run-queue: activated jobs in the order of their priorities.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::hash::BuildHasherDefault;

use priority_queue::PriorityQueue;
use rustc_hash::FxHasher;

use super::job::{JobId, TaskJob};
use crate::named::named;
use crate::tasks::{Task, TaskTime};

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
