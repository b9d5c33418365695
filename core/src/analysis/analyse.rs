//! Response-time analysis of a whole scenario.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use serde::Serialize;
use thiserror::Error;

use super::algorithm_2;
use super::algorithm_2::AlgorithmStep;
use super::assumptions::{Departure, LaunchDependence};
use super::finish_bounds::{BoundedOperation, FinishBounds, bounds_of};
use super::merged_resources::{Analysed, Costs, Merged};
use super::merged_sm::MergedKernel;
use super::merged_sm::{KernelTask, TimeOverflow};
use super::prepared::AllReleased;
use super::prepared::Prepared;
use super::safe_bound::BoundOptions;
use crate::hosts::ProgramError;
use crate::scenario::{HostThread, KernelLaunch, Scenario};
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::OperationKind;

/// The analysis of a scenario.
#[derive(Debug, Clone)]
pub struct Analysis<'a> {
    /// What was analysed.
    pub(crate) of: &'a Scenario,
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Name of the device.
    pub device: &'a str,
    /// Blocks that the merged SM holds at once; `None` if the blocks of the scenario are not all alike.
    pub g_max: Option<u32>,
    /// Whether merging the SMs is exact: the analysed finish times are those of every work-conserving placement, with
    /// simultaneous releases in the order of declaration.
    pub exact: bool,
    /// The assumptions that do not hold.
    pub departures: Vec<Departure>,
    /// Threads that the kernels keep busy on average (Eq. 3.4); `None` unless every kernel has a period or deadline.
    pub utilization_threads: Option<f64>,
    /// SMs on which blocks run at once, at most: all, unless MPS limits the only client to some.
    pub sms: u32,
    /// Thread slots of these SMs (the thesis' `b_max`), for comparison.
    pub thread_slots: u32,
    /// Kernel launches, in launch order.
    pub kernels: Vec<AnalysedKernel<'a>>,
    /// Copies, in launch order.
    pub copies: Vec<AnalysedCopy>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Input of Algorithm 2, in the order of the EE queue; empty if the blocks are not all alike.
    pub merged: Vec<MergedKernel>,
    /// For each entry of `merged`, its index in `kernels`.
    pub merged_order: Vec<usize>,
}

impl<'a> Analysis<'a> {
    /// The title of the kernel that a turn of Algorithm 2 is about; empty for a turn of another analysis.
    pub fn title_of(&self, turn: &AlgorithmStep) -> &'a str {
        let kernel = self.merged_order.get(turn.kernel).and_then(|index| self.kernels.get(*index));
        kernel.map_or("", |kernel| kernel.launch.title())
    }
}

/// One analysed kernel launch; times in ns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnalysedKernel<'a> {
    /// Which launch it is.
    #[serde(flatten)]
    pub launch: KernelLaunch<'a>,
    /// Threads of one block.
    pub threads: u32,
    /// g: blocks of the grid.
    pub blocks: u32,
    /// Blocks of this kernel that an empty GPU holds at once.
    pub g_max: u32,
    /// The host's call (G1).
    pub launched_ns: Instant,
    /// r: when it enters the EE queue (G2).
    pub released_ns: Option<Instant>,
    /// f: when it is analysed to finish, simultaneous releases taken as declared; `None` if the horizon comes first.
    pub finish_ns: Option<Instant>,
    /// R: finish minus launch.
    pub response_ns: Option<Duration>,
    /// By when it has finished on any work-conserving placement even if blocks run shorter than stated, simultaneous
    /// releases taken as declared; `None` also where that is after the last instant by which all releases are known.
    pub safe_finish_ns: Option<Instant>,
    /// Deadline of the job, counted from its release: the scenario's, or else the period.
    pub deadline_ns: Option<Duration>,
    /// Whether it is analysed to finish by then.
    pub schedulable: Option<bool>,
    /// Whether `safe_finish_ns` is by then.
    pub safely_schedulable: Option<bool>,
    /// u, threads kept busy on average (Eq. 3.3).
    pub utilization_threads: Option<f64>,
}

/// One copy in the analysis, where it takes as long as in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysedCopy {
    /// Index of the host thread.
    pub benchmark: u32,
    /// Iteration of the host thread.
    pub iteration: u32,
    /// The host's call.
    pub launched: Instant,
    /// When it ends if kernels finish as analysed; `None` if the horizon comes first.
    pub finish: Option<Instant>,
}

/// Analyses a scenario.
///
/// The host threads run as they do in a simulation; a kernel that enters the EE queue is placed on one merged SM, and
/// what waits for it goes on when it is analysed to finish.
///
/// # Errors
/// [`ProgramError`], as the simulation of the same scenario has it.
pub fn analyse(scenario: &Scenario) -> Result<Analysis<'_>, ProgramError> {
    let prepared = Prepared::new(scenario)?;
    let bounds = (!prepared.finish_is_safe()).then(|| bounds_of(scenario, &prepared, BoundOptions::DECLARED));
    Ok(analysis_of(scenario, &prepared, bounds.as_ref()))
}

/// The same for whoever does not tell when kernels have finished if blocks run shorter: nothing is computed for that,
/// and `safe_finish_ns` is given only where it is the analysed finish.
pub(super) fn analyse_as_stated(scenario: &Scenario) -> Result<Analysis<'_>, ProgramError> {
    let prepared = Prepared::new(scenario)?;
    Ok(analysis_of(scenario, &prepared, None))
}

/// Analyses a scenario and bounds the finish of every operation, as [`analyse()`] and
/// [`finish_bounds()`](super::finish_bounds()) do, with one exploration for both where the order of simultaneous
/// releases makes no difference.
///
/// # Errors
/// [`ProgramError`], as the simulation of the same scenario has it.
pub fn analyse_and_bound(
    scenario: &Scenario,
    options: BoundOptions,
) -> Result<(Analysis<'_>, FinishBounds), ProgramError> {
    let prepared = Prepared::new(scenario)?;
    let bounds = bounds_of(scenario, &prepared, options);
    let is_declared = options == BoundOptions::DECLARED
        || !prepared.order.simultaneous && options.block_times == BoundOptions::DECLARED.block_times;
    let own =
        (!is_declared && !prepared.finish_is_safe()).then(|| bounds_of(scenario, &prepared, BoundOptions::DECLARED));
    let analysis = analysis_of(scenario, &prepared, own.as_ref().or(Some(&bounds)));
    Ok((analysis, bounds))
}

/// Where kernels may finish later than analysed if blocks run shorter, `bounds` say by when they have; `None`: nobody
/// wants to know.
fn analysis_of<'a>(scenario: &'a Scenario, prepared: &Prepared, bounds: Option<&FinishBounds>) -> Analysis<'a> {
    let Prepared { costs, merged, walked, departures, dependence, .. } = prepared;
    let is_safe = prepared.finish_is_safe();
    let kernel_of = |record: &Analysed| match record.kind {
        OperationKind::Kernel(kernel) => scenario.kernels().get(kernel.index()).map(|found| (kernel, found)),
        _ => None,
    };

    let (all_released, mut beyond) = (AllReleased::new(scenario), 0);
    let mut index_of = vec![usize::MAX; walked.operations.len()];
    let mut kernels = Vec::with_capacity(walked.operations.len());
    for (number, record) in (0_u32..).zip(&walked.operations) {
        let Some((id, kernel)) = kernel_of(record) else { continue };
        let finish = record.finish.filter(|finish| *finish <= walked.horizon);
        // Of a scenario that waits they are numbered as without waits.
        let is_same = |bound: &&BoundedOperation| (bound.kind, bound.origin) == (record.kind, record.origin);
        let bound = bounds.and_then(|bounds| bounds.operations.get(number as usize)).filter(is_same);
        let safe_finish = if is_safe { record.finish } else { bound.and_then(|bound| bound.finish) };
        let is_beyond = safe_finish.is_some_and(|finish| !all_released.covers(record.origin.thread, finish));
        beyond += usize::from(is_beyond);
        let safe_finish = safe_finish.filter(|_| !is_beyond);
        let thread = scenario.threads.get(record.origin.thread as usize);
        let deadline = thread.and_then(HostThread::deadline);
        // When the ends of others release a job is not stated.
        let stated = thread.filter(|thread| thread.triggered_by.is_none());
        let job = stated.map(|thread| thread.release_of(u64::from(record.origin.iteration)));
        let due = job.zip(deadline).map(|(job, deadline)| job + deadline);
        let period = scenario.timed(record.origin.thread).and_then(|timed| timed.period);
        let period = period.or_else(|| thread.and_then(HostThread::deadline));
        let (block_time, blocks, threads) = (costs.kernels[id.index()].block_time, kernel.blocks, kernel.shape.threads);
        let task = period.map(|period| KernelTask { period, block_time, blocks, threads });
        index_of[number as usize] = kernels.len();
        kernels.push(AnalysedKernel {
            launch: KernelLaunch::new(scenario, number, kernel, record.stream, record.origin),
            threads: kernel.shape.threads,
            blocks: kernel.blocks,
            g_max: costs.kernels[id.index()].g_max,
            launched_ns: record.launched,
            released_ns: record.queued,
            finish_ns: finish,
            response_ns: finish.map(|finish| finish.since(record.launched)),
            safe_finish_ns: safe_finish,
            deadline_ns: deadline,
            schedulable: finish.zip(due).map(|(finish, due)| is_in_time(finish, due)),
            safely_schedulable: safe_finish.zip(due).map(|(finish, due)| is_in_time(finish, due)),
            utilization_threads: task.and_then(|task| task.utilization()),
        });
    }
    let copies = walked.operations.iter().filter_map(|record| match record.kind {
        OperationKind::Copy(_) => Some(AnalysedCopy {
            benchmark: record.origin.thread,
            iteration: record.origin.iteration,
            launched: record.launched,
            finish: record.finish.filter(|finish| *finish <= walked.horizon),
        }),
        _ => None,
    });
    let alike = matches!(merged, Merged::Slots(_));
    let in_order = || walked.ee_order.iter().filter(|_| alike);
    let mut notes = notes(scenario, departures, costs.sms);
    if is_safe || bounds.is_some() {
        // Waits that no release depends on do not matter.
        let dependence = dependence.as_ref().filter(|_| bounds.is_some_and(|bounds| bounds.operations.is_empty()));
        notes.extend(missing_safe_finish(departures, dependence, &kernels, beyond));
        notes.extend(scenario.known_until().filter(|_| beyond > 0).map(|end| {
            format!(
                "safe_finish_ns is not given of {beyond} of {} kernels, which may finish after {end}: nothing is known of \
                 what is released then",
                kernels.len()
            )
        }));
    }
    let unfinished = kernels.iter().filter(|kernel| kernel.finish_ns.is_none()).count();
    if unfinished > 0 {
        let horizon = walked.horizon;
        notes.push(format!("{unfinished} of {} kernels do not finish by the horizon, {horizon}", kernels.len()));
    }
    Analysis {
        of: scenario,
        scenario: &scenario.name,
        device: &scenario.device().name,
        g_max: kernels.first().map(|kernel| kernel.g_max).filter(|_| alike),
        exact: departures.is_empty(),
        departures: departures.iter().copied().collect(),
        utilization_threads: total(&kernels),
        sms: costs.sms,
        thread_slots: costs.sms * scenario.device().warps_per_sm() * scenario.device().warp_size,
        merged: in_order().filter_map(|&number| as_merged(&walked.operations[number as usize], costs)).collect(),
        merged_order: in_order().map(|&number| index_of[number as usize]).collect(),
        copies: copies.collect(),
        kernels,
        notes,
    }
}

fn as_merged(record: &Analysed, costs: &Costs) -> Option<MergedKernel> {
    let OperationKind::Kernel(kernel) = record.kind else { return None };
    let cost = costs.kernels.get(kernel.index())?;
    Some(MergedKernel { release: record.queued?, block_time: cost.block_time, blocks: cost.blocks })
}

/// Eq. 3.4 over the kernels of the first iteration of every thread.
fn total(kernels: &[AnalysedKernel<'_>]) -> Option<f64> {
    let first = || kernels.iter().filter(|kernel| kernel.launch.iteration == 0);
    first().next()?;
    first().map(|kernel| kernel.utilization_threads).sum()
}

fn notes(scenario: &Scenario, departures: &BTreeSet<Departure>, sms: u32) -> Vec<String> {
    let mut notes = scenario.notes.clone();
    if sms < scenario.device().sms {
        notes.push(format!(
            "the only process is a client of MPS that has blocks on {sms} of {} SMs at once: analysed as on a GPU of \
             {sms}",
            scenario.device().sms
        ));
    }
    notes.extend(departures.iter().map(|departure| format!("not exact: {departure}")));
    if departures.contains(&Departure::UnequalThreads) || departures.contains(&Departure::UnequalResources) {
        notes.push(
            "g_max is defined for equal blocks only: a block starts when the summed resources of all SMs suffice for \
             it, with no more blocks of one kernel than an empty GPU holds (g_max of each kernel)"
                .to_owned(),
        );
    }
    notes
}

/// Why kernels have no safe finish, if some have none but those that may finish beyond what is known.
fn missing_safe_finish(
    departures: &BTreeSet<Departure>,
    dependence: Option<&LaunchDependence>,
    kernels: &[AnalysedKernel<'_>],
    beyond: usize,
) -> Option<String> {
    let unknown = [
        (Departure::Channels, "streams may have to wait for a hardware channel"),
        (Departure::Turns, "contexts take turns"),
        (Departure::Latencies, "the bound does not know launch latencies and kernel gaps"),
        (Departure::MaskedClient, "the bound does not know a client of MPS with SM masks"),
        (Departure::SharedLink, "the bound does not know copies that share a link"),
    ];
    let unknown = unknown.iter().find(|(departure, _)| departures.contains(departure));
    match (dependence, unknown) {
        _ if kernels.is_empty() => None,
        (Some(dependence), _) => Some(dependence.to_string()),
        (None, Some((_, reason))) => Some(format!("safe_finish_ns is not given: {reason}")),
        _ => (kernels.iter().filter(|kernel| kernel.safe_finish_ns.is_none()).count() > beyond).then(|| {
            "safe_finish_ns is not given where it is past 2^64 ns or there are too many operations".to_owned()
        }),
    }
}

/// Turns above which they are not listed.
const MOST_STEPS: usize = 100_000;

/// Why the turns of an analysis are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StepsError {
    /// The algorithm is not for such a scenario.
    #[error("Algorithm 2 is for equal blocks without SM masks only")]
    NotForIt,
    /// There are too many.
    #[error(
        "Algorithm 2 takes more than {MOST_STEPS} steps on this scenario, or its h more than {} pairs in them",
        MOST_STEPS * algorithm_2::PAIRS_OF_A_STEP
    )]
    TooMany,
    /// Times cannot be represented.
    #[error(transparent)]
    Time(#[from] TimeOverflow),
}

impl Analysis<'_> {
    /// Every turn of the printed algorithm's loop on the analysed kernels.
    ///
    /// # Errors
    /// [`StepsError`]
    pub fn printed_steps(&self) -> Result<Vec<AlgorithmStep>, StepsError> {
        let g_max = self.g_max.and_then(NonZeroU32::new).ok_or(StepsError::NotForIt)?;
        algorithm_2::steps(g_max, &self.merged, MOST_STEPS)?.ok_or(StepsError::TooMany)
    }
}
