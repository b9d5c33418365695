//! Jobs whose ends release those of other threads: each end is taken in turn, and waits while the other thread is busy.

use std::collections::VecDeque;

use crate::gpu::GpuInterface;
use crate::scenario::HostThread;
use crate::time::Instant;
use crate::workload::OperationId;

/// Who releases whom.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    /// By thread; empty if none releases another.
    threads: Vec<Ends>,
    /// Those that release others, in the order of declaration.
    sources: Vec<usize>,
}

/// What is known of a thread.
#[derive(Debug, Default)]
struct Ends {
    /// Whom the ends of its jobs release, in the order of declaration.
    releases: Vec<usize>,
    /// Its jobs that have not ended, as far as they have begun, if they release others.
    open: VecDeque<OpenJob>,
    /// Whether it has no further jobs.
    is_over: bool,
    /// Releases of its own jobs by another thread that it has not come to.
    queued: VecDeque<Instant>,
    /// Whether it waits for one.
    waits: bool,
}

/// A job that has begun.
#[derive(Debug, Default)]
struct OpenJob {
    /// What it has submitted that may not have completed.
    operations: VecDeque<OperationId>,
    /// Whether its host has done all its steps.
    has_left: bool,
}

/// What a thread that others release finds before an iteration.
pub(super) enum Next {
    /// It was released then.
    Released(Instant),
    /// It waits.
    Later,
    /// Nothing releases it any more.
    Never,
}

impl Triggers {
    pub(super) fn new(threads: &[HostThread]) -> Self {
        let mut all = Self::default();
        for (thread, trigger) in threads.iter().enumerate().filter_map(|(at, thread)| Some((at, thread.triggered_by?)))
        {
            all.threads.resize_with(threads.len(), Ends::default);
            if let Some(trigger) = all.threads.get_mut(trigger as usize) {
                trigger.releases.push(thread);
            }
        }
        let releases = |thread: &usize| !all.threads[*thread].releases.is_empty();
        all.sources = (0..all.threads.len()).filter(releases).collect();
        all
    }

    /// Whether any thread releases another.
    pub(super) fn are_some(&self) -> bool {
        !self.threads.is_empty()
    }

    /// The last job of a thread that has begun, if it releases others.
    fn last_of(&mut self, thread: usize) -> Option<&mut OpenJob> {
        self.threads.get_mut(thread)?.open.back_mut()
    }

    /// A thread begins a job.
    pub(super) fn begins(&mut self, thread: usize) {
        if let Some(ends) = self.threads.get_mut(thread).filter(|ends| !ends.releases.is_empty()) {
            ends.open.push_back(OpenJob::default());
        }
    }

    /// The job that a thread is at has submitted an operation.
    pub(super) fn submitted(&mut self, thread: usize, operation: OperationId) {
        if let Some(job) = self.last_of(thread) {
            job.operations.push_back(operation);
        }
    }

    /// The host of the job that a thread is at has done all its steps.
    pub(super) fn has_left(&mut self, thread: usize) {
        if let Some(job) = self.last_of(thread) {
            job.has_left = true;
        }
    }

    /// A thread has no further jobs.
    pub(super) fn ends(&mut self, thread: usize) {
        if let Some(ends) = self.threads.get_mut(thread) {
            ends.is_over = true;
        }
    }

    /// Jobs that have ended by now release others: threads that waited for that, and those for which nothing is left to
    /// wait, are `ready`.
    pub(super) fn release(&mut self, gpu: &impl GpuInterface, ready: &mut Vec<usize>) {
        for &thread in &self.sources {
            let Ends { open, is_over, .. } = &mut self.threads[thread];
            let mut ended = 0;
            while let Some(job) = open.front_mut() {
                while job.operations.pop_front_if(|operation| gpu.is_complete(*operation)).is_some() {}
                if !job.has_left || !job.operations.is_empty() {
                    break;
                }
                open.pop_front();
                ended += 1;
            }
            let is_last = *is_over && open.is_empty();
            if ended == 0 && !is_last {
                continue;
            }
            for place in 0..self.threads[thread].releases.len() {
                let other = self.threads[thread].releases[place];
                let other_ends = &mut self.threads[other];
                other_ends.queued.extend(std::iter::repeat_n(gpu.now(), ended));
                if std::mem::take(&mut other_ends.waits) {
                    ready.push(other);
                }
            }
        }
    }

    /// What `thread`, which `trigger` releases, finds before an iteration.
    pub(super) fn next(&mut self, thread: usize, trigger: u32) -> Next {
        let is_over = |ends: &Ends| ends.is_over && ends.open.is_empty();
        let is_last = self.threads.get(trigger as usize).is_none_or(is_over);
        match self.threads[thread].queued.pop_front() {
            Some(released) => Next::Released(released),
            None if is_last => Next::Never,
            None => {
                self.threads[thread].waits = true;
                Next::Later
            }
        }
    }
}
