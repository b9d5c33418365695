//! Several sequences, each in order, as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// An entry: its key, the number of its sequence, and its place there.
pub(super) type Entry<K> = (K, u32, u32);

/// Sequences in ascending order of keys, merged into one; of equal keys the sequence with the lower number comes first.
///
/// Of each sequence only its present entry is held, and of one that has not begun its first key, so that memory does
/// not grow with their lengths. As long as one sequence goes on alone, an entry costs two comparisons.
pub(super) struct Merge<K, N> {
    /// Sequences that have not begun, the first at the end.
    waiting: Vec<(K, u32)>,
    begun: BinaryHeap<Reverse<Entry<K>>>,
    /// What is behind the last entry in the same sequence.
    present: Option<Entry<K>>,
    behind: N,
}

impl<K: Ord + Copy, N: FnMut(Entry<K>) -> Option<K>> Merge<K, N> {
    /// Of sequences with their first keys; `behind` gives the key behind an entry, which must not be lower.
    pub(super) fn new(mut first: Vec<(K, u32)>, behind: N) -> Self {
        first.sort_unstable_by(|one, other| other.cmp(one));
        Self { waiting: first, begun: BinaryHeap::new(), present: None, behind }
    }
}

impl<K: Ord + Copy, N: FnMut(Entry<K>) -> Option<K>> Iterator for Merge<K, N> {
    type Item = Entry<K>;

    fn next(&mut self) -> Option<Entry<K>> {
        let mut first = self.present.take();
        if let Some(mut begun) = self.begun.peek_mut()
            && first.is_none_or(|first| begun.0 < first)
        {
            first = Some(match first {
                Some(first) => std::mem::replace(&mut begun.0, first),
                None => PeekMut::pop(begun).0,
            });
        }
        if let Some(&(key, sequence)) = self.waiting.last()
            && first.is_none_or(|first| (key, sequence, 0) < first)
        {
            self.waiting.pop();
            self.begun.extend(first.map(Reverse));
            first = Some((key, sequence, 0));
        }
        let (_, sequence, place) = first?;
        self.present = (self.behind)(first?).map(|key| (key, sequence, place + 1));
        first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merged_sequences_are_sorted(mut lists in prop::collection::vec(prop::collection::vec(0_u8..20, 0..9), 0..9)) {
            for list in &mut lists {
                list.sort_unstable();
            }
            let numbered = || (0_u32..).zip(&lists);
            let first = numbered().filter_map(|(number, list)| Some((*list.first()?, number))).collect();
            let behind = |(_, list, place): Entry<u8>| lists[list as usize].get(place as usize + 1).copied();
            let merged: Vec<Entry<u8>> = Merge::new(first, behind).collect();
            let mut sorted: Vec<Entry<u8>> =
                numbered().flat_map(|(number, list)| (0..).zip(list).map(move |(at, key)| (*key, number, at))).collect();
            sorted.sort_unstable();
            prop_assert_eq!(merged, sorted);
        }
    }
}
