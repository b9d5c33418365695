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
use crate::limits::{count_steps, count_turn};
use crate::proven::{OrMost, Proven};

/// Sums of a resource are bits of a `u128`.
const MOST_UNITS: u64 = 127;

/// Classes that a set can be told apart by.
const MOST_CLASSES: usize = 64;

/// Answers for the classes of one scenario.
#[derive(Debug)]
pub(super) struct Blocking<'a> {
    by_weight: ByWeight<'a>,
    /// Counted in the unit that all classes share.
    resources: Vec<Resource>,
}

impl<'a> Blocking<'a> {
    /// `blocks` says how many of each class there are in all.
    pub(super) fn new(weights: &'a Weights<'a>, blocks: Vec<u64>) -> Self {
        let all: Vec<usize> = (0..blocks.len()).collect();
        let by_weight = ByWeight { weights, blocks, chosen: FxHashMap::default() };
        Self { by_weight, resources: weights.resources(&all) }
    }

    /// How many blocks of class `head`, at most `most`, can certainly be assigned beside `counts` blocks of each class;
    /// `counts` then has them too.
    pub(super) fn room(&mut self, head: usize, counts: &mut [u32], most: u32) -> u32 {
        let allowed = self.by_weight.weights.allowed(head);
        let mut splits: Option<Vec<Split<'_>>> = None;
        let (mut room, mut is_heavy) = (0, false);
        while room < most {
            count_turn();
            let light = if is_heavy { 0 } else { self.by_weight.light(head, allowed, counts) };
            let more = if light > 0 {
                // Where there is one of its class, weights are others than where there is none.
                if counts[head] == 0 { 1 } else { light.min(most - room) }
            } else {
                is_heavy = counts[head] > 0;
                let splits = splits.get_or_insert_with(|| splits_of(&self.resources, head, allowed));
                if splits.is_empty() || splits.iter_mut().any(|split| split.keeps_out(head, counts)) {
                    break;
                }
                1
            };
            counts[head] += more;
            room += more;
            splits.iter_mut().flatten().for_each(|split| split.add(head, more));
        }
        room
    }
}

/// The test by weights.
#[derive(Debug)]
struct ByWeight<'a> {
    weights: &'a Weights<'a>,
    blocks: Vec<u64>,
    /// For a head and the classes present.
    chosen: FxHashMap<(usize, u64), [Vec<u64>; 2]>,
}

impl ByWeight<'_> {
    /// How many blocks of class `head` there can be beside `counts` blocks of each class until all of them may be heavy
    /// enough, if the weights do not change with the first of them.
    fn light(&mut self, head: usize, allowed: u64, counts: &[u32]) -> u32 {
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
        let more = |weights: &Vec<u64>| {
            let mut sum = 0_u128;
            for (weight, &count) in weights.iter().zip(counts) {
                sum += u128::from(*weight) * u128::from(count);
            }
            let missing = needed.saturating_sub(sum);
            // Blocks that weigh nothing keep nothing out.
            if missing == 0 { 0 } else { missing.div_ceil(u128::from(weights[head]).max(1)) }
        };
        let most = chosen.iter().map(more).max().unwrap_or(0);
        u32::try_from(most).or_most()
    }
}

/// The units of a resource that keep a block of class `head` out of an SM.
fn threshold(resource: &Resource, head: usize) -> usize {
    usize::try_from(resource.threshold(head).unwrap_or(0)).proven("at most `MOST_UNITS` here")
}

fn up_to(units: u64) -> u128 {
    if units >= MOST_UNITS { u128::MAX } else { (1 << (units + 1)) - 1 }
}

/// What blocks can take of one resource on one SM while others of them take of another on the second SM, or of the
/// same.
#[derive(Debug)]
struct Split<'r> {
    /// `None`: there is no second SM.
    first: Option<&'r Resource>,
    second: &'r Resource,
    /// By what is taken of the first: bits of what can be taken of the second; `None`: no blocks are known yet.
    sums: Option<Vec<u128>>,
}

/// The ways to keep a block of class `head` out of one or two SMs; none if it may use more, or units are too many.
fn splits_of(resources: &[Resource], head: usize, allowed: u64) -> Vec<Split<'_>> {
    let limiting: Vec<&Resource> = resources.iter().filter(|resource| resource.threshold(head).is_some()).collect();
    if allowed > 2 || limiting.iter().any(|resource| resource.units > MOST_UNITS) {
        return Vec::new();
    }
    let split = |first, second| Split { first, second, sums: None };
    if allowed == 1 {
        return limiting.into_iter().map(|second| split(None, second)).collect();
    }
    let pairs = limiting.iter().enumerate();
    pairs.flat_map(|(index, &first)| limiting[index..].iter().map(move |&second| split(Some(first), second))).collect()
}

impl Split<'_> {
    /// Whether `counts` blocks of each class can be split so that a block of class `head` has room on no SM.
    fn keeps_out(&mut self, head: usize, counts: &[u32]) -> bool {
        if self.sums.is_none() {
            let units = self.first.map_or(0, |first| first.units);
            let mut sums = vec![0; usize::try_from(units).unwrap_or(0) + 1];
            sums[0] = 1;
            self.sums = Some(sums);
            for (class, &count) in counts.iter().enumerate() {
                self.add(class, count);
            }
        }
        let (from, there) = (self.first.map_or(0, |first| threshold(first, head)), threshold(self.second, head));
        let enough = self.sums.as_ref().and_then(|sums| sums.get(from..));
        enough.is_some_and(|sums| sums.iter().any(|sums| sums >> there != 0))
    }

    /// So many more blocks, if any are known yet.
    fn add(&mut self, class: usize, count: u32) {
        let Some(sums) = &mut self.sums else { return };
        let (here, there) = (self.first.map_or(0, |first| first.needs[class]), self.second.needs[class]);
        let of_first = self.first.and_then(|first| first.units.checked_div(here)).unwrap_or(0);
        // More have no room on both SMs together.
        let most = of_first + self.second.units.checked_div(there).unwrap_or(0);
        let here = usize::try_from(here).or_most();
        let times = u64::from(count).min(most);
        count_steps(sums.len() * usize::try_from(times).or_most());
        let within = up_to(self.second.units);
        for _ in 0..times {
            for taken in (0..sums.len()).rev() {
                let mut with = sums[taken];
                if there > 0 {
                    with |= (with << there) & within;
                }
                if here > 0 && here <= taken {
                    with |= sums[taken - here];
                }
                sums[taken] = with;
            }
        }
    }
}
