//! What is in which queue when, and what an operation waits for there.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::free::{ClusterShortage, Shortage};
use super::record::Trace;
use super::rule::Rule;
use crate::device::Device;
use crate::limits::end_if_stopped;
use crate::time::Instant;
use crate::workload::{GreenContextId, OperationId, OperationKind, ProcessId, StreamId, stream_in_words};

/// Whose EE queues: those of the context of a process, or of one of its green contexts, which have their own, as has a
/// client of MPS that may use a part of the SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueContext {
    /// The first process of the context.
    pub process: ProcessId,
    /// The green context; `None`: of whatever is in none.
    pub green: Option<GreenContextId>,
}

impl From<ProcessId> for QueueContext {
    fn from(process: ProcessId) -> Self {
        Self { process, green: None }
    }
}

/// A queue, or a copy engine, which serves one copy at a time unless copies share its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    /// The queue of a stream: an operation is in it from its launch (G1) until it has completed (G4, C4).
    Stream(StreamId),
    /// The EE queue of a priority, of a context: a kernel is in it from G2 until it is fully dispatched (G3).
    Ee(QueueContext, i32),
    /// The CE queue of a copy engine: a copy is in it from C1 until it is assigned (C2, C3).
    Ce(u32),
    /// A copy engine: a copy is on it from C2 until it has completed (C4), but for the time in which it stands still
    /// (T5).
    CopyEngine(u32),
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(stream) => write!(f, "stream queue {}", stream.0),
            Self::Ee(_, priority) => write!(f, "EE queue, priority {priority}"),
            Self::Ce(engine) => write!(f, "CE queue {engine}"),
            Self::CopyEngine(engine) => write!(f, "copy engine {engine}"),
        }
    }
}

/// The time that an operation is in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// The operation.
    pub operation: OperationId,
    /// Its place in the order of all entries: those of less are nearer to the head.
    pub order: u32,
    /// When it entered.
    pub entered: Instant,
    /// When it left; `None`: it was there when the run ended.
    pub left: Option<Instant>,
}

impl Stay {
    /// Whether it is there after all events of `at`.
    pub fn contains(&self, at: Instant) -> bool {
        self.entered <= at && self.left.is_none_or(|left| at < left)
    }

    /// Its time as far as the run went.
    pub fn time(&self, end_of_run: Instant) -> Range<Instant> {
        self.entered..self.left.unwrap_or(end_of_run)
    }
}

/// The queues that an operation was in, and when: its stream queue, then its EE queue, or its CE queue and copy engine,
/// on which it is several times if it stood still in between.
pub fn stays(trace: &Trace, device: &Device, operation: OperationId) -> impl Iterator<Item = (Queue, Stay)> + use<> {
    let record = trace.record(operation);
    let stay = |order, entered, left| Stay { operation, order, entered, left };
    let of_stream =
        record.map(|record| (Queue::Stream(record.stream), stay(operation.0, record.launched(), record.finish())));
    let queued = record.and_then(|record| Some((record, record.queued()?)));
    let between = queued.and_then(|(record, queued)| {
        let queue = match record.kind {
            OperationKind::Kernel(_) => {
                let stream = trace.streams().get(record.stream.index())?;
                Queue::Ee(trace.queue_context_of(stream), stream.priority)
            }
            OperationKind::Copy(_) => Queue::Ce(engine_of(trace, device, record.kind)?),
            _ => return None,
        };
        Some((queue, stay(record.queue_order(), queued, record.last_start())))
    });
    let served = record.and_then(|record| {
        let queue = Queue::CopyEngine(engine_of(trace, device, record.kind)?);
        let (order, start) = (record.queue_order(), record.first_start()?);
        let mut parts: Vec<_> =
            trace.runs(operation).map(|part| (queue, stay(order, part.start, Some(part.end)))).collect();
        match parts.last_mut() {
            // The run ended, or the copy completed where its last part does.
            Some((_, last)) if last.left == Some(trace.end()) => last.left = record.finish(),
            Some(_) => {}
            None => parts.push((queue, stay(order, start, record.finish()))),
        }
        Some(parts)
    });
    [of_stream, between].into_iter().flatten().chain(served.into_iter().flatten())
}

/// The engine of a copy.
pub(super) fn engine_of(trace: &Trace, device: &Device, kind: OperationKind) -> Option<u32> {
    let OperationKind::Copy(copy) = kind else { return None };
    Some(device.copy.engine_for(trace.copies().get(copy.index())?.direction))
}

/// What was in one queue over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueContents {
    /// The queue.
    pub queue: Queue,
    /// Who was in it, in order of entry. All queues are first-in-first-out, so in a simulated run this is also the
    /// order of leaving; in a measured one, and on a copy engine whose link is shared, it may not be.
    pub stays: Vec<Stay>,
}

/// The contents over time of every queue that was ever used, in ascending order: stream queues, EE queues (highest
/// priority first), CE queues, copy engines.
pub fn queue_contents(trace: &Trace, device: &Device) -> Vec<QueueContents> {
    let mut contents: BTreeMap<Queue, Vec<Stay>> = BTreeMap::new();
    for (operation, _) in trace.numbered() {
        for (queue, stay) in stays(trace, device, operation) {
            contents.entry(queue).or_default().push(stay);
        }
    }
    let in_order = |(queue, mut stays): (Queue, Vec<Stay>)| {
        stays.sort_unstable_by_key(|stay| (stay.entered, stay.order));
        QueueContents { queue, stays }
    };
    contents.into_iter().map(in_order).collect()
}

/// The time that an operation is at one place of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The operation.
    pub operation: OperationId,
    /// 0: the head.
    pub position: usize,
    /// From when to when.
    pub time: Range<Instant>,
}

impl QueueContents {
    /// What is in the queue after all events of `at`, the head first.
    pub fn at(&self, at: Instant) -> impl Iterator<Item = OperationId> + '_ {
        let entered = self.stays.partition_point(|stay| stay.entered <= at);
        self.stays[..entered].iter().filter(move |stay| stay.contains(at)).map(|stay| stay.operation)
    }

    /// How many are in the queue after each instant at which one entered or left.
    pub fn lengths(&self) -> Vec<(Instant, u64)> {
        let mut changes: BTreeMap<Instant, (u64, u64)> = BTreeMap::new();
        for stay in &self.stays {
            changes.entry(stay.entered).or_default().0 += 1;
            if let Some(left) = stay.left {
                changes.entry(left).or_default().1 += 1;
            }
        }
        let mut length = 0;
        let after = |(at, (enter, leave))| {
            // An operation enters before it leaves.
            length = length + enter - leave;
            (at, length)
        };
        changes.into_iter().map(after).collect()
    }

    /// Who is at each of the first `most` places, and when, in the order in which that ends; and the greatest length
    /// of the queue. What takes no time is left out.
    pub fn places(&self, most: usize, end_of_run: Instant) -> (Vec<Place>, usize) {
        let times = self.stays.iter().map(|stay| (stay.operation, stay.time(end_of_run)));
        let stays: Vec<_> = times.filter(|(_, time)| time.start < time.end).collect();
        let mut ends: Vec<(Instant, OperationId)> =
            stays.iter().map(|(operation, time)| (time.end, *operation)).collect();
        ends.sort_unstable();
        let starts = stays.iter().map(|(_, time)| time.start);
        let mut instants: Vec<Instant> = starts.chain(ends.iter().map(|(end, _)| *end)).collect();
        instants.sort_unstable();
        instants.dedup();

        let (mut entering, mut leaving) = (stays.iter().peekable(), ends.into_iter().peekable());
        let mut queue: VecDeque<OperationId> = VecDeque::new();
        let mut shown: Vec<(OperationId, Instant)> = Vec::new();
        let (mut places, mut depth) = (Vec::new(), 0);
        for at in instants {
            end_if_stopped();
            while let Some((_, gone)) = leaving.next_if(|(end, _)| *end <= at) {
                // In the simulator always the head; in a measured run it may be another.
                if let Some(position) = queue.iter().position(|operation| *operation == gone) {
                    queue.remove(position);
                }
            }
            while let Some((operation, _)) = entering.next_if(|(_, time)| time.start <= at) {
                queue.push_back(*operation);
            }
            depth = depth.max(queue.len());
            let mut now: Vec<(OperationId, Instant)> = queue.iter().take(most).map(|id| (*id, at)).collect();
            for (position, &(operation, since)) in shown.iter().enumerate() {
                match now.get_mut(position).filter(|(same, _)| *same == operation) {
                    Some((_, begin)) => *begin = since,
                    None => places.push(Place { operation, position, time: since..at }),
                }
            }
            shown = now;
        }
        (places, depth)
    }
}

/// What an operation waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Until whatever is at the head of that queue, or on that copy engine, has gone (G2, C1, X1, A2, N1, N2, C2).
    Behind(Queue),
    /// Until an event is recorded, for which whatever is at the head of that stream's queue has to go first (E2).
    Record {
        /// The event's name.
        event: Arc<str>,
        /// The name of the stream in which it is recorded.
        stream: Arc<str>,
        /// That stream's queue.
        queue: Queue,
    },
    /// Until that operation, which is ahead of it in its hardware channel, has gone on; `None`: until any channel is
    /// free.
    Channel(Option<OperationId>),
    /// Until some time has passed (L1, L2).
    Time,
    /// Until it is the turn of its context: it is that of another, or nobody's, as during a switch (T1, T3).
    Turn,
    /// Room on one of the SMs that its process may use as a client of MPS.
    Share,
    /// Room for its next block on one SM (R2, R3, registers).
    Room(Shortage),
    /// Room for its next cluster of blocks on SMs of one GPC.
    Cluster(ClusterShortage),
    /// Room for all blocks of a cooperative launch.
    Together {
        /// How many they are.
        blocks: u32,
        /// For how many there is room.
        room: u32,
    },
    /// Until the counter of that name is not below that value.
    Counter(Arc<str>, u64),
}

impl Cause {
    /// Whether it waits for room on SMs.
    pub(super) fn is_room(&self) -> bool {
        matches!(self, Self::Room(_) | Self::Cluster(_) | Self::Together { .. })
    }

    /// The queue, or copy engine, whose head it waits for.
    pub fn queue(&self) -> Option<Queue> {
        match self {
            Self::Behind(queue) | Self::Record { queue, .. } => Some(*queue),
            Self::Channel(_)
            | Self::Time
            | Self::Turn
            | Self::Share
            | Self::Counter(..)
            | Self::Room(_)
            | Self::Cluster(_)
            | Self::Together { .. } => None,
        }
    }

    /// The operation that it waits for itself, at the head of whatever queue that is.
    #[doc(hidden)]
    pub fn ahead(&self) -> Option<OperationId> {
        if let Self::Channel(ahead) = self { *ahead } else { None }
    }

    /// Says it, as far as it can be said without the name of the operation at the head of a queue, which follows it.
    pub fn sentence(&self, rule: Rule) -> Cow<'static, str> {
        match self {
            Self::Behind(_) | Self::Time | Self::Turn | Self::Share => rule.phrase().into(),
            Self::Record { event, stream, .. } => {
                format!("until event {event} is recorded in {}, behind", stream_in_words(stream)).into()
            }
            Self::Channel(Some(_)) => "in its hardware channel, behind".into(),
            Self::Counter(counter, value) => format!("until counter {counter} is {value} or more").into(),
            Self::Together { blocks, room } => {
                format!("its {blocks} blocks are assigned together, and the SMs have room for {room}").into()
            }
            Self::Channel(None) => "until a hardware channel is free".into(),
            Self::Cluster(ClusterShortage { size, sms, group }) => {
                format!("no GPC has {size} SMs free for a cluster of its blocks; {group} comes nearest with {sms}")
                    .into()
            }
            Self::Room(Shortage { sm, lacks, green }) => {
                let list: Vec<String> = lacks.iter().map(|(what, by)| format!("{by} {}", what.name())).collect();
                let list = list.join(" and ");
                let of = green.as_ref().map_or_else(String::new, |name| format!(" of green context {name}"));
                format!("no SM{of} has room for its next block; SM {sm} comes nearest and lacks {list}").into()
            }
        }
    }
}
