//! Operations that are submitted at given times, whatever the GPU does.

use std::collections::BTreeMap;

use super::events::Events;
use super::{Program, Programs, Submitted};
use crate::profile::model::GpuProfile;
use crate::scenario::Step;
use crate::workload::numbered_stream;

/// When each operation is submitted: when its call did it, but in a stream not before what started before it. One
/// without a call was submitted `latency_ns` before it started, or before everything that started after it in its
/// stream.
pub(super) fn times(
    profile: &GpuProfile,
    steps: &[Submitted],
    submitted_at: &[Option<u64>],
    latency_ns: u64,
) -> Vec<u64> {
    let mut latest: BTreeMap<u32, u64> = BTreeMap::new();
    let by_call = steps.iter().map(|submitted| {
        let operation = &profile.operations[submitted.index as usize];
        let called = submitted_at.get(submitted.index as usize).copied().flatten()?;
        let latest = latest.entry(operation.stream).or_insert(0);
        *latest = called.max(*latest);
        Some(*latest)
    });
    let by_call: Vec<Option<u64>> = by_call.collect();
    let mut next_in: BTreeMap<u32, u64> = BTreeMap::new();
    let mut times: Vec<u64> = steps
        .iter()
        .zip(by_call)
        .rev()
        .map(|(submitted, by_call)| {
            let operation = &profile.operations[submitted.index as usize];
            let next = next_in.entry(operation.stream).or_insert(u64::MAX);
            *next = by_call.unwrap_or(operation.start_ns.saturating_sub(latency_ns)).min(*next);
            *next
        })
        .collect();
    times.reverse();
    times
}

/// One thread for each stream, which submits at given times; records and waits stand where their calls were.
pub(super) fn add(
    profile: &GpuProfile,
    steps: &[Submitted],
    times: &[u64],
    events: &Events,
    kind: &str,
    programs: &mut Programs,
) {
    let mut by_stream: BTreeMap<u32, Vec<(u64, Submitted)>> = BTreeMap::new();
    let mut between_in: BTreeMap<u32, Vec<(u64, Step)>> = BTreeMap::new();
    for (submitted, &at) in steps.iter().zip(times) {
        let stream = profile.operations[submitted.index as usize].stream;
        by_stream.entry(stream).or_default().push((at, *submitted));
    }
    for (call, list) in &events.at_call {
        let at = profile.calls.get(*call as usize).map_or(0, |call| call.start_ns);
        for (stream, step) in list {
            by_stream.entry(*stream).or_default();
            between_in.entry(*stream).or_default().push((at, *step));
        }
    }
    for (stream, operations) in by_stream {
        let between = between_in.remove(&stream).unwrap_or_default();
        let number = profile.streams.get(stream as usize).map_or(0, |stream| stream.number);
        let first = operations.first().map(|(at, _)| *at).into_iter().chain(between.first().map(|(at, _)| *at)).min();
        let mut program = Program::new(first.unwrap_or(0));
        let mut between = between.into_iter().peekable();
        for (at, submitted) in operations {
            while let Some((earlier, step)) = between.next_if(|(earlier, _)| *earlier <= at) {
                program.at(earlier);
                program.steps.push(step);
            }
            program.at(at);
            program.submit(submitted, events);
        }
        for (at, step) in between {
            program.at(at);
            program.steps.push(step);
        }
        program.finish(numbered_stream(number) + kind, programs);
    }
}
