//! Which events streams and hosts wait for, and where they are recorded; and what times say of the edges of CUDA graphs
//! whose nodes ran in several streams.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::Submitted;
use crate::profile::gpu_profile::{CallKind, GpuProfile, SyncKind};
use crate::profile::submissions::Submissions;
use crate::scenario::{ScenarioBuilder, Step};
use crate::words::counted;
use crate::workload::{EventId, StreamId, WorkloadError};

/// What is to be submitted beside the operations, so that streams wait as they did.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Records and waits that a call submits, with the stream of the profile, in order.
    pub(super) at_call: BTreeMap<u32, Vec<(u32, Step)>>,
    /// What is recorded right behind an operation.
    pub(super) behind: FxHashMap<u32, Vec<Step>>,
    /// What an operation waits for that a graph launches.
    pub(super) before: FxHashMap<u32, Vec<Step>>,
    /// What a stream waits for behind all that a call submits.
    pub(super) after_call: FxHashMap<u32, Vec<Step>>,
    /// What a call of the host waits for, and when that had come \[ns\].
    pub(super) host_waits: FxHashMap<u32, (EventId, u64)>,
    pub(super) notes: Vec<String>,
}

impl Events {
    /// Those of operations whose launches are not in the file: no call submits them.
    pub(super) fn unseen(&self) -> Self {
        Self { behind: self.behind.clone(), ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Recorded {
    /// By a call, in a stream.
    By(u32, u32),
    /// Behind an operation.
    Behind(u32),
}

/// What the file says of the event that somebody waits for.
enum Stated {
    Unknown,
    /// It was recorded before anything that was taken.
    Earlier,
    At(Recorded),
}

/// How often what happened.
#[derive(Debug, Default)]
struct Counts {
    /// Waits whose event the file states, but not where it was recorded.
    without_record: u64,
    /// Waits of streams that the file does not explain, and those of them that order and times do.
    unknown: u64,
    likely: u64,
    /// The same of the host.
    host_unknown: u64,
}

/// Finds the events of a profile and makes them known to `builder`.
pub(super) struct EventFinder<'p, 'b, 'o> {
    profile: &'p GpuProfile,
    submissions: &'p Submissions<'p>,
    streams: &'p BTreeMap<u32, StreamId>,
    builder: &'b mut ScenarioBuilder<'o>,
    known: FxHashMap<Recorded, EventId>,
    counts: Counts,
    events: Events,
}

impl<'p, 'b, 'o> EventFinder<'p, 'b, 'o> {
    pub(super) fn new(
        profile: &'p GpuProfile,
        submissions: &'p Submissions<'p>,
        streams: &'p BTreeMap<u32, StreamId>,
        builder: &'b mut ScenarioBuilder<'o>,
    ) -> Self {
        let (known, counts, events) = (FxHashMap::default(), Counts::default(), Events::default());
        Self { profile, submissions, streams, builder, known, counts, events }
    }

    /// All events that something waited for, and those that keep launches of graphs together.
    pub(super) fn find(mut self, steps: &[Submitted], keeps_graphs: bool) -> Result<Events, WorkloadError> {
        let profile = self.profile;
        let first = steps.iter().filter_map(|step| self.submissions.submitted_ns(step.index)).min().unwrap_or(0);
        let last = steps.iter().filter_map(|step| self.submissions.submitted_ns(step.index)).max().unwrap_or(0);
        let counts = |call: u32| {
            let at = profile.calls.get(call as usize).map_or(0, |call| call.start_ns);
            (first..=last).contains(&at)
        };
        let mut explained: FxHashSet<u32> = FxHashSet::default();
        let mut unexplained: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for sync in &profile.syncs {
            let Some(call) = sync.call.filter(|&call| counts(call)) else { continue };
            match sync.kind {
                SyncKind::StreamWait => {
                    explained.insert(call);
                    let Some(stream) = sync.stream.filter(|stream| self.streams.contains_key(stream)) else {
                        continue;
                    };
                    match self.recorded(call, sync.of_stream, sync.recorded_by, counts) {
                        Stated::At(recorded) => self.stream_waits(call, stream, recorded)?,
                        Stated::Earlier => {}
                        Stated::Unknown => {
                            unexplained.insert(call, Some(stream));
                        }
                    }
                }
                SyncKind::Event => {
                    let blocks = profile.calls.get(call as usize).is_some_and(|call| call.kind == CallKind::EventSync);
                    if blocks
                        && let Stated::At(recorded) = self.recorded(call, sync.of_stream, sync.recorded_by, counts)
                    {
                        self.host_waits(call, recorded)?;
                    }
                }
                SyncKind::Stream | SyncKind::Context => {}
            }
        }
        for (index, call) in (0..).zip(&profile.calls) {
            match call.kind {
                CallKind::StreamWait if counts(index) && !explained.contains(&index) => {
                    unexplained.insert(index, None);
                }
                CallKind::EventSync if counts(index) && !self.events.host_waits.contains_key(&index) => {
                    // It waited for what ended last before it returned, unless nothing ended meanwhile.
                    if let Some(operation) = self.submissions.last_ended(call.start_ns, call.end_ns) {
                        self.counts.host_unknown += 1;
                        self.host_waits(index, Recorded::Behind(operation))?;
                    }
                }
                _ => {}
            }
        }
        self.guess(&unexplained)?;
        self.note_counts();
        if keeps_graphs {
            self.keep_graphs(&GraphOrder::of(profile, steps))?;
        }
        Ok(self.events)
    }

    /// Where an event was recorded that a call waits for.
    fn recorded(&mut self, call: u32, of_stream: Option<u32>, by: Option<u32>, counts: impl Fn(u32) -> bool) -> Stated {
        let Some(stream) = of_stream else { return Stated::Unknown };
        if !self.streams.contains_key(&stream) {
            return Stated::Earlier;
        }
        if let Some(by) = by {
            return if counts(by) { Stated::At(Recorded::By(by, stream)) } else { Stated::Earlier };
        }
        self.counts.without_record += 1;
        let at = self.profile.calls.get(call as usize).map_or(0, |call| call.start_ns);
        let last = self.submissions.last_before(stream, at);
        last.map_or(Stated::Earlier, |operation| Stated::At(Recorded::Behind(operation)))
    }

    /// The event that is recorded there.
    fn event(&mut self, recorded: Recorded) -> Result<EventId, WorkloadError> {
        if let Some(known) = self.known.get(&recorded) {
            return Ok(*known);
        }
        let name = match recorded {
            Recorded::By(call, _) => {
                let correlation = self.profile.calls.get(call as usize).map_or(0, |call| call.correlation);
                format!("event {correlation}")
            }
            Recorded::Behind(operation) => format!("end of {operation}"),
        };
        let event = self.builder.add_event(name)?;
        match recorded {
            Recorded::By(call, stream) => {
                if let Some(id) = self.streams.get(&stream) {
                    self.events.at_call.entry(call).or_default().push((stream, Step::Record(event, *id)));
                }
            }
            Recorded::Behind(operation) => {
                let stream = self.profile.operations[operation as usize].stream;
                if let Some(id) = self.streams.get(&stream) {
                    self.events.behind.entry(operation).or_default().push(Step::Record(event, *id));
                }
            }
        }
        self.known.insert(recorded, event);
        Ok(event)
    }

    fn stream_waits(&mut self, call: u32, stream: u32, recorded: Recorded) -> Result<(), WorkloadError> {
        let event = self.event(recorded)?;
        if let Some(id) = self.streams.get(&stream) {
            self.events.at_call.entry(call).or_default().push((stream, Step::Wait(event, *id)));
        }
        Ok(())
    }

    fn host_waits(&mut self, call: u32, recorded: Recorded) -> Result<(), WorkloadError> {
        let event = self.event(recorded)?;
        let operation = match recorded {
            Recorded::Behind(operation) => Some(operation),
            Recorded::By(record, stream) => {
                let at = self.profile.calls.get(record as usize).map_or(0, |call| call.start_ns);
                self.submissions.last_before(stream, at)
            }
        };
        let until = operation.map_or(0, |operation| self.profile.operations[operation as usize].end_ns());
        self.events.host_waits.insert(call, (event, until));
        Ok(())
    }

    /// Waits of which the file says no more than that there is one.
    fn guess(&mut self, unexplained: &BTreeMap<u32, Option<u32>>) -> Result<(), WorkloadError> {
        let mut known: FxHashSet<(u32, u32)> = FxHashSet::default();
        for (&index, &stream) in unexplained {
            self.counts.unknown += 1;
            let Some(call) = self.profile.calls.get(index as usize) else { continue };
            let Some((waiting, cause)) = self.submissions.likely_wait(index, call, stream) else { continue };
            self.counts.likely += 1;
            // A second wait of the same operation for the same one says nothing more.
            if known.insert((waiting, cause)) {
                let stream = self.profile.operations[waiting as usize].stream;
                self.stream_waits(index, stream, Recorded::Behind(cause))?;
            }
        }
        Ok(())
    }

    /// Nodes of graphs wait for one another, and what is behind a launch for all of it.
    fn keep_graphs(&mut self, order: &GraphOrder) -> Result<(), WorkloadError> {
        for &(node, before) in &order.edges {
            let event = self.event(Recorded::Behind(before))?;
            if let Some(id) = self.streams.get(&self.profile.operations[node as usize].stream) {
                self.events.before.entry(node).or_default().push(Step::Wait(event, *id));
            }
        }
        for &(call, launching, end) in &order.joins {
            let event = self.event(Recorded::Behind(end))?;
            if let Some(id) = self.streams.get(&launching) {
                self.events.after_call.entry(call).or_default().push(Step::Wait(event, *id));
            }
        }
        if order.launches > 0 {
            self.events.notes.push(format!(
                "{} of CUDA graphs ran in several streams, and the file does not have their edges: each node waits for what \
                 ended right before it began, and what is behind a launch for all of it",
                counted(order.launches, "launch")
            ));
        }
        Ok(())
    }

    fn note_counts(&mut self) {
        let Counts { without_record, unknown, likely, host_unknown } = self.counts;
        let notes = &mut self.events.notes;
        if without_record > 0 {
            notes.push(format!(
                "{} for an event whose record is not in the file: taken is everything submitted to its stream before the \
                 wait",
                counted(without_record, "wait")
            ));
        }
        if unknown > 0 {
            notes.push(format!(
                "{} of one stream for an event of another, and the file does not say of which: told by the order of the \
                 calls and the times: {likely}; left out: {}",
                counted(unknown, "wait"),
                unknown.saturating_sub(likely)
            ));
        }
        if host_unknown > 0 {
            notes.push(format!(
                "{} of the host for an event that the file does not name: taken is the operation that ended last before \
                 the call returned",
                counted(host_unknown, "wait")
            ));
        }
    }
}

/// Of how many operations of a stream it is asked whether one of them ended before another began: more than the last
/// few run at once only by programmatic launches.
const LOOKED_AT: usize = 16;

/// The order that all launches of graphs keep beside that of streams. A call that submits to several streams is one.
#[derive(Debug, Default)]
pub(super) struct GraphOrder {
    /// Launches in several streams.
    pub(super) launches: u64,
    /// Operations, each with one that it waits for.
    pub(super) edges: Vec<(u32, u32)>,
    /// Calls, each with the stream that launches the graph, and an operation for which that waits behind the launch.
    pub(super) joins: Vec<(u32, u32, u32)>,
}

impl GraphOrder {
    /// That of the operations of `steps`, which stand by start.
    pub(super) fn of(profile: &GpuProfile, steps: &[Submitted]) -> Self {
        let mut by_call: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        // What comes next in its stream.
        let (mut last, mut next): (BTreeMap<u32, u32>, BTreeMap<u32, u32>) = (BTreeMap::new(), BTreeMap::new());
        for Submitted { index, .. } in steps {
            let operation = &profile.operations[*index as usize];
            if let Some(before) = last.insert(operation.stream, *index) {
                next.insert(before, *index);
            }
            if let Some(call) = operation.call {
                by_call.entry(call).or_default().push(*index);
            }
        }
        let mut order = Self::default();
        for (call, nodes) in by_call {
            let streams: BTreeSet<u32> = nodes.iter().map(|&node| profile.operations[node as usize].stream).collect();
            if streams.len() > 1 {
                order.launches += 1;
                order.add(profile, call, &nodes, &next);
            }
        }
        order
    }

    /// Adds that of one launch. A node waits for what ended last before it began where nothing in its own stream
    /// explains that it began no earlier; and what comes behind the launch waits for all of it, unless it did not.
    fn add(&mut self, profile: &GpuProfile, call: u32, nodes: &[u32], next: &BTreeMap<u32, u32>) {
        let operation = |node: u32| &profile.operations[node as usize];
        let Some(launching) = nodes.first().map(|&first| operation(first).stream) else { return };
        let mut branches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &node in nodes {
            let own = operation(node).stream;
            let free = branches.get(&own).and_then(|branch| branch.last()).map(|&before| operation(before).end_ns());
            let others = branches.iter().filter(|(stream, _)| **stream != own).filter_map(|(_, branch)| {
                let ended = |before: &&u32| operation(**before).end_ns() <= operation(node).start_ns;
                branch.iter().rev().take(LOOKED_AT).find(ended).copied()
            });
            let mut others: Vec<u32> =
                others.filter(|&before| free.is_none_or(|free| operation(before).end_ns() > free)).collect();
            if free.is_none() {
                // It begins a branch, behind one other node.
                crate::sorted::sort_by_key(&mut others, |&before| operation(before).end_ns());
                others.drain(..others.len().saturating_sub(1));
            }
            self.edges.extend(others.into_iter().map(|before| (node, before)));
            branches.entry(own).or_default().push(node);
        }
        let last = branches.get(&launching).and_then(|branch| branch.last());
        let behind = last.and_then(|last| next.get(last)).map(|&behind| operation(behind).start_ns);
        for (_, branch) in branches.iter().filter(|(stream, _)| **stream != launching) {
            let Some(&end) = branch.last() else { continue };
            if behind.is_none_or(|behind| operation(end).end_ns() <= behind) {
                self.joins.push((call, launching, end));
            }
        }
    }
}
