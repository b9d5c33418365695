//! Running the threads of a scenario from beginning to end.

use std::borrow::Cow;

use super::{LaunchOrder, ProgramError, ProgramHost};
use crate::effort::Progress;
use crate::gpu::{Backend, Gpu, GpuOptions, Simulated};
use crate::run::Run;
use crate::scenario::{HostThread, Scenario};
use crate::time::Instant;
use crate::trace::Trace;
use crate::workload::Placement;

/// How a scenario is simulated.
#[derive(Debug, Clone)]
pub struct SimulateOptions<'w> {
    /// What the GPU does, in place of what the scenario states.
    pub gpu: GpuOptions,
    /// In which order its threads launch at one instant, where that is known.
    pub order: Option<LaunchOrder>,
    /// Counts the operations that have completed.
    pub progress: Progress<'w>,
    /// Of a run of which no record is kept, take in one step what repeats (see [`simulate_any_length`]). The result is
    /// the same either way.
    ///
    /// [`simulate_any_length`]: crate::hosts::simulate_any_length
    pub skip_repeats: bool,
}

impl SimulateOptions<'_> {
    /// As the scenario states it.
    pub fn of(scenario: &Scenario) -> Self {
        let horizon = scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
        GpuOptions { placement: scenario.placement, seed: scenario.seed, horizon, ..GpuOptions::default() }.into()
    }
}

impl From<GpuOptions> for SimulateOptions<'_> {
    fn from(gpu: GpuOptions) -> Self {
        Self { gpu, order: None, progress: Progress::NONE, skip_repeats: true }
    }
}

/// Simulates a scenario from beginning to end.
///
/// # Errors
/// [`ProgramError`], for a scenario that did not come through a reader or cannot be represented in 64-bit time.
pub fn simulate(scenario: &Scenario) -> Result<Run<'_>, ProgramError> {
    simulate_with(scenario, SimulateOptions::of(scenario))
}

/// Simulates a scenario under another placement and with another seed than it states.
pub(crate) fn simulate_placed(scenario: &Scenario, placement: Placement, seed: u64) -> Result<Run<'_>, ProgramError> {
    let options = SimulateOptions::of(scenario);
    simulate_with(scenario, GpuOptions { placement, seed, ..options.gpu })
}

/// Simulates a scenario with the given options in place of its own. A run that [may be cut](GpuOptions::may_be_cut) is
/// complete up to where its [effort](crate::effort) let it go, and [`Ended::Cut`](crate::gpu::Ended::Cut).
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with<'s, 'w>(
    scenario: &'s Scenario,
    options: impl Into<SimulateOptions<'w>>,
) -> Result<Run<'s>, ProgramError> {
    let SimulateOptions { gpu, order, progress, .. } = options.into();
    refuse_too_many(scenario, &gpu)?;
    let host = ProgramHost { order, progress, ..ProgramHost::of(scenario) };
    let Simulated { trace, ended, host } = Simulated::of(scenario.device(), gpu, host)?;
    host.refuse_endless_wait(ended)?;
    let (cores, held_calls) = (host.cores.into_spans(trace.end()), host.frees.into_calls());
    Ok(Run { scenario: Cow::Borrowed(scenario), trace, ended, iterations: host.spans, cores, held_calls })
}

/// What is recorded if the threads of a scenario submit to a GPU with another backend, which knows nothing of it yet.
///
/// # Errors
/// As [`simulate`].
pub(crate) fn trace_on(
    mut gpu: Gpu<impl Backend>,
    scenario: &Scenario,
    progress: Progress<'_>,
) -> Result<Trace, ProgramError> {
    let mut host = ProgramHost { progress, ..ProgramHost::of(scenario) };
    let ended = gpu.run(&mut host)?;
    host.refuse_endless_wait(ended)?;
    Ok(gpu.into_trace())
}

/// Refuses a scenario of which it is known beforehand that its run cannot be recorded.
pub(super) fn refuse_too_many(scenario: &Scenario, options: &GpuOptions) -> Result<(), ProgramError> {
    // A horizon or a time limit may end threads early.
    let is_certain = |thread: &&HostThread| !thread.may_end_early() && options.horizon == Instant::MAX;
    let count = scenario.threads.iter().filter(is_certain).map(HostThread::submissions).fold(0, u64::saturating_add);
    if count > u64::from(options.max_operations) {
        return Err(ProgramError::TooManyOperations { count, most: options.max_operations });
    }
    Ok(())
}
