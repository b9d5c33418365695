//! What every analysis of a scenario starts from: its work, the merged SM, and what running the host threads in front
//! of that leads to.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::assumptions::{self, Departure, LaunchDependence, Order, StatedLaunch, launches, sms_at_once};
use super::merged_backend::{Analysed, Costs, Merged, MergedBackend, Walk};
use super::merged_resources::{MergedResources, PooledKernel};
use super::merged_sm::MergedSm;
use super::pool::{Pool, needs, pool};
use crate::device::BlockDemand;
use crate::gpu::{Gpu, GpuInterface, GpuOptions, SubmitError};
use crate::hosts::{ProgramError, ProgramHost, register_work};
use crate::scenario::Scenario;
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
    for ((id, kernel), demand) in (0..).map(KernelId).zip(scenario.kernels()).zip(demands) {
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
