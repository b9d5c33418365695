//! One log in memory: the kernels of one host thread, their blocks in little room, and the clock of its times.

use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use crate::proven::OrMost;
use crate::time::{Duration, Instant};

/// The log of one host thread with one stream: a benchmark, as the examiner calls it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// `scenario_name`.
    pub scenario_name: Arc<str>,
    /// `benchmark_name`: the kind of benchmark.
    pub benchmark_name: Arc<str>,
    /// `label`.
    pub label: Option<Arc<str>>,
    /// Of a table of blocks: the process and the stream, as it names them.
    pub(crate) of_table: Option<(Arc<str>, Arc<str>)>,
    /// The thread of the scenario whose it is known to be, by number.
    pub(crate) thread: Option<usize>,
    /// `max_resident_threads`, which the examiner writes as 2048 for each SM on every device.
    pub max_resident_threads: Option<u32>,
    /// `PID`: host threads of one process share it.
    pub pid: Option<u64>,
    /// `TID`.
    pub tid: Option<u64>,
    /// On how many SMs at once its process may have blocks, as a client of MPS with a percentage; our own logs say it
    /// as `mps_sms`, of measured ones the scenario tells it.
    pub mps_sms: Option<u32>,
    /// Priority of its stream, where the log tells it; the examiner's do not.
    pub priority: Option<i32>,
    /// Whether its stream is a non-blocking one, for which N1 and N2 do not hold; the examiner's logs do not tell it.
    pub non_blocking: bool,
    /// Whether nobody saw when its kernels were launched: each counts as launched when its first block began, on the
    /// GPU's clock.
    pub launches_unseen: bool,
    /// What the log does not tell of what a block takes of an SM; empty where nothing is missing that could be there.
    pub untold: Arc<str>,
    /// Whether nothing tells the numbers of its blocks: they count in the order in which they began.
    pub blocks_unnumbered: bool,
    /// Iterations of its host thread, in order.
    pub(crate) iterations: Vec<Iteration>,
    /// Kernels, in launch order.
    pub kernels: Vec<LoggedKernel>,
    /// Whether kernels or blocks are missing that its host thread launched.
    pub incomplete: bool,
}

impl Log {
    /// What tables call it: the label, or else the file.
    pub fn title(&self) -> Arc<str> {
        self.label.clone().unwrap_or_else(|| Arc::clone(&self.file))
    }

    /// Whether its kernels are on the NULL stream, which the kind of benchmark tells.
    pub fn on_null_stream(&self) -> bool {
        self.benchmark_name.contains("(default stream)")
    }

    /// The name of the file without its directory.
    pub fn file_name(&self) -> &str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file)
    }
}

/// Names that say what a kernel does and not which one it is.
const GENERIC_NAMES: [&str; 6] =
    ["GPUSpin", "SharedMem_GPUSpin", "CounterSpin", "BasicMandelbrot", "matrix_multiply", "WalkKernel"];

impl Log {
    /// What tables call one of its kernels: its own name, or that of its host thread where it is one of many of a kind.
    pub fn kernel_title(&self, kernel: &LoggedKernel) -> Arc<str> {
        if GENERIC_NAMES.contains(&&*kernel.name) { self.title() } else { Arc::clone(&kernel.name) }
    }
}

/// One iteration of a host thread, on the host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Iteration {
    /// Start of `execute_times` \[ns\].
    pub start_ns: LogTime,
    /// End of `execute_times` \[ns\].
    pub end_ns: LogTime,
}

/// One kernel launch in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedKernel {
    /// `kernel_name`.
    pub name: Arc<str>,
    /// The iteration in which it was launched, from 0.
    pub iteration: u32,
    /// `block_count`; `blocks` may be fewer.
    pub block_count: u32,
    /// `thread_count`: threads of one block.
    pub threads: u32,
    /// `shared_memory` of one block \[bytes\].
    pub shared_memory_bytes: u32,
    /// Registers of one thread; 0 where the log does not tell them, as the examiner's do not.
    pub registers_per_thread: u32,
    /// When the launch call began, on the host's clock \[ns\].
    pub launch_start_ns: LogTime,
    /// When the launch call returned, on the host's clock \[ns\]; kernels enter their queues in this order.
    pub launch_return_ns: LogTime,
    /// When the host saw it complete, on the host's clock \[ns\]; the examiner writes 0 where it does not wait.
    pub synchronized_ns: Option<LogTime>,
    /// Its blocks, in the order of their numbers.
    pub blocks: Arc<BlockList>,
}

/// The blocks of one kernel launch, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockList {
    /// Start and end of each block, on the GPU's clock \[ns\].
    pub times: Vec<[LogTime; 2]>,
    /// SM of each block; as long as `times`.
    pub sms: Vec<u32>,
}

/// One block that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedBlock {
    /// Its SM.
    pub sm: u32,
    /// When it started \[ns\].
    pub start_ns: LogTime,
    /// When it ended \[ns\].
    pub end_ns: LogTime,
}

impl BlockList {
    /// How many.
    pub fn len(&self) -> usize {
        self.times.len().min(self.sms.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a block at the end.
    pub fn push(&mut self, block: LoggedBlock) {
        self.times.push([block.start_ns, block.end_ns]);
        self.sms.push(block.sm);
    }

    /// The block of that number.
    pub fn get(&self, index: usize) -> Option<LoggedBlock> {
        let (&[start_ns, end_ns], &sm) = (self.times.get(index)?, self.sms.get(index)?);
        Some(LoggedBlock { sm, start_ns, end_ns })
    }

    /// All blocks in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = LoggedBlock> + ExactSizeIterator + '_ {
        self.times.iter().zip(&self.sms).map(|(&[start_ns, end_ns], &sm)| LoggedBlock { sm, start_ns, end_ns })
    }

    /// When the first block started \[ns\].
    pub fn first_start_ns(&self) -> Option<LogTime> {
        self.times.iter().map(|&[start, _]| start).min()
    }

    /// When the last block to start did so \[ns\].
    pub fn last_start_ns(&self) -> Option<LogTime> {
        self.times.iter().map(|&[start, _]| start).max()
    }

    /// When the last block to end did so \[ns\].
    pub fn finish_ns(&self) -> Option<LogTime> {
        self.times.iter().map(|&[_, end]| end).max()
    }
}

/// A simulated instant that is after the end of the clock of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the simulation goes on until {0} at least, and times on the clock of logs are less than 2^63 ns (292 years)")]
pub struct LogTimeError(pub Instant);

/// An instant on the clock of a log \[ns\], signed as measured clocks begin anywhere.
///
/// The difference of two is a number of nanoseconds, which may be negative; the sum of two does not compile.
///
/// ```compile_fail
/// use gpusched_core::logs::LogTime;
/// let _ = LogTime::from_ns(1) + LogTime::from_ns(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LogTime(i64);

impl LogTime {
    /// Before all others: always.
    pub const MIN: Self = Self(i64::MIN);
    /// After all others: never.
    pub const MAX: Self = Self(i64::MAX);

    /// So many nanoseconds after the clock's beginning.
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the clock's beginning.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Nanoseconds from `earlier` to `self`, negative if that is the later one; held at the ends of 64 bits.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Nanoseconds between the two.
    pub const fn abs_diff(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }

    /// So many nanoseconds later, at most [`Self::MAX`].
    pub const fn saturating_add(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// So many nanoseconds earlier, at least [`Self::MIN`].
    pub const fn saturating_sub(self, ns: i64) -> Self {
        Self(self.0.saturating_sub(ns))
    }

    /// A length of time later, at most [`Self::MAX`].
    pub fn after(self, time: Duration) -> Self {
        self.saturating_add(i64::try_from(time.as_ns()).or_most())
    }

    /// A length of time earlier, at least [`Self::MIN`].
    pub fn before(self, time: Duration) -> Self {
        self.saturating_sub(i64::try_from(time.as_ns()).or_most())
    }
}

impl TryFrom<Instant> for LogTime {
    type Error = LogTimeError;

    /// A simulated instant on the clock of logs; fails from 2^63 ns on.
    fn try_from(instant: Instant) -> Result<Self, LogTimeError> {
        i64::try_from(instant.as_ns()).map(Self).map_err(|_| LogTimeError(instant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_instant_of_the_clock_of_logs_is_taken_and_the_next_is_refused() {
        assert_eq!(LogTime::try_from(Instant::from_ns((1 << 63) - 1)), Ok(LogTime::MAX));
        let after = Instant::from_ns(1 << 63);
        assert_eq!(LogTime::try_from(after), Err(LogTimeError(after)));
    }
}
