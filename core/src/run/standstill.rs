//! A run in which blocks wait for one another for good: who waits for what, and in which circle.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use super::stands::awaited;
use super::state::title;
use super::summary::Summary;
use crate::gpu::Ended;
use crate::limits::count_turn;
use crate::time::Instant;
use crate::trace::{Rule, Snapshot, Stand};
use crate::words::counted;
use crate::workload::{CounterId, OperationId, OperationKind, PointAction, stream_in_words};

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
        if summary.ended == Ended::Cut || !summary.scenario.catalogue.synchronizes() {
            return None;
        }
        let open: Vec<&Stand> = trace.stands().iter().filter(|stand| stand.is_open()).collect();
        let at = trace.end();
        let snapshot = Snapshot::new(trace, summary.scenario.device(), at);
        let waits_for_value = |id: OperationId| trace.held_at(id, at).is_some_and(|wait| wait.rule == Rule::Counter);
        if open.is_empty() && !snapshot.waiting.iter().any(|held| waits_for_value(held.operation)) {
            return None;
        }
        let mut waits = standing(summary, &open);
        for held in &snapshot.waiting {
            let id = held.operation;
            let kernel = trace.kernel_of(id);
            let started: u32 = trace.block_runs(id).map(|run| u32::from(run.blocks)).sum();
            let (needs, awaited) = match (held.rule, held.behind) {
                (Rule::Counter, _) => {
                    let counter = counter_of(summary, id);
                    (counter.map_or(Need::Else, Need::Counter), changers(summary, counter))
                }
                (_, Some(behind)) => (Need::Else, vec![behind.0]),
                (rule, None) if is_for_room(rule) => (Need::Room, residents_beside(summary, &snapshot, id)),
                _ => (Need::Else, Vec::new()),
            };
            waits.push(StillWait {
                id: id.0,
                operation: name(summary, id),
                blocks: kernel.map(|kernel| kernel.blocks - started.min(kernel.blocks)),
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
        let who = match (self.blocks, self.on_sms) {
            (Some(blocks), true) => format!("{} of {} wait on their SMs", counted(blocks, "block"), self.operation),
            (Some(blocks), false) => format!("{} of {} never started", counted(blocks, "block"), self.operation),
            (None, _) => format!("{} waits", self.operation),
        };
        format!("{who}: {} ({}){held}", self.what, self.rule)
    }
}

/// Blocks on SMs that wait, by launch and point.
fn standing(summary: &Summary<'_>, open: &[&Stand]) -> Vec<StillWait> {
    let mut by_point: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for stand in open {
        *by_point.entry((stand.operation.0, stand.point)).or_default() += stand.blocks;
    }
    let trace = summary.trace;
    let told = by_point.into_iter().filter_map(|((id, point), blocks)| {
        let operation = OperationId(id);
        let kernel = trace.kernel_of(operation)?;
        let told = awaited(trace, operation, point)?.sentence();
        let (what, awaited, needs) = match kernel.synchronization()?.points.get(point as usize)?.action {
            PointAction::Wait(wanted) => {
                let what = format!("{told} (it is {})", trace.counter_value(wanted.counter));
                let changers = changers(summary, Some(wanted.counter));
                let nobody = if changers.is_empty() { ", and nothing that is left on the GPU changes it" } else { "" };
                (what + nobody, changers, Need::Counter(wanted.counter))
            }
            PointAction::GridSync => (told, vec![id], Need::Grid(point)),
            PointAction::Signal(_) => return None,
        };
        let operation = name(summary, operation);
        let (blocks, rule) = (Some(blocks), Rule::Counter);
        Some(StillWait { id, operation, blocks, on_sms: true, rule, what, awaited, passed: point, needs })
    });
    told.collect()
}

/// Operations that have not finished and may still change a counter.
fn changers(summary: &Summary<'_>, counter: Option<CounterId>) -> Vec<u32> {
    let trace = summary.trace;
    let Some(counter) = counter else { return Vec::new() };
    let changes = |id: OperationId, kind: OperationKind| match kind {
        OperationKind::Kernel(_) => trace.kernel_of(id).is_some_and(|kernel| {
            let Some(all) = kernel.synchronization() else { return false };
            // Where all blocks have begun, what the first of those that wait has passed is over.
            let open = trace.stands().iter().filter(|stand| stand.operation == id && stand.is_open());
            let passed = open.map(|stand| stand.point as usize).min();
            let passed = passed.filter(|_| trace.begun_by(id, trace.end()) == kernel.blocks).unwrap_or(0);
            all.points.iter().skip(passed).any(|point| point.action == PointAction::Signal(counter))
        }),
        OperationKind::WriteValue(value) => {
            trace.values().get(value.index()).is_some_and(|written| written.counter == counter)
        }
        _ => false,
    };
    let unfinished = trace.numbered().filter(|(_, record)| record.finish().is_none());
    unfinished.filter(|(id, record)| changes(*id, record.kind)).map(|(id, _)| id.0).collect()
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

/// What an operation is called; with its stream where another one that has not finished is called the same.
fn name(summary: &Summary<'_>, id: OperationId) -> String {
    let own = title(summary, id);
    let trace = summary.trace;
    let unfinished = trace.numbered().filter(|(other, record)| *other != id && record.finish().is_none());
    let stream = trace.record(id).map_or("", |record| trace.stream_name(record.stream));
    let has_twin = unfinished.into_iter().any(|(other, _)| title(summary, other) == own);
    if has_twin { format!("{own} ({})", stream_in_words(stream)) } else { own }
}

/// Whether what stands still changes a counter once it goes on.
fn signals_after(summary: &Summary<'_>, wait: &StillWait, counter: CounterId) -> bool {
    let kernel = summary.trace.kernel_of(OperationId(wait.id));
    let Some(all) = kernel.and_then(|kernel| kernel.synchronization()) else { return kernel.is_none() };
    let rest = all.points.get(wait.passed as usize..).unwrap_or_default();
    rest.iter().any(|point| point.action == PointAction::Signal(counter))
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
        Need::Counter(counter) => signals_after(summary, other, counter),
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
