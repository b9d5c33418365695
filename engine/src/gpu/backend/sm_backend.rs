//! The backend of the simulated GPU: EE queues, SMs, CE queues and copy engines. Rules C2, C3, X1, A2, G3.

mod block_times;
mod mixed_registers;
mod state;
mod stretch;
mod synchronized_blocks;

use block_times::Freeing;
use mixed_registers::Registers;
use stretch::{Period, Running};
use synchronized_blocks::Synchronized;

use super::clients::Clients;
use super::copy_engine::CopyEngine;
use super::sm::{EeQueue, Sm};
use super::{Backend, BackendContext, ReadyOperation};
use crate::device::{BlockDemand, Device};
use crate::gpu::calendar::Event;
use crate::gpu::host::{GpuOptions, RunError};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::{Observer, Rule, TraceFull};
use crate::workload::{
    BlockClock, Catalogue, KernelId, OperationId, OperationKind, Part, Placement, ProcessId, Programmatic, Sequence,
    StreamId,
};
use block_times::BlockTimes;

/// EE queues before SMs, CE queues before copy engines.
#[derive(Debug, Clone)]
pub(crate) struct SmBackend {
    pub(super) placement: Placement,
    pub(super) seed: u64,
    pub(super) may_skip_cycles: bool,
    pub(super) sms: Vec<Sm>,
    pub(super) registers: Registers,
    pub(super) freeing: Freeing,
    empty: Sm,
    /// Of each priority, highest first: those that all share, then those of each green context or client of MPS that
    /// has its own, once one of its kernels has come.
    ee_queues: Vec<EeQueue>,
    /// Kernels in all of them.
    queued: u32,
    /// How many priorities there are.
    levels: usize,
    copy_engines: Vec<CopyEngine>,
    /// Kernels that are in an EE queue or have blocks on SMs; places are used again.
    pub(super) kernels: Vec<RunningKernel>,
    free_kernels: Vec<u32>,
    /// Waves that run; places, and the lists in them, are used again.
    pub(super) waves: Vec<RunningWave>,
    pub(super) free_waves: Vec<u32>,
    /// The round-robin pointer: the SM after the last one used.
    pub(super) cursor: u32,
    /// The first SM of the lone TPCs.
    pub(super) lone_from: u32,
    /// Among which SMs clusters of blocks find theirs: each lone TPC, then each GPC.
    pub(super) cluster_groups: Vec<Vec<u16>>,
    /// See `skip_cycles`.
    pub(super) skip_attempt: (OperationId, u32),
    /// Since SMs were last looked at in vain, blocks have completed or a kernel has become the head of an EE queue.
    /// Without either, no block fits that did not fit then.
    pub(super) changed: bool,
    /// Since copy engines were last looked at, a copy has entered a CE queue or completed.
    copies_changed: bool,
    /// PDL: blocks that stand at their waits, or will.
    pub(super) standing: Vec<Standing>,
    /// Blocks that signal or wait while they run.
    pub(super) synchronized: Synchronized,
    /// PDL: kernels of which it has become known when the last block triggers.
    pub(super) triggers: Vec<(OperationId, Instant)>,
    /// Clients of MPS, where one of them may use a part of the SMs only.
    pub(super) clients: Option<Box<Clients>>,
    /// Shares of waves that the limits of work have not been told of.
    pub(super) uncounted: u64,
    pub(super) block_times: BlockTimes,
    pub(super) order: Sequence,
    pub(super) scratch_parts: Vec<Part>,
    scratch_running: Vec<Running>,
    scratch_period: Period,
    scratch_heads: Vec<(usize, OperationId, usize)>,
}

/// How far a kernel has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningKernel {
    pub(super) operation: OperationId,
    pub(super) kernel: KernelId,
    pub(super) stream: StreamId,
    pub(super) process: ProcessId,
    pub(super) demand: BlockDemand,
    /// How long each block runs, where all run equally long.
    pub(super) duration: Option<Duration>,
    /// Whether they watch a timer, and contexts take turns.
    pub(super) is_timed: bool,
    pub(super) blocks: u32,
    pub(super) unassigned: u32,
    pub(super) running: u32,
    pub(super) programmatic: Programmatic,
    /// PDL: when the wait of its blocks returns; `None`: that is not known yet.
    pub(super) released: Option<Instant>,
    /// PDL: when the last of those blocks triggers of which that is known.
    pub(super) triggered: Instant,
    /// PDL: blocks that have begun and of which it is not.
    pub(super) untriggered: u32,
    /// Whether its blocks signal or wait while they run, and whether all of them begin together.
    pub(super) synchronizes: bool,
    pub(super) is_cooperative: bool,
    /// How often a block has come to a barrier of its grid.
    pub(super) arrived: u64,
}

impl RunningKernel {
    /// What the end of one of its waves is in the calendar.
    pub(super) const fn end_of_wave(&self, wave: u32) -> Event {
        if self.is_timed { Event::TimedWave(wave) } else { Event::Wave(wave) }
    }
}

/// Blocks that were assigned together and run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningWave {
    /// Its place among the kernels.
    pub(super) kernel: u32,
    pub(super) blocks: u32,
    /// Where they run. Most waves need no more than this one part.
    first: Share,
    others: Vec<Share>,
}

/// Blocks of a wave on one SM.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) sm: u16,
    pub(super) blocks: u16,
}

impl RunningWave {
    /// Another wave takes this place.
    #[inline]
    pub(super) fn renew(&mut self, kernel: u32, blocks: u32, parts: &[Part]) {
        (self.kernel, self.blocks) = (kernel, blocks);
        self.others.clear();
        let mut shares =
            parts.iter().filter(|part| part.blocks > 0).map(|part| Share { sm: part.sm, blocks: part.blocks });
        self.first = shares.next().unwrap_or_default();
        self.others.extend(shares);
    }

    /// Its blocks, by SM.
    #[inline]
    pub(super) fn shares(&self) -> impl Iterator<Item = Share> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// Blocks that have begun, and of which nobody knows yet when their wait returns.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Place of their kernel, and their own among the waves that run.
    pub(super) kernel: u32,
    pub(super) place: u32,
    /// Which of all that completes they are.
    pub(super) sequence: u64,
    /// The first of them, how many, and the round-robin pointer before them.
    pub(super) block: (u32, u32, u32),
    pub(super) start: Instant,
    /// How long they run without standing.
    pub(super) run: Duration,
    pub(super) parts: Vec<Part>,
}

/// No operation has this number: it would be number 2^32.
const NO_ATTEMPT: (OperationId, u32) = (OperationId(u32::MAX), 0);

impl SmBackend {
    /// Idle SMs and copy engines.
    pub(crate) fn new(device: &Device, options: &GpuOptions) -> Self {
        let empty = Sm::new(device);
        Self {
            placement: options.placement,
            seed: options.seed,
            // Within a gap the places of a cycle are of nobody.
            may_skip_cycles: options.skip_cycles && device.block_gap == Duration::ZERO,
            freeing: Freeing::new(device.block_gap),
            sms: vec![empty; device.sms as usize],
            registers: Registers::new(device),
            empty,
            ee_queues: device.priorities().map(|_| EeQueue::default()).collect(),
            queued: 0,
            levels: device.priorities().count(),
            copy_engines: (0..device.copy.engines).map(|_| CopyEngine::new(device.copy.sharing)).collect(),
            kernels: Vec::new(),
            free_kernels: Vec::new(),
            waves: Vec::new(),
            free_waves: Vec::new(),
            cursor: 0,
            lone_from: device.lone_sms().start,
            cluster_groups: cluster_groups(device),
            skip_attempt: NO_ATTEMPT,
            changed: false,
            copies_changed: false,
            standing: Vec::new(),
            synchronized: Synchronized::default(),
            triggers: Vec::new(),
            clients: None,
            uncounted: 0,
            block_times: BlockTimes::new(options.seed),
            order: Sequence::default(),
            scratch_parts: Vec::new(),
            scratch_running: Vec::new(),
            scratch_period: Period::default(),
            scratch_heads: Vec::new(),
        }
    }

    /// The processes are clients of MPS.
    pub(in crate::gpu) fn serve_clients(&mut self, catalogue: &Catalogue) {
        self.clients = Clients::new(catalogue).map(Box::new);
    }

    /// Whether a kernel is in an EE queue or on the GPU, or a copy in a CE queue or on its engine.
    pub(in crate::gpu) fn has_work(&self) -> bool {
        self.kernels.len() > self.free_kernels.len() || self.copy_engines.iter().any(|engine| !engine.is_idle())
    }

    /// Whether blocks are on SMs.
    pub(in crate::gpu) fn has_blocks(&self) -> bool {
        self.waves.len() > self.free_waves.len()
    }

    /// Whether nothing can be assigned until something completes or comes.
    pub(in crate::gpu) fn is_idle_until_event(&self) -> bool {
        !self.changed && !self.copies_changed && self.freeing.is_empty()
    }

    /// What is on it has gone on for `time`, of which it is at `since`, and nothing has completed.
    pub(in crate::gpu) fn serve(&mut self, time: Duration, since: Instant) {
        self.suspend(since + time);
    }

    /// Nothing of it runs from now on, until [`SmBackend::resume`].
    pub(in crate::gpu) fn suspend(&mut self, now: Instant) {
        self.copy_engines.iter_mut().for_each(|engine| engine.suspend(now));
    }

    /// It goes on where it was suspended.
    pub(in crate::gpu) fn resume(&mut self, now: Instant) {
        self.copy_engines.iter_mut().for_each(|engine| engine.resume(now));
        self.freeing.forget_note();
    }

    /// C2, C3: every idle copy engine takes the head of its queue.
    fn start_copies<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        (0..).zip(&mut self.copy_engines).try_for_each(|(number, engine)| engine.start(number, context))
    }

    /// What is on copy engines and SMs goes on and nothing begins (T4), in place of [`Backend::dispatch`].
    pub(in crate::gpu) fn run_out<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        if !self.synchronized.is_empty() {
            self.look_at_waiting(context)?;
        }
        (0..).zip(&mut self.copy_engines).try_for_each(|(number, engine)| engine.go_on(number, context))
    }

    /// A2: the head of the EE queue of highest priority that is not empty.
    #[inline]
    pub(super) fn first_head(&self) -> Option<u32> {
        if self.queued == 0 { None } else { self.ee_queues.iter().find_map(EeQueue::head) }
    }

    /// A2: the heads of the EE queues of highest priority that are not empty, one of each green context or client of
    /// MPS that has its own, and one of all others: by priority, and then in the order of launches. That order matters
    /// where they have SMs in common, and is assumed. Each with its level and the place of its queue.
    fn list_heads(&self, heads: &mut Vec<(usize, OperationId, usize)>) {
        heads.clear();
        if self.ee_queues.len() == self.levels {
            let first = (0..).zip(&self.ee_queues).find_map(|(level, queue)| Some((level, queue.head()?)));
            heads.extend(first.map(|(level, head)| (level, self.kernels[head as usize].operation, level)));
            return;
        }
        for (context, queues) in self.ee_queues.chunks(self.levels).enumerate() {
            let head = queues.iter().enumerate().find_map(|(level, queue)| Some((level, queue.head()?)));
            let Some((level, head)) = head else { continue };
            heads.push((level, self.kernels[head as usize].operation, context * self.levels + level));
        }
        heads.sort_unstable();
    }

    /// A2 holds the heads of the EE queues below that at `place`, of the same owner.
    fn note_lower_levels<O: Observer>(&mut self, place: usize, context: &mut BackendContext<'_, O>) {
        let end = (place / self.levels + 1) * self.levels;
        for lower in place + 1..end {
            let head = self.ee_queues[lower].head();
            let head = head.map(|kernel| (self.kernels[kernel as usize].operation, Rule::A2));
            self.note_blocked(lower, head, context);
        }
    }

    /// Keeps account of why the head of an EE queue waits, and since when.
    fn note_blocked<O: Observer>(
        &mut self,
        place: usize,
        why: Option<(OperationId, Rule)>,
        context: &mut BackendContext<'_, O>,
    ) {
        let queue = &mut self.ee_queues[place];
        if queue.blocked.map(|(head, rule, _)| (head, rule)) == why {
            return;
        }
        if let Some((head, rule, since)) = queue.blocked.take() {
            context.observer.waited(head, rule, since, context.now);
        }
        queue.blocked = why.map(|(head, rule)| (head, rule, context.now));
    }

    /// Nothing that waits does so for room any more. Whoever goes on after all notes it again.
    pub(in crate::gpu) fn note_none_blocked<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) {
        for place in 0..self.ee_queues.len() {
            self.note_blocked(place, None, context);
        }
        self.changed = true;
    }

    /// X1: assigns blocks of each of these heads, until one is fully dispatched.
    fn assign_heads<O: Observer>(
        &mut self,
        heads: &[(usize, OperationId, usize)],
        context: &mut BackendContext<'_, O>,
    ) -> Result<Option<OperationId>, RunError> {
        // Why one waits is known when the others have taken what they can.
        let last = if heads.len() > 1 { 2 } else { 1 };
        for pass in 1..=last {
            for &(_, operation, place) in heads {
                let Some(head) = self.ee_queues[place].head() else { continue };
                if let Some(rule) = self.assign_blocks(head, context)? {
                    if pass == last {
                        self.note_blocked(place, Some((operation, rule)), context);
                        self.note_lower_levels(place, context);
                    }
                    continue;
                }
                self.note_blocked(place, None, context);
                // G3.
                self.queued -= 1;
                if let Some(next) = self.ee_queues[place].pop() {
                    context.observer.reached_queue_head(self.kernels[next as usize].operation, context.now);
                }
                return Ok(Some(operation));
            }
        }
        self.changed = false;
        Ok(None)
    }

    /// Blocks leave an SM that have held what they need there.
    pub(super) fn give_back(&mut self, sm: u16, demand: &BlockDemand, process: ProcessId, blocks: u16) {
        self.sms[usize::from(sm)].give_back(demand, blocks.into());
        self.registers.give_back(sm, demand, blocks.into());
        if let Some(clients) = &mut self.clients {
            clients.give_back(process, sm, blocks);
        }
    }

    fn complete_wave(&mut self, index: u32, now: Instant) -> Option<OperationId> {
        let wave = &self.waves[index as usize];
        let kernel = &mut self.kernels[wave.kernel as usize];
        if self.freeing.gap > Duration::ZERO {
            self.freeing.hold(now, kernel.demand, kernel.process, wave.shares().collect());
        } else {
            for Share { sm, blocks } in wave.shares() {
                self.sms[usize::from(sm)].give_back(&kernel.demand, blocks.into());
                self.registers.give_back(sm, &kernel.demand, blocks.into());
            }
            if let Some(clients) = &mut self.clients {
                wave.shares().for_each(|share| clients.give_back(kernel.process, share.sm, share.blocks));
            }
            self.changed = true;
        }
        kernel.running -= wave.blocks;
        let is_complete = kernel.running == 0 && kernel.unassigned == 0;
        self.free_waves.push(index);
        if is_complete {
            self.free_kernels.push(wave.kernel);
        }
        is_complete.then_some(kernel.operation)
    }
}

fn cluster_groups(device: &Device) -> Vec<Vec<u16>> {
    if !device.has_clusters() {
        return Vec::new();
    }
    // A device has at most 4,096 SMs, which its constructor checks.
    let numbers = |sms: Vec<u32>| sms.into_iter().filter_map(|sm| u16::try_from(sm).ok()).collect();
    device.cluster_groups().into_iter().map(numbers).collect()
}

/// The place behind the last of so many kernels or waves. Of either there are at most as many as operations, or as
/// block slots, or as blocks of no length that one instant assigns: all counted with 32 bits.
pub(super) fn next_place(places: usize) -> u32 {
    u32::try_from(places).proven("fewer than 2^32 kernels or waves at once")
}

impl Backend for SmBackend {
    /// A1: a kernel enters the EE queue of its stream's priority.
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        let ReadyOperation { operation, kind, stream, released } = ready;
        match kind {
            OperationKind::Kernel(kernel) => {
                let known = &context.catalogue.kernels()[kernel.index()];
                let (demand, blocks) = (known.demand(), known.blocks);
                self.expect(&demand);
                // Blocks of clusters are assigned one by one.
                let is_fixed = !known.duration.varies()
                    && known.clusters().is_none()
                    && context.catalogue.block_times(kernel).is_none();
                let duration = is_fixed.then_some(known.duration.worst);
                let spec = &context.catalogue.streams()[stream.index()];
                let running = RunningKernel {
                    operation,
                    kernel,
                    stream,
                    process: spec.process,
                    demand,
                    duration,
                    is_timed: known.clock == BlockClock::Wall && context.catalogue.catalogue().is_time_sliced(),
                    blocks,
                    unassigned: blocks,
                    running: 0,
                    // Contexts that take turns have no dependent launches, and nobody asks for their triggers.
                    programmatic: if context.catalogue.catalogue().is_time_sliced() {
                        Programmatic::NONE
                    } else {
                        known.programmatic()
                    },
                    released,
                    triggered: Instant::ZERO,
                    untriggered: 0,
                    synchronizes: known.synchronization().is_some_and(|all| !all.points.is_empty()),
                    is_cooperative: known.is_cooperative(),
                    arrived: 0,
                };
                let place = if let Some(place) = self.free_kernels.pop() {
                    self.kernels[place as usize] = running;
                    place
                } else {
                    self.kernels.push(running);
                    next_place(self.kernels.len() - 1)
                };
                let owner = context.catalogue.catalogue().queues_of(spec);
                let queue = owner * self.levels + spec.level();
                if self.ee_queues.len() <= queue {
                    self.ee_queues.resize_with((owner + 1) * self.levels, EeQueue::default);
                }
                self.queued += 1;
                if self.ee_queues[queue].push(place) {
                    self.changed = true;
                    context.observer.reached_queue_head(operation, context.now);
                }
            }
            OperationKind::Copy(copy) => {
                let engine = context.catalogue.copies()[copy.index()].engine();
                self.copy_engines[engine].push(operation, copy);
                self.copies_changed = true;
            }
            OperationKind::Memset
            | OperationKind::Record(_)
            | OperationKind::Wait(_)
            | OperationKind::WaitValue(_)
            | OperationKind::WriteValue(_) => debug_assert!(false, "it ends in the frontend"),
        }
    }

    fn complete<O: Observer>(&mut self, event: Event, context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        match event {
            Event::Wave(wave) | Event::TimedWave(wave) => self.complete_wave(wave, context.now),
            Event::Freed => None,
            Event::Point(wave) => {
                self.come_to_point(wave, context);
                None
            }
            Event::Copy(engine) => {
                self.copies_changed = true;
                self.copy_engines[engine as usize].complete(engine, context)
            }
            Event::Context | Event::Turn => {
                debug_assert!(false, "one context knows of no turns");
                None
            }
        }
    }

    /// A2: the EE queues in order of priority; X1: only their heads; until one of them cannot go on.
    fn dispatch<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        if std::mem::take(&mut self.copies_changed) {
            self.start_copies(context)?;
        }
        if !self.synchronized.is_empty() {
            self.look_at_waiting(context)?;
        }
        if !self.freeing.is_empty() {
            self.free_what_is_due(context.now);
        }
        if !self.changed || self.queued == 0 {
            self.changed = false;
            // It may be a turn's first look.
            self.note_next_free(context);
            return Ok(None);
        }
        let mut heads = std::mem::take(&mut self.scratch_heads);
        self.list_heads(&mut heads);
        let dispatched = self.assign_heads(&heads, context);
        self.scratch_heads = heads;
        // After one that is fully dispatched the next head has not been looked at.
        if matches!(dispatched, Ok(None)) {
            self.note_next_free(context);
        }
        dispatched
    }

    #[inline]
    fn finish_instant<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        if self.queued == 0 || self.ee_queues.len() > self.levels {
            // Cycles are those of one queue.
            return Ok(());
        }
        // Had it not been blocked, it would have been dispatched.
        self.first_head().map_or(Ok(()), |head| self.skip_cycles(head, context))
    }

    fn release<O: Observer>(
        &mut self,
        operation: OperationId,
        at: Instant,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        self.release_blocks(operation, at, context)
    }

    fn next_trigger(&mut self) -> Option<(OperationId, Instant)> {
        self.triggers.pop()
    }

    fn close<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), TraceFull> {
        self.tell_of_standing(context)?;
        self.tell_of_synchronized(context)?;
        self.note_none_blocked(context);
        Ok(())
    }

    fn clear(&mut self) {
        self.ee_queues.iter_mut().for_each(EeQueue::clear);
        self.queued = 0;
        self.copy_engines.iter_mut().for_each(CopyEngine::clear);
        self.sms.fill(self.empty);
        self.registers.clear();
        self.freeing.clear();
        self.kernels.clear();
        self.free_kernels.clear();
        // The lists of parts stay.
        self.free_waves.clear();
        self.free_waves.extend((0..).take(self.waves.len()));
        self.cursor = 0;
        self.standing.clear();
        self.synchronized.clear();
        self.triggers.clear();
        self.skip_attempt = NO_ATTEMPT;
        if let Some(clients) = &mut self.clients {
            clients.clear();
        }
        self.changed = false;
        self.copies_changed = false;
    }
}
