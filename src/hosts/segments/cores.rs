//! Who runs on which core.

use super::segment_job::{CallState, Step};
use crate::tasks::segments::{GpuWait, SegmentTask};

/// How urgent a task is, the smallest first; tasks of best effort come last, in the order of the set.
pub(super) fn rank(tasks: &[SegmentTask], task: usize) -> (bool, Option<u64>, usize) {
    let priority = tasks[task].priority;
    (priority.is_none(), priority, task)
}

/// Whether a step needs a core, or keeps it busy.
pub(super) fn is_ready(step: Step, waiting: GpuWait) -> bool {
    match step {
        Step::Cpu(_) | Step::Call { .. } | Step::Unlock => true,
        Step::Gpu { .. } => waiting == GpuWait::Busy,
        Step::Lock { asked } => asked.is_none(),
    }
}

/// Above its priority: who is in a driver call, then who holds the lock.
pub(super) fn class(step: Step, holds_lock: bool) -> u8 {
    match step {
        Step::Call { state: CallState::UnderWay, .. } => 0,
        _ if holds_lock => 1,
        _ => 2,
    }
}
