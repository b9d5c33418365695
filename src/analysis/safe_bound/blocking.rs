//! Whether a given set of blocks, placed by an adversary, can keep a head out of every SM that it may use.
//!
//! Two tests, each of which may say "can" of a set that cannot, but never the reverse:
//!
//! - weights ([`Weights`]): on each SM, what keeps the head out weighs a share of 1 at least, so a set that weighs
//!   less than all shares together leaves an SM to the head;
//! - for one or two SMs, whether the blocks can be split so that on each SM one resource is taken beyond what the head
//!   leaves and not beyond the SM's limit.

use rustc_hash::FxHashMap;

use super::weights::{ONE, Resource, Weights};
use crate::limits::count_steps;

/// Sums of a resource are bits of a `u128`.
const MOST_UNITS: u64 = 127;

/// Classes that a set can be told apart by.
const MOST_CLASSES: usize = 64;

/// Answers for the classes of one scenario.
#[derive(Debug)]
pub(super) struct Blocking<'a> {
    weights: &'a Weights<'a>,
    /// How many blocks of each class there are in all.
    blocks: Vec<u64>,
    /// Counted in the unit that all classes share.
    resources: Vec<Resource>,
    /// For a head and the classes present: weights, and what must be reached.
    chosen: FxHashMap<(usize, u64), [Vec<u64>; 2]>,
}

impl<'a> Blocking<'a> {
    pub(super) fn new(weights: &'a Weights<'a>, blocks: Vec<u64>) -> Self {
        let all: Vec<usize> = (0..blocks.len()).collect();
        Self { weights, resources: weights.resources(&all), blocks, chosen: FxHashMap::default() }
    }

    /// How many blocks of class `head`, at most `most`, can certainly be assigned beside `counts` blocks of each class;
    /// `counts` then has them too.
    pub(super) fn room(&mut self, head: usize, counts: &mut [u32], most: u32) -> u32 {
        let mut room = 0;
        while room < most && !self.can_keep_out(head, counts) {
            counts[head] += 1;
            room += 1;
        }
        room
    }

    /// Whether `counts` blocks of each class might keep a block of class `head` out of all its SMs.
    pub(super) fn can_keep_out(&mut self, head: usize, counts: &[u32]) -> bool {
        let allowed = self.weights.allowed(head);
        if self.too_light(head, allowed, counts) {
            return false;
        }
        let small = |resource: &Resource| resource.needs[head] == 0 || resource.units <= MOST_UNITS;
        if allowed > 2 || !self.resources.iter().all(small) {
            return true;
        }
        let limiting: Vec<&Resource> = self.resources.iter().filter(|resource| resource.needs[head] > 0).collect();
        if allowed == 1 {
            return limiting.iter().any(|resource| one_sm(resource, head, counts));
        }
        let pairs = limiting.iter().enumerate();
        pairs
            .into_iter()
            .any(|(index, first)| limiting[index..].iter().any(|second| two_sms(first, second, head, counts)))
    }

    fn too_light(&mut self, head: usize, allowed: u64, counts: &[u32]) -> bool {
        let all = counts.len() > MOST_CLASSES;
        let present = counts.iter().enumerate().filter(|(class, count)| **count > 0 && *class < MOST_CLASSES);
        let mask = if all { u64::MAX } else { present.fold(0_u64, |mask, (class, _)| mask | 1 << class) };
        let (weights, blocks) = (self.weights, &self.blocks);
        let chosen = self.chosen.entry((head, mask)).or_insert_with(|| {
            let mut order: Vec<usize> = (0..counts.len()).filter(|&class| all || mask >> class & 1 == 1).collect();
            let mut heads = vec![false; counts.len()];
            heads[head] = true;
            if !order.contains(&head) {
                order.push(head);
            }
            let one = weights.lowered(&order, &heads, blocks);
            order.reverse();
            [one, weights.lowered(&order, &heads, blocks)]
        });
        // Each SM that the head may use must be kept, for a share of `ONE` that is rounded up.
        let needed = u128::from(ONE.div_ceil(allowed)) * u128::from(allowed);
        chosen.iter().any(|weights| {
            let sum: u128 = weights.iter().zip(counts).map(|(w, count)| u128::from(*w) * u128::from(*count)).sum();
            sum < needed
        })
    }
}

/// The units of a resource that keep a block of class `head` out of an SM.
fn threshold(resource: &Resource, head: usize) -> usize {
    // It fits on an empty SM, and units are at most `MOST_UNITS` here.
    usize::try_from((resource.units + 1).saturating_sub(resource.needs[head]).max(1)).unwrap_or(usize::MAX)
}

fn up_to(units: u64) -> u128 {
    if units >= MOST_UNITS { u128::MAX } else { (1 << (units + 1)) - 1 }
}

/// Whether some of the blocks can take enough of a resource on one SM.
fn one_sm(resource: &Resource, head: usize, counts: &[u32]) -> bool {
    let mut sums = 1_u128;
    for (class, &count) in counts.iter().enumerate() {
        let need = resource.needs[class];
        let Some(most) = resource.units.checked_div(need) else { continue };
        for _ in 0..u64::from(count).min(most) {
            sums |= (sums << need) & up_to(resource.units);
        }
    }
    sums >> threshold(resource, head) != 0
}

/// Whether some of the blocks can take enough of one resource on one SM while others take enough of another on the
/// other.
fn two_sms(first: &Resource, second: &Resource, head: usize, counts: &[u32]) -> bool {
    let units = usize::try_from(first.units).unwrap_or(0);
    let (first_from, second_from) = (threshold(first, head), threshold(second, head));
    // By what is taken on the first SM: what can be taken on the second.
    let mut sums = vec![0_u128; units + 1];
    sums[0] = 1;
    for (class, &count) in counts.iter().enumerate() {
        let (here, there) = (first.needs[class], second.needs[class]);
        let most = first.units.checked_div(here).unwrap_or(0) + second.units.checked_div(there).unwrap_or(0);
        let here = usize::try_from(here).unwrap_or(usize::MAX);
        let times = u64::from(count).min(most);
        count_steps(units * usize::try_from(times).unwrap_or(usize::MAX));
        for _ in 0..times {
            for taken in (0..=units).rev() {
                let mut with = sums[taken];
                if there > 0 {
                    with |= (sums[taken] << there) & up_to(second.units);
                }
                if here > 0 && here <= taken {
                    with |= sums[taken - here];
                }
                sums[taken] = with;
            }
        }
    }
    sums.get(first_from..).is_some_and(|sums| sums.iter().any(|there| there >> second_from != 0))
}
