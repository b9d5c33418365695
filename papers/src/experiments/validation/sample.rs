//! One random scenario, as small as it can be written down, and the families that scenarios are drawn from, each a
//! stated distribution.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::device::{BlockDemand, BlockShape, Device};
use crate::named::named;

/// Nanoseconds in one millisecond, the unit of time of random scenarios.
pub(super) const NS_PER_MS: u64 = 1_000_000;

/// A random scenario: streams, each with the kernels that it gets at its release, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Streams, in declaration order.
    pub(crate) streams: Vec<SampleStream>,
    /// Kernels; those of one stream in its order.
    pub(crate) kernels: Vec<SampleKernel>,
    /// How long blocks of each kernel really run \[ms\]; empty: as stated.
    pub shrunk_ms: Vec<u32>,
}

/// A stream of a [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleStream {
    /// Its priority.
    pub priority: i32,
    /// When all its kernels are launched \[ms\].
    pub release_ms: u32,
}

/// A kernel of a [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleKernel {
    /// Index of its stream.
    pub stream: u8,
    /// Blocks of the grid.
    pub blocks: u32,
    /// How long a block runs \[ms\].
    pub ms: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread; 0: they do not limit it.
    pub registers_per_thread: u32,
    /// Shared memory of a block \[bytes\].
    pub shared_memory_bytes: u32,
}

impl SampleKernel {
    /// What one block needs.
    pub(crate) fn shape(&self) -> BlockShape {
        BlockShape {
            threads: self.threads,
            registers_per_thread: self.registers_per_thread,
            shared_memory_bytes: self.shared_memory_bytes,
        }
    }
}

impl Sample {
    /// Kernels of a stream, by index.
    pub(super) fn kernels_of(&self, stream: usize) -> impl Iterator<Item = usize> + '_ {
        let of_stream = move |kernel: &usize| usize::from(self.kernels[*kernel].stream) == stream;
        (0..self.kernels.len()).filter(of_stream)
    }

    /// How long a block of a kernel runs, as stated or really \[ms\].
    pub(super) fn ms(&self, kernel: usize, shrunk: bool) -> u32 {
        let stated = self.kernels[kernel].ms;
        self.shrunk_ms.get(kernel).copied().filter(|_| shrunk).unwrap_or(stated)
    }

    /// The sample as a scenario file in gpusched's native format, with its stated or its shrunk durations.
    pub(crate) fn to_json(&self, name: &str, shrunk: bool) -> Value {
        let mut kernels = Map::new();
        let mut streams = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let mut operations = Vec::new();
            for kernel in self.kernels_of(index) {
                let SampleKernel { blocks, threads, registers_per_thread, shared_memory_bytes, .. } =
                    self.kernels[kernel];
                let duration = format!("{} ms", self.ms(kernel, shrunk));
                let mut entry = json!({"blocks": blocks, "threads": threads, "duration": duration});
                if shared_memory_bytes > 0 {
                    entry["shared_memory_bytes"] = shared_memory_bytes.into();
                }
                if registers_per_thread > 0 {
                    entry["registers_per_thread"] = registers_per_thread.into();
                }
                kernels.insert(format!("K{kernel}"), entry);
                operations.push(json!({"kernel": format!("K{kernel}")}));
            }
            let mut entry = json!({"name": format!("S{index}")});
            if stream.priority != 0 {
                entry["priority"] = stream.priority.into();
            }
            if stream.release_ms > 0 {
                entry["release"] = format!("{} ms", stream.release_ms).into();
            }
            entry["operations"] = operations.into();
            streams.push(entry);
        }
        json!({"format": "gpusched-scenario/1", "name": name, "kernels": kernels, "streams": streams})
    }
}

named! {
    /// A named distribution of scenarios.
    ///
    /// Unless a family says otherwise, a scenario has ten kernels, each in a stream of its own, released at t = 0; a
    /// grid has 1 to 20 blocks and a block runs for 1 to 20 ms, uniformly (a little wider than the thesis' own
    /// generator, which draws 2 to 20 blocks and 10 to 20 ticks), and all blocks have the same number of threads, a
    /// power of two from 64 to 1024. What a device does not allow in one block is cut to what it does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Family: ALL, from_name {
        /// The thesis' assumption.
        EqualPowerOfTwo = "equal-power-of-two",
        /// All blocks have the same number of threads, uniform from 1 to 1024.
        EqualAny = "equal-any",
        /// As `equal-any`, analysed with `g_max` = `b_max / b` as printed (Eq. 3.6), rounded down.
        EqualAnyPrinted = "equal-any-printed-g-max",
        /// Every kernel has its own number of threads, a multiple of 32 up to 1024, uniform.
        Unequal = "unequal",
        /// 128 threads; every kernel has its own shared memory, 0 to 48 KiB in whole KiB, uniform.
        SharedMemory = "shared-memory",
        /// 128 threads; every kernel has its own registers per thread, 16 to 128, uniform.
        Registers = "registers",
        /// Ten kernels in four streams, each kernel in any of them with equal probability.
        Chains = "chains",
        /// Each stream has priority 0 or -1 with equal probability and is released at 0 to 40 ms, uniform.
        Priorities = "priorities",
        /// Each stream is released at 0 to 40 ms, uniform.
        Releases = "releases",
        /// Ten kernels in four streams, threads as in `unequal`; blocks of each kernel run shorter than stated, from 1
        /// ms to what is stated, uniform. The stated run stands for the analysis: an anomaly is a kernel that finishes
        /// later although nothing runs longer.
        ShrunkDurations = "shrunk-durations",
    }
}

const KERNELS: u8 = 10;
/// Streams of scenarios that have chains.
const STREAMS: u8 = 4;

impl Family {
    /// What is drawn, in a few words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::EqualPowerOfTwo => "equal blocks of 64 to 1024 threads, a power of two (the thesis' assumption)",
            Self::EqualAny => "equal blocks of 1 to 1024 threads",
            Self::EqualAnyPrinted => "equal-any, with g_max as printed in Eq. 3.6",
            Self::Unequal => "every kernel has its own number of threads",
            Self::SharedMemory => "every kernel has its own shared memory",
            Self::Registers => "every kernel has its own registers per thread",
            Self::Chains => "equal blocks, ten kernels in four streams",
            Self::Priorities => "equal blocks, two priorities, releases within 40 ms",
            Self::Releases => "equal blocks, releases within 40 ms",
            Self::ShrunkDurations => "unequal blocks in four streams that run shorter than stated: anomalies",
        }
    }

    /// Keeps the samples of families apart under one seed.
    fn number(self) -> u64 {
        Self::ALL.iter().position(|family| *family == self).unwrap_or(0) as u64
    }
}

impl Sample {
    /// Sample number `index` of a family.
    pub(crate) fn draw(family: Family, device: &Device, seed: u64, index: u64) -> Self {
        let mut sample = Self::default();
        sample.draw_again(family, device, &ChaCha8Rng::seed_from_u64(seed), index);
        sample
    }

    /// As [`Sample::draw`], in place, from the generator that the seed gives.
    pub(super) fn draw_again(&mut self, family: Family, device: &Device, seeded: &ChaCha8Rng, index: u64) {
        let mut numbers = seeded.clone();
        numbers.set_stream(family.number() << 48 | index);
        let chained = matches!(family, Family::Chains | Family::ShrunkDurations);
        let released = matches!(family, Family::Priorities | Family::Releases);
        self.streams.clear();
        for _ in 0..if chained { STREAMS } else { KERNELS } {
            let priority = if family == Family::Priorities && device.priority_levels > 1 {
                -numbers.random_range(0..=1)
            } else {
                0
            };
            let release_ms = if released { numbers.random_range(0..=40) } else { 0 };
            self.streams.push(SampleStream { priority, release_ms });
        }
        let equal_threads = match family {
            Family::EqualAny | Family::EqualAnyPrinted => numbers.random_range(1..=1_024),
            Family::SharedMemory | Family::Registers => 128,
            _ => 64 << numbers.random_range(0..=4),
        };
        self.kernels.clear();
        self.shrunk_ms.clear();
        for kernel in 0..KERNELS {
            let mut drawn = SampleKernel {
                stream: if chained { numbers.random_range(0..STREAMS) } else { kernel },
                blocks: numbers.random_range(1..=20),
                ms: numbers.random_range(1..=20),
                threads: equal_threads,
                registers_per_thread: 0,
                shared_memory_bytes: 0,
            };
            match family {
                Family::Unequal | Family::ShrunkDurations => drawn.threads = 32 * numbers.random_range(1..=32),
                Family::SharedMemory => drawn.shared_memory_bytes = 1_024 * numbers.random_range(0..=48),
                Family::Registers => drawn.registers_per_thread = numbers.random_range(16..=128),
                _ => {}
            }
            if family == Family::ShrunkDurations {
                self.shrunk_ms.push(numbers.random_range(1..=drawn.ms));
            }
            cut(&mut drawn, device);
            self.kernels.push(drawn);
        }
    }
}

/// Cuts what one block of `device` cannot have.
fn cut(kernel: &mut SampleKernel, device: &Device) {
    kernel.threads = kernel.threads.min(device.per_block.threads);
    let reserved = device.shared_memory_allocation.reserved_per_block_bytes;
    let most = device.per_block.shared_memory_bytes.min(device.per_sm.shared_memory_bytes.saturating_sub(reserved));
    kernel.shared_memory_bytes = kernel.shared_memory_bytes.min(most / 1_024 * 1_024);
    if BlockDemand::new(&kernel.shape(), device).is_err() {
        kernel.registers_per_thread = 0;
    }
}

/// What makes one sample smaller than another, the most important first.
pub(super) type Size = [u64; 8];

impl Sample {
    /// Kernels, blocks, streams with a priority, releases, kernels that run shorter than stated, times, threads,
    /// memory.
    pub(super) fn size(&self) -> Size {
        let sum = |of: fn(&SampleKernel) -> u32| self.kernels.iter().map(of).map(u64::from).sum::<u64>();
        let shrunk = self.kernels.iter().zip(&self.shrunk_ms).filter(|(kernel, ms)| kernel.ms != **ms);
        [
            self.kernels.len() as u64,
            sum(|kernel| kernel.blocks),
            self.streams.iter().filter(|stream| stream.priority != 0).count() as u64,
            self.streams.iter().map(|stream| u64::from(stream.release_ms)).sum(),
            shrunk.count() as u64,
            sum(|kernel| kernel.ms) + self.shrunk_ms.iter().map(|ms| u64::from(*ms)).sum::<u64>(),
            sum(|kernel| kernel.threads),
            sum(|kernel| kernel.registers_per_thread + kernel.shared_memory_bytes),
        ]
    }

    /// Samples that are like this one but for one change, smaller ones and a few others.
    pub(super) fn neighbours(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for kernel in 0..self.kernels.len() {
            found.push(self.without(kernel));
        }
        let smaller =
            |value: u32, least: u32| [least, value / 2, value.saturating_sub(1)].map(|smaller| smaller.max(least));
        for index in 0..self.kernels.len() {
            let old = self.kernels[index];
            let mut changed = |change: &dyn Fn(&mut Self)| {
                let mut sample = self.clone();
                change(&mut sample);
                if sample != *self {
                    found.push(sample);
                }
            };
            for blocks in smaller(old.blocks, 1) {
                changed(&|sample| sample.kernels[index].blocks = blocks);
            }
            // Fewer blocks of twice the size.
            changed(&|sample| {
                sample.kernels[index].blocks = old.blocks.div_ceil(2);
                sample.kernels[index].threads = old.threads.saturating_mul(2);
            });
            for ms in smaller(old.ms, 1) {
                changed(&|sample| {
                    sample.kernels[index].ms = ms;
                    if let Some(shrunk) = sample.shrunk_ms.get_mut(index) {
                        *shrunk = (*shrunk).min(ms);
                    }
                });
            }
            if let Some(&shrunk) = self.shrunk_ms.get(index) {
                changed(&|sample| sample.shrunk_ms[index] = old.ms);
                for ms in smaller(shrunk, 1) {
                    changed(&|sample| sample.shrunk_ms[index] = ms);
                }
            }
            for threads in smaller(old.threads / 32, 1) {
                changed(&|sample| sample.kernels[index].threads = 32 * threads);
            }
            for registers in smaller(old.registers_per_thread, 0) {
                changed(&|sample| sample.kernels[index].registers_per_thread = registers);
            }
            for kib in smaller(old.shared_memory_bytes / 1_024, 0) {
                changed(&|sample| sample.kernels[index].shared_memory_bytes = 1_024 * kib);
            }
        }
        for stream in 0..self.streams.len() {
            let old = self.streams[stream];
            for release_ms in smaller(old.release_ms, 0) {
                let mut sample = self.clone();
                sample.streams[stream].release_ms = release_ms;
                found.push(sample);
            }
            let mut sample = self.clone();
            sample.streams[stream].priority = 0;
            found.push(sample);
        }
        // Sizes that belong together: all kernels' times, and the threads of all.
        let mut all = self.clone();
        all.kernels.iter_mut().for_each(|kernel| kernel.ms = (kernel.ms / 2).max(1));
        for (shrunk, kernel) in all.shrunk_ms.iter_mut().zip(&all.kernels) {
            *shrunk = (*shrunk / 2).clamp(1, kernel.ms);
        }
        found.push(all);
        for to in [1_024, 512, 768] {
            let mut all = self.clone();
            all.kernels.iter_mut().for_each(|kernel| {
                kernel.blocks = (kernel.blocks * kernel.threads).div_ceil(to).max(1);
                kernel.threads = to;
            });
            found.push(all);
        }
        found
    }

    /// Without a kernel, and without its stream if that has no other.
    fn without(&self, kernel: usize) -> Self {
        let mut sample = self.clone();
        let stream = sample.kernels.remove(kernel).stream;
        if kernel < sample.shrunk_ms.len() {
            sample.shrunk_ms.remove(kernel);
        }
        if sample.kernels.iter().all(|kernel| kernel.stream != stream) {
            sample.streams.remove(usize::from(stream));
            for other in sample.kernels.iter_mut().filter(|other| other.stream > stream) {
                other.stream -= 1;
            }
        }
        sample
    }

    /// Without streams that have no kernel.
    pub(super) fn without_empty_streams(mut self) -> Self {
        for stream in (0..self.streams.len()).rev() {
            if self.kernels_of(stream).next().is_none() {
                self.streams.remove(stream);
                for kernel in self.kernels.iter_mut().filter(|kernel| usize::from(kernel.stream) > stream) {
                    kernel.stream -= 1;
                }
            }
        }
        self
    }
}
