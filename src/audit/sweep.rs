//! Starts and ends of all blocks in order of time.

use super::merge::Merge;
use super::observation::Observation;
use crate::logs::LogTime;

/// The start or end of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockEvent {
    pub(super) at: LogTime,
    pub(super) operation: u32,
    pub(super) block: u32,
}

impl BlockEvent {
    pub(super) fn operation(&self) -> usize {
        self.operation as usize
    }
}

/// All blocks, twice, sorted by time, then operation, then block. Where the blocks of a kernel start or end as they are
/// numbered, as most do, nothing is held of them.
pub(super) struct Events<'a> {
    observation: &'a Observation,
    starts: Order,
    ends: Order,
}

/// The order of the starts, or of the ends, of the blocks of each operation.
struct Order {
    /// Of a block's times, the one that counts.
    which: usize,
    /// By operation; `None` as they are numbered.
    blocks: Vec<Option<Box<[u32]>>>,
}

impl<'a> Events<'a> {
    pub(super) fn of(observation: &'a Observation) -> Self {
        Self { observation, starts: Order::new(observation, 0), ends: Order::new(observation, 1) }
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        self.starts.events(self.observation)
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        self.ends.events(self.observation)
    }
}

/// The times of the blocks of an operation; none of what is no kernel.
pub(super) fn times_of(observation: &Observation, operation: u32) -> &[[LogTime; 2]] {
    let kernel = observation.operations.get(operation as usize).and_then(|operation| operation.kernel());
    kernel.map_or(&[], |kernel| &kernel.blocks.times)
}

impl Order {
    fn new(observation: &Observation, which: usize) -> Self {
        let sorted = |(operation, _): (u32, _)| {
            let times = times_of(observation, operation);
            if times.is_sorted_by_key(|time| time[which]) {
                return None;
            }
            let mut blocks: Box<[u32]> = (0..).take(times.len()).collect();
            blocks.sort_unstable_by_key(|&block| (times[block as usize][which], block));
            Some(blocks)
        };
        Self { which, blocks: (0..).zip(&observation.operations).map(sorted).collect() }
    }

    /// The block of an operation that comes at this place.
    fn block(&self, operation: u32, place: u32) -> u32 {
        match &self.blocks[operation as usize] {
            Some(blocks) => blocks.get(place as usize).copied().unwrap_or(u32::MAX),
            None => place,
        }
    }

    fn events<'e>(&'e self, observation: &'e Observation) -> impl Iterator<Item = BlockEvent> + 'e {
        let at = |operation, place| {
            let time = times_of(observation, operation).get(self.block(operation, place) as usize)?;
            Some(time[self.which])
        };
        let operations = (0..).take(self.blocks.len());
        let first = operations.filter_map(|operation| Some((at(operation, 0)?, operation))).collect();
        Merge::new(first, move |(_, operation, place)| at(operation, place + 1))
            .map(|(at, operation, place)| BlockEvent { at, operation, block: self.block(operation, place) })
    }
}

/// The SM of a block.
pub(super) fn sm_of(observation: &Observation, event: &BlockEvent) -> Option<u32> {
    let kernel = observation.operations.get(event.operation())?.kernel()?;
    kernel.blocks.sms.get(event.block as usize).copied()
}
