//! Which SM gets the next block: the placement policies.

use super::random::PlacementNumbers;
use super::wave::Part;
use crate::workload::Placement;

/// Where a wave's choices begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// Round-robin: the SM after the last one used. Moves on with the wave.
    pub(super) cursor: u32,
    /// Random: seed, operation and first block.
    pub(super) seed: u64,
    pub(super) operation: u32,
    pub(super) first_block: u32,
}

/// The order in which blocks choose SMs; keeps its buffers from one wave to the next.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    room: Vec<u16>,
    /// The chosen SMs, block by block, as indices into the parts.
    pub(super) order: Vec<usize>,
}

impl Sequence {
    /// Lets `blocks` blocks choose SMs one by one, by the policy's definition; moves the cursor.
    ///
    /// `parts` are SMs with room, in order of preference for most-room and by number otherwise. There is room for
    /// all the blocks. Costs O(blocks * parts). [`distribute`] gives the same counts faster, and the trace needs the
    /// order only when somebody looks at single blocks.
    pub(super) fn choose(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) -> &[usize] {
        self.order.clear();
        self.room.clear();
        self.room.extend(parts.iter().map(|part| part.room));
        let mut numbers = (policy == Placement::Random)
            .then(|| PlacementNumbers::new(start.seed, start.operation, start.first_block));
        for _ in 0..blocks {
            let room = &self.room;
            let fitting = || (0..parts.len()).filter(|&part| room[part] > 0);
            let chosen = match policy {
                // `max_by_key` prefers the last of equals, so the most preferred has to come last.
                Placement::MostRoom => fitting().rev().max_by_key(|&part| room[part]),
                Placement::RoundRobin => {
                    fitting().find(|&part| u32::from(parts[part].sm) >= start.cursor).or(fitting().next())
                }
                Placement::LowestId => fitting().next(),
                Placement::Random => {
                    numbers.as_mut().and_then(|numbers| fitting().nth(numbers.below(fitting().count())))
                }
            };
            let Some(chosen) = chosen else { break };
            self.room[chosen] -= 1;
            if policy == Placement::RoundRobin {
                start.cursor = u32::from(parts[chosen].sm) + 1;
            }
            self.order.push(chosen);
        }
        &self.order
    }
}

/// How many of `blocks` blocks each part gets, written into the parts; moves the cursor.
pub(super) fn distribute(policy: Placement, parts: &mut [Part], blocks: u32, start: &mut Start) {
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
        Placement::MostRoom => level_out(parts, blocks),
        Placement::LowestId => {
            let mut left = blocks;
            for part in parts {
                part.blocks = part.room.min(u16::try_from(left).unwrap_or(u16::MAX));
                left -= u32::from(part.blocks);
            }
        }
        Placement::RoundRobin | Placement::Random => {
            for &chosen in Sequence::default().choose(policy, parts, blocks, start) {
                parts[chosen].blocks += 1;
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

    proptest! {
        #[test]
        fn counts_in_one_step_equal_counts_block_by_block(
            rooms in prop::collection::vec(1_u16..9, 1..7), share in 0..=100_u32, cursor in 0..8_u32, seed in any::<u64>(),
        ) {
            for policy in Placement::ALL {
                let parts: Vec<Part> =
                    (0..).zip(&rooms).map(|(sm, &room)| Part { sm, room, blocks: 0 }).collect();
                let blocks = rooms.iter().map(|&room| u32::from(room)).sum::<u32>() * share / 100;
                let start = Start { cursor, seed, operation: 3, first_block: 5 };

                let (mut fast, mut fast_start) = (parts.clone(), start);
                distribute(policy, &mut fast, blocks, &mut fast_start);

                let (mut plain, mut plain_start) = (parts.clone(), start);
                for &chosen in Sequence::default().choose(policy, &parts, blocks, &mut plain_start) {
                    plain[chosen].blocks += 1;
                }
                prop_assert_eq!(fast, plain, "{}", policy.name());
                prop_assert_eq!(fast_start.cursor, plain_start.cursor, "{}", policy.name());
            }
        }
    }
}
