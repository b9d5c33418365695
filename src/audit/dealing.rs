//! Blocks that a GPU deals by its GPCs: which SM each of them should have got.

use std::collections::VecDeque;
use std::ops::Range;

use super::case::Case;
use super::observation::{ObservedOperation, TimeSource};
use super::sweep::BlockEvent;
use crate::logs::LogTime;
use crate::workload::Placement;

/// Blocks that were dealt together and are still to be seen, kernel by kernel.
pub(super) struct Dealing {
    /// By operation.
    waves: Vec<Wave>,
    /// Blocks of each kernel.
    blocks: Vec<u32>,
    lone: Range<u32>,
    is_measured: bool,
}

#[derive(Default, Clone)]
struct Wave {
    /// When it was dealt, and the last end before that.
    begun: Option<(LogTime, Option<LogTime>)>,
    /// The SMs that should come, in their order.
    expected: VecDeque<u32>,
    /// Something ended in the midst of it, or before: nobody knows how a real GPU goes on.
    is_open: bool,
}

impl Dealing {
    pub(super) fn new(case: &Case<'_>) -> Self {
        let grid = |operation: &ObservedOperation| operation.kernel().map_or(0, |kernel| kernel.grid);
        let blocks = case.observation.operations.iter().map(grid).collect();
        Self {
            waves: vec![Wave::default(); case.observation.operations.len()],
            blocks,
            lone: case.observation.device.lone_sms(),
            is_measured: matches!(case.observation.source, TimeSource::Measured),
        }
    }

    /// Whether a block was dealt, and it is known how. `last_end`: when a block ended last before it.
    pub(super) fn is_dealt(
        &mut self,
        policy: Placement,
        event: &BlockEvent,
        last_end: Option<LogTime>,
        is_disturbed: bool,
    ) -> bool {
        let wave = &mut self.waves[event.operation()];
        if self.is_measured {
            wave.is_open |= is_disturbed || (event.block == 0) != wave.begun.is_none();
            wave.is_open |= wave.begun.is_some_and(|(_, end)| end != last_end);
            return !wave.is_open;
        }
        // What is assigned at one instant was dealt together, unless something completed in between.
        let goes_on = wave.begun == Some((event.at, last_end)) && !wave.expected.is_empty();
        if !goes_on {
            wave.begun = None;
        }
        goes_on || policy.deals(event.block)
    }

    /// The SM that a dealt block should have got; `None`: that is not known. `rooms` are the SMs with room, and for how
    /// many blocks, in the order of the policy.
    pub(super) fn predict(
        &mut self,
        event: &BlockEvent,
        last_end: Option<LogTime>,
        rooms: impl FnOnce() -> Vec<(u32, i64)>,
    ) -> Option<u32> {
        let wave = &mut self.waves[event.operation()];
        if wave.begun.is_none() {
            wave.begun = Some((event.at, last_end));
            let left = self.blocks[event.operation()].saturating_sub(event.block);
            wave.expected = deal(&rooms(), left, &self.lone).into();
            if self.is_measured {
                let first_level = self.lone.len();
                let mut place = 0;
                wave.expected.retain(|sm| {
                    place += 1;
                    place <= first_level || !self.lone.contains(sm)
                });
            }
        }
        let next_is_lone = wave.expected.front().is_some_and(|sm| self.lone.contains(sm));
        if self.is_measured && !next_is_lone && event.sm.is_some_and(|sm| self.lone.contains(&sm)) {
            return None;
        }
        wave.expected.pop_front()
    }
}

/// So many blocks on SMs with room: one on each, lone TPCs first and the others by number, and again, as long as there
/// are blocks; then in the order in which they are handed out, level by level.
fn deal(rooms: &[(u32, i64)], blocks: u32, lone: &Range<u32>) -> Vec<u32> {
    let mut by_number: Vec<(u32, i64, usize)> =
        rooms.iter().enumerate().map(|(place, &(sm, room))| (sm, room, place)).collect();
    by_number.sort_unstable_by_key(|(sm, ..)| (!lone.contains(sm), *sm));
    let (mut order, mut left) = (Vec::new(), blocks as usize);
    for level in 0.. {
        let mut chosen: Vec<usize> =
            by_number.iter().filter(|(_, room, _)| *room > level).map(|(.., place)| *place).collect();
        chosen.truncate(left);
        if chosen.is_empty() {
            break;
        }
        left -= chosen.len();
        chosen.sort_unstable();
        order.extend(chosen.into_iter().map(|place| rooms[place].0));
    }
    order
}
