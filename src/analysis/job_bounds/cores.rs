//! How a task has a core that it shares with others (`docs/analysis.md`, "Cores").

use crate::scenario::{HostThread, Step};
use crate::time::Duration;

/// How a task has its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OnCore {
    core: u32,
    /// A smaller one is more urgent; no two of a core are equal.
    rank: (i32, usize),
    /// Work of one job at most \[ns\].
    work: u64,
    /// Whether it keeps the core while it waits for operations.
    spins: bool,
    /// Whether it may give up the core in the midst of a job.
    suspends: bool,
    /// Whether a job begins with work and never waits: at the instant at which its work is done it goes on, whoever
    /// else then asks for the core.
    only_works: bool,
}

impl OnCore {
    /// Of thread number `number`, whose jobs do so much work.
    pub(super) fn of(thread: &HostThread, number: usize, work: Duration) -> Option<Self> {
        let share = thread.core?;
        let gives_up = |step: &Step| match step {
            Step::Sleep(_) | Step::Barrier(_) => true,
            step => step.waits_for_operations() && !share.spins,
        };
        let works = |step: &Step| matches!(step, Step::Work(time) if *time > Duration::ZERO);
        let never_waits =
            |step: &Step| works(step) || step.submission().is_some() || matches!(step, Step::Repeat { .. });
        Some(Self {
            core: share.core,
            rank: (share.priority, number),
            work: work.as_ns(),
            spins: share.spins,
            suspends: thread.barrier.is_some() || thread.steps.iter().any(gives_up),
            only_works: thread.barrier.is_none()
                && thread.steps.first().is_some_and(works)
                && thread.steps.iter().all(never_waits),
        })
    }

    /// How much later than at the end of a window something may come that delays a job within it \[ns\].
    pub(super) fn reach(&self) -> u64 {
        u64::from(!self.only_works)
    }

    /// Whether `other` has the core first.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.core == other.core && other.rank < self.rank
    }

    /// What one job takes of the core, and how much later than a period after the one before a job may have the core
    /// \[ns\], if jobs come `period` apart, each up to `jitter` late, and end within `response`; `None`: not known.
    pub(super) fn takes(&self, period: u64, jitter: u64, response: Option<u64>) -> Option<(u64, u64)> {
        let one = if self.spins { response? } else { self.work };
        let late = match response {
            _ if !self.suspends => jitter,
            response if self.spins || self.work > period => response?,
            response => response?.saturating_sub(self.work),
        };
        Some((one, late))
    }
}
