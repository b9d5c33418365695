//! A profile in memory, whichever profiler recorded it: GPUs, streams, operations and host calls; and why one cannot be
//! used.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::kernel_medians::{KernelShape, OtherMedians};
use crate::analysis::{OccupancyEntry, OccupancyReport};
use crate::device::{BlockShape, CopyDirection, Device, GpuProperties, KernelOccupancy};
use crate::named::named;
use crate::proven::Proven;
use crate::time::Duration;
use crate::words::did_you_mean;
use crate::workload::{StreamSpec, is_stream_meant, numbered_stream};

named! {
    /// Which profiler wrote it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ProfileFormat {
        /// JSON of PyTorch's profiler (Kineto).
        Kineto = "Kineto JSON",
        NsightSystems = "Nsight Systems SQLite export",
        /// `nvprof --print-gpu-trace --csv`.
        Nvprof = "nvprof CSV",
    }
}

/// What ran on the GPUs of one machine, and what its host did. Times are nanoseconds on the profile's own clock.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuProfile {
    /// The file's name, for messages.
    pub file: String,
    /// Which profiler wrote it.
    pub(crate) format: ProfileFormat,
    /// What it says of its GPUs, by their number; formats that say nothing leave this empty.
    pub(crate) gpus: BTreeMap<u32, GpuProperties>,
    /// Names of kernel functions, whole, as [`ProfiledKernel::function`] counts them.
    pub(super) functions: Vec<Arc<str>>,
    /// Streams that something ran in, as [`ProfiledOperation::stream`] counts them.
    #[doc(hidden)]
    pub streams: Vec<ProfiledStream>,
    /// Kernels, copies and memsets, by start.
    #[doc(hidden)]
    pub operations: Vec<ProfiledOperation>,
    /// Host threads, as [`HostCall::thread`] counts them.
    pub(crate) threads: Vec<ProfiledThread>,
    /// Calls that submitted something or may have waited, by start.
    #[doc(hidden)]
    pub calls: Vec<HostCall>,
    /// Where hosts spent their time.
    pub(super) spent: Box<Spent>,
    /// What is known of waits: of the host for the GPU, and of one stream for another.
    pub(crate) syncs: Box<[ProfiledSync]>,
    /// Medians of another profile, which are taken where that knows the kernel.
    pub(super) other: Option<Box<OtherMedians>>,
    /// How many hardware channels its kernels name; 0 if none does.
    pub channels: usize,
    /// Which rank of a distributed run it is of, if it says so.
    pub rank: Option<u32>,
    /// How many entries were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// All calls of hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Spent {
    /// Thread, begin and end \[ns\], and the number of the function; by begin.
    pub(super) calls: Vec<(u32, u64, u64, u32)>,
    /// Names of the functions.
    pub(super) names: Vec<Arc<str>>,
}

/// Functions that a note names.
const MOST_NAMED: usize = 5;

impl GpuProfile {
    /// The occupancy of every kernel that a GPU of the profile ran, on `device`. What was recorded is compared only
    /// where `device` is the one of the recording.
    pub fn occupancy(&self, gpu: u32, device: &Device, is_recorded_on: bool) -> OccupancyReport {
        type Key = (u32, u32, BlockShape, Option<u64>);
        let mut launches: BTreeMap<Key, (ProfiledKernel, u64, u64)> = BTreeMap::new();
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            let Some(kernel) = operation.kernel() else { continue };
            let recorded = kernel.recorded_occupancy.filter(|_| is_recorded_on).map(f64::to_bits);
            let entry =
                launches.entry((kernel.function, kernel.blocks, kernel.shape, recorded)).or_insert((*kernel, 0, 0));
            entry.1 += 1;
            entry.2 = entry.2.saturating_add(operation.duration_ns);
        }
        let entries = launches.into_values().map(|(kernel, count, total)| OccupancyEntry {
            name: Arc::clone(self.name_of(&kernel)),
            count,
            blocks: kernel.blocks,
            shape: kernel.shape,
            occupancy: KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device),
            recorded_percent: kernel.recorded_occupancy.filter(|_| is_recorded_on),
            total: Duration::from_ns(total),
        });
        OccupancyReport::new(entries.collect())
    }

    #[doc(hidden)]
    pub fn name_of(&self, kernel: &ProfiledKernel) -> &Arc<str> {
        self.functions.get(kernel.function as usize).proven("its number is one of the profile's functions")
    }

    /// The functions of most launches, of which there are so many: `3 of gemm, 1 of softmax`.
    pub(super) fn most_launched(&self, launches: &BTreeMap<u32, u64>) -> String {
        let named = |(&function, &count): (&u32, &u64)| Some((count, self.functions.get(function as usize)?.as_ref()));
        let mut functions: Vec<(u64, &str)> = launches.iter().filter_map(named).collect();
        crate::sorted::sort_by_key(&mut functions, |&(count, name)| (Reverse(count), name));
        let most = functions.iter().take(MOST_NAMED).map(|(count, name)| format!("{count} of {}", short_name(name)));
        let most = most.collect::<Vec<_>>().join(", ");
        match functions.len().saturating_sub(MOST_NAMED) {
            0 => most,
            others => format!("{most}, and those of {others} more functions"),
        }
    }

    /// Gives streams priorities, in place of those that it states; they go by `stream 7` or their number. Where it
    /// states none, those of the others are 0.
    ///
    /// # Errors
    /// [`GpuProfileError`] for a stream that does not exist.
    pub fn set_priorities(&mut self, priorities: &[(String, i32)]) -> Result<(), GpuProfileError> {
        for (name, priority) in priorities {
            let is_meant = |stream: &&mut ProfiledStream| is_stream_meant(&numbered_stream(stream.number), name);
            let mut meant = self.streams.iter_mut().filter(is_meant).peekable();
            if meant.peek().is_none() {
                drop(meant);
                let names: Vec<String> = self.streams.iter().map(|stream| numbered_stream(stream.number)).collect();
                let near = did_you_mean(name, names.iter().map(String::as_str));
                return Err(GpuProfileError::new(&self.file, format!("no stream is called {name:?}{near}")));
            }
            meant.for_each(|stream| stream.priority = Some(*priority));
        }
        if !priorities.is_empty() {
            for stream in &mut self.streams {
                stream.priority.get_or_insert(StreamSpec::DEFAULT_PRIORITY);
            }
        }
        Ok(())
    }
}

/// A stream of one context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfiledStream {
    /// Process that owns it; 0 where the format does not say.
    pub process: u64,
    /// GPU.
    pub gpu: u32,
    /// CUDA context.
    pub context: u32,
    /// Number that CUPTI gives it.
    pub number: i64,
    /// Priority, 0 or negative; `None`: the format does not say.
    pub priority: Option<i32>,
    /// Whether it is the legacy default (NULL) stream.
    pub is_null: bool,
    /// Whether it waits for the NULL stream and it for this one; `None`: the format does not say.
    pub blocking: Option<bool>,
}

/// Something that a GPU did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfiledOperation {
    /// When it started.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// Index of its stream.
    pub stream: u32,
    /// Index of the call that submitted it; `None`: there is none in the file.
    pub call: Option<u32>,
    /// What it was.
    pub kind: ProfiledKind,
}

impl ProfiledOperation {
    /// When it ended.
    #[doc(hidden)]
    pub const fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    #[doc(hidden)]
    pub const fn kernel(&self) -> Option<&ProfiledKernel> {
        match &self.kind {
            ProfiledKind::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }
}

/// What an operation was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProfiledKind {
    /// A kernel.
    Kernel(ProfiledKernel),
    /// A copy.
    Copy {
        /// Which way.
        direction: CopyDirection,
        /// Size \[bytes\], if the profile says.
        bytes: Option<u64>,
        /// Whether host memory took part that is not page-locked, so that the host had to wait.
        pageable: bool,
    },
    /// A memset.
    Memset,
}

/// One launch of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfiledKernel {
    /// Index of its function's name.
    pub function: u32,
    /// Blocks of its grid.
    pub blocks: u32,
    /// What one block takes.
    pub shape: BlockShape,
    /// Occupancy that the profiler estimated \[percent\].
    pub recorded_occupancy: Option<f64>,
    /// How it was launched.
    pub launch: LaunchType,
}

/// How a kernel was launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LaunchType {
    /// As most are, for all that the profile says.
    #[default]
    Regular,
    /// All of its blocks began together (`cudaLaunchCooperativeKernel`).
    Cooperative,
    /// The profile has a number for it, and does not say what that means.
    Unknown,
}

impl ProfiledKernel {
    /// What launches have in common that should take as long.
    #[doc(hidden)]
    pub const fn key(&self) -> KernelShape {
        (self.function, self.blocks, self.shape)
    }
}

/// A host thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProfiledThread {
    /// Process number, as the file has it.
    pub process: String,
    /// Thread number, as the file has it.
    pub thread: String,
}

/// A call of the CUDA runtime or driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCall {
    /// Index of the host thread.
    pub thread: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it returned.
    pub end_ns: u64,
    /// The number that ties it to what it submitted and to syncs.
    pub correlation: u64,
    /// What it may wait for.
    pub kind: CallKind,
}

/// What a wait waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// The host waits for an event.
    Event,
    /// A stream waits for an event.
    StreamWait,
    /// The host waits for a stream.
    Stream,
    /// The host waits for everything of a context.
    Context,
}

/// What the profiler says of one wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfiledSync {
    /// Index of the host call; `None`: there is none in the file.
    pub call: Option<u32>,
    /// What waits for what.
    pub kind: SyncKind,
    /// The stream that waits ([`SyncKind::StreamWait`]) or is waited for ([`SyncKind::Stream`]).
    pub stream: Option<u32>,
    /// The stream in which the event was recorded that is waited for.
    pub of_stream: Option<u32>,
    /// Index of the host call that recorded that event.
    pub recorded_by: Option<u32>,
    /// When the wait began, on the host's clock.
    pub at_ns: u64,
}

/// What a call of the CUDA runtime or driver does to its host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// It returns without waiting for the GPU.
    Asynchronous,
    /// It waits for everything.
    DeviceSync,
    /// It waits for a stream.
    StreamSync,
    /// It waits for an event.
    EventSync,
    /// It waits for the copy or memset that it submits.
    OwnOperation,
    /// It makes a stream wait for an event.
    StreamWait,
    /// It records an event in a stream.
    Record,
}

impl CallKind {
    /// A function's name without the version that Nsight Systems appends to it.
    fn base(function: &str) -> &str {
        let base = function.split_once("_v").map_or(function, |(base, _)| base);
        base.strip_suffix("_ptsz").or_else(|| base.strip_suffix("_ptds")).unwrap_or(base)
    }

    /// Whether the function launches kernels all of whose blocks begin together.
    pub(crate) fn is_cooperative(function: &str) -> bool {
        matches!(
            Self::base(function),
            "cudaLaunchCooperativeKernel"
                | "cudaLaunchCooperativeKernelMultiDevice"
                | "cuLaunchCooperativeKernel"
                | "cuLaunchCooperativeKernelMultiDevice"
        )
    }

    /// Tells by the name of the function, with or without the version that Nsight Systems appends to it. What is not
    /// known counts as asynchronous.
    pub(crate) fn of(function: &str) -> Self {
        let base = Self::base(function);
        match base {
            "cudaDeviceSynchronize" | "cudaThreadSynchronize" | "cuCtxSynchronize" | "cudaFree" | "cuMemFree" => {
                Self::DeviceSync
            }
            "cudaStreamSynchronize" | "cuStreamSynchronize" => Self::StreamSync,
            "cudaEventSynchronize" | "cuEventSynchronize" => Self::EventSync,
            "cudaStreamWaitEvent" | "cuStreamWaitEvent" => Self::StreamWait,
            "cudaEventRecord" | "cudaEventRecordWithFlags" | "cuEventRecord" => Self::Record,
            _ if base.contains("Memcpy") && !base.contains("Async") && !base.contains("Graph") => Self::OwnOperation,
            _ => Self::Asynchronous,
        }
    }
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {what}{}", help.as_ref().map_or_else(String::new, |help| format!(" ({help})")))]
pub struct GpuProfileError {
    /// The file's name.
    pub file: String,
    /// What is wrong, with the position where there is one.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl GpuProfileError {
    pub(crate) fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what: what.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Functions that only wrap what their template argument names.
const WRAPPERS: [&str; 3] = ["Kernel", "Kernel2", "device_kernel"];

/// The function's own name, without return type, namespaces, template arguments and parameters:
/// `vectorized_elementwise_kernel` of `void at::native::vectorized_elementwise_kernel<4, …>(int, …)`. A name that has
/// no such parts stays as it is.
pub fn short_name(name: &str) -> &str {
    let mut function = name.strip_prefix("void ").unwrap_or(name);
    // An unnamed namespace has parentheses of its own.
    while let Some((before, after)) = function.split_once("(anonymous namespace)::")
        && !before.contains(['<', '('])
    {
        function = after;
    }
    let own = last_component(function);
    let inner = function.split_once('<').map(|(_, inner)| last_component(inner));
    match inner {
        Some(inner) if WRAPPERS.contains(&own) && !inner.is_empty() => inner,
        _ if own.is_empty() => name,
        _ => own,
    }
}

/// What stands last between `::` before anything in brackets.
fn last_component(text: &str) -> &str {
    let end = text.find(['<', '>', '(', ',']).unwrap_or(text.len());
    let path = text[..end].trim();
    path.rsplit_once("::").map_or(path, |(_, last)| last)
}
