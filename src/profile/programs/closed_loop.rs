//! Host threads that wait for the GPU where the recorded ones did.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Program, Programs, Submitted};
use crate::device::CopyDirection;
use crate::profile::call::CallKind;
use crate::profile::model::{GpuProfile, HostCall, ProfiledKind, SyncKind};
use crate::scenario::Step;
use crate::workload::StreamId;

/// Adds one thread for each host thread of the recording.
///
/// A thread takes the recorded time between its calls. A call that waited ends when what it waited for has ended, and
/// what the host did after that takes as long as it did. A launch reaches the GPU `latency_ns` after its call, so each
/// thread stands that much later than its calls, and a wait ends that much earlier for it than for the GPU.
pub(super) fn add(
    profile: &GpuProfile,
    gpu: u32,
    steps: &[Submitted],
    streams: &BTreeMap<u32, StreamId>,
    latency_ns: u64,
    programs: &mut Programs,
) {
    let mut by_call: FxHashMap<u32, Vec<Submitted>> = FxHashMap::default();
    for submitted in steps {
        if let Some(call) = profile.operations[submitted.index as usize].call {
            by_call.entry(call).or_default().push(*submitted);
        }
    }
    let mut last_submission: BTreeMap<u32, u32> = BTreeMap::new();
    let mut first_submission = u64::MAX;
    for &call in by_call.keys() {
        let Some(stated) = profile.calls.get(call as usize) else { continue };
        let last = last_submission.entry(stated.thread).or_insert(call);
        *last = call.max(*last);
        first_submission = first_submission.min(stated.start_ns);
    }
    let waits = Waits::new(profile, gpu, streams);
    let mut by_thread: BTreeMap<u32, Vec<(u32, &HostCall)>> = BTreeMap::new();
    for (index, call) in (0..).zip(&profile.calls) {
        let counts = last_submission.get(&call.thread).is_some_and(|last| index <= *last);
        let matters = by_call.contains_key(&index) || may_wait(call) && call.start_ns >= first_submission;
        if counts && matters {
            by_thread.entry(call.thread).or_default().push((index, call));
        }
    }
    let one_process = profile.threads.iter().all(|thread| thread.process == profile.threads[0].process);
    let mut counts = Counts::default();
    for (thread, calls) in by_thread {
        let Some(first) = calls.first() else { continue };
        let mut program = Program::new(first.1.start_ns.saturating_add(latency_ns));
        // From here on the program's clock is that of the GPU.
        program.now_ns = first.1.start_ns;
        for (index, call) in calls {
            program.at(call.start_ns);
            let mut own: Option<u32> = None;
            for submitted in by_call.get(&index).into_iter().flatten() {
                program.submit(*submitted);
                own = Some(submitted.index);
            }
            let Some((step, until)) = waits.step(index, call, own, &mut counts) else { continue };
            program.steps.push(step);
            if until > call.start_ns {
                program.now_ns = until;
                program.sleep(latency_ns);
            }
        }
        let named = profile.threads.get(thread as usize);
        let label = named.map_or_else(String::new, |named| {
            if one_process {
                format!("thread {}", named.thread)
            } else {
                format!("process {} thread {}", named.process, named.thread)
            }
        });
        program.finish(label, programs);
    }
    counts.tell(programs);
}

/// Waits that could not be told from the file.
#[derive(Debug, Default)]
struct Counts {
    inferred: u64,
    unresolved: u64,
}

impl Counts {
    fn tell(&self, programs: &mut Programs) {
        if self.inferred > 0 {
            programs.notes.push(format!(
                "{} host calls wait for a stream or an event that the file does not name: taken is the stream whose \
                 operation ended last before the call returned",
                self.inferred
            ));
        }
        if self.unresolved > 0 {
            programs.notes.push(format!(
                "{} waits for an event with later work behind it in its stream are not modelled: they take their \
                 recorded time",
                self.unresolved
            ));
        }
    }
}

/// What host calls waited for.
struct Waits<'a> {
    profile: &'a GpuProfile,
    streams: &'a BTreeMap<u32, StreamId>,
    /// Ends of operations with their streams, by end.
    ends: Vec<(u64, u32)>,
    /// The same, by stream.
    ends_in: BTreeMap<u32, Vec<u64>>,
    /// What the profile says of a call that waits.
    stated: FxHashMap<u32, (SyncKind, Option<u32>)>,
}

impl<'a> Waits<'a> {
    fn new(profile: &'a GpuProfile, gpu: u32, streams: &'a BTreeMap<u32, StreamId>) -> Self {
        let on_gpu = profile.operations.iter().filter(|operation| profile.gpu_of(operation.stream) == gpu);
        let mut ends: Vec<(u64, u32)> = on_gpu.map(|operation| (operation.end_ns(), operation.stream)).collect();
        ends.sort_unstable();
        let mut ends_in: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &(end, stream) in &ends {
            ends_in.entry(stream).or_default().push(end);
        }
        let known = profile.syncs.iter().filter_map(|sync| {
            let stream = if sync.kind == SyncKind::Event { sync.of_stream } else { sync.stream };
            Some((sync.call?, (sync.kind, stream)))
        });
        Self { profile, streams, ends, ends_in, stated: known.collect() }
    }

    /// The step that waits as a call did, and until when the recorded one waited; the call's own start if it did not.
    /// `own` is what the call itself submitted last.
    fn step(&self, index: u32, call: &HostCall, own: Option<u32>, counts: &mut Counts) -> Option<(Step, u64)> {
        match call.kind {
            CallKind::Asynchronous | CallKind::OwnOperation => {
                let operation = &self.profile.operations[own? as usize];
                let ProfiledKind::Copy { direction, pageable, .. } = operation.kind else { return None };
                // A copy to memory that is not page-locked returns once it is done, whatever it is called.
                let blocks =
                    call.kind == CallKind::OwnOperation || pageable && direction == CopyDirection::DeviceToHost;
                let waited = operation.end_ns() <= call.end_ns;
                blocks.then_some((Step::AwaitLast, if waited { operation.end_ns() } else { call.start_ns }))
            }
            CallKind::DeviceSync => Some((Step::SynchronizeDevice, last_before(&self.ends, |end| end.0, call))),
            CallKind::StreamSync | CallKind::EventSync => self.stream_step(index, call, counts),
            CallKind::StreamWait | CallKind::Record => None,
        }
    }

    fn stream_step(&self, index: u32, call: &HostCall, counts: &mut Counts) -> Option<(Step, u64)> {
        let stated = self.stated.get(&index).and_then(|(_, stream)| *stream);
        let stream = if let Some(stream) = stated {
            stream
        } else {
            let last = self.ends.partition_point(|(end, _)| *end <= call.end_ns).checked_sub(1)?;
            let (end, stream) = self.ends[last];
            // Nothing ended meanwhile: it had nothing to wait for.
            if end <= call.start_ns {
                return None;
            }
            counts.inferred += 1;
            stream
        };
        let until = self.ends_in.get(&stream).map_or(call.start_ns, |ends| last_before(ends, |end| *end, call));
        if call.kind == CallKind::EventSync && self.has_later_work(stream, call) {
            counts.unresolved += u64::from(until > call.start_ns);
            return None;
        }
        let id = self.streams.get(&stream)?;
        Some((Step::SynchronizeStream(*id), until))
    }

    /// Whether a stream had work before a call that ended after it returned.
    fn has_later_work(&self, stream: u32, call: &HostCall) -> bool {
        // Operations of a stream end in the order in which they start, and as calls are in order too, the first that
        // ends after the call tells.
        let operations = &self.profile.operations;
        let from = operations.partition_point(|operation| operation.start_ns < call.start_ns);
        let near = operations[from.saturating_sub(64)..].iter().filter(|operation| operation.stream == stream);
        let mut later = near.filter(|operation| operation.end_ns() > call.end_ns);
        later.next().is_some_and(|operation| {
            let launched = operation.call.and_then(|launch| self.profile.calls.get(launch as usize));
            launched.map_or(operation.start_ns, |launch| launch.start_ns) < call.start_ns
        })
    }
}

/// Whether a call can have waited for the GPU.
fn may_wait(call: &HostCall) -> bool {
    matches!(call.kind, CallKind::DeviceSync | CallKind::StreamSync | CallKind::EventSync)
}

/// The end of what ended last until a call returned, but not before the call's own start.
fn last_before<T>(ends: &[T], end: impl Fn(&T) -> u64, call: &HostCall) -> u64 {
    let after = ends.partition_point(|entry| end(entry) <= call.end_ns);
    after.checked_sub(1).map_or(call.start_ns, |last| end(&ends[last]).max(call.start_ns))
}
