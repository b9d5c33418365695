//! How time passes: the order of what happens at one instant.
//!
//! Every event of an instant t is applied before any block is assigned at t:
//!
//! 1. completions, one by one, in the order in which those blocks and copies had been assigned; after each, whatever
//!    it sets free goes on to its EE or CE queue;
//! 2. the host acts: it learns of the completions, then of the wake-ups it asked for, then submits until it waits;
//!    after each submission, whatever became ready goes on to its queue;
//! 3. idle copy engines take copies, then blocks are assigned, highest priority first;
//! 4. if the host answers to that, or anything of zero length completes at t, again.

use thiserror::Error;

use super::calendar::{Event, Phase};
use super::engine::{Gpu, SubmitError};
use crate::time::Instant;
use crate::trace::{Rule, Trace, TraceFull};
use crate::workload::OperationId;

/// What the GPU tells its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuEvent {
    /// An operation has completed and left its stream queue (G4, C4).
    Completed(OperationId),
    /// All blocks of a kernel are assigned (G3).
    FullyDispatched(OperationId),
    /// Blocks of a kernel have completed on one SM; only with
    /// [`GpuOptions::report_blocks`](super::GpuOptions::report_blocks).
    BlocksCompleted {
        /// The kernel launch.
        operation: OperationId,
        /// Where.
        sm: u16,
        /// How many.
        blocks: u16,
    },
}

/// Whoever decides when work is submitted: the examiner's threads, a scheduler, a run-time framework.
///
/// At each instant at which something happens the simulation calls [`Host::on_event`] for everything that happened,
/// [`Host::on_wake`] for the wake-ups that were asked for with [`Gpu::wake_at`], and then [`Host::act`], which may
/// submit operations.
pub trait Host {
    /// Called once at t = 0: create streams, ask to be woken.
    ///
    /// # Errors
    /// Whatever the GPU refuses.
    fn start(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError>;

    /// Something happened on the GPU.
    fn on_event(&mut self, event: GpuEvent, gpu: &Gpu);

    /// The instant has come for which [`Gpu::wake_at`] was called with this token. Tokens of one instant come in
    /// ascending order.
    fn on_wake(&mut self, token: u64);

    /// Act at the present instant until there is nothing left to do.
    ///
    /// # Errors
    /// Whatever the GPU refuses.
    fn act(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError>;
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to happen.
    Done,
    /// The horizon came first.
    Horizon,
}

/// Why a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The GPU refused what the host submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// An operation would end after the end of representable time.
    #[error("operation {} would end after 2^64 ns", operation.0)]
    TimeOverflow {
        /// The operation.
        operation: OperationId,
    },
    /// The run goes on until 2^64 ns, the end of representable time, which stands for "never".
    #[error("the run goes on until 2^64 ns, the end of representable time")]
    EndOfTime,
    /// More steps at one instant than a scenario that makes progress can have.
    #[error("more than {MAX_ROUNDS} rounds of zero-length operations at {at}: time does not go on")]
    NoProgress {
        /// The instant.
        at: Instant,
    },
    /// Nothing is left to happen, and a host thread still waits: threads that cross two barriers in opposite order.
    #[error("host thread {thread} (counted from 0) waits forever at a barrier that the others never reach")]
    WaitsForever {
        /// Index of the thread.
        thread: u32,
    },
    /// The record has no room left.
    #[error(transparent)]
    TraceFull(#[from] TraceFull),
}

/// Rounds at one instant after which a run is given up.
const MAX_ROUNDS: u64 = 100_000_000;

/// A GPU with a host in front of it.
#[derive(Debug)]
pub struct Simulation<H> {
    gpu: Gpu,
    host: H,
}

impl<H: Host> Simulation<H> {
    /// Puts `host` in front of `gpu`.
    #[must_use]
    pub fn new(gpu: Gpu, host: H) -> Self {
        Self { gpu, host }
    }

    /// Runs until nothing is left to happen or the horizon is passed.
    ///
    /// # Errors
    /// [`RunError`]; what was simulated until then is lost.
    pub fn run(mut self) -> Result<(Trace, Ended, H), RunError> {
        let ended = self.gpu.run(&mut self.host)?;
        Ok((self.gpu.into_trace(), ended, self.host))
    }
}

impl Gpu {
    /// Runs `host` in front of this GPU, which must be idle at t = 0, until nothing is left to happen or the horizon
    /// is passed. What happened is in [`Gpu::trace`]; [`Gpu::reset`] makes room for another run.
    ///
    /// # Errors
    /// [`RunError`]; the state is of no use then, except to [`Gpu::reset`].
    pub fn run(&mut self, host: &mut impl Host) -> Result<Ended, RunError> {
        host.start(self)?;
        let mut rounds = 0;
        let mut ended = Ended::Done;
        while let Some((at, _)) = self.calendar.next() {
            if at > self.options.horizon {
                ended = Ended::Horizon;
                break;
            }
            if at == Instant::MAX {
                return Err(RunError::EndOfTime);
            }
            rounds = if at == self.now { rounds + 1 } else { 0 };
            if rounds > MAX_ROUNDS {
                return Err(RunError::NoProgress { at });
            }
            self.now = at;
            self.one_round(host)?;
        }
        let end = if ended == Ended::Horizon { self.options.horizon } else { self.now };
        self.close(end);
        Ok(ended)
    }

    /// Steps 1 to 3 at the present instant.
    fn one_round(&mut self, host: &mut impl Host) -> Result<(), RunError> {
        let at = self.now;
        while let Some(event) = self.calendar.pop_at(at, Phase::Completion) {
            self.complete(event);
        }
        self.tell(host);
        while let Some(event) = self.calendar.pop_at(at, Phase::Host) {
            if let Event::Wake(token) = event {
                host.on_wake(token);
            }
        }
        loop {
            let submitted = self.submitted();
            host.act(self)?;
            self.dispatch()?;
            let told = self.tell(host);
            if !told && self.submitted() == submitted {
                return Ok(());
            }
        }
    }

    /// Ends the record: what still waits has waited until `end`.
    fn close(&mut self, end: Instant) {
        let open_heads: Vec<_> = self.ee_queues.iter_mut().filter_map(|queue| queue.blocked.take()).collect();
        for (head, rule, since) in open_heads {
            self.trace.note_wait(head, rule, since, end);
        }
        while let Some((operation, since)) = self.channel_queue.pop_front() {
            self.trace.note_wait(operation, Rule::Channel, since, end);
        }
        self.trace.index(end);
    }

    /// Hands the GPU's events to the host. Says whether there were any.
    fn tell(&mut self, host: &mut impl Host) -> bool {
        let mut events = std::mem::take(&mut self.events);
        let any = !events.is_empty();
        for event in events.drain(..) {
            host.on_event(event, self);
        }
        self.events = events;
        any
    }
}
