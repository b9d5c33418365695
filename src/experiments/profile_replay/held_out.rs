//! What a median would have predicted: the naive answer beside that of the simulation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ReplayedKernel;
use crate::statistics::upper_median;

/// Durations of overlapped kernels in the second half of a recording, as simulated and as the median of the same kernel
/// overlapped in the first half: sums of absolute errors. Kernels that did not overlap there are left out, as are those
/// whose block time is from their own recorded time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct HeldOut {
    /// How many kernels.
    pub kernels: usize,
    /// Sum of their recorded durations.
    pub recorded_ns: u64,
    /// Sum of the errors of the simulation.
    pub simulated_error_ns: u64,
    /// Sum of the errors of the medians.
    pub median_error_ns: u64,
}

impl HeldOut {
    /// Of kernels by recorded start; the second half of those that overlapped begins with the start in the middle.
    pub(super) fn new(kernels: &[ReplayedKernel]) -> Self {
        let overlapped: Vec<&ReplayedKernel> = kernels.iter().filter(|kernel| !kernel.ran_alone).collect();
        let (first, second) = overlapped.split_at(overlapped.len() / 2);
        let key = |kernel: &&ReplayedKernel| (kernel.name.clone(), kernel.blocks, kernel.shape);
        let mut known: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for kernel in first {
            known.entry(key(kernel)).or_default().push(kernel.recorded_duration_ns);
        }
        for times in known.values_mut() {
            times.sort_unstable();
        }
        let mut sums = Self::default();
        for kernel in second.iter().filter(|kernel| kernel.is_predicted()) {
            let Some(median) = known.get(&key(kernel)).and_then(|times| upper_median(times)) else { continue };
            sums.kernels += 1;
            sums.recorded_ns += kernel.recorded_duration_ns;
            sums.simulated_error_ns += kernel.duration_error_ns().unsigned_abs();
            sums.median_error_ns += median.abs_diff(kernel.recorded_duration_ns);
        }
        sums
    }
}
