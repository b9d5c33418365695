//! What every analysis of a scenario starts from: its work, the merged SM, and what running the host threads in front
//! of that leads to; and what holds **beyond one hyperperiod**.
//!
//! Claim of the latter: with the hyperperiod H, and an instant x from which on all is periodic, a bound on the response
//! of each job released from x to x + H bounds all jobs a multiple of H after it (Coq: `restarts`, `begins_again`).
//! Assumptions: no threads meet at barriers; what is released before x + H is over by then, in all runs; and so is what
//! is released before x by x, or else nothing but blocks, copies and memsets take time. `docs/analysis.md`, "Beyond one
//! hyperperiod".

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::assumptions;
use super::assumptions::{Departure, LaunchDependence, Order, StatedLaunch, launches, sms_at_once};
use super::merged_resources::{
    Analysed, Costs, Merged, MergedBackend, MergedResources, Pool, PooledKernel, Walk, needs, pool,
};
use super::merged_sm::MergedSm;
use crate::device::BlockDemand;
use crate::gpu::{Gpu, GpuInterface, GpuOptions, SubmitError};
use crate::hosts::{ProgramError, ProgramHost, register_work};
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::{CheckedKernel, KernelId, OperationKind};

/// A scenario made ready.
pub(super) struct Prepared {
    /// By kernel: what one block takes.
    pub(super) demands: Vec<BlockDemand>,
    pub(super) costs: Costs,
    pub(super) merged: Merged,
    pub(super) walked: Walked,
    pub(super) order: Order,
    /// The assumptions of the merged SM that do not hold.
    pub(super) departures: BTreeSet<Departure>,
    pub(super) dependence: Option<LaunchDependence>,
}

impl Prepared {
    pub(super) fn new(scenario: &Scenario) -> Result<Self, ProgramError> {
        refuse_what_nothing_bounds(scenario)?;
        let demands = demands(scenario);
        let launches = launches(scenario);
        let (costs, merged) = merge(scenario, &demands, &launches)?;
        let walked = walk(scenario, &costs, merged.clone())?;
        let order = Order::of(&walked.operations);
        let departures = assumptions::departures(scenario, &demands, &launches, order.chained);
        let dependence = assumptions::launch_dependence(scenario);
        Ok(Self { demands, costs, merged, walked, order, departures, dependence })
    }

    /// Whether every kernel finishes as analysed at the latest (Kiefer and Wolfowitz).
    pub(super) fn finish_is_safe(&self) -> bool {
        self.order.analysed_finish_is_safe(&self.departures) && self.dependence.is_none()
    }
}

/// Kernels that begin beside the one before them in their stream, blocks that come in clusters, and gaps between blocks
/// are unknown to all analyses.
pub(super) fn refuse_what_nothing_bounds(scenario: &Scenario) -> Result<(), ProgramError> {
    if scenario.catalogue.has_programmatic_launches() {
        return Err(ProgramError::Programmatic);
    }
    if scenario.catalogue.synchronizes() {
        return Err(ProgramError::Synchronization);
    }
    if scenario.device().block_gap > Duration::ZERO {
        return Err(ProgramError::BlockGap);
    }
    if scenario.catalogue.has_clusters() { Err(ProgramError::Clusters) } else { Ok(()) }
}

/// What one block of each kernel takes.
pub(super) fn demands(scenario: &Scenario) -> Vec<BlockDemand> {
    scenario.kernels().iter().map(CheckedKernel::demand).collect()
}

/// The merged SM of a scenario and what its operations cost there; `demands` are those of all its kernels, `launches`
/// all that it states.
pub(super) fn merge(
    scenario: &Scenario,
    demands: &[BlockDemand],
    launches: &[StatedLaunch],
) -> Result<(Costs, Merged), SubmitError> {
    let device = &scenario.device();
    let demand_of = |launch: &StatedLaunch| demands.get(launch.kernel.index());
    let first = launches.first().and_then(demand_of);
    let alike = launches.iter().all(|launch| demand_of(launch) == first);
    let masked = launches.iter().any(|launch| launch.allowed_sms < device.sms);
    let sms = sms_at_once(scenario, launches);
    let slots = |demand: &BlockDemand| sms * demand.blocks_per_sm(device);
    let launched: Vec<Pool> = launches.iter().filter_map(demand_of).map(needs).collect();
    let mut kernels = Vec::with_capacity(demands.len());
    for ((id, kernel), demand) in (0..).map(KernelId).zip(scenario.kernels().iter()).zip(demands) {
        let pooled = if alike { [1, 0, 0, 0] } else { needs(demand) };
        kernels.push(PooledKernel {
            release: Instant::ZERO,
            block_time: scenario.longest_block_time(id).unwrap_or(kernel.duration.worst),
            blocks: kernel.blocks,
            needs: pooled,
            g_max: slots(demand),
        });
    }
    for &StatedLaunch { kernel, allowed_sms, .. } in launches {
        let Some(cost) = kernels.get_mut(kernel.index()) else { return Err(SubmitError::Unknown) };
        // A kernel that is launched into streams of different masks counts with the most restrictive.
        if allowed_sms < device.sms {
            cost.g_max = cost.g_max.min(allowed_sms.min(sms) * demands[kernel.index()].blocks_per_sm(device)).max(1);
        }
    }
    let merged = match first.map(slots).and_then(NonZeroU32::new) {
        Some(g_max) if alike && !masked => Merged::Slots(MergedSm::new(g_max)),
        Some(g_max) if alike => Merged::Resources(MergedResources::new([u64::from(g_max.get()), 0, 0, 0])),
        _ => Merged::Resources(MergedResources::new(pool(device, sms, &launched))),
    };
    let copies = scenario.copies().iter().map(|copy| (copy.time(), copy.engine())).collect();
    Ok((Costs { sms, kernels, copies }, merged))
}

/// What running the host threads in front of the merged SM led to.
pub(super) struct Walked {
    pub(super) operations: Vec<Analysed>,
    pub(super) ee_order: Vec<u32>,
    pub(super) horizon: Instant,
}

fn walk(scenario: &Scenario, costs: &Costs, merged: Merged) -> Result<Walked, ProgramError> {
    let horizon = scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
    // The analysis knows nothing of channels, and says so.
    let device = scenario.device().without_channels();
    let backend = MergedBackend::new(costs, merged, device.copy.engines);
    let options = GpuOptions { placement: scenario.placement, horizon, ..GpuOptions::default() };
    let mut gpu = Gpu::with_backend(backend, Walk::default(), &device, options);
    let has_queues = scenario.catalogue.green_contexts().iter().any(|context| context.work_queues.is_some());
    if device == *scenario.device() && !has_queues {
        register_work(scenario, &mut gpu)?;
    } else {
        let catalogue = scenario.catalogue.without_work_queues().on(device.clone());
        gpu.register_work(&catalogue.map_err(SubmitError::from)?)?;
    }
    gpu.run(&mut ProgramHost::new(&scenario.threads))?;
    let (backend, Walk { mut operations }) = gpu.into_back_and_observer();
    let mut ee_order = Vec::new();
    for (operation, finish) in backend.entered {
        let Some(analysed) = operations.get_mut(operation.index()) else { continue };
        // Also of what the horizon cuts off.
        analysed.finish = Some(finish);
        if matches!(analysed.kind, OperationKind::Kernel(_)) {
            ee_order.push(operation.0);
        }
    }
    Ok(Walked { operations, ee_order, horizon })
}

/// From `from` on all jobs are those of one hyperperiod earlier once more.
///
/// From when on what is released is done as one hyperperiod earlier: what was judged then holds for ever
/// (`docs/analysis.md`, "Beyond one hyperperiod").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    /// x + H.
    pub(super) from: Instant,
    /// H.
    pub(super) hyperperiod: Duration,
}

/// 1 ns if a job of the thread has an operation that takes no time, or its host may begin a wait for others' work after
/// its release; otherwise 0.
/// Added to the end of a job, so that one that ends exactly when others are released is not taken to be over before
/// them.
pub(super) fn last_instant(scenario: &Scenario, thread: u32) -> Duration {
    let takes_no_time = |kind: OperationKind| match kind {
        OperationKind::Kernel(kernel) => scenario.longest_block_time(kernel) == Some(Duration::ZERO),
        OperationKind::Copy(copy) => {
            scenario.copies().get(copy.index()).is_none_or(|copy| copy.time() == Duration::ZERO)
        }
        _ => true,
    };
    let Some(thread) = scenario.threads.get(thread as usize) else { return Duration::ZERO };
    let is_instant = |step: &Step| step.submission().is_some_and(|(kind, _)| takes_no_time(kind));
    Duration::from_ns(u64::from(waits_late(thread) || thread.steps.iter().any(is_instant)))
}

/// How long all that is released is in a scenario. What comes later might delay what then still runs.
pub(super) struct AllReleased<'a> {
    scenario: &'a Scenario,
    is_cut: bool,
    until: Option<Instant>,
}

impl<'a> AllReleased<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, is_cut: scenario.cut_at().is_some(), until: scenario.known_until() }
    }

    /// Whether nothing else can come before what a thread has finished by an instant.
    pub(super) fn covers(&self, thread: u32, finish: Instant) -> bool {
        // Of what comes at a horizon all is known; what comes at a cut may be before what takes no time.
        let last = if self.is_cut { last_instant(self.scenario, thread) } else { Duration::ZERO };
        self.until.is_none_or(|until| finish.saturating_add(last) <= until)
    }
}

/// Whether a thread may begin to wait for more than its own operations later than at its release.
fn waits_late(thread: &HostThread) -> bool {
    let mut is_later = thread.barrier.is_some() || thread.period.is_none() && thread.iterations != Some(1);
    thread.steps.iter().any(|step| {
        let begins = is_later && step.waits_for_operations() && *step != Step::AwaitLast;
        is_later |= step.waits_for_operations() || !step.is_cuda_call();
        begins
    })
}

/// What a run of a scenario that is [known until](Scenario::known_until) an instant shows of a response: of one that
/// ends after that, that it is longer than until then, as what may be released later could help it.
pub(super) fn shown(known_until: Option<Instant>, released: Instant, response: Duration) -> Duration {
    let longer = |until: Instant| until.since(released).saturating_add(Duration::from_ns(1));
    known_until.map_or(response, |until| response.min(longer(until)))
}

impl Repeats {
    /// Of threads that no others delay, with their jobs: of which thread each is, when it is released, and after how
    /// long it is done, in all runs.
    ///
    /// There is an instant x before which all that comes once was released, and from which on all else is released
    /// in its period (first less than a period after x). By x + H, with the hyperperiod H, all that was released
    /// before it is done; and so it is at x, or else what was released before x might have taken no time at all
    /// (`is_any_shorter`: that is among the runs which the bounds cover). Then the GPU is empty at x + H as it was at
    /// x, and what is released from x + H on is what was released from x on, H later; and so on. The first such x + H
    /// by which jobs are still judged; `None`: there is none, or threads release others, or meet at barriers, where one
    /// may be under way though all its jobs are done.
    pub(super) fn of(
        scenario: &Scenario,
        threads: &BTreeSet<usize>,
        jobs: impl Iterator<Item = (u32, Instant, Option<Duration>)>,
        is_any_shorter: bool,
    ) -> Option<Self> {
        let threads = || threads.iter().map(|&thread| &scenario.threads[thread]);
        // When others are released by the ends of jobs, differs from run to run.
        if threads().any(|thread| thread.barriers().next().is_some() || thread.triggered_by.is_some()) {
            return None;
        }
        // Beside what has no end, a job that is counted comes once, whatever its period.
        let is_endless = scenario.cut_at().is_some();
        let period_of = |thread: &HostThread| thread.period.filter(|_| !is_endless || thread.is_cut);
        let mut periods = threads().filter_map(period_of);
        let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple)?;
        let is_regular_from = |from: Instant| {
            threads().all(|thread| match period_of(thread) {
                Some(period) => thread.release_of(0) < from.saturating_add(period),
                None => thread.iterations == Some(1) && thread.release_of(0) < from,
            })
        };
        let is_judged_until = |end: Instant| {
            let goes_on = |thread: &HostThread| {
                !thread.may_end_early()
                    && thread.iterations.is_none_or(|iterations| thread.release_of(iterations) >= end)
            };
            threads().all(|thread| period_of(thread).is_none() || goes_on(thread))
                && scenario.horizon.is_none_or(|horizon| Instant::ZERO + horizon >= end)
        };
        let done = |(thread, released, bound): (u32, Instant, Option<Duration>)| {
            (released, bound.map(|bound| released.saturating_add(bound).saturating_add(last_instant(scenario, thread))))
        };
        let mut spans: Vec<(Instant, Option<Instant>)> = jobs.map(done).collect();
        spans.sort_unstable();
        // By when so many of them are done.
        let mut over = vec![Some(Instant::ZERO)];
        for (_, done) in &spans {
            over.push(over.last().copied().flatten().zip(*done).map(|(over, done)| over.max(done)));
        }
        let is_idle = |at: Instant| {
            let before = spans.partition_point(|(released, _)| *released < at);
            over.get(before).copied().flatten().is_some_and(|over| over <= at)
        };
        let all = spans.iter().flat_map(|(released, done)| [Some(*released), *done]).flatten();
        let begins = all.chain([Instant::ZERO]).filter(|from| is_regular_from(*from));
        let begins = begins.filter(|from| is_any_shorter || is_idle(*from));
        let ends = begins.filter_map(|from| from.checked_add(hyperperiod));
        let from = ends.filter(|end| is_judged_until(*end) && is_idle(*end)).min()?;
        Some(Self { from, hyperperiod })
    }
}
