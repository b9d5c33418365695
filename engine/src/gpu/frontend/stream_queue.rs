//! Stream queues: rules G1 and G4, whether a stream's head has gone on to its engine, and in which order operations
//! that become ready at one instant do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Frontend;
use crate::canonical::Canonical;
use crate::device::CopySharing;
use crate::gpu::backend::{Backend, BackendContext, ReadyOperation};
use crate::gpu::catalogue::GpuCatalogue;
use crate::time::Instant;
use crate::trace::Observer;
use crate::workload::{OperationId, OperationKind, ProcessId, StreamId};

/// How far the operation at the head of a stream queue has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum HeadState {
    /// Not in an EE or CE queue yet (or there is no head).
    Waiting,
    /// A wait for an event whose record has not completed (E2).
    NeedsEvent,
    /// A launch latency or kernel gap holds it (L1, L2).
    NeedsTime,
    /// Free to go but for a hardware channel.
    NeedsChannel,
    /// In its EE or CE queue, or running.
    Advanced,
}

/// Stands for no operation: a run has at most 2^32 - 1, numbered from 0.
pub(super) const NONE: u32 = u32::MAX;

/// One stream and its FIFO queue of operations. Each operation knows the one behind it, so a queue is its two ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamQueue {
    head: u32,
    /// What `head_state` is about: the head, or a kernel behind it that may begin before the head has completed (PDL).
    current: u32,
    last: u32,
    pub(super) process: u32,
    /// Whose channels it takes.
    pub(super) pool: u32,
    /// Which of them it was dealt to.
    pub(super) channel: u32,
    /// Kernels submitted here that are not fully dispatched; while there are some the stream keeps its channel.
    pub(super) undispatched_kernels: u32,
    /// Whether N1 and N2 hold for it.
    pub(super) blocking: bool,
    pub(super) head_state: HeadState,
    /// Whether it has one of the channels that streams take, or has used the one that it was dealt to.
    pub(super) holds_channel: bool,
    /// No kernel goes on before: the completion of the kernel before it, and the device's gap (L2).
    pub(super) kernels_from: Instant,
    /// The same of a kernel that is launched programmatically: when the one before it has triggered, if that is
    /// earlier.
    pub(super) dependents_from: Instant,
    /// When the wait of such a kernel returns, once the kernel before it has completed.
    pub(super) released: Instant,
    /// The same of a kernel behind waits for programmatic events, once all their records have completed.
    pub(super) recorded: Instant,
    /// Since when what is next needs a channel, if it does.
    pub(super) waits_since: Instant,
    /// When an operation left the queue last at the instant of its launch.
    pub(super) left: Option<Instant>,
}

impl StreamQueue {
    /// An empty one.
    pub(super) fn new(blocking: bool, process: u32, (pool, channel): (u32, u32)) -> Self {
        Self {
            head: NONE,
            current: NONE,
            last: NONE,
            process,
            pool,
            channel,
            undispatched_kernels: 0,
            blocking,
            head_state: HeadState::Waiting,
            holds_channel: false,
            kernels_from: Instant::ZERO,
            dependents_from: Instant::ZERO,
            released: Instant::ZERO,
            recorded: Instant::ZERO,
            waits_since: Instant::ZERO,
            left: None,
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self {
            head,
            current,
            last,
            // Of what process it is, which channels it takes, and whether it is blocking, does not change.
            process: _,
            pool: _,
            channel: _,
            blocking: _,
            undispatched_kernels,
            head_state,
            holds_channel,
            kernels_from,
            dependents_from,
            released,
            recorded,
            waits_since,
            // What order it leaves open makes no difference without choices, and with them no state is like another.
            left: _,
        } = *self;
        for end in [head, current, last] {
            to.optional((end != NONE).then_some(end), Canonical::operation);
        }
        to.value((undispatched_kernels, head_state, holds_channel));
        to.optional((head_state == HeadState::NeedsChannel).then_some(waits_since), Canonical::instant);
        // What has passed holds nothing up.
        for at in [kernels_from, dependents_from, released, recorded] {
            to.future(at);
        }
    }

    /// G1: the host's call puts an operation at the end of the queue. Gives the one before it; `None`: it is the head.
    pub(super) fn push(&mut self, operation: u32) -> Option<u32> {
        let before = self.last();
        self.last = operation;
        if before.is_none() {
            self.head = operation;
            self.current = operation;
        }
        before
    }

    /// The operation at the head.
    pub(super) fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// The operation that goes on next, or went on last.
    pub(super) fn current(&self) -> Option<u32> {
        (self.current != NONE).then_some(self.current)
    }

    /// PDL: the kernel behind the present one may go on beside it.
    pub(super) fn go_beside(&mut self, next: u32) {
        self.current = next;
        self.head_state = HeadState::Waiting;
    }

    /// What is next needs a channel from `now` on.
    pub(super) fn wait_for_channel(&mut self, now: Instant) {
        (self.head_state, self.waits_since) = (HeadState::NeedsChannel, now);
    }

    /// The operation submitted last, if it has not completed.
    pub(super) fn last(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }

    /// G4, C4: the head has completed and leaves; `next` is behind it. Gives what goes on next by that.
    pub(super) fn pop(&mut self, next: u32) -> Option<u32> {
        let was_current = self.current == self.head;
        self.head = next;
        if next == NONE {
            self.last = NONE;
        }
        if !was_current {
            return None;
        }
        self.current = next;
        self.head_state = HeadState::Waiting;
        self.current()
    }
}

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
        let by_call = self.is_ready_by_call(operation, context.now);
        if by_call && self.entering.ready.is_empty() {
            self.enter(operation, backend, context);
        } else {
            let channel = self.dealt_channel(operation);
            self.entering.ready.push(Ready { operation, by_call, channel });
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

    /// All that is ready enters its queues.
    #[inline]
    pub(in crate::gpu) fn enter_ready<O: Observer>(
        &mut self,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        if !self.entering.ready.is_empty() {
            self.enter_in_order(backend, context);
        }
    }

    /// In which order those of one queue do is open, but for what launches alone made ready: that keeps the order of
    /// launches. Without a choice they do as they became ready, of what one end made ready in launch order.
    fn enter_in_order<O: Observer>(&mut self, backend: &mut impl Backend, context: &mut BackendContext<'_, O>) {
        let mut ready = std::mem::take(&mut self.entering.ready);
        // Without a choice that is left or noted, whatever is next of its queue is the first of it.
        let is_open = self.entering.taken < self.entering.choices.len() || context.observer.notes_choices();
        if ready.len() == 1 || !is_open || ready.iter().all(|ready| ready.by_call) {
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
