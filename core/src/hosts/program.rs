//! The host threads of a scenario, such as the examiner's.

mod cores;
pub(super) mod long_run;
pub(super) mod simulate;
mod state;
mod triggers;
mod waits;

use std::collections::{BTreeMap, BTreeSet};

use crate::effort::Progress;
use crate::gpu::{Ended, GpuEvent, GpuInterface, Host, SubmitError};
use crate::limits::NowAndThen;
use crate::proven::Proven;
use crate::run::IterationSpan;
use crate::scenario::{BarrierId, HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::trace::NEVER;
use crate::workload::{OperationId, OperationKind, Origin, StreamId, ValueId};

use cores::Cores;
use triggers::{Next, Triggers};
use waits::{Barrier, DeviceWaits, Frees, Releases, Waiting};

pub use simulate::{LaunchOrder, ProgramError, SimulateOptions, simulate, simulate_with};
pub use simulate::{run_on, simulate_in_brief, simulate_placed};

/// Runs the threads of a scenario.
///
/// At one instant they run in declaration order, each until it has to wait (a wait that is already satisfied is no
/// wait); when the last thread reaches a barrier all go on, in declaration order; threads that have ended no longer
/// count. A [`LaunchOrder`] says otherwise where it is known in which order they launched. Of threads that share a core
/// only the most urgent one that wants it goes on.
#[derive(Debug)]
pub struct ProgramHost<'a> {
    threads: Vec<Thread<'a>>,
    releases: Releases,
    /// Threads that can go on at the present instant, in no order.
    ready: Vec<usize>,
    /// Room for those whose turn it is.
    turn: Vec<usize>,
    /// For each operation that threads wait for, the last of them; each knows the one before it.
    waiting_for: Waiting,
    /// Threads that wait for the device, with the number of operations submitted before each one's call, which
    /// ascends.
    waiting_for_device: DeviceWaits,
    /// Threads that wait for a value of a counter.
    awaiting_values: Vec<(ValueId, usize)>,
    frees: Frees,
    barriers: BTreeMap<BarrierId, Barrier>,
    cores: Cores,
    triggers: Triggers,
    spans: Vec<IterationSpan>,
    /// Steps since time went on or something was submitted.
    idle_steps: u32,
    /// The instant of these.
    idle_since: Instant,
    /// Steps since something was submitted or completed.
    quiet_steps: u32,
    /// In which order threads launch at one instant; `None`: in declaration order.
    order: Option<LaunchOrder>,
    /// How much time has passed beside that of the GPU, in which all came again.
    skipped: Duration,
    /// Counts the operations that have completed.
    progress: Progress<'a>,
    now_and_then: NowAndThen,
    /// Operations for which room is made beforehand at most.
    most_expected: usize,
    /// The scenario, if the GPU is to know its work as the run begins.
    unknown: Option<&'a Scenario>,
}

/// Steps at one instant without a submission after which a run is given up.
const MAX_IDLE_STEPS: u32 = 10_000_000;

/// Steps at any instants, while nothing is submitted and nothing completes, after which a run is given up: a second or
/// so.
const MAX_QUIET_STEPS: u32 = 10_000_000;

/// Operations for which room is made beforehand, times SMs, at most: some 50 MB, of which nothing is taken before it is
/// needed.
const MAX_EXPECTED: usize = 1_000_000;

/// There may be hundreds of thousands: numbers of operations, spans and steps have 32 bits, which no more of them fill.
#[derive(Debug)]
struct Thread<'a> {
    program: &'a HostThread,
    /// The iteration that runs or comes next.
    iteration: u64,
    /// Iterations beside these, which came again.
    skipped: u64,
    /// Where it stands in its program.
    position: Position,
    last: Option<OperationId>,
    /// Kernels that it has launched.
    launches: u32,
    /// When the present iteration was released, if another thread did that.
    released: Option<Instant>,
    /// Index of the present iteration among the spans.
    span: u32,
    /// Who else waits for the same operation.
    also_waiting: Option<u32>,
    /// How often each `Repeat` step has gone back; empty if there is none.
    repeated: Box<[u64]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Position {
    /// Before an iteration, whose release may have to be waited for.
    BeforeIteration,
    /// Its release has come: the barrier, if there is one.
    Released,
    /// Through the barrier.
    Synchronized,
    /// At a step.
    At(u32),
    Ended,
}

/// Makes the streams, events, kernels and copies of a scenario known to a GPU that knows none yet.
///
/// # Errors
/// [`SubmitError`], for a scenario that did not come through a reader.
pub fn register_work(scenario: &Scenario, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
    gpu.register_work(&scenario.catalogue)?;
    gpu.set_ready_order(scenario.ready_order.clone());
    for (&kernel, times) in &scenario.block_times {
        gpu.set_block_times(kernel, times.clone());
    }
    Ok(())
}

/// A counter for each step, if one of them repeats others.
fn repeat_counters(program: &HostThread) -> Box<[u64]> {
    let repeats = program.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
    if repeats { vec![0; program.steps.len()].into() } else { Box::default() }
}

impl<'a> ProgramHost<'a> {
    /// A host that runs the threads of a scenario on a GPU that knows none of its work yet.
    pub fn of(scenario: &'a Scenario) -> Self {
        let mut host = Self { unknown: Some(scenario), ..Self::new(&scenario.threads) };
        host.waiting_for_device.know_gpus(scenario.device().gpus());
        host
    }

    /// A host that runs `threads`. Their streams, kernels and copies must be known to the GPU.
    pub(crate) fn new(threads: &'a [HostThread]) -> Self {
        let mut barriers: BTreeMap<BarrierId, Barrier> = BTreeMap::new();
        for thread in threads.iter().filter(|thread| thread.barriers().next().is_some()) {
            for barrier in thread.barriers().collect::<BTreeSet<_>>() {
                barriers.entry(barrier).or_default().members += 1;
            }
        }
        let waiting_for_device = DeviceWaits::new(threads);
        let (cores, frees, triggers) = (Cores::new(threads), Frees::new(threads), Triggers::new(threads));
        let threads = threads
            .iter()
            .map(|program| Thread {
                program,
                iteration: 0,
                skipped: 0,
                position: Position::BeforeIteration,
                last: None,
                launches: 0,
                released: None,
                span: 0,
                also_waiting: None,
                repeated: repeat_counters(program),
            })
            .collect();
        Self {
            threads,
            releases: Releases::default(),
            ready: Vec::new(),
            turn: Vec::new(),
            waiting_for: Waiting::default(),
            waiting_for_device,
            awaiting_values: Vec::new(),
            frees,
            barriers,
            cores,
            triggers,
            spans: Vec::new(),
            idle_steps: 0,
            idle_since: Instant::ZERO,
            quiet_steps: 0,
            order: None,
            skipped: Duration::ZERO,
            progress: Progress::NONE,
            now_and_then: NowAndThen::default(),
            most_expected: MAX_EXPECTED,
            unknown: None,
        }
    }

    /// A run that has nothing left to do is no result as long as a thread waits for something.
    fn refuse_endless_wait(&self, ended: Ended) -> Result<(), ProgramError> {
        let waits_forever = self.threads.iter().position(|thread| thread.position != Position::Ended);
        // What goes on after the run may come to the barrier then.
        let goes_on = |thread: &Thread<'_>| {
            thread.position == Position::Ended && thread.program.is_cut && thread.program.barriers().next().is_some()
        };
        match waits_forever.filter(|_| ended == Ended::Done && !self.threads.iter().any(goes_on)) {
            Some(thread) => Err(ProgramError::WaitsForever { thread: to_u32(thread) }),
            None => Ok(()),
        }
    }

    /// Takes out the iterations that have ended; those of one thread are in their order.
    fn take_ended_iterations(&mut self) -> Vec<IterationSpan> {
        let ended = self.spans.extract_if(.., |span| span.end != NEVER).collect();
        for (place, span) in (0..).zip(&self.spans) {
            self.threads[span.thread as usize].span = place;
        }
        ended
    }

    /// Learns that an operation of `gpu` has completed.
    fn completed(&mut self, operation: OperationId, gpu: &impl GpuInterface) {
        self.progress.advance(1);
        self.quiet_steps = 0;
        let mut waiting = self.waiting_for.remove(operation, gpu.completed_in_a_row());
        while let Some(thread) = waiting {
            self.ready.push(thread as usize);
            waiting = self.threads[thread as usize].also_waiting.take();
        }
        self.waiting_for_device.completed(gpu, &mut self.ready);
    }

    /// Runs all threads that can go on, until each of them waits or has ended.
    fn go_on(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        let mut turn = std::mem::take(&mut self.turn);
        loop {
            let come = self.awaiting_values.extract_if(.., |(value, _)| gpu.has_reached(*value));
            self.ready.extend(come.map(|(_, thread)| thread));
            self.triggers.release(gpu, &mut self.ready);
            if self.ready.is_empty() && !self.cores.has_due() {
                break;
            }
            // A thread made ready meanwhile waits for the next turn, so that all go on in declaration order.
            std::mem::swap(&mut turn, &mut self.ready);
            if self.cores.are_shared() {
                for &thread in &turn {
                    self.cores.arrive(thread, gpu.now());
                }
                self.cores.take_due(&mut turn);
            }
            if turn.len() > 1 {
                turn.sort_unstable();
                turn.dedup();
            }
            if self.order.is_some() && !self.cores.are_shared() {
                while let Some(next) = simulate::first(turn.iter().map(|&thread| self.rank(thread, gpu))) {
                    // If it could launch more, others may come before that.
                    if !self.run(turn[next], gpu)? {
                        turn.remove(next);
                    }
                }
            }
            for thread in turn.drain(..) {
                match self.cores.of(thread) {
                    Some(core) => self.run_on(core, gpu)?,
                    None => _ = self.run(thread, gpu)?,
                }
            }
        }
        self.turn = turn;
        Ok(())
    }

    /// Runs the threads of a core, the most urgent first, until one works on it, or spins, or none wants it.
    fn run_on(&mut self, core: usize, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        loop {
            let Self { cores, threads, .. } = self;
            let iteration = |thread: usize| to_u32(threads[thread].iteration);
            let Some(thread) = cores.next(core, iteration, gpu) else { return Ok(()) };
            self.run(thread, gpu)?;
            self.cores.has_acted(thread);
        }
    }

    /// Runs one thread until it waits or ends; where launches have an order, until it could launch a second kernel.
    /// Says whether that is so.
    fn run(&mut self, index: usize, gpu: &mut impl GpuInterface) -> Result<bool, ProgramError> {
        let launched_before = self.threads[index].launches;
        self.frees.goes_on(index, self.threads[index].program.process, gpu.now(), &mut self.ready);
        loop {
            self.count_step(gpu)?;
            let other_has_ended = self.other_has_ended(index);
            let thread = &mut self.threads[index];
            let program = thread.program;
            match thread.position {
                Position::Ended => return Ok(false),
                Position::BeforeIteration => {
                    let release = program.release_of(thread.iteration);
                    let begun = thread.iteration + thread.skipped;
                    let all_done = program.iterations.is_some_and(|most| begun >= most);
                    if all_done || other_has_ended || thread.time_is_over(release.max(gpu.now()), self.skipped) {
                        self.end(index);
                        return Ok(false);
                    }
                    if let Some(trigger) = program.triggered_by {
                        match self.triggers.next(index, trigger) {
                            Next::Released(at) => thread.released = Some(at),
                            Next::Later => return Ok(false),
                            Next::Never => {
                                self.end(index);
                                return Ok(false);
                            }
                        }
                    }
                    thread.position = Position::Released;
                    if release > gpu.now() && program.triggered_by.is_none() {
                        gpu.wake_at(release, index as u64);
                        return Ok(false);
                    }
                }
                Position::Released => {
                    thread.position = Position::Synchronized;
                    if program.barrier.is_some_and(|barrier| !self.arrive(index, barrier)) {
                        return Ok(false);
                    }
                }
                Position::Synchronized => {
                    thread.position = Position::At(0);
                    thread.span = to_u32(self.spans.len());
                    let is_stated = program.counts_from_release(thread.iteration);
                    let stated = is_stated.then(|| program.release_of(thread.iteration));
                    let (start, released) = (gpu.now(), thread.released.or(stated).unwrap_or(gpu.now()));
                    let (thread, iteration) = (to_u32(index), to_u32(thread.iteration));
                    self.spans.push(IterationSpan { thread, iteration, released, start, end: NEVER });
                    self.triggers.begins(index);
                }
                Position::At(step) => {
                    if program.is_at_end(step as usize) {
                        self.spans[thread.span as usize].end = gpu.now();
                        self.triggers.has_left(index);
                    }
                    let Some(&action) = program.steps.get(step as usize) else {
                        thread.iteration += 1;
                        thread.position = Position::BeforeIteration;
                        continue;
                    };
                    let call = (index, thread.iteration, step);
                    if action.is_cuda_call() && self.frees.hold(program.process, call, gpu.now()) {
                        self.spin_in(action, index);
                        return Ok(false);
                    }
                    let operation = action.submission().map(|_| OperationId(to_u32(gpu.submitted())));
                    self.frees.returned(index, operation, gpu.now());
                    let launches = matches!(action, Step::Launch(..));
                    if launches && self.order.is_some() && thread.launches > launched_before {
                        return Ok(true);
                    }
                    thread.launches += u32::from(launches);
                    thread.position = Position::At(step + 1);
                    if !self.perform(index, step, action, gpu)? {
                        self.spin_in(action, index);
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// A thread that waits in a step keeps its core, if it spins.
    fn spin_in(&mut self, step: Step, index: usize) {
        let spins = self.threads[index].program.core.is_some_and(|share| share.spins);
        if spins && step.is_cuda_call() {
            self.cores.spin(index);
        }
    }

    /// The place in the order of the next launch of a thread, if it can go on to it without waiting.
    fn rank(&self, index: usize, gpu: &impl GpuInterface) -> Option<i64> {
        let thread = &self.threads[index];
        let from = match thread.position {
            Position::At(step) => step as usize,
            Position::Synchronized => 0,
            Position::BeforeIteration | Position::Released if thread.program.barrier.is_none() => 0,
            _ => return None,
        };
        let mut submitted = false;
        for step in thread.program.steps.iter().skip(from) {
            let awaited = match *step {
                Step::Launch(..) => return self.order.as_ref()?.rank(index, thread.launches as usize),
                Step::Barrier(_) | Step::Repeat { .. } | Step::AwaitValue(_) => return None,
                Step::Sleep(duration) | Step::Work(duration) if duration > Duration::ZERO => return None,
                step if step.waits_for_device() => {
                    if !self.waiting_for_device.is_done(thread.program.process, gpu) {
                        return None;
                    }
                    None
                }
                Step::AwaitLast => thread.last,
                Step::SynchronizeStream(stream) => gpu.last_in(stream),
                Step::SynchronizeEvent(event) => gpu.last_record(event),
                step => {
                    submitted |= step.submission().is_some();
                    continue;
                }
            };
            if submitted || awaited.is_some_and(|operation| !gpu.is_complete(operation)) {
                return None;
            }
        }
        None
    }

    /// Refuses a thread that repeats itself without end at one instant.
    fn count_step(&mut self, gpu: &impl GpuInterface) -> Result<(), ProgramError> {
        self.now_and_then.end_if_stopped();
        self.idle_steps += 1;
        if self.idle_steps > MAX_IDLE_STEPS {
            return Err(ProgramError::HostStandsStill { at: gpu.now(), most: MAX_IDLE_STEPS });
        }
        self.quiet_steps += 1;
        if self.quiet_steps > MAX_QUIET_STEPS {
            return Err(ProgramError::HostSubmitsNothing { at: gpu.now(), most: MAX_QUIET_STEPS });
        }
        Ok(())
    }

    /// Performs one step. Says whether the thread can go on at once.
    fn perform(
        &mut self,
        index: usize,
        step: u32,
        action: Step,
        gpu: &mut impl GpuInterface,
    ) -> Result<bool, SubmitError> {
        let thread = &mut self.threads[index];
        match action {
            Step::AwaitLast => {
                let last = thread.last;
                return Ok(self.satisfied(index, last, gpu));
            }
            Step::SynchronizeEvent(event) => return Ok(self.satisfied(index, gpu.last_record(event), gpu)),
            Step::SynchronizeStream(stream) => return Ok(self.satisfied(index, gpu.last_in(stream), gpu)),
            Step::AwaitValue(value) if !gpu.has_reached(value) => {
                self.awaiting_values.push((value, index));
                return Ok(false);
            }
            Step::SetValue(value) => gpu.write_value(value),
            Step::SynchronizeDevice | Step::Free => {
                let process = thread.program.process;
                if !self.waiting_for_device.is_done(process, gpu) {
                    if action == Step::Free {
                        self.frees.begin(process, (index, thread.iteration, step), gpu.now());
                    }
                    self.waiting_for_device.wait(index, process, gpu);
                    return Ok(false);
                }
            }
            Step::Work(duration) if duration > Duration::ZERO && thread.program.core.is_some() => {
                self.cores.work(index, duration);
                return Ok(false);
            }
            Step::Sleep(duration) | Step::Work(duration) if duration > Duration::ZERO => {
                gpu.wake_at(gpu.now() + duration, index as u64);
                return Ok(false);
            }
            Step::Barrier(barrier) => return Ok(self.arrive(index, barrier)),
            Step::Repeat { from, times } => {
                let repeated = &mut thread.repeated[step as usize];
                *repeated += 1;
                if *repeated < times {
                    thread.position = Position::At(from.min(step));
                } else {
                    *repeated = 0;
                }
            }
            // Whatever submits something, and sleeping for no time.
            _ => {
                if let Some((kind, stream)) = action.submission() {
                    self.submit(index, stream, kind, gpu)?;
                }
            }
        }
        Ok(true)
    }

    /// G1: a thread submits an operation.
    fn submit(
        &mut self,
        index: usize,
        stream: StreamId,
        kind: OperationKind,
        gpu: &mut impl GpuInterface,
    ) -> Result<(), SubmitError> {
        let thread = &mut self.threads[index];
        let origin = Origin { thread: to_u32(index), iteration: to_u32(thread.iteration) };
        let operation = gpu.submit(stream, kind, origin)?;
        thread.last = Some(operation);
        self.triggers.submitted(index, operation);
        // A host of one GPU may submit to streams of others.
        let process = self.unknown.and_then(|scenario| scenario.catalogue.process_of(stream));
        self.waiting_for_device.submitted(process.unwrap_or(thread.program.process), operation);
        (self.idle_steps, self.quiet_steps) = (0, 0);
        Ok(())
    }

    /// Whether `operation` has completed; if not, the thread will be told.
    fn satisfied(&mut self, index: usize, operation: Option<OperationId>, gpu: &impl GpuInterface) -> bool {
        match operation.filter(|&operation| !gpu.is_complete(operation)) {
            Some(operation) => {
                self.threads[index].also_waiting = self.waiting_for.insert(operation, to_u32(index));
                false
            }
            None => true,
        }
    }
}

/// Reports count 2^32 threads and iterations at most, as many as there can be operations.
fn to_u32<N: TryInto<u32, Error: std::fmt::Debug>>(number: N) -> u32 {
    number.try_into().proven("threads and iterations have numbers of 32 bits")
}

impl Thread<'_> {
    /// Whether an iteration must not start at `start` any more, beside which so much time was skipped.
    fn time_is_over(&self, start: Instant, skipped: Duration) -> bool {
        let elapsed = start.since(Instant::ZERO + self.program.release).saturating_add(skipped);
        self.program.time_limit.is_some_and(|limit| elapsed >= limit)
    }
}

impl Host for ProgramHost<'_> {
    type Error = ProgramError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        if let Some(scenario) = self.unknown {
            register_work(scenario, gpu)?;
        }
        let expected = self.threads.iter().map(|thread| thread.program.submissions()).fold(0, u64::saturating_add);
        let most = self.most_expected.min(MAX_EXPECTED / gpu.device().sms.max(1) as usize);
        gpu.reserve(usize::try_from(expected).map_or(most, |expected| expected.min(most)));
        // Most threads begin at least one iteration.
        self.spans.reserve(self.threads.len());
        let timed = |thread: &HostThread| if thread.triggered_by.is_none() { thread.release } else { Duration::ZERO };
        let releases = self.threads.iter().zip(0..);
        let releases = releases.map(|(thread, index)| (Instant::ZERO + timed(thread.program), index));
        self.releases = Releases::begin(releases, gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        if let GpuEvent::Completed(operation) = event {
            self.completed(operation, gpu);
        }
    }

    fn on_wake(&mut self, token: u64) {
        match usize::try_from(token).ok().filter(|&thread| thread < self.threads.len()) {
            Some(thread) => self.ready.push(thread),
            None => self.cores.wake(token),
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        self.releases.come(&mut self.ready, gpu);
        if self.idle_since != gpu.now() {
            (self.idle_since, self.idle_steps) = (gpu.now(), 0);
        }
        self.go_on(gpu)
    }
}

#[cfg(test)]
mod tests;
