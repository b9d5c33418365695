//! What can be submitted to a GPU: kernels, copies, streams, and the names by which they are referred to.
//!
//! These are the input types that everything shares: the simulated GPU, the scenarios, the audit. They carry no
//! behaviour of the hardware.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::Serialize;

use crate::device::{BlockShape, CopyDirection, CopyEngines, SmMask};
use crate::named::named;
use crate::time::Duration;

/// Declares an identifier: a number from 0 in the order of addition, and the one place where it becomes an index.
macro_rules! numbered {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        $vis struct $name(pub u32);

        impl $name {
            /// Its place in the list of everything of its kind, such as `Trace::operations` or `Scenario::streams`.
            #[inline]
            pub const fn index(self) -> usize {
                // No target has indexes of less than 32 bits, as the crate's root asserts.
                self.0 as usize
            }
        }
    };
}

mod catalogue;
mod counters;
mod error;
mod green_context;
mod launch_attributes;
mod placement;
mod process;

pub(crate) use catalogue::channel_of;
pub use catalogue::{Catalogue, CheckedCopy, CheckedKernel, CheckedStream, Grid, Items, Kernels, NamedGrid};
#[doc(hidden)]
pub use catalogue::{ChannelId, dealt_channels};
pub use counters::{CounterId, CounterValue, PointAction, SyncPoint, Synchronization, ValueId};
pub use error::WorkloadError;
pub use green_context::{GreenContext, GreenContextId, SmSplit};
#[doc(hidden)]
pub use launch_attributes::WorkItems;
pub use launch_attributes::{Clusters, Programmatic, Share};
pub use placement::{Part, Placement};
pub(crate) use placement::{Sequence, Start, by_number, distribute};
#[doc(hidden)]
pub use process::TurnTaking;
pub use process::{CheckedProcess, InterleaveLevel, MpsPercentage, ProcessId, ProcessSharing, ProcessSpec};

numbered! {
    /// A stream of one GPU. Number 0 is the NULL stream of the first process, which always exists.
    pub struct StreamId;
}

impl StreamId {
    /// The NULL stream of the first process; others have [their own](Catalogue::null_stream).
    pub const NULL: Self = Self(0);
}

numbered! {
    /// A kernel that was made known to the GPU; it can be launched any number of times.
    pub struct KernelId;
}

numbered! {
    /// A copy that was made known to the GPU; it can be submitted any number of times.
    pub struct CopyId;
}

numbered! {
    /// An event, as CUDA has it: a mark that is recorded in one stream, and for which others wait.
    pub struct EventId;
}

numbered! {
    /// One submitted operation, numbered from 0 in the order of the host's calls (G1 order).
    pub struct OperationId;
}

/// How long each block of a kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct BlockTime {
    /// Shortest.
    pub best: Duration,
    /// Longest; equal to `best` unless the scenario asks for variation.
    pub worst: Duration,
}

impl BlockTime {
    /// The same for every block.
    pub const fn fixed(duration: Duration) -> Self {
        Self { best: duration, worst: duration }
    }

    /// Whether blocks differ.
    pub fn varies(&self) -> bool {
        self.best < self.worst
    }
}

named! {
    /// On which clock a block's time passes. It makes a difference only where contexts take turns (T1).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum BlockClock: ALL, from_name {
        /// While the block runs: a suspended block goes on where it stopped (T4), as one does that computes.
        #[default]
        RunTime = "run_time",
        /// Always: a block that watches a timer, as the examiner's timer kernels do, ends when the stated time has
        /// passed since its start, suspended or not, or if it is suspended then, as soon as it goes on. Measured on a
        /// Volta GPU (two processes whose blocks of 0.5 s overlapped for 0.25 s took 0.5006 to 0.5016 s each).
        Wall = "wall",
    }
}

/// A kernel: a grid of equal blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Name of the function, as logs have it.
    pub name: Arc<str>,
    /// What tables and figures call it: the name, or what tells apart kernels of one name.
    pub title: Arc<str>,
    /// Number of blocks, at least 1.
    pub blocks: u32,
    /// What one block needs.
    pub shape: BlockShape,
    /// How long one block runs.
    pub duration: BlockTime,
    /// On which clock that is.
    pub clock: BlockClock,
    /// SMs it must not use; replaces its stream's mask.
    pub sm_mask: Option<SmMask>,
}

impl Kernel {
    /// So many blocks of so many threads each, which all run for `duration` and need nothing else. Its title is its
    /// name.
    pub fn new(name: impl Into<Arc<str>>, blocks: u32, threads: u32, duration: Duration) -> Self {
        let name = name.into();
        Self {
            title: Arc::clone(&name),
            name,
            blocks,
            shape: BlockShape { threads, ..BlockShape::default() },
            duration: BlockTime::fixed(duration),
            clock: BlockClock::RunTime,
            sm_mask: None,
        }
    }
}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Different kernels differ in one of these as good as always.
        self.title.hash(state);
        (self.duration.worst, self.blocks, self.shape.threads).hash(state);
    }
}

/// A copy between memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Copy {
    /// Which way.
    pub direction: CopyDirection,
    /// Size \[bytes\]; `None`: not stated, so it needs a duration.
    pub bytes: Option<u64>,
    /// How long it holds its copy engine; `None`: by the device's bandwidth and latency.
    pub duration: Option<Duration>,
}

impl Copy {
    /// How long it holds its copy engine if it has that to itself; `None` if neither size nor duration is stated, or
    /// if that is past the end of representable time.
    #[doc(hidden)]
    pub fn time_on(&self, engines: &CopyEngines) -> Option<Duration> {
        self.duration.or_else(|| engines.duration(self.direction, self.bytes?))
    }

    /// It, with its size where that is known.
    #[doc(hidden)]
    pub fn in_words(&self) -> Cow<'static, str> {
        self.bytes.map_or("copy".into(), |bytes| format!("copy of {bytes} bytes").into())
    }
}

/// A stream to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// Name in reports.
    pub name: Arc<str>,
    /// The process in whose context it is.
    pub process: ProcessId,
    /// Stream priority, 0 (lowest) or negative (higher).
    pub priority: i32,
    /// Whether N1 and N2 hold for it (`cudaStreamNonBlocking` not set).
    pub blocking: bool,
    /// SMs that its kernels must not use.
    pub sm_mask: Option<SmMask>,
    /// The green context that it is of, whose SMs are its mask then.
    pub green_context: Option<GreenContextId>,
}

impl StreamSpec {
    /// The lowest priority, which every device has and a stream that states none gets.
    #[doc(hidden)]
    pub const DEFAULT_PRIORITY: i32 = 0;

    /// A blocking stream of the default (lowest) priority, of the first process.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            process: ProcessId::FIRST,
            priority: Self::DEFAULT_PRIORITY,
            blocking: true,
            sm_mask: None,
            green_context: None,
        }
    }
}

/// What every format calls the NULL stream of a process.
#[doc(hidden)]
pub const NULL_STREAM: &str = "NULL";

/// A stream within a sentence: by its name, which may say that it is one (`stream 7`, `NULL stream`).
#[doc(hidden)]
pub fn stream_in_words(name: &str) -> Cow<'_, str> {
    if name.to_ascii_lowercase().contains("stream") { name.into() } else { format!("stream {name}").into() }
}

/// The name of a stream that has only a number, as CUPTI numbers those of profiles.
#[doc(hidden)]
pub fn numbered_stream(number: impl std::fmt::Display) -> String {
    format!("stream {number}")
}

/// Whether a stream of that name is meant: by the name, or the number alone if it is a [`numbered_stream`].
#[doc(hidden)]
pub fn is_stream_meant(name: &str, asked: &str) -> bool {
    name == asked || name == numbered_stream(asked)
}

/// What was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// A kernel launch.
    Kernel(KernelId),
    /// A copy on a copy engine.
    Copy(CopyId),
    /// A memset: no duration, no engine, but in stream order.
    Memset,
    /// An event is recorded (`cudaEventRecord`): complete once everything before it in its stream is (E1).
    Record(EventId),
    /// What comes after it in its stream waits for an event (`cudaStreamWaitEvent`): for its last record that was
    /// submitted before this (E2).
    Wait(EventId),
    /// What comes after it in its stream waits until a counter is not below a value (`cuStreamWaitValue64`).
    WaitValue(ValueId),
    /// A counter is set to a value (`cuStreamWriteValue64`).
    WriteValue(ValueId),
}

impl OperationKind {
    /// What reports call operations of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Copy(_) => "copy",
            Self::Memset => "memset",
            Self::Record(_) => "record",
            Self::Wait(_) => "wait",
            Self::WaitValue(_) => "wait_value",
            Self::WriteValue(_) => "write_value",
        }
    }

    /// Whether it has no duration and needs no engine, and so is over as soon as it may leave its stream queue.
    pub const fn is_instant(self) -> bool {
        !matches!(self, Self::Kernel(_) | Self::Copy(_))
    }
}

/// Who submitted an operation: for reports only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Origin {
    /// Host thread.
    pub thread: u32,
    /// Iteration of that thread's loop, or job, from 0.
    pub iteration: u32,
}
