//! Random numbers that depend only on the seed and on what they are for, never on the order in which they are drawn.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::time::Duration;
use crate::workload::BlockTime;

/// Keeps the durations of blocks independent of their placement under one seed.
const DURATIONS: u64 = 0x6475_7261_7469_6f6e;

/// The duration of block `block` of operation `operation`, uniform in `[best, worst]` up to a bias below 2^-64 per
/// value.
pub(super) fn block_duration(seed: u64, operation: u32, block: u32, time: BlockTime) -> Duration {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed ^ DURATIONS);
    numbers.set_stream(u64::from(operation));
    numbers.set_word_pos(u128::from(block) * 2);
    let values = u128::from(time.worst.as_ns() - time.best.as_ns()) + 1;
    let offset = (u128::from(numbers.next_u64()) * values) >> 64;
    // Below `values`, which came out of 64 bits plus one, so it fits.
    Duration::from_ns(time.best.as_ns() + u64::try_from(offset).unwrap_or(u64::MAX))
}
