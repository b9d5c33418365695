//! Did blocks go where the model would have put them?

use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::audited_run::AuditedRun;
use super::executions::{Sm, Taken};
use super::finding::{AuditRule, Finding, Tolerances};
use super::observed_run::{ObservedKernel, ObservedOperation, ObservedRun, TimeSource};
use super::resources::Groups;
use super::sweep::{BlockEvent, Blocks, Merge, Run, Sequence};
use crate::device::{Device, RegisterDealing};
use crate::limits::count_turn;
use crate::logs::LogTime;
use crate::proven::OrMost;
use crate::workload::Placement;

/// Blocks whose SM the model can tell, and how many of them were there.
///
/// The published rules do not say which SM a block gets. The model is the policy of the device, `most-room` up to
/// Volta, and of a simulated GPU that deals by GPCs that policy. Measured blocks are decidable if they were assigned
/// while nothing was ending and no other kernel was starting within the tolerance; simulated ones always are. Of
/// measured blocks that were dealt by GPCs, those are that came before anything ended, but for later ones on lone
/// TPCs: when those return is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PlacementStatistic {
    /// The policy.
    #[serde(skip_serializing_if = "is_usual")]
    pub policy: Placement,
    /// Blocks whose SM the model can tell.
    pub decidable: usize,
    /// Those that were on that SM.
    pub followed: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual(policy: &Placement) -> bool {
    *policy == Placement::default()
}

/// By which policy the SM of a block is told.
fn policy_of(observed: &ObservedRun) -> Placement {
    match observed.source {
        TimeSource::Simulated { placement, .. } if placement.goes_by_gpcs() => placement,
        TimeSource::Measured if observed.device.placement.goes_by_gpcs() => observed.device.placement,
        _ => Placement::MostRoom,
    }
}

/// Counts; and where the trace says that it was placed by this policy, finds the blocks that were not.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) -> PlacementStatistic {
    let policy = policy_of(run.observed);
    let judged = matches!(run.observed.source, TimeSource::Simulated { placement, .. } if placement == policy);
    count(run, policy, |event, predicted| {
        if judged {
            let name = &run.observed.operations[event.operation()].name;
            let what = format!("{} would have put it on SM {predicted}", policy.name());
            let finding = Finding::new(AuditRule::Placement, name, event.at, 1, what);
            findings.push(finding.of_block(event.block as usize, event.sm).counted_in("blocks"));
        }
    })
}

/// Counts, and calls `misplaced` with each block that was elsewhere and the SM on which it should have been.
fn count(run: &AuditedRun<'_>, policy: Placement, mut misplaced: impl FnMut(&BlockEvent, u32)) -> PlacementStatistic {
    let mut statistic = PlacementStatistic { policy, ..PlacementStatistic::default() };
    walk(run, policy, |event, predicted| {
        let Some(predicted) = predicted else { return };
        statistic.decidable += 1;
        if event.sm == Some(predicted) {
            statistic.followed += 1;
        } else {
            misplaced(event, predicted);
        }
    });
    statistic
}

/// A measured block whose SM the model can visit.
pub struct DecidableBlock {
    /// Place of its kernel in the logs.
    pub origin: (usize, usize),
    /// Its number in the kernel.
    pub block: usize,
    /// Where it was seen.
    pub sm: u32,
}

/// All of them. Where a real GPU goes back to its lone TPCs is not known, so that from there on the same order gives
/// other blocks to its SMs than a simulated one: of each kernel only those before count.
pub fn decidable_blocks(observed: &ObservedRun, tolerances: &Tolerances) -> Vec<DecidableBlock> {
    let run = AuditedRun::new(observed, tolerances);
    let mut blocks = Vec::new();
    let device = &observed.device;
    let mut departed = vec![false; observed.operations.len()];
    let policy = policy_of(observed);
    let goes_by_lone_tpcs = policy.goes_by_gpcs() && !device.lone_sms().is_empty();
    walk(&run, policy, |event, predicted| {
        let departed = &mut departed[event.operation()];
        *departed |= predicted.is_none() || goes_by_lone_tpcs && event.block >= device.sms;
        if *departed {
            return;
        }
        let origin = observed.operations[event.operation()].origin;
        if let (Some(origin), Some(sm)) = (origin, event.sm) {
            blocks.push(DecidableBlock { origin, block: event.block as usize, sm });
        }
    });
    blocks
}

/// How a policy explains measured blocks: how many it can tell the SM of, how many were there, and the first that was
/// not.
pub(super) fn explained(run: &AuditedRun<'_>, policy: Placement) -> (PlacementStatistic, Option<Misplaced>) {
    let mut first = None;
    let statistic = count(run, policy, |event, predicted| {
        if let Some(sm) = event.sm {
            let kernel = || run.observed.operations[event.operation()].name.clone();
            first.get_or_insert_with(|| Misplaced { kernel: kernel(), block: event.block as usize, sm, predicted });
        }
    });
    (statistic, first)
}

/// A block that was not where a policy would have put it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Misplaced {
    /// Its kernel.
    #[serde(serialize_with = "super::finding::as_text")]
    pub kernel: Arc<str>,
    /// Its number.
    pub block: usize,
    /// Where it was.
    pub sm: u32,
    /// Where the policy would have put it.
    pub predicted: u32,
}

/// Calls `visit` with each decidable block and the SM that the model chooses for it, and with blocks among them of
/// which it is known that nobody can tell.
fn walk(run: &AuditedRun<'_>, policy: Placement, mut visit: impl FnMut(&BlockEvent, Option<u32>)) {
    let (observed, tolerance) = (run.observed, run.clocks.tolerances.one_clock_ns);
    let device = &observed.device;
    // For each context: what others have on the SMs is put aside while it has its turn.
    let mut contexts = vec![Sms::idle(device); observed.context_count()];
    let order = device.sm_preference(policy);
    // Behind the SM that got the last block, for round-robin.
    let mut cursor = 0;
    let has_clusters = observed.kernels().any(|kernel| kernel.clusters.is_some());
    let mut dealing = (policy.goes_by_gpcs() || has_clusters).then(|| Dealing::new(run));
    let simulated = observed.is_simulated();
    if !observed.client_sms.is_empty() || observed.virtual_sms {
        return;
    }
    if simulated && (!run.clocks.exact || run.channels_bind() || observed.has_dependent_launches()) {
        // The order of assignment is not known: without lengths several rounds share one instant, as where a kernel is
        // launched at the instant at which the latency of its trigger ends; with few channels kernels wait for those
        // too.
        return;
    }
    let (mut ends, mut last_end) = (run.events.ends().peekable(), None);
    let mut starts = Starts::of(assignments(run));
    for event in run.counted(assignments(run)) {
        while let Some(end) = ends.next_if(|end| end.at <= event.at) {
            contexts[observed.context_of(end.operation())].change(&end, &run.executed[end.operation()].taken, -1);
            last_end = Some(end.at);
        }
        let operation = event.operation();
        let sms = &mut contexts[observed.context_of(operation)];
        let near = |at: LogTime| at.abs_diff(event.at) <= tolerance.unsigned_abs();
        let mut disturbed = || {
            ends.peek().is_some_and(|end| near(end.at))
                || last_end.is_some_and(near)
                || starts.last_of_others(&event, tolerance).is_some_and(near)
        };
        let disturbed = !simulated && disturbed();
        let is_dealt = match &mut dealing {
            Some(dealing) => dealing.is_dealt(policy, &event, last_end, disturbed),
            None => false,
        };
        if is_dealt || !disturbed {
            sms.count(&run.executed[operation].taken);
            let rooms = order.iter().filter(|&&sm| run.may_use(operation, sm)).filter_map(|&sm| {
                let room = sms.room(sm)?;
                (room > 0).then_some((sm, room))
            });
            if let Some(dealing) = dealing.as_mut().filter(|_| is_dealt) {
                let predicted = dealing.predict(run, &event, last_end, || rooms.collect());
                visit(&event, predicted);
                sms.change(&event, &run.executed[operation].taken, 1);
                continue;
            }
            let best = match policy {
                Placement::LowestId => {
                    let mut rooms = rooms;
                    rooms.next()
                }
                Placement::RoundRobin => {
                    let rooms: Vec<(u32, i64)> = rooms.collect();
                    rooms.iter().find(|(sm, _)| *sm >= cursor).or_else(|| rooms.first()).copied()
                }
                // The first of equals is the one that the device prefers.
                _ => rooms.reduce(|best, next| if next.1 > best.1 { next } else { best }),
            };
            if let Some((predicted, _)) = best.filter(|_| !dealing.as_ref().is_some_and(|dealing| dealing.is_measured))
            {
                visit(&event, Some(predicted));
            }
        }
        cursor = event.sm.map_or(cursor, |sm| sm.saturating_add(1));
        sms.change(&event, &run.executed[operation].taken, 1);
    }
}

/// Starts of blocks in the order of assignment, looked at up to some instant.
struct Starts<I: Iterator> {
    ahead: Peekable<I>,
    /// When a block last started: of its kernel, and of any other.
    last: Option<BlockEvent>,
    last_of_others: Option<BlockEvent>,
}

impl<I: Iterator<Item = BlockEvent>> Starts<I> {
    fn of(ahead: I) -> Self {
        Self { ahead: ahead.peekable(), last: None, last_of_others: None }
    }

    /// When a block of a kernel other than that of `event` last started, no more than `tolerance` after it. To be asked
    /// of events in their order.
    fn last_of_others(&mut self, event: &BlockEvent, tolerance: i64) -> Option<LogTime> {
        while let Some(next) = self.ahead.next_if(|next| next.at.since(event.at) <= tolerance) {
            if self.last.as_ref().is_some_and(|last| last.operation != next.operation) {
                self.last_of_others = self.last.take();
            }
            self.last = Some(next);
        }
        let other = |start: &&BlockEvent| start.operation != event.operation;
        self.last.iter().find(other).or(self.last_of_others.as_ref()).map(|start| start.at)
    }
}

/// The SMs of one context, and how many blocks of one shape there is room for on each.
#[derive(Clone)]
struct Sms {
    holds: Vec<Sm>,
    dealing: RegisterDealing,
    shape: Taken,
    /// `None` where that is not known yet.
    rooms: Vec<Option<i64>>,
}

impl Sms {
    fn idle(device: &Device) -> Self {
        let sms = device.sms as usize;
        Self {
            holds: vec![Sm::empty(device); sms],
            dealing: device.register_allocation.dealing,
            shape: Taken::default(),
            rooms: vec![None; sms],
        }
    }

    /// A block takes its amounts from its SM, or gives them back.
    fn change(&mut self, event: &BlockEvent, taken: &Taken, sign: i64) {
        let Some(sm) = event.sm.map(|sm| sm as usize) else { return };
        if let (Some(holds), Some(room)) = (self.holds.get_mut(sm), self.rooms.get_mut(sm)) {
            holds.change(taken, sign);
            *room = None;
        }
    }

    /// From now on room is for blocks of this shape.
    fn count(&mut self, taken: &Taken) {
        if self.shape != *taken {
            self.shape = *taken;
            self.rooms.fill(None);
        }
    }

    /// For how many blocks there is room on an SM.
    fn room(&mut self, sm: u32) -> Option<i64> {
        let (holds, known) = (self.holds.get(sm as usize)?, self.rooms.get_mut(sm as usize)?);
        Some(*known.get_or_insert_with(|| holds.room(&self.shape, self.dealing)))
    }
}

/// All blocks in the order of assignment, as far as it can be known: none starts before those before it in its kernel.
fn assignments<'c>(run: &'c AuditedRun<'_>) -> impl Iterator<Item = BlockEvent> + 'c {
    let mut kernels: Vec<usize> = (0..run.executed.len()).collect();
    crate::sorted::sort_by_key(&mut kernels, |&index| (run.ready[index].lo.latest(), run.ready[index].lo.gpu, index));
    // By operation: the place of its kernel in the order of the queues.
    let mut place = vec![0; kernels.len()];
    for (position, index) in kernels.into_iter().enumerate() {
        place[index] = position;
    }
    let assigned = move |operation: u32| {
        let (index, blocks) = (operation as usize, Blocks::of(run.observed, operation));
        Assigned { blocks, next: 0, last: (LogTime::MIN, run.executed[index].priority, place[index]) }
    };
    let operations = (0_u32..).take(run.executed.len());
    let first = operations.filter_map(|operation| Some((assigned(operation).key()?, operation))).collect();
    Merge::new(first, assigned).flat_map(|Run { blocks, places, more: mut last }| {
        places.filter_map(move |block| {
            blocks.event(
                |&[start, _]| {
                    last = last.max(start);
                    last
                },
                block,
            )
        })
    })
}

/// The blocks of a kernel in the order of assignment.
struct Assigned<'a> {
    blocks: Blocks<'a>,
    /// The number of the next one.
    next: usize,
    /// When the one before was assigned, the kernel's priority, and its place in the order of the queues.
    last: (LogTime, i32, usize),
}

impl<'a> Sequence for Assigned<'a> {
    type Key = (LogTime, i32, usize);
    type Run = Run<'a, LogTime>;

    #[inline]
    fn key(&self) -> Option<Self::Key> {
        let (before, priority, place) = self.last;
        Some((self.blocks.start(self.next)?.max(before), priority, place))
    }

    fn run(&mut self, first: impl Fn(Self::Key) -> bool) -> Self::Run {
        let (begin, (before, ..)) = (self.next, self.last);
        while let Some(key) = self.key().filter(|&key| self.next == begin || first(key)) {
            count_turn();
            (self.last, self.next) = (key, self.next + 1);
        }
        Run { blocks: self.blocks, places: begin..self.next, more: before }
    }
}

/// Blocks that a GPU deals by its GPCs: those that were dealt together and are still to be seen, kernel by kernel.
struct Dealing {
    /// By operation.
    waves: Vec<Wave>,
    /// Among which SMs clusters find theirs.
    groups: Groups,
    /// Whether blocks of each kernel come in clusters.
    is_clustered: Vec<bool>,
    /// Blocks of each kernel.
    blocks: Vec<u32>,
    lone: Range<u32>,
    /// Nobody knows by which policy measured blocks go on that were not dealt.
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
    fn new(run: &AuditedRun<'_>) -> Self {
        let grid = |operation: &ObservedOperation| operation.kernel().map_or(0, |kernel| kernel.grid);
        let blocks = run.observed.operations.iter().map(grid).collect();
        let is_measured = !run.observed.is_simulated();
        // Which of its blocks a log lacks nobody knows.
        let is_open =
            |operation: &ObservedOperation| is_measured && !operation.kernel().is_some_and(ObservedKernel::is_whole);
        let wave = |operation| Wave { is_open: is_open(operation), ..Wave::default() };
        let is_clustered = |operation: &ObservedOperation| operation.kernel().is_some_and(|it| it.clusters.is_some());
        Self {
            groups: Groups::of(&run.observed.device),
            is_clustered: run.observed.operations.iter().map(is_clustered).collect(),
            waves: run.observed.operations.iter().map(wave).collect(),
            blocks,
            lone: run.observed.device.lone_sms(),
            is_measured,
            had_room: had_room(run),
        }
    }

    /// Whether a block was dealt, and it is known how. `last_end`: when a block ended last before it.
    fn is_dealt(
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
    fn predict(
        &mut self,
        run: &AuditedRun<'_>,
        event: &BlockEvent,
        last_end: Option<LogTime>,
        rooms: impl FnOnce() -> Vec<(u32, i64)>,
    ) -> Option<u32> {
        let wave = &mut self.waves[event.operation()];
        if wave.begun.is_none() {
            wave.begun = Some((event.at, last_end));
            let left = self.blocks[event.operation()].saturating_sub(event.block);
            let kernel = run.observed.operations[event.operation()].kernel();
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
fn had_room(run: &AuditedRun<'_>) -> Vec<bool> {
    let observed = run.observed;
    let mut found = vec![false; observed.operations.len()];
    if observed.is_simulated() {
        return found;
    }
    let (device, tolerance) = (&observed.device, run.clocks.tolerances.one_clock_ns);
    let gap = i64::try_from(device.block_gap.as_ns()).or_most();
    let span = |operation: usize| {
        let ran = &run.executed[operation];
        Some((ran.first_start?.saturating_sub(tolerance), ran.last_start.saturating_add(tolerance), ran.finish?))
    };
    let mut by_start: Vec<usize> = (0..found.len()).filter(|&operation| span(operation).is_some()).collect();
    crate::sorted::sort_by_key(&mut by_start, |&operation| run.executed[operation].first_start);
    // Those that have begun and had not ended when the last one looked at began.
    let (mut there, mut ahead) = (Vec::<usize>::new(), by_start.iter().copied().peekable());
    for &operation in &by_start {
        let (Some((from, to, _)), Some(kernel)) = (span(operation), observed.operations[operation].kernel()) else {
            continue;
        };
        there.retain(|&other| span(other).is_some_and(|(.., finish)| finish.saturating_add(gap) >= from));
        while let Some(next) = ahead.next_if(|&next| run.executed[next].first_start.is_some_and(|start| start <= to)) {
            there.push(next);
        }
        let mut holds = vec![Sm::empty(device); device.sms as usize];
        for &other in there.iter().filter(|&&other| other != operation) {
            let Some(blocks) = observed.operations[other].kernel().map(|kernel| &kernel.blocks) else { continue };
            for block in blocks.iter().filter(|block| block.start_ns <= to && block.end_ns.saturating_add(gap) >= from)
            {
                if let Some(holds) = holds.get_mut(block.sm as usize) {
                    holds.change(&run.executed[other].taken, 1);
                }
            }
        }
        let usable: Vec<u32> = (0..device.sms).filter(|&sm| run.may_use(operation, sm)).collect();
        let levels = usize::try_from(kernel.grid).map_or(usize::MAX, |grid| grid.div_ceil(usable.len().max(1)));
        let has_room = |sm: &u32| {
            let places = holds[*sm as usize].sure_room(&run.executed[operation].taken);
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
