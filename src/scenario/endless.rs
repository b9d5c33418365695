//! Threads that could never end, found before the run.

use thiserror::Error;

use super::model::{HostThread, Scenario, Step};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{OperationKind, StreamId};

/// Without a horizon, what is periodic without end has at most this many jobs, all streams and hosts together.
pub(super) const MOST_JOBS: u64 = 10_000;

/// Why a thread never ends.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub(crate) enum Endless {
    /// It repeats without limit, and the run has no horizon.
    #[error("nothing limits the iterations or the time of {thread:?}, so it never ends")]
    NoLimit {
        /// The thread's label.
        thread: String,
    },
    /// Without a horizon it is released for one hyperperiod, which has too many jobs.
    #[error(
        "it is periodic without end, and more than {MOST_JOBS} jobs come until one hyperperiod after the last first release"
    )]
    ManyJobs,
    /// Without a limit on iterations it has to wait for something that takes time, or it fills one instant forever.
    #[error(
        "an iteration of {thread:?} may take no time at all, and their number is not limited: time would stand still"
    )]
    NoTime {
        /// The thread's label.
        thread: String,
    },
}

impl Endless {
    /// What its author can do.
    pub(crate) fn help(&self) -> String {
        match self {
            Self::NoLimit { .. } | Self::ManyJobs => {
                let horizon = option("horizon").with("TIME");
                format!("limit its iterations (jobs) or its time, or bound the run with {horizon}")
            }
            Self::NoTime { .. } => {
                "limit its iterations, or let each of them wait for a kernel, a copy or a sleep".to_owned()
            }
        }
    }
}

/// Whether thread `thread` of `scenario` could never end, or keep time from going on.
pub(super) fn check(scenario: &Scenario, thread: &HostThread) -> Result<(), Endless> {
    if thread.iterations.is_some() {
        return Ok(());
    }
    if !thread.may_end_early() && scenario.horizon.is_none() {
        return Err(Endless::NoLimit { thread: thread.label.to_string() });
    }
    if thread.period.is_some_and(|period| period > Duration::ZERO) || takes_time(scenario, &thread.steps) {
        return Ok(());
    }
    Err(Endless::NoTime { thread: thread.label.to_string() })
}

/// Whether going through `steps` once certainly takes time: a sleep, or an operation of non-zero length that is waited
/// for.
fn takes_time(scenario: &Scenario, steps: &[Step]) -> bool {
    let mut long_in: Vec<StreamId> = Vec::new();
    let mut last = None;
    for step in steps {
        last = step.submission().or(last);
        match *step {
            Step::Sleep(duration) | Step::Work(duration) if duration > Duration::ZERO => return true,
            step if step.waits_for_device() && !long_in.is_empty() => return true,
            Step::SynchronizeStream(stream) if long_in.contains(&stream) => return true,
            // Operations of one stream complete in order, so waiting for the last is waiting for all of its stream.
            Step::AwaitLast if last.is_some_and(|(_, stream)| long_in.contains(&stream)) => return true,
            _ => {}
        }
        if let Some((kind, stream)) = last
            && is_long(scenario, kind)
            && !long_in.contains(&stream)
        {
            long_in.push(stream);
        }
    }
    false
}

fn is_long(scenario: &Scenario, kind: OperationKind) -> bool {
    match kind {
        OperationKind::Kernel(kernel) => {
            scenario.kernels().get(kernel.index()).is_some_and(|kernel| kernel.duration.best > Duration::ZERO)
        }
        OperationKind::Copy(copy) => scenario
            .copies()
            .get(copy.index())
            .is_some_and(|copy| copy.time_on(&scenario.device().copy).is_none_or(|duration| duration > Duration::ZERO)),
        OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => false,
    }
}
