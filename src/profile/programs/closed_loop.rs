//! Host threads that wait for the GPU where the recorded ones did.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::events::Events;
use super::{Program, Programs, Submitted};
use crate::device::CopyDirection;
use crate::profile::call::CallKind;
use crate::profile::model::{GpuProfile, HostCall, ProfiledKind, SyncKind};
use crate::scenario::Step;
use crate::workload::StreamId;

/// Adds one thread for each host thread of the recording.
///
/// A thread takes the recorded time between its calls. A call that waited ends when what it waited for has ended, and
/// what the host did after that takes as long as it did.
pub(super) fn add(
    profile: &GpuProfile,
    gpu: u32,
    (steps, submitted_at): (&[Submitted], &[Option<u64>]),
    streams: &BTreeMap<u32, StreamId>,
    events: &Events,
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
    for &call in by_call.keys().chain(events.at_call.keys()) {
        let Some(stated) = profile.calls.get(call as usize) else { continue };
        let last = last_submission.entry(stated.thread).or_insert(call);
        *last = call.max(*last);
        first_submission = first_submission.min(stated.start_ns);
    }
    let waits = Waits::new(profile, gpu, streams, events);
    let mut by_thread: BTreeMap<u32, Vec<(u32, &HostCall)>> = BTreeMap::new();
    for (index, call) in (0..).zip(&profile.calls) {
        let counts = last_submission.get(&call.thread).is_some_and(|last| index <= *last);
        let submits = by_call.contains_key(&index) || events.at_call.contains_key(&index);
        if counts && (submits || may_wait(call) && call.start_ns >= first_submission) {
            by_thread.entry(call.thread).or_default().push((index, call));
        }
    }
    let one_process = profile.threads.iter().all(|thread| thread.process == profile.threads[0].process);
    let mut inferred = 0;
    for (thread, calls) in by_thread {
        let Some(first) = calls.first() else { continue };
        let mut program = Program::new(first.1.start_ns);
        for (index, call) in calls {
            program.at(call.start_ns);
            program.steps.extend(events.at_call.get(&index).into_iter().flatten().map(|(_, step)| *step));
            let mut own: Option<u32> = None;
            for submitted in by_call.get(&index).into_iter().flatten() {
                program.at(submitted_at.get(submitted.index as usize).copied().flatten().unwrap_or(0));
                program.submit(*submitted, events);
                own = Some(submitted.index);
            }
            let Some((step, until)) = waits.step(index, call, own, &mut inferred) else { continue };
            program.steps.push(step);
            program.now_ns = until.max(call.start_ns);
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
    if inferred > 0 {
        programs.notes.push(format!(
            "{inferred} host calls wait for a stream that the file does not name: taken is the stream whose operation \
             ended last before the call returned"
        ));
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
    /// The stream that a call waited for, as far as the profile says.
    stated: FxHashMap<u32, u32>,
    events: &'a Events,
}

impl<'a> Waits<'a> {
    fn new(profile: &'a GpuProfile, gpu: u32, streams: &'a BTreeMap<u32, StreamId>, events: &'a Events) -> Self {
        let on_gpu = profile.operations.iter().filter(|operation| profile.gpu_of(operation.stream) == gpu);
        let mut ends: Vec<(u64, u32)> = on_gpu.map(|operation| (operation.end_ns(), operation.stream)).collect();
        ends.sort_unstable();
        let mut ends_in: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &(end, stream) in &ends {
            ends_in.entry(stream).or_default().push(end);
        }
        let of_streams = profile.syncs.iter().filter(|sync| sync.kind == SyncKind::Stream);
        let stated = of_streams.filter_map(|sync| Some((sync.call?, sync.stream?))).collect();
        Self { profile, streams, ends, ends_in, stated, events }
    }

    /// The step that waits as a call did, and until when the recorded one waited; the call's own start if it did not.
    /// `own` is what the call itself submitted last.
    fn step(&self, index: u32, call: &HostCall, own: Option<u32>, inferred: &mut u64) -> Option<(Step, u64)> {
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
            CallKind::StreamSync => self.stream_step(index, call, inferred),
            CallKind::EventSync => {
                let &(event, until) = self.events.host_waits.get(&index)?;
                Some((Step::SynchronizeEvent(event), until.min(call.end_ns)))
            }
            CallKind::StreamWait | CallKind::Record => None,
        }
    }

    fn stream_step(&self, index: u32, call: &HostCall, inferred: &mut u64) -> Option<(Step, u64)> {
        let stream = if let Some(stream) = self.stated.get(&index) {
            *stream
        } else {
            let last = self.ends.partition_point(|(end, _)| *end <= call.end_ns).checked_sub(1)?;
            let (end, stream) = self.ends[last];
            // Nothing ended meanwhile: it had nothing to wait for.
            if end <= call.start_ns {
                return None;
            }
            *inferred += 1;
            stream
        };
        let until = self.ends_in.get(&stream).map_or(call.start_ns, |ends| last_before(ends, |end| *end, call));
        let id = self.streams.get(&stream)?;
        Some((Step::SynchronizeStream(*id), until))
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
