//! How much later than their period sporadic tasks release jobs in runs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random delay of up to half a period for each gap, from a stream of random numbers of each task's own.
#[derive(Debug)]
pub(super) struct SporadicDelays(Vec<ChaCha8Rng>);

impl SporadicDelays {
    pub(super) fn new(seed: u64, tasks: usize) -> Self {
        let of = |task| {
            let mut numbers = ChaCha8Rng::seed_from_u64(seed);
            numbers.set_stream(task);
            numbers
        };
        Self((0..tasks as u64).map(of).collect())
    }

    /// The next delay of a task of that period, in the same unit.
    pub(super) fn next(&mut self, task: usize, period: u64) -> u64 {
        self.0[task].random_range(0..=period / 2)
    }
}
