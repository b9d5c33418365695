//! The numbers by which random placement picks SMs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random numbers that depend only on the seed and on what they are for, never on the order in which they are drawn.
/// The generator is kept: seeding one costs more than the numbers of a wave.
#[derive(Debug, Clone, Default)]
pub(super) struct PlacementNumbers {
    /// Behind a pointer, as most policies never need it and whoever holds it is moved about.
    seeded: Option<Box<(u64, ChaCha8Rng)>>,
}

impl PlacementNumbers {
    /// Turns to the numbers of the wave of operation `operation` that starts with block `first_block`.
    pub(super) fn begin(&mut self, seed: u64, operation: u32, first_block: u32) {
        let stream = u64::from(operation) << 32 | u64::from(first_block);
        if self.seeded.as_ref().is_none_or(|seeded| seeded.0 != seed) {
            self.seeded = Some(Box::new((seed, ChaCha8Rng::seed_from_u64(seed))));
        }
        if let Some((_, numbers)) = self.seeded.as_deref_mut() {
            numbers.set_word_pos(0);
            numbers.set_stream(stream);
        }
    }

    /// Uniform in `0..bound`; 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        match self.seeded.as_deref_mut() {
            Some((_, numbers)) if bound > 0 => numbers.random_range(0..bound),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_kept_generator_gives_what_a_new_one_gives(
            waves in prop::collection::vec((0_u64..3, any::<u32>(), any::<u32>(), 0_usize..40), 1..8),
        ) {
            let mut kept = PlacementNumbers::default();
            for (seed, operation, first_block, draws) in waves {
                kept.begin(seed, operation, first_block);
                let mut new = ChaCha8Rng::seed_from_u64(seed);
                new.set_stream(u64::from(operation) << 32 | u64::from(first_block));
                for bound in 1..=draws {
                    prop_assert_eq!(kept.below(bound), new.random_range(0..bound));
                }
            }
        }
    }
}
