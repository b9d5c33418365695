//! Starts and ends of all blocks in order of time.

use super::observation::Observation;
use crate::logs::LogTime;

/// The start or end of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// All blocks, twice, sorted by time, then operation, then block.
pub(super) struct Events {
    pub(super) starts: Vec<BlockEvent>,
    pub(super) ends: Vec<BlockEvent>,
}

impl Events {
    pub(super) fn of(observation: &Observation) -> Self {
        let sorted = |which: usize| {
            let mut events: Vec<BlockEvent> = (0..)
                .zip(&observation.operations)
                .filter_map(|(operation, observed)| Some((operation, observed.kernel()?)))
                .flat_map(|(operation, kernel)| {
                    let times = (0..).zip(&kernel.blocks.times);
                    times.map(move |(block, time)| BlockEvent { at: time[which], operation, block })
                })
                .collect();
            events.sort_unstable();
            events
        };
        Self { starts: sorted(0), ends: sorted(1) }
    }
}

/// The SM of a block.
pub(super) fn sm_of(observation: &Observation, event: &BlockEvent) -> Option<u32> {
    let kernel = observation.operations.get(event.operation())?.kernel()?;
    kernel.blocks.sms.get(event.block as usize).copied()
}
