//! How long one block of each kernel takes: profiles do not say, but how long a kernel took that had the GPU to itself
//! does.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::error::GpuProfileError;
use super::known_block_times::KnownBlockTimes;
use super::model::{GpuProfile, ProfiledKernel};
use crate::device::{BlockShape, Device, KernelOccupancy};
use crate::named::named;
use crate::statistics::upper_median;

named! {
    /// From where the block time of a launch is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BlockTimeSource: Serialize {
        /// No other kernel ran from its start to its end: its duration over its waves.
        Alone = "alone",
        /// It overlapped others: the median of launches of the same kernel in the same shape that ran alone.
        SameKernelAlone = "same_kernel_alone",
        /// Launches of the same kernel in the same shape that ran alone in another profile: their median.
        OtherProfile = "other_profile",
        /// Its own duration over its waves: launches of this kernel in this shape take very different times also alone
        /// (the ninth decile is more than 1.5 times the first), or it waits for other GPUs.
        Recorded = "recorded",
        /// It overlapped others and never ran alone: its duration over its waves, which the others may have lengthened.
        UpperBound = "upper_bound",
    }
}

impl BlockTimeSource {
    /// Whether it is that of other launches, so that the launch's own duration is predicted.
    pub const fn is_of_other_launches(self) -> bool {
        matches!(self, Self::SameKernelAlone | Self::OtherProfile)
    }
}

/// The block time of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EstimatedBlockTime {
    /// How long a block takes \[ns\].
    pub block_ns: u64,
    /// From where it is.
    pub source: BlockTimeSource,
}

/// How many launches have their block time from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BlockTimeCounts {
    /// See [`BlockTimeSource::Alone`].
    pub alone: u64,
    /// See [`BlockTimeSource::SameKernelAlone`].
    pub same_kernel_alone: u64,
    /// See [`BlockTimeSource::Recorded`].
    pub recorded: u64,
    /// See [`BlockTimeSource::UpperBound`].
    pub upper_bound: u64,
    /// See [`BlockTimeSource::OtherProfile`].
    pub other_profile: u64,
}

impl BlockTimeCounts {
    pub(super) fn add(&mut self, source: BlockTimeSource) {
        match source {
            BlockTimeSource::Alone => self.alone += 1,
            BlockTimeSource::SameKernelAlone => self.same_kernel_alone += 1,
            BlockTimeSource::Recorded => self.recorded += 1,
            BlockTimeSource::UpperBound => self.upper_bound += 1,
            BlockTimeSource::OtherProfile => self.other_profile += 1,
        }
    }
}

/// What names of kernels contain that wait for other GPUs: those of NCCL and of NVSHMEM.
const COLLECTIVES: [&str; 2] = ["nccl", "nvshmem"];

/// The same function, grid and block.
type Shape = (u32, u32, BlockShape);

fn shape(kernel: &ProfiledKernel) -> Shape {
    (kernel.function, kernel.blocks, kernel.shape)
}

impl GpuProfile {
    /// Which operations are kernels of a GPU that had it to themselves, by operation.
    pub fn ran_alone(&self, gpu: u32) -> Vec<bool> {
        let mut alone = vec![false; self.operations.len()];
        let mut latest_end = 0;
        let mut last: Option<usize> = None;
        for (index, operation) in self.operations.iter().enumerate() {
            if operation.kernel().is_none() || self.gpu_of(operation.stream) != gpu {
                continue;
            }
            alone[index] = operation.start_ns >= latest_end;
            if !alone[index]
                && let Some(last) = last
            {
                // Operations stand by start, so the one that ends last so far is the one that this one meets, and
                // those before it have met it already.
                alone[last] = false;
            }
            if operation.end_ns() >= latest_end {
                latest_end = operation.end_ns();
                last = Some(index);
            }
        }
        alone
    }

    /// Takes the block times of the kernels that ran alone in another profile, on the GPU that runs most kernels there,
    /// for the same kernels here. `device` is that GPU where the other profile does not say which it is.
    ///
    /// # Errors
    /// [`GpuProfileError`] if that GPU is not known, or no kernel ran alone on it.
    pub fn take_block_times_of(&mut self, other: &Self, device: Option<&Device>) -> Result<(), GpuProfileError> {
        let gpu = other.busiest_gpu();
        let recorded_on = match (other.device(gpu), device) {
            (Ok(recorded_on), _) => recorded_on,
            (Err(_), Some(device)) => device.clone(),
            (Err(error), None) => return Err(error),
        };
        let known = other.known_block_times(gpu, &recorded_on);
        if known.times.is_empty() {
            return Err(GpuProfileError::new(&other.file, "no kernel ran alone, so that no block time is known"));
        }
        self.known = Some(Box::new(known));
        Ok(())
    }

    /// The median block times of the kernels that ran alone on a GPU whose SMs are those of `device`.
    pub(super) fn known_block_times(&self, gpu: u32, device: &Device) -> KnownBlockTimes {
        let times = self.times_alone(&self.ran_alone(gpu), device);
        let named = times.into_iter().filter_map(|((function, blocks, shape), times)| {
            Some(((Arc::clone(self.functions.get(function as usize)?), blocks, shape), upper_median(&times)?))
        });
        KnownBlockTimes { file: self.file.clone(), times: named.collect() }
    }

    /// The block time of a kernel, where another profile says it.
    fn known_block_time(&self, kernel: &ProfiledKernel) -> Option<u64> {
        let name = self.name_of(kernel);
        self.known.as_ref()?.times.get(&(Arc::clone(name), kernel.blocks, kernel.shape)).copied()
    }

    fn times_alone(&self, alone: &[bool], device: &Device) -> BTreeMap<Shape, Vec<u64>> {
        let mut times: BTreeMap<Shape, Vec<u64>> = BTreeMap::new();
        for (operation, _) in self.operations.iter().zip(alone).filter(|(_, alone)| **alone) {
            let Some(kernel) = operation.kernel() else { continue };
            times.entry(shape(kernel)).or_default().push(over_waves(kernel, operation.duration_ns, device));
        }
        for times in times.values_mut() {
            times.sort_unstable();
        }
        times
    }

    /// Whether a kernel's name is that of a collective operation, which takes as long as other GPUs let it.
    fn is_collective(&self, kernel: &ProfiledKernel) -> bool {
        let name = self.functions.get(kernel.function as usize);
        name.is_some_and(|name| COLLECTIVES.iter().any(|known| name.contains(known)))
    }

    /// The block time of every kernel of a GPU, by operation, if its SMs are those of `device`. A kernel that can never
    /// run there counts with one wave.
    pub fn block_times(&self, gpu: u32, device: &Device) -> Vec<Option<EstimatedBlockTime>> {
        let alone = self.ran_alone(gpu);
        let times = self.times_alone(&alone, device);
        // Whether they scatter, and their median.
        let known =
            times.iter().filter_map(|(shape, times)| Some((*shape, (is_scattered(times), upper_median(times)?))));
        let known: BTreeMap<Shape, (bool, u64)> = known.collect();
        let estimate = |(operation, alone): (&super::ProfiledOperation, &bool)| {
            let kernel = operation.kernel().filter(|_| self.gpu_of(operation.stream) == gpu)?;
            let own = over_waves(kernel, operation.duration_ns, device);
            if let Some(block_ns) = self.known_block_time(kernel) {
                return Some(EstimatedBlockTime { block_ns, source: BlockTimeSource::OtherProfile });
            }
            let of_shape = known.get(&shape(kernel));
            Some(match of_shape {
                _ if *alone => EstimatedBlockTime { block_ns: own, source: BlockTimeSource::Alone },
                _ if self.is_collective(kernel) || of_shape.is_some_and(|(is_scattered, _)| *is_scattered) => {
                    EstimatedBlockTime { block_ns: own, source: BlockTimeSource::Recorded }
                }
                Some(&(_, block_ns)) => EstimatedBlockTime { block_ns, source: BlockTimeSource::SameKernelAlone },
                None => EstimatedBlockTime { block_ns: own, source: BlockTimeSource::UpperBound },
            })
        };
        self.operations.iter().zip(&alone).map(estimate).collect()
    }
}

/// Whether times of the same work, by size, are so different that their median says nothing of another one: the ninth
/// decile is more than 1.5 times the first.
fn is_scattered(times: &[u64]) -> bool {
    let decile = |part: usize| times.get((times.len() * part).div_ceil(10).saturating_sub(1)).copied();
    decile(1).zip(decile(9)).is_some_and(|(first, ninth)| u128::from(ninth) * 2 > u128::from(first) * 3)
}

/// The duration of a kernel over its waves, rounded to the nearest nanosecond.
fn over_waves(kernel: &ProfiledKernel, duration: u64, device: &Device) -> u64 {
    let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device);
    let waves = u64::from(occupancy.waves.max(1));
    duration.saturating_add(waves / 2) / waves
}
