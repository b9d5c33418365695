//! All states of a small scenario, without times: whichever launch, placement or end of a block comes next.
//!
//! What only lets more go on is done at once: a block passes a point as soon as it may, and all blocks of a launch that
//! have begun are at the same point; operations without blocks end. As counters only go up, that leaves out no
//! standstill. What is left open is which launch enters its queue next, to which SM a block goes, and which block ends
//! next. Whatever happens at one instant has happened before blocks are assigned, so that more launches may enter and
//! more blocks end first; but then blocks are assigned as long as one has room. SMs that the same launches may use are
//! told apart by what is on them alone.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::conditions::{Part, System};
use super::model::{Counter, Pass};
use crate::device::{BlockDemand, Device, RegisterFile, ResidentWarps};
use crate::limits::count_turn;
use crate::time::Duration;

/// States that are looked at, and numbers that they have together.
const MOST_STATES: usize = 100_000;
const MOST_NUMBERS: usize = 50_000_000;

/// What came of looking at all states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Explored {
    /// None is a standstill.
    NoStandstill,
    /// One is.
    Standstill,
    /// They are more than so many.
    TooMany(usize),
    /// What decides is not known here: it depends on more than this.
    NotTried,
}

impl Explored {
    /// What it says of an open verdict.
    pub(super) fn in_words(self) -> Option<String> {
        match self {
            Self::NoStandstill | Self::NotTried => None,
            Self::Standstill => Some(
                "one of its states is a standstill, if blocks may take any time and go to any SM, and \
                                      no run was found that comes to it"
                    .to_owned(),
            ),
            Self::TooMany(most) => Some(format!("it has more than {most} states, of which not all were looked at")),
        }
    }
}

/// A launch, by place in `Search::launches`.
struct LaunchOf<'s> {
    item: usize,
    blocks: u32,
    demand: BlockDemand,
    passes: &'s [Pass],
    is_cooperative: bool,
    queue: usize,
    /// SMs that it may use.
    sms: Vec<usize>,
}

struct Search<'s> {
    system: &'s System<'s>,
    device: &'s Device,
    items: &'s [usize],
    launches: Vec<LaunchOf<'s>>,
    /// Owners of EE queues, each with its queues, the most urgent first.
    owners: Vec<Vec<usize>>,
    /// By SM, which launches may use it: those of one class are interchangeable.
    classes: Vec<Vec<usize>>,
}

/// What makes a difference to what comes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// Items that have ended, by place in `Search::items`.
    ended_items: Vec<bool>,
    /// By launch: whether it has entered its queue, how many blocks have begun, how many have ended.
    entered: Vec<bool>,
    begun: Vec<u32>,
    ended: Vec<u32>,
    /// Launches with blocks left to assign, by queue and in order.
    queues: Vec<Vec<usize>>,
    /// Blocks of each launch, by SM.
    on_sms: Vec<Vec<u32>>,
    /// Whether blocks are being assigned, which goes on as long as one has room.
    assigns: bool,
}

/// Looks at all states of a part.
pub(super) fn explore(system: &System<'_>, part: &Part) -> Explored {
    let Some(search) = Search::of(system, part) else { return Explored::NotTried };
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut first = search.first();
    search.settle(&mut first);
    let numbers = search.classes.len() * search.launches.len() + 5 * search.launches.len() + search.items.len();
    let most = MOST_STATES.min(MOST_NUMBERS / numbers.max(1));
    let mut open = vec![search.sorted(first)];
    while let Some(state) = open.pop() {
        count_turn();
        if seen.contains(&state) {
            continue;
        }
        if seen.len() >= most || open.len() >= MOST_STATES.max(most) {
            return Explored::TooMany(most);
        }
        let next = search.next(&state);
        if next.is_empty() && !state.ended_items.iter().all(|ended| *ended) {
            return Explored::Standstill;
        }
        open.extend(next.into_iter().map(|state| search.sorted(state)));
        seen.insert(state);
    }
    Explored::NoStandstill
}

impl<'s> Search<'s> {
    /// `None` for what depends on more: clusters, shares of clients, gaps, what perhaps comes first, SMs of two owners.
    fn of(system: &'s System<'s>, part: &'s Part) -> Option<Self> {
        let (scenario, catalogue) = (system.scenario, &system.scenario.catalogue);
        let device = scenario.device();
        let depends = device.block_gap > Duration::ZERO
            || part.items.iter().any(|&item| !system.program.items[item].perhaps_after.is_empty());
        if depends {
            return None;
        }
        let mut queues: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut all: Vec<(usize, usize, usize)> = Vec::new();
        for &item in &part.items {
            let Some(launch) = system.launch(item) else { continue };
            let stream = system.program.items[item].stream?;
            let process = catalogue.process_of(stream)?;
            let is_limited =
                catalogue.is_limited_client(process) && device.gpus() == 1 && !catalogue.has_partition(process);
            let kernel = scenario.kernels().get(launch.kernel.index())?;
            if is_limited || kernel.clusters().is_some() {
                return None;
            }
            queues.insert((launch.owner, launch.level));
            all.push((item, launch.owner, launch.level));
        }
        let queues: Vec<(usize, usize)> = queues.into_iter().collect();
        let mut owners: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, (owner, _)) in queues.iter().enumerate() {
            owners.entry(*owner).or_default().push(number);
        }
        let mut sms: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let mut owner_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut launches = Vec::new();
        for (item, owner, level) in all {
            count_turn();
            let launch = system.launch(item)?;
            let stream = system.program.items[item].stream?;
            let context = if catalogue.is_time_sliced() { owner } else { 0 };
            let mut own = Vec::new();
            for sm in catalogue.sms(launch.kernel, stream) {
                let next = sms.len();
                let place = *sms.entry((context, sm)).or_insert(next);
                if *owner_of.entry(place).or_insert(owner) != owner {
                    return None;
                }
                own.push(place);
            }
            launches.push(LaunchOf {
                item,
                blocks: u32::try_from(launch.blocks).ok()?,
                demand: scenario.kernels().get(launch.kernel.index())?.demand(),
                passes: &launch.passes,
                is_cooperative: launch.is_cooperative,
                queue: queues.binary_search(&(owner, level)).ok()?,
                sms: own,
            });
        }
        let mut classes = vec![Vec::new(); sms.len()];
        for (number, launch) in launches.iter().enumerate() {
            launch.sms.iter().for_each(|&sm| classes[sm].push(number));
        }
        Some(Self { system, device, items: &part.items, launches, owners: owners.into_values().collect(), classes })
    }

    fn first(&self) -> State {
        let (launches, queues) = (self.launches.len(), self.owners.iter().map(Vec::len).sum());
        State {
            ended_items: vec![false; self.items.len()],
            entered: vec![false; launches],
            begun: vec![0; launches],
            ended: vec![0; launches],
            queues: vec![Vec::new(); queues],
            on_sms: vec![vec![0; launches]; self.classes.len()],
            assigns: false,
        }
    }

    /// With interchangeable SMs in one order.
    fn sorted(&self, mut state: State) -> State {
        let mut order: Vec<usize> = (0..state.on_sms.len()).collect();
        order.sort_by(|&one, &other| {
            (&self.classes[one], &state.on_sms[one]).cmp(&(&self.classes[other], &state.on_sms[other]))
        });
        let mut places: Vec<usize> = (0..state.on_sms.len()).collect();
        places.sort_by(|&one, &other| self.classes[one].cmp(&self.classes[other]));
        let mut sorted = state.on_sms.clone();
        for (place, from) in places.into_iter().zip(order) {
            sorted[place] = std::mem::take(&mut state.on_sms[from]);
        }
        State { on_sms: sorted, ..state }
    }

    /// How far the blocks of each launch that have begun get, and what counters come to then.
    fn points(&self, state: &State) -> (Vec<usize>, BTreeMap<Counter, u64>) {
        let mut values: BTreeMap<Counter, u64> = BTreeMap::new();
        for (&item, _) in self.items.iter().zip(&state.ended_items).filter(|(_, ended)| **ended) {
            if let Some((counter, value)) = self.system.program.items[item].writes {
                let own = values.entry(counter).or_default();
                *own = (*own).max(value);
            }
        }
        let mut points = vec![0; self.launches.len()];
        loop {
            count_turn();
            let mut goes_on = false;
            for (number, launch) in self.launches.iter().enumerate().filter(|(number, _)| state.begun[*number] > 0) {
                while let Some(pass) = launch.passes.get(points[number]) {
                    count_turn();
                    match *pass {
                        Pass::Signal(counter) => *values.entry(counter).or_default() += u64::from(state.begun[number]),
                        Pass::Await(counter, value) if values.get(&counter).copied().unwrap_or(0) < value => break,
                        Pass::Await(..) => {}
                    }
                    points[number] += 1;
                    goes_on = true;
                }
            }
            if !goes_on {
                return (points, values);
            }
        }
    }

    /// Ends what needs no SM and may end.
    fn settle(&self, state: &mut State) {
        loop {
            count_turn();
            let (_, values) = self.points(state);
            let mut goes_on = false;
            for (place, &item) in self.items.iter().enumerate() {
                let of = &self.system.program.items[item];
                if !state.ended_items[place] && of.launch.is_none() && self.may_begin(state, item, &values) {
                    state.ended_items[place] = true;
                    goes_on = true;
                }
            }
            for (number, launch) in self.launches.iter().enumerate() {
                let place = self.place(launch.item);
                if state.ended[number] == launch.blocks && !state.ended_items[place] {
                    state.ended_items[place] = true;
                    goes_on = true;
                }
            }
            if !goes_on {
                return;
            }
        }
    }

    fn place(&self, item: usize) -> usize {
        // Items of a part are in ascending order.
        self.items.binary_search(&item).unwrap_or(0)
    }

    fn may_begin(&self, state: &State, item: usize, values: &BTreeMap<Counter, u64>) -> bool {
        let of = &self.system.program.items[item];
        of.after.iter().all(|&before| state.ended_items[self.place(before)])
            && of.needs.is_none_or(|(counter, value)| values.get(&counter).copied().unwrap_or(0) >= value)
    }

    /// For how many more blocks of a launch an SM has room.
    fn room(&self, launch: usize, on_sm: &[u32]) -> u32 {
        let own = &self.launches[launch].demand;
        let (mut warps, mut slots, mut bytes) =
            (self.device.warps_per_sm(), self.device.per_sm.blocks, self.device.per_sm.shared_memory_bytes);
        let mut resident = ResidentWarps::default();
        for (number, &blocks) in on_sm.iter().enumerate().filter(|(_, blocks)| **blocks > 0) {
            let demand = &self.launches[number].demand;
            warps = warps.saturating_sub(demand.warps * blocks);
            slots = slots.saturating_sub(blocks);
            bytes = bytes.saturating_sub(demand.shared_memory_bytes * blocks);
            resident.add(demand.registers_per_warp(), demand.warps * blocks);
        }
        let by_bytes = bytes.checked_div(own.shared_memory_bytes).unwrap_or(u32::MAX);
        let by_registers = RegisterFile::of(self.device).room(&resident, own).unwrap_or(u32::MAX);
        (warps / own.warps.max(1)).min(slots).min(by_bytes).min(by_registers)
    }

    /// The states that may come next.
    fn next(&self, state: &State) -> Vec<State> {
        // Owners have no SMs in common, so that it makes no difference which of them is first.
        let mut next =
            self.heads(state).map(|head| self.assigned(state, head)).find(|all| !all.is_empty()).unwrap_or_default();
        if state.assigns && !next.is_empty() {
            return next;
        }
        let state = &State { assigns: false, ..state.clone() };
        let (points, values) = self.points(state);
        for (number, launch) in self.launches.iter().enumerate() {
            count_turn();
            if !state.entered[number] && self.may_begin(state, launch.item, &values) {
                let mut other = state.clone();
                other.entered[number] = true;
                other.queues[launch.queue].push(number);
                next.push(other);
            }
            if state.begun[number] == 0 || points[number] < launch.passes.len() {
                continue;
            }
            let mut looked_at: Vec<usize> = Vec::new();
            for sm in (0..state.on_sms.len()).filter(|sm| state.on_sms[*sm][number] > 0) {
                if !self.is_like_one(state, sm, &looked_at) {
                    looked_at.push(sm);
                    let mut other = state.clone();
                    other.on_sms[sm][number] -= 1;
                    other.ended[number] += 1;
                    self.settle(&mut other);
                    next.push(other);
                }
            }
        }
        next
    }

    /// The launches whose blocks are next.
    fn heads(&self, state: &State) -> impl Iterator<Item = usize> {
        let first = |owner: &Vec<usize>| owner.iter().find_map(|&queue| state.queues[queue].first().copied());
        self.owners.iter().filter_map(first)
    }

    /// SMs with room for the next block of a head, if it begins now.
    fn with_room(&self, state: &State, head: usize) -> Vec<usize> {
        let launch = &self.launches[head];
        let left = launch.blocks - state.begun[head];
        let rooms = launch.sms.iter().map(|&sm| (sm, self.room(head, &state.on_sms[sm])));
        let rooms: Vec<(usize, u32)> = rooms.filter(|(_, room)| *room > 0).collect();
        if launch.is_cooperative && rooms.iter().map(|(_, room)| *room).sum::<u32>() < left {
            return Vec::new();
        }
        rooms.into_iter().map(|(sm, _)| sm).collect()
    }

    fn is_like_one(&self, state: &State, sm: usize, others: &[usize]) -> bool {
        let like = |other: usize| self.classes[sm] == self.classes[other] && state.on_sms[sm] == state.on_sms[other];
        others.iter().any(|&other| like(other))
    }

    /// The states in which the next block of a head is on an SM.
    fn assigned(&self, state: &State, head: usize) -> Vec<State> {
        let launch = &self.launches[head];
        let left = launch.blocks - state.begun[head];
        let (mut next, mut looked_at) = (Vec::new(), Vec::new());
        for sm in self.with_room(state, head) {
            count_turn();
            if self.is_like_one(state, sm, &looked_at) {
                continue;
            }
            looked_at.push(sm);
            let mut other = state.clone();
            other.on_sms[sm][head] += 1;
            other.begun[head] += 1;
            if left == 1 {
                other.queues[launch.queue].remove(0);
            }
            let assigns = self.heads(&other).any(|head| !self.with_room(&other, head).is_empty());
            other.assigns = assigns;
            self.settle(&mut other);
            next.push(other);
        }
        next
    }
}
