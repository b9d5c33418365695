//! Making a counterexample as small as it goes.

use super::family::Family;
use super::judge::{Agreement, Judge};
use super::sample::Sample;
use crate::limits::count_turn;

/// What makes one sample smaller than another, the most important first.
pub(super) type Size = [u64; 8];

impl Sample {
    /// Kernels, blocks, streams with a priority, releases, kernels that run shorter than stated, times, threads,
    /// memory.
    pub(super) fn size(&self) -> Size {
        let sum = |of: fn(&super::sample::SampleKernel) -> u32| self.kernels.iter().map(of).map(u64::from).sum::<u64>();
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
    fn neighbours(&self) -> Vec<Self> {
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
}

/// The smallest sample reached from `sample` by single changes that is still judged `verdict`.
pub(super) fn shrink(judge: &mut Judge, family: Family, mut sample: Sample, verdict: Agreement) -> Sample {
    sample = without_empty_streams(sample);
    loop {
        count_turn();
        let size = sample.size();
        let mut smaller: Vec<Sample> = sample
            .neighbours()
            .into_iter()
            .filter(|neighbour| neighbour.size() < size && keeps(family, neighbour))
            .collect();
        crate::sorted::sort_by_key(&mut smaller, Sample::size);
        let still = |neighbour: &Sample| judge.judge(family, neighbour).is_ok_and(|found| found == verdict);
        match smaller.into_iter().find(still) {
            Some(found) => sample = found,
            None => return sample,
        }
    }
}

/// Whether a shrunk sample is still one of its family.
fn keeps(family: Family, sample: &Sample) -> bool {
    let alike = sample.kernels.windows(2).all(|pair| pair[0].shape() == pair[1].shape());
    !sample.kernels.is_empty()
        && match family {
            Family::EqualPowerOfTwo | Family::Chains | Family::Priorities | Family::Releases => {
                alike && sample.kernels[0].threads.is_power_of_two() && sample.kernels[0].threads >= 64
            }
            Family::EqualAny | Family::EqualAnyPrinted => alike,
            Family::SharedMemory | Family::Registers => sample.kernels.iter().all(|kernel| kernel.threads == 128),
            Family::Unequal | Family::ShrunkDurations => true,
        }
}

fn without_empty_streams(mut sample: Sample) -> Sample {
    for stream in (0..sample.streams.len()).rev() {
        if sample.kernels_of(stream).next().is_none() {
            sample.streams.remove(stream);
            for kernel in sample.kernels.iter_mut().filter(|kernel| usize::from(kernel.stream) > stream) {
                kernel.stream -= 1;
            }
        }
    }
    sample
}
