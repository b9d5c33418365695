//! What tasks do on their cores and on the GPU, one after the other: the host threads of a scenario.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::activations::{Activations, Plan, Sequence};
use super::allocation::CoreShares;
use super::cost::{Costs, MAX_CALLS};
use super::items::{EventWait, Item};
use super::model::{AmaltheaModel, Task};
use super::options::AmaltheaOptions;
use super::quantities::{TickRange, Ticks};
use super::software;
use super::xml::Problem;
use crate::limits::count_turn;
use crate::scenario::CoreShare;
use crate::time::{Duration, MAX_INPUT_NS};

/// What one host does in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// It works on its core.
    Work(Duration),
    /// It submits a runnable with the copies around it.
    Submit(usize),
    /// It waits until what it has submitted to the stream of this sequence is done.
    Await(usize),
}

/// A task as a host.
pub(super) struct HostPlan {
    pub(super) task: usize,
    pub(super) plan: Plan,
    pub(super) core: Option<CoreShare>,
    pub(super) actions: Vec<Action>,
    /// All tasks that are parts of it, itself among them.
    pub(super) tasks: BTreeSet<usize>,
    /// The runnables that it does, in order.
    pub(super) runnables: Vec<usize>,
    /// Why its jobs may take longer, or have their core otherwise.
    pub(super) doubts: BTreeSet<String>,
}

/// All tasks as hosts.
#[derive(Default)]
pub(super) struct TasksOnCores {
    pub(super) hosts: Vec<HostPlan>,
    /// Why any job may take longer.
    pub(super) doubts: BTreeSet<String>,
    /// What the user should know.
    pub(super) notes: BTreeSet<String>,
}

impl TasksOnCores {
    /// Whether a runnable is launched by a host.
    pub(super) fn submits(&self, runnable: usize) -> bool {
        self.hosts.iter().any(|host| host.actions.contains(&Action::Submit(runnable)))
    }
}

/// What an event that was set means to who waits for it.
#[derive(Clone, Copy)]
enum IsSet {
    /// When the stream of this sequence has done all before.
    ByStream(usize),
    /// As soon as it is waited for.
    Already,
}

struct Walk<'w, 'm, 't> {
    model: &'m AmaltheaModel<'t>,
    chosen: &'w AmaltheaOptions,
    sequences: &'w [Sequence],
    /// Launched runnables, each with its sequence.
    launched: HashMap<usize, usize>,
    /// Copies around them.
    around: BTreeSet<usize>,
    shares: CoreShares<'m>,
    /// By processing unit.
    costs: BTreeMap<Option<usize>, Costs<'m, 't>>,
    indices: HashMap<&'m str, Option<usize>>,
    /// Runnables of which it is known whether they, or what they call, do something beside work.
    special: HashMap<usize, bool>,
    notes: BTreeSet<String>,
    /// Why any job may take longer.
    doubts: BTreeSet<String>,
}

/// What is found of one host.
struct Found {
    host: HostPlan,
    unit: Option<usize>,
    set: HashMap<String, IsSet>,
    /// The stimuli that it has triggered.
    triggered: BTreeSet<String>,
    /// Whether what is looked at is done by a task that is allocated to the GPU.
    is_on_gpu: bool,
    /// How many calls were looked at.
    calls: usize,
    waits_actively: BTreeSet<bool>,
}

impl<'t> AmaltheaModel<'t> {
    /// Whether tasks are to run on their cores: as asked for, or where nothing says how large any kernel is, which the
    /// mapping may make up for, as it does where the model has no GPU.
    pub(super) fn uses_cores(&self, chosen: &AmaltheaOptions) -> bool {
        let has_grids = || self.runnables.iter().any(|runnable| runnable.grid_size.is_some());
        let is_chosen = || !chosen.runnables.is_empty() || !chosen.grid_sizes.is_empty() || has_grids();
        let is_mapped = || self.tasks.iter().any(|task| self.is_on_gpu(task)) || self.has_cores_alone();
        chosen.cores || !is_chosen() && is_mapped()
    }

    /// What tasks do, with these sequences on the GPU.
    pub(super) fn tasks_on_cores<'m>(
        &'m self,
        chosen: &AmaltheaOptions,
        sequences: &[Sequence],
        activations: &Activations<'m, 't>,
    ) -> TasksOnCores {
        let all = sequences.iter().enumerate();
        let launched: HashMap<usize, usize> =
            all.flat_map(|(number, one)| one.runnables.iter().map(move |&runnable| (runnable, number))).collect();
        let mut around = BTreeSet::new();
        for &runnable in launched.keys() {
            let copies = software::around(self, runnable);
            around.extend(copies.before.into_iter().chain(copies.after));
        }
        let indices = self.indices();
        let shares = CoreShares::of(self);
        let (costs, special, notes, doubts) = (BTreeMap::new(), HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut walk =
            Walk { model: self, chosen, sequences, launched, around, shares, costs, indices, special, notes, doubts };
        let mut all = TasksOnCores::default();
        let (mut tasks, mut later): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (number, task) in self.tasks.iter().enumerate() {
            if task.is_isr {
                all.doubts.insert(format!("interrupt routine {:?} takes no time here", task.name));
            } else if activations.is_triggered(task) {
                later.push(number);
            } else {
                tasks.push(number);
            }
        }
        let mut parts = BTreeSet::new();
        for is_later in [false, true] {
            for &number in if is_later { &later } else { &tasks } {
                let Some(task) = self.tasks.get(number).filter(|_| !parts.contains(&number)) else { continue };
                match activations.plan_of_task(task, chosen.one_job) {
                    Ok(plan) => {
                        let host = walk.host(number, task, plan);
                        if is_later && !host.actions.iter().any(|action| matches!(action, Action::Work(_))) {
                            // What is on the GPU alone is launched on its own.
                            continue;
                        }
                        parts.extend(host.tasks.iter().copied());
                        all.hosts.push(host);
                    }
                    Err(why) => {
                        all.doubts.insert(format!("task {:?} is left out: {why}", task.name));
                    }
                }
            }
        }
        all.notes = walk.notes;
        all.doubts.extend(walk.doubts);
        all.notes.extend(all.doubts.iter().cloned());
        all.doubt_equal(self);
        all
    }
}

impl TasksOnCores {
    /// Which of hosts goes first that are equally urgent on their core is not told.
    fn doubt_equal(&mut self, model: &AmaltheaModel<'_>) {
        let mut by_core: BTreeMap<u32, Vec<(i32, usize)>> = BTreeMap::new();
        for (number, host) in self.hosts.iter().enumerate() {
            if let Some(share) = host.core {
                by_core.entry(share.core).or_default().push((share.priority, number));
            }
        }
        for mut all in by_core.into_values() {
            all.sort_unstable();
            for equal in all.chunk_by(|one, next| one.0 == next.0) {
                let name = |&(_, host): &(i32, usize)| {
                    model.tasks.get(self.hosts[host].task).map_or_else(String::new, |task| format!("{:?}", task.name))
                };
                let names: Vec<String> = equal.iter().map(name).collect();
                let Some((last, others)) = names.split_last().filter(|(_, others)| !others.is_empty()) else {
                    continue;
                };
                let what = format!("tasks {} and {last} are equally urgent on their core", others.join(", "));
                for &(_, host) in equal {
                    self.hosts[host].doubts.insert(what.clone());
                }
            }
        }
    }
}

impl<'m, 't> Walk<'_, 'm, 't> {
    fn host(&mut self, number: usize, task: &'m Task, plan: Plan) -> HostPlan {
        let unit = self.shares.unit(number);
        let mut doubts = BTreeSet::new();
        if self.shares.unit(number).is_none() {
            // Wherever it runs, it may delay others.
            self.doubts.insert(format!(
                "task {:?} is not allocated to one core: what it does there takes no time here",
                task.name
            ));
        }
        doubts.extend(unit.and_then(|unit| self.shares.doubts.get(&unit)).into_iter().flatten().cloned());
        let (actions, runnables, tasks) = (Vec::new(), Vec::new(), BTreeSet::from([number]));
        let host = HostPlan { task: number, plan, core: None, actions, tasks, runnables, doubts };
        let (set, triggered, waits_actively) = (HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut found = Found { host, unit, set, triggered, is_on_gpu: false, calls: 0, waits_actively };
        self.task(task, &mut found);
        if found.waits_actively.len() > 1 {
            found.doubt(format!("task {:?} waits both actively and passively", task.name));
        }
        let spins = found.waits_actively.contains(&true);
        let mut host = found.host;
        host.core =
            unit.map(|unit| CoreShare { core: self.shares.core(unit), priority: self.shares.priority(number), spins });
        host
    }

    /// Adds what a task does.
    fn task(&mut self, task: &'m Task, found: &mut Found) {
        self.unread(&format!("what task {:?} also does is not read", task.name), &task.unread, found);
        let by = std::mem::replace(&mut found.is_on_gpu, self.model.is_on_gpu(task));
        self.items(&task.items, None, 0, found);
        found.is_on_gpu = by;
    }

    /// What is not read may make the host take longer, and of some kinds others too.
    fn unread(&mut self, of: &str, kinds: &BTreeSet<String>, found: &mut Found) {
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).filter(|kind| !EVENTS.contains(kind)).collect();
        if kinds.is_empty() {
            return;
        }
        let what = format!("{of}: {}", kinds.join(", "));
        if kinds.iter().any(|kind| ELSEWHERE.contains(kind)) {
            self.doubts.insert(what);
        } else {
            found.doubt(what);
        }
    }

    /// Adds what items do, those of a runnable or, without one, of a task.
    fn items(&mut self, items: &'m [Item], of: Option<usize>, depth: usize, found: &mut Found) {
        if depth > MAX_CALLS {
            found.doubt(format!("calls of runnables by runnables are nested more than {MAX_CALLS} deep"));
            return;
        }
        for item in items {
            match item {
                Item::Call(name) => self.call(name, depth, found),
                Item::Sequence(items) => self.items(items, of, depth, found),
                Item::Trigger(stimulus) => self.trigger(stimulus, found),
                Item::Wait(wait) => self.wait(wait, found),
                Item::Clear(events) => events.iter().for_each(|event| _ = found.set.remove(event)),
                Item::Set(events, process) if self.is_for(process.as_ref(), found) => {
                    // In the order of the host, what it waits for later is set by then.
                    found.set.extend(events.iter().map(|event| (event.clone(), IsSet::Already)));
                }
                Item::Set(..) => {}
                Item::Choice(alternatives) if alternatives.iter().any(|items| self.is_special(items, 0)) => {
                    found.doubt("what is launched, triggered or waited for depends on a switch".to_owned());
                    for items in alternatives {
                        self.items(items, of, depth, found);
                    }
                }
                Item::Work(_) | Item::Unread(..) | Item::Choice(_) => {
                    // A task's own switch among runnables counts as work of any runnable would.
                    let items = std::slice::from_ref(item);
                    let index = of.unwrap_or(usize::MAX);
                    let cycles = self.costs(found.unit).cycles_of(items, index);
                    self.work(cycles, found);
                    for index in Item::calls(items).into_iter().filter_map(|name| self.find(name)) {
                        self.accesses_within(index, found);
                        // It may be done or not.
                        found.host.runnables.push(usize::MAX);
                    }
                }
            }
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied().flatten()
    }

    fn costs(&mut self, unit: Option<usize>) -> &mut Costs<'m, 't> {
        let model = self.model;
        self.costs
            .entry(unit)
            .or_insert_with(|| Costs::new(model, unit.and_then(|unit| model.processing_units.get(unit))))
    }

    /// Whether items, or what they call, do something beside work.
    fn is_special(&mut self, items: &'m [Item], depth: usize) -> bool {
        let (mut is_special, mut called) = (depth > MAX_CALLS, Vec::new());
        Item::each(items, &mut |item| match item {
            Item::Trigger(_) | Item::Wait(_) | Item::Set(..) | Item::Clear(_) => is_special = true,
            Item::Call(name) => called.push(name),
            _ => {}
        });
        let called: Vec<usize> = called.into_iter().filter_map(|name| self.find(name)).collect();
        is_special || called.into_iter().any(|index| self.is_special_call(index, depth))
    }

    fn is_special_call(&mut self, index: usize, depth: usize) -> bool {
        if let Some(&known) = self.special.get(&index) {
            return known;
        }
        let model = self.model;
        let Some(runnable) = model.runnables.get(index) else { return false };
        // What calls itself has no time, which is said when that is asked for.
        self.special.insert(index, false);
        let is_special = runnable.copy.is_some()
            || self.launched.contains_key(&index)
            || self.is_special(&runnable.items, depth + 1);
        self.special.insert(index, is_special);
        is_special
    }

    fn call(&mut self, name: &str, depth: usize, found: &mut Found) {
        let Some(index) = self.find(name) else {
            found.doubt(format!("runnable {name:?} is called, and is not in this model once"));
            return;
        };
        let model = self.model;
        let Some(runnable) = model.runnables.get(index) else { return };
        found.calls += 1;
        if found.calls > MAX_VISITS {
            found.doubt(format!("more than {MAX_VISITS} calls are not looked at"));
            return;
        }
        if self.launched.contains_key(&index) {
            if !found.is_on_gpu && model.tasks.iter().any(|task| model.is_on_gpu(task) && task.calls.contains(&index)) {
                self.doubts.insert(format!("runnable {name:?} is done on the GPU and on cores: it is launched here"));
            }
            found.host.actions.push(Action::Submit(index));
            found.host.runnables.push(index);
            return;
        }
        if runnable.copy.is_some() {
            if !self.around.contains(&index) {
                self.notes.insert(format!(
                    "copy runnable {name:?} is left out: what it copies for runs on a core, or is not launched"
                ));
            }
            return;
        }
        found.host.runnables.push(index);
        self.unread(&format!("what runnable {name:?} also does is not read"), &runnable.unread, found);
        if self.is_special(&runnable.items, 0) {
            self.accesses(index, found);
            self.items(&runnable.items, Some(index), depth + 1, found);
            // It ends behind what it calls.
            found.host.runnables.push(index);
            return;
        }
        let cycles = self.costs(found.unit).cycles(index);
        if matches!(cycles, Ok(None)) && runnable.accesses.is_empty() {
            found.doubt(format!("runnable {name:?} states no ticks and takes no time here"));
        }
        self.work(cycles, found);
        self.accesses_within(index, found);
    }

    /// Adds the accesses of a runnable and of those that it calls.
    fn accesses_within(&self, index: usize, found: &mut Found) {
        let (mut open, mut visited) = (vec![index], 0_usize);
        while let Some(index) = open.pop() {
            count_turn();
            let Some(runnable) = self.model.runnables.get(index) else { continue };
            visited += 1;
            if visited > MAX_VISITS {
                found.doubt("more runnables access labels than are looked at".to_owned());
                return;
            }
            self.accesses(index, found);
            open.extend(Item::calls(&runnable.items).into_iter().filter_map(|name| self.find(name)));
        }
    }

    /// Adds the time that a runnable's own accesses to labels take.
    fn accesses(&self, index: usize, found: &mut Found) {
        let Some(runnable) = self.model.runnables.get(index).filter(|one| !one.accesses.is_empty()) else { return };
        let unit = found.unit.and_then(|unit| self.model.processing_units.get(unit));
        let one = unit.and_then(|unit| {
            let by = |name: &String| self.chosen.access_times.get(name).copied();
            by(&unit.name).or_else(|| unit.definition.as_ref().and_then(by))
        });
        let all = unit.and_then(|unit| {
            let mut all = (Ticks::default(), Duration::ZERO);
            for access in &runnable.accesses {
                let (cycles, rest) = if let Some(one) = one {
                    (Ticks::default(), one.checked_mul(unit.memories.most_lines(access)?)?)
                } else {
                    unit.memories.time(access)?
                };
                all = (all.0.plus(cycles), all.1.checked_add(rest)?);
            }
            let of_cycles = if all.0 == Ticks::default() { Duration::ZERO } else { unit.frequency?.duration(all.0)? };
            all.1.checked_add(of_cycles)
        });
        match all {
            Some(time) => found.add_work(time),
            None => found.doubt(format!(
                "how long accesses of runnable {:?} to labels take is not stated, and counts for nothing",
                runnable.name
            )),
        }
    }

    /// Adds work.
    fn work(&self, cycles: Result<Option<TickRange>, Problem>, found: &mut Found) {
        let range = match cycles {
            Ok(Some(range)) => range,
            Ok(None) => return,
            Err(problem) => {
                found.doubt(problem.what);
                return;
            }
        };
        if range.upper.is_none() {
            found.doubt("a runnable states no upper bound of its ticks".to_owned());
        }
        let ticks = self.chosen.ticks.of(range).map(|((_, worst), _)| worst);
        let unit = found.unit.and_then(|unit| self.model.processing_units.get(unit));
        let frequency = unit.and_then(|unit| unit.frequency);
        match ticks.zip(frequency).and_then(|(ticks, frequency)| frequency.duration(ticks)) {
            Some(time) => found.add_work(time),
            None => found.doubt("how long its work takes is not known, and counts for nothing".to_owned()),
        }
    }

    /// Adds what the tasks do that a stimulus activates.
    fn trigger(&mut self, stimulus: &str, found: &mut Found) {
        let triggered =
            self.model.tasks.iter().enumerate().filter(|(_, task)| task.stimuli.iter().any(|one| one == stimulus));
        if !found.triggered.insert(stimulus.to_owned()) {
            self.doubts.insert(format!("stimulus {stimulus:?} is triggered more than once in a job: once here"));
        }
        for (number, task) in triggered {
            if found.host.task == number {
                self.doubts.insert(format!("task {:?} triggers itself", task.name));
            }
            if !found.host.tasks.contains(&number) && (self.is_launched(task) || self.is_part(number, task, found)) {
                found.host.tasks.insert(number);
                self.task(task, found);
                let stream = task.calls.iter().rev().find_map(|call| self.launched.get(call)).copied();
                let by = stream.map_or(IsSet::Already, IsSet::ByStream);
                let sets = self.set_for(task, found);
                found.set.extend(sets.into_iter().map(|event| (event.clone(), by)));
            }
        }
    }

    /// Whether events that are set for this process, or for any, are set for a host.
    fn is_for(&self, process: Option<&String>, found: &Found) -> bool {
        let is_it = |task: &Task| process.is_none_or(|process| *process == task.name);
        self.model.tasks.get(found.host.task).is_some_and(is_it)
    }

    /// The events that a task sets for a host.
    fn set_for<'a>(&self, task: &'a Task, found: &Found) -> BTreeSet<&'a String> {
        let mut sets = BTreeSet::new();
        Item::each(&task.items, &mut |item| {
            if let Item::Set(events, process) = item
                && self.is_for(process.as_ref(), found)
            {
                sets.extend(events);
            }
        });
        sets
    }

    /// Whether all that a task does is on the GPU.
    fn is_launched(&self, task: &Task) -> bool {
        let mut calls = task.calls.iter();
        task.calls.iter().any(|call| self.launched.contains_key(call))
            && calls.all(|call| self.launched.contains_key(call) || self.around.contains(call))
    }

    /// Whether a task does its work in the midst of the host that triggers it: on its core, as urgently, and awaited.
    fn is_part(&self, number: usize, task: &Task, found: &Found) -> bool {
        let has_place = match self.shares.unit(number) {
            Some(unit) => {
                Some(unit) == found.unit && self.shares.priority(number) == self.shares.priority(found.host.task)
            }
            None => self.model.is_on_gpu(task),
        };
        let sets = self.set_for(task, found);
        let mut is_awaited = false;
        if let Some(by) = self.model.tasks.get(found.host.task) {
            Item::each(&by.items, &mut |item| {
                if let Item::Wait(wait) = item {
                    is_awaited |= wait.events.iter().any(|event| sets.contains(event));
                }
            });
        }
        has_place && is_awaited
    }

    fn wait(&self, wait: &EventWait, found: &mut Found) {
        found.waits_actively.insert(wait.is_active);
        if wait.events.is_empty() || wait.is_for_any && wait.events.len() > 1 {
            found.doubt("what an event mask waits for is not read".to_owned());
        }
        for event in &wait.events {
            match found.set.get(event) {
                Some(IsSet::Already) => {}
                Some(&IsSet::ByStream(sequence)) if sequence < self.sequences.len() => {
                    found.host.actions.push(Action::Await(sequence));
                }
                _ => found.doubt(format!("who sets event {event:?}, which is waited for, is not known")),
            }
        }
    }
}

/// How many runnables are looked at for the accesses of one call.
const MAX_VISITS: usize = 10_000;

/// What is read of tasks that run on cores, though it is counted where they do not.
const EVENTS: [&str; 3] = ["WaitEvent", "SetEvent", "ClearEvent"];

/// What is not read and may make jobs of others wait, wherever they run.
const ELSEWHERE: [&str; 2] = ["EnforcedMigration", "SemaphoreAccess"];

impl Found {
    fn doubt(&mut self, what: String) {
        self.host.doubts.insert(what);
    }

    /// Work that follows on work is more of it.
    fn add_work(&mut self, time: Duration) {
        if time.as_ns() > MAX_INPUT_NS {
            self.doubt("work of more than 2^63 ns counts for nothing".to_owned());
            return;
        }
        match self.host.actions.last_mut() {
            Some(Action::Work(known)) => match known.checked_add(time).filter(|sum| sum.as_ns() <= MAX_INPUT_NS) {
                Some(sum) => *known = sum,
                None => self.host.actions.push(Action::Work(time)),
            },
            _ => self.host.actions.push(Action::Work(time)),
        }
    }
}
