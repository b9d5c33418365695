//! Stream queues: submission, who may go on, completion. Rules G1, G2, G4, C1, C4, N1, N2, E1, E2, L1, L2, and
//! hardware channels.

mod channels;
mod latency;
mod promote;
mod stream_queue;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::backend::{Backend, BackendContext};
use super::host::{GpuEvent, SubmitError};
use crate::canonical::Canonical;
use crate::device::{ChannelOrder, Device};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::{Launch, Observer, Rule};
use crate::workload::{
    Catalogue, EventId, GreenContextId, OperationId, OperationKind, Origin, StreamId, WorkloadError,
};
use channels::{ChannelPool, ChannelQueue};
use stream_queue::{Entering, HeadState, NONE, StreamQueue};

/// Everything before the EE and CE queues. It knows operations by number; what has completed is forgotten as soon as
/// everything submitted before it has, too.
#[derive(Debug, Clone)]
pub(super) struct Frontend {
    streams: Vec<StreamQueue>,
    /// What streams of one process share.
    processes: Vec<Process>,
    /// Operations from the first that has not completed on.
    operations: VecDeque<Operation>,
    /// Operations before those.
    completed_in_a_row: u32,
    /// The last record of each event, if it was recorded; the list may be shorter than that of events.
    last_records: Vec<u32>,
    /// Streams whose head waits for an event, and its record (E2).
    awaiting: Vec<Awaiting>,
    /// Streams whose head waits for a value of a counter, and since when.
    awaiting_values: Vec<(StreamId, Instant)>,
    /// PDL, of operations that have not completed, as far as it is known. Of a kernel: when the last of its blocks has
    /// triggered, and the trigger latency is over. Of the record of a programmatic event: the same of the kernel before
    /// it. Of a wait for such an event: when the record has completed, and the release latency is over.
    triggered: BTreeMap<u32, Instant>,
    /// PDL: waits for records of programmatic events that have not completed.
    awaited_early: BTreeMap<u32, Vec<u32>>,
    /// PDL: records that have not completed, and the streams in which a wait for them is over all the same: blocks of
    /// the kernel behind that stand until they have.
    stood_for: Vec<(u32, StreamId)>,
    /// L1.
    launch_latency: Duration,
    /// L2.
    kernel_gap: Duration,
    /// PDL: from the last trigger to the first dependent block, and from the end to the return of the wait.
    pdl_latencies: (Duration, Duration),
    /// PDL: kernels that run beside the one before them, which has now completed, and when their waits return.
    pub(super) released: Vec<(OperationId, Instant)>,
    /// Channels of each process, and of each green context that has its own.
    pools: Vec<ChannelPool>,
    /// Entries into EE and CE queues so far, at most one per operation.
    queue_entries: u32,
    /// What is ready and has not entered its queue.
    entering: Entering,
    /// What the host is still to be told.
    pub(super) events: Vec<GpuEvent>,
    scratch_ready: Vec<u32>,
    scratch_streams: Vec<StreamId>,
    scratch_held: Vec<StreamId>,
    /// Streams of which something has joined those that need a channel, or has gone on from its channel.
    scratch_moved: Vec<StreamId>,
}

/// What the streams of one process share, and no others: its NULL stream (N1, N2) and the channels of its context.
#[derive(Debug, Clone)]
struct Process {
    null: StreamId,
    blocking_streams: Vec<StreamId>,
    /// Those channels, by the number of their pool.
    pool: u32,
}

/// Room for so many operations that have not completed is kept.
const LEAST_ROOM: usize = 1 << 16;

/// One submitted operation.
#[derive(Debug, Clone, Copy)]
struct Operation {
    kind: OperationKind,
    stream: StreamId,
    launched: Instant,
    /// The record that a wait is for; none if its event had not been recorded.
    awaits: u32,
    /// What is behind it in its stream queue.
    next: u32,
    is_complete: bool,
    /// PDL: launched with the attribute.
    is_dependent: bool,
    /// PDL: a record of a programmatic event, or a wait for one.
    is_early: bool,
}

/// The head of a stream waits for a record (E2).
#[derive(Debug, Clone, Copy)]
struct Awaiting {
    record: u32,
    stream: StreamId,
    /// Since when, if it may be let go before the record has completed.
    since: Option<Instant>,
}

impl Frontend {
    /// Only the NULL stream exists.
    pub(super) fn new(device: &Device, seed: u64) -> Self {
        let mut frontend = Self {
            streams: Vec::new(),
            processes: Vec::new(),
            operations: VecDeque::new(),
            completed_in_a_row: 0,
            last_records: Vec::new(),
            awaiting: Vec::new(),
            awaiting_values: Vec::new(),
            triggered: BTreeMap::new(),
            awaited_early: BTreeMap::new(),
            stood_for: Vec::new(),
            launch_latency: device.launch_latency,
            kernel_gap: device.kernel_gap,
            pdl_latencies: (device.pdl_trigger_latency, device.pdl_wait_latency),
            released: Vec::new(),
            pools: Vec::new(),
            queue_entries: 0,
            entering: Entering::default(),
            events: Vec::new(),
            scratch_ready: Vec::new(),
            scratch_streams: Vec::new(),
            scratch_held: Vec::new(),
            scratch_moved: Vec::new(),
        };
        frontend.add_process(device, seed);
        frontend
    }

    /// A process was made known, the next by number; its NULL stream is the next stream.
    pub(super) fn add_process(&mut self, device: &Device, seed: u64) {
        let number = u32::try_from(self.processes.len()).proven("the catalogue numbers processes with 32 bits");
        let null = StreamId(u32::try_from(self.streams.len()).proven("the catalogue numbers streams with 32 bits"));
        let pool = self.add_pool(device.channels, None, device, seed);
        self.processes.push(Process { null, blocking_streams: Vec::new(), pool });
        self.push_stream(true, number, pool);
    }

    fn push_stream(&mut self, blocking: bool, process: u32, pool: u32) {
        let channel = self.pools[pool as usize].deal();
        self.streams.push(StreamQueue::new(blocking, process, (pool, channel)));
    }

    /// So many channels, which nobody has.
    fn add_pool(&mut self, all: Option<u32>, green: Option<GreenContextId>, device: &Device, seed: u64) -> u32 {
        let number = u32::try_from(self.pools.len()).proven("processes and green contexts are fewer than 2^32");
        let queue = ChannelQueue::new(device.channel_order, seed.wrapping_add(u64::from(number)));
        let free = all.filter(|_| device.channel_order != ChannelOrder::Submission);
        self.pools.push(ChannelPool { green, all, free, dealt: Vec::new(), streams: 0, queue });
        number
    }

    /// The pool of a green context, of which each with work queues of its own has one.
    fn pool_of_green(&mut self, green: GreenContextId, queues: u32, device: &Device, seed: u64) -> u32 {
        let known = (0..).zip(&self.pools).find(|(_, pool)| pool.green == Some(green)).map(|(number, _)| number);
        known.unwrap_or_else(|| self.add_pool(Some(queues), Some(green), device, seed))
    }

    /// Idle again at t = 0; streams stay.
    pub(super) fn clear(&mut self) {
        for stream in &mut self.streams {
            *stream = StreamQueue::new(stream.blocking, stream.process, (stream.pool, stream.channel));
        }
        self.operations.clear();
        self.completed_in_a_row = 0;
        self.last_records.clear();
        self.awaiting.clear();
        self.awaiting_values.clear();
        self.triggered.clear();
        self.awaited_early.clear();
        self.stood_for.clear();
        self.pools.iter_mut().for_each(ChannelPool::clear);
        self.queue_entries = 0;
        self.entering.clear();
        self.released.clear();
        self.events.clear();
        self.scratch_ready.clear();
        self.scratch_streams.clear();
        self.scratch_held.clear();
        self.scratch_moved.clear();
    }

    /// States in which order operations that become ready together enter their queues.
    pub(super) fn set_ready_order(&mut self, choices: Arc<[u32]>) {
        self.entering.set_choices(choices);
    }

    /// Makes room for so many more streams.
    pub(super) fn reserve(&mut self, streams: usize) {
        self.streams.reserve_exact(streams);
    }

    /// A stream of the catalogue was created, the next by number.
    pub(super) fn add_stream(&mut self, id: StreamId, catalogue: &Catalogue, seed: u64) {
        debug_assert_eq!(id.index(), self.streams.len());
        let Some(stream) = catalogue.streams().get(id.index()) else { return };
        let (process, blocking) = (stream.process, stream.blocking);
        let pool = match catalogue.work_queues_of(id) {
            Some((green, queues)) => self.pool_of_green(green, queues, catalogue.device(), seed),
            None => self.processes.get(process.index()).map_or(0, |process| process.pool),
        };
        self.push_stream(blocking, process.0, pool);
        if let Some(process) = self.processes.get_mut(process.index()).filter(|_| blocking) {
            process.blocking_streams.push(id);
        }
    }

    /// G1: an operation enters its stream queue.
    pub(super) fn submit<O: Observer>(
        &mut self,
        stream: StreamId,
        kind: OperationKind,
        origin: Origin,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) -> Result<OperationId, SubmitError> {
        // Fewer than the limit of the run, which 32 bits hold.
        let number = u32::try_from(self.submitted()).map_err(|_| SubmitError::TooManyOperations { most: u32::MAX })?;
        let queue = self.streams.get_mut(stream.index()).ok_or(SubmitError::Unknown)?;
        let known = match kind {
            OperationKind::Kernel(kernel) => kernel.index() < context.catalogue.kernels().len(),
            OperationKind::Copy(copy) => copy.index() < context.catalogue.copies().len(),
            OperationKind::Memset => true,
            OperationKind::Record(event) | OperationKind::Wait(event) => {
                event.index() < context.catalogue.events().len()
            }
            OperationKind::WaitValue(value) | OperationKind::WriteValue(value) => {
                value.index() < context.catalogue.catalogue().values().len()
            }
        };
        if !known {
            return Err(SubmitError::Unknown);
        }
        let (is_dependent, is_early) = match kind {
            OperationKind::Kernel(kernel) => {
                (context.catalogue.kernels()[kernel.index()].programmatic().is_dependent, false)
            }
            OperationKind::Record(event) | OperationKind::Wait(event) => {
                let known = context.catalogue.catalogue();
                (false, known.is_programmatic_event(event) || known.is_launch_completion_event(event))
            }
            _ => (false, false),
        };
        if (is_dependent || is_early) && context.catalogue.catalogue().is_time_sliced() {
            return Err(WorkloadError::ProgrammaticInTurns.into());
        }
        queue.undispatched_kernels += u32::from(matches!(kind, OperationKind::Kernel(_)));
        let all_begun = queue.undispatched_kernels == 0;
        let before = queue.push(number);
        let awaits = match kind {
            OperationKind::Wait(event) => self.last_records.get(event.index()).copied().unwrap_or(NONE),
            _ => NONE,
        };
        let launched = context.now;
        self.operations.push_back(Operation {
            kind,
            stream,
            launched,
            awaits,
            next: NONE,
            is_complete: false,
            is_dependent,
            is_early,
        });
        self.join_channel(stream, number);
        let id = OperationId(number);
        context.observer.launched(id, &Launch { kind, stream, origin, at: context.now });
        if awaits != NONE {
            context.observer.awaits(id, OperationId(awaits));
            self.note_early_wait(number, awaits);
        }
        if let OperationKind::Record(event) = kind {
            self.note_record(event, number);
        }
        if let Some(before) = before {
            self.operation_mut(before).next = number;
            self.note_early_record(before, context);
            if all_begun {
                self.note_launch_completion(before, context);
            }
            self.go_beside_later(stream, context);
        } else {
            self.become_head(stream, number, context);
            self.promote_one(stream, backend, context);
        }
        Ok(id)
    }

    /// G4, C4: what the backend ran has completed; whatever that sets free goes on.
    pub(super) fn complete<O: Observer>(
        &mut self,
        operation: OperationId,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        let stream = self.operation(operation.0).stream;
        let mut affected = std::mem::take(&mut self.scratch_streams);
        self.leave_stream(stream, operation.0, &mut affected, context);
        match *affected {
            [] => self.scratch_streams = affected,
            [only] => {
                affected.clear();
                self.scratch_streams = affected;
                self.promote_one(only, backend, context);
            }
            _ => self.promote(affected, backend, context),
        }
    }

    /// G3: the backend has assigned all blocks of a kernel.
    pub(super) fn fully_dispatched<O: Observer>(
        &mut self,
        operation: OperationId,
        backend: &mut impl Backend,
        context: &mut BackendContext<'_, O>,
    ) {
        self.events.push(GpuEvent::FullyDispatched(operation));
        self.note_launch_completion(operation.0, context);
        let stream = self.operation(operation.0).stream;
        let queue = &mut self.streams[stream.index()];
        queue.undispatched_kernels -= 1;
        if queue.undispatched_kernels == 0
            && let Some(next) = self.give_channel_back(stream, context)
        {
            self.enter_ee_queue(next, backend, context);
        }
    }

    /// Whether an operation has completed. An unknown one counts as completed.
    pub(super) fn is_complete(&self, operation: OperationId) -> bool {
        let index = operation.0.checked_sub(self.completed_in_a_row);
        index.and_then(|index| self.operations.get(index as usize)).is_none_or(|operation| operation.is_complete)
    }

    /// The operation submitted last to `stream`, if it has not completed.
    pub(super) fn last_in(&self, stream: StreamId) -> Option<OperationId> {
        self.streams.get(stream.index())?.last().map(OperationId)
    }

    /// The last record of `event`, if there is one that has not completed.
    pub(super) fn last_record(&self, event: EventId) -> Option<OperationId> {
        let last = OperationId(self.last_records.get(event.index()).copied().filter(|&last| last != NONE)?);
        (!self.is_complete(last)).then_some(last)
    }

    fn note_record(&mut self, event: EventId, record: u32) {
        let event = event.index();
        if event >= self.last_records.len() {
            self.last_records.resize(event + 1, NONE);
        }
        self.last_records[event] = record;
    }

    /// Operations submitted so far.
    pub(super) fn submitted(&self) -> usize {
        self.completed_in_a_row() + self.operations.len()
    }

    /// How many operations, in launch order, have completed before the first that has not.
    pub(super) fn completed_in_a_row(&self) -> usize {
        self.completed_in_a_row as usize
    }

    /// The run is over: what still waits for a channel, or for time to pass, waits until now, which is for good.
    pub(super) fn close<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) {
        self.close_latencies(context);
        self.close_values(context);
        for queue in self.streams.iter().filter(|queue| queue.head_state == HeadState::NeedsChannel) {
            if let Some(operation) = queue.current().map(OperationId) {
                context.observer.waited(operation, Rule::Channel, queue.waits_since, context.now);
            }
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self {
            streams,
            // Known before a run begins.
            processes: _,
            pools,
            operations,
            completed_in_a_row,
            last_records,
            awaiting,
            awaiting_values,
            triggered,
            awaited_early,
            stood_for,
            // Parameters of the device.
            launch_latency: _,
            kernel_gap: _,
            pdl_latencies: _,
            released,
            // Entries are counted for observers.
            queue_entries: _,
            entering,
            events,
            // Empty but while something goes on.
            scratch_ready: _,
            scratch_streams: _,
            scratch_held: _,
            scratch_moved: _,
        } = self;
        to.list(streams, |to, stream| stream.write_state(to));
        to.list(pools, |to, pool| self.write_channels(pool, to));
        to.operation(*completed_in_a_row);
        to.list(operations, |to, operation| {
            let Operation { kind, stream, launched, awaits, next, is_complete, is_dependent, is_early } = *operation;
            to.value((kind, stream, is_complete, is_dependent, is_early));
            to.instant(launched);
            self.write_record(awaits, to);
            to.optional((next != NONE).then_some(next), Canonical::operation);
        });
        to.list(triggered, |to, (&operation, &at)| {
            to.operation(operation);
            to.instant(at);
        });
        let records = (0_u64..).zip(last_records).filter(|(_, record)| **record != NONE);
        to.list(records, |to, (event, &record)| {
            to.number(event);
            self.write_record(record, to);
        });
        to.list(awaiting, |to, &Awaiting { record, stream, since }| {
            to.operation(record);
            to.value(stream);
            to.optional(since, Canonical::instant);
        });
        to.list(awaited_early, |to, (&record, waits)| {
            to.operation(record);
            to.list(waits, |to, &wait| to.operation(wait));
        });
        to.list(stood_for, |to, &(record, stream)| {
            to.operation(record);
            to.value(stream);
        });
        let in_the_midst = !released.is_empty() || !events.is_empty() || !awaiting_values.is_empty();
        if in_the_midst || entering.is_like_no_other() {
            // In the midst of an instant, or with choices left; or a counter decides, which may grow without an end.
            to.is_like_no_other();
        }
    }

    /// Writes which record of an event it is, if it is one; all that have completed are alike.
    fn write_record(&self, record: u32, to: &mut Canonical) {
        to.optional((record != NONE).then_some(OperationId(record)), |to, record| {
            to.optional((!self.is_complete(record)).then_some(record.0), Canonical::operation);
        });
    }

    /// An operation that has not completed.
    #[inline]
    fn operation(&self, number: u32) -> Operation {
        self.operations[(number - self.completed_in_a_row) as usize]
    }

    #[inline]
    fn operation_mut(&mut self, number: u32) -> &mut Operation {
        &mut self.operations[(number - self.completed_in_a_row) as usize]
    }

    /// When it triggers, as far as that is known; [`Instant::MAX`]: it is not.
    #[inline]
    fn triggered(&self, operation: u32) -> Instant {
        // Most runs have none.
        if self.triggered.is_empty() { Instant::MAX } else { *self.triggered.get(&operation).unwrap_or(&Instant::MAX) }
    }

    /// Forgets operations that have completed, up to the first that has not.
    #[inline]
    fn forget_completed(&mut self) {
        while self.operations.front().is_some_and(|operation| operation.is_complete) {
            self.operations.pop_front();
            self.completed_in_a_row += 1;
        }
        // Of many that were submitted at once, the room is given back, in steps that come to no more than what went.
        if self.operations.len() < self.operations.capacity() / 8 && self.operations.capacity() > LEAST_ROOM {
            self.operations.shrink_to(self.operations.capacity() / 4);
        }
    }
}
