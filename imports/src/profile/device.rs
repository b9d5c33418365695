//! The device on which a profile was recorded, and what of it is taken to another one.

use std::collections::BTreeMap;

use super::gpu_profile::{GpuProfile, GpuProfileError};
use super::submissions::KernelGap;
use crate::device::{BlockShape, Device, DeviceError};
use crate::spelling::option;
use crate::time::Duration;

impl GpuProfile {
    /// The GPU that runs most kernels; of several, that of the lowest number.
    pub fn busiest_gpu(&self) -> u32 {
        let counts = self.kernels_by_gpu();
        let most = counts.values().copied().max().unwrap_or(0);
        counts.iter().find(|(_, count)| **count == most).map_or(0, |(gpu, _)| *gpu)
    }

    /// How many kernels each GPU ran.
    pub fn kernels_by_gpu(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for operation in self.operations.iter().filter(|operation| operation.kernel().is_some()) {
            *counts.entry(self.gpu_of(operation.stream)).or_insert(0) += 1;
        }
        counts
    }

    /// The GPU of a stream.
    pub fn gpu_of(&self, stream: u32) -> u32 {
        self.streams.get(stream as usize).map_or(0, |stream| stream.gpu)
    }

    /// The GPU to look at: the one that is asked for, or the busiest, and what to tell the user of that choice.
    ///
    /// # Errors
    /// [`GpuProfileError`] if the GPU that is asked for runs no kernel.
    pub fn choose_gpu(&self, asked: Option<u32>) -> Result<(u32, Option<String>), GpuProfileError> {
        let counts = self.kernels_by_gpu();
        let list = || {
            let each = counts.iter().map(|(gpu, count)| format!("GPU {gpu} runs {count}"));
            each.collect::<Vec<_>>().join(", ")
        };
        match asked {
            Some(gpu) if counts.contains_key(&gpu) => Ok((gpu, None)),
            Some(gpu) => Err(GpuProfileError::new(&self.file, format!("GPU {gpu} runs no kernels")).with_help(list())),
            None if counts.len() < 2 => Ok((self.busiest_gpu(), None)),
            None => {
                let gpu = self.busiest_gpu();
                let other = option("gpu");
                let note = format!("GPU {gpu}, which runs most kernels ({}); {other} chooses another", list());
                Ok((gpu, Some(note)))
            }
        }
    }

    /// What is not in the profile although it is in the file, and how often, for the user.
    pub fn left_out_notes(&self) -> impl Iterator<Item = String> + '_ {
        self.left_out.iter().map(|(why, count)| format!("left out: {count} {why}"))
    }

    /// The device of one of its GPUs: what the file says, completed by what its compute capability and a built-in
    /// device of the same size and name have.
    ///
    /// # Errors
    /// [`GpuProfileError`] if the file says too little of that GPU or its compute capability is not known.
    pub fn device(&self, gpu: u32) -> Result<Device, GpuProfileError> {
        let help = format!("{} names the GPU: a built-in one (gpusched devices) or a device file", option("device"));
        let refuse = |what: String| GpuProfileError::new(&self.file, what).with_help(help.clone());
        let Some(properties) = self.gpus.get(&gpu) else {
            return Err(refuse(format!("it does not say what GPU {gpu} is")));
        };
        properties.device("the profile").map_err(|what| refuse(format!("GPU {gpu} ({}): {what}", properties.name)))
    }
}

/// A device with what the recording shows of it: latencies are those of the recorded machine, on whatever device it is
/// simulated, unless the user says more; and copies within a GPU are seen beside copies to it, so that they have an
/// engine of their own where there is one to spare.
pub(super) fn as_recorded(device: &Device, latency_ns: u64, gap: Option<KernelGap>) -> Result<Device, DeviceError> {
    let gap = gap.map_or(device.kernel_gap, |gap| Duration::from_ns(gap.gap_ns));
    device.with_latencies(Duration::from_ns(latency_ns), gap).with(|spec| {
        if spec.copy.engines > 2 {
            spec.copy.device_to_device_engine = 2;
        }
    })
}

/// A block that takes no more than one may on a device.
pub(super) fn within_limits(shape: BlockShape, device: &Device) -> BlockShape {
    let (limits, warp) = (&device.per_block, device.warp_size.max(1));
    let warps = shape.threads.div_ceil(warp).next_multiple_of(device.register_allocation.warps_rounded_to.max(1));
    let threads = warps.saturating_mul(warp).max(1);
    // Registers are dealt in units of 8 a thread.
    BlockShape {
        registers_per_thread: shape.registers_per_thread.min(limits.registers / threads / 8 * 8),
        shared_memory_bytes: shape.shared_memory_bytes.min(limits.shared_memory_bytes),
        ..shape
    }
}
