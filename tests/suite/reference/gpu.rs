//! The GPU's state, completions and dispatching (model, section 4, steps 1 and 3).

use std::collections::{BTreeMap, VecDeque};

use gpusched::device::CopySharing;
use gpusched::scenario::Scenario;
use gpusched::trace::Rule;
use gpusched::workload::{BlockClock, EventId, OperationKind, Placement, StreamId};

use super::adversary::Adversary;
use super::clusters::deal_clusters;
use super::contexts::Contexts;
use super::copies::Sharing;
use super::outcome::ReferenceOperation;
use super::placement::{choose, deal, is_dealt};
use super::resources::{Free, Need};
use super::turns::Runlist;
use super::waiting::{Memory, Progress};

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Sm(usize),
    Engine(usize),
}

/// With up to 24 copies at once, shares of a nanosecond are whole numbers of these.
const PARTS: u128 = 16 * 9 * 5 * 7 * 11 * 13 * 17 * 19 * 23;

/// A block or a copy under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) operation: usize,
    pub(super) place: Place,
    /// Which block of its kernel it is.
    pub(super) block: usize,
    /// For how long it still has to run \[ns\].
    pub(super) left: u64,
    /// PDL: how much is left of it where it waits for the kernel before its own, and where it triggers.
    pub(super) wait_left: Option<u64>,
    pub(super) trigger_left: Option<u64>,
    /// Whether that passes outside of the turns of its context, too.
    pub(super) watches_timer: bool,
    /// How many blocks and copies had begun before.
    pub(super) order: usize,
    /// Of a block whose kernel synchronizes it: see `waiting`.
    pub(super) sync: Progress,
}

pub(super) struct ReferenceGpu<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) contexts: Contexts,
    pub(super) now: u64,
    pub(super) operations: Vec<ReferenceOperation>,
    /// Stream queues.
    pub(super) streams: Vec<VecDeque<usize>>,
    /// EE queues by priority, the first the highest: of each context, then of each green context, and then of each
    /// process, which uses them if it is a client of MPS with a part of the SMs.
    pub(super) ee_queues: Vec<BTreeMap<i32, VecDeque<usize>>>,
    /// CE queues of each context by engine.
    pub(super) ce_queues: Vec<Vec<VecDeque<usize>>>,
    /// Whose turn it is: on the SMs, and on the copy engines that have runlists of their own.
    pub(super) compute: Runlist,
    pub(super) engines: Vec<Runlist>,
    /// Operations that have entered an EE or CE queue.
    pub(super) entered: usize,
    /// Those that will at this instant, and whether the launch alone made each of them ready.
    pub(super) entering: Vec<(usize, bool)>,
    /// How often one of several was chosen to enter a queue next.
    pub(super) chosen: usize,
    /// Which streams have a channel.
    pub(super) has_channel: Vec<bool>,
    /// Kernels that are ready but for a channel.
    pub(super) channel_queue: VecDeque<usize>,
    /// How often one of them got a channel, by whose channels these are.
    pub(super) channels_handed_over: BTreeMap<usize, u64>,
    /// In the order of assignment.
    pub(super) running: Vec<Running>,
    /// What ended blocks hold for some time longer: until when, of which kernel, on which SM.
    pub(super) freeing: Vec<(u64, usize, usize)>,
    /// Copies on shared links.
    pub(super) sharing: Vec<Sharing>,
    /// Blocks and copies that have begun, and points that blocks have left.
    pub(super) begun: usize,
    /// Of each context, or GPU.
    last_sm: Vec<Option<usize>>,
    /// Counters, and who waits for them.
    pub(super) memory: Memory,
    /// What each operation that is not fully dispatched waits for since the last instant.
    reasons: Vec<(usize, Rule)>,
    reasons_since: u64,
    /// Who chooses what is left open.
    pub(super) adversary: Option<Adversary>,
}

impl<'a> ReferenceGpu<'a> {
    pub(super) fn new(scenario: &'a Scenario, adversary: Option<Adversary>) -> Self {
        let contexts = Contexts::of(scenario);
        let engines = scenario.device().copy.engines as usize;
        Self {
            scenario,
            now: 0,
            operations: Vec::new(),
            streams: vec![VecDeque::new(); scenario.streams().len()],
            ee_queues: vec![
                BTreeMap::new();
                contexts.number()
                    + scenario.catalogue.green_contexts().len()
                    + contexts.sms_of_process.len()
            ],
            ce_queues: vec![vec![VecDeque::new(); engines]; contexts.number()],
            compute: Runlist::default(),
            engines: vec![Runlist::default(); engines],
            entered: 0,
            entering: Vec::new(),
            chosen: 0,
            has_channel: vec![false; scenario.streams().len()],
            channel_queue: VecDeque::new(),
            channels_handed_over: BTreeMap::new(),
            running: Vec::new(),
            freeing: Vec::new(),
            sharing: Vec::new(),
            begun: 0,
            last_sm: vec![None; contexts.number()],
            memory: Memory::default(),
            reasons: Vec::new(),
            reasons_since: 0,
            adversary,
            contexts,
        }
    }

    pub(super) fn context_of(&self, operation: usize) -> usize {
        self.contexts.of_stream[self.operations[operation].stream.index()]
    }

    /// Whose EE queues a kernel waits in.
    pub(super) fn queues_of(&self, operation: usize) -> usize {
        let stream = &self.scenario.streams()[self.operations[operation].stream.index()];
        if let Some(green) = stream.green_context {
            return self.contexts.number() + green.index();
        }
        let (process, sms) = (self.process_of(operation), self.scenario.device().sms as usize);
        if self.contexts.sms_of_process[process] < sms {
            self.contexts.number() + self.scenario.catalogue.green_contexts().len() + process
        } else {
            self.context_of(operation)
        }
    }

    pub(super) fn process_of(&self, operation: usize) -> usize {
        self.contexts.process_of_stream[self.operations[operation].stream.index()]
    }

    /// T1: whether something that has begun goes on at present.
    pub(super) fn progresses(&self, operation: usize, place: Place) -> bool {
        let runlist = match place {
            Place::Engine(_) if self.all_share_links() => return true,
            Place::Engine(engine) if !self.contexts.share_a_runlist => &self.engines[engine],
            _ => &self.compute,
        };
        runlist.serves(self.context_of(operation))
    }

    /// When the next block or copy ends, if nothing else happens before.
    pub(super) fn next_completion(&self) -> Option<u64> {
        let alone = self.running.iter().filter(|running| self.progresses(running.operation, running.place));
        let alone = alone.filter_map(|running| self.next_of_block(running));
        let on_links = self.sharing.iter().filter(|copy| self.has_a_share(copy)).map(|copy| {
            let nanoseconds = (copy.left * self.on_link(copy.engine)).div_ceil(PARTS);
            self.now + u64::try_from(nanoseconds).expect("short copies")
        });
        alone.chain(on_links).min()
    }

    /// Lets everything that goes on do so until `next`.
    pub(super) fn pass_time_until(&mut self, next: u64) {
        let time = next - self.now;
        let standing: Vec<bool> = self.running.iter().map(|running| self.stands(running)).collect();
        let (going_on, on_links) = (
            self.running.iter().map(|running| self.progresses(running.operation, running.place)).collect::<Vec<_>>(),
            self.sharing.iter().map(|copy| (self.has_a_share(copy), self.on_link(copy.engine))).collect::<Vec<_>>(),
        );
        for ((running, goes_on), stood) in self.running.iter_mut().zip(going_on).zip(standing) {
            if running.watches_timer && !stood {
                running.left = running.left.saturating_sub(time);
            } else if goes_on && !stood {
                running.left -= time;
            }
        }
        for (copy, (has_a_share, copies)) in self.sharing.iter_mut().zip(on_links) {
            let share = if has_a_share { u128::from(time) * PARTS / copies } else { 0 };
            copy.left = copy.left.saturating_sub(share);
        }
        self.now = next;
        self.note_triggers();
    }

    /// Whether an adversary has had enough of this run.
    pub(super) fn is_given_up(&self) -> bool {
        self.adversary.as_ref().is_some_and(Adversary::is_over)
    }

    pub(super) fn is_finished(&self, operation: usize) -> bool {
        self.operations[operation].finish.is_some()
    }

    /// The last record of an event so far.
    pub(super) fn last_record(&self, event: EventId) -> Option<usize> {
        self.operations.iter().rposition(|operation| operation.kind == OperationKind::Record(event))
    }

    /// G1.
    pub(super) fn submit(&mut self, kind: OperationKind, stream: StreamId, thread: usize, iteration: u64) -> usize {
        let operation = self.operations.len();
        if let Some(adversary) = &mut self.adversary {
            adversary.note_begun();
        }
        let awaits = match kind {
            OperationKind::Wait(event) => self.last_record(event),
            _ => None,
        };
        let stands_for = awaits.filter(|&record| self.is_programmatic(kind) && !self.is_finished(record));
        let launched = ReferenceOperation::launched(kind, stream, (thread, iteration), self.now);
        let behind = self.streams[stream.index()].back().copied();
        self.operations.push(ReferenceOperation { awaits, stands_for, behind, ..launched });
        self.streams[stream.index()].push_back(operation);
        self.promote();
        operation
    }

    /// Step 1: what ends now, in the order of assignment.
    pub(super) fn complete_what_is_due(&mut self) {
        self.leave_links();
        while let Some(done) = self.first_due() {
            if self.next_point(&done).is_some() {
                self.come_to_point(&done);
                continue;
            }
            self.running.retain(|running| running.order != done.order);
            self.note_end_of_block(&done);
            if let Place::Sm(sm) = done.place {
                let until = self.now + self.scenario.device().block_gap.as_ns();
                self.freeing.push((until, done.operation, sm));
            }
            let more = self.running.iter().any(|running| running.operation == done.operation);
            let operation = &mut self.operations[done.operation];
            if let Some((_, _, end)) = operation.blocks.get_mut(done.block) {
                *end = self.now;
            }
            if !more && operation.last_start.is_some() {
                // G4, C4.
                operation.finish = Some(self.now);
                let popped = self.streams[operation.stream.index()].pop_front();
                assert_eq!(popped, Some(done.operation));
            }
            self.promote();
        }
        self.enter_ready();
    }

    /// The first block or copy that ends now, or block that comes to a point at which it signals or waits. The end of
    /// one may let another go that stood at its wait (PDL).
    fn first_due(&self) -> Option<Running> {
        let may_end = |running: &Running| !running.watches_timer || self.progresses(running.operation, running.place);
        let is_due = |running: &&Running| match self.next_point(running) {
            Some(point_left) => {
                let goes_on = self.progresses(running.operation, running.place);
                running.left == point_left && goes_on && !self.stands(running)
            }
            None => running.left == 0 && may_end(running) && !self.stands(running),
        };
        let place = |running: &&Running| self.next_point(running).map_or(running.order, |_| running.sync.turn);
        self.running.iter().filter(is_due).min_by_key(place).copied()
    }

    /// Whether a turn has begun of a block whose timer ran out before.
    pub(super) fn is_a_timer_over(&self) -> bool {
        let is_over = |running: &Running| {
            running.watches_timer && running.left == 0 && self.progresses(running.operation, running.place)
        };
        self.running.iter().any(is_over)
    }

    /// When blocks that have not ended would, if from now on they ran.
    pub(super) fn tell_of_unfinished_blocks(&mut self) {
        let ends: Vec<u64> = self.running.iter().map(|running| self.end_if_it_went_on(running)).collect();
        for (running, end_if_it_went_on) in self.running.iter().zip(ends) {
            // A timer that ran out, of a block that has not ended all the same.
            let is_overdue = running.left == 0 && !self.progresses(running.operation, running.place);
            if let Some((_, _, end)) = self.operations[running.operation].blocks.get_mut(running.block) {
                *end = if is_overdue { self.now + 1 } else { end_if_it_went_on };
            }
        }
    }

    /// C2, C3: at once where copies share a link, or else when the context has no other copy on the engine; and only in
    /// its turn.
    pub(super) fn start_copies(&mut self) {
        let shared = self.scenario.device().copy.sharing == CopySharing::SharedLink;
        for engine in 0..self.engines.len() {
            while let Some((context, operation)) = self.next_copy(engine) {
                if !shared && self.has_begun_a_copy(context, engine) {
                    break;
                }
                self.ce_queues[context][engine].pop_front();
                let (stated, order) = (self.copy_time(operation), self.begun);
                let thread = self.operations[operation].thread;
                let time = self.adversary.as_mut().map_or(stated, |adversary| adversary.time(thread, stated));
                self.begun += 1;
                if shared {
                    self.sharing.push(Sharing { operation, engine, left: u128::from(time) * PARTS, order });
                } else {
                    let place = Place::Engine(engine);
                    self.running.push(Running {
                        operation,
                        place,
                        block: 0,
                        left: time,
                        wait_left: None,
                        trigger_left: None,
                        watches_timer: false,
                        order,
                        sync: Progress::default(),
                    });
                }
                let record = &mut self.operations[operation];
                record.first_start = Some(self.now);
                record.last_start = Some(self.now);
            }
        }
    }

    /// What each SM has left for a context, counted anew from its blocks there.
    pub(super) fn free(&self, context: usize) -> Vec<Free> {
        let mut free = vec![Free::empty_sm(self.scenario.device()); self.scenario.device().sms as usize];
        for running in &self.running {
            if let Place::Sm(sm) = running.place
                && self.context_of(running.operation) == context
            {
                let need = self.need(running.operation);
                free[sm] = free[sm].with(&need);
            }
        }
        for &(until, operation, sm) in &self.freeing {
            if until > self.now && self.context_of(operation) == context {
                free[sm] = free[sm].with(&self.need(operation));
            }
        }
        free
    }

    /// When next something that an ended block held comes free, while a kernel that it may let begin is in a queue.
    pub(super) fn next_freed(&self) -> Option<u64> {
        let waits = self.ee_queues.iter().flat_map(BTreeMap::values).any(|queue| !queue.is_empty());
        let may_begin =
            |operation: usize| waits && (!self.takes_turns() || !self.heads(self.context_of(operation)).is_empty());
        let later = self.freeing.iter().filter(|(until, operation, _)| *until > self.now && may_begin(*operation));
        later.map(|freeing| freeing.0).min()
    }

    pub(super) fn need(&self, operation: usize) -> Need {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
        Need::of(&self.scenario.kernels()[kernel.index()].shape, self.scenario.device())
    }

    /// Which SMs a kernel may use by its own mask, or else its stream's.
    pub(super) fn enabled(&self, operation: usize) -> Vec<bool> {
        let record = &self.operations[operation];
        let OperationKind::Kernel(kernel) = record.kind else { panic!("no kernel") };
        let own = self.scenario.kernels()[kernel.index()].sm_mask;
        let mask = own.or(self.scenario.streams()[record.stream.index()].sm_mask);
        let device = self.scenario.device();
        let gpu = self.sms_of_gpu(self.process_of(operation));
        let is_enabled = |sm: u32| mask.is_none_or(|mask| mask.enables_tpc(sm / device.sms_per_tpc));
        (0..device.sms).map(|sm| gpu.contains(&sm) && is_enabled(sm)).collect()
    }

    /// The SMs of the GPU of a process.
    fn sms_of_gpu(&self, process: usize) -> std::ops::Range<u32> {
        let (sms, gpus) = (self.scenario.device().sms, self.scenario.device().gpus());
        let first = if gpus > 1 { u32::try_from(process).expect("few") * (sms / gpus) } else { 0 };
        first..first + sms / gpus
    }

    /// Whose round-robin pointer a kernel moves.
    fn pointer_of(&self, context: usize, operation: usize) -> usize {
        if self.scenario.device().gpus() > 1 { self.process_of(operation) } else { context }
    }

    /// The head of the highest non-empty EE queue of some (X1, A2).
    fn highest_head(&self, queues: usize) -> Option<usize> {
        self.ee_queues[queues].values().find_map(|queue| queue.front().copied())
    }

    /// Those of a context and of its green contexts or clients of MPS: by priority, and then as they were launched.
    pub(super) fn heads(&self, context: usize) -> Vec<usize> {
        let of_owners = self.contexts.number()..self.ee_queues.len();
        let mut heads: Vec<usize> =
            [context].into_iter().chain(of_owners).filter_map(|queues| self.highest_head(queues)).collect();
        heads.sort_by_key(|&head| (self.priority(head), head));
        heads
    }

    fn priority(&self, operation: usize) -> i32 {
        self.scenario.streams()[self.operations[operation].stream.index()].priority
    }

    /// Assigns blocks of the context whose turn it is, one by one until the kernel that is next does not fit (R1 to
    /// R3).
    pub(super) fn dispatch(&mut self) {
        self.let_go_what_need_not_wait();
        self.memory.waves.clear();
        let Some(context) = self.compute.takes_work_of() else { return };
        let mut dealt: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
        while self
            .heads(context)
            .into_iter()
            .any(|head| self.assign_a_block(context, head, dealt.entry(head).or_default()))
        {}
    }

    /// Assigns the next block of a kernel at the head of its queue, if some SM has room for it.
    fn assign_a_block(&mut self, context: usize, operation: usize, dealt: &mut VecDeque<usize>) -> bool {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
        let kernel = &self.scenario.kernels()[kernel.index()];
        let (device, placement) = (self.scenario.device(), self.scenario.placement);
        let (need, allowed, free) = (self.need(operation), self.allowed(operation), self.free(context));
        let clusters = self.clusters(operation);
        if self.is_cooperative(operation) && !self.all_fit(operation, &free) {
            return false;
        }
        if let Some(clusters) = clusters.filter(|_| dealt.is_empty()) {
            let from = (self.operations[operation].blocks.len(), kernel.blocks as usize);
            *dealt = deal_clusters(device, clusters, from, &free, &need, &allowed).into();
        } else if dealt.is_empty() && is_dealt(placement, self.operations[operation].blocks.len()) {
            let left = kernel.blocks as usize - self.operations[operation].blocks.len();
            *dealt = deal(device, left, &self.may_take(operation, &need, &free)).into();
        }
        let sm = match dealt.pop_front() {
            Some(sm) => Some(sm),
            None if clusters.is_some() => None,
            None if placement == Placement::Random => {
                let fits: Vec<usize> = (0..free.len()).filter(|&sm| allowed[sm] && free[sm].fits(&need)).collect();
                let picked = self.adversary.as_mut().filter(|_| !fits.is_empty()).map_or(0, |one| one.pick(fits.len()));
                fits.get(picked).copied()
            }
            None => {
                choose(placement, device, &free, &need, &allowed, self.last_sm[self.pointer_of(context, operation)])
            }
        };
        let Some(sm) = sm else { return false };
        if clusters.is_none() {
            let pointer = self.pointer_of(context, operation);
            self.last_sm[pointer] = Some(sm);
        }
        let (block, thread) = (self.operations[operation].blocks.len(), self.operations[operation].thread);
        let stated = (kernel.duration.best.as_ns(), kernel.duration.worst.as_ns());
        let is_last = block + 1 == kernel.blocks as usize;
        let own = self.own_time(operation, block);
        let stated = own.map_or(stated, |own| (own, own));
        let left = self.adversary.as_mut().map_or(stated.0, |adversary| adversary.block_time(thread, is_last, stated));
        let (place, watches_timer) = (Place::Sm(sm), kernel.clock == BlockClock::Wall);
        let order = self.begun;
        let (wait_left, trigger_left) = Self::points_of_block(kernel.programmatic(), left);
        let sync = self.progress_of(operation, own.is_some() || clusters.is_some(), left);
        self.running.push(Running {
            operation,
            place,
            block,
            left,
            wait_left,
            trigger_left,
            watches_timer,
            order,
            sync,
        });
        self.begun += 1;
        let record = &mut self.operations[operation];
        record.blocks.push((u32::try_from(sm).expect("few SMs"), self.now, self.now + left));
        record.first_start.get_or_insert(self.now);
        if record.blocks.len() == kernel.blocks as usize {
            // G3.
            record.last_start = Some(self.now);
            let (queues, priority) = (self.queues_of(operation), self.priority(operation));
            self.ee_queues[queues].get_mut(&priority).expect("it is queued").pop_front();
            // A full dispatch may free a channel.
            self.promote();
            self.enter_ready();
        }
        true
    }

    /// Remembers what holds each operation from this instant on.
    pub(super) fn note_reasons(&mut self) {
        self.reasons = (0..self.operations.len())
            .filter(|&operation| {
                let record = &self.operations[operation];
                record.last_start.is_none() && record.finish.is_none()
            })
            .map(|operation| (operation, self.reason(operation)))
            .collect();
        self.reasons_since = self.now;
    }

    /// Writes down that what was noted held until `until`.
    pub(super) fn note_waits_until(&mut self, until: u64) {
        let reasons = std::mem::take(&mut self.reasons);
        if until == self.reasons_since {
            return;
        }
        for (operation, rule) in reasons {
            let waits = &mut self.operations[operation].waits;
            match waits.last_mut() {
                Some((last, _, to)) if *last == rule && *to == self.reasons_since => *to = until,
                _ => waits.push((rule, self.reasons_since, until)),
            }
        }
    }

    /// Which rule holds an operation that is not fully dispatched.
    fn reason(&self, operation: usize) -> Rule {
        let record = &self.operations[operation];
        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        if self.streams[record.stream.index()].front() != Some(&operation) && !record.is_beside {
            return if is_copy { Rule::C1 } else { Rule::G2 };
        }
        if self.channel_queue.contains(&operation) {
            return Rule::Channel;
        }
        if !self.is_recorded(operation) {
            return Rule::E2;
        }
        if self.now < self.launch_latency_over(operation) {
            return Rule::L1;
        }
        if self.now < self.kernel_gap_over(operation) {
            return Rule::L2;
        }
        if self.waits_for_value(operation) && self.may_advance_but_for_value(operation) {
            return Rule::Counter;
        }
        if record.queued.is_none() {
            return if self.contexts.is_null(record.stream) { Rule::N1 } else { Rule::N2 };
        }
        let context = self.context_of(operation);
        if is_copy {
            let waits_for_turn = self.contexts.share_a_runlist && self.compute.takes_work_of() != Some(context);
            return if waits_for_turn { Rule::T1 } else { Rule::C2 };
        }
        let queues = self.queues_of(operation);
        if self.ee_queues[queues][&self.priority(operation)].front() != Some(&operation) {
            return Rule::X1;
        }
        // Also while its turn only lasts until the blocks that are there have ended.
        if self.compute.takes_work_of() != Some(context) {
            return Rule::T1;
        }
        if self.highest_head(queues) != Some(operation) {
            return Rule::A2;
        }
        let (need, allowed, free) = (self.need(operation), self.allowed(operation), self.free(context));
        let enabled = self.enabled(operation);
        let usable: Vec<Free> = free.iter().zip(&enabled).filter(|&(_, &ok)| ok).map(|(sm, _)| sm.clone()).collect();
        if self.waits_for_a_gpc(operation, &free, &need, &allowed) {
            return Rule::Cluster;
        }
        let fits = free.iter().zip(&allowed).any(|(sm, &ok)| ok && sm.fits(&need));
        if fits && self.is_cooperative(operation) {
            assert!(!self.all_fit(operation, &free), "one that fits does not wait");
            return Rule::Cooperative;
        }
        assert!(!fits, "a head that fits does not wait");
        if usable.iter().any(|sm| sm.fits(&need)) {
            return Rule::Mps;
        }
        if !usable.iter().any(|sm| sm.fits_threads(&need)) {
            Rule::R2
        } else if !usable.iter().any(|sm| sm.fits_threads_and_shared(&need)) {
            Rule::R3
        } else {
            Rule::Registers
        }
    }
}
