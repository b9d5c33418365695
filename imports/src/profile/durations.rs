//! How long work takes by itself: one block of each kernel, and each copy.
//!
//! Profiles do not say how long a block takes, but how long a kernel took that had the GPU to itself does. Copies may
//! have shared a link while they were recorded.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use super::gpu_profile::{GpuProfile, GpuProfileError, ProfiledKernel, ProfiledKind, ProfiledOperation};
use super::kernel_medians::{KernelMedians, KernelShape, Learned, OtherMedians, ToldBy};
use super::rescale::{Scale, over_waves};
use super::{Collectives, ImportOptions};
use crate::device::{CopyDirection, CopyEngines, CopySharing, Device};
use crate::named::named;

named! {
    /// From where the block time of a launch is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BlockTimeSource: Serialize {
        /// No other kernel ran from its start to its end: its duration over its waves.
        Alone = "alone",
        /// It overlapped others: the median of launches of the same kernel in the same shape that ran alone.
        SameKernelAlone = "same_kernel_alone",
        /// It overlapped others: the median of launches of the same kernel in the same shape that did too.
        SameKernelOverlapped = "same_kernel_overlapped",
        /// It overlapped others: the median of all launches of the same kernel in the same shape.
        SameKernel = "same_kernel",
        /// Launches of the same kernel in the same shape in another profile, or in an earlier part: their median.
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
    #[doc(hidden)]
    pub const fn is_of_other_launches(self) -> bool {
        match self {
            Self::SameKernelAlone | Self::SameKernelOverlapped | Self::SameKernel | Self::OtherProfile => true,
            Self::Alone | Self::Recorded | Self::UpperBound => false,
        }
    }

    const fn of(times: ToldBy) -> Self {
        match times {
            ToldBy::Sharing | ToldBy::AloneMedian => Self::SameKernelAlone,
            ToldBy::OverlappedMedian => Self::SameKernelOverlapped,
            ToldBy::Median => Self::SameKernel,
        }
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
pub(crate) struct BlockTimeCounts {
    /// See [`BlockTimeSource::Alone`].
    pub alone: u64,
    /// See [`BlockTimeSource::SameKernelAlone`].
    pub same_kernel_alone: u64,
    /// See [`BlockTimeSource::SameKernelOverlapped`].
    pub same_kernel_overlapped: u64,
    /// See [`BlockTimeSource::SameKernel`].
    pub same_kernel: u64,
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
            BlockTimeSource::SameKernelOverlapped => self.same_kernel_overlapped += 1,
            BlockTimeSource::SameKernel => self.same_kernel += 1,
            BlockTimeSource::Recorded => self.recorded += 1,
            BlockTimeSource::UpperBound => self.upper_bound += 1,
            BlockTimeSource::OtherProfile => self.other_profile += 1,
        }
    }
}

/// What names of kernels contain that wait for other GPUs: those of NCCL, NVSHMEM and `DeepEP`, of PyTorch's symmetric
/// memory and of vLLM.
const COLLECTIVES: [&str; 7] =
    ["nccl", "nvshmem", "deep_ep", "all_reduce", "all_gather", "reduce_scatter", "cross_device_reduce"];

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

    /// Takes the medians of another profile, of the GPU that runs most kernels there, for the same kernels here,
    /// wherever that has them. `device` is that GPU where the other profile does not say which it is.
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
        let medians = other.medians(gpu, &(0..u64::MAX));
        if !medians.any_alone() {
            return Err(GpuProfileError::new(&other.file, "no kernel ran alone, so that no block time is known"));
        }
        let numbers: BTreeMap<&str, u32> = self.functions.iter().map(|name| &**name).zip(0..).collect();
        let own = |function: u32| numbers.get(&**other.functions.get(function as usize)?).copied();
        let medians = medians.renumbered(own);
        self.other = Some(Box::new(OtherMedians { file: other.file.clone(), medians, recorded_on }));
        Ok(())
    }

    /// Those of the kernels of a GPU that started within a time.
    fn medians(&self, gpu: u32, started_ns: &Range<u64>) -> KernelMedians {
        let mut durations: BTreeMap<KernelShape, [Vec<u64>; 2]> = BTreeMap::new();
        let operations = self.operations.iter().zip(self.ran_alone(gpu));
        for (operation, alone) in operations.filter(|(operation, _)| started_ns.contains(&operation.start_ns)) {
            let Some(kernel) = operation.kernel().filter(|_| self.gpu_of(operation.stream) == gpu) else { continue };
            durations.entry(kernel.key()).or_default()[usize::from(!alone)].push(operation.duration_ns);
        }
        KernelMedians::of_durations(durations)
    }

    /// What is known of the kernels that start in a part: the medians of another profile, if there are such, or of what
    /// started earlier.
    #[doc(hidden)]
    pub fn learned(&self, gpu: u32, takes: Range<u64>) -> Learned {
        let (medians, recorded_on) = match self.other.as_deref() {
            Some(other) => (other.medians.clone(), Some(other.recorded_on.clone())),
            None => (self.medians(gpu, &(0..takes.start)), None),
        };
        Learned { medians, recorded_on, takes }
    }

    /// Whether a kernel's name is that of a collective operation, which takes as long as other GPUs let it.
    #[doc(hidden)]
    pub fn is_collective(&self, kernel: &ProfiledKernel) -> bool {
        let name = self.functions.get(kernel.function as usize);
        name.is_some_and(|name| COLLECTIVES.iter().any(|known| name.contains(known)))
    }

    /// Whether a kernel keeps its recorded duration because it waits for other GPUs.
    pub(super) fn keeps_duration(&self, kernel: &ProfiledKernel, options: &ImportOptions) -> bool {
        options.collectives == Collectives::Recorded && self.is_collective(kernel)
    }

    /// The block time of every kernel of a GPU, by operation, if its SMs are those of `device`. A kernel that can never
    /// run there counts with one wave.
    #[doc(hidden)]
    pub fn block_times(&self, gpu: u32, device: &Device, options: &ImportOptions) -> Vec<Option<EstimatedBlockTime>> {
        self.learned_block_times(gpu, Scale::none(device, device), options, None)
    }

    /// The same of a GPU that was recorded, for the one that is simulated; where `learned` is all that is known of
    /// kernels, as if they were still to come: only collectives, which are not told, and kernels that were not learned
    /// keep their own times.
    pub(super) fn learned_block_times(
        &self,
        gpu: u32,
        scale: Scale<'_>,
        options: &ImportOptions,
        learned: Option<&Learned>,
    ) -> Vec<Option<EstimatedBlockTime>> {
        let alone = self.ran_alone(gpu);
        let own = self.medians(gpu, &(0..u64::MAX));
        let other = match (learned, self.other.as_deref()) {
            (Some(learned), _) => Some((&learned.medians, learned.recorded_on.as_ref().unwrap_or(scale.recorded_on))),
            (None, other) => other.map(|other| (&other.medians, &other.recorded_on)),
        };
        let estimate = |(operation, &runs_alone): (&super::ProfiledOperation, &bool)| {
            let kernel = operation.kernel().filter(|_| self.gpu_of(operation.stream) == gpu)?;
            let (name, keeps) = (self.name_of(kernel), self.keeps_duration(kernel, options));
            let told = |medians: &KernelMedians| medians.duration_ns(&kernel.key(), runs_alone, options.kernel_times);
            let known = other.filter(|_| !keeps).and_then(|(medians, recorded_on)| Some((told(medians)?, recorded_on)));
            if let Some((duration_ns, recorded_on)) = known {
                let block_ns = scale.block_ns(name, kernel, duration_ns, recorded_on);
                return Some(EstimatedBlockTime { block_ns, source: BlockTimeSource::OtherProfile });
            }
            let (duration_ns, source) = match own.alone_ns(&kernel.key()) {
                _ if runs_alone => (None, BlockTimeSource::Alone),
                _ if keeps || own.are_scattered(&kernel.key()) => (None, BlockTimeSource::Recorded),
                None => (None, BlockTimeSource::UpperBound),
                Some(_) => (told(&own), BlockTimeSource::of(options.kernel_times)),
            };
            let duration_ns = duration_ns.unwrap_or(operation.duration_ns);
            let block_ns = if keeps || source == BlockTimeSource::Recorded {
                // As long in all as it was, in however many waves.
                over_waves(kernel, duration_ns, scale.simulated)
            } else {
                scale.block_ns(name, kernel, duration_ns, scale.recorded_on)
            };
            Some(EstimatedBlockTime { block_ns, source })
        };
        self.operations.iter().zip(&alone).map(estimate).collect()
    }
}

/// Of a nanosecond, in which shares are counted: 1 to 16 divide it.
const PARTS: u128 = 720_720;

fn direction_of(operation: &ProfiledOperation) -> Option<CopyDirection> {
    match operation.kind {
        ProfiledKind::Copy { direction, .. } => Some(direction),
        ProfiledKind::Kernel(_) | ProfiledKind::Memset => None,
    }
}

impl GpuProfile {
    /// How long each copy takes that has its engine to itself \[ns\], by operation; 0 of the others. That is how
    /// long it took, unless `engines` have links that copies share: then each had an equal share of its engine's link
    /// at every instant, and what it had in all is what it takes alone.
    pub(super) fn copy_times(&self, gpu: u32, engines: &CopyEngines) -> Vec<u64> {
        let engine_of = |operation: &ProfiledOperation| direction_of(operation).map(|way| engines.engine_for(way));
        let mut times: Vec<u64> = vec![0; self.operations.len()];
        // By engine: when copies begin and end.
        let mut changes: BTreeMap<u32, BTreeMap<u64, (u128, u128)>> = BTreeMap::new();
        for (operation, time) in self.operations.iter().zip(&mut times) {
            let Some(engine) = engine_of(operation) else { continue };
            *time = operation.duration_ns;
            if self.gpu_of(operation.stream) == gpu {
                let changes = changes.entry(engine).or_default();
                changes.entry(operation.start_ns).or_default().0 += 1;
                changes.entry(operation.end_ns()).or_default().1 += 1;
            }
        }
        if engines.sharing == CopySharing::OneAtATime {
            return times;
        }
        let given: BTreeMap<u32, BTreeMap<u64, u128>> =
            changes.into_iter().map(|(engine, changes)| (engine, given(changes))).collect();
        for (operation, time) in self.operations.iter().zip(&mut times) {
            let Some(given) = engine_of(operation).and_then(|engine| given.get(&engine)) else { continue };
            if let (Some(before), Some(after)) = (given.get(&operation.start_ns), given.get(&operation.end_ns())) {
                *time = u64::try_from((after - before + PARTS / 2) / PARTS).unwrap_or(*time);
            }
        }
        times
    }
}

/// What a copy that runs all the time would have had of a link at each instant at which some begin and end.
fn given(changes: BTreeMap<u64, (u128, u128)>) -> BTreeMap<u64, u128> {
    let (mut since, mut running, mut given) = (0, 0_u128, 0);
    let at_each = changes.into_iter().map(|(at, (begin, end))| {
        given += u128::from(at - since) * PARTS / running.max(1);
        since = at;
        // A copy begins before it ends.
        running = (running + begin).saturating_sub(end);
        (at, given)
    });
    at_each.collect()
}
