//! Running the threads of a scenario from beginning to end: with which options, what is known of a run beforehand, and
//! why it cannot be run.

use std::borrow::Cow;

use thiserror::Error;

use super::ProgramHost;
use crate::effort::{EarlyEnd, Progress};
use crate::gpu::{Backend, Ended, Gpu, GpuOptions, RunError, Simulated, SubmitError};
use crate::run::Run;
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Trace};
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

/// Simulates a scenario without [details](GpuOptions::keeps_details) in the record of its run.
#[doc(hidden)]
pub fn simulate_in_brief(scenario: &Scenario) -> Result<Run<'_>, ProgramError> {
    simulate_placed(scenario, scenario.placement, scenario.seed)
}

/// Simulates a scenario under another placement and with another seed than it states, without
/// [details](GpuOptions::keeps_details).
#[doc(hidden)]
pub fn simulate_placed(scenario: &Scenario, placement: Placement, seed: u64) -> Result<Run<'_>, ProgramError> {
    let options = SimulateOptions::of(scenario);
    simulate_with(scenario, GpuOptions { placement, seed, keeps_details: false, ..options.gpu })
}

/// Simulates a scenario with the given options in place of its own. A run that [may be cut](GpuOptions::may_be_cut) is
/// complete up to where its [effort](crate::effort) let it go, and [`Ended::Cut`].
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
    host.into_run(scenario, trace, ended)
}

impl ProgramHost<'_> {
    /// What a run of the scenario gave that has ended.
    pub(super) fn into_run(self, scenario: &Scenario, trace: Trace, ended: Ended) -> Result<Run<'_>, ProgramError> {
        // A host that waits for what stands still on the GPU is told of with that.
        let stands_still = || trace.operations().iter().any(|record| record.finish().is_none());
        if !(scenario.catalogue.synchronizes() && stands_still()) {
            self.refuse_endless_wait(ended)?;
        }
        let (cores, held_calls) = (self.cores.into_spans(trace.end()), self.frees.into_calls());
        Ok(Run { scenario: Cow::Borrowed(scenario), trace, ended, iterations: self.spans, cores, held_calls })
    }
}

/// The run if the threads of a scenario submit to a GPU with another backend, which knows nothing of it yet.
///
/// # Errors
/// As [`simulate`].
#[doc(hidden)]
pub fn run_on<'s>(
    mut gpu: Gpu<impl Backend>,
    scenario: &'s Scenario,
    progress: Progress<'_>,
) -> Result<Run<'s>, ProgramError> {
    let mut host = ProgramHost { progress, ..ProgramHost::of(scenario) };
    let ended = gpu.run(&mut host)?;
    host.into_run(scenario, gpu.into_trace(), ended)
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

/// Why the threads of a scenario cannot run to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The GPU cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A thread goes on and on at one instant without submitting anything.
    #[error("a host thread goes through more than {most} steps at {at} without submitting anything: time stands still")]
    HostStandsStill {
        /// The instant.
        at: Instant,
        /// The limit.
        most: u32,
    },
    /// Threads go on and on without submitting anything.
    #[error(
        "host threads go through more than {most} steps up to {at} while nothing is submitted and nothing completes: \
         shorten what they repeat, or end the run earlier"
    )]
    HostSubmitsNothing {
        /// How far the run came.
        at: Instant,
        /// The limit.
        most: u32,
    },
    /// The threads together would submit more than can be recorded.
    #[error("the scenario submits {count} operations; a run has {most} at most")]
    TooManyOperations {
        /// How many they would submit.
        count: u64,
        /// The limit.
        most: u32,
    },
    /// An analysis of what it does not know.
    #[error(
        "no analysis knows programmatic dependent launch (PDL): `gpusched simulate` runs this scenario, and nothing bounds it"
    )]
    Programmatic,
    /// The same of blocks that come in clusters.
    #[error("no analysis knows clusters of blocks: `gpusched simulate` runs this scenario, and nothing bounds it")]
    Clusters,
    /// The same of a device on which blocks leave a gap behind them.
    #[error(
        "no analysis knows gaps between blocks (block_gap_ns): `gpusched simulate` runs this scenario, and nothing bounds \
         it unless the option block_gap is 0s"
    )]
    BlockGap,
    /// Blocks, streams or hosts that wait for one another.
    #[error(
        "no analysis of times knows blocks that wait for others, cooperative launches or counters: `gpusched simulate` runs \
         this scenario, `gpusched analyze --progress` says whether it can hang, and nothing bounds its times"
    )]
    Synchronization,
    /// Nothing is left to happen, and a thread still waits: threads that cross two barriers in opposite order.
    #[error(
        "host thread {thread} (counted from 0) waits forever at a barrier that the others never reach, or for a counter \
         that nothing changes"
    )]
    WaitsForever {
        /// Index of the thread.
        thread: u32,
    },
}

impl ProgramError {
    /// Whether somebody stopped the run, and nothing is wrong with it.
    pub fn is_stop(&self) -> bool {
        *self == Self::Run(RunError::Submit(SubmitError::EarlyEnd(EarlyEnd::Stopped)))
    }
}

impl From<EarlyEnd> for ProgramError {
    fn from(over: EarlyEnd) -> Self {
        SubmitError::EarlyEnd(over).into()
    }
}

impl From<SubmitError> for ProgramError {
    fn from(error: SubmitError) -> Self {
        Self::Run(error.into())
    }
}

/// Operations that a run of the scenario submits at least, as far as its threads tell without running, and the memory
/// that their record takes, without their blocks \[bytes\].
pub fn least_work(scenario: &Scenario) -> (u64, u64) {
    let horizon = scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
    // What frees memory waits, and so do others of its process.
    let is_held = scenario.held_by_frees().is_some();
    let of_one = |thread: &HostThread| {
        let is_cut = horizon != Instant::MAX || thread.may_end_early();
        if is_held && is_cut { 0 } else { least_iterations(thread, horizon).saturating_mul(in_one_iteration(thread)) }
    };
    let operations = scenario.threads.iter().map(of_one).fold(0, u64::saturating_add);
    (operations, operations.saturating_mul(size_of::<OperationRecord>() as u64))
}

/// How many iterations are certain to begin and to go through all their steps.
fn least_iterations(thread: &HostThread, horizon: Instant) -> u64 {
    let all = thread.iterations;
    if horizon == Instant::MAX && !thread.may_end_early() {
        return all.unwrap_or(0);
    }
    let waits = |step: &Step| step.waits_for_operations() || matches!(step, Step::Sleep(_) | Step::Barrier(_));
    let first = Instant::ZERO + thread.release;
    if thread.until.is_some()
        || thread.triggered_by.is_some()
        || thread.barrier.is_some()
        || thread.works()
        || thread.steps.iter().any(waits)
        || thread.never_runs()
        || first > horizon
    {
        return 0;
    }
    // It never waits but for its releases, so nothing makes it late.
    let Some(period) = thread.period.filter(|period| *period > Duration::ZERO) else { return all.unwrap_or(0) };
    let lasts = horizon.since(first).min(thread.time_limit.unwrap_or(Duration::from_ns(u64::MAX)));
    all.unwrap_or(u64::MAX).min(lasts.as_ns().div_ceil(period.as_ns()))
}

/// How many operations one iteration submits.
fn in_one_iteration(thread: &HostThread) -> u64 {
    // What the steps before each of them submit.
    let mut before = Vec::with_capacity(thread.steps.len());
    let mut submitted = 0_u64;
    for step in &thread.steps {
        before.push(submitted);
        if let &Step::Repeat { from, times } = step {
            let once = submitted - before.get(from as usize).copied().unwrap_or(submitted);
            submitted = submitted.saturating_add(once.saturating_mul(times.saturating_sub(1)));
        } else if step.submission().is_some() {
            submitted = submitted.saturating_add(1);
        }
    }
    submitted
}

/// In which order threads launch kernels that they can launch at one instant, such as the order in which the calls
/// returned in a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchOrder {
    ranks: Vec<Vec<i64>>,
}

impl LaunchOrder {
    /// `ranks` has a list for each thread, by its index, with a number for each of its launches, in their order. Of
    /// several launches that are possible at one instant the one with the lowest number comes first, of equals that of
    /// the thread that was declared first. Threads whose next launch has none act in declaration order.
    pub const fn new(ranks: Vec<Vec<i64>>) -> Self {
        Self { ranks }
    }

    /// The number of a thread's launch, counted from 0.
    pub(super) fn rank(&self, thread: usize, launch: usize) -> Option<i64> {
        self.ranks.get(thread)?.get(launch).copied()
    }
}

/// Whose turn it is of threads with these ranks, which stand in declaration order; `None`: there is none.
pub(super) fn first(ranks: impl Iterator<Item = Option<i64>>) -> Option<usize> {
    let mut ranks = ranks.enumerate();
    let (mut first, Some(mut lowest)) = ranks.next()? else { return Some(0) };
    for (position, rank) in ranks {
        if let Some(rank) = rank.filter(|rank| *rank < lowest) {
            (first, lowest) = (position, rank);
        }
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ReadOptions;

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "n",
                "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 us"}}}}, {more}}}"#
        );
        Scenario::from_json("n.json", &text, &ReadOptions::default()).expect("it is one")
    }

    /// How many a run submits.
    fn submitted(scenario: &Scenario) -> u64 {
        simulate(scenario).expect("it runs").trace.operations().len() as u64
    }

    #[test]
    fn what_threads_submit_is_known_where_nothing_else_decides() {
        let nested = r#""streams": [{"name": "s"}], "hosts": [{"name": "h", "iterations": 3, "steps": [
            {"launch": "K", "stream": "s"},
            {"repeat": 5, "steps": [
                {"launch": "K", "stream": "s"}, {"repeat": 2, "steps": [{"launch": "K", "stream": "s"}]}]}]}]"#;
        let periodic = r#""horizon": "1 ms",
            "streams": [{"name": "s", "release": "5 us", "period": "10 us", "operations": [{"kernel": "K"}]}]"#;
        for (more, least) in [(nested, 3 * (1 + 5 * 3)), (periodic, 100)] {
            let scenario = scenario(more);
            assert_eq!(least_work(&scenario).0, least, "{more}");
            assert_eq!(submitted(&scenario), least, "{more}");
        }
    }

    #[test]
    fn where_something_else_decides_it_is_no_more_than_what_is_submitted() {
        let waits = r#""horizon": "1 ms", "streams": [{"name": "s"}], "hosts": [{"name": "h", "iterations": 1000000,
            "steps": [{"launch": "K", "stream": "s"}, {"synchronize": "last"}]}]"#;
        let late = r#""horizon": "1 ms",
            "streams": [{"name": "s", "release": "2 ms", "period": "1 us", "operations": [{"kernel": "K"}]}]"#;
        for more in [waits, late] {
            let scenario = scenario(more);
            assert_eq!(least_work(&scenario).0, 0, "{more}");
            assert!(submitted(&scenario) < 1_000_000, "{more}");
        }
        let endless = scenario(
            r#""streams": [{"name": "s"}],
            "hosts": [{"name": "h", "steps": [{"repeat": 4294967295, "steps": [{"launch": "K", "stream": "s"}]}]}]"#,
        );
        assert_eq!(least_work(&endless).0, u64::from(u32::MAX));
        assert!(least_work(&endless).1 > 1 << 36);
    }
}
