//! The page's data on waits, in columns: what was in each queue over time, which rule held an operation from when to
//! when, in which lane its wait is drawn, and what is said of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::columns::{Instants, Once, PageFill, steps};
use crate::device::BlockDemand;
use crate::pictures::looks::{MOST_PLACES, bytes, is_shown, queue_name, queue_owner, rule_look};
use crate::pictures::timeline_model::{FreeLanes, MOST_WAIT_LANES_ON_PAGE};
use crate::run::Summary;
use crate::trace::{Cause, Phase, Place, Queue, QueueContents, RULES, Reason, Rule, Stay, Trace};
use crate::workload::{Clusters, OperationId, OperationKind, StreamId};

/// A rule that holds something, and what is said about it. Where the wait has a queue, the name of the operation at
/// its head follows.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Said {
    rule: Rule,
    why: Cow<'static, str>,
    /// Whether it is for a turn: when that comes, and whose it is instead, is said behind it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    for_turn: bool,
}

/// Columns, one entry for each wait, by operation and time.
#[derive(Debug, Default, Serialize)]
pub(super) struct Waits {
    /// Each thing that is said, once.
    said: Once<Said>,
    /// Counted from the one before.
    operation: Vec<u32>,
    /// Which of what is said.
    reason: Vec<usize>,
    /// Number of the queue whose head it waits for; -1: none.
    queue: Vec<i64>,
    /// The waits that name another operation than such a head, with its number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ahead: Vec<(usize, u32)>,
    /// Number of the instant of its beginning, counted from the end of the one before if that is of the same
    /// operation, or else from the launch.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning; -1: it still waits when the run ends.
    length: Vec<i64>,
}

impl Waits {
    /// `queues` are those of the page, `launched` the number of the instant of each operation's launch.
    pub(super) fn new(reasons: &[Reason], queues: &[Queue], launched: &[i64], instants: &Instants) -> Self {
        let queues: BTreeMap<Queue, i64> = queues.iter().copied().zip(0..).collect();
        let mut columns = Self::default();
        let (mut last, mut last_end) = (None, 0);
        for reason in reasons {
            let why = reason.cause.as_ref().map_or_else(Cow::default, |cause| cause.sentence(reason.rule));
            let for_turn = reason.cause == Some(Cause::Turn);
            let said = Said { rule: reason.rule, why, for_turn };
            let number = columns.said.number(said);
            let operation = reason.operation.0;
            let base = match last {
                Some(same) if same == operation => last_end,
                _ => launched.get(operation as usize).copied().unwrap_or_default(),
            };
            let from = instants.number(reason.from);
            if let Some(ahead) = reason.cause.as_ref().and_then(Cause::ahead) {
                columns.ahead.push((columns.operation.len(), ahead.0));
            }
            columns.operation.push(operation - last.unwrap_or_default());
            columns.reason.push(number);
            let queue = reason.cause.as_ref().and_then(Cause::queue);
            columns.queue.push(queue.and_then(|queue| queues.get(&queue).copied()).unwrap_or(-1));
            columns.from.push(from - base);
            columns.length.push(reason.to.map_or(-1, |to| instants.number(to) - from));
            last = Some(operation);
            last_end = reason.to.map_or(from, |to| instants.number(to));
        }
        columns
    }
}

/// Which queue, or copy engine.
#[derive(Debug, Serialize)]
pub(super) struct QueueKey {
    /// `stream`, `ee`, `ce` or `copy-engine`.
    kind: &'static str,
    /// The stream's number, which tells NULL streams apart, the priority, or that of the copy engine.
    number: i64,
    /// Of an EE queue the place of whom it is of among those that have queues of their own, if there are several.
    #[serde(rename = "process", skip_serializing_if = "Option::is_none")]
    owner: Option<usize>,
}

impl QueueKey {
    pub(super) fn new(queue: Queue, trace: &Trace) -> Self {
        let owner = |context| {
            trace.queue_context_name(context)?;
            trace.queue_contexts().iter().position(|other| *other == context)
        };
        let (kind, number, owner) = match queue {
            Queue::Stream(stream) => ("stream", i64::from(stream.0) - 1, None),
            Queue::Ee(context, priority) => ("ee", i64::from(priority), owner(context)),
            Queue::Ce(engine) => ("ce", i64::from(engine), None),
            Queue::CopyEngine(engine) => ("copy-engine", i64::from(engine), None),
        };
        Self { kind, number, owner }
    }
}

/// One queue, or copy engine, and who was in it from when to when. Beginnings ascend; ends do, too, but for copies of
/// several contexts in a CE queue, and where copies share a link.
#[derive(Debug, Serialize)]
pub(super) struct QueueData<'a> {
    #[serde(flatten)]
    key: QueueKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// Counted from the one before.
    operation: Vec<i64>,
    /// Number of the instant of entry, counted from that of the one before.
    entered: Vec<i64>,
    /// Number of the instant of leaving, counted from that of entry; -1: it was there when the run ended.
    length: Vec<i64>,
    /// Of a CE queue the place of each entry among those of all CE queues, counted from the one before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    order: Vec<i64>,
}

impl<'a> QueueData<'a> {
    pub(super) fn new(contents: &QueueContents, trace: &'a Trace, instants: &Instants) -> Self {
        let QueueContents { queue, stays } = contents;
        let name = match queue {
            Queue::Stream(stream) => Some(trace.stream_name(*stream)),
            _ => None,
        };
        let ordered = if matches!(queue, Queue::Ce(_)) { &stays[..] } else { &[] };
        let length = |stay: &Stay| stay.left.map_or(-1, |left| instants.length(&(stay.entered..left)));
        Self {
            key: QueueKey::new(*queue, trace),
            name,
            operation: steps(stays.iter().map(|stay| stay.operation.0.into())),
            entered: steps(stays.iter().map(|stay| instants.number(stay.entered))),
            length: stays.iter().map(length).collect(),
            order: steps(ordered.iter().map(|stay| stay.order.into())),
        }
    }
}

/// The places of one queue. What is in it for no time is left out.
#[derive(Debug, Serialize)]
pub(super) struct LaneColumns {
    #[serde(flatten)]
    key: QueueKey,
    /// What is written beside them.
    label: String,
    /// How many are in it at once at most.
    depth: usize,
    operation: Vec<u32>,
    position: Vec<usize>,
    /// Number of the instant of its beginning.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning.
    length: Vec<i64>,
}

/// Of the queues in which something waits.
pub(super) fn lanes(contents: &[QueueContents], summary: &Summary<'_>, instants: &Instants) -> Vec<LaneColumns> {
    let Summary { scenario, trace, .. } = summary;
    let has_engines = scenario.device().copy.engines > 1;
    let shown = || contents.iter().filter(|contents| is_shown(contents.queue));
    let priorities = shown().filter(|contents| matches!(contents.queue, Queue::Ee(..))).count();
    let of = |contents: &QueueContents| {
        let (mut places, depth) = contents.places(MOST_PLACES, trace.end());
        crate::sorted::sort_by_key(&mut places, |place: &Place| (place.time.start, place.position));
        LaneColumns {
            key: QueueKey::new(contents.queue, trace),
            label: queue_name(contents.queue, queue_owner(trace, contents.queue), priorities > 1, has_engines),
            depth,
            operation: places.iter().map(|place| place.operation.0).collect(),
            position: places.iter().map(|place| place.position).collect(),
            from: places.iter().map(|place| instants.number(place.time.start)).collect(),
            length: places.iter().map(|place| instants.length(&place.time)).collect(),
        }
    };
    shown().map(of).filter(|lanes| !lanes.operation.is_empty()).collect()
}

/// What is said of phases, with places for names and times.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct SaidOfPhase {
    rule: Rule,
    text: String,
}

/// How a rule is shown, on a light and on a dark page.
#[derive(Debug, Serialize)]
pub(super) struct RuleData {
    name: Rule,
    light: PageFill,
    dark: PageFill,
    meaning: &'static str,
    /// Whether it holds what is not the head of its stream queue.
    is_behind_in_stream: bool,
    /// What it says, and where that is from.
    says: &'static str,
    source: &'static str,
}

impl RuleData {
    pub(super) fn all() -> Vec<Self> {
        let text = |rule: Rule| RULES.into_iter().find(|text| text.name == rule.name());
        let look = |rule: Rule| Self {
            name: rule,
            light: rule_look(rule).fill.into(),
            dark: rule_look(rule).on_dark.into(),
            meaning: rule.meaning(),
            is_behind_in_stream: rule.is_behind_in_stream(),
            says: text(rule).map_or("", |text| text.says),
            source: text(rule).map_or("", |text| text.source),
        };
        Rule::ALL.into_iter().map(look).collect()
    }
}

/// Columns, one entry for each phase, by operation and time.
#[derive(Debug, Serialize)]
pub(super) struct PhaseColumns {
    /// Each thing that is said, once.
    said: Once<SaidOfPhase>,
    /// Counted from the one before.
    operation: Vec<i64>,
    /// Which of what is said.
    reason: Vec<usize>,
    /// Number of the instant of its beginning, counted from the launch of its operation.
    from: Vec<i64>,
    /// Number of the instant of its end, counted from that of its beginning.
    length: Vec<i64>,
    /// Who stood in the way, the last of whom did so last.
    blocking: Vec<Vec<u32>>,
    /// How many more stood in the way before the last.
    more: Vec<usize>,
    /// Of each operation with phases its lane in the row of its stream; -1: all are taken.
    lane: Vec<i64>,
}

impl PhaseColumns {
    /// `launched` is the number of the instant of each operation's launch.
    pub(super) fn new(summary: &Summary<'_>, phases: &[Phase], launched: &[i64], instants: &Instants) -> Self {
        let mut said = Once::default();
        let mut reason = |phase: &Phase| said.number(SaidOfPhase { rule: phase.rule, text: sentence(summary, phase) });
        let launch = |phase: &Phase| launched.get(phase.operation.index()).copied().unwrap_or_default();
        Self {
            operation: steps(phases.iter().map(|phase| phase.operation.0.into())),
            reason: phases.iter().map(&mut reason).collect(),
            from: phases.iter().map(|phase| instants.number(phase.from) - launch(phase)).collect(),
            length: phases.iter().map(|phase| instants.length(&(phase.from..phase.to))).collect(),
            blocking: phases.iter().map(|phase| phase.blocking.iter().map(|id| id.0).collect()).collect(),
            more: phases.iter().map(|phase| phase.more).collect(),
            lane: wait_lanes(summary.trace, phases),
            said,
        }
    }
}

/// The lane of each operation that waited, from its first phase to its last, in launch order.
fn wait_lanes(trace: &Trace, phases: &[Phase]) -> Vec<i64> {
    let mut lanes: BTreeMap<StreamId, FreeLanes> = BTreeMap::new();
    let of_operation = phases.chunk_by(|one, other| one.operation == other.operation);
    let lane = |own: &[Phase]| {
        let (first, last) = own.first().zip(own.last())?;
        let lanes = lanes.entry(trace.record(first.operation)?.stream).or_default();
        lanes.take_of(MOST_WAIT_LANES_ON_PAGE, &(first.from..last.to))
    };
    of_operation.map(lane).map(|lane| lane.and_then(|lane| i64::try_from(lane).ok()).unwrap_or(-1)).collect()
}

/// What is said of a phase, with places for what differs between phases that say the same: `{operation}`, `{from}`,
/// `{to}` and `{blocking}`, which is a list.
pub(crate) fn sentence(summary: &Summary<'_>, phase: &Phase) -> String {
    let why = why(summary, phase);
    format!("{{operation}} waits from {{from}} to {{to}}: {why}; rule {}", phase.rule)
}

fn why(summary: &Summary<'_>, phase: &Phase) -> String {
    let record = |id: OperationId| summary.trace.record(id);
    let why = match phase.rule {
        Rule::R2 | Rule::R3 | Rule::Registers | Rule::Cluster => {
            let lacks = lacks(summary, phase);
            return match (&phase.blocking[..], phase.more) {
                ([], _) => lacks,
                ([one], 0) if record(*one).is_some_and(|other| other.finish() == Some(phase.to)) => {
                    format!("{lacks}; {{blocking}} holds it until {{to}}")
                }
                ([_], 0) => format!("{lacks}; {{blocking}} holds some of it"),
                _ => format!("{lacks}; {{blocking}} hold it, one after another"),
            };
        }
        _ if phase.blocking.is_empty() => phase.rule.meaning(),
        Rule::G2 | Rule::C1 => {
            let stream = |id: OperationId| record(id).map(|record| record.stream);
            if phase.blocking.iter().all(|id| stream(*id) == stream(phase.operation)) {
                "in its stream, behind {blocking}"
            } else {
                "in its stream, whose head waits for {blocking}"
            }
        }
        Rule::X1 => "in its EE queue, behind {blocking}, and only blocks of the head are assigned",
        Rule::A2 => "an EE queue of higher priority holds {blocking}",
        Rule::N1 => "the NULL stream waits for what was launched before it in blocking streams: {blocking}",
        Rule::N2 => "it waits for what was launched before it in the NULL stream: {blocking}",
        Rule::C2 => "its copy engine serves {blocking}",
        Rule::E2 => "its event is recorded only behind {blocking}",
        Rule::Cooperative | Rule::Counter => phase.rule.meaning(),
        Rule::Channel | Rule::L1 | Rule::L2 | Rule::T1 | Rule::T4 | Rule::T5 | Rule::Mps | Rule::H1 | Rule::H2 => {
            phase.rule.meaning()
        }
    };
    why.to_owned()
}

fn clusters_of(summary: &Summary<'_>, phase: &Phase) -> Option<Clusters> {
    let OperationKind::Kernel(kernel) = summary.trace.record(phase.operation)?.kind else {
        return None;
    };
    summary.trace.kernels().get(kernel.index())?.clusters()
}

/// What there is too little of.
fn lacks(summary: &Summary<'_>, phase: &Phase) -> String {
    let device = summary.scenario.device();
    let kernel = summary.trace.kernel_of(phase.operation);
    let Some(demand) = kernel.and_then(|kernel| BlockDemand::new(&kernel.shape, device).ok()) else {
        return phase.rule.meaning().to_owned();
    };
    let threads = demand.warps * device.warp_size;
    match phase.rule {
        Rule::Cluster => match clusters_of(summary, phase) {
            Some(clusters) => format!("no GPC has {} SMs free for a cluster of its blocks", clusters.least()),
            None => phase.rule.meaning().to_owned(),
        },
        Rule::R2 => format!("no SM has {threads} threads and a block slot free"),
        Rule::R3 => format!(
            "no SM with room for its {threads} threads has {} of shared memory free",
            bytes(demand.shared_memory_bytes.into())
        ),
        _ => format!(
            "no SM with room for the rest of a block has {} registers free, {} for each warp",
            demand.registers,
            demand.registers_per_warp()
        ),
    }
}
