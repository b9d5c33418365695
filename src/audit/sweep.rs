//! Starts and ends of all blocks in order of time.

use std::ops::Range;

use super::facts::Facts;
use super::merge::{Merge, Sequence};
use super::observation::Observation;
use crate::limits::{count_turn, end_if_stopped};
use crate::logs::LogTime;
use crate::proven::OrMost;

/// The start or end of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockEvent {
    pub(super) at: LogTime,
    pub(super) operation: u32,
    pub(super) block: u32,
    /// How long the block ran \[ns\].
    pub(super) ran_ns: i64,
    /// The SM of the block, if that is known.
    pub(super) sm: Option<u32>,
}

impl BlockEvent {
    pub(super) fn operation(&self) -> usize {
        self.operation as usize
    }
}

/// Which of a block's two times counts.
const START: usize = 0;
const END: usize = 1;

/// All blocks, twice, sorted by time, then operation, then block. Where the blocks of a kernel start or end as they are
/// numbered, as most do, nothing is held of them.
pub(super) struct Events<'a> {
    observation: &'a Observation,
    starts: Order<START>,
    ends: Order<END>,
}

/// The order of the starts, or of the ends, of the blocks of each operation; `None` as they are numbered.
struct Order<const WHICH: usize>(Vec<Option<Box<[u32]>>>);

impl<'a> Events<'a> {
    pub(super) fn of(observation: &'a Observation, facts: &[Facts]) -> Self {
        let starts = Order::new(observation, facts.iter().map(|facts| facts.starts_in_order));
        let ends = Order::new(observation, facts.iter().map(|facts| facts.ends_in_order));
        Self { observation, starts, ends }
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        self.starts.events(self.observation)
    }

    /// When what each block held comes free: at its end, or so long after it as the device states.
    pub(super) fn ends(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        let gap = i64::try_from(self.observation.device.block_gap.as_ns()).or_most();
        let freed = move |end: BlockEvent| BlockEvent { at: end.at.saturating_add(gap), ..end };
        self.ends.events(self.observation).map(freed)
    }
}

/// The blocks of one operation; none of what is no kernel.
#[derive(Clone, Copy, Default)]
pub(super) struct Blocks<'a> {
    operation: u32,
    times: &'a [[LogTime; 2]],
    sms: &'a [u32],
}

impl<'a> Blocks<'a> {
    pub(super) fn of(observation: &'a Observation, operation: u32) -> Self {
        let kernel = observation.operations.get(operation as usize).and_then(|operation| operation.kernel());
        let (times, sms): (&[_], &[_]) = match kernel {
            Some(kernel) => (&kernel.blocks.times, &kernel.blocks.sms),
            None => (&[], &[]),
        };
        Self { operation, times, sms }
    }

    /// When a block starts.
    #[inline]
    pub(super) fn start(&self, block: usize) -> Option<LogTime> {
        self.times.get(block).map(|time| time[START])
    }

    /// What is told of a block.
    #[inline]
    pub(super) fn event(&self, at: impl FnOnce(&[LogTime; 2]) -> LogTime, block: usize) -> Option<BlockEvent> {
        let times = self.times.get(block)?;
        Some(BlockEvent {
            at: at(times),
            operation: self.operation,
            // Of more blocks than that, no kernel could have been told.
            block: u32::try_from(block).or_most(),
            ran_ns: times[END].since(times[START]),
            sm: self.sms.get(block).copied(),
        })
    }
}

/// Blocks of one operation, which come before those of any other.
pub(super) struct Run<'a, T> {
    pub(super) blocks: Blocks<'a>,
    pub(super) places: Range<usize>,
    /// What else is known of them.
    pub(super) more: T,
}

/// The blocks of one operation in the order of one of their times.
struct Ordered<'a, const WHICH: usize> {
    blocks: Blocks<'a>,
    /// The place of the next one.
    place: usize,
    /// Their numbers in that order, unless it is that of the numbers.
    order: Option<&'a [u32]>,
}

/// The block that comes at this place.
#[inline]
fn block_at(order: Option<&[u32]>, place: usize) -> Option<usize> {
    match order {
        Some(order) => order.get(place).map(|&block| block as usize),
        None => Some(place),
    }
}

impl<const WHICH: usize> Ordered<'_, WHICH> {
    fn time(&self, place: usize) -> Option<LogTime> {
        self.blocks.times.get(block_at(self.order, place)?).map(|time| time[WHICH])
    }
}

impl<'a, const WHICH: usize> Sequence for Ordered<'a, WHICH> {
    type Key = LogTime;
    type Run = Run<'a, Option<&'a [u32]>>;

    fn key(&self) -> Option<LogTime> {
        self.time(self.place)
    }

    fn run(&mut self, first: impl Fn(LogTime) -> bool) -> Self::Run {
        end_if_stopped();
        let comes_first = |place| self.time(place).is_some_and(&first);
        // In steps that double, then in halves.
        let (mut end, mut step) = (self.place + 1, 1);
        while comes_first(end + step - 1) {
            count_turn();
            (end, step) = (end + step, 2 * step);
        }
        while step > 1 {
            count_turn();
            step /= 2;
            if comes_first(end + step - 1) {
                end += step;
            }
        }
        let places = self.place..end;
        self.place = end;
        Run { blocks: self.blocks, places, more: self.order }
    }
}

/// The blocks of runs, one by one.
struct InOrder<'a, const WHICH: usize, R> {
    runs: R,
    run: Run<'a, Option<&'a [u32]>>,
}

impl<'a, const WHICH: usize, R: Iterator<Item = Run<'a, Option<&'a [u32]>>>> Iterator for InOrder<'a, WHICH, R> {
    type Item = BlockEvent;

    #[inline]
    fn next(&mut self) -> Option<BlockEvent> {
        let place = if let Some(place) = self.run.places.next() {
            place
        } else {
            self.run = self.runs.next()?;
            self.run.places.next()?
        };
        self.run.blocks.event(|times| times[WHICH], block_at(self.run.more, place)?)
    }
}

impl<const WHICH: usize> Order<WHICH> {
    /// Where it is not known that they come as they are numbered, they are sorted.
    fn new(observation: &Observation, in_order: impl Iterator<Item = bool>) -> Self {
        let sorted = |(operation, in_order): (u32, bool)| {
            if in_order {
                return None;
            }
            let times = Blocks::of(observation, operation).times;
            let mut blocks: Box<[u32]> = (0..).take(times.len()).collect();
            crate::sorted::sort_by_key(&mut blocks, |&block| (times[block as usize][WHICH], block));
            Some(blocks)
        };
        Self((0..).zip(in_order).map(sorted).collect())
    }

    fn ordered<'e>(&'e self, observation: &'e Observation, operation: u32) -> Ordered<'e, WHICH> {
        let order = self.0.get(operation as usize).and_then(|order| order.as_deref());
        Ordered { blocks: Blocks::of(observation, operation), place: 0, order }
    }

    fn events<'e>(&'e self, observation: &'e Observation) -> impl Iterator<Item = BlockEvent> + 'e {
        let ordered = move |operation| self.ordered(observation, operation);
        let operations = (0..).take(self.0.len());
        let first = operations.filter_map(|operation| Some((ordered(operation).key()?, operation))).collect();
        let run = Run { blocks: Blocks::default(), places: 0..0, more: None };
        InOrder::<WHICH, _> { runs: Merge::new(first, ordered), run }
    }
}
