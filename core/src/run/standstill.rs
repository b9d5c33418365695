//! A run in which blocks wait for one another for good: who waits for what, and in which circle.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::stands::awaited;
use super::state::title_of;
use super::summary::Summary;
use crate::gpu::Ended;
use crate::limits::count_turn;
use crate::time::Instant;
use crate::trace::{Rule, Snapshot, Stand, Trace};
use crate::words::counted;
use crate::workload::{CheckedKernel, CounterId, OperationId, OperationKind, PointAction, stream_in_words};

/// Circles are not looked for among more waits than these.
const MOST_WAITS: usize = 2_000;

/// A run that ended with blocks, streams or hosts that wait for a counter, or for the rest of their grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standstill {
    /// When the run ended.
    pub at_ns: Instant,
    /// Whether nothing was left to happen; else the horizon came first.
    pub is_final: bool,
    /// Who waits, in launch order.
    pub waits: Vec<StillWait>,
    /// The shortest circle of waits, by their places in `waits`, each of which waits for the next one and the last for
    /// the first; empty if there is none: then something waits for what nobody does.
    pub circle: Vec<usize>,
}

/// Blocks of one launch, or what is behind something in a stream, that wait for one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StillWait {
    /// The operation's number.
    pub id: u32,
    /// What it is called.
    pub operation: String,
    /// How many of its blocks wait so: those on SMs, or those that never started; none of what is no kernel.
    pub blocks: Option<u32>,
    /// Whether these blocks are on SMs, and keep what they have of them.
    pub on_sms: bool,
    /// The rule that holds them.
    pub rule: Rule,
    /// For what they wait.
    pub what: String,
    /// For whom, by operation number.
    #[serde(rename = "for")]
    pub awaited: Vec<u32>,
    /// Points of its kernel that these blocks have passed, of blocks that have started.
    #[serde(skip)]
    passed: u32,
    /// What would let it go on.
    #[serde(skip)]
    needs: Need,
}

/// What something that stands still needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Counter(CounterId),
    /// That all blocks of its launch come to that point.
    Grid(u32),
    Room,
    Else,
}

impl Standstill {
    /// Of a run; `None` if no block and no stream waits for a counter or the rest of its grid at its end.
    pub fn of(summary: &Summary<'_>) -> Option<Self> {
        let trace = summary.trace;
        if !Self::is_of(summary) {
            return None;
        }
        let open: Vec<&Stand> = trace.stands().iter().filter(|stand| stand.is_open()).collect();
        let at = trace.end();
        let snapshot = Snapshot::new(trace, summary.scenario.device(), at);
        let end = End::new(summary, &open);
        let mut waits = end.standing(&open);
        for held in &snapshot.waiting {
            let id = held.operation;
            let (needs, awaited) = match (held.rule, held.behind) {
                (Rule::Counter, _) => match counter_of(summary, id) {
                    Some(counter) => (Need::Counter(counter), end.changers(counter)),
                    None => (Need::Else, Vec::new()),
                },
                (_, Some(behind)) => (Need::Else, vec![behind.0]),
                (rule, None) if is_for_room(rule) => (Need::Room, residents_beside(summary, &snapshot, id)),
                _ => (Need::Else, Vec::new()),
            };
            waits.push(StillWait {
                id: id.0,
                operation: end.name(id),
                blocks: trace.kernel_of(id).map(|kernel| kernel.blocks.saturating_sub(trace.begun_by(id, at))),
                on_sms: false,
                rule: held.rule,
                what: held.cause.as_ref().map_or(held.rule.meaning().into(), |cause| cause.sentence(held.rule)).into(),
                awaited,
                passed: 0,
                needs,
            });
        }
        waits.sort_by_key(|wait| (wait.id, !wait.on_sms));
        let circle = shortest_circle(summary, &waits);
        Some(Self { at_ns: at, is_final: summary.ended == Ended::Done, waits, circle })
    }

    /// Whether a block or a stream waits for a counter or the rest of its grid at the end of a run.
    pub(crate) fn is_of(summary: &Summary<'_>) -> bool {
        let (trace, at) = (summary.trace, summary.trace.end());
        let waits_for_value = |id: OperationId| trace.held_at(id, at).is_some_and(|wait| wait.rule == Rule::Counter);
        let of_value = || {
            let all = trace.numbered().filter(|(_, record)| matches!(record.kind, OperationKind::WaitValue(_)));
            all.filter(|(_, record)| record.finish().is_none()).any(|(id, _)| waits_for_value(id))
        };
        let known = summary.ended != Ended::Cut && summary.scenario.catalogue.synchronizes();
        known && (trace.stands().iter().any(Stand::is_open) || of_value())
    }

    /// It in sentences: what stands still, who waits for what, the circle.
    pub fn sentences(&self) -> Vec<String> {
        /// More than that are counted.
        const MOST: usize = 8;
        let head = if self.is_final {
            format!(
                "the run stands still at {}: nothing is left to happen, and what follows waits for good",
                self.at_ns
            )
        } else {
            format!("when the run ends, at {}, blocks wait for others", self.at_ns)
        };
        let in_circle: BTreeSet<usize> = self.circle.iter().copied().collect();
        let first = self.waits.iter().enumerate().filter(|(place, _)| in_circle.contains(place));
        let rest = self.waits.iter().enumerate().filter(|(place, _)| !in_circle.contains(place));
        let ordered: Vec<&StillWait> = first.chain(rest).map(|(_, wait)| wait).collect();
        let mut said: Vec<String> = vec![head];
        said.extend(ordered.iter().take(MOST).map(|wait| wait.sentence(self)));
        if ordered.len() > MOST {
            said.push(format!("{} more wait", ordered.len() - MOST));
        }
        said.extend(self.circle_in_words());
        if self.waits.len() > MOST_WAITS {
            said.push(format!("among more than {MOST_WAITS} that wait no circle is looked for"));
        }
        said
    }

    /// The circle in a sentence, if there is one.
    pub fn circle_in_words(&self) -> Option<String> {
        let places = self.circle.iter().chain(self.circle.first());
        let names: Vec<String> = places.map(|place| self.waits[*place].in_short()).collect();
        (!names.is_empty()).then(|| format!("in a circle: {}", names.join(", which needs ")))
    }
}

impl StillWait {
    /// Where its blocks are, in words.
    pub fn place(&self) -> &'static str {
        match (self.blocks, self.on_sms) {
            (Some(_), true) => "on their SMs",
            (Some(_), false) => "never started",
            (None, _) => "in its stream",
        }
    }

    fn in_short(&self) -> String {
        match (self.blocks, self.on_sms) {
            (Some(blocks), true) => format!("{} of {}", counted(blocks, "waiting block"), self.operation),
            (Some(blocks), false) => format!("{} of {} that never started", counted(blocks, "block"), self.operation),
            (None, _) => self.operation.clone(),
        }
    }

    fn sentence(&self, of: &Standstill) -> String {
        let names: BTreeSet<&str> = of
            .waits
            .iter()
            .filter(|wait| wait.id != self.id && self.awaited.contains(&wait.id))
            .map(|wait| &*wait.operation)
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let held = match (&names[..], self.needs) {
            ([], _) => String::new(),
            (_, Need::Room) => format!("; on SMs are blocks of {}", names.join(", ")),
            _ => format!("; that is up to {}", names.join(", ")),
        };
        let who = match self.blocks {
            Some(blocks) => {
                let waits = if self.on_sms { "wait " } else { "" };
                format!("{} of {} {waits}{}", counted(blocks, "block"), self.operation, self.place())
            }
            None => format!("{} waits", self.operation),
        };
        format!("{who}: {} ({}){held}", self.what, self.rule)
    }
}

/// The end of a run in which something waits.
struct End<'s> {
    summary: &'s Summary<'s>,
    /// What has not finished.
    unfinished: Vec<(OperationId, OperationKind)>,
    /// How many of those are called so.
    titles: BTreeMap<Cow<'s, str>, u32>,
    /// By launch of which all blocks have begun: the first point at which some of them wait.
    passed: BTreeMap<OperationId, u32>,
}

impl<'s> End<'s> {
    fn new(summary: &'s Summary<'s>, open: &[&Stand]) -> Self {
        let trace = summary.trace;
        let unfinished = trace.numbered().filter(|(_, record)| record.finish().is_none());
        let unfinished: Vec<_> = unfinished.map(|(id, record)| (id, record.kind)).collect();
        let mut titles: BTreeMap<_, u32> = BTreeMap::new();
        for (id, _) in &unfinished {
            *titles.entry(title_of(summary, *id)).or_default() += 1;
        }
        let mut passed: BTreeMap<OperationId, u32> = BTreeMap::new();
        for stand in open {
            let first = passed.entry(stand.operation).or_insert(stand.point);
            *first = stand.point.min(*first);
        }
        let all_begun = |id: OperationId| {
            trace.kernel_of(id).is_some_and(|kernel| trace.begun_by(id, trace.end()) == kernel.blocks)
        };
        passed.retain(|id, _| all_begun(*id));
        Self { summary, unfinished, titles, passed }
    }

    /// Blocks on SMs that wait, by launch and point.
    fn standing(&self, open: &[&Stand]) -> Vec<StillWait> {
        let mut by_point: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for stand in open {
            *by_point.entry((stand.operation.0, stand.point)).or_default() += stand.blocks;
        }
        let trace = self.summary.trace;
        let told = by_point.into_iter().filter_map(|((id, point), blocks)| {
            let operation = OperationId(id);
            let kernel = trace.kernel_of(operation)?;
            let told = awaited(trace, operation, point)?.sentence();
            let (what, awaited, needs) = match kernel.synchronization()?.points.get(point as usize)?.action {
                PointAction::Wait(wanted) => {
                    let what = format!("{told} (it is {})", trace.counter_value(wanted.counter));
                    let changers = self.changers(wanted.counter);
                    let nobody =
                        if changers.is_empty() { ", and nothing that is left on the GPU changes it" } else { "" };
                    (what + nobody, changers, Need::Counter(wanted.counter))
                }
                PointAction::GridSync => (told, vec![id], Need::Grid(point)),
                PointAction::Signal(_) => return None,
            };
            let operation = self.name(operation);
            let (blocks, rule) = (Some(blocks), Rule::Counter);
            Some(StillWait { id, operation, blocks, on_sms: true, rule, what, awaited, passed: point, needs })
        });
        told.collect()
    }

    /// Operations that may still change a counter.
    fn changers(&self, counter: CounterId) -> Vec<u32> {
        let trace = self.summary.trace;
        let changes = |(id, kind): &&(OperationId, OperationKind)| match *kind {
            OperationKind::Kernel(_) => signals(trace, *id, self.passed.get(id).copied().unwrap_or(0), counter),
            OperationKind::WriteValue(value) => {
                trace.values().get(value.index()).is_some_and(|written| written.counter == counter)
            }
            _ => false,
        };
        self.unfinished.iter().filter(changes).map(|(id, _)| id.0).collect()
    }

    /// What an operation is called; with its stream where another one that has not finished is called the same.
    fn name(&self, id: OperationId) -> String {
        let own = title_of(self.summary, id);
        let trace = self.summary.trace;
        let stream = trace.record(id).map_or("", |record| trace.stream_name(record.stream));
        let has_twin = self.titles.get(&own).is_some_and(|operations| *operations > 1);
        if has_twin { format!("{own} ({})", stream_in_words(stream)) } else { own.into_owned() }
    }
}

/// Whether blocks of a launch signal a counter at a point, or behind it.
fn signals(trace: &Trace, id: OperationId, point: u32, counter: CounterId) -> bool {
    let points = trace.kernel_of(id).and_then(CheckedKernel::synchronization).map_or(&[][..], |all| &all.points);
    points.iter().skip(point as usize).any(|point| point.action == PointAction::Signal(counter))
}

/// Launches with blocks on the SMs that a kernel may use: others, or if there are none the kernel itself.
fn residents_beside(summary: &Summary<'_>, snapshot: &Snapshot, id: OperationId) -> Vec<u32> {
    let Some(record) = summary.trace.record(id) else { return Vec::new() };
    let OperationKind::Kernel(kernel) = record.kind else { return Vec::new() };
    let sms = summary.scenario.catalogue.sms(kernel, record.stream);
    let residents = sms.filter_map(|sm| snapshot.sms.get(sm as usize)).flat_map(|sm| &sm.residents);
    let all: BTreeSet<u32> = residents.map(|(operation, _)| operation.0).collect();
    let others: Vec<u32> = all.iter().copied().filter(|other| *other != id.0).collect();
    if others.is_empty() { all.into_iter().collect() } else { others }
}

fn counter_of(summary: &Summary<'_>, id: OperationId) -> Option<CounterId> {
    let OperationKind::WaitValue(value) = summary.trace.record(id)?.kind else { return None };
    Some(summary.trace.values().get(value.index())?.counter)
}

/// Whether what it holds needs room on SMs.
fn is_for_room(rule: Rule) -> bool {
    let of_sm = matches!(rule, Rule::R2 | Rule::R3 | Rule::Registers);
    of_sm || matches!(rule, Rule::Cluster | Rule::Mps | Rule::Cooperative)
}

/// The shortest circle: blocks on SMs that wait for a launch wait for its blocks that have not started and for those
/// that wait themselves; who needs room waits for what waits on SMs.
fn shortest_circle(summary: &Summary<'_>, waits: &[StillWait]) -> Vec<usize> {
    if waits.len() > MOST_WAITS {
        return Vec::new();
    }
    let mut by_id: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, wait) in waits.iter().enumerate() {
        by_id.entry(wait.id).or_default().push(place);
    }
    // Whether what stands still there is what another one needs.
    let helps = |needs: Need, other: &StillWait| match needs {
        Need::Counter(counter) => {
            let id = OperationId(other.id);
            summary.trace.kernel_of(id).is_none() || signals(summary.trace, id, other.passed, counter)
        }
        Need::Grid(point) => !other.on_sms || other.passed < point,
        Need::Room => other.on_sms,
        Need::Else => true,
    };
    let next = |place: usize| {
        let wait = &waits[place];
        let all = wait.awaited.iter().filter_map(|id| by_id.get(id)).flatten().copied();
        all.filter(move |other| *other != place && helps(wait.needs, &waits[*other]))
    };
    let mut best: Vec<usize> = Vec::new();
    for start in 0..waits.len() {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        'search: while let Some(place) = open.pop_front() {
            count_turn();
            for other in next(place) {
                if other == start {
                    let mut circle = vec![place];
                    circle.extend(std::iter::successors(before.get(&place), |place| before.get(place)));
                    circle.reverse();
                    if best.is_empty() || circle.len() < best.len() {
                        best = circle;
                    }
                    // None is shorter.
                    if best.len() <= 2 {
                        return best;
                    }
                    break 'search;
                }
                if let Entry::Vacant(unseen) = before.entry(other) {
                    unseen.insert(place);
                    open.push_back(other);
                }
            }
        }
    }
    best
}
