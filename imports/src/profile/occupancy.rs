//! How much of the GPU each kernel of a profile fills.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{GpuProfile, ProfiledKernel};
use crate::analysis::{OccupancyEntry, OccupancyReport};
use crate::device::{BlockShape, Device, KernelOccupancy};
use crate::time::Duration;

impl GpuProfile {
    /// The occupancy of every kernel that a GPU of the profile ran, on `device`. What was recorded is compared only
    /// where `device` is the one of the recording.
    pub fn occupancy(&self, gpu: u32, device: &Device, is_recorded_on: bool) -> OccupancyReport {
        type Key = (u32, u32, BlockShape, Option<u64>);
        let mut launches: BTreeMap<Key, (ProfiledKernel, u64, u64)> = BTreeMap::new();
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            let Some(kernel) = operation.kernel() else { continue };
            let recorded = kernel.recorded_occupancy.filter(|_| is_recorded_on).map(f64::to_bits);
            let entry =
                launches.entry((kernel.function, kernel.blocks, kernel.shape, recorded)).or_insert((*kernel, 0, 0));
            entry.1 += 1;
            entry.2 = entry.2.saturating_add(operation.duration_ns);
        }
        let entries = launches.into_values().map(|(kernel, count, total)| OccupancyEntry {
            name: Arc::clone(self.name_of(&kernel)),
            count,
            blocks: kernel.blocks,
            shape: kernel.shape,
            occupancy: KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device),
            recorded_percent: kernel.recorded_occupancy.filter(|_| is_recorded_on),
            total: Duration::from_ns(total),
        });
        OccupancyReport::new(entries.collect())
    }
}
