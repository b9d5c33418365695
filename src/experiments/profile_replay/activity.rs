//! What a GPU did in all: in sums, so that two runs can be set side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use super::submitted_operations;
use crate::profile::{GpuProfile, Import};
use crate::trace::Trace;
use crate::workload::{StreamId, numbered_stream};

/// What operations take of the time from the first start to the last end \[ns\].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Activity {
    /// From the first submission or, of a recording, the first start, until the last operation ended.
    pub makespan_ns: u64,
    /// Time with a kernel that is no collective.
    pub compute_ns: u64,
    /// Time with a collective.
    pub communication_ns: u64,
    /// Time with a collective and no other kernel.
    pub exposed_communication_ns: u64,
    /// Time with a copy or memset.
    pub copies_ns: u64,
    /// Time with two operations or more.
    pub overlap_ns: u64,
    /// Time with none.
    pub idle_ns: u64,
    pub(crate) streams: Vec<StreamActivity>,
}

/// What the operations of one stream take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StreamActivity {
    /// Its name.
    pub stream: String,
    /// Kernels, copies and memsets.
    pub operations: u64,
    /// Time with one of them \[ns\].
    pub busy_ns: u64,
    /// When the last of them ended, on the clock of the makespan \[ns\].
    pub end_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Compute,
    Communication,
    Copy,
}

/// When something ran.
#[derive(Debug, Clone, Copy)]
struct Span {
    kind: Kind,
    start_ns: u64,
    end_ns: u64,
}

impl Activity {
    /// What one GPU of a profile did, as recorded. Streams of one number are one.
    pub fn recorded(profile: &GpuProfile, gpu: u32) -> Self {
        let operations = || (0..).zip(&profile.operations).filter(|(_, one)| profile.gpu_of(one.stream) == gpu);
        let first = operations().map(|(_, operation)| operation.start_ns).min().unwrap_or(0);
        let spans = operations().map(|(index, operation)| {
            let (start_ns, end_ns) = (operation.start_ns - first, operation.end_ns() - first);
            let number = profile.streams.get(operation.stream as usize).map_or(0, |stream| stream.number);
            (number, Span { kind: kind(profile, index), start_ns, end_ns })
        });
        Self::of(spans, numbered_stream)
    }

    /// What a simulation of a profile did; operations that did not end are left out.
    pub(super) fn simulated(profile: &GpuProfile, import: &Import, trace: &Trace) -> Self {
        let spans = submitted_operations(import, trace).filter_map(|(_, operation, index)| {
            let (start, end) = operation.first_start().zip(operation.finish())?;
            let span = Span { kind: kind(profile, index), start_ns: start.as_ns(), end_ns: end.as_ns() };
            Some((operation.stream, span))
        });
        let name = |id: StreamId| {
            let stream = import.scenario.streams().get(id.index());
            stream.map(|stream| stream.name.to_string()).unwrap_or_default()
        };
        Self::of(spans, name)
    }

    fn of<K: Ord>(spans: impl Iterator<Item = (K, Span)>, name: impl Fn(K) -> String) -> Self {
        let mut streams: BTreeMap<K, Vec<Span>> = BTreeMap::new();
        let mut all = Vec::new();
        for (stream, span) in spans {
            streams.entry(stream).or_default().push(span);
            all.push(span);
        }
        let makespan_ns = last_end(&all);
        let mut sums = Self { makespan_ns, idle_ns: makespan_ns, ..Self::default() };
        for_each_change(&all, |[compute, communication, copies], ns| {
            let add = |sum: &mut u64, counts: bool| *sum += if counts { ns } else { 0 };
            add(&mut sums.compute_ns, compute > 0);
            add(&mut sums.communication_ns, communication > 0);
            add(&mut sums.exposed_communication_ns, communication > 0 && compute == 0);
            add(&mut sums.copies_ns, copies > 0);
            add(&mut sums.overlap_ns, compute + communication + copies > 1);
            sums.idle_ns -= if compute + communication + copies > 0 { ns } else { 0 };
        });
        let streams = streams.into_iter().map(|(stream, spans)| {
            let mut busy_ns = 0;
            for_each_change(&spans, |running, ns| busy_ns += if running.iter().sum::<i64>() > 0 { ns } else { 0 });
            let operations = spans.len() as u64;
            StreamActivity { stream: name(stream), operations, busy_ns, end_ns: last_end(&spans) }
        });
        Self { streams: streams.collect(), ..sums }
    }
}

fn last_end(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.end_ns).max().unwrap_or(0)
}

fn kind(profile: &GpuProfile, index: u32) -> Kind {
    match profile.operations[index as usize].kernel() {
        Some(kernel) if profile.is_collective(kernel) => Kind::Communication,
        Some(_) => Kind::Compute,
        None => Kind::Copy,
    }
}

/// Tells how many operations of each kind run, and for how long \[ns\].
fn for_each_change(spans: &[Span], mut run: impl FnMut([i64; 3], u64)) {
    let starts = spans.iter().map(|span| (span.start_ns, 1, span.kind));
    let ends = spans.iter().map(|span| (span.end_ns, -1, span.kind));
    let mut changes: Vec<(u64, i64, Kind)> = starts.chain(ends).collect();
    crate::sorted::sort_by_key(&mut changes, |&(at, ..)| at);
    let (mut running, mut before) = ([0; 3], 0);
    for (at, change, kind) in changes {
        if at > before {
            run(running, at - before);
        }
        before = at;
        running[kind as usize] += change;
    }
}
