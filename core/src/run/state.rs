//! What the rules did: the state of the GPU at one instant with names (queues, residents, and why each thing waits),
//! and which rule acted when.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::stands::{Stands, WaitingBlocks};
use super::summary::{Recorded, Summary};
use crate::device::CopySharing;
use crate::time::{Duration, Instant};
use crate::trace::{Cause, EeQueueSnapshot, Held, OperationRecord, Rule, SmSnapshot, Snapshot, TurnEnd};
use crate::workload::{CheckedKernel, Copy, OperationId, OperationKind, StreamId};

/// A [`Snapshot`] with names in place of numbers: the GPU after all events of one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// The instant.
    pub at_ns: Instant,
    /// Whose turn it is, if contexts take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnState>,
    /// The stream queues that are not empty, the NULL stream's first; the head of each first. An operation stays
    /// until it has completed (G4, C4).
    pub stream_queues: Vec<QueueContent>,
    /// The EE queues by stream priority, highest first; the head of each first. Where contexts take turns, each has its
    /// own, and so has each green context, and each client of MPS that may use a part of the SMs.
    #[serde(serialize_with = "as_map")]
    pub ee_queues: Vec<EeQueue>,
    /// What waits for a copy engine, in order of entry; of all engines together.
    pub ce_queue: Vec<String>,
    /// The CE queue of each copy engine.
    pub ce_queues: Vec<Vec<String>>,
    /// What each copy engine is serving.
    pub copy_engines: Vec<Served>,
    /// The SMs.
    pub sms: Vec<SmState>,
    /// Blocks that have begun and do not run, as it is not the turn of their context (T4), of all SMs together; where
    /// contexts take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Vec<Suspended>>,
    /// Copies that have begun and stand still, as their engine serves another context or it is not the turn of their
    /// own (T5); where contexts take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended_copies: Option<Vec<SuspendedCopy>>,
    /// Every operation that was submitted and has work left that is not on the GPU.
    pub waiting: Vec<Waiting>,
}

/// Whose turn it is at one instant (T1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnState {
    /// The process; `None`: nobody's.
    pub process: Option<String>,
    /// Whether contexts are still being switched for it (T3), so that no block runs.
    pub switching: bool,
    /// Since when.
    pub from_ns: Option<Instant>,
    /// Until when.
    pub to_ns: Option<Instant>,
}

/// An EE queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EeQueue {
    /// The process of its context, its green context or its client of MPS; `None` where all share the queues.
    pub context: Option<String>,
    /// Priority of its streams.
    pub priority: i32,
    /// What is in it.
    pub operations: Vec<String>,
}

/// Blocks of one kernel that are suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspended {
    /// The process.
    pub process: String,
    /// Which.
    #[serde(flatten)]
    pub blocks: Resident,
}

/// A copy that stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuspendedCopy {
    /// The process.
    pub process: String,
    /// What tables call it.
    pub copy: String,
    /// Number of the operation.
    pub id: u32,
}

/// What a copy engine is serving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Served {
    /// One copy at a time; `None`: it is idle.
    One(Option<String>),
    /// Any number, which share its link.
    Shared(Vec<String>),
}

impl Served {
    /// The names of the copies.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(copy) => copy.as_slice(),
            Self::Shared(copies) => copies,
        }
    }
}

/// One stream queue at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueContent {
    /// The stream's name.
    pub name: String,
    /// The stream's number, -1 for a NULL stream.
    pub stream: i64,
    /// What is in the queue.
    pub operations: Vec<String>,
}

/// One SM at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SmState {
    /// The SM.
    pub sm: u32,
    /// Kernels with blocks on it, in launch order.
    pub resident: Vec<Resident>,
    /// Thread slots.
    pub free_threads: u32,
    /// Block slots.
    pub free_blocks: u32,
    /// \[bytes\]
    pub free_shared_memory: u32,
    /// Registers.
    pub free_registers: u32,
}

/// Blocks of one kernel on one SM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resident {
    /// The kernel's title.
    pub kernel: String,
    /// Number of the operation.
    pub id: u32,
    /// How many blocks.
    pub blocks: u32,
    /// Those of them that wait for others (rule `counter`), by what they wait for; not told of suspended ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitingBlocks>,
}

/// An operation that waits, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The operation's title.
    pub operation: String,
    /// Its number.
    pub id: u32,
    /// The rule that holds it.
    pub rule: Rule,
    /// What it waits for.
    pub why: String,
}

/// By priority, or where contexts have queues of their own, by those and priority.
fn as_map<S: Serializer>(queues: &[EeQueue], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for queues in queues.chunk_by(|one, other| one.context == other.context) {
        let by_priority = || queues.iter().map(|queue| (queue.priority.to_string(), &queue.operations));
        match queues.first().and_then(|queue| queue.context.as_ref()) {
            None => by_priority().try_for_each(|(priority, names)| map.serialize_entry(&priority, names))?,
            Some(context) => map.serialize_entry(context, &by_priority().collect::<BTreeMap<_, _>>())?,
        }
    }
    map.end()
}

impl State {
    /// The state of a run at `at`.
    pub fn at(summary: &Summary<'_>, at: Instant) -> Self {
        let Snapshot { at, stream_queues, ee_queues, ce_queues, copy_engines, sms, waiting } =
            Snapshot::new(summary.trace, summary.scenario.device(), at);
        let name = |id: OperationId| title(summary, id);
        let names = |ids: &[OperationId]| -> Vec<String> { ids.iter().map(|&id| name(id)).collect() };
        let served = |names: Vec<String>| match summary.scenario.device().copy.sharing {
            CopySharing::OneAtATime => Served::One(names.into_iter().next()),
            CopySharing::SharedLink => Served::Shared(names),
        };
        let mut copies: Vec<OperationId> = ce_queues.iter().flatten().copied().collect();
        crate::sorted::sort_by_key(&mut copies, |id| summary.trace.record(*id).map(OperationRecord::queue_order));
        let of_stream = |(stream, ids): &(StreamId, Vec<OperationId>)| QueueContent {
            name: summary.trace.stream_name(*stream).to_owned(),
            stream: summary.scenario.stream_number(*stream),
            operations: names(ids),
        };
        let is_sliced = summary.trace.is_time_sliced();
        let mut stands = Stands::new(summary.trace).at(at);
        let of_ee_queue = |EeQueueSnapshot { context, priority, operations }: &EeQueueSnapshot| EeQueue {
            context: summary.trace.queue_context_name(*context).map(str::to_owned),
            priority: *priority,
            operations: names(operations),
        };
        Self {
            turn: is_sliced.then(|| turn_state(summary, at)),
            suspended: is_sliced.then(|| suspended(summary, at)),
            suspended_copies: is_sliced.then(|| suspended_copies(summary, &stream_queues, &copy_engines, at)),
            at_ns: at,
            stream_queues: stream_queues.iter().map(of_stream).collect(),
            ee_queues: ee_queues.iter().map(of_ee_queue).collect(),
            ce_queue: names(&copies),
            ce_queues: ce_queues.iter().map(|ids| names(ids)).collect(),
            copy_engines: copy_engines.iter().map(|ids| served(names(ids))).collect(),
            sms: (0..).zip(&sms).map(|(number, sm)| sm_state(summary, number, sm, &mut stands)).collect(),
            waiting: waiting.iter().map(|held| waiting_of(summary, held, at)).collect(),
        }
    }
}

fn resident(summary: &Summary<'_>, id: OperationId, blocks: u32) -> Resident {
    Resident { kernel: title(summary, id), id: id.0, blocks, waits: Vec::new() }
}

fn sm_state(
    summary: &Summary<'_>,
    sm: u32,
    SmSnapshot { residents, free }: &SmSnapshot,
    stands: &mut BTreeMap<(u32, OperationId), Vec<WaitingBlocks>>,
) -> SmState {
    let mut resident = |&(id, blocks): &(OperationId, u32)| Resident {
        waits: stands.remove(&(sm, id)).unwrap_or_default(),
        ..resident(summary, id, blocks)
    };
    SmState {
        sm,
        resident: residents.iter().map(&mut resident).collect(),
        free_threads: free.warps * summary.scenario.device().warp_size,
        free_blocks: free.blocks,
        free_shared_memory: free.shared_memory_bytes,
        free_registers: free.registers,
    }
}

fn turn_state(summary: &Summary<'_>, at: Instant) -> TurnState {
    let Some(turn) = summary.trace.turn_at(at) else {
        return TurnState { process: None, switching: false, from_ns: None, to_ns: None };
    };
    let switching = at < turn.start;
    let (from, to) = if switching { (turn.switch_from, turn.start) } else { (turn.start, turn.end) };
    let process = Some(summary.trace.process_name(turn.process).to_owned());
    TurnState { process, switching, from_ns: Some(from), to_ns: Some(to) }
}

fn suspended(summary: &Summary<'_>, at: Instant) -> Vec<Suspended> {
    let trace = summary.trace;
    let begun =
        summary.launches().filter(|Recorded { record, .. }| record.first_start().is_some_and(|start| start <= at));
    let of_kernel = |Recorded { id, .. }: Recorded<'_, &CheckedKernel>| {
        let blocks = trace.suspended_at(id, at).map(|part| u32::from(part.blocks)).sum();
        let process = trace.process_name(trace.process_of_known(id)).to_owned();
        (blocks > 0).then(|| Suspended { process, blocks: resident(summary, id, blocks) })
    };
    begun.filter_map(of_kernel).collect()
}

/// Of the copies at the heads of streams those that have begun and are on no engine.
fn suspended_copies(
    summary: &Summary<'_>,
    streams: &[(StreamId, Vec<OperationId>)],
    engines: &[Vec<OperationId>],
    at: Instant,
) -> Vec<SuspendedCopy> {
    let stands_still = |id: &OperationId| {
        let record = summary.trace.record(*id);
        let begun = record.filter(|_| summary.trace.copy_of(*id).is_some());
        begun.and_then(OperationRecord::first_start).is_some_and(|start| start <= at)
            && !engines.iter().flatten().any(|served| served == id)
    };
    let heads = streams.iter().filter_map(|(_, ids)| ids.first().copied());
    let mut copies: Vec<OperationId> = heads.filter(stands_still).collect();
    copies.sort_unstable();
    let told = |id: OperationId| SuspendedCopy {
        process: summary.trace.process_name(summary.trace.process_of_known(id)).to_owned(),
        copy: title(summary, id),
        id: id.0,
    };
    copies.into_iter().map(told).collect()
}

/// What is said of a wait for a turn behind its cause, with places for what differs.
#[derive(Debug, Serialize)]
pub(crate) struct TurnWords {
    /// When its own comes: `{next}`.
    next: &'static str,
    nobody: &'static str,
    /// Contexts are being switched to `{process}`.
    switching: &'static str,
    /// `{process}` has one until `{until}`.
    now: &'static str,
}

/// The words of [`other_turn`].
pub(crate) const TURN_WORDS: TurnWords = TurnWords {
    next: ", at {next}",
    nobody: ": now nobody has one",
    switching: ": contexts are switched to {process}",
    now: ": now {process} has one, until {until}",
};

/// Whose turn it is instead, and when that of what waits comes.
fn other_turn(summary: &Summary<'_>, operation: OperationId, at: Instant) -> String {
    let trace = summary.trace;
    let turn = trace.turn_at(at);
    let now = match turn {
        None => TURN_WORDS.nobody,
        Some(turn) if at < turn.start => TURN_WORDS.switching,
        Some(_) => TURN_WORDS.now,
    };
    let next = trace.next_turn_of(trace.process_of_known(operation), at);
    let mut words = next.map_or_else(String::new, |next| TURN_WORDS.next.replace("{next}", &next.to_string()));
    // The name comes last: it may be anything.
    let until = turn.map_or_else(String::new, |turn| turn.end.to_string());
    let name = turn.map_or("", |turn| trace.process_name(turn.process));
    words += &now.replace("{until}", &until).replace("{process}", name);
    words
}

fn waiting_of(summary: &Summary<'_>, held: &Held, at: Instant) -> Waiting {
    let mut why = held.cause.as_ref().map_or_else(String::new, |cause| cause.sentence(held.rule).into_owned());
    if held.cause == Some(Cause::Turn) {
        why.push_str(&other_turn(summary, held.operation, at));
    }
    if let Some(other) = held.behind {
        why.push(' ');
        why.push_str(&title(summary, other));
    }
    Waiting { operation: title(summary, held.operation), id: held.operation.0, rule: held.rule, why }
}

/// What reports call an operation: a kernel by its title, a copy by its number among the copies and its direction.
pub(crate) fn title(summary: &Summary<'_>, id: OperationId) -> String {
    title_of(summary, id).into_owned()
}

/// [`title`], which of a kernel is kept already.
pub(crate) fn title_of<'a>(summary: &Summary<'a>, id: OperationId) -> Cow<'a, str> {
    let trace = summary.trace;
    let Some(record) = trace.record(id) else { return Cow::Borrowed("") };
    let made = match record.kind {
        OperationKind::Kernel(_) => {
            return trace.kernel_of(id).map_or(Cow::Borrowed(""), |kernel| Cow::Borrowed(&*kernel.title));
        }
        OperationKind::Copy(_) => trace.copy_of(id).map(|copy| copy_title(trace.number_of(id), copy)),
        OperationKind::Memset => Some(format!("memset {}", trace.number_of(id))),
        OperationKind::Record(event) | OperationKind::Wait(event) => {
            let name = trace.events().get(event.index());
            name.map(|name| format!("{} {} ({name})", record.kind.name(), trace.number_of(id)))
        }
        OperationKind::WaitValue(value) | OperationKind::WriteValue(value) => {
            let value = trace.values().get(value.index());
            let name = value.and_then(|value| Some((trace.counters().get(value.counter.index())?, value.value)));
            name.map(|(name, value)| format!("{} {} ({name}, {value})", record.kind.name(), trace.number_of(id)))
        }
    };
    Cow::Owned(made.unwrap_or_default())
}

/// What reports call the copy that so many other copies came before.
pub(crate) fn copy_title(number: u32, copy: &Copy) -> String {
    format!("copy {number} ({})", copy.direction.name())
}

/// A rule that let an operation take a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Firing<'a> {
    /// When.
    pub at_ns: Instant,
    /// The rule's published name.
    pub rule: &'static str,
    /// The operation's title; of turns the name of the process.
    pub operation: Cow<'a, str>,
    /// The operation's number; none for turns.
    pub id: Option<u32>,
    /// The number of its stream, -1 for a NULL stream; none for turns.
    pub stream: Option<i64>,
    /// What happened.
    pub what: &'static str,
}

/// What comes first at one instant, and within it.
type Order = (u8, Option<Instant>, u32);

const COMPLETED: u8 = 0;
const CALLED: u8 = 1;
const PASSED: u8 = 2;
const QUEUED: u8 = 3;
const TURN: u8 = 4;
const ASSIGNED: u8 = 5;

/// Every step of every operation with the rule behind it, in order of time, and at one instant in the order in which
/// the rules are checked: completions (G4, C4), calls (G1), records and waits (E1, E2), entries into EE and CE queues
/// (G2, C1, and N1, N2, L1, L2 or a channel where they had held the operation), turns (T1 to T3), assignments (C2, X1,
/// G3, and A2, R2 or R3 where they had).
pub fn rule_log<'a>(summary: &Summary<'a>) -> Vec<Firing<'a>> {
    let mut firings: Vec<(Order, Firing<'a>)> = Vec::new();
    for (id, record) in summary.trace.numbered() {
        let operation = title_of(summary, id);
        let mut fire = |at: Option<Instant>, phase: u8, rule: &'static str, what: &'static str| {
            if let Some(at_ns) = at {
                let order = match phase {
                    COMPLETED => (phase, record.last_start(), record.queue_order()),
                    CALLED | PASSED => (phase, None, id.0),
                    _ => (phase, None, record.queue_order()),
                };
                let (operation, stream) = (operation.clone(), Some(summary.scenario.stream_number(record.stream)));
                firings.push((order, Firing { at_ns, rule, operation, id: Some(id.0), stream, what }));
            }
        };
        for wait in summary.trace.waits(id) {
            let phase = if record.queued().is_some_and(|queued| wait.to <= queued) { QUEUED } else { ASSIGNED };
            let still_waits = wait.to == summary.trace.end() && record.last_start().is_none_or(|start| start > wait.to);
            if !still_waits && !matches!(wait.rule, Rule::G2 | Rule::C1 | Rule::X1 | Rule::C2 | Rule::E2) {
                fire(Some(wait.to), phase, wait.rule.name(), "no longer holds it");
            }
        }
        fire(Some(record.launched()), CALLED, "G1", "enters its stream queue");
        match record.kind {
            OperationKind::Kernel(_) => {
                fire(record.queued(), QUEUED, "G2", "enters the EE queue of its priority (A1)");
                fire(
                    record.first_start(),
                    ASSIGNED,
                    "X1",
                    "is at the head of its EE queue, and its first block is assigned",
                );
                fire(record.last_start(), ASSIGNED, "G3", "is fully dispatched and leaves its EE queue");
                fire(record.finish(), COMPLETED, "G4", "has completed and leaves its stream queue");
            }
            OperationKind::Copy(_) => {
                fire(record.queued(), QUEUED, "C1", "enters its CE queue");
                fire(
                    record.first_start(),
                    ASSIGNED,
                    "C2",
                    "is assigned to its copy engine and leaves the CE queue (C3)",
                );
                fire(record.finish(), COMPLETED, "C4", "has completed and leaves its stream queue");
            }
            OperationKind::Record(_) => {
                fire(record.finish(), PASSED, "E1", "is recorded and leaves its stream queue");
            }
            OperationKind::Wait(_) => {
                let what = match summary.trace.awaited_by(id) {
                    Some(_) => "is over, and the wait leaves its stream queue",
                    None => "holds nothing, since the event had not been recorded before; it leaves its stream queue",
                };
                fire(record.finish(), PASSED, "E2", what);
            }
            OperationKind::WaitValue(_) => {
                fire(record.finish(), PASSED, "counter", "is over and leaves its stream queue");
            }
            OperationKind::WriteValue(_) => {
                fire(record.finish(), PASSED, "counter", "sets its counter and leaves its stream queue");
            }
            OperationKind::Memset => {
                fire(record.finish(), QUEUED, "G4", "completes at once and leaves its stream queue");
            }
        }
    }
    turns(summary, &mut firings);
    // Stable: of one operation and phase, the rule that had held it comes before what it could do then.
    crate::sorted::sort_by_key(&mut firings, |(order, firing)| (firing.at_ns, *order));
    firings.into_iter().map(|(_, firing)| firing).collect()
}

/// Beginnings and ends of turns, and of switches.
fn turns<'a>(summary: &Summary<'a>, firings: &mut Vec<(Order, Firing<'a>)>) {
    let trace = summary.trace;
    for turn in trace.turns() {
        let operation = Cow::Borrowed(trace.process_name(turn.process));
        let mut fire = |at_ns: Instant, place: u32, rule: &'static str, what: &'static str| {
            let order = (TURN, None, place);
            firings.push((order, Firing { at_ns, rule, operation: operation.clone(), id: None, stream: None, what }));
        };
        if turn.switch() > Duration::ZERO {
            fire(turn.switch_from, 1, "T3", "contexts begin to be switched to it");
        }
        if turn.start < turn.end {
            fire(turn.start, 2, "T1", "its turn begins");
        }
        let ended = match turn.ended_by {
            TurnEnd::TimeSlice => "its turn ends with its time slice",
            TurnEnd::NoWork => "its turn ends, as it has no work left",
            TurnEnd::TakenOff => "its turn ends, as it is taken off the runlist",
            TurnEnd::RunEnded => continue,
        };
        fire(turn.end, 0, "T2", ended);
    }
}
