//! The random task sets of the study.

use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::analysis::MergedKernel;
use crate::time::{Duration, Instant};

/// Kernels that are all released together, their grids and block times drawn uniformly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskSets {
    /// Blocks of the largest grid; the smallest has 2.
    pub largest_grid: u32,
    /// C \[ns\]; a unit for the thesis, whose times are whole numbers.
    pub block_times: RangeInclusive<u64>,
}

impl TaskSets {
    /// Those of Figs. 3.11 to 3.13, C from 20 to 100: as the thesis' author draws them in the programs `rta_plot` and
    /// `rta_mplot` of his public repository, `daleonpz/master_thesis_markdown`.
    pub(super) const fn thesis(largest_grid: u32) -> Self {
        Self { largest_grid, block_times: 20..=100 }
    }

    /// The same with C a million times as long, so that ends of blocks hardly ever fall on one time.
    pub(super) const fn thesis_in_fine_time(largest_grid: u32) -> Self {
        Self { largest_grid, block_times: 20_000_000..=100_000_000 }
    }

    /// Set `number` of so many kernels; every number has its own draws.
    pub(super) fn draw(&self, kernels: usize, seed: u64, number: u64) -> Vec<MergedKernel> {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(number);
        let kernel = |_| MergedKernel {
            release: Instant::ZERO,
            block_time: Duration::from_ns(numbers.random_range(self.block_times.clone())),
            blocks: numbers.random_range(2..=self.largest_grid.max(2)),
        };
        (0..kernels).map(kernel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_and_times_are_within_the_thesis_ranges_and_differ_from_set_to_set() {
        let sets = TaskSets::thesis(100);
        let set = sets.draw(2_000, 1, 0);
        let blocks: Vec<u32> = set.iter().map(|kernel| kernel.blocks).collect();
        let times: Vec<u64> = set.iter().map(|kernel| kernel.block_time.as_ns()).collect();
        assert_eq!((blocks.iter().min(), blocks.iter().max()), (Some(&2), Some(&100)));
        assert_eq!((times.iter().min(), times.iter().max()), (Some(&20), Some(&100)));
        assert_eq!(set, sets.draw(2_000, 1, 0));
        assert_ne!(set, sets.draw(2_000, 1, 1));
    }
}
