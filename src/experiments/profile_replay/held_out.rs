//! What a median would have predicted: the naive answer beside that of the simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::device::BlockShape;
use crate::statistics::upper_median;

/// The same function, grid and block.
pub(super) type KernelKey = (Arc<str>, u32, BlockShape);

/// One kernel that overlapped others.
pub(super) struct Overlapped {
    pub(super) kernel: KernelKey,
    pub(super) recorded_start_ns: i64,
    pub(super) recorded_ns: u64,
    pub(super) simulated_ns: u64,
    /// Whether its block time is that of other launches, and not its own.
    pub(super) is_predicted: bool,
}

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
    /// Of kernels by recorded start; the second half begins with the start in the middle.
    pub(super) fn new(kernels: &[Overlapped]) -> Self {
        let (first, second) = kernels.split_at(kernels.len() / 2);
        let mut known: BTreeMap<&KernelKey, Vec<u64>> = BTreeMap::new();
        for kernel in first {
            known.entry(&kernel.kernel).or_default().push(kernel.recorded_ns);
        }
        for times in known.values_mut() {
            times.sort_unstable();
        }
        let mut sums = Self::default();
        for kernel in second.iter().filter(|kernel| kernel.is_predicted) {
            let Some(median) = known.get(&kernel.kernel).and_then(|times| upper_median(times)) else { continue };
            sums.kernels += 1;
            sums.recorded_ns += kernel.recorded_ns;
            sums.simulated_error_ns += kernel.simulated_ns.abs_diff(kernel.recorded_ns);
            sums.median_error_ns += median.abs_diff(kernel.recorded_ns);
        }
        sums
    }
}
