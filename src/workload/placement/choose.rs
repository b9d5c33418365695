//! The order in which the blocks of one wave choose SMs: the placement policies by their definition.

use super::Placement;
use super::deal::deal;
use super::part::Part;
use super::random::PlacementNumbers;

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
    /// all the blocks. Costs O(blocks * parts). [`distribute`](super::distribute::distribute) gives the same counts
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
