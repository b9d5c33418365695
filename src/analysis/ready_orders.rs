//! All orders in which operations that become ready at one instant may enter their queues: a tree, in which each run
//! tells between how many of them it chose, and when.

use std::sync::Arc;

use rand::{Rng, RngExt};

/// Several operations could be next: how many, and which of them was, from 0.
pub(super) type Choice = (u32, u32);

/// Choices of one run that are drawn at most; those that follow are the first of each.
const MOST_DRAWN: usize = 32;

/// Numbers below this are drawn for a choice, as 3, 4 and 5 divide it.
const MOST_AMONG: u32 = 60;

/// The next lists of choices to try after a run that was told `list` and then took the first one each time. With the
/// list of no choices to begin with, every order comes once.
pub(super) fn next_lists(list: &[u32], choices: &[Choice]) -> impl Iterator<Item = Vec<u32>> {
    choices.iter().enumerate().skip(list.len()).flat_map(move |(place, &(among, _))| {
        (1..among).map(move |chosen| {
            let mut next = list.to_vec();
            next.resize(place, 0);
            next.push(chosen);
            next
        })
    })
}

/// The list that leads to these choices.
pub(super) fn list_of(choices: &[Choice]) -> Vec<u32> {
    let used = choices.iter().rposition(|(_, chosen)| *chosen > 0).map_or(0, |last| last + 1);
    choices.iter().take(used).map(|(_, chosen)| *chosen).collect()
}

/// How many orders there are if each run chooses between as many; `None`: more than 2^64.
pub(super) fn orders_of(choices: &[Choice]) -> Option<u64> {
    choices.iter().try_fold(1_u64, |product, &(among, _)| product.checked_mul(u64::from(among)))
}

/// Choices of who enters a queue next: the same each time, or any.
pub(super) fn drawn_choices(numbers: &mut impl Rng) -> Arc<[u32]> {
    let length = numbers.random_range(1..=MOST_DRAWN);
    let same = numbers.random_range(0..4_u32).checked_sub(1);
    (0..length).map(|_| same.unwrap_or_else(|| numbers.random_range(0..MOST_AMONG))).collect()
}

/// One of them drawn anew.
pub(super) fn changed_choices(choices: &[u32], numbers: &mut impl Rng) -> Arc<[u32]> {
    let mut changed = choices.to_vec();
    let place = numbers.random_range(0..MOST_DRAWN.min(changed.len() + 4));
    changed.resize(changed.len().max(place + 1), 0);
    changed[place] = numbers.random_range(0..MOST_AMONG);
    changed.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_order_is_tried_once() {
        // Whoever chooses 2 of 3 first chooses twice more between 2, the others once.
        let run = |list: &[u32]| {
            let chosen = |place: usize| list.get(place).copied().unwrap_or(0);
            let more = if chosen(0) == 2 { 2 } else { 1 };
            let rest = (1..=more).map(|place| (2, chosen(place)));
            [(3, chosen(0))].into_iter().chain(rest).collect::<Vec<_>>()
        };
        let (mut lists, mut next) = (vec![Vec::new()], 0);
        let mut seen = BTreeSet::new();
        while next < lists.len() {
            let choices = run(&lists[next]);
            assert!(seen.insert(choices.clone()), "{choices:?} twice");
            assert_eq!(list_of(&choices), lists[next]);
            let more: Vec<_> = next_lists(&lists[next], &choices).collect();
            lists.extend(more);
            next += 1;
        }
        assert_eq!(seen.len(), 2 + 2 + 4);
        assert_eq!(orders_of(&run(&[])), Some(6));
    }
}
