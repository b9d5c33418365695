//! Who submits the operations of a profile, and when.

use std::collections::BTreeMap;

use super::import_options::Launches;
use super::model::GpuProfile;
use crate::scenario::{HostThread, Step};
use crate::time::Duration;
use crate::workload::StreamId;

mod closed_loop;

/// An operation that was taken, and the step that submits it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Submitted {
    /// Index of the operation.
    pub(super) index: u32,
    pub(super) step: Step,
}

/// Host threads.
#[derive(Debug, Default)]
pub(super) struct Programs {
    pub(super) threads: Vec<HostThread>,
    /// Of each thread, the operations that it submits, in that order.
    pub(super) submitted: Vec<Vec<u32>>,
    /// What t = 0 is on the profile's clock.
    pub(super) base_ns: u64,
    pub(super) notes: Vec<String>,
}

/// The threads that submit `steps`, whose operations stand by start; a launch takes `latency_ns` to reach the GPU.
pub(super) fn programs(
    profile: &GpuProfile,
    gpu: u32,
    steps: &[Submitted],
    streams: &BTreeMap<u32, StreamId>,
    latency_ns: u64,
    launches: Launches,
) -> Programs {
    let arrivals = arrivals(profile, steps, latency_ns);
    let base_ns = arrivals.iter().copied().min().unwrap_or(0);
    let mut programs = Programs { base_ns, ..Programs::default() };
    match launches {
        Launches::Recorded => open_loop(profile, steps, &arrivals, "", &mut programs),
        Launches::Host => {
            let has_call = |submitted: &&Submitted| profile.operations[submitted.index as usize].call.is_some();
            let (mut with, mut without, mut times) = (Vec::new(), Vec::new(), Vec::new());
            for (submitted, arrival) in steps.iter().zip(&arrivals) {
                if has_call(&submitted) {
                    with.push(*submitted);
                } else {
                    without.push(*submitted);
                    times.push(*arrival);
                }
            }
            let kind = if with.is_empty() { "" } else { ", launched unseen" };
            open_loop(profile, &without, &times, kind, &mut programs);
            closed_loop::add(profile, gpu, &with, streams, latency_ns, &mut programs);
        }
    }
    programs
}

/// When each operation reaches the GPU: its call and the launch latency, but in a stream not before what started before
/// it. One without a call had been submitted when it started, and before everything that started after it in its stream.
fn arrivals(profile: &GpuProfile, steps: &[Submitted], latency_ns: u64) -> Vec<u64> {
    let mut latest: BTreeMap<u32, u64> = BTreeMap::new();
    let by_call = steps.iter().map(|submitted| {
        let operation = &profile.operations[submitted.index as usize];
        let call = profile.calls.get(operation.call? as usize)?;
        let latest = latest.entry(operation.stream).or_insert(0);
        *latest = call.start_ns.saturating_add(latency_ns).max(*latest);
        Some(*latest)
    });
    let by_call: Vec<Option<u64>> = by_call.collect();
    let mut next_in: BTreeMap<u32, u64> = BTreeMap::new();
    let mut arrivals: Vec<u64> = steps
        .iter()
        .zip(by_call)
        .rev()
        .map(|(submitted, by_call)| {
            let operation = &profile.operations[submitted.index as usize];
            let next = next_in.entry(operation.stream).or_insert(u64::MAX);
            *next = by_call.unwrap_or(operation.start_ns).min(*next);
            *next
        })
        .collect();
    arrivals.reverse();
    arrivals
}

/// One thread for each stream, which submits at given times.
fn open_loop(profile: &GpuProfile, steps: &[Submitted], arrivals: &[u64], kind: &str, programs: &mut Programs) {
    let mut by_stream: BTreeMap<u32, Vec<(u64, Submitted)>> = BTreeMap::new();
    for (submitted, &arrival) in steps.iter().zip(arrivals) {
        let stream = profile.operations[submitted.index as usize].stream;
        by_stream.entry(stream).or_default().push((arrival, *submitted));
    }
    for (stream, list) in by_stream {
        let number = profile.streams.get(stream as usize).map_or(0, |stream| stream.number);
        let mut thread = Program::new(list.first().map_or(0, |(arrival, _)| *arrival));
        for (arrival, submitted) in list {
            thread.at(arrival);
            thread.submit(submitted);
        }
        thread.finish(format!("stream {number}{kind}"), programs);
    }
}

/// A thread in the making.
#[derive(Debug)]
struct Program {
    start_ns: u64,
    /// How far the steps have come, on the clock of the recording.
    now_ns: u64,
    steps: Vec<Step>,
    submitted: Vec<u32>,
}

impl Program {
    fn new(start_ns: u64) -> Self {
        Self { start_ns, now_ns: start_ns, steps: Vec::new(), submitted: Vec::new() }
    }

    /// Lets time pass until `at_ns`.
    fn at(&mut self, at_ns: u64) {
        self.sleep(at_ns.saturating_sub(self.now_ns));
        self.now_ns = self.now_ns.max(at_ns);
    }

    fn sleep(&mut self, ns: u64) {
        if ns > 0 {
            self.steps.push(Step::Sleep(Duration::from_ns(ns)));
        }
    }

    fn submit(&mut self, submitted: Submitted) {
        self.steps.push(submitted.step);
        self.submitted.push(submitted.index);
    }

    fn finish(self, label: String, programs: &mut Programs) {
        if self.submitted.is_empty() {
            return;
        }
        let release = Duration::from_ns(self.start_ns.saturating_sub(programs.base_ns));
        programs.threads.push(HostThread::once(label, release, self.steps));
        programs.submitted.push(self.submitted);
    }
}
