//! Sorting with one instance of the algorithm for all types, for what is not sorted often: of each type, only the
//! comparison of two and the exchange of two are compiled.

use std::cmp::Ordering;

/// Sorts by a key, as [`slice::sort_by_key`] does: what has equal keys stays in its order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let mut places: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut places, &|one, other| key(&items[one]).cmp(&key(&items[other])));
    for first in 0..places.len() {
        // Around the cycle: each item comes from the place that is next, until that one's comes from here.
        let mut at = first;
        loop {
            let next = std::mem::replace(&mut places[at], at);
            if next == first {
                break;
            }
            items.swap(at, next);
            at = next;
        }
    }
}

fn sort_places(places: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_by(|one, other| compare(*one, *other));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sort_by_key;

    proptest! {
        #[test]
        fn it_is_sorted_as_the_standard_library_sorts(numbers in prop::collection::vec(0_u8..10, 0..100)) {
            let mut items: Vec<(u8, usize)> = numbers.into_iter().zip(0..).collect();
            let mut sorted = items.clone();
            sorted.sort_by_key(|(number, _)| *number);
            sort_by_key(&mut items, |(number, _)| *number);
            prop_assert_eq!(items, sorted);
        }
    }
}
