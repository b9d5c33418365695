//! Tasks with CPU and GPU segments: cores with fixed priorities before the simulated GPU, on which each task is a
//! process.
//!
//! The task model of `docs/tasks.md`. The host has the cores, driver calls and locks; the GPU has the contexts, their
//! turns and switches (rules T1 to T4). Under GCAPS the host keeps every context off the runlist but that of the most
//! urgent task between its calls; a call takes ε - θ on its core, for the GPU itself takes θ to switch.

mod segment_host;

use thiserror::Error;

use crate::device::Device;
use crate::effort::Progress;
use crate::gpu::{Gpu, GpuOptions, RunError, Simulated, SubmitError};
use crate::named::named;
use crate::spelling::option;
use crate::tasks::segments::{GpuWait, SegmentTask, SegmentTaskSet, SegmentTest};
use crate::time::{Duration, Instant};
use crate::trace::Trace;
use crate::workload::{KernelId, OperationId};
use gpusched_core::hosts::Timed;

use segment_host::SegmentHost;

/// Jobs that a run may release at most, so that a long horizon cannot fill the memory.
const MAX_JOBS: u128 = 5_000_000;

/// What a run led to.
#[derive(Debug, Clone)]
pub struct SegmentRun {
    /// What happened on the GPU.
    pub trace: Trace,
    /// All jobs, in the order of release.
    pub jobs: Vec<SegmentJob>,
    /// The task of each operation of the trace, as an index into the set.
    pub launches: Vec<usize>,
    /// What cores were busy with, in the order of their ends; empty unless it was asked for.
    pub cores: Vec<CoreRun>,
    /// Jobs were released before this.
    pub horizon: Instant,
}

/// How a set is run.
#[derive(Debug, Clone, Copy)]
pub struct SegmentRunOptions<'d> {
    /// Jobs are released before this; one hyperperiod after the largest offset if it is not stated.
    pub horizon: Option<Duration>,
    /// For the releases of sporadic tasks.
    pub seed: u64,
    /// The GPU.
    pub device: &'d Device,
    /// Whether to record what cores were busy with.
    pub records_cores: bool,
}

/// Why a set cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SegmentRunError {
    /// No horizon, and no hyperperiod that could be one.
    #[error("the hyperperiod does not fit 62 bits of nanoseconds; state a horizon ({})", option("horizon"))]
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
        horizon: Duration,
    },
    /// The GPU refused something.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The simulation cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl SegmentRunOptions<'_> {
    /// Before when jobs are released.
    ///
    /// # Errors
    /// [`SegmentRunError::HyperperiodOverflow`] if none is stated, and there is no hyperperiod.
    pub fn horizon_of(&self, set: &SegmentTaskSet) -> Result<Duration, SegmentRunError> {
        self.horizon.or_else(|| hyperperiod(set)).ok_or(SegmentRunError::HyperperiodOverflow)
    }
}

/// Releases jobs of each task from its offset on, T apart, or later by up to T / 2 if it is sporadic; each takes its
/// longest. Runs until all are done. `test` names the way of sharing the GPU. The instant \[ns\] that the run has come
/// to is in `reached`.
///
/// # Errors
/// [`SegmentRunError`].
pub fn run_segment_tasks(
    set: &SegmentTaskSet,
    test: SegmentTest,
    options: SegmentRunOptions<'_>,
    reached: Progress<'_>,
) -> Result<SegmentRun, SegmentRunError> {
    let horizon = options.horizon_of(set)?;
    let releases = |period: Duration| u128::from(horizon.as_ns().div_ceil(period.as_ns()));
    let jobs = set.tasks.iter().map(|task| releases(task.period)).sum();
    if jobs > MAX_JOBS {
        return Err(SegmentRunError::TooManyJobs { jobs, horizon });
    }
    let mut gpu = Gpu::new(options.device, GpuOptions::default());
    let horizon = Instant::ZERO.saturating_add(horizon);
    let host = SegmentHost::new(&test.assigned(set), test, (horizon, options.seed, options.records_cores), &mut gpu)?;
    let Simulated { trace, host: Timed { host, .. }, .. } = Simulated::on(gpu, Timed { host, reached })?;
    let (jobs, launches, cores) = host.into_records();
    Ok(SegmentRun { trace, jobs, launches, cores, horizon })
}

/// The least common multiple of all periods, after the largest offset, if it fits.
fn hyperperiod(set: &SegmentTaskSet) -> Option<Duration> {
    let mut periods = set.tasks.iter().map(|task| task.period);
    let first = periods.next()?;
    let all = periods.try_fold(first, Duration::least_common_multiple)?;
    let offset = set.tasks.iter().map(|task| task.offset).max().unwrap_or_default();
    (all.as_ns() < 1 << 62).then(|| all.saturating_add(offset))
}

/// A job that was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentJob {
    /// Its task, as an index into the set.
    pub task: usize,
    /// Its number among the task's jobs.
    pub number: u64,
    /// When it was released.
    pub released: Instant,
    /// When it was done.
    pub finished: Option<Instant>,
}

impl SegmentJob {
    /// From release to end, if it was done.
    pub fn response(&self) -> Option<Duration> {
        self.finished.map(|finished| finished.since(self.released))
    }
}

/// What a core was busy with, without a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreRun {
    /// The core.
    pub cpu: u32,
    /// Whose job it was, as an index into the set.
    pub task: usize,
    /// What for.
    pub what: CoreUse,
    /// From when.
    pub from: Instant,
    /// To when.
    pub to: Instant,
}

named! {
    /// What a task has a core for, named as a sentence has it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CoreUse {
        /// A CPU segment, or the CPU's part of a GPU segment.
        Works = "works",
        /// A driver call.
        Call = "is in a driver call",
        /// Nothing: it waits for the GPU or for a driver call.
        Waits = "keeps the core busy",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// So much on the CPU is left.
    Cpu(Duration),
    /// Work of the GPU, and the operation once it is submitted.
    Gpu { kernel: KernelId, operation: Option<OperationId> },
    /// A driver call, the first or second of a segment.
    Call { is_first: bool, left: Duration, state: CallState },
    /// Wants the lock, for which it asked then.
    Lock { asked: Option<Instant> },
    /// Gives the lock back.
    Unlock,
}

/// Where a driver call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
    /// Not reached on a core.
    Ahead,
    /// Waits until no other call is under way, on its core.
    Asked,
    UnderWay,
}

/// How urgent a task is, the smallest first; tasks of best effort come last, in the order of the set.
fn rank(tasks: &[SegmentTask], task: usize) -> (bool, Option<u64>, usize) {
    let priority = tasks[task].priority;
    (priority.is_none(), priority, task)
}

/// Whether a step needs a core, or keeps it busy.
fn is_ready(step: Step, waiting: GpuWait) -> bool {
    match step {
        Step::Cpu(_) | Step::Call { .. } | Step::Unlock => true,
        Step::Gpu { .. } => waiting == GpuWait::Busy,
        Step::Lock { asked } => asked.is_none(),
    }
}

/// Above its priority: who is in a driver call, then who holds the lock.
fn class(step: Step, holds_lock: bool) -> u8 {
    match step {
        Step::Call { state: CallState::UnderWay, .. } => 0,
        _ if holds_lock => 1,
        _ => 2,
    }
}
