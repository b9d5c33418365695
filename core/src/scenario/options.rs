//! What a user may say about a scenario beside its file, and which of its threads and kernels took it.

use std::collections::{BTreeMap, BTreeSet};

use super::host_thread::{Deadline, HostThread};
use crate::device::Device;
use crate::time::Duration;
use crate::workload::{BlockTime, Placement};

/// Settings that replace or complete those of a scenario file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// The GPU; `None`: the file's, or else the TX2.
    pub device: Option<Device>,
    /// Launch latency (L1) in place of the device's.
    pub launch_latency: Option<Duration>,
    /// Gap between the kernels of a stream (L2) in place of the device's.
    pub kernel_gap: Option<Duration>,
    /// Gap between a block and the one that takes its place, in place of the device's.
    pub block_gap: Option<Duration>,
    /// The placement policy; `None`: the file's, or else the device's.
    pub placement: Option<Placement>,
    /// The seed; `None`: the file's, or else 0.
    pub seed: Option<u64>,
    /// Nothing happens after this time; `None`: the file's, or no limit.
    pub horizon: Option<Duration>,
    /// Best and worst block time in percent of what the file states; `None`: as in the file.
    pub vary_percent: Option<(u32, u32)>,
    /// Block times for kernels whose file gives none, by label, kernel name or file name.
    pub block_durations: BTreeMap<String, Duration>,
    /// Block time of every other kernel whose file gives none; `None`: such a kernel is an error. For readers that put
    /// measured times in its place.
    pub other_block_duration: Option<Duration>,
    /// Kernels that get clusters of another size, so that those of their file may be ones that the device cannot have.
    pub other_clusters: BTreeSet<String>,
    /// From one release to the next of a stream with operations or a host, by its name; such with a single job repeat
    /// without limit.
    pub periods: BTreeMap<String, Duration>,
    /// Deadlines by name of the stream or host.
    pub deadlines: BTreeMap<String, Deadline>,
    /// Replay what asks for processes of its own as threads of one.
    pub as_threads: bool,
    /// Processes are clients of MPS, also where the file does not say so.
    pub mps: bool,
    /// Time slice of all processes (T2); `None`: each process's own, or else the device's.
    pub time_slice: Option<Duration>,
    /// What a switch of contexts costs (T3); `None`: the file's, or else the device's.
    pub switch_cost: Option<Duration>,
    /// What becomes of the logs that the examiner would write.
    pub logs: LogUse,
    /// Is told, again and again, how much of the text has been made a scenario of \[bytes\].
    pub progress: Option<ReadProgress>,
}

/// Who is told how far reading has come. It changes nothing that is read: to `==` all are the same.
#[derive(Debug, Clone, Copy)]
pub struct ReadProgress(pub fn(u64));

impl PartialEq for ReadProgress {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What is done with the logs that the examiner would write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogUse {
    /// They may be written or compared: how the examiner would write them is kept.
    #[default]
    Kept,
    /// The same, and a log name that leads out of the result directory is refused.
    KeptInside,
    /// There are none: how they would be written, of many host threads a part of what is known of them, is forgotten.
    Unused,
}

/// The block times that a user has given, and which of them were needed.
#[derive(Debug)]
pub(crate) struct BlockDurations<'a> {
    given: &'a BTreeMap<String, Duration>,
    other: Option<Duration>,
    used: Vec<&'a str>,
}

impl<'a> BlockDurations<'a> {
    /// None of them is needed yet.
    pub(crate) fn new(options: &'a ReadOptions) -> Self {
        Self { given: &options.block_durations, other: options.other_block_duration, used: Vec::new() }
    }

    /// The block time of a kernel that goes by any of `names`.
    pub(crate) fn find(&mut self, names: &[&str]) -> Option<Duration> {
        let found = names.iter().find_map(|&name| self.given.get_key_value(name));
        let Some((name, duration)) = found else { return self.other };
        self.used.push(name);
        Some(*duration)
    }

    /// A name that was given and never needed, which is likely to be a mistake.
    pub(crate) fn unused(&self) -> Option<&'a str> {
        self.given.keys().map(String::as_str).find(|name| !self.used.contains(name))
    }
}

impl ReadOptions {
    /// Best and worst block time in percent, as [`vary_percent`](Self::vary_percent) has them, out of `80..100`; `None`
    /// if the text is no such range.
    pub fn parse_vary(text: &str) -> Option<(u32, u32)> {
        let (best, worst) = text.split_once("..")?;
        let (best, worst) = (best.trim().parse().ok()?, worst.trim().parse().ok()?);
        (best <= worst && worst <= 10_000).then_some((best, worst))
    }

    /// The device that a scenario runs on whose file names `own`.
    pub fn device_for(&self, own: Device) -> Device {
        let device = self.device.clone().unwrap_or(own);
        let (launch_latency, kernel_gap) = (device.launch_latency, device.kernel_gap);
        let device =
            device.with_latencies(self.launch_latency.unwrap_or(launch_latency), self.kernel_gap.unwrap_or(kernel_gap));
        match self.block_gap {
            Some(gap) => device.with_block_gap(gap),
            None => device,
        }
    }

    /// Applies the user's variation to a block time, rounding to the nearest nanosecond. `None` on overflow.
    pub fn vary(&self, time: BlockTime) -> Option<BlockTime> {
        let Some((best, worst)) = self.vary_percent else { return Some(time) };
        let percent = |duration: Duration, percent: u32| {
            let scaled = (u128::from(duration.as_ns()) * u128::from(percent) + 50) / 100;
            u64::try_from(scaled).ok().map(Duration::from_ns)
        };
        Some(BlockTime { best: percent(time.best, best)?, worst: percent(time.worst, worst)? })
    }
}

/// The user's periods and deadlines, and which streams and hosts took one.
#[derive(Debug)]
pub(super) struct Timing<'a> {
    periods: &'a BTreeMap<String, Duration>,
    deadlines: &'a BTreeMap<String, Deadline>,
    used: BTreeSet<(&'static str, &'a str)>,
}

impl<'a> Timing<'a> {
    pub(super) fn new(options: &'a ReadOptions) -> Self {
        Self { periods: &options.periods, deadlines: &options.deadlines, used: BTreeSet::new() }
    }

    /// Gives a thread the period and the deadline that the user wants for it. What has a single job and gets a period
    /// repeats without limit: otherwise the period would mean nothing.
    pub(super) fn apply(&mut self, thread: &mut HostThread) {
        if let Some((name, &period)) = self.periods.get_key_value(&*thread.label) {
            self.used.insert(("period", name));
            if thread.period.is_none() && thread.iterations == Some(1) {
                thread.iterations = None;
            }
            thread.period = Some(period);
        }
        if let Some((name, &deadline)) = self.deadlines.get_key_value(&*thread.label) {
            self.used.insert(("deadline", name));
            thread.deadline = deadline;
        }
    }

    /// An option and its name that no thread has.
    pub(super) fn unused(&self) -> Option<(&'static str, &'a str)> {
        let periods = self.periods.keys().map(|name| ("period", name.as_str()));
        let deadlines = self.deadlines.keys().map(|name| ("deadline", name.as_str()));
        periods.chain(deadlines).find(|option| !self.used.contains(option))
    }
}
