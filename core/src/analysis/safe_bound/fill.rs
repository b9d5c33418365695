//! By when each block of a head is assigned at the latest, the instants `U_n` of the lemma that no room is kept from a
//! head (`docs/analysis.md`, "A bound by orders of dispatch"); whether what may run beside it can keep the head out of
//! every SM; and what streams set apart may have there.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::weights::{ONE, Resource, Weights};
use crate::limits::{count_steps, count_turn, count_turns};
use crate::proven::{OrMost, Proven};
use crate::time::Instant;

/// Blocks of one class that have ended by an instant \[ns\] if they ran at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MayRun {
    pub(super) until: u64,
    pub(super) class: usize,
    pub(super) blocks: u32,
}

/// The kernel i at the head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    pub(super) class: usize,
    pub(super) blocks: u32,
    /// Of one block, at most \[ns\].
    pub(super) block_time: u64,
    /// h: from when on nothing but a lack of room holds it \[ns\].
    pub(super) from: u64,
}

/// Turns of the loop after which no answer is given.
const MOST_TURNS: u32 = 100_000;

/// (instant \[ns\], blocks), ascending: so many blocks are assigned by then. Of a grid that fills the GPU many times,
/// only blocks of the last cycles are listed. `None`: too many steps or blocks, or past the end of time.
///
/// Block n is assigned by `U_n`, the first instant not before h and `U_(n-1)` at which what may still run cannot keep
/// it out: A(`U_n`), which are the `others`, and the blocks m < n with `U_m` + `C_i` > `U_n`.
pub(super) fn latest_starts(
    filling: Filling,
    others: &mut [MayRun],
    keep_out: &mut KeepOutTest<'_>,
    counts: &mut [u32],
) -> Option<Vec<(u64, u32)>> {
    let Filling { class, blocks, block_time, from } = filling;
    others.sort_unstable();
    counts.fill(0);
    for other in &*others {
        // A sum that were held at the largest number would be too small once others are taken from it.
        counts[other.class] = counts[other.class].checked_add(other.blocks)?;
    }
    let mut others = &others[..];
    let (mut own, mut own_blocks) = (VecDeque::<(u64, u32)>::new(), 0_u32);
    let (mut rest, mut now) = (blocks, from);
    let mut starts = Vec::new();
    for _ in 0..MOST_TURNS {
        count_turn();
        while let Some((first, later)) = others.split_first()
            && first.until <= now
        {
            count_turn();
            counts[first.class] -= first.blocks;
            others = later;
        }
        while let Some(&(until, ended)) = own.front()
            && until <= now
        {
            count_turn();
            counts[class] -= ended;
            own_blocks -= ended;
            own.pop_front();
        }
        let room = keep_out.room(class, counts, rest);
        if room > 0 {
            // Blocks of no length make room for one another.
            let room = if block_time == 0 { rest } else { room };
            starts.push((now, room));
            rest -= room;
            if rest == 0 {
                return Some(starts);
            }
            own.push_back((now.checked_add(block_time)?, room));
            own_blocks += room;
        }
        let cycles = whole_cycles(filling, rest, &own, own_blocks, others.first(), keep_out, counts);
        if cycles > 0 {
            let shift = block_time.checked_mul(cycles)?;
            for (until, _) in &mut own {
                *until = until.checked_add(shift)?;
            }
            // At most `rest`, see there.
            rest -= u32::try_from(u64::from(own_blocks) * cycles).ok()?;
            // All before the last of these cycles have ended when its blocks are replaced.
            starts = own.iter().map(|&(until, blocks)| (until - block_time, blocks)).collect();
        }
        now = match (others.first().map(|other| other.until), own.front().map(|own| own.0)) {
            (Some(other), Some(own)) => other.min(own),
            // Nothing runs and still there is no room: blocks that fit on no SM are refused before.
            (other, own) => other.or(own)?,
        };
    }
    None
}

/// How many whole cycles of the block time repeat the present one: the own blocks are as many as there can be beside
/// the others, so each that ends is replaced, until another ends. At least one block is left.
fn whole_cycles(
    filling: Filling,
    rest: u32,
    own: &VecDeque<(u64, u32)>,
    own_blocks: u32,
    other: Option<&MayRun>,
    keep_out: &mut KeepOutTest<'_>,
    counts: &mut [u32],
) -> u64 {
    let by_blocks = u64::from((rest - 1).checked_div(own_blocks).unwrap_or(0));
    let Some(&(last, _)) = own.back().filter(|_| by_blocks > 1) else { return 0 };
    let by_time = match other {
        None => u64::MAX,
        Some(other) if last >= other.until => return 0,
        // Every replacement comes before the other's end.
        Some(other) => (other.until - last - 1) / filling.block_time.max(1) + 1,
    };
    counts[filling.class] -= own_blocks;
    let limit = keep_out.room(filling.class, counts, own_blocks + 1);
    counts[filling.class] += own_blocks - limit;
    if limit == own_blocks { by_blocks.min(by_time) } else { 0 }
}

/// How many blocks may run before `end` \[ns\].
fn running(list: &[(u64, u32)], end: u64) -> u32 {
    list.iter().filter(|(until, _)| *until >= end).map(|(_, blocks)| *blocks).sum()
}

/// Whether [`more_of`] both, as far as they may run after `now` \[ns\], is `one`.
pub(super) fn adds_nothing(one: &[(u64, u32)], other: &[(u64, u32)], now: u64) -> bool {
    let is_as_merged = one.is_sorted_by(|(one, _), (next, _)| one < next) && one.iter().all(|(_, blocks)| *blocks > 0);
    count_turns(one.len() * other.len() / 8);
    let is_less = |end: u64| end <= now || running(other, end) <= running(one, end);
    is_as_merged && other.iter().all(|(end, _)| is_less(*end))
}

/// (until, blocks) such that after every instant at least as many blocks may run as by either.
pub(super) fn more_of(one: &[(u64, u32)], other: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut ends: Vec<u64> = one.iter().chain(other).map(|(until, _)| *until).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut merged = Vec::with_capacity(ends.len());
    // From the last end backwards: how many blocks may run before it.
    let mut before = 0;
    for &end in ends.iter().rev() {
        let now = running(one, end).max(running(other, end));
        if now > before {
            merged.push((end, now - before));
            before = now;
        }
    }
    merged.reverse();
    merged
}

/// (instant, blocks), ascending, such that each block, counted from the last one, is at the later of its two instants.
/// Blocks that one of the lists leaves out are at that of the other.
pub(super) fn later_of(one: &[(u64, u32)], other: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut lists = [one, other].map(|list| list.iter().rev().copied().filter(|(_, blocks)| *blocks > 0).peekable());
    let mut left = [0_u32; 2];
    let mut later: Vec<(u64, u32)> = Vec::with_capacity(one.len().max(other.len()));
    loop {
        count_turn();
        let heads = [0, 1].map(|list| lists[list].peek().copied());
        let rest = |list: usize| heads[list].map(|(_, blocks)| blocks - left[list]);
        let (Some(now), Some(blocks)) =
            (heads.iter().flatten().map(|head| head.0).max(), rest(0).into_iter().chain(rest(1)).min())
        else {
            break;
        };
        later.push((now, blocks));
        for list in 0..2 {
            if let Some((_, of_head)) = heads[list] {
                left[list] += blocks;
                if left[list] == of_head {
                    left[list] = 0;
                    lists[list].next();
                }
            }
        }
    }
    later.reverse();
    later
}

/// Sums of a resource are bits of a `u128`.
const MOST_UNITS: u64 = 127;

/// Classes that a set can be told apart by.
const MOST_CLASSES: usize = 64;

/// Whether a given set of blocks, placed by an adversary, can keep a head out of every SM that it may use: answers for
/// the classes of one scenario.
///
/// Two tests, each of which may say "can" of a set that cannot, but never the reverse:
///
/// - weights ([`Weights`]): on each SM, what keeps the head out weighs a share of 1 at least, so a set that weighs
///   less than all shares together leaves an SM to the head;
/// - for one or two SMs, whether the blocks can be split so that on each SM one resource is taken beyond what the head
///   leaves and not beyond the SM's limit.
#[derive(Debug)]
pub(super) struct KeepOutTest<'a> {
    by_weight: ByWeight<'a>,
    /// Counted in the unit that all classes share.
    resources: Vec<Resource>,
}

impl<'a> KeepOutTest<'a> {
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
        if times == most {
            add_any_number(sums, (here, there), within);
        } else {
            (0..times).for_each(|_| add_one(sums, (here, there), within));
        }
    }
}

/// One more block, which takes so much here or there.
fn add_one(sums: &mut [u128], (here, there): (usize, u64), within: u128) {
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

/// So many blocks that more would change nothing.
fn add_any_number(sums: &mut [u128], (here, there): (usize, u64), within: u128) {
    for taken in 0..sums.len() {
        let mut with = sums[taken];
        if here > 0 && here <= taken {
            with |= sums[taken - here];
        }
        // Up to one there, up to three, up to seven, ...
        let mut by = there;
        while by > 0 && by <= MOST_UNITS {
            with |= (with << by) & within;
            by *= 2;
        }
        sums[taken] = with;
    }
}

/// Choices of one kernel of each stream above which all of them are taken together.
const MOST_CHOICES: usize = 32;

/// All these kernels, by stream, class and launch.
///
/// Kernels beside those whose orders are explored, of priorities lower than all of these: what they may have on the
/// SMs.
#[derive(Debug, Default)]
pub(super) struct SetApart {
    groups: Vec<Group>,
}

/// Kernels of one stream and class that are launched at one instant; at any time one kernel of a stream has blocks.
#[derive(Debug)]
struct Group {
    stream: usize,
    class: usize,
    /// Not before.
    launched: Instant,
    level: usize,
    /// They have ended by then \[ns\]; [`u64::MAX`]: not known.
    over: u64,
    /// (block time \[ns\], blocks), ascending: so many blocks may run for so long.
    blocks: Vec<(u64, u32)>,
}

impl SetApart {
    /// Adds a kernel: its stream and level, its class, blocks and block time \[ns\]. It is over by `over` \[ns\].
    pub(super) fn add(
        &mut self,
        (stream, level): (usize, usize),
        launched: Instant,
        over: u64,
        (class, blocks, block_time): (usize, u32, u64),
    ) {
        let own = [(block_time, blocks)];
        let key = (stream, class, launched);
        match self.groups.binary_search_by_key(&key, |group| (group.stream, group.class, group.launched)) {
            Ok(place) => {
                let group = &mut self.groups[place];
                group.over = group.over.max(over);
                group.blocks = more_of(&group.blocks, &own);
            }
            Err(place) => {
                let blocks = own.to_vec();
                self.groups.insert(place, Group { stream, class, launched, level, over, blocks });
            }
        }
    }

    /// By class: blocks of all these kernels together.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = |group: &Group| group.blocks.iter().map(|(_, blocks)| u64::from(*blocks)).sum();
        self.groups.iter().map(move |group| (group.class, all(group)))
    }

    /// What these kernels may have on the SMs after `from` \[ns\] if, by level, none of them has begun a block after
    /// `begun` \[ns\]: one of the choices.
    pub(super) fn choices(&self, begun: &[Option<u64>], from: u64) -> Vec<Vec<MayRun>> {
        let mut choices = vec![Vec::new()];
        for of_stream in self.groups.chunk_by(|one, other| one.stream == other.stream) {
            let Some(latest) = begun[of_stream[0].level] else { continue };
            let of_class = of_stream.chunk_by(|one, other| one.class == other.class);
            let alternatives: Vec<Vec<MayRun>> = of_class
                .map(|kernels| {
                    let mut most: Vec<(u64, u32)> = Vec::new();
                    let may_run = |group: &&Group| group.launched.as_ns() <= latest && group.over > from;
                    for group in kernels.iter().filter(may_run) {
                        let until =
                            |&(time, blocks): &(u64, u32)| (latest.saturating_add(time).min(group.over), blocks);
                        let until: Vec<(u64, u32)> =
                            group.blocks.iter().map(until).filter(|until| until.0 > from).collect();
                        most = if most.is_empty() { until } else { more_of(&most, &until) };
                    }
                    let class = kernels[0].class;
                    most.into_iter().map(|(until, blocks)| MayRun { until, class, blocks }).collect()
                })
                .filter(|may_run: &Vec<MayRun>| !may_run.is_empty())
                .collect();
            if choices.len() * alternatives.len() <= MOST_CHOICES {
                let with = |choice: &Vec<MayRun>| {
                    alternatives.iter().map(|other| [&choice[..], &other[..]].concat()).collect::<Vec<_>>()
                };
                if !alternatives.is_empty() {
                    choices = choices.iter().flat_map(with).collect();
                }
            } else {
                for choice in &mut choices {
                    choice.extend(alternatives.iter().flatten());
                }
            }
        }
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_adds_nothing_changes_nothing_when_it_is_merged() {
        let lists: [&[(u64, u32)]; 7] =
            [&[], &[(3, 2)], &[(3, 1), (5, 1)], &[(5, 2)], &[(5, 1), (3, 1)], &[(4, 0)], &[(2, 9), (3, 1), (5, 1)]];
        let later = |list: &[(u64, u32)]| list.iter().copied().filter(|(until, _)| *until > 2).collect::<Vec<_>>();
        for one in lists.into_iter().filter(|one| later(one) == *one) {
            for other in lists {
                assert_eq!(adds_nothing(one, other, 2), later(&more_of(one, other)) == one, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn blocks_added_at_once_take_what_they_take_one_by_one() {
        for (units, others) in [(7_usize, 4_u64), (64, 64), (127, 127), (20, 90)] {
            for (here, there) in [(0, 1), (1, 0), (0, 0), (1, 1), (2, 3), (5, 2), (64, 64), (3, 127)] {
                let within = up_to(others);
                let mut one_by_one = vec![0_u128; units + 1];
                (one_by_one[0], one_by_one[units / 2]) = (0b101 & within, 1 << (others / 3));
                let mut at_once = one_by_one.clone();
                let most = units.checked_div(here).unwrap_or(0) as u64 + others.checked_div(there).unwrap_or(0);
                (0..most).for_each(|_| add_one(&mut one_by_one, (here, there), within));
                add_any_number(&mut at_once, (here, there), within);
                assert_eq!(at_once, one_by_one, "{here} and {there} of {units} and {others}");
            }
        }
    }

    #[test]
    fn of_two_lists_each_block_is_as_late_as_in_either() {
        assert_eq!(later_of(&[(1, 2), (5, 1)], &[(3, 3)]), [(3, 2), (5, 1)]);
        assert_eq!(later_of(&[(4, 1)], &[(1, 1), (2, 3)]), [(1, 1), (2, 2), (4, 1)]);
        assert_eq!(later_of(&[], &[(2, 3)]), [(2, 3)]);
    }
}
