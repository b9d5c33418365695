//! Block times that vary.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::canonical::Canonical;
use crate::proven::Proven;
use crate::time::Duration;
use crate::workload::{BlockTime, OperationId};

/// Keeps the durations of blocks independent of their placement under one seed.
const DURATIONS: u64 = 0x6475_7261_7469_6f6e;

/// Draws block times that depend only on the seed, the operation and the block, never on the order in which they are
/// drawn. The generator is kept, and goes on by itself where the next block of one kernel is asked for: seeding one,
/// and filling its buffer, for every block took a quarter of a run.
#[derive(Debug, Clone)]
pub(super) struct BlockTimes {
    seed: u64,
    numbers: Option<ChaCha8Rng>,
    /// The operation and the block whose number comes next.
    next: Option<(OperationId, u32)>,
}

impl BlockTimes {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, numbers: None, next: None }
    }

    /// Writes the state: as no block is drawn twice, it is the same only if none was drawn in between.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { seed: _, numbers: _, next } = self;
        to.value(next);
    }

    /// The duration of block `block` of operation `operation`, uniform in `[best, worst]` up to a bias below 2^-64 per
    /// value.
    pub(super) fn draw(&mut self, operation: OperationId, block: u32, time: BlockTime) -> Duration {
        let numbers = self.numbers.get_or_insert_with(|| ChaCha8Rng::seed_from_u64(self.seed ^ DURATIONS));
        if self.next != Some((operation, block)) {
            if self.next.is_none_or(|(known, _)| known != operation) {
                // At the beginning, where the stream can be changed without filling the buffer twice.
                numbers.set_word_pos(0);
                numbers.set_stream(u64::from(operation.0));
            }
            numbers.set_word_pos(u128::from(block) * 2);
        }
        self.next = block.checked_add(1).map(|next| (operation, next));
        let values = u128::from(time.worst.as_ns() - time.best.as_ns()) + 1;
        let offset = (u128::from(numbers.next_u64()) * values) >> 64;
        Duration::from_ns(time.best.as_ns().saturating_add(
            u64::try_from(offset).proven("64 random bits are below 1, so that the offset is below the values"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition: a new generator for every block.
    fn plain(seed: u64, operation: OperationId, block: u32, time: BlockTime) -> Duration {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed ^ DURATIONS);
        numbers.set_stream(u64::from(operation.0));
        numbers.set_word_pos(u128::from(block) * 2);
        let values = u128::from(time.worst.as_ns() - time.best.as_ns()) + 1;
        let offset = (u128::from(numbers.next_u64()) * values) >> 64;
        Duration::from_ns(time.best.as_ns() + u64::try_from(offset).unwrap())
    }

    proptest! {
        #[test]
        fn a_kept_generator_draws_what_a_new_one_draws(
            seed in any::<u64>(),
            draws in prop::collection::vec((0_u32..3, prop_oneof![0_u32..100, any::<u32>()], 1_u32..70), 1..8),
        ) {
            let time = BlockTime { best: Duration::from_ns(1_000), worst: Duration::from_ns(u64::MAX) };
            let mut kept = BlockTimes::new(seed);
            for (operation, first, blocks) in draws {
                for block in first..first.saturating_add(blocks) {
                    let operation = OperationId(operation);
                    prop_assert_eq!(kept.draw(operation, block, time), plain(seed, operation, block, time));
                }
            }
        }
    }
}
