//! What was submitted when, by stream and by host thread.

use std::collections::BTreeMap;

use crate::profile::UsualDelays;
use crate::profile::model::{GpuProfile, HostCall};

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
