//! Blocks that signal and wait while they run, cooperative launches, and who waits for counters.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gpusched::time::Duration;
use gpusched::workload::{CounterValue, OperationKind, PointAction, SyncPoint, ValueId};

use super::gpu::{ReferenceGpu, Running};
use super::outcome::ReferenceStand;
use super::resources::Free;

/// Counters, and who waits for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// One that is not there is 0.
    counters: BTreeMap<usize, u64>,
    /// By instant and counter, the values that it has held then, what was written and what was looked for.
    held: BTreeMap<(u64, usize), Vec<u64>>,
    written: BTreeMap<(u64, usize), u64>,
    looks: RefCell<BTreeMap<(u64, usize), BTreeSet<u64>>>,
    /// Heads of streams that wait for a value, in the order in which they began to.
    heads: Vec<usize>,
    /// Waves of blocks that do, likewise.
    blocks: Vec<usize>,
    /// How many blocks of a launch have come to a barrier, by launch and point.
    arrived: BTreeMap<(usize, usize), u64>,
    stands: Vec<ReferenceStand>,
    /// Of each kernel of which blocks were assigned in this round, which wave they are.
    pub(super) waves: BTreeMap<usize, usize>,
}

/// How far a block has come whose kernel synchronizes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Progress {
    /// For how long it runs, waits not counted.
    time: u64,
    /// Points that it has left.
    passed: usize,
    /// Since when it waits at the next one.
    pub(super) since: Option<u64>,
    /// How many blocks had begun and points had been left before it left the last one, or began.
    pub(super) turn: usize,
    /// The blocks that were assigned with it come to points as one.
    wave: usize,
}

impl ReferenceGpu<'_> {
    fn value(&self, value: ValueId) -> CounterValue {
        self.scenario.catalogue.values()[value.index()]
    }

    fn is_reached(&self, wanted: CounterValue) -> bool {
        let place = (self.now, wanted.counter.index());
        self.memory.looks.borrow_mut().entry(place).or_default().insert(wanted.value);
        self.memory.counters.get(&wanted.counter.index()).copied().unwrap_or(0) >= wanted.value
    }

    /// Whether a host that waits for that value may go on.
    pub(super) fn has_reached(&self, value: ValueId) -> bool {
        self.is_reached(self.value(value))
    }

    fn set(&mut self, counter: usize, to: u64) {
        let before = self.memory.counters.insert(counter, to).unwrap_or(0);
        self.memory.held.entry((self.now, counter)).or_insert_with(|| vec![before]).push(to);
    }

    /// Whether a counter was written at an instant at which it was changed otherwise, too, or was lowered as somebody
    /// looked whether it has a value that it had only before or only after: what then comes of it depends on who was
    /// first.
    pub(super) fn takes_back(&self) -> bool {
        let looks = self.memory.looks.borrow();
        self.memory.held.iter().any(|(place, held)| {
            let written = self.memory.written.get(place);
            let races = written.is_some_and(|to| held[1..].iter().any(|value| value != to));
            let is_lowered = held.windows(2).any(|two| two[1] < two[0]);
            let differs =
                |wanted: &u64| held.iter().any(|value| value < wanted) && held.iter().any(|value| value >= wanted);
            races || is_lowered && looks.get(place).is_some_and(|all| all.iter().any(differs))
        })
    }

    /// A host or a stream sets a counter.
    pub(super) fn write(&mut self, value: ValueId) {
        let written = self.value(value);
        self.memory.written.insert((self.now, written.counter.index()), written.value);
        self.set(written.counter.index(), written.value);
    }

    /// Whether the head of a stream waits for a value. Once it does, it looks again only at certain times.
    pub(super) fn waits_for_value(&self, head: usize) -> bool {
        let OperationKind::WaitValue(value) = self.operations[head].kind else { return false };
        self.memory.heads.contains(&head) || !self.has_reached(value)
    }

    /// Heads that wait from now on, of those that were launched before an operation.
    pub(super) fn note_waits_for_values(&mut self, before: usize) {
        for stream in 0..self.streams.len() {
            let Some(&head) = self.streams[stream].front() else { continue };
            let is_new = head < before && !self.memory.heads.contains(&head);
            if is_new && self.waits_for_value(head) && self.may_advance_but_for_value(head) {
                self.memory.heads.push(head);
            }
        }
    }

    /// When all that ends now has ended, and again when hosts have acted: streams whose heads wait for a value that has
    /// come go on, and may write themselves.
    pub(super) fn look_at_values(&mut self) {
        let is_over = |head: &usize| match self.operations[*head].kind {
            OperationKind::WaitValue(value) => self.has_reached(value),
            _ => false,
        };
        if let Some(place) = self.memory.heads.iter().position(is_over) {
            self.memory.heads.remove(place);
            self.promote();
            self.look_at_values();
        }
    }

    fn points(&self, operation: usize) -> &[SyncPoint] {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { return &[] };
        self.scenario.kernels()[kernel.index()].synchronization().map_or(&[], |all| &all.points)
    }

    /// How a block begins.
    pub(super) fn progress_of(&mut self, operation: usize, is_alone: bool, time: u64) -> Progress {
        let turn = self.begun;
        let wave = if is_alone { turn } else { *self.memory.waves.entry(operation).or_insert(turn) };
        Progress { time, passed: 0, since: None, turn, wave }
    }

    /// How much of a block is left where it comes to its next point, or is at.
    pub(super) fn next_point(&self, running: &Running) -> Option<u64> {
        let next = self.points(running.operation).get(running.sync.passed)?;
        Some(running.sync.time - next.at.of(Duration::from_ns(running.sync.time)).as_ns())
    }

    /// Blocks come to their next point.
    pub(super) fn come_to_point(&mut self, due: &Running) {
        let (operation, point, wave) = (due.operation, due.sync.passed, due.sync.wave);
        let blocks = self.of_wave(wave).len() as u64;
        match self.points(operation)[point].action {
            PointAction::Signal(counter) => {
                let before = self.memory.counters.get(&counter.index()).copied().unwrap_or(0);
                self.set(counter.index(), before.saturating_add(blocks));
            }
            PointAction::GridSync => *self.memory.arrived.entry((operation, point)).or_default() += blocks,
            PointAction::Wait(_) => {}
        }
        if self.may_leave(operation, point) {
            self.leave_point(wave);
        } else {
            for place in self.of_wave(wave) {
                self.running[place].sync.since = Some(self.now);
            }
            self.memory.blocks.push(wave);
        }
    }

    /// Places of the blocks that were assigned together.
    fn of_wave(&self, wave: usize) -> Vec<usize> {
        let is_of_it = |place: &usize| {
            let running = &self.running[*place];
            running.sync.wave == wave && !self.points(running.operation).is_empty()
        };
        (0..self.running.len()).filter(is_of_it).collect()
    }

    fn may_leave(&self, operation: usize, point: usize) -> bool {
        match self.points(operation)[point].action {
            PointAction::Signal(_) => true,
            PointAction::Wait(wanted) => self.is_reached(wanted),
            PointAction::GridSync => {
                let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
                let all = u64::from(self.scenario.kernels()[kernel.index()].blocks);
                self.memory.arrived.get(&(operation, point)).copied().unwrap_or(0) >= all
            }
        }
    }

    fn leave_point(&mut self, wave: usize) {
        for place in self.of_wave(wave) {
            let now = self.now;
            let Running { operation, block, sync, .. } = &mut self.running[place];
            if let Some(from) = sync.since.take().filter(|&from| from < now) {
                let (operation, block, point) = (*operation, *block, sync.passed);
                self.memory.stands.push(ReferenceStand { operation, block, point, from, to: Some(now) });
            }
            sync.passed += 1;
            sync.turn = self.begun;
            self.begun += 1;
        }
    }

    /// Before blocks are assigned: those that have waited go on if they need not any longer, and if it is the turn of
    /// their context.
    pub(super) fn let_go_what_need_not_wait(&mut self) {
        let goes_on = |wave: &usize| {
            let one = &self.running[self.of_wave(*wave)[0]];
            self.progresses(one.operation, one.place) && self.may_leave(one.operation, one.sync.passed)
        };
        let free: Vec<usize> = self.memory.blocks.iter().copied().filter(goes_on).collect();
        self.memory.blocks.retain(|wave| !free.contains(wave));
        for wave in free {
            self.leave_point(wave);
        }
    }

    /// Whether every block on the GPU waits for good, as far as only the GPU counts, and no other one fits.
    pub(super) fn stands_still(&self) -> bool {
        let waits =
            |running: &Running| running.sync.since.is_some() && !self.may_leave(running.operation, running.sync.passed);
        let fits = |context: usize, head: usize| {
            let (need, free) = (self.need(head), self.free(context));
            let room = self.may_take(head, &need, &free).into_iter().sum::<u64>();
            room > 0 && (!self.is_cooperative(head) || self.all_fit(head, &free))
        };
        let of_context =
            |context: usize| self.heads(context).into_iter().filter(move |&head| self.context_of(head) == context);
        let one_fits = |context: usize| of_context(context).any(|head| fits(context, head));
        self.running.iter().all(waits) && !self.running.is_empty() && !(0..self.contexts.number()).any(one_fits)
    }

    /// Whether contexts of several processes take turns.
    pub(super) fn takes_turns(&self) -> bool {
        self.contexts.number() > 1 && !self.scenario.catalogue.sharing().mps
    }

    /// Whether something has begun and not ended.
    pub(super) fn has_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// All times at which blocks waited.
    pub(super) fn all_stands(&self) -> Vec<ReferenceStand> {
        let open = self.running.iter().filter_map(|running| {
            let Running { operation, block, sync, .. } = *running;
            Some(ReferenceStand { operation, block, point: sync.passed, from: sync.since?, to: None })
        });
        let mut all: Vec<ReferenceStand> = self.memory.stands.iter().copied().chain(open).collect();
        all.sort_unstable();
        all
    }

    pub(super) fn is_cooperative(&self, operation: usize) -> bool {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { return false };
        self.scenario.kernels()[kernel.index()].synchronization().is_some_and(|all| all.is_cooperative)
    }

    /// Whether all blocks of a launch that have not begun fit at once.
    pub(super) fn all_fit(&self, operation: usize, free: &[Free]) -> bool {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
        let left =
            u64::from(self.scenario.kernels()[kernel.index()].blocks) - self.operations[operation].blocks.len() as u64;
        let room: u64 = self.may_take(operation, &self.need(operation), free).into_iter().sum();
        room >= left
    }

    /// The time of a block whose kernel states one for each.
    pub(super) fn own_time(&self, operation: usize, block: usize) -> Option<u64> {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { return None };
        let times = self.scenario.block_times.get(&kernel)?;
        times.get(block).map(|time| time.as_ns())
    }
}
