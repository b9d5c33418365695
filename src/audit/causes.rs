//! Whether what a profile's GPU ran came after its causes: its own launch, what was launched before it in its stream,
//! and the event that its stream waits for; and whether the host's waits lasted until what they waited for had ended.

use std::collections::BTreeMap;

use crate::profile::{CLOCKS_NS, CallKind, GpuProfile, HostCall, ProfiledOperation, SyncKind};

/// What an operation came before although it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BrokenCause {
    /// The call that launched it.
    Launch,
    /// The start of what was launched before it in its stream.
    Order,
    /// The end of what stands before an event in this stream, for which its own stream waits.
    Event(u32),
    /// Its end came after that of a host's wait for it.
    HostWait,
}

/// A stream of operations, or all that one process submits, by submission: when each was, and the latest end so far.
type Ends = Vec<(u64, u64)>;

/// The operations of a GPU that came before a cause, by their numbers.
pub(super) fn broken_causes(
    profile: &GpuProfile,
    operations: &[(u32, &ProfiledOperation)],
    rounding_ns: u64,
) -> Vec<(u32, BrokenCause)> {
    let call_of = |operation: &ProfiledOperation| profile.calls.get(operation.call? as usize);
    let mut called: Vec<(u32, &ProfiledOperation, &HostCall)> =
        operations.iter().filter_map(|&(index, operation)| Some((index, operation, call_of(operation)?))).collect();
    crate::sorted::sort_by_key(&mut called, |(_, operation, call)| (call.start_ns, operation.start_ns));
    let mut broken: Vec<(u32, BrokenCause)> = called
        .iter()
        .filter(|(_, operation, call)| operation.start_ns.saturating_add(CLOCKS_NS) < call.start_ns)
        .map(|&(index, ..)| (index, BrokenCause::Launch))
        .collect();
    broken.extend(broken_order(&called));
    let waits = HostWaits::of(profile);
    let late = called.iter().filter(|(_, operation, call)| {
        waits.first_after(operation, call).is_some_and(|end| operation.end_ns() > end.saturating_add(CLOCKS_NS))
    });
    broken.extend(late.map(|&(index, ..)| (index, BrokenCause::HostWait)));
    broken.extend(broken_events(profile, &called, rounding_ns));
    broken
}

/// What starts before something that a call launched into the same stream which had returned by then. Times are
/// rounded, which keeps their order.
fn broken_order(called: &[(u32, &ProfiledOperation, &HostCall)]) -> Vec<(u32, BrokenCause)> {
    let mut last_in: BTreeMap<u32, (&ProfiledOperation, &HostCall)> = BTreeMap::new();
    let broken = called.iter().filter_map(|&(index, operation, call)| {
        let (before, earlier) = last_in.insert(operation.stream, (operation, call))?;
        let is_early = earlier.end_ns <= call.start_ns && operation.start_ns < before.start_ns;
        is_early.then_some((index, BrokenCause::Order))
    });
    broken.collect()
}

/// Kernels and copies that start before the event has come for which their stream waits.
fn broken_events(
    profile: &GpuProfile,
    called: &[(u32, &ProfiledOperation, &HostCall)],
    rounding_ns: u64,
) -> Vec<(u32, BrokenCause)> {
    let mut by_stream: BTreeMap<u32, (Ends, Vec<usize>)> = BTreeMap::new();
    for (at, (_, operation, call)) in called.iter().enumerate() {
        let (ends, numbers) = by_stream.entry(operation.stream).or_default();
        let latest = ends.last().map_or(0, |&(_, end)| end).max(operation.end_ns());
        ends.push((call.start_ns, latest));
        numbers.push(at);
    }
    let start_of = |call: Option<u32>| profile.calls.get(call? as usize).map(|call| call.start_ns);
    let broken = profile.syncs.iter().filter(|sync| sync.kind == SyncKind::StreamWait).filter_map(|sync| {
        let (stream, of_stream) = (sync.stream?, sync.of_stream?);
        let (waited_ns, recorded_ns) = (start_of(sync.call)?, start_of(sync.recorded_by)?);
        let (ends, _) = by_stream.get(&of_stream)?;
        let before = ends.partition_point(|&(call, _)| call < recorded_ns);
        let (_, end) = ends[..before].last()?;
        let (calls, numbers) = by_stream.get(&stream)?;
        let (index, operation, _) = called[*numbers.get(calls.partition_point(|&(call, _)| call < waited_ns))?];
        let is_early = operation.start_ns.saturating_add(rounding_ns) < *end;
        is_early.then_some((index, BrokenCause::Event(of_stream)))
    });
    broken.collect()
}

/// Begins and ends of the host's waits for whole streams and for all that a process submitted, by their begin.
#[derive(Debug, Default)]
struct HostWaits<'p> {
    threads: Vec<&'p str>,
    of_streams: BTreeMap<u32, Vec<(u64, u64)>>,
    of_processes: BTreeMap<&'p str, Vec<(u64, u64)>>,
}

impl<'p> HostWaits<'p> {
    fn of(profile: &'p GpuProfile) -> Self {
        let mut waits = Self::default();
        waits.threads.extend(profile.threads.iter().map(|thread| thread.process.as_str()));
        let span = |call: &HostCall| (call.start_ns, call.end_ns);
        for sync in profile.syncs.iter().filter(|sync| sync.kind == SyncKind::Stream) {
            let call = sync.call.and_then(|call| profile.calls.get(call as usize));
            if let Some((call, stream)) = call.zip(sync.stream) {
                waits.of_streams.entry(stream).or_default().push(span(call));
            }
        }
        // A call that waits for a device does not say for which one.
        let mut gpus = profile.streams.iter().map(|stream| (stream.gpu, stream.context));
        let first = gpus.next();
        if gpus.all(|other| Some(other) == first) {
            for call in profile.calls.iter().filter(|call| call.kind == CallKind::DeviceSync) {
                if let Some(&process) = waits.threads.get(call.thread as usize) {
                    waits.of_processes.entry(process).or_default().push(span(call));
                }
            }
        }
        waits.of_streams.values_mut().chain(waits.of_processes.values_mut()).for_each(|spans| spans.sort_unstable());
        waits
    }

    /// When the first wait for an operation returned that began after its launch.
    fn first_after(&self, operation: &ProfiledOperation, call: &HostCall) -> Option<u64> {
        let first = |spans: &Vec<(u64, u64)>| {
            let (_, end) = spans.get(spans.partition_point(|&(start, _)| start < call.end_ns))?;
            Some(*end)
        };
        let process = self.threads.get(call.thread as usize);
        let of_stream = self.of_streams.get(&operation.stream).and_then(first);
        let of_process = process.and_then(|process| self.of_processes.get(process)).and_then(first);
        of_stream.into_iter().chain(of_process).min()
    }
}
