//! Blocks that a GPU deals by its GPCs: which SM each of them should have got.

use std::collections::VecDeque;
use std::ops::Range;

use super::demand::Sm;

use super::case::Case;
use super::clusters::Groups;
use super::observation::{ObservedKernel, ObservedOperation, TimeSource};
use super::sweep::BlockEvent;
use crate::logs::LogTime;
use crate::proven::OrMost;
use crate::workload::Placement;

/// Blocks that were dealt together and are still to be seen, kernel by kernel.
pub(super) struct Dealing {
    /// By operation.
    waves: Vec<Wave>,
    /// Among which SMs clusters find theirs.
    groups: Groups,
    /// Whether blocks of each kernel come in clusters.
    is_clustered: Vec<bool>,
    /// Blocks of each kernel.
    blocks: Vec<u32>,
    lone: Range<u32>,
    is_measured: bool,
    /// By operation, of measured ones: whether all of its blocks had room wherever they were dealt to, whatever began
    /// or ended meanwhile.
    had_room: Vec<bool>,
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
        let is_measured = matches!(case.observation.source, TimeSource::Measured);
        // Which of its blocks a log lacks nobody knows.
        let is_open =
            |operation: &ObservedOperation| is_measured && !operation.kernel().is_some_and(ObservedKernel::is_whole);
        let wave = |operation| Wave { is_open: is_open(operation), ..Wave::default() };
        let is_clustered = |operation: &ObservedOperation| operation.kernel().is_some_and(|it| it.clusters.is_some());
        Self {
            groups: Groups::of(&case.observation.device),
            is_clustered: case.observation.operations.iter().map(is_clustered).collect(),
            waves: case.observation.operations.iter().map(wave).collect(),
            blocks,
            lone: case.observation.device.lone_sms(),
            is_measured,
            had_room: had_room(case),
        }
    }

    /// Whether nobody knows by which policy measured blocks go on that were not dealt.
    pub(super) fn is_measured(&self) -> bool {
        self.is_measured
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
            wave.is_open |= (event.block == 0) != wave.begun.is_none();
            if !self.had_room[event.operation()] {
                wave.is_open |= is_disturbed || wave.begun.is_some_and(|(_, end)| end != last_end);
            }
            return !wave.is_open;
        }
        // What is assigned at one instant was dealt together, unless something completed in between.
        let goes_on = wave.begun == Some((event.at, last_end)) && !wave.expected.is_empty();
        if !goes_on {
            wave.begun = None;
        }
        goes_on || policy.deals(event.block) || self.is_clustered[event.operation()]
    }

    /// The SM that a dealt block should have got; `None`: that is not known. `rooms` are the SMs with room, and for how
    /// many blocks, in the order of the policy.
    pub(super) fn predict(
        &mut self,
        case: &Case<'_>,
        event: &BlockEvent,
        last_end: Option<LogTime>,
        rooms: impl FnOnce() -> Vec<(u32, i64)>,
    ) -> Option<u32> {
        let wave = &mut self.waves[event.operation()];
        if wave.begun.is_none() {
            wave.begun = Some((event.at, last_end));
            let left = self.blocks[event.operation()].saturating_sub(event.block);
            let kernel = case.observation.operations[event.operation()].kernel();
            let clustered = kernel.and_then(|kernel| Some((kernel, kernel.clusters?)));
            wave.expected = match clustered {
                Some((kernel, clusters)) => self.groups.deal(kernel, clusters, event.block, &rooms()),
                None => deal(&rooms(), left, &self.lone),
            }
            .into();
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

/// Of each measured kernel whether it surely had room for its share of blocks on every SM: with all blocks of others
/// that were there, or may have been by the tolerance, while its own began.
fn had_room(case: &Case<'_>) -> Vec<bool> {
    let observation = case.observation;
    let mut found = vec![false; observation.operations.len()];
    if !matches!(observation.source, TimeSource::Measured) {
        return found;
    }
    let (device, tolerance) = (&observation.device, case.clocks.tolerances.one_clock_ns);
    let gap = i64::try_from(device.block_gap.as_ns()).or_most();
    let span = |operation: usize| {
        let facts = &case.facts[operation];
        Some((facts.first_start?.saturating_sub(tolerance), facts.last_start.saturating_add(tolerance), facts.finish?))
    };
    let mut by_start: Vec<usize> = (0..found.len()).filter(|&operation| span(operation).is_some()).collect();
    crate::sorted::sort_by_key(&mut by_start, |&operation| case.facts[operation].first_start);
    // Those that have begun and had not ended when the last one looked at began.
    let (mut there, mut ahead) = (Vec::<usize>::new(), by_start.iter().copied().peekable());
    for &operation in &by_start {
        let (Some((from, to, _)), Some(kernel)) = (span(operation), observation.operations[operation].kernel()) else {
            continue;
        };
        there.retain(|&other| span(other).is_some_and(|(.., finish)| finish.saturating_add(gap) >= from));
        while let Some(next) = ahead.next_if(|&next| case.facts[next].first_start.is_some_and(|start| start <= to)) {
            there.push(next);
        }
        let mut holds = vec![Sm::empty(device); device.sms as usize];
        for &other in there.iter().filter(|&&other| other != operation) {
            let Some(blocks) = observation.operations[other].kernel().map(|kernel| &kernel.blocks) else { continue };
            for block in blocks.iter().filter(|block| block.start_ns <= to && block.end_ns.saturating_add(gap) >= from)
            {
                if let Some(holds) = holds.get_mut(block.sm as usize) {
                    holds.change(&case.facts[other].taken, 1);
                }
            }
        }
        let usable: Vec<u32> = (0..device.sms).filter(|&sm| case.may_use(operation, sm)).collect();
        let levels = usize::try_from(kernel.grid).map_or(usize::MAX, |grid| grid.div_ceil(usable.len().max(1)));
        let has_room = |sm: &u32| {
            let places = holds[*sm as usize].sure_room(&case.facts[operation].taken);
            usize::try_from(places).is_ok_and(|places| places >= levels)
        };
        found[operation] = usable.iter().all(has_room);
    }
    found
}

/// So many blocks on SMs with room: one on each, lone TPCs first and the others by number, and again, as long as there
/// are blocks; then in the order in which they are handed out, level by level.
fn deal(rooms: &[(u32, i64)], blocks: u32, lone: &Range<u32>) -> Vec<u32> {
    let mut by_number: Vec<(u32, i64, usize)> =
        rooms.iter().enumerate().map(|(place, &(sm, room))| (sm, room, place)).collect();
    crate::sorted::sort_by_key(&mut by_number, |(sm, ..)| (!lone.contains(sm), *sm));
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
