//! One event of the trace: its arguments, and its numbers, read from the text of the file without a float in between.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::device::{BlockShape, CopyDirection, Sided};
use crate::profile::builder::{ProfileBuilder, RawSync, TOO_LARGE};
use crate::profile::gpu_profile::{CallKind, HostCall, LaunchType, ProfiledKernel, ProfiledKind, SyncKind};
use crate::time::{Decimal, DecimalError};

/// Why kernels of other makers' GPUs are left out.
pub(super) const NOT_NVIDIA: &str = "kernels that state no grid, block, registers or shared memory";
/// Calls that tell an AMD GPU.
pub(super) const HIP_CALLS: &str = "calls of HIP";

/// The whole event, as slices of the file.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    // One is enough for all: the text then lives as long as they do.
    #[serde(borrow)]
    ph: Option<&'a RawValue>,
    cat: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    pid: Option<&'a RawValue>,
    tid: Option<&'a RawValue>,
    ts: Option<&'a RawValue>,
    dur: Option<&'a RawValue>,
    args: Option<&'a RawValue>,
}

enum Category {
    Kernel,
    Copy,
    Memset,
    Call,
    Sync,
}

impl<'a> Event<'a> {
    fn category(&self) -> Option<Category> {
        Some(match plain_text(self.cat)? {
            "kernel" | "Kernel" => Category::Kernel,
            "gpu_memcpy" | "Memcpy" => Category::Copy,
            "gpu_memset" | "Memset" => Category::Memset,
            "cuda_runtime" | "cuda_driver" | "Runtime" | "Driver" => Category::Call,
            "cuda_sync" => Category::Sync,
            _ => return None,
        })
    }

    /// Hands what the event says to the builder.
    pub(super) fn add_to(&self, builder: &mut ProfileBuilder<'a>) {
        let Some(category) = self.category() else { return };
        if plain_text(self.ph) != Some("X") {
            return;
        }
        let arguments = self.args.map(|raw| serde_json::from_str::<Arguments<'a>>(raw.get()));
        let Ok(arguments) = arguments.unwrap_or_else(|| Ok(Arguments::default())) else {
            return builder.leave_out("events whose arguments cannot be read");
        };
        let times = microseconds(self.ts).and_then(|start| Ok((start, microseconds(self.dur)?)));
        let times = match times {
            Ok(times) => times,
            Err(DecimalError::Negative) => return builder.leave_out("events with a negative time"),
            Err(_) => return builder.leave_out("events whose time cannot be read"),
        };
        match category {
            Category::Kernel => self.kernel(times, &arguments, builder),
            Category::Copy => self.copy(times, &arguments, builder),
            Category::Memset => _ = self.operation(times, &arguments, ProfiledKind::Memset, builder),
            Category::Call => self.call(times, &arguments, builder),
            Category::Sync => Self::sync(times, &arguments, builder),
        }
    }

    fn kernel(&self, times: (u64, u64), arguments: &Arguments<'a>, builder: &mut ProfileBuilder<'a>) {
        let stated = || {
            let (grid, block) = (sides(arguments.grid)?, sides(arguments.block)?);
            let registers = whole_u32(arguments.registers)?;
            Some((grid, block, registers, whole_u32(arguments.shared_memory)?, self.name?))
        };
        let Some((grid, block, registers_per_thread, shared_memory_bytes, name)) = stated() else {
            builder.leave_out(NOT_NVIDIA);
            let Some(name) = self.name.filter(|_| builder.keeps_bare_kernels) else { return };
            let shape = BlockShape { threads: 1, registers_per_thread: 0, shared_memory_bytes: 0 };
            let (function, launch) = (builder.function(name.get(), || text(name).into()), LaunchType::default());
            let bare = ProfiledKernel { function, blocks: 1, shape, recorded_occupancy: None, launch };
            _ = self.operation(times, arguments, ProfiledKind::Kernel(bare), builder);
            return;
        };
        let (Ok(blocks), Ok(threads)) = (Sided::Grid.count(&grid), Sided::Block.count(&block)) else {
            return builder.leave_out(TOO_LARGE);
        };
        let shape = BlockShape { threads, registers_per_thread, shared_memory_bytes };
        let function = builder.function(name.get(), || text(name).into());
        let recorded_occupancy =
            arguments.occupancy.and_then(|raw| raw.get().trim_matches('"').parse().ok()).filter(|&o: &f64| o >= 0.0);
        let kernel = ProfiledKernel { function, blocks, shape, recorded_occupancy, launch: LaunchType::default() };
        if let Some(stream) = self.operation(times, arguments, ProfiledKind::Kernel(kernel), builder) {
            let priority = signed(arguments.priority).and_then(|priority| i32::try_from(priority).ok());
            builder.state_of_stream(stream, priority, whole_u32(arguments.channel));
        }
    }

    fn copy(&self, times: (u64, u64), arguments: &Arguments<'a>, builder: &mut ProfileBuilder<'a>) {
        let name = self.name.map(text).unwrap_or_default();
        let Some(direction) = direction(&name) else {
            return builder.leave_out("copies within the host or without a direction");
        };
        let kind = ProfiledKind::Copy { direction, bytes: whole(arguments.bytes), pageable: name.contains("Pageable") };
        let _ = self.operation(times, arguments, kind, builder);
    }

    /// Hands it in, and tells its stream, if it has one.
    fn operation(
        &self,
        times: (u64, u64),
        arguments: &Arguments<'a>,
        kind: ProfiledKind,
        builder: &mut ProfileBuilder<'a>,
    ) -> Option<u32> {
        let gpu = whole_u32(arguments.device.or(self.pid));
        let number = signed(arguments.stream.or(self.tid));
        let (Some(gpu), Some(number)) = (gpu, number) else {
            builder.leave_out("operations of the GPU without a GPU or a stream");
            return None;
        };
        let stream = builder.stream(0, gpu, whole_u32(arguments.context).unwrap_or(0), number);
        builder.operation(times, stream, whole(arguments.correlation), kind);
        Some(stream)
    }

    fn call(&self, (start_ns, duration): (u64, u64), arguments: &Arguments<'a>, builder: &mut ProfileBuilder<'a>) {
        let name = plain_text(self.name).unwrap_or_default();
        if name.starts_with("hip") {
            return builder.leave_out(HIP_CALLS);
        }
        let (Some(pid), Some(tid), Some(correlation)) = (self.pid, self.tid, whole(arguments.correlation)) else {
            return builder.leave_out("host calls without a thread or a correlation");
        };
        let thread = builder.thread(pid.get(), tid.get());
        let end_ns = start_ns.saturating_add(duration);
        builder.call(0, name, HostCall { thread, start_ns, end_ns, correlation, kind: CallKind::of(name) });
    }

    fn sync((at_ns, _): (u64, u64), arguments: &Arguments<'a>, builder: &mut ProfileBuilder<'a>) {
        let kind = match plain_text(arguments.sync_kind) {
            Some("Event Sync") => SyncKind::Event,
            Some("Stream Wait Event") => SyncKind::StreamWait,
            Some("Stream Sync") => SyncKind::Stream,
            Some("Context Sync") => SyncKind::Context,
            _ => return builder.leave_out("waits of an unknown kind"),
        };
        let gpu = whole_u32(arguments.device);
        let context = whole_u32(arguments.context).unwrap_or(0);
        let mut stream = |raw| {
            let number = signed(raw).filter(|&number| number >= 0)?;
            Some(builder.stream(0, gpu?, context, number))
        };
        let sync = RawSync {
            process: 0,
            correlation: whole(arguments.correlation),
            kind,
            stream: stream(arguments.stream),
            of_stream: stream(arguments.wait_on_stream),
            record_correlation: whole(arguments.event_recorded_by),
            at_ns,
        };
        builder.sync(sync);
    }
}

/// The direction that is named in `Memcpy HtoD (Pageable -> Device)`; copies between GPUs and arrays count as within
/// the GPU.
fn direction(name: &str) -> Option<CopyDirection> {
    let token = name.split_whitespace().find(|word| word.len() == 4 && word.as_bytes()[1..3] == *b"to")?;
    match (token.as_bytes()[0], token.as_bytes()[3]) {
        (b'H', b'D' | b'A') => Some(CopyDirection::HostToDevice),
        (b'D' | b'A', b'H') => Some(CopyDirection::DeviceToHost),
        (b'D' | b'A' | b'P', b'D' | b'A' | b'P') => Some(CopyDirection::DeviceToDevice),
        _ => None,
    }
}

/// What events of the GPU and of CUDA calls say of themselves.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Arguments<'a> {
    // One is enough for all: the text then lives as long as they do.
    #[serde(borrow)]
    pub(super) device: Option<&'a RawValue>,
    pub(super) context: Option<&'a RawValue>,
    pub(super) stream: Option<&'a RawValue>,
    pub(super) correlation: Option<&'a RawValue>,
    #[serde(rename = "registers per thread")]
    pub(super) registers: Option<&'a RawValue>,
    #[serde(rename = "shared memory")]
    pub(super) shared_memory: Option<&'a RawValue>,
    pub(super) grid: Option<&'a RawValue>,
    pub(super) block: Option<&'a RawValue>,
    #[serde(rename = "est. achieved occupancy %")]
    pub(super) occupancy: Option<&'a RawValue>,
    pub(super) priority: Option<&'a RawValue>,
    #[serde(alias = "channel id", alias = "channel_id", alias = "channelID")]
    pub(super) channel: Option<&'a RawValue>,
    pub(super) bytes: Option<&'a RawValue>,
    #[serde(rename = "cuda_sync_kind")]
    pub(super) sync_kind: Option<&'a RawValue>,
    pub(super) wait_on_stream: Option<&'a RawValue>,
    #[serde(rename = "wait_on_cuda_event_record_corr_id")]
    pub(super) event_recorded_by: Option<&'a RawValue>,
}

/// What the head of the file says of a GPU.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Properties {
    pub(super) id: Option<u32>,
    pub(super) name: String,
    pub(super) total_global_mem: Option<u64>,
    pub(super) compute_major: Option<u32>,
    pub(super) compute_minor: Option<u32>,
    pub(super) max_threads_per_block: Option<u32>,
    pub(super) max_threads_per_multiprocessor: Option<u32>,
    pub(super) regs_per_block: Option<u32>,
    pub(super) regs_per_multiprocessor: Option<u32>,
    pub(super) warp_size: Option<u32>,
    pub(super) shared_mem_per_block_optin: Option<u32>,
    pub(super) shared_mem_per_multiprocessor: Option<u32>,
    pub(super) num_sms: Option<u32>,
}

/// What the head of the file says of a distributed run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DistributedInfo {
    pub(super) rank: Option<u32>,
}

/// A number, or a string that holds one.
fn number(raw: &RawValue) -> &str {
    raw.get().trim_matches('"')
}

/// A whole number that is not negative.
pub(super) fn whole(raw: Option<&RawValue>) -> Option<u64> {
    let text = number(raw?);
    text.parse().ok().or_else(|| u64::try_from(Decimal::parse(text).ok()?.scaled_exactly(0)?).ok())
}

/// As [`whole`], of 32 bits.
pub(super) fn whole_u32(raw: Option<&RawValue>) -> Option<u32> {
    u32::try_from(whole(raw)?).ok()
}

/// A whole number that may be negative.
pub(super) fn signed(raw: Option<&RawValue>) -> Option<i64> {
    number(raw?).parse().ok()
}

/// Microseconds as nanoseconds, exact to the nanosecond.
pub(super) fn microseconds(raw: Option<&RawValue>) -> Result<u64, DecimalError> {
    let raw = raw.ok_or(DecimalError::NotANumber)?;
    Decimal::parse(number(raw))?.scaled(3, u64::MAX >> 1)
}

/// A list of one to three numbers that are not 0.
pub(super) fn sides(raw: Option<&RawValue>) -> Option<Vec<u32>> {
    let sides: Vec<u32> = serde_json::from_str(raw?.get()).ok()?;
    Some(sides).filter(|sides| (1..=3).contains(&sides.len()) && !sides.contains(&0))
}

/// A string without its quotes; `None` where there are escapes in it.
pub(super) fn plain_text(raw: Option<&RawValue>) -> Option<&str> {
    let text = raw?.get().strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// A string, decoded.
pub(super) fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| number(raw).to_owned())
}
