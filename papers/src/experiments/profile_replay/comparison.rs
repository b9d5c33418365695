//! What a GPU did in all, in sums, and two profiles side by side, as recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::submitted_operations;
use crate::profile::{GpuProfile, GpuProfileError, Import};
use crate::statistics::upper_median;
use crate::trace::Trace;
use crate::workload::{StreamId, numbered_stream};

/// What one GPU did in each of two profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileComparison {
    /// Their files.
    pub files: [String; 2],
    /// What the first did.
    pub first: Activity,
    /// What the second did.
    pub second: Activity,
    /// How long their collectives wait and transfer, where they state that they are of two ranks, and have any.
    pub(crate) collectives: Option<CollectiveSplit>,
    /// Kernels by name.
    pub(crate) kernels: Vec<KernelChange>,
}

/// How long collectives waited for another rank, and how long they transferred. A collective ends on all ranks at about
/// one time, so that the rank that came last transfers and waits for nobody: of the two that are given, the one with
/// the shorter duration. A third may have come later still, so that the waits are the least they can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CollectiveSplit {
    /// The ranks.
    pub ranks: [u32; 2],
    /// Collectives that are compared: the first of a function with the first of it, and so on.
    pub matched: u64,
    /// Collectives of functions that the two launched differently often, which are not compared.
    pub unmatched: [u64; 2],
    /// Sum of the shorter durations \[ns\].
    pub transfer_ns: u64,
    /// By how much more each took in all \[ns\].
    pub waiting_ns: [u64; 2],
}

impl CollectiveSplit {
    /// Of the durations of collectives by function, each in order; `None` if the ranks are not known or the same, or
    /// there are no collectives.
    fn new<'d>(ranks: [Option<u32>; 2], collectives: impl Iterator<Item = &'d [Vec<u64>; 2]>) -> Option<Self> {
        let ranks = [ranks[0]?, ranks[1]?];
        let mut split = Self { ranks, matched: 0, unmatched: [0; 2], transfer_ns: 0, waiting_ns: [0; 2] };
        for [first, second] in collectives {
            if first.len() != second.len() {
                split.unmatched[0] += first.len() as u64;
                split.unmatched[1] += second.len() as u64;
                continue;
            }
            split.matched += first.len() as u64;
            for (&first_ns, &second_ns) in first.iter().zip(second) {
                split.transfer_ns += first_ns.min(second_ns);
                split.waiting_ns[0] += first_ns.saturating_sub(second_ns);
                split.waiting_ns[1] += second_ns.saturating_sub(first_ns);
            }
        }
        let any = split.matched > 0 || split.unmatched != [0, 0];
        (ranks[0] != ranks[1] && any).then_some(split)
    }
}

/// The launches of the kernels of one name in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelChange {
    /// Name of the function.
    pub name: Arc<str>,
    /// How many.
    pub launches: [u64; 2],
    /// Sum of their durations \[ns\].
    pub total_ns: [u64; 2],
    /// Median of their durations \[ns\]; 0 of none.
    pub median_ns: [u64; 2],
}

impl KernelChange {
    /// Whether both sides are the same.
    pub(crate) fn is_equal(&self) -> bool {
        [self.launches, self.total_ns, self.median_ns].iter().all(|[first, second]| first == second)
    }

    /// By how much longer they take in the second \[ns\].
    pub(crate) fn change_ns(&self) -> i128 {
        i128::from(self.total_ns[1]) - i128::from(self.total_ns[0])
    }
}

impl ProfileComparison {
    /// Whether both did the same, launch by launch.
    pub fn is_equal(&self) -> bool {
        self.first == self.second && self.kernels.iter().all(KernelChange::is_equal)
    }

    /// Of a GPU of each profile: that number, or the one that runs most kernels.
    ///
    /// # Errors
    /// [`GpuProfileError`] if one of them has no such GPU.
    pub fn new(profiles: [&GpuProfile; 2], gpu: Option<u32>) -> Result<Self, GpuProfileError> {
        let gpus = [profiles[0].choose_gpu(gpu)?.0, profiles[1].choose_gpu(gpu)?.0];
        let mut durations: BTreeMap<&Arc<str>, [Vec<u64>; 2]> = BTreeMap::new();
        let mut collectives: BTreeSet<&Arc<str>> = BTreeSet::new();
        for (side, (profile, gpu)) in profiles.iter().zip(gpus).enumerate() {
            for operation in profile.operations.iter().filter(|one| profile.gpu_of(one.stream) == gpu) {
                if let Some(kernel) = operation.kernel() {
                    let name = profile.name_of(kernel);
                    if profile.is_collective(kernel) {
                        collectives.insert(name);
                    }
                    durations.entry(name).or_default()[side].push(operation.duration_ns);
                }
            }
        }
        let in_order = collectives.into_iter().filter_map(|name| durations.get(name));
        let collectives = CollectiveSplit::new(profiles.map(|profile| profile.rank), in_order);
        let kernels = durations.into_iter().map(|(name, mut durations)| {
            for durations in &mut durations {
                durations.sort_unstable();
            }
            let each = |value: fn(&[u64]) -> u64| [value(&durations[0]), value(&durations[1])];
            KernelChange {
                name: Arc::clone(name),
                launches: each(|durations| durations.len() as u64),
                total_ns: each(|durations| durations.iter().sum()),
                median_ns: each(|durations| upper_median(durations).unwrap_or(0)),
            }
        });
        Ok(Self {
            files: profiles.map(|profile| profile.file.clone()),
            first: Activity::recorded(profiles[0], gpus[0]),
            second: Activity::recorded(profiles[1], gpus[1]),
            collectives,
            kernels: kernels.collect(),
        })
    }
}

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
