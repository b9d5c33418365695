//! Several sequences, each in order, as one.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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
