//! Conditions under which kernels that wait on the GPU cannot stand still, whatever the times (`proofs/barriers.v`).

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Counter, Launch, Pass, Program};
use crate::analysis::residency::{Crowd, room_alone, sure_room};
use crate::joined::Joined;
use crate::limits::count_turn;
use crate::named::named;
use crate::scenario::Scenario;
use crate::workload::CheckedKernel;

named! {
    /// Why kernels that wait on the GPU cannot stand still: the conditions of `docs/hang.md`, each proven by Coq.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ProgressCondition: ALL, Serialize {
        /// (a) Each wait is over before a block comes to it.
        NeverWaits = "waits only for what has ended before it begins",
        /// (b) Whatever the others that wait take, there is room for all of each.
        SureRoom = "all its blocks have room whichever SMs the others that wait take",
        /// (c) Those that wait are in one queue, and none for what may be behind it.
        OneQueue = "one EE queue: who is first there waits for nobody behind it, and has room alone",
        /// (e) Those that wait begin whole, each waiting for itself.
        Cooperative = "cooperative: it begins whole, and waits for itself alone",
        /// All states were looked at, on whichever SMs blocks are and whatever takes how long.
        AllStates = "no order, placement or time leads to a standstill: all states were looked at",
    }
}

/// A scenario's launches with what follows from their order.
pub(super) struct System<'s> {
    pub(super) scenario: &'s Scenario,
    pub(super) program: Program,
    /// By item: what has surely ended before it begins, in ascending order.
    pub(super) before: Vec<Vec<usize>>,
    /// Launches that may have to wait, by item, and waits of streams and hosts that may.
    pub(super) waiting: BTreeSet<usize>,
    pub(super) gates: BTreeSet<usize>,
    /// Launches that wait for nothing but their own blocks and what has ended before, by item.
    alone: BTreeSet<usize>,
    /// Counters that may fall.
    falling: BTreeSet<Counter>,
}

/// Items of which none shares an SM, a queue, a counter or an order with those of another part.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) items: Vec<usize>,
    /// Those of them that are launches which wait.
    pub(super) waiting: Vec<usize>,
}

/// A launch that has less room than it needs to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lack {
    pub(super) item: usize,
    pub(super) needed: u32,
    pub(super) sure: u32,
}

impl<'s> System<'s> {
    pub(super) fn of(scenario: &'s Scenario) -> Self {
        let mut program = Program::of(scenario);
        let falling = note_falling_counters(scenario, &mut program);
        let before = program.surely_before();
        let (waiting, gates, alone) = Default::default();
        let mut system = Self { scenario, program, before, waiting, gates, alone, falling };
        let launches = system.program.launches();
        system.waiting = launches.filter(|(item, _)| !system.never_waits(*item)).map(|(item, _)| item).collect();
        system.alone = system.waiting.iter().copied().filter(|item| system.needs_nobody(*item)).collect();
        let needs = |item: usize| system.program.items[item].needs;
        let may_wait = |item: &usize| needs(*item).is_some_and(|(of, value)| value > system.reached(*item, of));
        system.gates = (0..system.program.items.len()).filter(may_wait).collect();
        system
    }

    pub(super) fn launch(&self, item: usize) -> Option<&Launch> {
        self.program.items[item].launch.as_ref()
    }

    /// The event for which an item waits of which it is not known whether its record comes first.
    pub(super) fn unsure_event(&self, item: usize) -> Option<&str> {
        let of = &self.program.items[item];
        let event = of.event.filter(|_| !of.perhaps_after.is_empty())?;
        self.scenario.events().get(event.index()).map(|name| &**name)
    }

    /// What a counter has come to surely before an item begins; one that may fall, to nothing.
    fn reached(&self, item: usize, counter: Counter) -> u64 {
        if self.falling.contains(&counter) {
            return 0;
        }
        let signals = |other: usize| {
            self.launch(other).map_or(0, |launch| {
                let own = launch.passes.iter().filter(|pass| **pass == Pass::Signal(counter)).count() as u64;
                own.saturating_mul(launch.blocks)
            })
        };
        let written = self.before[item].iter().filter_map(|&other| self.program.items[other].writes);
        let written = written.filter(|(of, _)| *of == counter).map(|(_, value)| value).max().unwrap_or(0);
        self.before[item].iter().fold(written, |sum, &other| sum.saturating_add(signals(other)))
    }

    /// (a)
    fn never_waits(&self, item: usize) -> bool {
        let waits = self.launch(item).into_iter().flat_map(|launch| &launch.passes);
        waits.into_iter().all(|pass| match *pass {
            Pass::Await(counter, value) => value <= self.reached(item, counter),
            Pass::Signal(_) => true,
        })
    }

    /// Whether it waits for nothing but its own blocks and what has ended before.
    pub(super) fn waits_for_itself(&self, item: usize) -> bool {
        !self.waiting.contains(&item) || self.alone.contains(&item)
    }

    fn needs_nobody(&self, item: usize) -> bool {
        let Some(launch) = self.launch(item) else { return true };
        let mut own: BTreeMap<Counter, u64> = BTreeMap::new();
        launch.passes.iter().all(|pass| match *pass {
            Pass::Signal(counter) => {
                *own.entry(counter).or_default() += launch.blocks;
                true
            }
            Pass::Await(counter, value) => {
                value <= own.get(&counter).copied().unwrap_or(0).saturating_add(self.reached(item, counter))
            }
        })
    }

    fn are_ordered(&self, one: usize, other: usize) -> bool {
        self.before[one].binary_search(&other).is_ok() || self.before[other].binary_search(&one).is_ok()
    }

    /// Whether all of a part ends where everything has room, with what only perhaps comes first: then there are ranks.
    pub(super) fn ends_with_room(&self, part: &Part) -> bool {
        let items = &self.program.items;
        let mut values: BTreeMap<Counter, u64> = BTreeMap::new();
        let mut passed = vec![0; items.len()];
        let mut ended = vec![false; items.len()];
        loop {
            count_turn();
            let mut goes_on = false;
            for &number in &part.items {
                let item = &items[number];
                let is_held = item.after.iter().chain(&item.perhaps_after).any(|&other| !ended[other]);
                let has = |wanted: (Counter, u64), values: &BTreeMap<Counter, u64>| {
                    values.get(&wanted.0).copied().unwrap_or(0) >= wanted.1
                };
                if ended[number] || is_held || item.needs.is_some_and(|wanted| !has(wanted, &values)) {
                    continue;
                }
                let passes = item.launch.as_ref().map_or(&[][..], |launch| &launch.passes);
                let blocks = item.launch.as_ref().map_or(0, |launch| launch.blocks);
                while let Some(pass) = passes.get(passed[number]) {
                    count_turn();
                    match *pass {
                        Pass::Signal(counter) => *values.entry(counter).or_default() += blocks,
                        Pass::Await(counter, value) if !has((counter, value), &values) => break,
                        Pass::Await(..) => {}
                    }
                    passed[number] += 1;
                    goes_on = true;
                }
                if passed[number] == passes.len() {
                    if let Some((counter, value)) = item.writes {
                        let own = values.entry(counter).or_default();
                        *own = (*own).max(value);
                    }
                    ended[number] = true;
                    goes_on = true;
                }
            }
            if !goes_on {
                return part.items.iter().all(|&item| ended[item]);
            }
        }
    }

    /// Whether it is a launch, or a wait of a stream or a host, that may have to wait.
    pub(super) fn may_wait(&self, item: usize) -> bool {
        self.waiting.contains(&item) || self.gates.contains(&item)
    }

    /// The parts in which something waits.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut joined = Joined::new(self.program.items.len());
        let mut first: BTreeMap<Place, usize> = BTreeMap::new();
        for (number, item) in self.program.items.iter().enumerate() {
            for &other in item.after.iter().chain(&item.perhaps_after) {
                joined.join(number, other);
            }
            let mut meet = |place: Place| joined.join(number, *first.entry(place).or_insert(number));
            for (counter, _) in item.needs.iter().chain(&item.writes) {
                meet(Place::Counter(*counter));
            }
            let (Some(launch), Some(stream)) = (&item.launch, item.stream) else { continue };
            meet(Place::Queues(launch.owner));
            for pass in &launch.passes {
                meet(Place::Counter(pass.counter()));
            }
            let catalogue = &self.scenario.catalogue;
            // Contexts that take turns meet on no SM.
            let context = if catalogue.is_time_sliced() { launch.owner } else { 0 };
            for sm in catalogue.sms(launch.kernel, stream) {
                meet(Place::Sm(context, sm));
            }
        }
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        for number in 0..self.program.items.len() {
            let part = parts.entry(joined.of(number)).or_insert(Part { items: Vec::new(), waiting: Vec::new() });
            part.items.push(number);
            part.waiting.extend(self.waiting.contains(&number).then_some(number));
        }
        parts.into_values().filter(|part| part.items.iter().any(|&item| self.may_wait(item))).collect()
    }

    /// Launches of a part that wait and may be on SMs beside one: how many blocks of each are at once, of which not all
    /// have ended, by kernel and stream.
    fn others_beside(&self, part: &Part, item: usize) -> Vec<Crowd> {
        let mut crowds: Vec<Crowd> = Vec::new();
        for &other in part.waiting.iter().filter(|other| **other != item && !self.are_ordered(item, **other)) {
            count_turn();
            let (Some(launch), Some(stream)) = (self.launch(other), self.program.items[other].stream) else { continue };
            let all = u32::try_from(launch.blocks).unwrap_or(u32::MAX);
            // Of one that waits for itself a group is missing, or it goes on: of a cooperative one, all blocks.
            let blocks = match (self.waits_for_itself(other), launch.is_cooperative) {
                (true, true) => 0,
                (true, false) => all - self.least_group(other).min(all),
                _ => all,
            };
            let known = crowds.iter_mut().find(|crowd| (crowd.kernel, crowd.stream) == (launch.kernel, stream));
            match known {
                // Launches of one stream follow one another.
                Some(known) => known.blocks = known.blocks.max(blocks),
                None => crowds.push(Crowd { kernel: launch.kernel, stream, blocks }),
            }
        }
        crowds
    }

    /// How many blocks begin together.
    fn group(&self, item: usize) -> u32 {
        let Some(launch) = self.launch(item) else { return 0 };
        let kernel = self.scenario.kernels().get(launch.kernel.index());
        let all = u32::try_from(launch.blocks).unwrap_or(u32::MAX);
        if launch.is_cooperative { all } else { kernel.and_then(CheckedKernel::clusters).map_or(1, |all| all.size) }
    }

    /// How many blocks begin together at least: clusters may begin as parts.
    fn least_group(&self, item: usize) -> u32 {
        let kernel = self.launch(item).and_then(|launch| self.scenario.kernels().get(launch.kernel.index()));
        let parts = kernel.and_then(CheckedKernel::clusters).and_then(|clusters| clusters.fallback);
        parts.unwrap_or_else(|| self.group(item))
    }

    /// Blocks of a launch that fit at once beside all others that wait, at worst; and how many it needs.
    pub(super) fn room(&self, part: &Part, item: usize) -> Option<Lack> {
        let launch = self.launch(item)?;
        let stream = self.program.items[item].stream?;
        let needed = if self.waiting.contains(&item) {
            u32::try_from(launch.blocks).unwrap_or(u32::MAX)
        } else {
            self.group(item)
        };
        let sure = sure_room(&self.scenario.catalogue, launch.kernel, stream, &self.others_beside(part, item));
        Some(Lack { item, needed, sure })
    }

    /// How many blocks fit alone.
    pub(super) fn alone(&self, item: usize) -> u32 {
        let launch = self.launch(item).zip(self.program.items[item].stream);
        launch.map_or(0, |(launch, stream)| room_alone(&self.scenario.catalogue, launch.kernel, stream))
    }

    /// (b): what lacks room; empty if the condition holds.
    pub(super) fn lacks(&self, part: &Part) -> Vec<Lack> {
        let mut rooms: BTreeMap<(u32, u32), Lack> = BTreeMap::new();
        let all = part.items.iter().filter_map(|&item| self.room(part, item)).filter(|room| room.sure < room.needed);
        for lack in all {
            count_turn();
            let Some(launch) = self.launch(lack.item) else { continue };
            let stream = self.program.items[lack.item].stream.map_or(0, |stream| stream.0);
            rooms.entry((launch.kernel.0, stream)).or_insert(lack);
        }
        rooms.into_values().collect()
    }

    /// (c), and (e), which is that without any queue.
    pub(super) fn one_queue(&self, part: &Part) -> Option<ProgressCondition> {
        let queue = |item: usize| self.launch(item).map(|launch| (launch.owner, launch.level));
        let is_whole = |item: usize| self.launch(item).is_some_and(|launch| launch.is_cooperative);
        let fits = |item: usize| {
            let clusters = self.launch(item).and_then(|launch| self.scenario.kernels().get(launch.kernel.index()));
            // Clusters may be scattered so that none has room, though all do in some way.
            let has_clusters = clusters.is_some_and(|kernel| kernel.clusters().is_some());
            !has_clusters && self.launch(item).is_some_and(|launch| launch.blocks <= u64::from(self.alone(item)))
        };
        if !part.waiting.iter().all(|&item| self.waits_for_itself(item) && fits(item)) {
            return None;
        }
        let in_queue: Vec<usize> = part.waiting.iter().copied().filter(|item| !is_whole(*item)).collect();
        let Some(&first) = in_queue.first() else {
            return (!part.waiting.is_empty()).then_some(ProgressCondition::Cooperative);
        };
        if in_queue.iter().any(|&item| queue(item) != queue(first)) {
            return None;
        }
        // What is more urgent than they are has room beside a part of any one of them.
        let (owner, level) = queue(first)?;
        let above =
            part.items.iter().copied().filter(|&item| queue(item).is_some_and(|at| at.0 == owner && at.1 < level));
        let has_room = |item: usize| {
            let Some((launch, stream)) = self.launch(item).zip(self.program.items[item].stream) else { return true };
            in_queue.iter().all(|&waiting| {
                count_turn();
                let Some((other, on)) = self.launch(waiting).zip(self.program.items[waiting].stream) else {
                    return true;
                };
                let blocks = u32::try_from(other.blocks).unwrap_or(u32::MAX).saturating_sub(1);
                let beside = [Crowd { kernel: other.kernel, stream: on, blocks }];
                self.are_ordered(item, waiting)
                    || sure_room(&self.scenario.catalogue, launch.kernel, stream, &beside) >= self.group(item)
            })
        };
        above.into_iter().all(has_room).then_some(ProgressCondition::OneQueue)
    }
}

/// Counters that may fall, or whose value depends on the order in which they are written, which no condition knows.
fn note_falling_counters(scenario: &Scenario, program: &mut Program) -> BTreeSet<Counter> {
    let mut falling = BTreeSet::new();
    let mut written: BTreeMap<Counter, BTreeSet<u64>> = BTreeMap::new();
    for (counter, value) in program.items.iter().filter_map(|item| item.writes) {
        written.entry(counter).or_default().insert(value);
    }
    let signalled: BTreeSet<Counter> = program
        .launches()
        .flat_map(|(_, launch)| &launch.passes)
        .filter_map(|pass| if let Pass::Signal(counter) = *pass { Some(counter) } else { None })
        .collect();
    for (counter, values) in written {
        if values.len() > 1 || signalled.contains(&counter) {
            let name = scenario.catalogue.counters().get(counter).map_or("", |name| name);
            program.unknown.insert(format!("counter {name:?} may be set back: what waits may see it before or after"));
            falling.insert(counter);
        }
    }
    falling
}

/// What items meet at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Counter(Counter),
    Queues(usize),
    Sm(usize, u32),
}
