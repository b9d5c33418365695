//! Starts and ends of all blocks in order of time, merged from those of each kernel.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use super::executions::Execution;
use super::observed_run::ObservedRun;
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
    observed: &'a ObservedRun,
    starts: Order<START>,
    ends: Order<END>,
}

/// The order of the starts, or of the ends, of the blocks of each operation; `None` as they are numbered.
struct Order<const WHICH: usize>(Vec<Option<Box<[u32]>>>);

impl<'a> Events<'a> {
    pub(super) fn of(observed: &'a ObservedRun, executed: &[Execution]) -> Self {
        let starts = Order::new(observed, executed.iter().map(|executed| executed.starts_in_order));
        let ends = Order::new(observed, executed.iter().map(|executed| executed.ends_in_order));
        Self { observed, starts, ends }
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        self.starts.events(self.observed)
    }

    /// When what each block held comes free: at its end, or so long after it as the device states.
    pub(super) fn ends(&self) -> impl Iterator<Item = BlockEvent> + '_ {
        let gap = i64::try_from(self.observed.device.block_gap.as_ns()).or_most();
        let freed = move |end: BlockEvent| BlockEvent { at: end.at.saturating_add(gap), ..end };
        self.ends.events(self.observed).map(freed)
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
    pub(super) fn of(observed: &'a ObservedRun, operation: u32) -> Self {
        let kernel = observed.operations.get(operation as usize).and_then(|operation| operation.kernel());
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
    fn new(observed: &ObservedRun, in_order: impl Iterator<Item = bool>) -> Self {
        let sorted = |(operation, in_order): (u32, bool)| {
            if in_order {
                return None;
            }
            let times = Blocks::of(observed, operation).times;
            let mut blocks: Box<[u32]> = (0..).take(times.len()).collect();
            crate::sorted::sort_by_key(&mut blocks, |&block| (times[block as usize][WHICH], block));
            Some(blocks)
        };
        Self((0..).zip(in_order).map(sorted).collect())
    }

    fn ordered<'e>(&'e self, observed: &'e ObservedRun, operation: u32) -> Ordered<'e, WHICH> {
        let order = self.0.get(operation as usize).and_then(|order| order.as_deref());
        Ordered { blocks: Blocks::of(observed, operation), place: 0, order }
    }

    fn events<'e>(&'e self, observed: &'e ObservedRun) -> impl Iterator<Item = BlockEvent> + 'e {
        let ordered = move |operation| self.ordered(observed, operation);
        let operations = (0..).take(self.0.len());
        let first = operations.filter_map(|operation| Some((ordered(operation).key()?, operation))).collect();
        let run = Run { blocks: Blocks::default(), places: 0..0, more: None };
        InOrder::<WHICH, _> { runs: Merge::new(first, ordered), run }
    }
}

/// A sequence in ascending order of keys.
pub(super) trait Sequence {
    /// What it is in order of.
    type Key: Ord + Copy;
    /// Several entries, one behind another.
    type Run;

    /// The key of the next entry; `None` at the end.
    fn key(&self) -> Option<Self::Key>;

    /// The next entry, and those behind it as long as their keys are `first`; the sequence goes behind them.
    fn run(&mut self, first: impl Fn(Self::Key) -> bool) -> Self::Run;
}

/// Sequences in ascending order of keys, merged into one; of equal keys the sequence with the lower number comes first.
/// What comes of one sequence before another's turn comes at once.
///
/// Of each sequence only its present entry is held, and of one that has not begun its first key, so that memory does
/// not grow with their lengths.
pub(super) struct Merge<S: Sequence, B> {
    /// First keys of sequences that have not begun, the first at the end.
    waiting: Vec<(S::Key, u32)>,
    begin: B,
    begun: BinaryHeap<Reverse<Begun<S>>>,
    /// The one of the last run, and its number.
    present: Option<(S, u32)>,
}

/// A sequence that has begun and has another entry.
struct Begun<S: Sequence> {
    key: S::Key,
    number: u32,
    sequence: S,
}

impl<S: Sequence> PartialEq for Begun<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Sequence> Eq for Begun<S> {}

impl<S: Sequence> PartialOrd for Begun<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Sequence> Ord for Begun<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.key, self.number).cmp(&(other.key, other.number))
    }
}

impl<S: Sequence, B: FnMut(u32) -> S> Merge<S, B> {
    /// Of sequences, by their first keys and numbers; `begin` gives each of them.
    pub(super) fn new(mut first: Vec<(S::Key, u32)>, begin: B) -> Self {
        first.sort_unstable_by(|one, other| other.cmp(one));
        Self { waiting: first, begin, begun: BinaryHeap::new(), present: None }
    }

    /// The sequence that comes first, now that the present one does not, and its number.
    fn change(&mut self) -> Option<(S, u32)> {
        let present = self.present.take().and_then(|(sequence, number)| {
            let key = sequence.key()?;
            Some(Reverse(Begun { key, number, sequence }))
        });
        let begun = self.begun.peek().map(|Reverse(begun)| (begun.key, begun.number));
        if self.waiting.last().is_some_and(|first| begun.is_none_or(|begun| *first < begun)) {
            self.begun.extend(present);
            let (_, number) = self.waiting.pop()?;
            return Some(((self.begin)(number), number));
        }
        let first = match (self.begun.peek_mut(), present) {
            (Some(mut begun), Some(present)) => std::mem::replace(&mut *begun, present),
            (Some(begun), None) => PeekMut::pop(begun),
            (None, present) => present?,
        };
        let Reverse(Begun { sequence, number, .. }) = first;
        Some((sequence, number))
    }
}

impl<S: Sequence, B: FnMut(u32) -> S> Iterator for Merge<S, B> {
    type Item = S::Run;

    fn next(&mut self) -> Option<S::Run> {
        let (mut sequence, number) = self.change()?;
        let begun = self.begun.peek().map(|Reverse(begun)| (begun.key, begun.number));
        let others = self.waiting.last().map(|first| begun.map_or(*first, |begun| begun.min(*first))).or(begun);
        let run = sequence.run(|key| others.is_none_or(|others| (key, number) < others));
        self.present = Some((sequence, number));
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Numbered<'l> {
        number: u32,
        place: usize,
        list: &'l [u8],
    }

    impl Sequence for Numbered<'_> {
        type Key = u8;
        type Run = Vec<(u8, u32, usize)>;

        fn key(&self) -> Option<u8> {
            self.list.get(self.place).copied()
        }

        fn run(&mut self, first: impl Fn(u8) -> bool) -> Self::Run {
            let mut run = Vec::new();
            while let Some(key) = self.key().filter(|&key| run.is_empty() || first(key)) {
                run.push((key, self.number, self.place));
                self.place += 1;
            }
            run
        }
    }

    proptest! {
        #[test]
        fn merged_sequences_are_sorted(mut lists in prop::collection::vec(prop::collection::vec(0_u8..20, 0..9), 0..9)) {
            for list in &mut lists {
                list.sort_unstable();
            }
            let numbered = || (0_u32..).zip(&lists);
            let first = numbered().filter_map(|(number, list)| Some((*list.first()?, number))).collect();
            let begin = |number: u32| Numbered { number, place: 0, list: &lists[number as usize] };
            let merged: Vec<_> = Merge::new(first, begin).flatten().collect();
            let mut sorted: Vec<_> =
                numbered().flat_map(|(number, list)| (0..).zip(list).map(move |(at, key)| (*key, number, at))).collect();
            crate::sorted::sort_by_key(&mut sorted, |&(key, number, at)| (key, number, at));
            let sorted: Vec<(u8, u32, usize)> = sorted;
            prop_assert_eq!(merged, sorted);
        }
    }
}
