//! For how long a block holds what it takes: times that vary, and the gap after it where the device states one.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Share, SmBackend};
use crate::canonical::Canonical;
use crate::device::BlockDemand;
use crate::gpu::backend::BackendContext;
use crate::gpu::calendar::Event;
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::workload::{BlockTime, OperationId, ProcessId};

// The gap between the end of a block and the start of the one that takes its place, where the device states one.

/// What ended blocks still hold.
#[derive(Debug, Clone)]
pub(in crate::gpu::backend) struct Freeing {
    pub(in crate::gpu::backend) gap: Duration,
    /// In the order in which it comes free, as the gap is always the same.
    held: VecDeque<Held>,
    /// For when the calendar has that the next of it comes free, which nobody need know while nothing waits.
    noted: Option<Instant>,
}

/// What blocks of one wave hold, and until when.
#[derive(Debug, Clone)]
struct Held {
    until: Instant,
    demand: BlockDemand,
    process: ProcessId,
    shares: Vec<Share>,
}

impl Freeing {
    pub(in crate::gpu::backend) const fn new(gap: Duration) -> Self {
        Self { gap, held: VecDeque::new(), noted: None }
    }

    pub(in crate::gpu::backend) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(in crate::gpu::backend) fn clear(&mut self) {
        self.held.clear();
        self.noted = None;
    }

    /// Forgets the instant that was noted: while its context was suspended the calendar stood still, so that the event
    /// comes later than noted.
    pub(in crate::gpu::backend) fn forget_note(&mut self) {
        self.noted = None;
    }

    pub(in crate::gpu::backend) fn hold(
        &mut self,
        now: Instant,
        demand: BlockDemand,
        process: ProcessId,
        shares: Vec<Share>,
    ) {
        self.held.push_back(Held { until: now.saturating_add(self.gap), demand, process, shares });
    }

    pub(in crate::gpu::backend) fn write_state(&self, to: &mut Canonical) {
        to.list(&self.held, |to, Held { until, demand, process, shares }| {
            to.instant(*until);
            to.value((demand, process));
            to.list(shares, |to, &Share { sm, blocks }| to.value((sm, blocks)));
        });
        to.optional(self.noted, Canonical::instant);
    }
}

impl SmBackend {
    /// Gives back what ended blocks still hold, if their gap is over at `now`.
    pub(in crate::gpu::backend) fn free_what_is_due(&mut self, now: Instant) {
        while let Some(held) = self.freeing.held.pop_front_if(|held| held.until <= now) {
            for &Share { sm, blocks } in &held.shares {
                self.give_back(sm, &held.demand, held.process, blocks);
            }
            self.changed = true;
        }
    }

    /// Where the head of a queue waits, what comes free next may let it go on.
    pub(in crate::gpu::backend) fn note_next_free<O>(&mut self, context: &mut BackendContext<'_, O>) {
        let Some(until) = self.freeing.held.front().map(|held| held.until) else { return };
        if self.freeing.noted != Some(until) && self.first_head().is_some() {
            context.calendar.complete_at(until, Event::Freed);
            self.freeing.noted = Some(until);
        }
    }
}

// Block times that vary.

/// Keeps the durations of blocks independent of their placement under one seed.
const DURATIONS: u64 = 0x6475_7261_7469_6f6e;

/// Draws block times that depend only on the seed, the operation and the block, never on the order in which they are
/// drawn. The generator is kept, and goes on by itself where the next block of one kernel is asked for: seeding one,
/// and filling its buffer, for every block took a quarter of a run.
#[derive(Debug, Clone)]
pub(in crate::gpu::backend) struct BlockTimes {
    seed: u64,
    numbers: Option<ChaCha8Rng>,
    /// The operation and the block whose number comes next.
    next: Option<(OperationId, u32)>,
}

impl BlockTimes {
    pub(in crate::gpu::backend) fn new(seed: u64) -> Self {
        Self { seed, numbers: None, next: None }
    }

    /// Writes the state: as no block is drawn twice, it is the same only if none was drawn in between.
    pub(in crate::gpu::backend) fn write_state(&self, to: &mut Canonical) {
        let Self { seed: _, numbers: _, next } = self;
        to.value(next);
    }

    /// The duration of block `block` of operation `operation`, uniform in `[best, worst]` up to a bias below 2^-64 per
    /// value.
    pub(in crate::gpu::backend) fn draw(&mut self, operation: OperationId, block: u32, time: BlockTime) -> Duration {
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
