//! Families of random scenarios, each a stated distribution.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::sample::{Sample, SampleKernel, SampleStream};
use crate::device::{BlockDemand, Device};
use crate::named::named;

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
