//! Which SM gets the next block, by the policies that [`Placement`] names.
//!
//! The simulated GPU asks how many blocks each SM gets (`distribute`); the trace keeps these counts and expands them to
//! single blocks when asked (`choose`). Both follow from the same few numbers, so the rule stands here, below both.

pub use crate::device::Placement;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::proven::OrMost;

// The order in which the blocks of one wave choose SMs: the placement policies by their definition.

/// Where a wave's choices begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Round-robin: the SM after the last one used. Moves on with the wave.
    pub(crate) cursor: u32,
    /// Random: seed, operation and first block.
    pub(crate) seed: u64,
    pub(crate) operation: u32,
    pub(crate) first_block: u32,
    /// By GPCs: the first SM of the lone TPCs, which have the highest numbers. Only dealing asks for it.
    pub(crate) lone_from: u32,
}

/// How a sequence finds the next choice.
#[derive(Debug, Clone, Copy, Default)]
enum Way {
    /// It was written down.
    #[default]
    Listed,
    /// Most-room: what has room for as many more blocks, or more.
    Falling(u16),
    /// By GPCs: what gets more blocks than so many.
    Rising(u16),
}

/// The order in which blocks choose SMs; keeps its buffers from one wave to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequence {
    room: Vec<u16>,
    numbers: PlacementNumbers,
    /// The chosen SMs, block by block, as indices into the parts.
    pub(crate) order: Vec<u32>,
    /// How many of them were asked for, or the next part on the present level.
    next: usize,
    /// How choices go on: see [`Sequence::next`].
    way: Way,
}

impl Sequence {
    /// As [`Sequence::choose`], for choices that [`Sequence::next`] then gives one by one. How many blocks each of the
    /// parts gets is known.
    pub(crate) fn begin(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) {
        self.next = 0;
        self.way = Way::Listed;
        match policy {
            _ if policy.deals(start.first_block) => self.way = Way::Rising(0),
            Placement::MostRoom | Placement::GpcMostRoom => {
                self.way = Way::Falling(parts.iter().map(|part| part.room).max().unwrap_or(0));
            }
            _ => {
                self.choose(policy, parts, blocks, start);
            }
        }
    }

    /// The same where it is not known how many blocks each of the parts gets.
    pub(crate) fn begin_choosing(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) {
        if policy.deals(start.first_block) {
            self.choose(policy, parts, blocks, start);
            (self.way, self.next) = (Way::Listed, 0);
        } else {
            self.begin(policy, parts, blocks, start);
        }
    }

    /// The next choice among the parts that it was begun with.
    ///
    /// Most-room needs no list: while the SM with the most room has room `level`, all that have as much are chosen in
    /// order, and have one less then. So a part is chosen once on every level up to its room, level by level. Nor do
    /// blocks that were dealt: level by level, each part that gets more than there were levels before.
    pub(crate) fn next(&mut self, parts: &[Part]) -> Option<u32> {
        loop {
            let place = self.next;
            let part = parts.get(place);
            let is_chosen = match (self.way, part) {
                (Way::Listed, _) => {
                    self.next += 1;
                    return self.order.get(place).copied();
                }
                (Way::Falling(level), Some(part)) => part.room >= level,
                (Way::Rising(level), Some(part)) => part.blocks > level,
                (Way::Falling(level), None) if level > 1 => {
                    (self.way, self.next) = (Way::Falling(level - 1), 0);
                    continue;
                }
                (Way::Rising(level), None) if parts.iter().any(|part| part.blocks > level + 1) => {
                    (self.way, self.next) = (Way::Rising(level + 1), 0);
                    continue;
                }
                _ => return None,
            };
            self.next += 1;
            if is_chosen {
                return u32::try_from(place).ok();
            }
        }
    }

    /// Lets `blocks` blocks choose SMs one by one, by the policy's definition; moves the cursor.
    ///
    /// `parts` are SMs with room, in the policy's order of preference. There is room for
    /// all the blocks. Costs O(blocks * parts). [`distribute`] gives the same counts
    /// faster, and the trace needs the order only when somebody looks at single blocks.
    pub(crate) fn choose(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) -> &[u32] {
        self.order.clear();
        if policy.deals(start.first_block) {
            let mut dealt = parts.to_vec();
            deal(&mut dealt, blocks, start.lone_from, &mut self.order);
            self.order.clear();
            (self.way, self.next) = (Way::Rising(0), 0);
            for _ in 0..blocks {
                let Some(next) = self.next(&dealt) else { break };
                self.order.push(next);
            }
            return &self.order;
        }
        self.room.clear();
        self.room.extend(parts.iter().map(|part| part.room));
        if policy == Placement::Random {
            self.numbers.begin(start.seed, start.operation, start.first_block);
        }
        for _ in 0..blocks {
            let Self { room, numbers, .. } = self;
            let fitting = || (0_u32..).zip(room.iter()).filter(|(_, room)| **room > 0);
            let chosen = match policy {
                // Of equals the first: a later one has to be larger.
                Placement::MostRoom | Placement::Gpc | Placement::GpcMostRoom => {
                    let larger = |best: (u32, u16), (part, room): (u32, &u16)| {
                        if *room > best.1 { (part, *room) } else { best }
                    };
                    let (part, most) = fitting().fold((0, 0), larger);
                    (most > 0).then_some(part)
                }
                Placement::RoundRobin => {
                    let mut numbered = fitting().map(|(part, _)| part);
                    let from_cursor = |part: &u32| u32::from(parts[*part as usize].sm) >= start.cursor;
                    numbered.clone().find(from_cursor).or_else(|| numbered.next())
                }
                Placement::LowestId => fitting().next().map(|(part, _)| part),
                Placement::Random => fitting().nth(numbers.below(fitting().count())).map(|(part, _)| part),
            };
            let Some(chosen) = chosen else { break };
            self.room[chosen as usize] -= 1;
            if policy == Placement::RoundRobin {
                start.cursor = u32::from(parts[chosen as usize].sm) + 1;
            }
            self.order.push(chosen);
        }
        &self.order
    }
}

// How many blocks each SM gets where they are dealt by GPCs.

/// By GPCs: whole levels of one block on each SM with room, and what is left on the first of the next level: lone TPCs,
/// then SMs by number. `places` is room to work in.
fn deal(parts: &mut [Part], blocks: u32, lone_from: u32, places: &mut Vec<u32>) {
    let within =
        |parts: &[Part], levels: u16| -> u32 { parts.iter().map(|part| u32::from(part.room.min(levels))).sum() };
    // The most levels that are whole.
    let (mut low, mut high) = (0, parts.iter().map(|part| part.room).max().unwrap_or(0));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if within(parts, middle) <= blocks { low = middle } else { high = middle - 1 }
    }
    let left = blocks - within(parts, low);
    places.clear();
    places.extend((0..).zip(parts.iter()).filter(|(_, part)| part.room > low).map(|(place, _)| place));
    places.sort_unstable_by_key(|&place| by_number(parts[place as usize], lone_from));
    for part in parts.iter_mut() {
        part.blocks = part.room.min(low);
    }
    for &place in places.iter().take(left as usize) {
        parts[place as usize].blocks += 1;
    }
}

/// The order in which blocks are dealt by GPCs.
pub(crate) fn by_number(part: Part, lone_from: u32) -> (bool, u16) {
    (u32::from(part.sm) < lone_from, part.sm)
}

// How many blocks of a wave each SM gets, without asking block by block.

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

/// The share of one SM in a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The SM.
    pub sm: u16,
    /// How many blocks of this kernel it could have taken.
    pub room: u16,
    /// How many it got.
    pub blocks: u16,
}

// The numbers by which random placement picks SMs.

/// Random numbers that depend only on the seed and on what they are for, never on the order in which they are drawn.
/// The generator is kept: seeding one costs more than the numbers of a wave.
#[derive(Debug, Clone, Default)]
struct PlacementNumbers {
    /// Behind a pointer, as most policies never need it and whoever holds it is moved about.
    seeded: Option<Box<(u64, ChaCha8Rng)>>,
}

impl PlacementNumbers {
    /// Turns to the numbers of the wave of operation `operation` that starts with block `first_block`.
    fn begin(&mut self, seed: u64, operation: u32, first_block: u32) {
        let stream = u64::from(operation) << 32 | u64::from(first_block);
        if self.seeded.as_ref().is_none_or(|seeded| seeded.0 != seed) {
            self.seeded = Some(Box::new((seed, ChaCha8Rng::seed_from_u64(seed))));
        }
        if let Some((_, numbers)) = self.seeded.as_deref_mut() {
            numbers.set_word_pos(0);
            numbers.set_stream(stream);
        }
    }

    /// Uniform in `0..bound`; 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        match self.seeded.as_deref_mut() {
            Some((_, numbers)) if bound > 0 => numbers.random_range(0..bound),
            _ => 0,
        }
    }
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

    proptest! {
        #[test]
        fn a_kept_generator_gives_what_a_new_one_gives(
            waves in prop::collection::vec((0_u64..3, any::<u32>(), any::<u32>(), 0_usize..40), 1..8),
        ) {
            let mut kept = PlacementNumbers::default();
            for (seed, operation, first_block, draws) in waves {
                kept.begin(seed, operation, first_block);
                let mut new = ChaCha8Rng::seed_from_u64(seed);
                new.set_stream(u64::from(operation) << 32 | u64::from(first_block));
                for bound in 1..=draws {
                    prop_assert_eq!(kept.below(bound), new.random_range(0..bound));
                }
            }
        }
    }
}
