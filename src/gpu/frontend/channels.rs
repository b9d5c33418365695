//! Who gets a hardware channel that becomes free.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::canonical::Canonical;
use crate::device::ChannelOrder;
use crate::time::Instant;
use crate::workload::GreenContextId;

/// Keeps this choice independent of others under one seed.
const CHANNELS: u64 = 0x6368_616e_6e65_6c73;

/// Channels that some streams share: those of a process, or of a green context whose work queues are limited.
#[derive(Debug, Clone)]
pub(super) struct ChannelPool {
    /// Whose, if of a green context.
    pub(super) green: Option<GreenContextId>,
    /// How many there are; `None`: no limit.
    pub(super) all: Option<u32>,
    /// How many nobody has.
    pub(super) free: Option<u32>,
    /// Kernels that need one, and since when.
    pub(super) queue: ChannelQueue,
}

/// Kernels of one process or green context that wait for a channel, and since when, in the order in which they came.
#[derive(Debug, Clone)]
pub(super) struct ChannelQueue {
    order: ChannelOrder,
    seed: u64,
    waiting: VecDeque<(u32, Instant)>,
    /// How often a channel was handed over.
    taken: u64,
}

impl ChannelQueue {
    pub(super) fn new(order: ChannelOrder, seed: u64) -> Self {
        Self { order, seed, waiting: VecDeque::new(), taken: 0 }
    }

    /// As when it was made.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.taken = 0;
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { order, seed: _, waiting, taken } = self;
        to.list(waiting, |to, &(operation, since)| {
            to.operation(operation);
            to.instant(since);
        });
        // Chance depends on how often it was asked, and nothing else does.
        to.number(if *order == ChannelOrder::Random { *taken } else { 0 });
    }

    pub(super) fn push(&mut self, operation: u32, since: Instant) {
        self.waiting.push_back((operation, since));
    }

    /// The one that gets the next channel. By chance it depends on the seed, on how often a channel was handed over,
    /// and on the number of those that wait.
    pub(super) fn next(&mut self) -> Option<(u32, Instant)> {
        let waiting = self.waiting.len();
        let chosen = match self.order {
            ChannelOrder::Fifo => 0,
            ChannelOrder::Lifo => waiting.checked_sub(1)?,
            ChannelOrder::Random => {
                let mut numbers = ChaCha8Rng::seed_from_u64(self.seed ^ CHANNELS);
                numbers.set_stream(self.taken);
                let scaled = (u128::from(numbers.next_u64()) * waiting as u128) >> 64;
                usize::try_from(scaled).unwrap_or(0)
            }
        };
        let next = self.waiting.remove(chosen)?;
        self.taken += 1;
        Some(next)
    }
}
