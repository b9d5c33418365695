//! The state of the GPU at one instant, and why each operation waits there.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entries::OperationRecord;
use super::free::{Free, Shortage, nearest, nearest_group};
use super::queue::{Cause, Queue, QueueContext, Stay, engine_of, stays};
use super::record::Trace;
use super::rule::Rule;
use crate::device::{BlockDemand, Device};
use crate::time::Instant;
use crate::workload::{ChannelId, OperationId, OperationKind, StreamId, dealt_channels};

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

// What is on the GPU and in its queues at one instant, as far as it tells why an operation waits.

/// The queues and SMs at one instant.
pub(super) struct Present<'a> {
    trace: &'a Trace,
    device: &'a Device,
    /// The channels that streams were dealt to.
    channels: Vec<Option<ChannelId>>,
    /// The queues that are not empty, by order of entry.
    queues: BTreeMap<Queue, BTreeMap<u32, OperationId>>,
    /// What is free on each SM.
    pub(super) free: Vec<Free>,
}

impl<'a> Present<'a> {
    /// Without any operation.
    pub(super) fn empty(trace: &'a Trace, device: &'a Device) -> Self {
        let channels = dealt_channels(trace.streams(), trace.green_contexts(), device);
        let free = vec![Free::empty(device); device.sms as usize];
        Self { trace, device, channels, queues: BTreeMap::new(), free }
    }

    pub(super) fn enter(&mut self, queue: Queue, stay: &Stay) {
        self.queues.entry(queue).or_default().insert(stay.order, stay.operation);
    }

    pub(super) fn leave(&mut self, queue: Queue, stay: &Stay) {
        let Some(content) = self.queues.get_mut(&queue) else { return };
        content.remove(&stay.order);
        if content.is_empty() {
            self.queues.remove(&queue);
        }
    }

    /// The contents of a queue, the head first.
    pub(super) fn content(&self, queue: Queue) -> impl Iterator<Item = OperationId> + '_ {
        self.queues.get(&queue).into_iter().flat_map(|content| content.values().copied())
    }

    pub(super) fn head(&self, queue: Queue) -> Option<OperationId> {
        self.content(queue).next()
    }

    /// The heads of the stream queues that are not empty, by stream.
    pub(super) fn stream_heads(&self) -> impl Iterator<Item = (StreamId, OperationId)> + '_ {
        self.queues.iter().map_while(|(queue, content)| match queue {
            Queue::Stream(stream) => Some((*stream, *content.values().next()?)),
            // Stream queues come first.
            _ => None,
        })
    }

    /// What a kernel is behind in the channel of its stream, through which all kernels and waits for events go in the
    /// order of submission: the last one before it that goes on no earlier than it does.
    fn ahead_in_channel(&self, id: OperationId) -> Option<OperationId> {
        let channel_of = |stream: StreamId| self.channels.get(stream.index()).copied().flatten();
        let goes_on = |record: &OperationRecord| match record.kind {
            OperationKind::Kernel(_) => Some(record.queued),
            OperationKind::Wait(_) | OperationKind::WaitValue(_) => Some(record.finish),
            _ => None,
        };
        let kernel = self.trace.record(id)?;
        let (own, at) = (channel_of(kernel.stream)?, goes_on(kernel)?);
        let mut before = (0..id.0).rev().map(OperationId);
        before.find(|other| {
            self.trace.record(*other).is_some_and(|other| {
                goes_on(other).is_some_and(|other| other >= at) && channel_of(other.stream) == Some(own)
            })
        })
    }

    /// What `id` waits for now under the rule that holds it; `None` if nothing can be found, as in a measured run.
    pub(super) fn cause(&self, id: OperationId, rule: Rule) -> Option<Cause> {
        let record = self.trace.record(id)?;
        let stream = self.trace.streams().get(record.stream.index())?;
        let queue = match rule {
            Rule::G2 | Rule::C1 => Queue::Stream(record.stream),
            Rule::X1 => Queue::Ee(self.trace.queue_context_of(stream), stream.priority),
            Rule::A2 => {
                let higher = self.device.priorities().filter(|&other| other < stream.priority);
                let mut higher = higher.map(|other| Queue::Ee(self.trace.queue_context_of(stream), other));
                higher.find(|queue| self.queues.contains_key(queue))?
            }
            Rule::N1 => {
                let blocking = |other: StreamId| {
                    self.trace
                        .streams()
                        .get(other.index())
                        .is_some_and(|spec| spec.blocking && spec.process == stream.process)
                };
                let mut heads = self.stream_heads().filter(|&(stream, head)| blocking(stream) && head < id);
                heads.next().map(|(stream, _)| Queue::Stream(stream))?
            }
            Rule::N2 => Queue::Stream(self.trace.null_stream_of(record.stream)),
            Rule::C2 | Rule::T5 => Queue::CopyEngine(engine_of(self.trace, self.device, record.kind)?),
            Rule::Channel => return Some(Cause::Channel(self.ahead_in_channel(id))),
            Rule::L1 | Rule::L2 => return Some(Cause::Time),
            Rule::T1 | Rule::T4 => return Some(Cause::Turn),
            Rule::Mps => return Some(Cause::Share),
            Rule::Counter => {
                let OperationKind::WaitValue(value) = record.kind else { return None };
                let wanted = self.trace.values().get(value.index())?;
                let counter = self.trace.counters().get(wanted.counter.index())?;
                return Some(Cause::Counter(Arc::clone(counter), wanted.value));
            }
            Rule::Cooperative => {
                let kernel = self.trace.kernel_of(id)?;
                let (demand, sms) = (kernel.demand(), self.trace.sms_of(id, self.device));
                let room = |sm: u32| self.free.get(sm as usize).map_or(0, |free| free.room(&demand, self.device));
                return Some(Cause::Together { blocks: kernel.blocks, room: sms.map(room).sum() });
            }
            // They hold calls, and what is in no queue.
            Rule::H1 | Rule::H2 => return None,
            Rule::E2 => {
                let record = self.trace.operations().get(self.trace.awaited_by(id)?.index())?;
                let OperationKind::Record(event) = record.kind else { return None };
                let event = Arc::clone(self.trace.events().get(event.index())?);
                let stream = Arc::clone(&self.trace.streams().get(record.stream.index())?.name);
                return Some(Cause::Record { event, stream, queue: Queue::Stream(record.stream) });
            }
            Rule::Cluster => {
                let OperationKind::Kernel(kernel) = record.kind else { return None };
                let kernel = self.trace.kernels().get(kernel.index())?;
                let mask = self.trace.mask_of(id);
                let may_use = |sm| mask.is_none_or(|mask| mask.enables_sm(sm, self.device));
                let size = kernel.clusters()?.least();
                return nearest_group(size, may_use, &self.free, &kernel.demand(), self.device).map(Cause::Cluster);
            }
            Rule::R2 | Rule::R3 | Rule::Registers => {
                let kernel = self.trace.kernel_of(id)?;
                let demand = BlockDemand::new(&kernel.shape, self.device).ok()?;
                let sms = self.trace.sms_of(id, self.device);
                let green = stream.green_context.and_then(|green| self.trace.green_contexts().get(green.index()));
                let shortage = nearest(sms, &self.free, &demand, self.device)?;
                return Some(Cause::Room(Shortage { green: green.map(|green| Arc::clone(&green.name)), ..shortage }));
            }
        };
        Some(Cause::Behind(queue))
    }
}
