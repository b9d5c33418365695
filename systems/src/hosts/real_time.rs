//! Real-time tasks in front of the GPU (Zahaf and Lipari, RTNS 2020, section 5): running a task set under one of the
//! strategies.
//!
//! Schedulers act on two events, activation and completion. Activated jobs wait in a run-queue (the paper's rq) until
//! the strategy moves one to a stream; from there on the GPU's own rules decide.

mod gang;
pub(super) mod grid;
pub(super) mod jobs;
mod strategies;

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::device::{Device, DeviceError, SmOrder};
use crate::effort::Progress;
use crate::gpu::{Gpu, GpuEvent, GpuInterface, GpuOptions, Host, RunError, Simulated};
use crate::named::named;
use crate::spelling::option;
use crate::tasks::{TaskSet, TaskTime, hyperperiod};
use crate::time::{Duration, Instant};
use crate::trace::Trace;
use crate::workload::OperationId;
use gpusched_core::hosts::Timed;

use gang::Gang;
use grid::GridError;
use jobs::{Activations, JobId, Policy, TaskJob};
use strategies::{Dispatch, Scheduled, Stacks, StreamPerTask};

#[cfg(test)]
mod tests;

/// Jobs that a run may release at most, so that a long hyperperiod cannot fill the memory.
const MAX_JOBS: u128 = 20_000_000;

/// Jobs for which room is made beforehand, at most: some 200 MB.
const MAX_EXPECTED: usize = 1_000_000;

named! {
    /// How jobs get to the GPU.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Strategy: ALL, from_name {
        /// One job at a time, in one stream (RTNS 2020, section 5.1).
        SingleStream = "single-stream",
        /// A stream for each priority (RTNS 2020, section 5.2).
        MultiStream = "multi-stream",
        /// Each SM as a core with a queue of its own (RTNS 2020, section 5.3).
        SmAsCore = "sm-as-core",
        /// Gang scheduling in time-triggered reservations (RTNS 2020, section 6.3).
        Gang = "gang",
        /// A stream for each task, without any scheduler, for comparison.
        StreamPerTask = "stream-per-task",
    }
}

/// How to run a task set.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// How jobs get to the GPU.
    pub strategy: Strategy,
    /// Who goes first.
    pub policy: Policy,
    /// Jobs are released before this; `None`: one hyperperiod, and the largest offset before it.
    pub horizon: Option<TaskTime>,
    /// For sporadic releases.
    pub seed: u64,
    /// How late a scheduler learns that a job is done, at most \[ns\].
    pub synchronization: TaskTime,
    /// The GPU; its number of SMs and of priorities are replaced by the set's.
    pub device: Device,
}

/// What a run led to.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRun {
    /// What happened on the GPU.
    pub trace: Trace,
    /// All jobs, in the order of release.
    pub jobs: Vec<TaskJob>,
    /// The job of each operation of the trace.
    pub launches: Vec<JobId>,
    /// Jobs were released before this.
    pub horizon: TaskTime,
}

/// Why a task set cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TaskRunError {
    /// No horizon, and no hyperperiod that could be one.
    #[error("the hyperperiod does not fit 62 bits; state a horizon ({})", option("horizon"))]
    HyperperiodOverflow,
    /// Too many jobs.
    #[error(
        "{jobs} jobs would be released before {horizon}, more than {MAX_JOBS}; state a shorter horizon ({})",
        option("horizon")
    )]
    TooManyJobs {
        /// How many.
        jobs: u128,
        /// Before when.
        horizon: TaskTime,
    },
    /// Gang scheduling without reservations.
    #[error("the gang strategy needs the set's \"reservation\"")]
    NoReservations,
    /// A GPU that cannot be as the set asks.
    #[error("the GPU of this set: {0}")]
    Device(#[from] DeviceError),
    /// A task that cannot be launched.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The simulation cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl TaskSet {
    /// `device` with as many SMs and stream priorities as this set says, each SM a TPC of its own, as masks of single
    /// SMs need.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no such GPU.
    pub fn device(&self, device: &Device) -> Result<Device, DeviceError> {
        device.with(|spec| {
            spec.sms = self.sms;
            spec.sms_per_tpc = 1;
            spec.priority_levels = self.priority_levels;
            if matches!(spec.sm_order, SmOrder::Explicit(_)) {
                spec.sm_order = SmOrder::Ascending;
            }
        })
    }
}

impl RunOptions {
    /// Before when jobs are released.
    ///
    /// # Errors
    /// [`TaskRunError::HyperperiodOverflow`] if none is stated, and there is no hyperperiod.
    pub fn horizon_of(&self, set: &TaskSet) -> Result<TaskTime, TaskRunError> {
        self.horizon.or_else(|| default_horizon(set, self.strategy)).ok_or(TaskRunError::HyperperiodOverflow)
    }
}

/// Releases the set's jobs before the horizon, and runs until all are done. The time that it has come to is in
/// `reached`; it goes to [`RunOptions::horizon_of`], and beyond if jobs are late.
///
/// # Errors
/// [`TaskRunError`].
pub fn run_tasks(set: &TaskSet, options: &RunOptions, reached: Progress<'_>) -> Result<TaskRun, TaskRunError> {
    let horizon = options.horizon_of(set)?;
    let jobs =
        set.tasks.iter().map(|task| u128::from(horizon.saturating_sub(task.offset).div_ceil(task.timing.period)));
    let jobs = jobs.sum();
    if jobs > MAX_JOBS {
        return Err(TaskRunError::TooManyJobs { jobs, horizon });
    }
    let expected = usize::try_from(jobs).map_or(MAX_EXPECTED, |jobs| jobs.min(MAX_EXPECTED));
    let activations = Activations::new(&set.tasks, options.policy, horizon, options.seed, expected);
    let mut gpu = Gpu::new(&set.device(&options.device)?, GpuOptions::default());
    gpu.reserve(expected);
    let (tasks, watched) = (&set.tasks, (options, reached));
    let (trace, activations) = match options.strategy {
        Strategy::SingleStream => simulated(Stacks::single_stream(tasks, &mut gpu)?, activations, gpu, watched)?,
        Strategy::MultiStream => simulated(Stacks::multi_stream(tasks, &mut gpu)?, activations, gpu, watched)?,
        Strategy::SmAsCore => simulated(Stacks::sms_as_cores(tasks, &mut gpu)?, activations, gpu, watched)?,
        Strategy::Gang => {
            let reservations = set.reservations.ok_or(TaskRunError::NoReservations)?;
            simulated(Gang::new(tasks, reservations, &mut gpu)?, activations, gpu, watched)?
        }
        Strategy::StreamPerTask => simulated(StreamPerTask::new(tasks, &mut gpu)?, activations, gpu, watched)?,
    };
    let (jobs, launches) = activations.into_records();
    Ok(TaskRun { trace, jobs, launches, horizon })
}

/// Runs a strategy to the end.
fn simulated(
    strategy: impl Dispatch,
    activations: Activations,
    gpu: Gpu,
    (options, reached): (&RunOptions, Progress<'_>),
) -> Result<(Trace, Activations), RunError> {
    let host = Scheduled { activations, strategy };
    let host = Timed { host: Synchronized::new(host, options.synchronization, options.seed), reached };
    let Simulated { trace, host: Timed { host, .. }, .. } = Simulated::on(gpu, host)?;
    Ok((trace, host.into_inner().activations))
}

/// One hyperperiod of the tasks (and of the reservations, where they count) after the largest offset.
fn default_horizon(set: &TaskSet, strategy: Strategy) -> Option<TaskTime> {
    let reservation = set.reservations.filter(|_| strategy == Strategy::Gang).map(|both| both.single.period);
    let cycle = hyperperiod(set.tasks.iter().map(|task| task.timing.period).chain(reservation))?;
    cycle.checked_add(set.tasks.iter().map(|task| task.offset).max().unwrap_or(TaskTime::ZERO))
}

/// The wake-up of this host; those that it wraps count theirs from 0.
const TOKEN: u64 = u64::MAX;

/// A scheduler that is told of a completion only when `cudaStreamSynchronize` returns, up to a given time after it
/// (RTNS 2020, section 7.2: the primitive "may have unpredictable timing behavior", and response times include it).
/// Until then the job's stream counts as occupied.
#[derive(Debug)]
struct Synchronized<H> {
    inner: H,
    most: TaskTime,
    numbers: ChaCha8Rng,
    /// Completions that were not told yet, by when they will be.
    waiting: BTreeSet<(Instant, OperationId)>,
}

impl<H> Synchronized<H> {
    /// `inner` learns of completions after a time that is uniform between 0 and `most` \[ns\], drawn from `seed`.
    fn new(inner: H, most: TaskTime, seed: u64) -> Self {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        // Tasks draw their delays from the streams that are numbered from 0.
        numbers.set_stream(u64::MAX);
        Self { inner, most, numbers, waiting: BTreeSet::new() }
    }

    /// The scheduler.
    fn into_inner(self) -> H {
        self.inner
    }
}

impl<H: Host> Host for Synchronized<H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error> {
        self.inner.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        match event {
            GpuEvent::Completed(operation) if self.most > TaskTime::ZERO => {
                let delay = Duration::from_ns(self.numbers.random_range(0..=self.most.units()));
                self.waiting.insert((gpu.now() + delay, operation));
            }
            event => self.inner.on_event(event, gpu),
        }
    }

    fn on_wake(&mut self, token: u64) {
        if token != TOKEN {
            self.inner.on_wake(token);
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), Self::Error> {
        while let Some((_, operation)) = self.waiting.first().copied().filter(|(at, _)| *at <= gpu.now()) {
            self.waiting.pop_first();
            self.inner.on_event(GpuEvent::Completed(operation), gpu);
        }
        self.inner.act(gpu)?;
        if let Some(&(at, _)) = self.waiting.first() {
            gpu.wake_at(at, TOKEN);
        }
        Ok(())
    }
}
