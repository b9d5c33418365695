//! When the host wants to be woken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::time::Instant;

/// Wake-ups by instant, then token; one that is asked for again moves.
///
/// A moved wake-up leaves its old entry in the heap, where it is passed over once it comes up. Hosts of many threads,
/// of which each asks once, so pay for a heap and not for an index of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Wakes {
    /// The first is one that is due.
    heap: BinaryHeap<Reverse<(Instant, u64)>>,
    /// The instant of each token. Entries of the heap with another are old.
    due: FxHashMap<u64, Instant>,
}

/// Old entries that are kept whatever the number of those that are due.
const FEW: usize = 64;

impl Wakes {
    /// How many are due.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }

    /// Enters `token`, or moves it if it is already there.
    pub(super) fn set(&mut self, at: Instant, token: u64) {
        let before = self.due.insert(token, at);
        if before == Some(at) {
            return;
        }
        self.heap.push(Reverse((at, token)));
        if before.is_none() {
            return;
        }
        self.drop_old();
        if self.heap.len() > 2 * self.due.len() + FEW {
            self.heap = self.due.iter().map(|(&token, &at)| Reverse((at, token))).collect();
        }
    }

    /// The instant of the first.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes out the first.
    pub(super) fn pop(&mut self) -> Option<u64> {
        let Reverse((_, token)) = self.heap.pop()?;
        self.due.remove(&token);
        self.drop_old();
        Some(token)
    }

    /// Takes all back.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.due.clear();
    }

    fn drop_old(&mut self) {
        while let Some(Reverse((at, token))) = self.heap.peek()
            && self.due.get(token) != Some(at)
        {
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wakes_come_in_the_order_of_instants_and_tokens_however_often_they_are_moved(
            steps in prop::collection::vec((0_u64..20, 0_u64..6, any::<bool>()), 0..300),
        ) {
            let (mut wakes, mut plain) = (Wakes::default(), BTreeMap::new());
            for (at, token, takes) in steps {
                if takes {
                    let first = plain.iter().map(|(&token, &at)| (at, token)).min();
                    prop_assert_eq!(wakes.next(), first.map(|(at, _)| at));
                    prop_assert_eq!(wakes.pop(), first.map(|(_, token)| token));
                    first.and_then(|(_, token)| plain.remove(&token));
                } else {
                    wakes.set(Instant::from_ns(at), token);
                    plain.insert(token, Instant::from_ns(at));
                }
                prop_assert_eq!(wakes.len(), plain.len());
            }
        }
    }

    #[test]
    fn a_wake_that_is_moved_without_end_takes_no_more_room() {
        let mut wakes = Wakes::default();
        wakes.set(Instant::from_ns(1), 0);
        for step in 0..10_000 {
            wakes.set(Instant::from_ns(1_000_000 - step % 2), 1);
        }
        assert!(wakes.heap.len() <= 2 * wakes.len() + FEW + 1);
    }
}
