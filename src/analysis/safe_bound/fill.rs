//! By when each block of a head is assigned at the latest, given what may run beside it.

use crate::limits::{count_turn, count_turns};
use std::collections::VecDeque;

use super::blocking::Blocking;

/// Blocks of one class that have ended by an instant \[ns\] if they ran at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MayRun {
    pub(super) until: u64,
    pub(super) class: usize,
    pub(super) blocks: u32,
}

/// The kernel at the head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling {
    pub(super) class: usize,
    pub(super) blocks: u32,
    /// Of one block, at most \[ns\].
    pub(super) block_time: u64,
    /// From when on nothing but a lack of room holds it \[ns\].
    pub(super) from: u64,
}

/// Turns of the loop after which no answer is given.
const MOST_TURNS: u32 = 100_000;

/// (instant \[ns\], blocks), ascending: so many blocks are assigned by then. Of a grid that fills the GPU many times,
/// only blocks of the last cycles are listed. `None`: too many steps or blocks, or past the end of time.
///
/// The n-th block is assigned at the latest at the first instant, not before that of the block before it, at which the
/// blocks that may still run cannot keep it out.
pub(super) fn latest_starts(
    filling: Filling,
    others: &mut [MayRun],
    blocking: &mut Blocking<'_>,
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
        let room = blocking.room(class, counts, rest);
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
        let cycles = whole_cycles(filling, rest, &own, own_blocks, others.first(), blocking, counts);
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
    blocking: &mut Blocking<'_>,
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
    let limit = blocking.room(filling.class, counts, own_blocks + 1);
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
    fn of_two_lists_each_block_is_as_late_as_in_either() {
        assert_eq!(later_of(&[(1, 2), (5, 1)], &[(3, 3)]), [(3, 2), (5, 1)]);
        assert_eq!(later_of(&[(4, 1)], &[(1, 1), (2, 3)]), [(1, 1), (2, 2), (4, 1)]);
        assert_eq!(later_of(&[], &[(2, 3)]), [(2, 3)]);
    }
}
