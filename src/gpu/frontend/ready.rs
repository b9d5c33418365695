//! In which order operations that become ready at one instant enter their EE and CE queues.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Frontend;
use crate::device::CopySharing;
use crate::gpu::backend::{Backend, BackendContext, ReadyOperation};
use crate::gpu::catalogue::GpuCatalogue;
use crate::time::Instant;
use crate::trace::Observer;
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

/// Of more that could enter one queue next, the first ones are chosen among.
const MOST_AMONG: usize = 256;

/// Operations that are ready and have not entered their queues.
#[derive(Debug, Clone, Default)]
pub(super) struct Entering {
    ready: Vec<Ready>,
    /// Which of several comes next, choice by choice; behind the end of the list the first one.
    choices: Arc<[u32]>,
    /// How many choices there were.
    taken: usize,
}

#[derive(Debug, Clone, Copy)]
struct Ready {
    operation: u32,
    /// Whether its launch alone made it ready: then it comes before whatever is launched later.
    by_call: bool,
    /// The channel to which its stream was dealt: of one channel, operations enter in the order of submission, in which
    /// they become ready.
    channel: Option<(u32, u32)>,
}

/// Operations with the same enter one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    /// Of an owner in a context, by priority.
    Ee {
        context: Option<ProcessId>,
        owner: usize,
        priority: i32,
    },
    Ce(usize),
    /// The copies of a shared link begin together.
    Link(u32),
}

impl Queue {
    fn of(operation: u32, kind: OperationKind, stream: StreamId, catalogue: &GpuCatalogue) -> Self {
        match kind {
            OperationKind::Copy(copy) if catalogue.device().copy.sharing == CopySharing::OneAtATime => {
                Self::Ce(catalogue.copies()[copy.index()].engine())
            }
            OperationKind::Kernel(_) => {
                let spec = &catalogue.streams()[stream.index()];
                let catalogue = catalogue.catalogue();
                let context = catalogue.is_time_sliced().then_some(spec.process);
                Self::Ee { context, owner: catalogue.queues_of(spec), priority: spec.priority }
            }
            _ => Self::Link(operation),
        }
    }
}

impl Entering {
    /// States the choices of a run.
    pub(super) fn set_choices(&mut self, choices: Arc<[u32]>) {
        self.choices = choices;
    }

    /// Another run begins.
    pub(super) fn clear(&mut self) {
        self.ready.clear();
        self.taken = 0;
    }

    /// Whether what comes depends on more than the state of the streams: an operation is on its way, or choices are
    /// left.
    pub(super) fn is_like_no_other(&self) -> bool {
        !self.ready.is_empty() || self.taken < self.choices.len()
    }

    /// Takes out which of those that are left of one queue comes next.
    fn next_of<O: Observer>(&mut self, left: &mut VecDeque<Ready>, observer: &mut O) -> Option<Ready> {
        if left.len() < 2 {
            return left.pop_front();
        }
        let window = left.len().min(MOST_AMONG);
        let first_call = left.range(..window).filter(|ready| ready.by_call).map(|ready| ready.operation).min();
        let mut channels = Vec::new();
        let may_be_next = |(place, ready): (usize, &Ready)| {
            let is_behind = ready.channel.is_some_and(|channel| channels.contains(&channel));
            channels.extend(ready.channel.filter(|_| !is_behind));
            let is_in_time = place == 0 || first_call.is_none_or(|call| ready.operation <= call);
            (is_in_time && !is_behind).then_some(place)
        };
        let places: Vec<usize> = left.range(..window).enumerate().filter_map(may_be_next).collect();
        let among = places.len();
        let mut chosen = 0;
        if among > 1 {
            chosen = self.choices.get(self.taken).map_or(0, |&choice| choice as usize % among);
            self.taken += 1;
            observer.chose(among, chosen);
        }
        left.remove(places.get(chosen).copied().unwrap_or(0))
    }
}

impl Frontend {
    /// G2, C1: an operation is ready. It enters its queue at once if its launch alone made it so and nothing else is on
    /// its way, and else with whatever becomes ready at this instant.
    pub(super) fn hand_over<O: Observer>(
        &mut self,
        operation: u32,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        let (by_call, channel) = (self.is_ready_by_call(operation, context.now), self.dealt_channel(operation));
        let ready = Ready { operation, by_call, channel };
        if ready.by_call && self.entering.ready.is_empty() {
            self.enter(operation, backend, context);
        } else {
            self.entering.ready.push(ready);
        }
    }

    /// Whether an operation was ready as soon as it was launched, but for its launch latency, and had nothing before it
    /// that was launched at the same instant and ended then.
    fn is_ready_by_call(&self, operation: u32, now: Instant) -> bool {
        let super::Operation { launched, stream, .. } = self.operation(operation);
        let has_ended = |stream: StreamId| self.streams[stream.index()].left == Some(launched);
        let queue = &self.streams[stream.index()];
        let process = &self.processes[queue.process as usize];
        launched.saturating_add(self.launch_latency) == now
            && !has_ended(stream)
            && !(queue.blocking
                && if stream == process.null {
                    process.blocking_streams.iter().any(|&other| has_ended(other))
                } else {
                    has_ended(process.null)
                })
    }

    /// All that is ready enters its queues. In which order those of one queue do is open, but for what launches alone
    /// made ready: that keeps the order of the launches. Without a choice they do as they became ready, of what one end
    /// made ready in launch order.
    pub(in crate::gpu) fn enter_ready<O: Observer>(
        &mut self,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        if self.entering.ready.is_empty() {
            return;
        }
        let mut ready = std::mem::take(&mut self.entering.ready);
        if ready.len() == 1 || ready.iter().all(|ready| ready.by_call) {
            for Ready { operation, .. } in ready.drain(..) {
                self.enter(operation, backend, context);
            }
            self.entering.ready = ready;
            return;
        }
        let places: Vec<(Queue, Ready)> = ready
            .drain(..)
            .map(|ready| {
                let super::Operation { kind, stream, .. } = self.operation(ready.operation);
                (Queue::of(ready.operation, kind, stream, context.catalogue), ready)
            })
            .collect();
        let mut left: BTreeMap<Queue, VecDeque<Ready>> = BTreeMap::new();
        for &(queue, ready) in &places {
            left.entry(queue).or_default().push_back(ready);
        }
        for (queue, _) in places {
            let next = left.get_mut(&queue).and_then(|left| self.entering.next_of(left, context.observer));
            if let Some(Ready { operation, .. }) = next {
                self.enter(operation, backend, context);
            }
        }
        self.entering.ready = ready;
    }

    /// The backend takes over.
    fn enter<O: Observer>(&mut self, operation: u32, backend: &mut impl Backend, context: &mut BackendContext<'_, O>) {
        let super::Operation { kind, stream, .. } = self.operation(operation);
        let queue = &self.streams[stream.index()];
        let stands = self.stood_for.iter().any(|(_, of)| *of == stream);
        let released = (queue.head() == Some(operation) && !stands).then_some(queue.released.max(queue.recorded));
        let operation = OperationId(operation);
        context.observer.queued(operation, Some(self.queue_entries), context.now);
        self.queue_entries += 1;
        backend.enter(ReadyOperation { operation, kind, stream, released }, context);
    }
}
