//! How many blocks of a wave each SM gets, without asking block by block.

use super::Placement;
use super::choose::{Sequence, Start};
use super::deal::deal;
use super::part::Part;
use crate::proven::OrMost;

/// How many of `blocks` blocks each part gets, written into the parts; moves the cursor.
///
/// `order` is room to work in.
pub(crate) fn distribute(policy: Placement, parts: &mut [Part], blocks: u32, start: &mut Start, order: &mut Sequence) {
    if let [only] = parts {
        // Whatever the policy: there is nothing to choose.
        only.blocks = u16::try_from(blocks).unwrap_or(only.room).min(only.room);
        if policy == Placement::RoundRobin && blocks > 0 {
            start.cursor = u32::from(only.sm) + 1;
        }
        return;
    }
    let total: u32 = parts.iter().map(|part| u32::from(part.room)).sum();
    match policy {
        _ if blocks >= total => {
            if policy == Placement::RoundRobin {
                start.cursor = cursor_after_filling(parts, start.cursor);
            }
            for part in parts {
                part.blocks = part.room;
            }
        }
        _ if policy.deals(start.first_block) => deal(parts, blocks, start.lone_from, &mut order.order),
        Placement::MostRoom | Placement::Gpc | Placement::GpcMostRoom => level_out(parts, blocks),
        Placement::LowestId => {
            let mut left = blocks;
            for part in parts {
                // No more than there is room, however many are left.
                part.blocks = part.room.min(u16::try_from(left).or_most());
                left -= u32::from(part.blocks);
            }
        }
        Placement::RoundRobin | Placement::Random => {
            for &chosen in order.choose(policy, parts, blocks, start) {
                parts[chosen as usize].blocks += 1;
            }
        }
    }
}

/// Most-room in one step. Blocks go where the room is largest until all SMs are level, then around: a block that is
/// placed while its SM has room `l` is said to have level `l`, and blocks are placed by falling level. So there is a
/// level above which every place is taken, and on it the SMs are served in order.
fn level_out(parts: &mut [Part], blocks: u32) {
    let at_or_above = |parts: &[Part], level: u32| -> u32 {
        parts.iter().map(|part| (u32::from(part.room) + 1).saturating_sub(level)).sum()
    };
    // The largest level with enough places at or above it; level 1 has, as there is room for all blocks.
    let (mut low, mut high) = (1, parts.iter().map(|part| part.room).max().unwrap_or(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if at_or_above(parts, u32::from(middle)) >= blocks { low = middle } else { high = middle - 1 }
    }
    let mut left = blocks - at_or_above(parts, u32::from(low) + 1);
    for part in parts {
        part.blocks = part.room.saturating_sub(low);
        if left > 0 && part.room >= low {
            // Level 1 is the lowest, so there are at most as many as there is room.
            part.blocks += 1;
            left -= 1;
        }
    }
}

/// The round-robin pointer after every place was taken: behind the SM that was served last, which is the last one,
/// going round from the pointer, among those with the most room.
fn cursor_after_filling(parts: &[Part], cursor: u32) -> u32 {
    let most = parts.iter().map(|part| part.room).max().unwrap_or(0);
    let fullest = || parts.iter().filter(|part| part.room == most).map(|part| u32::from(part.sm));
    let last = fullest().filter(|&sm| sm < cursor).max().or_else(|| fullest().max());
    last.map_or(cursor, |sm| sm + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_room_that_a_device_can_have_is_dealt_out() {
        let mut parts = [0, 1].map(|sm| Part { sm, room: u16::MAX, blocks: 0 });
        let mut start = Start { cursor: 0, seed: 0, operation: 0, first_block: 0, lone_from: 2 };
        distribute(Placement::MostRoom, &mut parts, 100_001, &mut start, &mut Sequence::default());
        assert_eq!(parts.map(|part| part.blocks), [50_001, 50_000]);
    }

    proptest! {
        #[test]
        fn counts_in_one_step_equal_counts_block_by_block(
            rooms in prop::collection::vec(1_u16..9, 1..7), share in 0..=100_u32, cursor in 0..8_u32, seed in any::<u64>(),
            first_block in 0..2_u32, lone_from in 0..8_u32,
        ) {
            for policy in Placement::ALL {
                let parts: Vec<Part> =
                    (0..).zip(&rooms).map(|(sm, &room)| Part { sm, room, blocks: 0 }).collect();
                let blocks = rooms.iter().map(|&room| u32::from(room)).sum::<u32>() * share / 100;
                let start = Start { cursor, seed, operation: 3, first_block, lone_from };

                let (mut fast, mut fast_start) = (parts.clone(), start);
                distribute(policy, &mut fast, blocks, &mut fast_start, &mut Sequence::default());

                let (mut plain, mut plain_start) = (parts.clone(), start);
                for &chosen in Sequence::default().choose(policy, &parts, blocks, &mut plain_start) {
                    plain[chosen as usize].blocks += 1;
                }
                prop_assert_eq!(&fast, &plain, "{}", policy.name());
                prop_assert_eq!(fast_start.cursor, plain_start.cursor, "{}", policy.name());

                let (mut all, mut one_by_one) = (Sequence::default(), Sequence::default());
                let (mut all_start, mut one_start) = (start, start);
                one_by_one.begin(policy, &fast, blocks, &mut one_start);
                for &chosen in all.choose(policy, &parts, blocks, &mut all_start) {
                    prop_assert_eq!(one_by_one.next(&fast), Some(chosen), "{}", policy.name());
                }
            }
        }
    }
}
