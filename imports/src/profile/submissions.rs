//! When the operations of a profile were submitted, how long a launch takes to reach an idle GPU (L1), and how long the
//! GPU takes from one kernel of a stream to the next (L2).

use std::collections::BTreeMap;

use super::gpu_profile::{GpuProfile, HostCall, ProfiledOperation};
use crate::statistics::nearest_rank;

/// The launch latency of a profile (L1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchLatency {
    /// Time from the beginning of the call to the start on the GPU \[ns\].
    pub latency_ns: u64,
    /// The upper quartile over the same launches \[ns\].
    pub upper_ns: u64,
    /// Launches of which it is the lower quartile.
    pub launches: usize,
    /// How many of them found the GPU idle: all, or too few, so that all launches count that might have waited.
    pub idle: usize,
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
    /// had ended; first launches load code, which takes much longer. Others can only have waited longer: where their
    /// lower quartile is less, those that found the GPU idle were first ones, and it stands for them. `None` if no
    /// operation found the GPU idle.
    pub(crate) fn launch_latency(&self, gpu: u32) -> Option<LaunchLatency> {
        let mut latest_end = 0;
        let (mut onto_idle, mut all) = (Vec::new(), Vec::new());
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            if let Some(called) = self.called_at(operation)
                && called <= operation.start_ns
            {
                let latency = operation.start_ns - called;
                onto_idle.extend((called >= latest_end).then_some(latency));
                // A call that copies may move data for long before it submits anything.
                all.extend(operation.kernel().map(|_| latency));
            }
            latest_end = latest_end.max(operation.end_ns());
        }
        let idle = onto_idle.len();
        let of = |mut latencies: Vec<u64>| {
            latencies.sort_unstable();
            let [latency_ns, upper_ns] = [25, 75].map(|percent| nearest_rank(&latencies, percent));
            Some(LaunchLatency { latency_ns: latency_ns?, upper_ns: upper_ns?, launches: latencies.len(), idle })
        };
        let (onto_idle, all) = (of(onto_idle)?, of(all));
        Some(all.filter(|all| all.latency_ns < onto_idle.latency_ns).unwrap_or(onto_idle))
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

/// Operations of one GPU in the orders in which they are looked for.
#[derive(Debug)]
pub(super) struct Submissions<'p> {
    profile: &'p GpuProfile,
    /// By stream: when each was submitted, and the operation, in the order of the stream.
    by_stream: BTreeMap<u32, Vec<(u64, u32)>>,
    /// By host thread and stream: the call, and the first operation that it submitted there.
    by_thread: BTreeMap<(u32, u32), Vec<(u32, u32)>>,
    /// Ends, with the operation, by end.
    ends: Vec<(u64, u32)>,
    /// Call to start, and end to next start, up to which nothing needs an explanation \[ns\].
    usual: UsualDelays,
}

impl<'p> Submissions<'p> {
    pub(super) fn new(profile: &'p GpuProfile, gpu: u32) -> Self {
        let mut by_stream: BTreeMap<u32, Vec<(u64, u32)>> = BTreeMap::new();
        let mut by_thread: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        let mut ends = Vec::new();
        let operations = (0..).zip(&profile.operations);
        for (index, operation) in operations.filter(|(_, operation)| profile.gpu_of(operation.stream) == gpu) {
            ends.push((operation.end_ns(), index));
            let list = by_stream.entry(operation.stream).or_default();
            let before = list.last().map_or(0, |(at, _)| *at);
            list.push((profile.called_at(operation).unwrap_or(operation.start_ns).max(before), index));
            if let Some(number) = operation.call
                && let Some(call) = profile.calls.get(number as usize)
            {
                by_thread.entry((call.thread, operation.stream)).or_default().push((number, index));
            }
        }
        ends.sort_unstable();
        for list in by_thread.values_mut() {
            list.sort_unstable();
        }
        Self { profile, by_stream, by_thread, ends, usual: profile.usual_delays(gpu) }
    }

    /// When an operation was submitted: its call, or its start if there is none.
    pub(super) fn submitted_ns(&self, operation: u32) -> Option<u64> {
        let operation = self.profile.operations.get(operation as usize)?;
        Some(self.profile.called_at(operation).unwrap_or(operation.start_ns))
    }

    /// The last operation that a stream was given before an instant.
    pub(super) fn last_before(&self, stream: u32, at_ns: u64) -> Option<u32> {
        let list = self.by_stream.get(&stream)?;
        let before = list.partition_point(|(submitted, _)| *submitted < at_ns);
        Some(list[before.checked_sub(1)?].1)
    }

    /// What ended last from after one instant until another.
    pub(super) fn last_ended(&self, after_ns: u64, until_ns: u64) -> Option<u32> {
        let ended = self.ends.partition_point(|(end, _)| *end <= until_ns);
        let (end, operation) = *self.ends.get(ended.checked_sub(1)?)?;
        (end > after_ns).then_some(operation)
    }

    /// For each stream what the host thread of a call gave it first after that, in the order of the calls.
    fn next_of_streams(&self, index: u32, call: &HostCall) -> impl Iterator<Item = u32> + use<> {
        let of_thread = self.by_thread.range((call.thread, 0)..=(call.thread, u32::MAX));
        let next = of_thread.filter_map(|(_, list)| list.get(list.partition_point(|(call, _)| *call <= index)));
        let mut next: Vec<(u32, u32)> = next.copied().collect();
        next.sort_unstable();
        next.into_iter().map(|(_, operation)| operation)
    }

    /// What a host thread submitted last before a call.
    fn last_of_thread(&self, index: u32, call: &HostCall) -> Option<u32> {
        let of_thread = self.by_thread.range((call.thread, 0)..=(call.thread, u32::MAX));
        let last = of_thread.filter_map(|(_, list)| list[..list.partition_point(|(call, _)| *call < index)].last());
        last.max().map(|(_, operation)| *operation)
    }

    /// What a call that makes some stream wait for an event may have meant: which operation waited, and the one of
    /// another stream behind which the event was recorded.
    ///
    /// Events are recorded right before somebody waits for them, so that is the last operation submitted to its stream
    /// before the call. It is the one whose end explains that the first operation behind the wait started late; or else
    /// that of the stream that the thread used before the call, for the one that it used next, unless times contradict.
    pub(super) fn likely_wait(&self, index: u32, call: &HostCall, stream: Option<u32>) -> Option<(u32, u32)> {
        let next = || self.next_of_streams(index, call);
        let of_stream = |operation: &u32| stream.is_none_or(|stream| self.stream_of(*operation) == stream);
        let explained = next().filter(of_stream).find_map(|waiting| {
            let start = self.late_start(waiting)?;
            let others = self.by_stream.keys().filter(|other| **other != self.stream_of(waiting));
            let last = others.filter_map(|&other| self.last_before(other, call.start_ns));
            let cause = last.filter(|&cause| self.end_of(cause) <= start).max_by_key(|&cause| self.end_of(cause))?;
            (start - self.end_of(cause) <= self.usual.launch_ns).then_some((waiting, cause))
        });
        explained.or_else(|| {
            let waiting = next().next().filter(of_stream)?;
            let used = self.stream_of(self.last_of_thread(index, call)?);
            let cause = self.last_before(used, call.start_ns)?;
            let start = self.profile.operations[waiting as usize].start_ns;
            (used != self.stream_of(waiting) && self.end_of(cause) <= start).then_some((waiting, cause))
        })
    }

    fn stream_of(&self, operation: u32) -> u32 {
        self.profile.operations[operation as usize].stream
    }

    fn end_of(&self, operation: u32) -> u64 {
        self.profile.operations[operation as usize].end_ns()
    }

    /// When an operation started, if that was later than its own launch and stream explain.
    fn late_start(&self, operation: u32) -> Option<u64> {
        let late = self.profile.operations.get(operation as usize)?;
        let call = self.profile.calls.get(late.call? as usize)?;
        let list = self.by_stream.get(&late.stream)?;
        let place = list.binary_search_by_key(&operation, |(_, other)| *other).ok()?;
        let before = place.checked_sub(1).map(|place| self.end_of(list[place].1));
        let is_late = late.start_ns.saturating_sub(call.end_ns) > self.usual.launch_ns
            && before.is_none_or(|before| late.start_ns.saturating_sub(before) > self.usual.gap_ns);
        is_late.then_some(late.start_ns)
    }
}
