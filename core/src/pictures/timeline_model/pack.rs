//! Where blocks stand above one another on an SM: each takes a part of the SM's capacity for its whole time, and no two
//! overlap.
//!
//! This is dynamic storage allocation, which is NP-complete (Garey and Johnson, 1979, problem SR2), so there is no
//! quick way to always keep blocks whole. Placing them in the order of their starts, lowest place first, always
//! succeeds if a block may be split; where that splits one, other orders are tried in which none is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use super::changes;
use crate::limits::count_turn;
use crate::time::Instant;

/// A block, or blocks that are one box: what it takes, and when.
pub(crate) type Need = (u32, Range<Instant>);

/// Blocks that overlap in time, directly or by way of others, above which no other order is tried.
const MOST_REORDERED: usize = 400;
/// How many other orders are tried.
const MOST_ORDERS: usize = 60;

/// The part of `capacity` that each of `needs` takes, which are in the order of their starts; more than one where it
/// could not be kept whole. What takes no time is at the bottom: it takes nothing from the others.
///
/// Less than needed in all only where more is needed at one time than there is, which cannot be on an SM.
pub(crate) fn packed(capacity: u32, needs: &[Need]) -> Vec<Vec<Range<u32>>> {
    let mut places = Vec::with_capacity(needs.len());
    let mut first = 0;
    while first < needs.len() {
        count_turn();
        let last = end_of_cluster(needs, first);
        let cluster = &needs[first..last];
        let by_start = swept(capacity, cluster);
        let split = by_start.iter().any(|pieces| pieces.len() > 1);
        let whole = if split && cluster.len() <= MOST_REORDERED { reordered(capacity, cluster) } else { None };
        match whole {
            Some(whole) => places.extend(whole.into_iter().map(|part| vec![part])),
            None => places.extend(by_start),
        }
        first = last;
    }
    places
}

/// As [`packed`], where needs of different keys do not meet: each key has the whole capacity.
pub(crate) fn packed_apart<K: Ord + Copy>(capacity: u32, needs: &[(K, Need)]) -> Vec<Vec<Range<u32>>> {
    let mut by_key: BTreeMap<K, (Vec<usize>, Vec<Need>)> = BTreeMap::new();
    for (number, (key, need)) in needs.iter().enumerate() {
        let (numbers, own) = by_key.entry(*key).or_default();
        numbers.push(number);
        own.push(need.clone());
    }
    let mut places = vec![Vec::new(); needs.len()];
    for (numbers, own) in by_key.into_values() {
        for (number, place) in numbers.into_iter().zip(packed(capacity, &own)) {
            places[number] = place;
        }
    }
    places
}

/// The most that is taken at one time by needs of one key: those of different keys do not meet, as in [`packed_apart`].
/// `needs` are in the order of their starts. What takes no time counts by itself.
pub(crate) fn most_at_once<K: Ord>(needs: impl Iterator<Item = (K, u64, Range<Instant>)>) -> u64 {
    let (mut most, mut by_key) = (0, BTreeMap::<K, Vec<_>>::new());
    for (key, units, time) in needs {
        most = most.max(units);
        by_key.entry(key).or_default().push((time, units));
    }
    let sums = by_key.into_values().flat_map(|needs| changes(needs.into_iter()));
    sums.map(|(_, sum)| sum).fold(most, u64::max)
}

/// The end of those that overlap in time with `first`, directly or by way of others.
fn end_of_cluster(needs: &[Need], first: usize) -> usize {
    let mut latest = needs[first].1.end;
    let mut end = first + 1;
    while end < needs.len() && needs[end].1.start < latest {
        count_turn();
        latest = latest.max(needs[end].1.end);
        end += 1;
    }
    end
}

/// In the order of their starts, split where necessary.
fn swept(capacity: u32, needs: &[Need]) -> Vec<Vec<Range<u32>>> {
    let mut sweep = Sweep::new(capacity);
    needs.iter().map(|(units, time)| sweep.take(*units, time)).collect()
}

/// All whole, in some other order: whatever finds no place is placed first in the next attempt. `None` if that does
/// not come to an end soon.
fn reordered(capacity: u32, needs: &[Need]) -> Option<Vec<Range<u32>>> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    for _ in 0..MOST_ORDERS {
        let mut places: Vec<Option<Range<u32>>> = vec![None; needs.len()];
        let mut without = Vec::new();
        for &index in &order {
            places[index] = lowest_place(capacity, needs, &places, index);
            if places[index].is_none() {
                without.push(index);
            }
        }
        if without.is_empty() {
            return places.into_iter().collect();
        }
        order.retain(|index| !without.contains(index));
        order.splice(0..0, without);
    }
    None
}

/// The lowest part that is free of what is placed already and overlaps in time.
fn lowest_place(capacity: u32, needs: &[Need], places: &[Option<Range<u32>>], index: usize) -> Option<Range<u32>> {
    let (units, time) = &needs[index];
    if time.is_empty() {
        return Some(0..*units);
    }
    let overlaps = |other: &Range<Instant>| other.start.max(time.start) < other.end.min(time.end);
    let taken = needs.iter().zip(places).filter(|((_, other), _)| overlaps(other));
    let mut taken: Vec<&Range<u32>> = taken.filter_map(|(_, place)| place.as_ref()).collect();
    crate::sorted::sort_by_key(&mut taken, |part| part.start);
    let mut low = 0;
    for part in taken {
        if part.start >= low + units {
            break;
        }
        low = low.max(part.end);
    }
    (low + units <= capacity).then_some(low..low + units)
}

/// The free and the taken parts of the capacity as time goes on.
struct Sweep {
    /// Free parts, in ascending order, none touching another.
    free: Vec<Range<u32>>,
    /// Taken parts by the end of their time.
    taken: BinaryHeap<Reverse<(Instant, u32, u32)>>,
}

impl Sweep {
    fn new(capacity: u32) -> Self {
        Self { free: std::iter::once(0..capacity).collect(), taken: BinaryHeap::new() }
    }

    /// The lowest free part that is large enough; several parts, from below, if the free ones are all smaller.
    fn take(&mut self, units: u32, time: &Range<Instant>) -> Vec<Range<u32>> {
        if time.is_empty() {
            return std::iter::once(0..units).collect();
        }
        while let Some(&Reverse((end, low, high))) = self.taken.peek() {
            count_turn();
            if end > time.start {
                break;
            }
            self.taken.pop();
            self.release(low..high);
        }
        let position = self.free.iter().position(|part| part.end - part.start >= units).unwrap_or(0);
        let mut pieces = Vec::new();
        let mut missing = units;
        while missing > 0 && position < self.free.len() {
            count_turn();
            let part = &mut self.free[position];
            let piece = part.start..part.end.min(part.start + missing);
            part.start = piece.end;
            missing -= piece.end - piece.start;
            if part.start == part.end {
                self.free.remove(position);
            }
            self.taken.push(Reverse((time.end, piece.start, piece.end)));
            pieces.push(piece);
        }
        pieces
    }

    fn release(&mut self, part: Range<u32>) {
        let next = self.free.partition_point(|other| other.start < part.start);
        let touches_next = self.free.get(next).is_some_and(|other| other.start == part.end);
        let touches_previous = next > 0 && self.free[next - 1].end == part.start;
        match (touches_previous, touches_next) {
            (true, true) => {
                self.free[next - 1].end = self.free[next].end;
                self.free.remove(next);
            }
            (true, false) => self.free[next - 1].end = part.end,
            (false, true) => self.free[next].start = part.start,
            (false, false) => self.free.insert(next, part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(list: &[(u32, u64, u64)]) -> Vec<Need> {
        list.iter().map(|&(units, start, end)| (units, Instant::from_ns(start)..Instant::from_ns(end))).collect()
    }

    fn whole(list: &[(u32, u32)]) -> Vec<Vec<Range<u32>>> {
        list.iter().map(|&(low, high)| std::iter::once(low..high).collect()).collect()
    }

    #[test]
    fn blocks_take_the_lowest_place_that_is_free_for_their_whole_time() {
        let needs = needs(&[(3, 0, 10), (2, 0, 20), (3, 5, 30), (2, 10, 20), (8, 30, 40)]);
        assert_eq!(packed(8, &needs), whole(&[(0, 3), (3, 5), (5, 8), (0, 2), (0, 8)]));
    }

    #[test]
    fn another_order_keeps_a_block_whole_that_would_be_split() {
        // In the order of their starts the second block goes to 3..5, which leaves 0..3 and 5..8 for the last one.
        let needs = needs(&[(3, 0, 10), (2, 5, 30), (4, 10, 30)]);
        assert_eq!(packed(8, &needs), whole(&[(0, 3), (4, 6), (0, 4)]));
    }

    fn most(list: &[(u32, u64, u64)]) -> u64 {
        most_at_once(needs(list).into_iter().map(|(units, time)| ((), u64::from(units), time)))
    }

    #[test]
    fn the_most_at_once_counts_what_overlaps_and_not_what_follows() {
        assert_eq!(most(&[(5, 0, 10), (6, 10, 20), (7, 15, 25), (9, 30, 30)]), 13);
        assert_eq!(most(&[(9, 30, 30)]), 9);
        // 5 and 3 at one time, 9 for no time in between.
        assert_eq!(most(&[(5, 0, 10), (9, 5, 5), (3, 6, 8)]), 9);
    }

    #[test]
    fn needs_of_different_keys_do_not_meet() {
        let needs = needs(&[(5, 0, 10), (6, 0, 10), (7, 5, 10)]).into_iter().zip(0..);
        assert_eq!(most_at_once(needs.map(|((units, time), number)| (number % 2, u64::from(units), time))), 12);
    }

    #[test]
    fn what_is_free_in_parts_only_is_taken_in_parts() {
        let needs = needs(&[(2, 0, 10), (2, 0, 30), (2, 0, 10), (2, 0, 30), (4, 10, 30)]);
        assert_eq!(swept(8, &needs)[4], vec![0..2, 4..6]);
    }
}
