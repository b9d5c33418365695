//! Jobs of a run that is told of while it goes on: those that are not over, and those of which operations are still to
//! be told.

use std::collections::VecDeque;

use super::jobs::{Job, Jobs, Progress, backlog};
use super::record::IterationSpan;
use crate::canonical::Canonical;
use crate::gpu::Ended;
use crate::limits::count_turn;
use crate::scenario::{HostThread, Scenario};
use crate::time::{Duration, Instant};
use crate::trace::OperationRecord;
use crate::workload::{OperationId, Origin};

/// The jobs of all threads, in a window over the iterations of each.
#[derive(Debug)]
pub(crate) struct JobWindow<'s> {
    threads: &'s [HostThread],
    windows: Vec<Window>,
}

#[derive(Debug, Default)]
struct Window {
    /// Jobs of the thread that are not held any more: the first ones.
    passed: u32,
    jobs: VecDeque<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    progress: Progress,
    /// Whether all its operations have been submitted and have completed. It may be told of then, and is not looked at
    /// again.
    is_over: bool,
}

impl<'s> JobWindow<'s> {
    pub(crate) fn new(scenario: &'s Scenario) -> Self {
        let threads = &scenario.threads;
        Self { threads, windows: threads.iter().map(|_| Window::default()).collect() }
    }

    /// Iterations begin to be jobs here, those of each thread in their order.
    pub(crate) fn extend(&mut self, spans: Vec<IterationSpan>) {
        for span in spans {
            let index = span.thread as usize;
            if self.threads[index].does_jobs() {
                debug_assert_eq!(
                    span.iteration as usize,
                    self.windows[index].passed as usize + self.windows[index].jobs.len()
                );
                self.windows[index].jobs.push_back(Held { progress: Progress::new(span), is_over: false });
            }
        }
    }

    /// Writes what is held of jobs, counted back from the iteration in which each thread is.
    pub(crate) fn write_state(&self, iterations: &[u64], to: &mut Canonical) {
        let Self { threads, windows } = self;
        let windows = windows.iter().zip(iterations).zip(*threads).filter(|(_, thread)| thread.does_jobs());
        to.list(windows, |to, ((Window { passed, jobs }, iteration), _)| {
            to.number(iteration.wrapping_sub((*passed).into()));
            to.list(jobs, |to, Held { progress: Progress { span, finished }, is_over }| {
                // Jobs of a thread are numbered without gaps.
                let IterationSpan { thread: _, iteration: _, start, end } = *span;
                to.instant(start);
                to.instant(end);
                to.optional(*finished, Canonical::instant);
                to.number(*is_over);
            });
        });
    }

    fn get_mut(&mut self, origin: Origin) -> Option<&mut Held> {
        let window = self.windows.get_mut(origin.thread as usize)?;
        window.jobs.get_mut(origin.iteration.checked_sub(window.passed)? as usize)
    }

    /// Counts what is `held` of the operations, none of which was told of before its job was over.
    fn count<'r>(&mut self, held: impl Iterator<Item = (OperationId, &'r OperationRecord)>) {
        for (_, record) in held {
            if let Some(job) = self.get_mut(record.origin).filter(|job| !job.is_over) {
                job.progress.count(record.finish());
            }
        }
    }

    /// Finds the jobs that are over now, and tells `visit` of each; of the operations that are `held`, those
    /// before the number that comes back may be told of: they have completed, and their jobs are over.
    pub(crate) fn end_jobs<'r>(
        &mut self,
        held: impl Iterator<Item = (OperationId, &'r OperationRecord)> + Clone,
        mut visit: impl FnMut(&Job),
    ) -> OperationId {
        self.count(held.clone());
        let threads = self.threads;
        for job in self.windows.iter_mut().flat_map(|window| &mut window.jobs).filter(|job| !job.is_over) {
            if job.progress.finished.is_some() && job.progress.span.end().is_some() {
                job.is_over = true;
                visit(&job.progress.job(threads));
            } else {
                job.progress = Progress::new(job.progress.span);
            }
        }
        let mut until = OperationId(0);
        for (id, record) in held {
            if record.finish().is_none() || self.get_mut(record.origin).is_none_or(|job| !job.is_over) {
                return id;
            }
            until = OperationId(id.0 + 1);
        }
        until
    }

    /// Forgets the jobs that are over and of which no operation is `held` any more.
    pub(crate) fn forget<'r>(&mut self, held: impl Iterator<Item = (OperationId, &'r OperationRecord)>) {
        let mut first: Vec<Option<u32>> = vec![None; self.windows.len()];
        for (_, record) in held {
            if let Some(first) = first.get_mut(record.origin.thread as usize) {
                let iteration = record.origin.iteration;
                *first = Some(first.map_or(iteration, |first| first.min(iteration)));
            }
        }
        for (window, first) in self.windows.iter_mut().zip(first) {
            while first.is_none_or(|first| window.passed < first)
                && window.jobs.pop_front_if(|job| job.is_over).is_some()
            {
                count_turn();
                window.passed += 1;
            }
        }
    }

    /// How many jobs of each thread are not held any more, the first ones.
    pub(crate) fn passed(&self) -> Vec<u32> {
        self.windows.iter().map(|window| window.passed).collect()
    }

    /// All that are known, as of a run that ended at `end`.
    pub(crate) fn jobs(&self, end: Instant) -> Jobs {
        let mut jobs = Jobs { end, ..Jobs::default() };
        for window in &self.windows {
            jobs.first.push(jobs.begun.len());
            jobs.passed.push(window.passed);
            jobs.begun.extend(window.jobs.iter().map(|job| job.progress.job(self.threads)));
        }
        jobs.first.push(jobs.begun.len());
        jobs
    }

    /// All that are left, once the run has ended and all its iterations are known; tells `visit` of those that were not
    /// over before. Beside its time and its iterations, `skipped` were skipped: of each thread so many, and so long.
    pub(crate) fn end<'r>(
        &mut self,
        held: impl Iterator<Item = (OperationId, &'r OperationRecord)>,
        (ended, end): (Ended, Instant),
        (skipped, skipped_time): (impl Iterator<Item = u64>, Duration),
        mut visit: impl FnMut(&Job),
    ) -> Jobs {
        self.count(held);
        let mut jobs = self.jobs(end);
        let held = self.windows.iter().flat_map(|window| &window.jobs);
        jobs.begun.iter().zip(held).filter(|(_, held)| !held.is_over).for_each(|(job, _)| visit(job));
        if ended != Ended::Done {
            let end = end.saturating_add(skipped_time);
            for (((index, thread), window), skipped) in (0..).zip(self.threads).zip(&self.windows).zip(skipped) {
                if thread.does_jobs() {
                    let begun = u64::from(window.passed) + window.jobs.len() as u64 + skipped;
                    jobs.backlog.extend(backlog(index, thread, begun, end));
                }
            }
        }
        jobs
    }
}
