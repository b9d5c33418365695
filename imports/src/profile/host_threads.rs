//! The host threads of a scenario that is made of a profile: who submits its operations, and when; at given times, or
//! waiting for the GPU as the recorded hosts did.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use closed_loop::WithoutCall;
use events::{EventFinder, Events};

use super::Launches;
use super::gpu_profile::GpuProfile;
use super::submissions::Submissions;
use crate::proven::OrMost;
use crate::scenario::{HostCalls, HostThread, ScenarioBuilder, Step};
use crate::time::Duration;
use crate::workload::{StreamId, WorkloadError, numbered_stream};

mod closed_loop;
mod events;

/// An operation that was taken, and the step that submits it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Submitted {
    pub(super) index: u32,
    pub(super) step: Step,
    /// What holds it that is not in the file, which comes before it in its stream.
    pub(super) held: Option<Step>,
}

/// What stands for none of the profile's operations in the list of those that a thread submits.
pub const UNSEEN: u32 = u32::MAX;

/// Steps of a thread, each with a time on the clock of the recording.
type Sleeps = Vec<(u32, Range<u64>)>;

/// Host threads.
#[derive(Debug, Default)]
pub(super) struct HostThreads {
    pub(super) threads: Vec<HostThread>,
    /// Of each thread, the operations that it submits, in that order.
    pub(super) submitted: Vec<Vec<u32>>,
    /// Of each thread, the steps in which it sleeps, and from when until when that was recorded; by time.
    pub(super) sleeps: Vec<Sleeps>,
    /// The recorded threads that it stands for.
    pub(super) stands_for: Vec<BTreeSet<u32>>,
    /// What t = 0 is on the profile's clock.
    pub(super) base_ns: u64,
    pub(super) notes: Vec<String>,
}

/// The threads that submit `steps`, whose operations stand by start, and the events that streams and hosts wait for,
/// which become known to `builder`; a launch takes `latency_ns` to reach the GPU.
pub(super) fn host_threads(
    profile: &GpuProfile,
    gpu: u32,
    steps: &[Submitted],
    streams: &BTreeMap<u32, StreamId>,
    latency_ns: u64,
    launches: Launches,
    builder: &mut ScenarioBuilder<'_>,
) -> Result<HostThreads, WorkloadError> {
    let submissions = Submissions::new(profile, gpu);
    let mut events =
        EventFinder::new(profile, &submissions, streams, builder).find(steps, launches == Launches::Host)?;
    let submitted_at = profile.submission_times(gpu);
    let times = submission_times(profile, steps, &submitted_at, latency_ns);
    let calls = steps.iter().filter_map(|step| profile.operations[step.index as usize].call);
    let begins = calls.chain(events.at_call.keys().copied());
    let begins = begins.filter_map(|call| Some(profile.calls.get(call as usize)?.start_ns));
    let base_ns = times.iter().copied().chain(begins).min().unwrap_or(0);
    let mut hosts = HostThreads { base_ns, notes: std::mem::take(&mut events.notes), ..HostThreads::default() };
    match launches {
        Launches::Recorded => add_open_loop(profile, steps, &times, &events, "", &mut hosts),
        Launches::Host => {
            let stream = |submitted: &Submitted| profile.operations[submitted.index as usize].stream;
            let has_call = |submitted: &&Submitted| profile.operations[submitted.index as usize].call.is_some();
            let with: Vec<Submitted> = steps.iter().filter(has_call).copied().collect();
            let seen: BTreeSet<u32> = with.iter().map(stream).collect();
            // Between others that calls submitted to its stream, an operation without a call keeps its place.
            let unseen = steps.iter().copied().zip(times).filter(|(submitted, _)| !has_call(&submitted));
            let (between, alone): (Vec<WithoutCall>, Vec<WithoutCall>) =
                unseen.partition(|(submitted, _)| seen.contains(&stream(submitted)));
            let (alone, alone_at): (Vec<Submitted>, Vec<u64>) = alone.into_iter().unzip();
            let kind = if with.is_empty() { "" } else { ", launched unseen" };
            add_open_loop(profile, &alone, &alone_at, &events.unseen(), kind, &mut hosts);
            let recorded = (profile, gpu, &submissions);
            closed_loop::add(recorded, (&with, &submitted_at), &between, streams, &events, &mut hosts);
        }
    }
    Ok(hosts)
}

impl HostThreads {
    /// In which calls they were while they sleep. A call within another one counts as the outer one; where threads that
    /// are one program were in calls at once, the one that was called first counts.
    pub(super) fn calls(&self, profile: &GpuProfile) -> HostCalls {
        let of_thread = |(sleeps, threads): (&Sleeps, &BTreeSet<u32>)| {
            let mut calls: Vec<(Range<u64>, u32)> = Vec::new();
            for &(_, from, to, name) in profile.spent.calls.iter().filter(|(thread, ..)| threads.contains(thread)) {
                let from = calls.last().map_or(from, |(before, _)| before.end.max(from));
                if from < to {
                    calls.push((from..to, name));
                }
            }
            let within = |(step, slept): &(u32, Range<u64>)| {
                let first = calls.partition_point(|(call, _)| call.end <= slept.start);
                let meanwhile = calls[first..].iter().take_while(|(call, _)| call.start < slept.end);
                let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
                for (call, name) in meanwhile {
                    let spent = call.end.min(slept.end) - call.start.max(slept.start);
                    *sums.entry(*name).or_default() += spent;
                }
                (*step, sums.into_iter().map(|(name, spent)| (name, Duration::from_ns(spent))).collect())
            };
            sleeps.iter().map(within).collect()
        };
        HostCalls::new(profile.spent.names.clone(), self.sleeps.iter().zip(&self.stands_for).map(of_thread).collect())
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
    sleeps: Sleeps,
}

impl Program {
    fn new(start_ns: u64) -> Self {
        Self { start_ns, now_ns: start_ns, steps: Vec::new(), submitted: Vec::new(), sleeps: Vec::new() }
    }

    /// Lets time pass until `at_ns`.
    fn at(&mut self, at_ns: u64) {
        let ns = at_ns.saturating_sub(self.now_ns);
        if ns > 0 {
            self.sleeps.push((u32::try_from(self.steps.len()).or_most(), self.now_ns..at_ns));
            self.steps.push(Step::Sleep(Duration::from_ns(ns)));
        }
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// Submits an operation, behind what it waits for, and what is recorded right behind it.
    fn submit(&mut self, submitted: Submitted, events: &events::Events) {
        self.steps.extend(events.before.get(&submitted.index).into_iter().flatten());
        if let Some(held) = submitted.held {
            self.steps.push(held);
            self.submitted.push(UNSEEN);
        }
        self.steps.push(submitted.step);
        self.submitted.push(submitted.index);
        self.steps.extend(events.behind.get(&submitted.index).into_iter().flatten());
    }

    fn finish(self, label: String, stands_for: BTreeSet<u32>, hosts: &mut HostThreads) {
        if !self.steps.iter().any(|step| step.submission().is_some()) {
            return;
        }
        let release = Duration::from_ns(self.start_ns.saturating_sub(hosts.base_ns));
        hosts.threads.push(HostThread::once(label, release, self.steps));
        hosts.submitted.push(self.submitted);
        hosts.sleeps.push(self.sleeps);
        hosts.stands_for.push(stands_for);
    }
}

/// When each operation is submitted: when its call did it, but in a stream not before what started before it. One
/// without a call was submitted `latency_ns` before it started, or before everything that started after it in its
/// stream.
fn submission_times(
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
fn add_open_loop(
    profile: &GpuProfile,
    steps: &[Submitted],
    times: &[u64],
    events: &Events,
    kind: &str,
    hosts: &mut HostThreads,
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
        program.finish(numbered_stream(number) + kind, BTreeSet::new(), hosts);
    }
}
