//! Jobs: all operations of one release of a stream, or of one iteration of a host thread.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::run::{Jobs, Run};
use crate::scenario::HostThread;
use crate::time::{Duration, Instant};

/// One job of a scenario, with its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysedJob {
    /// The host thread, and its label.
    pub thread: u32,
    /// Label of the thread: the stream's name in gpusched's own format.
    pub stream: Arc<str>,
    /// Number of the job among those of its thread, from 0.
    pub job: u32,
    /// Its release, as [`Job::released`](crate::run::Job::released) has it.
    pub released: Instant,
    /// When its host had done its last step in the run.
    pub host_finished: Option<Instant>,
    /// By when all of it should have finished, counted from the release; the period if nothing else is stated.
    pub deadline: Option<Duration>,
    /// Whether its host had done all its steps before the run ended, and so launched all its operations.
    pub complete: bool,
    /// Its operations, in launch order.
    pub operations: SmallVec<[u32; 2]>,
}

impl AnalysedJob {
    /// When the last of its operations finishes by `finish`; `None` if that is not known of each.
    pub fn finish(&self, finish: impl Fn(u32) -> Option<Instant>) -> Option<Instant> {
        if !self.complete {
            return None;
        }
        self.operations.iter().try_fold(Instant::ZERO, |last, &operation| Some(last.max(finish(operation)?)))
    }
}

/// The jobs that began in a run, by thread as declared and then number.
pub fn jobs_of(run: &Run<'_>) -> Vec<AnalysedJob> {
    with_operations(run, &run.jobs())
}

/// The same, of which it is known which began. Those that had launched nothing when the run ended are among them.
pub(super) fn with_operations(run: &Run<'_>, begun: &Jobs) -> Vec<AnalysedJob> {
    let mut jobs: Vec<AnalysedJob> = begun
        .begun
        .iter()
        .map(|job| {
            let thread = run.scenario.threads.get(job.thread as usize);
            AnalysedJob {
                thread: job.thread,
                stream: thread.map_or_else(|| Arc::from(""), |thread| Arc::clone(&thread.label)),
                job: job.iteration,
                released: job.released,
                host_finished: job.host_finished,
                deadline: thread.and_then(HostThread::deadline),
                complete: job.host_finished.is_some(),
                operations: SmallVec::new(),
            }
        })
        .collect();
    for (number, record) in (0..).zip(run.trace.operations()) {
        let position = begun.position(record.origin.thread, record.origin.iteration);
        if let Some(job) = position.and_then(|position| jobs.get_mut(position)) {
            job.operations.push(number);
        }
    }
    jobs
}
