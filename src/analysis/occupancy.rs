//! How each kernel of a scenario or a profile fills the GPU when it runs alone, beside what the profiler says of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::{BlockShape, Device, KernelOccupancy};
use crate::profile::{GpuProfile, ProfiledKernel};
use crate::proven::Proven;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;
use crate::workload::KernelId;

/// Launches of one kernel in one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyEntry {
    /// Name of the function.
    pub name: Arc<str>,
    /// Launches.
    pub count: u64,
    /// Blocks.
    pub blocks: u32,
    /// What one block takes.
    pub shape: BlockShape,
    /// How it fills the GPU.
    pub occupancy: KernelOccupancy,
    /// What the profiler says \[percent\]; 0 where it could not tell.
    pub recorded_percent: Option<f64>,
    /// All launches together, as recorded or, of a scenario, by block times alone.
    pub total: Duration,
}

/// The occupancy of everything that runs, and how it compares.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyReport {
    /// By total time, longest first.
    pub entries: Vec<OccupancyEntry>,
    /// Launches whose recorded occupancy is above 0.
    pub compared: u64,
    /// Those of them for which it is what was computed, rounded to whole percent.
    pub agreeing: u64,
    /// What its user should know.
    pub notes: Vec<String>,
}

impl OccupancyReport {
    /// A report of entries.
    pub fn new(mut entries: Vec<OccupancyEntry>) -> Self {
        entries.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
        let above_zero = |entry: &&OccupancyEntry| entry.recorded_percent.is_some_and(|percent| percent > 0.0);
        let agrees = |entry: &&OccupancyEntry| {
            entry.recorded_percent.is_some_and(|percent| entry.occupancy.agrees_with(percent))
        };
        let count = |entry: &OccupancyEntry| entry.count;
        let compared = entries.iter().filter(above_zero).map(count).sum();
        let agreeing = entries.iter().filter(above_zero).filter(agrees).map(count).sum();
        Self { entries, compared, agreeing, notes: Vec::new() }
    }
}

/// The occupancy of every kernel that a GPU of a profile ran, on `device`. What was recorded is compared only where
/// `device` is the one of the recording.
pub fn occupancy_of_profile(profile: &GpuProfile, gpu: u32, device: &Device, is_recorded_on: bool) -> OccupancyReport {
    type Key = (u32, u32, BlockShape, Option<u64>);
    let mut launches: BTreeMap<Key, (ProfiledKernel, u64, u64)> = BTreeMap::new();
    for operation in profile.operations.iter().filter(|operation| profile.gpu_of(operation.stream) == gpu) {
        let Some(kernel) = operation.kernel() else { continue };
        let recorded = kernel.recorded_occupancy.filter(|_| is_recorded_on).map(f64::to_bits);
        let entry = launches.entry((kernel.function, kernel.blocks, kernel.shape, recorded)).or_insert((*kernel, 0, 0));
        entry.1 += 1;
        entry.2 = entry.2.saturating_add(operation.duration_ns);
    }
    let entries = launches.into_values().map(|(kernel, count, total)| OccupancyEntry {
        name: Arc::clone(profile.name_of(&kernel)),
        count,
        blocks: kernel.blocks,
        shape: kernel.shape,
        occupancy: KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device),
        recorded_percent: kernel.recorded_occupancy.filter(|_| is_recorded_on),
        total: Duration::from_ns(total),
    });
    OccupancyReport::new(entries.collect())
}

/// The occupancy of every kernel that a scenario launches, on the SMs that it may use there. A thread whose iterations
/// have no limit counts with one.
pub fn occupancy_of_scenario(scenario: &Scenario) -> OccupancyReport {
    let mut launches: BTreeMap<(KernelId, Vec<u32>, usize), u64> = BTreeMap::new();
    for thread in &scenario.threads {
        let iterations = thread.iterations.unwrap_or(1);
        for (index, step) in thread.steps.iter().enumerate() {
            let Step::Launch(kernel, stream) = *step else { continue };
            let repeated = thread.steps.iter().enumerate().filter_map(|(at, step)| match step {
                Step::Repeat { from, times } if (*from..at).contains(&index) => Some(*times),
                _ => None,
            });
            let count = repeated.fold(iterations, u64::saturating_mul);
            let sms: Vec<u32> = scenario.catalogue.sms(kernel, stream).collect();
            let Some(process) = scenario.catalogue.process_of(stream) else { continue };
            let at_once = scenario.catalogue.sms_at_once(process) as usize;
            let at_once = at_once.min(sms.len());
            let entry = launches.entry((kernel, sms, at_once)).or_insert(0);
            *entry = entry.saturating_add(count);
        }
    }
    let device = scenario.device();
    let entry = |((id, _, at_once), count): ((KernelId, Vec<u32>, usize), u64)| {
        let kernel = scenario.kernels().get(id.index())?;
        let sms = u32::try_from(at_once).proven("no more than the device has");
        let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, sms, device);
        let alone = kernel.duration.worst.as_ns().saturating_mul(u64::from(occupancy.waves));
        Some(OccupancyEntry {
            name: Arc::clone(&kernel.name),
            count,
            blocks: kernel.blocks,
            shape: kernel.shape,
            occupancy,
            recorded_percent: None,
            total: Duration::from_ns(alone.saturating_mul(count)),
        })
    };
    let mut report = OccupancyReport::new(launches.into_iter().filter_map(entry).collect());
    if scenario.catalogue.has_clusters() {
        let what = "blocks count one by one here: clusters may need more waves, which simulate has";
        report.notes.push(what.to_owned());
    }
    report
}
