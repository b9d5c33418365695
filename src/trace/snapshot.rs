//! The state of the GPU at one instant.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::free::Free;
use super::operation::OperationRecord;
use super::present::Present;
use super::queue::{Queue, QueueContext, stays};
use super::record::Trace;
use super::rule::Rule;
use crate::device::{BlockDemand, Device};
use crate::time::Instant;
use crate::workload::{OperationId, StreamId};

/// One EE queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EeQueueSnapshot {
    /// Whose it is.
    pub context: QueueContext,
    /// Priority of its streams.
    pub priority: i32,
    /// What is in it, the head first.
    pub operations: Vec<OperationId>,
}

/// The GPU after all events of one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The instant.
    pub at: Instant,
    /// The stream queues that are not empty, the NULL stream's first; the head of each first. An operation stays
    /// until it has completed (G4, C4).
    pub stream_queues: Vec<(StreamId, Vec<OperationId>)>,
    /// The EE queues by context, each green context by itself, and stream priority, highest first; the head of each
    /// first.
    pub ee_queues: Vec<EeQueueSnapshot>,
    /// The CE queue of each copy engine; the head of each first.
    pub ce_queues: Vec<Vec<OperationId>>,
    /// What each copy engine is serving, in the order in which it came there: one copy at most, unless copies share the
    /// engine's link.
    pub copy_engines: Vec<Vec<OperationId>>,
    /// The SMs, by number.
    pub sms: Vec<SmSnapshot>,
    /// Every operation that was submitted and has work left that is not on the GPU, in launch order.
    pub waiting: Vec<Held>,
}

/// One SM at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmSnapshot {
    /// Kernel launches with blocks on it, and how many, in launch order.
    pub residents: Vec<(OperationId, u32)>,
    /// What they leave.
    pub free: Free,
}

/// An operation that waits, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The operation.
    pub operation: OperationId,
    /// The rule that holds it.
    pub rule: Rule,
    /// Since when.
    pub since: Instant,
    /// What it waits for; `None` if that cannot be told, as in a measured run.
    pub cause: Option<Cause>,
    /// Who is at the head of the queue, or on the copy engine, that is the cause; or right before it in its channel.
    pub behind: Option<OperationId>,
}

impl Snapshot {
    /// The state of a run on `device` at `at`.
    pub fn new(trace: &Trace, device: &Device, at: Instant) -> Self {
        let mut present = Present::empty(trace, device);
        let mut residents: Vec<BTreeMap<OperationId, u32>> = vec![BTreeMap::new(); device.sms as usize];
        for (id, record) in trace.numbered() {
            if record.finish().is_some_and(|finish| finish.saturating_add(device.block_gap) <= at) {
                continue;
            }
            for (queue, stay) in stays(trace, device, id).filter(|(_, stay)| stay.contains(at)) {
                present.enter(queue, &stay);
            }
            place_residents(trace, device, (id, record), at, &mut present.free, &mut residents);
        }
        let streams: Vec<StreamId> = present.stream_heads().map(|(stream, _)| stream).collect();
        let content = |queue| present.content(queue).collect::<Vec<_>>();
        let mut waiting: Vec<Held> = streams
            .iter()
            .flat_map(|&stream| present.content(Queue::Stream(stream)))
            .filter_map(|id| held(trace, &present, id, at))
            .collect();
        waiting.sort_unstable_by_key(|held| held.operation);
        Self {
            at,
            stream_queues: streams.iter().map(|&stream| (stream, content(Queue::Stream(stream)))).collect(),
            ee_queues: trace
                .queue_contexts()
                .into_iter()
                .flat_map(|context| device.priorities().map(move |priority| (context, priority)))
                .map(|(context, priority)| {
                    let operations = content(Queue::Ee(context, priority));
                    EeQueueSnapshot { context, priority, operations }
                })
                .collect(),
            ce_queues: (0..device.copy.engines).map(|engine| content(Queue::Ce(engine))).collect(),
            copy_engines: (0..device.copy.engines).map(|engine| content(Queue::CopyEngine(engine))).collect(),
            sms: present
                .free
                .iter()
                .zip(residents)
                .map(|(free, residents)| SmSnapshot { residents: residents.into_iter().collect(), free: free.clone() })
                .collect(),
            waiting,
        }
    }
}

/// Puts the resident blocks of a launch on their SMs.
fn place_residents(
    trace: &Trace,
    device: &Device,
    (id, record): (OperationId, &OperationRecord),
    at: Instant,
    free: &mut [Free],
    residents: &mut [BTreeMap<OperationId, u32>],
) {
    if record.first_start().is_none_or(|start| start > at) {
        return;
    }
    let Some(kernel) = trace.kernel_of(id) else { return };
    let Ok(demand) = BlockDemand::new(&kernel.shape, device) else { return };
    for part in trace.held_on_sms(id, at, device.block_gap) {
        if let Some(free) = free.get_mut(usize::from(part.sm)) {
            free.take(&demand, part.blocks.into());
        }
    }
    for part in trace.resident_at(id, at) {
        if let Some(residents) = residents.get_mut(usize::from(part.sm)) {
            *residents.entry(id).or_default() += u32::from(part.blocks);
        }
    }
}

fn held(trace: &Trace, present: &Present<'_>, id: OperationId, at: Instant) -> Option<Held> {
    let wait = trace.held_at(id, at)?;
    let cause = present.cause(id, wait.rule);
    let of_queue = || cause.as_ref().and_then(Cause::queue).and_then(|queue| present.head(queue));
    let behind = cause.as_ref().and_then(Cause::ahead).or_else(of_queue);
    Some(Held { operation: id, rule: wait.rule, since: wait.from, cause, behind })
}
