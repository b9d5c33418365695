//! How long a launch takes to reach an idle GPU, and how long the GPU takes from one kernel of a stream to the next.

use std::collections::BTreeMap;

use super::model::{GpuProfile, ProfiledOperation};
use crate::statistics::nearest_rank;

/// The launch latency of a profile (L1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchLatency {
    /// Time from the beginning of the call to the start on the GPU \[ns\].
    pub latency_ns: u64,
    /// Launches that found the GPU idle, of which it is the lower quartile.
    pub launches: usize,
}

/// The gap between the kernels of one stream (L2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelGap {
    /// Time from the end of a kernel to the start of the next of its stream \[ns\].
    pub gap_ns: u64,
    /// Kernels that stood ready behind one, of whose gaps it is the mean of the middle half.
    pub kernels: usize,
    /// Their gaps are too different for a mean, as where a file has only some of the kernels: the upper quartile is
    /// more than `MOST_SPREAD` times the lower one, and the gap is the lower decile.
    pub scattered: bool,
}

/// An idle GPU that runs nothing for so long, although it was given something, waits for something else \[ns\].
const LEAST_HELD_NS: u64 = 100_000;

/// The quartiles of gaps that have a mean are apart by no more than this factor; on public profiles they are by 1.1 to
/// 2.2.
const MOST_SPREAD: u64 = 8;

/// What the clocks of the host and of the GPU differ by in a profile at most.
pub(crate) const CLOCKS_NS: u64 = 5_000;

/// What times of a launch need no explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsualDelays {
    /// From the call to the start \[ns\].
    pub(crate) launch_ns: u64,
    /// From the end of an operation to the start of the next of its stream \[ns\].
    pub(crate) gap_ns: u64,
}

impl GpuProfile {
    /// Twice the launch latency and the kernel gap of a GPU, and what clocks of the host and the GPU differ by.
    pub(crate) fn usual_delays(&self, gpu: u32) -> UsualDelays {
        let latency = self.launch_latency(gpu).map_or(0, |latency| latency.latency_ns);
        let gap = self.kernel_gap(gpu).map_or(0, |gap| gap.gap_ns);
        UsualDelays {
            launch_ns: latency.saturating_mul(2).saturating_add(CLOCKS_NS),
            gap_ns: gap.saturating_mul(2).saturating_add(3_000),
        }
    }

    /// When the call that submitted an operation began.
    pub(super) fn called_at(&self, operation: &ProfiledOperation) -> Option<u64> {
        Some(self.calls.get(operation.call? as usize)?.start_ns)
    }

    /// When each operation of a GPU was submitted, by operation; `None` without a call in the file.
    ///
    /// That is when the call began. But a call that took longer than a launch latency, because it loaded code or moved
    /// pageable memory first, submitted a launch latency before what it submitted started, if that waited for nothing
    /// before it in its stream.
    pub(super) fn submission_times(&self, gpu: u32) -> Vec<Option<u64>> {
        let latency = self.launch_latency(gpu).map_or(0, |latency| latency.latency_ns);
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        let times = self.operations.iter().map(|operation| {
            if self.gpu_of(operation.stream) != gpu {
                return None;
            }
            let before = ends.insert(operation.stream, operation.end_ns()).unwrap_or(0);
            let call = self.calls.get(operation.call? as usize)?;
            let arrival = call.start_ns.saturating_add(latency);
            let took_long = call.end_ns > arrival && before <= arrival;
            let at = operation.start_ns.saturating_sub(latency).min(call.end_ns).max(call.start_ns);
            Some(if took_long { at } else { call.start_ns })
        });
        times.collect()
    }

    /// For how long each operation of a GPU was held by something that is not in the file, by operation \[ns\]: so long
    /// nothing ran on the GPU although its launch had reached it. Short times are none, as they may be gaps.
    pub(super) fn held_unseen_ns(&self, gpu: u32, gap_ns: u64) -> Vec<u64> {
        let latency = self.launch_latency(gpu).map_or(0, |latency| latency.latency_ns);
        let submitted = self.submission_times(gpu);
        let mut latest_end = None;
        let held = self.operations.iter().zip(submitted).map(|(operation, submitted)| {
            if self.gpu_of(operation.stream) != gpu {
                return 0;
            }
            let idle_from = latest_end;
            latest_end = latest_end.max(Some(operation.end_ns()));
            let Some((submitted, idle_from)) = submitted.zip(idle_from) else { return 0 };
            let idle_ns = operation.start_ns.saturating_sub(idle_from.max(submitted.saturating_add(latency)));
            // There is a gap before what holds it and one behind that.
            if idle_ns < LEAST_HELD_NS { 0 } else { idle_ns.saturating_sub(gap_ns.saturating_mul(2)) }
        });
        held.collect()
    }

    /// The launch latency of a GPU: the lower quartile over all operations whose call began when everything before it
    /// had ended; first launches load code, which takes much longer. `None` if there is no such operation.
    pub(crate) fn launch_latency(&self, gpu: u32) -> Option<LaunchLatency> {
        let mut latest_end = 0;
        let mut latencies = Vec::new();
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            if let Some(called) = self.called_at(operation)
                && called >= latest_end
                && called <= operation.start_ns
            {
                latencies.push(operation.start_ns - called);
            }
            latest_end = latest_end.max(operation.end_ns());
        }
        latencies.sort_unstable();
        let latency_ns = nearest_rank(&latencies, 25)?;
        Some(LaunchLatency { latency_ns, launches: latencies.len() })
    }

    /// The kernel gap of a GPU: the mean of the middle half over all kernels whose launch had reached the GPU when the
    /// kernel right before them in their stream ended. The mean, because errors of starts add up along a stream; its
    /// middle half, because some of the longest gaps are waits for other streams. Where even the middle half is of many
    /// kinds, the lower decile stands for it, and is marked. `None` if there is no such kernel.
    pub(crate) fn kernel_gap(&self, gpu: u32) -> Option<KernelGap> {
        let latency = self.launch_latency(gpu)?.latency_ns;
        let mut last: BTreeMap<u32, &ProfiledOperation> = BTreeMap::new();
        let mut gaps = Vec::new();
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            if let Some(before) = last.insert(operation.stream, operation)
                && before.kernel().is_some()
                && operation.kernel().is_some()
                && self.called_at(operation).is_some_and(|at| at.saturating_add(latency) <= before.end_ns())
            {
                gaps.extend(operation.start_ns.checked_sub(before.end_ns()));
            }
        }
        gaps.sort_unstable();
        let kernels = gaps.len();
        let quartiles = (nearest_rank(&gaps, 25)?, nearest_rank(&gaps, 75)?);
        if quartiles.1 > quartiles.0.max(1_000).saturating_mul(MOST_SPREAD) {
            return Some(KernelGap { gap_ns: nearest_rank(&gaps, 10)?, kernels, scattered: true });
        }
        let middle = &gaps[kernels / 4..kernels - kernels / 4];
        let sum: u128 = middle.iter().map(|&gap| u128::from(gap)).sum();
        let mean = (sum + middle.len() as u128 / 2).checked_div(middle.len() as u128)?;
        Some(KernelGap { gap_ns: u64::try_from(mean).ok()?, kernels, scattered: false })
    }
}
