//! Measured block times for a simulation.

use std::sync::Arc;

use crate::logs::LoggedKernel;
use crate::statistics::upper_median;
use crate::time::Duration;

/// The block times of one kernel launch: one that stands for all, and if they differ by more than the clock's noise,
/// those of the single blocks.
pub(super) fn block_times(kernel: &LoggedKernel, tolerance_ns: i64) -> (Duration, Option<Arc<[Duration]>>) {
    let length = |[start, end]: &[i64; 2]| u64::try_from(end.saturating_sub(*start)).unwrap_or(0);
    let mut sorted: Vec<u64> = kernel.blocks.times.iter().map(length).collect();
    sorted.sort_unstable();
    let median = upper_median(&sorted).unwrap_or(0);
    let (least, most) = (sorted.first().copied().unwrap_or(0), sorted.last().copied().unwrap_or(0));
    let each = (most - least > tolerance_ns.unsigned_abs())
        .then(|| kernel.blocks.times.iter().map(|time| Duration::from_ns(length(time))).collect());
    (Duration::from_ns(median), each)
}
