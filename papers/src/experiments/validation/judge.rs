//! Analyses and simulates one sample after another, without making a GPU or a scenario for each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::sample::{Family, NS_PER_MS, Sample};
use crate::analysis::{MergedKernel, MergedResources, MergedSm, PooledKernel, needs, pool};
use crate::device::{BlockDemand, Device};
use crate::gpu::{ContextBackend, Gpu, GpuInterface, GpuOptions, Host, RunError, SubmitError};
use crate::limits::count_turn;
use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::trace::Finishes;
use crate::workload::{
    BlockClock, BlockTime, Kernel, KernelId, OperationId, OperationKind, Origin, Placement, StreamId, StreamSpec,
    WorkloadError,
};

/// How the analysis of one sample compares with its simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Agreement {
    /// All finish times agree.
    Equal,
    /// Some kernel finishes earlier than analysed, and none later.
    Pessimistic,
    /// Some kernel finishes later than analysed: the analysis is unsafe.
    Optimistic,
}

/// A GPU and a merged SM that are used again for every sample.
#[derive(Debug)]
pub(crate) struct Judge {
    device: Device,
    gpu: Gpu<ContextBackend, Finishes>,
    /// For each priority, a stream for every stream of a sample; grows as needed.
    streams: Vec<(i32, Vec<StreamId>)>,
    slots: MergedSm,
    resources: MergedResources,
    ready: BinaryHeap<Reverse<(Instant, bool, usize)>>,
    demands: Vec<BlockDemand>,
    name: Arc<str>,
    /// Release and stream on the GPU, by stream of the sample.
    released: Vec<(Instant, StreamId)>,
    launches: Launches,
    /// Analysed finish by kernel; the stated run's for shrunk durations.
    analysed: Vec<Instant>,
    simulated: Vec<Instant>,
}

/// Everything that a stream of a sample has is launched at its release.
#[derive(Debug, Default)]
struct Launches {
    /// What is launched, in that order: release, stream of the sample, kernel, stream on the GPU.
    launches: Vec<(Instant, u8, u32, StreamId)>,
    /// How many of them are.
    launched: usize,
}

impl Host for Launches {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        self.launched = 0;
        self.wake_for_next(gpu);
        Ok(())
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        let due = self.launches[self.launched..].iter().take_while(|(release, ..)| *release <= gpu.now()).count();
        for &(_, _, kernel, stream) in &self.launches[self.launched..self.launched + due] {
            gpu.submit(stream, OperationKind::Kernel(KernelId(kernel)), Origin::default())?;
        }
        self.launched += due;
        if due > 0 {
            self.wake_for_next(gpu);
        }
        Ok(())
    }
}

impl Launches {
    /// One wake-up at a time: those of one instant would cost more than the launches.
    fn wake_for_next(&self, gpu: &mut impl GpuInterface) {
        if let Some((release, ..)) = self.launches.get(self.launched) {
            gpu.wake_at(*release, 0);
        }
    }
}

impl Judge {
    /// A judge of samples for `device` under `placement`.
    pub(crate) fn new(device: &Device, placement: Placement) -> Self {
        Self {
            device: device.clone(),
            gpu: Gpu::observed_by(Finishes::default(), device, GpuOptions { placement, ..GpuOptions::default() }),
            streams: device.priorities().map(|priority| (priority, Vec::new())).collect(),
            slots: MergedSm::new(NonZeroU32::MIN),
            resources: MergedResources::new(pool(device, device.sms, [])),
            ready: BinaryHeap::new(),
            demands: Vec::new(),
            name: "".into(),
            released: Vec::new(),
            launches: Launches::default(),
            analysed: Vec::new(),
            simulated: Vec::new(),
        }
    }

    /// Analyses and simulates a sample. For shrunk durations the stated run stands for the analysis.
    ///
    /// # Errors
    /// [`RunError`] if the sample does not fit the device.
    pub(crate) fn judge(&mut self, family: Family, sample: &Sample) -> Result<Agreement, RunError> {
        if family == Family::ShrunkDurations {
            self.submit(sample)?;
            self.simulate(sample)?;
            std::mem::swap(&mut self.analysed, &mut self.simulated);
            self.gpu.rewind();
            for (kernel, index) in (0..).map(KernelId).zip(0..sample.kernels.len()) {
                self.gpu.set_block_time(kernel, block_time(sample, index, true))?;
            }
            self.simulate(sample)?;
        } else {
            self.demands.clear();
            for kernel in &sample.kernels {
                self.demands.push(
                    BlockDemand::new(&kernel.shape(), &self.device)
                        .map_err(WorkloadError::from)
                        .map_err(SubmitError::from)?,
                );
            }
            self.analyse(family, sample)?;
            self.submit(sample)?;
            self.simulate(sample)?;
        }
        let pairs = || self.analysed.iter().zip(&self.simulated);
        Ok(if pairs().any(|(analysed, simulated)| analysed < simulated) {
            Agreement::Optimistic
        } else if pairs().any(|(analysed, simulated)| analysed > simulated) {
            Agreement::Pessimistic
        } else {
            Agreement::Equal
        })
    }

    /// Of the sample judged last, for each kernel: (analysed - simulated) / response \[10^-6\], rounded away from 0,
    /// and analysed - simulated \[ns\]. The response is the simulated one.
    pub(crate) fn errors<'a>(&'a self, sample: &'a Sample) -> impl Iterator<Item = (i64, i64)> + 'a {
        let pairs = self.analysed.iter().zip(&self.simulated).zip(&sample.kernels);
        pairs.map(|((analysed, simulated), kernel)| {
            let release = sample.streams.get(usize::from(kernel.stream)).map_or(0, |stream| stream.release_ms);
            let released = Instant::from_ns(u64::from(release) * NS_PER_MS);
            let (late, early) = (analysed.since(*simulated), simulated.since(*analysed));
            let ppm = |error: Duration| {
                let response = simulated.since(released).as_ns().max(1);
                // Dividing 128 bits takes long, and 64 nearly always do.
                match error.as_ns().checked_mul(1_000_000) {
                    Some(millionths) => i64::try_from(millionths.div_ceil(response)),
                    None => i64::try_from((u128::from(error.as_ns()) * 1_000_000).div_ceil(u128::from(response))),
                }
                .or_most()
            };
            let ns = |error: Duration| i64::try_from(error.as_ns()).or_most();
            (ppm(late) - ppm(early), ns(late) - ns(early))
        })
    }

    /// Analysed finish times of the sample judged last, by kernel.
    #[cfg(test)]
    pub(crate) fn analysed(&self) -> &[Instant] {
        &self.analysed
    }

    /// Simulated finish times of the sample judged last, by kernel.
    #[cfg(test)]
    pub(crate) fn simulated(&self) -> &[Instant] {
        &self.simulated
    }

    /// Kernels by release, then declaration; a later kernel of a stream is released when the one before it finishes.
    fn analyse(&mut self, family: Family, sample: &Sample) -> Result<(), RunError> {
        let overflow = |_| RunError::TraceFull(crate::trace::TraceFull);
        self.analysed.clear();
        self.analysed.resize(sample.kernels.len(), Instant::ZERO);
        let alike = self.demands.windows(2).all(|pair| pair[0] == pair[1]);
        let Some(first) = self.demands.first() else { return Ok(()) };
        if alike {
            let mut g_max = self.device.sms * first.blocks_per_sm(&self.device);
            if family == Family::EqualAnyPrinted {
                // Eq. 3.6, where it gives at least one block.
                g_max = self.device.sms * self.device.per_sm.threads / sample.kernels[0].threads;
            }
            self.slots.reset(NonZeroU32::new(g_max).unwrap_or(NonZeroU32::MIN));
        } else {
            self.resources.reset();
        }
        self.ready.clear();
        for (index, stream) in sample.streams.iter().enumerate() {
            if let Some(kernel) = sample.kernels_of(index).next() {
                let release = Instant::from_ns(u64::from(stream.release_ms) * NS_PER_MS);
                self.ready.push(Reverse((release, true, (index << 8) | kernel)));
            }
        }
        // Of what becomes ready at one instant, successors come first, in the order of their predecessors.
        let mut entered = 0;
        while let Some(Reverse((release, _, key))) = self.ready.pop() {
            count_turn();
            let kernel = key & 0xff;
            let drawn = &sample.kernels[kernel];
            let block_time = Duration::from_ns(u64::from(drawn.ms) * NS_PER_MS);
            let finish = if alike {
                self.slots.place(&MergedKernel { release, block_time, blocks: drawn.blocks })
            } else {
                let demand = &self.demands[kernel];
                let g_max = self.device.sms * demand.blocks_per_sm(&self.device);
                self.resources.place(&PooledKernel {
                    release,
                    block_time,
                    blocks: drawn.blocks,
                    needs: needs(demand),
                    g_max,
                })
            };
            let finish = finish.map_err(overflow)?;
            self.analysed[kernel] = finish;
            entered += 1;
            let next = (kernel + 1..sample.kernels.len()).find(|&next| sample.kernels[next].stream == drawn.stream);
            if let Some(next) = next {
                self.ready.push(Reverse((finish, false, (entered << 8) | next)));
            }
        }
        Ok(())
    }

    /// Makes the streams and kernels of a sample known to the GPU.
    fn submit(&mut self, sample: &Sample) -> Result<(), RunError> {
        self.gpu.reset();
        self.released.clear();
        let mut used = [0_usize; 64];
        for stream in &sample.streams {
            let level = self.streams.iter().position(|(priority, _)| *priority == stream.priority);
            // A device has at most 64 priorities; an unknown one is refused by the GPU.
            let level = level.unwrap_or(0);
            let id = if let Some(id) = self.streams[level].1.get(used[level]) {
                *id
            } else {
                let spec = StreamSpec {
                    priority: stream.priority,
                    blocking: false,
                    ..StreamSpec::new(Arc::clone(&self.name))
                };
                let id = self.gpu.add_stream(spec)?;
                self.streams[level].1.push(id);
                id
            };
            used[level] += 1;
            self.released.push((Instant::from_ns(u64::from(stream.release_ms) * NS_PER_MS), id));
        }
        self.launches.launches.clear();
        for (index, kernel) in sample.kernels.iter().enumerate() {
            let (release, stream) = *self.released.get(usize::from(kernel.stream)).ok_or(SubmitError::Unknown)?;
            let id = self.gpu.add_kernel(Kernel {
                name: Arc::clone(&self.name),
                title: Arc::clone(&self.name),
                blocks: kernel.blocks,
                shape: kernel.shape(),
                duration: block_time(sample, index, false),
                clock: BlockClock::RunTime,
                sm_mask: None,
            })?;
            self.launches.launches.push((release, kernel.stream, id.0, stream));
        }
        self.launches.launches.sort_unstable();
        Ok(())
    }

    fn simulate(&mut self, sample: &Sample) -> Result<(), RunError> {
        self.gpu.run(&mut self.launches)?;
        self.simulated.clear();
        self.simulated.resize(sample.kernels.len(), Instant::MAX);
        for (operation, (_, _, kernel, _)) in (0..).map(OperationId).zip(&self.launches.launches) {
            self.simulated[*kernel as usize] = self.gpu.observer().finish(operation).unwrap_or(Instant::MAX);
        }
        Ok(())
    }
}

fn block_time(sample: &Sample, kernel: usize, shrunk: bool) -> BlockTime {
    BlockTime::fixed(Duration::from_ns(u64::from(sample.ms(kernel, shrunk)) * NS_PER_MS))
}
