//! A profile in the making, for the readers of all formats: names, streams and threads get numbers, and what is left
//! out is counted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::gpu_profile::{
    CallKind, GpuProfile, GpuProfileError, HostCall, LaunchType, ProfileFormat, ProfiledKind, ProfiledOperation,
    ProfiledStream, ProfiledSync, ProfiledThread, SyncKind,
};
use crate::proven::OrMost;

/// Why kernels are left out that no GPU could have run.
pub(super) const TOO_LARGE: &str = "kernels whose grid or block is larger than any CUDA GPU takes";

/// By what a stream is known: process, GPU, context, number.
type StreamKey = (u64, u32, u32, i64);

/// A profile in the making. Readers hand in what they find, in any order.
#[derive(Debug)]
pub(super) struct ProfileBuilder<'a> {
    /// What is known of it so far, without what needs the whole: operations, calls and waits.
    pub(super) profile: GpuProfile,
    /// Whether kernels are kept that state no shape, as of one block.
    pub(super) keeps_bare_kernels: bool,
    /// By the name as the file has it, so that long names are decoded once.
    function_of: FxHashMap<&'a str, u32>,
    stream_of: FxHashMap<StreamKey, u32>,
    thread_of: FxHashMap<(&'a str, &'a str), u32>,
    call_name_of: FxHashMap<Box<str>, u32>,
    /// With their process and correlation.
    operations: Vec<(ProfiledOperation, u64, Option<u64>)>,
    calls: Vec<(u64, HostCall)>,
    syncs: Vec<RawSync>,
    /// Process and correlation of calls that launch kernels all of whose blocks begin together.
    cooperative: BTreeSet<(u64, u64)>,
    /// Hardware channels that kernels name.
    channels: BTreeSet<u32>,
}

/// A wait whose calls are known by correlation only.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawSync {
    pub(super) process: u64,
    pub(super) correlation: Option<u64>,
    pub(super) kind: SyncKind,
    pub(super) stream: Option<u32>,
    pub(super) of_stream: Option<u32>,
    pub(super) record_correlation: Option<u64>,
    pub(super) at_ns: u64,
}

impl<'a> ProfileBuilder<'a> {
    pub(super) fn new(file: &'a str, format: ProfileFormat) -> Self {
        let profile = GpuProfile {
            file: file.to_owned(),
            format,
            gpus: BTreeMap::new(),
            functions: Vec::new(),
            streams: Vec::new(),
            operations: Vec::new(),
            threads: Vec::new(),
            calls: Vec::new(),
            spent: Box::default(),
            syncs: Box::default(),
            other: None,
            channels: 0,
            rank: None,
            left_out: BTreeMap::new(),
        };
        Self {
            profile,
            keeps_bare_kernels: false,
            function_of: FxHashMap::default(),
            stream_of: FxHashMap::default(),
            thread_of: FxHashMap::default(),
            call_name_of: FxHashMap::default(),
            operations: Vec::new(),
            calls: Vec::new(),
            syncs: Vec::new(),
            cooperative: BTreeSet::new(),
            channels: BTreeSet::new(),
        }
    }

    /// Something is not used, and this is why.
    pub(super) fn leave_out(&mut self, why: &'static str) {
        *self.profile.left_out.entry(why).or_insert(0) += 1;
    }

    /// The number of a function's name, `written` as the file has it and decoded by `decode`.
    pub(super) fn function(&mut self, written: &'a str, decode: impl FnOnce() -> Arc<str>) -> u32 {
        let next = number(self.profile.functions.len());
        *self.function_of.entry(written).or_insert_with(|| {
            self.profile.functions.push(decode());
            next
        })
    }

    /// The number of a function's name that is not a slice of the file.
    pub(super) fn function_named(&mut self, name: &str) -> u32 {
        // Those files are small, and name few functions.
        if let Some(known) = self.profile.functions.iter().position(|known| **known == *name) {
            return number(known);
        }
        self.profile.functions.push(name.into());
        number(self.profile.functions.len() - 1)
    }

    /// The number of a stream.
    pub(super) fn stream(&mut self, process: u64, gpu: u32, context: u32, stream: i64) -> u32 {
        let next = number(self.profile.streams.len());
        *self.stream_of.entry((process, gpu, context, stream)).or_insert_with(|| {
            self.profile.streams.push(ProfiledStream {
                process,
                gpu,
                context,
                number: stream,
                priority: None,
                is_null: false,
                blocking: None,
            });
            next
        })
    }

    /// What a kernel says of its stream: the priority that it had, and the hardware channel. Where kernels state
    /// several priorities, the highest is that of the stream: launches can have one of their own.
    pub(super) fn state_of_stream(&mut self, stream: u32, priority: Option<i32>, channel: Option<u32>) {
        if let (Some(stream), Some(priority)) =
            (self.profile.streams.get_mut(stream as usize), priority.filter(|one| *one <= 0))
        {
            stream.priority = stream.priority.into_iter().chain([priority]).min();
        }
        self.channels.extend(channel);
    }

    pub(super) fn streams_mut(&mut self) -> &mut [ProfiledStream] {
        &mut self.profile.streams
    }

    /// The number of a host thread.
    pub(super) fn thread(&mut self, process: &'a str, thread: &'a str) -> u32 {
        let next = number(self.profile.threads.len());
        *self.thread_of.entry((process, thread)).or_insert_with(|| {
            let unquoted = |text: &str| text.trim_matches('"').to_owned();
            self.profile.threads.push(ProfiledThread { process: unquoted(process), thread: unquoted(thread) });
            next
        })
    }

    /// A host thread that has not been known before, by numbers.
    #[cfg(feature = "nsight")]
    pub(super) fn thread_numbered(&mut self, process: u64, thread: u64) -> u32 {
        self.profile.threads.push(ProfiledThread { process: process.to_string(), thread: thread.to_string() });
        number(self.profile.threads.len() - 1)
    }

    pub(super) fn operation(
        &mut self,
        (start_ns, duration_ns): (u64, u64),
        stream: u32,
        correlation: Option<u64>,
        kind: ProfiledKind,
    ) {
        let process = self.profile.streams.get(stream as usize).map_or(0, |stream| stream.process);
        let operation = ProfiledOperation { start_ns, duration_ns, stream, call: None, kind };
        self.operations.push((operation, process, correlation));
    }

    /// A call of a function of this name.
    pub(super) fn call(&mut self, process: u64, function: &str, call: HostCall) {
        let next = number(self.profile.spent.names.len());
        let known = self.call_name_of.get(function).copied();
        let name = known.unwrap_or_else(|| {
            self.profile.spent.names.push(function.into());
            self.call_name_of.insert(function.into(), next);
            next
        });
        self.profile.spent.calls.push((call.thread, call.start_ns, call.end_ns, name));
        if CallKind::is_cooperative(function) {
            self.cooperative.insert((process, call.correlation));
        }
        self.calls.push((process, call));
    }

    pub(super) fn sync(&mut self, sync: RawSync) {
        self.syncs.push(sync);
    }

    pub(super) fn finish(mut self) -> Result<GpuProfile, GpuProfileError> {
        if !self.operations.iter().any(|(operation, ..)| operation.kernel().is_some()) {
            let why: Vec<String> = self.profile.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
            let but = if why.is_empty() { String::new() } else { format!("; left out: {}", why.join(", ")) };
            return Err(GpuProfileError::new(&self.profile.file, format!("this profile holds no kernels{but}"))
                .with_help("was the profiler told to record CUDA activity?"));
        }
        crate::sorted::sort_by_key(&mut self.operations, |(operation, ..)| (operation.start_ns, operation.end_ns()));
        let mut submits: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        for (_, process, correlation) in &self.operations {
            if let Some(correlation) = correlation {
                submits.insert((*process, *correlation), 0);
            }
        }
        self.calls.retain(|(process, call)| {
            call.kind != CallKind::Asynchronous || submits.contains_key(&(*process, call.correlation))
        });
        crate::sorted::sort_by_key(&mut self.calls, |(_, call)| (call.start_ns, call.end_ns));
        crate::sorted::sort_by_key(&mut self.profile.spent.calls, |&(thread, from, to, _)| (from, Reverse(to), thread));
        let mut call_of: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        for (index, (process, call)) in self.calls.iter().enumerate() {
            // The first of several: a driver call stands inside the runtime call that made it.
            call_of.entry((*process, call.correlation)).or_insert(number(index));
        }
        let find = |process: u64, correlation: Option<u64>| call_of.get(&(process, correlation?)).copied();
        let operations = self.operations.into_iter().map(|(mut operation, process, correlation)| {
            if let (ProfiledKind::Kernel(kernel), Some(correlation)) = (&mut operation.kind, correlation)
                && self.cooperative.contains(&(process, correlation))
            {
                kernel.launch = LaunchType::Cooperative;
            }
            ProfiledOperation { call: find(process, correlation), ..operation }
        });
        let syncs = self.syncs.iter().map(|sync| ProfiledSync {
            call: find(sync.process, sync.correlation),
            kind: sync.kind,
            stream: sync.stream,
            of_stream: sync.of_stream,
            recorded_by: find(sync.process, sync.record_correlation),
            at_ns: sync.at_ns,
        });
        Ok(GpuProfile {
            operations: operations.collect(),
            syncs: syncs.collect(),
            calls: self.calls.into_iter().map(|(_, call)| call).collect(),
            channels: self.channels.len(),
            ..self.profile
        })
    }
}

/// An index. Files hold fewer entries than 32 bits count: each takes tens of bytes, and files of 4 GiB are the limit.
fn number(index: usize) -> u32 {
    u32::try_from(index).or_most()
}
