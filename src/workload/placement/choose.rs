//! The order in which the blocks of one wave choose SMs: the placement policies by their definition.

use super::Placement;
use super::random::PlacementNumbers;

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

/// Where a wave's choices begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    /// Round-robin: the SM after the last one used. Moves on with the wave.
    pub(crate) cursor: u32,
    /// Random: seed, operation and first block.
    pub(crate) seed: u64,
    pub(crate) operation: u32,
    pub(crate) first_block: u32,
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
    /// Most-room: see [`Sequence::next`].
    level: u16,
}

impl Sequence {
    /// As [`Sequence::choose`], for choices that [`Sequence::next`] then gives one by one.
    pub(crate) fn begin(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) {
        self.next = 0;
        self.level = 0;
        if policy == Placement::MostRoom {
            self.level = parts.iter().map(|part| part.room).max().unwrap_or(0);
        } else {
            self.choose(policy, parts, blocks, start);
        }
    }

    /// The next choice among the parts that it was begun with.
    ///
    /// Most-room needs no list: while the SM with the most room has room `level`, all that have as much are chosen in
    /// order, and have one less then. So a part is chosen once on every level up to its room, level by level.
    pub(crate) fn next(&mut self, parts: &[Part]) -> Option<u32> {
        if self.level == 0 {
            self.next += 1;
            return self.order.get(self.next - 1).copied();
        }
        loop {
            let part = self.next;
            match parts.get(part) {
                Some(known) => {
                    self.next += 1;
                    if known.room >= self.level {
                        return u32::try_from(part).ok();
                    }
                }
                None if self.level > 1 => (self.level, self.next) = (self.level - 1, 0),
                None => return None,
            }
        }
    }

    /// Lets `blocks` blocks choose SMs one by one, by the policy's definition; moves the cursor.
    ///
    /// `parts` are SMs with room, in order of preference for most-room and by number otherwise. There is room for
    /// all the blocks. Costs O(blocks * parts). [`distribute`](super::distribute::distribute) gives the same counts
    /// faster, and the trace needs the order only when somebody looks at single blocks.
    pub(crate) fn choose(&mut self, policy: Placement, parts: &[Part], blocks: u32, start: &mut Start) -> &[u32] {
        self.order.clear();
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
                Placement::MostRoom => {
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
