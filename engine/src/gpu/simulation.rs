//! How time passes: the order of what happens at one instant.
//!
//! Every event of an instant t is applied before any block is assigned at t:
//!
//! 1. launch latencies and gaps that are over let operations go on; then completions, one by one, in the order in which
//!    those blocks and copies had been assigned; then whatever that sets free goes on to its EE or CE queue, in an
//!    order that may be [chosen](super::GpuInterface::set_ready_order);
//! 2. the host acts: it learns of the completions, then of the wake-ups it asked for, then submits until it waits;
//!    then whatever became ready goes on to its queue, in an order that may be chosen likewise;
//! 3. idle copy engines take copies, then blocks are assigned, highest priority first;
//! 4. if the host answers to that, or anything of zero length completes at t, again. If neither, the backend
//!    may rely on the calendar for what comes next, and skip cycles.

use std::sync::Arc;

use super::backend::{Backend, BackendContext};
use super::calendar::Calendar;
use super::catalogue::GpuCatalogue;
use super::contexts::ContextBackend;
use super::counters::Counters;
use super::frontend::Frontend;
use super::host::{Ended, GpuInterface, GpuOptions, Host, MAX_ROUNDS, RunError, SubmitError};
use crate::canonical::Canonical;
use crate::device::Device;
use crate::effort::{self, Counted, EarlyEnd};
use crate::limits::{NowAndThen, end_if_stopped};
use crate::time::{Duration, Instant};
use crate::trace::{Observer, Recorder, Trace};
use crate::workload::{
    BlockTime, Catalogue, Clusters, Copy, CopyId, EventId, Kernel, KernelId, OperationId, OperationKind, Origin,
    ProcessId, ProcessSharing, ProcessSpec, Programmatic, StreamId, StreamSpec, ValueId,
};

/// Rounds after which a run looks whether it may go on: some microseconds.
const ROUNDS_BETWEEN_LOOKS: u64 = 256;
/// Operations after which it does so, however few the rounds.
const OPERATIONS_BETWEEN_LOOKS: usize = 4_096;

/// The simulated GPU: a frontend with streams, a backend with SMs, and an observer of what happens. A [`Host`]
/// makes streams, kernels and copies known and submits operations; [`Gpu::run`] lets time pass.
#[derive(Debug, Clone)]
pub struct Gpu<B = ContextBackend, O = Recorder> {
    options: GpuOptions,
    now: Instant,
    calendar: Calendar,
    counters: Counters,
    catalogue: GpuCatalogue,
    frontend: Frontend,
    backend: B,
    observer: O,
    counted: SoFar,
    /// How much time has passed beside `now`.
    skipped: Duration,
}

impl Gpu {
    /// An idle GPU at t = 0 whose only stream is the NULL stream, and which records a trace.
    pub fn new(device: &Device, options: GpuOptions) -> Self {
        let mut recorder = Recorder::new(device.sms, options.placement, options.seed);
        recorder.keeps_details = options.keeps_details;
        Self::observed_by(recorder, device, options)
    }
}

impl<O> Gpu<ContextBackend, O> {
    /// A state of which no more is written than which block time is drawn next: where times vary, none is like another.
    pub fn begin_state(&self) -> Canonical {
        let mut state = Canonical::new(self.now, self.frontend.submitted() as u64, self.calendar.begun());
        self.backend.write_drawn(&mut state);
        state
    }

    /// Operations from the first that has not completed on, all of which a state has.
    pub fn open(&self) -> usize {
        self.frontend.submitted() - self.frontend.completed_in_a_row()
    }

    /// How many cycles of so long still end by the horizon, or by the middle of all time where there is none.
    pub fn cycles_left(&self, period: Duration) -> u64 {
        let end = self.options.horizon.min(Instant::from_ns(u64::MAX / 2));
        let left = end.since(self.now.saturating_add(self.skipped));
        left.as_ns() / period.as_ns().max(1)
    }

    /// So much time has passed beside that of the run, of which it will not know: as much less is left.
    pub fn skip(&mut self, time: Duration) {
        self.skipped = self.skipped.saturating_add(time);
    }

    /// Writes all of the state that makes a difference to what comes, after all events of an instant.
    pub fn write_state(&self, to: &mut Canonical) {
        // The host adds nothing to the catalogue once the run has begun, options stay, and observers and whoever counts
        // work change nothing. What time it is, and what ends all runs, is what states are seen from.
        let Self { options: _, now: _, calendar, counters, frontend, backend, .. } = self;
        if !counters.are_untouched() {
            to.is_like_no_other();
        }
        frontend.write_state(to);
        backend.write_state(self.now, calendar, to);
    }
}

impl<B> Gpu<B, Recorder> {
    /// The record of the run.
    pub fn into_trace(self) -> Trace {
        self.observer.into_trace(self.catalogue.into_items())
    }
}

impl<O: Observer> Gpu<ContextBackend, O> {
    /// An idle GPU as [`Gpu::new`] makes it, of which `observer` learns what happens.
    pub fn observed_by(observer: O, device: &Device, options: GpuOptions) -> Self {
        Self::with_backend(ContextBackend::new(device, options), observer, device, options)
    }
}

impl<B: Backend, O: Observer> Gpu<B, O> {
    /// As [`Gpu::observed_by`], with another backend.
    pub fn with_backend(backend: B, observer: O, device: &Device, options: GpuOptions) -> Self {
        Self {
            options,
            now: Instant::ZERO,
            calendar: Calendar::new(),
            counters: Counters::default(),
            catalogue: GpuCatalogue::new(device, options.placement),
            frontend: Frontend::new(device, options.seed),
            backend,
            observer,
            counted: SoFar::default(),
            skipped: Duration::ZERO,
        }
    }

    /// Back to an idle GPU at t = 0. Streams stay; kernels, copies and what was observed are forgotten, and their
    /// memory is used again. For campaigns of many short runs, in which making a GPU would cost more than running it.
    pub fn reset(&mut self) {
        self.rewind();
        self.catalogue.forget_work();
    }

    /// As [`Gpu::reset`], but kernels and copies stay too.
    pub fn rewind(&mut self) {
        self.now = Instant::ZERO;
        self.calendar.clear();
        self.counters.clear();
        self.frontend.clear();
        self.backend.clear();
        self.observer.clear();
        self.counted = SoFar::default();
        self.skipped = Duration::ZERO;
    }

    /// Changes how long blocks of a kernel run. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if best is above worst.
    pub fn set_block_time(&mut self, kernel: KernelId, time: BlockTime) -> Result<(), SubmitError> {
        self.catalogue.set_block_time(kernel, time)
    }

    /// Says what a kernel has to do with programmatic dependent launch. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if the device has no such launch.
    pub(crate) fn set_programmatic(&mut self, kernel: KernelId, programmatic: Programmatic) -> Result<(), SubmitError> {
        self.catalogue.set_programmatic(kernel, programmatic)
    }

    /// Groups the blocks of a kernel into clusters, or no longer. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`SubmitError::Workload`] if the device has no such clusters, or the grid cannot be divided into them.
    pub(crate) fn set_clusters(&mut self, kernel: KernelId, clusters: Option<Clusters>) -> Result<(), SubmitError> {
        self.catalogue.set_clusters(kernel, clusters)
    }

    /// What time it is, and whom it told what happened until then.
    pub fn observed(&mut self) -> (Instant, &mut O) {
        (self.now, &mut self.observer)
    }

    /// Whom it told what happened.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// What is behind the stream queues, and whom it told what happened.
    pub fn into_back_and_observer(self) -> (B, O) {
        (self.backend, self.observer)
    }

    /// Runs `host` in front of this GPU, which must be idle at t = 0, until nothing is left to happen or the horizon
    /// is passed. [`Gpu::reset`] makes room for another run.
    ///
    /// # Errors
    /// The host's own, or [`RunError`]; the state is of no use then, except to [`Gpu::reset`].
    pub fn run<H: Host>(&mut self, host: &mut H) -> Result<Ended, H::Error> {
        loop {
            if let Some(ended) = self.run_until(host, |_, _| false)? {
                return Ok(ended);
            }
        }
    }

    /// As [`Gpu::run`], but comes back with `None` after an instant of which all is told and `is_enough` says so of
    /// what was observed and of the host. Called again, it goes on.
    ///
    /// # Errors
    ///
    /// As of [`Gpu::run`].
    pub fn run_until<H: Host>(
        &mut self,
        host: &mut H,
        mut is_enough: impl FnMut(&O, &H) -> bool,
    ) -> Result<Option<Ended>, H::Error> {
        end_if_stopped();
        if !self.counted.has_begun {
            self.counted.has_begun = true;
            host.start(self)?;
        }
        let mut rounds = 0;
        let mut ended = Ended::Done;
        let mut now_and_then = NowAndThen::default();
        while let Some(at) = self.calendar.next() {
            if at > self.now && is_enough(&self.observer, host) {
                return Ok(None);
            }
            if at > self.horizon() {
                ended = Ended::Horizon;
                break;
            }
            if at.saturating_add(self.skipped) == Instant::MAX {
                return Err(RunError::EndOfTime.into());
            }
            self.counted.rounds += 1;
            if self.counted.rounds.is_multiple_of(ROUNDS_BETWEEN_LOOKS)
                && let Err(over) = self.count_work()
            {
                if over == EarlyEnd::Stopped && self.options.may_be_cut && at > self.now {
                    // As at a horizon just before what comes next.
                    self.now = Instant::from_ns(at.as_ns() - 1);
                    ended = Ended::Cut;
                    break;
                }
                if over != EarlyEnd::Stopped || !self.options.may_be_cut {
                    return Err(RunError::from(SubmitError::from(over)).into());
                }
            }
            rounds = if at == self.now { rounds + 1 } else { 0 };
            if rounds > MAX_ROUNDS {
                return Err(RunError::NoProgress { at }.into());
            }
            self.now = at;
            now_and_then.end_if_stopped();
            self.one_round(host)?;
        }
        if ended == Ended::Horizon {
            self.now = self.horizon();
        }
        if ended != Ended::Cut {
            // Small runs are counted once.
            self.count_work_unstopped().map_err(RunError::from)?;
        }
        let end = self.now;
        let (frontend, backend, mut context) = self.parts();
        // What still waits does so for good, whenever the run ends.
        (context.now, context.horizon) = (Instant::MAX, end);
        backend.close(&mut context).map_err(RunError::from)?;
        frontend.close(&mut context);
        context.observer.counters(context.counters.values());
        context.observer.ended(end);
        Ok(Some(ended))
    }

    /// Where the run ends, in time of its own.
    fn horizon(&self) -> Instant {
        match self.options.horizon {
            Instant::MAX => Instant::MAX,
            horizon => Instant::from_ns(horizon.since(Instant::ZERO + self.skipped).as_ns()),
        }
    }

    /// Tells of the work since the last time.
    fn count_work(&mut self) -> Result<(), EarlyEnd> {
        let (operations, rounds) = (self.frontend.submitted() as u64, self.counted.rounds);
        let (told_operations, told_rounds) = self.counted.told;
        self.counted.told = (operations, rounds);
        self.counted.next_look = self.frontend.submitted() + OPERATIONS_BETWEEN_LOOKS;
        effort::spend(Counted::Operations, operations - told_operations)?;
        effort::spend(Counted::Blocks, rounds - told_rounds)
    }

    /// The same of a run that is done, which it is too late to stop.
    fn count_work_unstopped(&mut self) -> Result<(), SubmitError> {
        match self.count_work() {
            Err(over) if over != EarlyEnd::Stopped => Err(over.into()),
            _ => Ok(()),
        }
    }

    /// Steps 1 to 3 at the present instant.
    fn one_round<H: Host>(&mut self, host: &mut H) -> Result<(), H::Error> {
        let (frontend, backend, mut context) = self.parts();
        frontend.latencies_over(backend, &mut context);
        for (released, at) in frontend.released.drain(..) {
            backend.release(released, at, &mut context)?;
        }
        while let Some(event) = context.calendar.pop_completion(context.now) {
            if let Some(operation) = backend.complete(event, &mut context) {
                frontend.complete(operation, backend, &mut context);
                for (released, at) in frontend.released.drain(..) {
                    backend.release(released, at, &mut context)?;
                }
            }
        }
        while let Some((operation, at)) = backend.next_trigger() {
            frontend.triggers(operation, at, &mut context);
        }
        frontend.look_at_counters(backend, &mut context);
        frontend.enter_ready(backend, &mut context);
        if !self.frontend.events.is_empty() {
            self.notify_host(host);
        }
        while let Some(token) = self.calendar.pop_wake(self.now) {
            host.on_wake(token);
        }
        let mut something_changed = true;
        loop {
            let before = (self.frontend.submitted(), self.counters.changes());
            let mut seen = self.counters.changes();
            host.act(self)?;
            // Who waits for what others write goes on before blocks are assigned.
            while std::mem::replace(&mut seen, self.counters.changes()) != self.counters.changes() {
                let (frontend, backend, mut context) = self.parts();
                frontend.look_at_counters(backend, &mut context);
                if !self.frontend.events.is_empty() {
                    self.notify_host(host);
                }
                host.act(self)?;
            }
            let has_submitted = (self.frontend.submitted(), self.counters.changes()) != before;
            let (frontend, backend, mut context) = self.parts();
            if something_changed || has_submitted {
                frontend.look_at_counters(backend, &mut context);
                frontend.enter_ready(backend, &mut context);
                while let Some(operation) = backend.dispatch(&mut context)? {
                    // A channel that becomes free may go to a stream of higher priority, so the backend looks again.
                    frontend.fully_dispatched(operation, backend, &mut context);
                    frontend.enter_ready(backend, &mut context);
                    while let Some((operation, at)) = backend.next_trigger() {
                        frontend.triggers(operation, at, &mut context);
                    }
                }
                something_changed = false;
            }
            if !self.frontend.events.is_empty() {
                self.notify_host(host);
            } else if !has_submitted {
                let (_, backend, mut context) = self.parts();
                return Ok(backend.finish_instant(&mut context)?);
            }
        }
    }

    /// Hands the GPU's events to the host.
    fn notify_host(&mut self, host: &mut impl Host) {
        let mut events = std::mem::take(&mut self.frontend.events);
        for event in events.drain(..) {
            host.on_event(event, self);
        }
        self.frontend.events = events;
    }

    /// The frontend, the backend and what they work with.
    fn parts(&mut self) -> (&mut Frontend, &mut B, BackendContext<'_, O>) {
        let context = BackendContext {
            now: self.now,
            horizon: self.horizon(),
            catalogue: &self.catalogue,
            calendar: &mut self.calendar,
            counters: &mut self.counters,
            observer: &mut self.observer,
        };
        (&mut self.frontend, &mut self.backend, context)
    }
}

impl<B: Backend, O: Observer> GpuInterface for Gpu<B, O> {
    fn device(&self) -> &Device {
        self.catalogue.device()
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn register_work(&mut self, work: &Catalogue) -> Result<(), SubmitError> {
        if self.catalogue.share(work) {
            self.frontend.reserve(work.streams().len());
            for (id, _) in (0..).map(StreamId).zip(work.streams()).skip(1) {
                if work.is_null_stream(id) {
                    self.frontend.add_process(work.device(), self.options.seed);
                } else {
                    self.frontend.add_stream(id, work, self.options.seed);
                }
            }
            self.backend.set_processes(&self.catalogue);
            return Ok(());
        }
        if work.processes().len() > 1 {
            return Err(SubmitError::SeveralProcesses);
        }
        for stream in work.streams().iter().skip(1) {
            self.add_stream(StreamSpec::clone(stream))?;
        }
        for (id, event) in (0..).map(EventId).zip(work.events()) {
            let added = self.add_event(Arc::clone(event))?;
            if work.is_programmatic_event(id) {
                self.catalogue.set_programmatic_event(added)?;
            }
        }
        self.catalogue.add_counters(work)?;
        for kernel in work.kernels().iter() {
            let id = self.add_kernel(kernel.into())?;
            self.catalogue.set_synchronization(id, kernel.synchronization())?;
            self.set_programmatic(id, kernel.programmatic())?;
            self.set_clusters(id, kernel.clusters())?;
        }
        for copy in work.copies() {
            self.add_copy(**copy)?;
        }
        Ok(())
    }

    fn set_block_times(&mut self, kernel: KernelId, times: Arc<[Duration]>) {
        self.catalogue.set_block_times(kernel, times);
    }

    fn set_ready_order(&mut self, choices: Arc<[u32]>) {
        self.frontend.set_ready_order(choices);
    }

    fn set_sharing(&mut self, sharing: ProcessSharing) -> Result<(), SubmitError> {
        self.catalogue.set_sharing(sharing)?;
        self.backend.set_processes(&self.catalogue);
        Ok(())
    }

    fn add_process(&mut self, spec: ProcessSpec) -> Result<ProcessId, SubmitError> {
        let id = self.catalogue.add_process(spec)?;
        self.frontend.add_process(self.catalogue.device(), self.options.seed);
        self.backend.set_processes(&self.catalogue);
        Ok(id)
    }

    fn null_stream(&self, process: ProcessId) -> Option<StreamId> {
        self.catalogue.null_stream(process)
    }

    fn set_runnable(&mut self, process: ProcessId, runnable: bool) {
        self.backend.set_runnable(process, runnable);
    }

    fn add_stream(&mut self, spec: StreamSpec) -> Result<StreamId, SubmitError> {
        let id = self.catalogue.add_stream(spec)?;
        self.frontend.add_stream(id, self.catalogue.catalogue(), self.options.seed);
        Ok(id)
    }

    fn add_kernel(&mut self, kernel: Kernel) -> Result<KernelId, SubmitError> {
        self.catalogue.add_kernel(kernel)
    }

    fn add_copy(&mut self, copy: Copy) -> Result<CopyId, SubmitError> {
        self.catalogue.add_copy(copy)
    }

    fn add_event(&mut self, name: Arc<str>) -> Result<EventId, SubmitError> {
        self.catalogue.add_event(name)
    }

    fn reserve(&mut self, launches: usize) {
        self.observer.reserve(launches);
    }

    fn submit(&mut self, stream: StreamId, kind: OperationKind, origin: Origin) -> Result<OperationId, SubmitError> {
        let most = self.options.max_operations;
        if self.frontend.submitted() >= most as usize {
            return Err(SubmitError::TooManyOperations { most });
        }
        if self.frontend.submitted() >= self.counted.next_look
            && let Err(over) = self.count_work()
            && (over != EarlyEnd::Stopped || !self.options.may_be_cut)
        {
            return Err(over.into());
        }
        if let OperationKind::Kernel(kernel) = kind {
            self.catalogue.catalogue().check_launch(kernel, stream)?;
        }
        let (frontend, backend, mut context) = self.parts();
        frontend.submit(stream, kind, origin, backend, &mut context)
    }

    fn wake_at(&mut self, at: Instant, token: u64) {
        self.calendar.wake_at(at.max(self.now), token);
    }

    fn has_reached(&self, value: ValueId) -> bool {
        self.catalogue.catalogue().values().get(value.index()).is_some_and(|wanted| self.counters.has_reached(*wanted))
    }

    fn write_value(&mut self, value: ValueId) {
        if let Some(written) = self.catalogue.catalogue().values().get(value.index()) {
            self.counters.write(*written);
        }
    }

    fn is_complete(&self, operation: OperationId) -> bool {
        self.frontend.is_complete(operation)
    }

    fn last_in(&self, stream: StreamId) -> Option<OperationId> {
        self.frontend.last_in(stream)
    }

    fn last_record(&self, event: EventId) -> Option<OperationId> {
        self.frontend.last_record(event)
    }

    fn submitted(&self) -> usize {
        self.frontend.submitted()
    }

    fn completed_in_a_row(&self) -> usize {
        self.frontend.completed_in_a_row()
    }
}

/// How much work of a run was counted.
#[derive(Debug, Clone, Copy, Default)]
struct SoFar {
    /// Whether the host was told that the run begins.
    has_begun: bool,
    /// Rounds since the run began.
    rounds: u64,
    /// Operations and rounds that were told of.
    told: (u64, u64),
    /// With so many operations it is looked again.
    next_look: usize,
}

/// What came of a host in front of a GPU that records a trace.
#[derive(Debug)]
pub struct Simulated<H> {
    /// What happened.
    pub trace: Trace,
    /// How it ended.
    pub ended: Ended,
    /// The host, as it is then.
    pub host: H,
}

impl<H: Host> Simulated<H> {
    /// Runs `host` in front of a GPU until nothing is left to happen or the horizon is passed. The GPU is idle at
    /// t = 0, and its only stream is the NULL stream.
    ///
    /// # Errors
    /// The host's own, or [`RunError`]; what was simulated until then is lost.
    pub fn of(device: &Device, options: GpuOptions, host: H) -> Result<Self, H::Error> {
        Self::on(Gpu::new(device, options), host)
    }

    /// The same on a GPU that may know work already.
    #[doc(hidden)]
    pub fn on(mut gpu: Gpu, mut host: H) -> Result<Self, H::Error> {
        let ended = gpu.run(&mut host)?;
        Ok(Self { trace: gpu.into_trace(), ended, host })
    }
}
