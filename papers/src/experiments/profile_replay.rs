//! A profile simulated again: recorded against simulated, kernel by kernel.

mod comparison;
mod held_out;
mod whole_kernels;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::device::{BlockShape, Device};
use crate::effort::Progress;
use crate::hosts::{ProgramError, SimulateOptions, simulate_with};
use crate::profile::{BlockTimeSource, GpuProfile, Import, ToldBy, UNSEEN};
use crate::proven::OrMost;
use crate::run::{IterationSpan, Run, Summary};
use crate::scenario::Scenario;
use crate::statistics::nearest_rank;
use crate::time::Instant;
use crate::trace::{Observed, ObservedSpan, OperationRecord, Trace, TraceFull};
use crate::workload::{OperationId, OperationKind};
pub(crate) use comparison::KernelChange;
pub use comparison::{Activity, ProfileComparison};
pub(crate) use held_out::HeldOutErrors;
pub use held_out::{HeldOut, held_out};
use whole_kernels::{Begins, run_whole_kernels};

/// A profile and its simulation, side by side. Times count from the first submission \[ns\].
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileReplay {
    /// What happened in the simulation.
    pub trace: Trace,
    /// The iterations of its host threads.
    pub iterations: Vec<IterationSpan>,
    /// All kernels that the simulation ended, by recorded start.
    pub(crate) kernels: Vec<ReplayedKernel>,
    /// What the GPU did in all.
    pub activity: Activity,
    /// Kernels that did not end before the horizon.
    pub unfinished: u64,
    /// Whether the file has the host call of any kernel; without, starts are those recorded and not predicted.
    pub has_host_calls: bool,
    /// Errors over all kernels.
    pub(crate) all: ReplayErrors,
    /// Errors over kernels that had the GPU to themselves when they were recorded.
    pub(crate) alone: ReplayErrors,
    /// Errors over kernels that overlapped others.
    pub(crate) overlapped: ReplayErrors,
    /// Errors over those kernels whose block time is that of other launches: predicted, not fitted.
    pub(crate) predicted: ReplayErrors,
    /// The same without a model of sharing: each kernel starts once it is submitted and its stream lets it, and takes
    /// as long as it does alone. None are counted where sharing is not simulated anyway.
    pub(crate) predicted_without_sharing: ReplayErrors,
}

impl ProfileReplay {
    /// The simulation of this scenario, for what is told of a run.
    pub fn summary<'a>(&'a self, scenario: &'a Scenario) -> Summary<'a> {
        Summary { iterations: &self.iterations, ..Summary::of_trace(scenario, &self.trace) }
    }

    /// From the first submission until the last of these kernels ended, as recorded \[ns\].
    pub fn recorded_makespan_ns(&self) -> u64 {
        let ends = self
            .kernels
            .iter()
            .map(|kernel| kernel.recorded_start_ns.saturating_add_unsigned(kernel.recorded_duration_ns));
        ends.max().map_or(0, |end| end.max(0).unsigned_abs())
    }

    /// The same as simulated \[ns\].
    pub fn simulated_makespan_ns(&self) -> u64 {
        let ends = self.kernels.iter().map(|kernel| kernel.simulated_start_ns + kernel.simulated_duration_ns);
        ends.max().unwrap_or(0)
    }

    /// Whether starts are so far off that what-ifs say little: 95 % of them are not within a hundredth of the
    /// recording.
    pub fn is_far_off(&self) -> bool {
        self.all.p95_start_error_ns > self.recorded_makespan_ns() / 100
    }
}

/// One kernel on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplayedKernel {
    /// Name of the function.
    pub name: Arc<str>,
    /// Blocks of its grid.
    pub blocks: u32,
    /// What one of them takes.
    pub shape: BlockShape,
    /// Its stream.
    pub stream: Arc<str>,
    /// Whether it had the GPU to itself when it was recorded.
    pub ran_alone: bool,
    /// From where its block time is.
    pub(crate) source: BlockTimeSource,
    /// When it started.
    pub recorded_start_ns: i64,
    /// How long it took.
    pub recorded_duration_ns: u64,
    /// When its first block started.
    pub simulated_start_ns: u64,
    /// From then until its last block ended.
    pub simulated_duration_ns: u64,
}

impl ReplayedKernel {
    /// Whether its block time is that of other launches, which ran alone.
    fn is_predicted(&self) -> bool {
        self.source.is_of_other_launches()
    }

    /// Simulated minus recorded start.
    pub(crate) fn start_error_ns(&self) -> i64 {
        difference(self.simulated_start_ns, self.recorded_start_ns)
    }

    /// Simulated minus recorded duration.
    pub(crate) fn duration_error_ns(&self) -> i64 {
        difference(self.simulated_duration_ns, signed(self.recorded_duration_ns))
    }
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).or_most()
}

fn difference(simulated: u64, recorded: i64) -> i64 {
    signed(simulated).saturating_sub(recorded)
}

/// Absolute errors over some kernels; 0 of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct ReplayErrors {
    /// How many kernels.
    pub kernels: usize,
    /// Median error of starts.
    pub median_start_error_ns: u64,
    /// 95th percentile of the errors of starts (nearest rank).
    pub p95_start_error_ns: u64,
    /// Median error of durations.
    pub median_duration_error_ns: u64,
    /// 95th percentile of the errors of durations (nearest rank).
    pub p95_duration_error_ns: u64,
}

impl ReplayErrors {
    fn new(errors: impl Iterator<Item = (i64, i64)>) -> Self {
        let (mut starts, mut durations): (Vec<u64>, Vec<u64>) =
            errors.map(|(start, duration)| (start.unsigned_abs(), duration.unsigned_abs())).unzip();
        let rank = |sorted: &[u64], percent: usize| nearest_rank(sorted, percent).unwrap_or(0);
        starts.sort_unstable();
        durations.sort_unstable();
        Self {
            kernels: starts.len(),
            median_start_error_ns: rank(&starts, 50),
            p95_start_error_ns: rank(&starts, 95),
            median_duration_error_ns: rank(&durations, 50),
            p95_duration_error_ns: rank(&durations, 95),
        }
    }
}

/// Simulates an imported profile, with or without sharing of SMs as its options say, and compares. How many simulated
/// operations have completed is in `completed`.
///
/// # Errors
/// As [`simulate`](crate::hosts::simulate).
pub fn replay_profile(
    profile: &GpuProfile,
    import: &Import,
    completed: Progress<'_>,
) -> Result<ProfileReplay, ProgramError> {
    let Run { trace, iterations, .. } = run(&import.scenario, import.options.kernel_times, completed)?;
    let alone = if import.options.kernel_times == ToldBy::Sharing {
        spans(import, &run_whole_kernels(&import.scenario, Begins::AtOnce, Progress::NONE)?.trace)
    } else {
        FxHashMap::default()
    };
    let times = profile.block_times(import.gpu, &recorded_device(profile, import), &import.options);
    let ran_alone = profile.ran_alone(import.gpu);
    let mut kernels = Vec::new();
    let mut without_sharing = Vec::new();
    let (mut unfinished, mut has_host_calls) = (0, false);
    for (_, operation, index) in submitted_operations(import, &trace) {
        let recorded = &profile.operations[index as usize];
        let (Some(kernel), Some(time)) = (recorded.kernel(), times.get(index as usize).copied().flatten()) else {
            continue;
        };
        has_host_calls |= recorded.call.is_some();
        let Some((start, finish)) = operation.first_start().zip(operation.finish()) else {
            unfinished += 1;
            continue;
        };
        let stream = import.scenario.streams().get(operation.stream.index());
        let replayed = ReplayedKernel {
            name: Arc::clone(profile.name_of(kernel)),
            blocks: kernel.blocks,
            shape: kernel.shape,
            stream: stream.map(|stream| Arc::clone(&stream.name)).unwrap_or_default(),
            ran_alone: ran_alone.get(index as usize) == Some(&true),
            source: time.source,
            recorded_start_ns: signed(recorded.start_ns).saturating_sub(signed(import.base_ns)),
            recorded_duration_ns: recorded.duration_ns,
            simulated_start_ns: start.as_ns(),
            simulated_duration_ns: finish.since(start).as_ns(),
        };
        if let Some(&(start, duration)) = alone.get(&index).filter(|_| replayed.is_predicted()) {
            let start = difference(start, replayed.recorded_start_ns);
            without_sharing.push((start, difference(duration, signed(recorded.duration_ns))));
        }
        kernels.push(replayed);
    }
    crate::sorted::sort_by_key(&mut kernels, |kernel| kernel.recorded_start_ns);
    let errors = |wanted: fn(&ReplayedKernel) -> bool| {
        let those = kernels.iter().filter(move |kernel| wanted(kernel));
        ReplayErrors::new(those.map(|kernel| (kernel.start_error_ns(), kernel.duration_error_ns())))
    };
    let all = errors(|_| true);
    let alone = errors(|kernel| kernel.ran_alone);
    let overlapped = errors(|kernel| !kernel.ran_alone);
    let predicted = errors(ReplayedKernel::is_predicted);
    let predicted_without_sharing = ReplayErrors::new(without_sharing.into_iter());
    let activity = Activity::simulated(profile, import, &trace);
    Ok(ProfileReplay {
        trace,
        iterations,
        kernels,
        activity,
        unfinished,
        has_host_calls,
        all,
        alone,
        overlapped,
        predicted,
        predicted_without_sharing,
    })
}

/// Simulates a scenario: block by block, or, where medians tell durations, kernel by kernel, which wait for room as
/// blocks do.
fn run<'s>(scenario: &'s Scenario, times: ToldBy, completed: Progress<'_>) -> Result<Run<'s>, ProgramError> {
    if times != ToldBy::Sharing {
        return run_whole_kernels(scenario, Begins::WithRoom, completed);
    }
    simulate_with(scenario, SimulateOptions { progress: completed, ..SimulateOptions::of(scenario) })
}

/// When the operations of a profile started in a simulation, and for how long they ran \[ns\]; those that ended.
fn spans(import: &Import, trace: &Trace) -> FxHashMap<u32, (u64, u64)> {
    let ended = submitted_operations(import, trace).filter_map(|(_, operation, index)| {
        let (start, finish) = operation.first_start().zip(operation.finish())?;
        Some((index, (start.as_ns(), finish.since(start).as_ns())))
    });
    ended.collect()
}

/// The device whose SMs the block times are about.
fn recorded_device(profile: &GpuProfile, import: &Import) -> Device {
    profile.device(import.gpu).unwrap_or_else(|_| import.scenario.device().clone())
}

/// The operations of `trace`, which is a simulation of `import`, as they were recorded: submitted when their calls
/// began (or when they began, if the profile has no call), begun and ended as the profile says. On which SMs their
/// blocks ran nobody recorded.
///
/// # Errors
/// As [`Trace::with_observed`].
pub fn recorded_trace(profile: &GpuProfile, import: &Import, trace: &Trace) -> Result<Trace, TraceFull> {
    let mut observed = Observed::default();
    let at = |ns: u64| Instant::from_ns(ns.saturating_sub(import.base_ns));
    for (id, _, index) in submitted_operations(import, trace) {
        let Some(recorded) = profile.operations.get(index as usize) else { continue };
        let call = recorded.call.and_then(|call| profile.calls.get(call as usize));
        let launched = call.map_or(recorded.start_ns, |call| call.start_ns.min(recorded.start_ns));
        observed.launches.push((id, at(launched)));
        let (start, end) = (at(recorded.start_ns), at(recorded.end_ns()));
        observed.spans.push(ObservedSpan { operation: id, start, end });
    }
    trace.with_observed(&observed)
}

/// The operations of a simulation of `import` that stand for one of the profile, and for which.
fn submitted_operations<'a>(
    import: &'a Import,
    trace: &'a Trace,
) -> impl Iterator<Item = (OperationId, &'a OperationRecord, u32)> {
    let mut next: Vec<usize> = vec![0; import.submitted.len()];
    trace.numbered().filter_map(move |(id, record)| {
        // Records and waits are no operations of the profile.
        if matches!(record.kind, OperationKind::Record(_) | OperationKind::Wait(_)) {
            return None;
        }
        let thread = record.origin.thread as usize;
        let index = *import.submitted.get(thread)?.get(next[thread])?;
        next[thread] += 1;
        (index != UNSEEN).then_some((id, record, index))
    })
}
