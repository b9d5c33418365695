//! DRIVE OS: how long a context of high level waits until it gets the GPU.
//!
//! NVIDIA, "DRIVE OS Linux SDK Development Guide", Tegra GPU Scheduling Improvements, Runlist Interleave Frequency:
//! with h high-level applications, each of which stands before every other one on the runlist, the worst-case latency
//! is (h - 1) time slices, the execution time of one low-level application, and a channel reset.

use super::segment_task_set::SegmentTaskSet;
use crate::time::Duration;

/// The documented latency of the high-level contexts of a set, until one of them runs. The execution time of a
/// low-level one is its longest GPU segment: the guide's formula is for low-level work that does not yield. `None` if
/// no task has a context of high level.
pub(crate) fn latency(set: &SegmentTaskSet) -> Option<Duration> {
    let users = || set.gpu_users().map(|user| &set.tasks[user]);
    let high = users().filter(|task| task.has_high_level).count() as u64;
    let low = users().filter(|task| !task.has_high_level);
    let longest = low.flat_map(|task| task.gpu_segments().map(|segment| segment.exec)).max();
    let others = set.gpu.time_slice.repeated(high.checked_sub(1)?);
    Some(others.saturating_add(longest.unwrap_or_default()).saturating_add(set.gpu.channel_reset))
}
