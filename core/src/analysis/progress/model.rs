//! What a scenario's hosts and streams do without its times: what is launched after what, which counters each waits for
//! or changes, and what is not known of that.

use std::collections::{BTreeMap, BTreeSet};

use crate::device::Preemption;
use crate::limits::count_turn;
use crate::scenario::{HostThread, Scenario, Step, followed};
use crate::time::Duration;
use crate::workload::{CounterValue, EventId, KernelId, PointAction, StreamId, ValueId};

/// Operations and waits of hosts at most.
const MOST_ITEMS: usize = 2_000;

/// A counter: a stated one by number, or behind all of these one of a single launch, which a grid barrier is.
pub(super) type Counter = usize;

/// A point of a block's time, with grid barriers as signals and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Signal(Counter),
    Await(Counter, u64),
}

impl Pass {
    pub(super) fn counter(self) -> Counter {
        match self {
            Self::Signal(counter) | Self::Await(counter, _) => counter,
        }
    }
}

/// A launch.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) kernel: KernelId,
    pub(super) blocks: u64,
    pub(super) is_cooperative: bool,
    pub(super) passes: Vec<Pass>,
    /// Whose EE queue it enters, and how urgent that is: the smaller the more.
    pub(super) owner: usize,
    pub(super) level: usize,
}

/// Something that begins once all before it has ended, and ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// The host thread, and where it submits; `None`: a wait of the host itself.
    pub(super) thread: usize,
    pub(super) stream: Option<StreamId>,
    pub(super) launch: Option<Launch>,
    /// What has surely ended before it begins, but for what that is behind itself.
    pub(super) after: Vec<usize>,
    /// What may have to end before it begins: it depends on times whether it does.
    pub(super) perhaps_after: Vec<usize>,
    /// The event for which it waits.
    pub(super) event: Option<EventId>,
    pub(super) needs: Option<(Counter, u64)>,
    pub(super) writes: Option<(Counter, u64)>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) items: Vec<Item>,
    /// What nothing is known of, so that nothing can be proven.
    pub(super) unknown: BTreeSet<String>,
}

impl Program {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut reader = Reader::new(scenario);
        for (number, thread) in scenario.threads.iter().enumerate() {
            reader.thread(number, thread);
        }
        reader.join_threads();
        reader.note_unknown();
        reader.program
    }

    /// Launches, with their numbers among the items.
    pub(super) fn launches(&self) -> impl Iterator<Item = (usize, &Launch)> {
        self.items.iter().enumerate().filter_map(|(number, item)| Some((number, item.launch.as_ref()?)))
    }

    /// By item: all that has surely ended before it begins, in ascending order.
    pub(super) fn surely_before(&self) -> Vec<Vec<usize>> {
        let mut before: Vec<Vec<usize>> = Vec::with_capacity(self.items.len());
        for item in &self.items {
            count_turn();
            // Each comes behind what it is after.
            let mut all: Vec<usize> =
                item.after.iter().flat_map(|&one| before[one].iter().copied().chain([one])).collect();
            all.sort_unstable();
            all.dedup();
            before.push(all);
        }
        before
    }
}

pub(super) fn counter_and_value(scenario: &Scenario, value: ValueId) -> (Counter, u64) {
    let CounterValue { counter, value } = scenario.catalogue.values()[value.index()];
    (counter.index(), value)
}

struct Reader<'s> {
    scenario: &'s Scenario,
    program: Program,
    /// By stream, the last operation of each thread that submits there.
    last: BTreeMap<StreamId, BTreeMap<usize, usize>>,
    /// By event, its last record by thread.
    records: BTreeMap<EventId, BTreeMap<usize, usize>>,
    /// All records of an event, and all waits for it, with their threads; of waits also the thread's own record.
    all_records: BTreeMap<EventId, Vec<(usize, usize)>>,
    all_waits: BTreeMap<EventId, Vec<(usize, usize, Option<usize>)>>,
    /// All operations of a stream, and all waits of hosts for it, with their threads.
    all_operations: BTreeMap<StreamId, Vec<(usize, usize)>>,
    all_synchronizations: BTreeMap<StreamId, Vec<(usize, usize)>>,
    next_counter: Counter,
}

impl<'s> Reader<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        Self {
            scenario,
            program: Program::default(),
            last: BTreeMap::new(),
            records: BTreeMap::new(),
            all_records: BTreeMap::new(),
            all_waits: BTreeMap::new(),
            all_operations: BTreeMap::new(),
            all_synchronizations: BTreeMap::new(),
            next_counter: scenario.catalogue.counters().len(),
        }
    }

    fn unknown(&mut self, what: impl Into<String>) {
        self.program.unknown.insert(what.into());
    }

    /// How many iterations of a thread there are in a run.
    fn iterations(&mut self, thread: &HostThread) -> u64 {
        let by_horizon = self.scenario.horizon.zip(thread.period.filter(|period| *period > Duration::ZERO));
        let by_horizon = by_horizon.map(|(horizon, period)| {
            let left = horizon.as_ns().checked_sub(thread.release.as_ns());
            left.map_or(0, |left| left / period.as_ns() + 1)
        });
        match thread.iterations.map_or(by_horizon, |all| Some(by_horizon.map_or(all, |by| by.min(all)))) {
            Some(all) if thread.time_limit.is_none() && thread.until.is_none() => all,
            _ => {
                self.unknown(format!("how often host {:?} comes depends on times", thread.label));
                1
            }
        }
    }

    fn thread(&mut self, number: usize, thread: &HostThread) {
        let mut host: Option<usize> = None;
        if thread.barrier.is_some() {
            self.unknown("hosts wait for one another at barriers");
        }
        if thread.triggered_by.is_some() {
            self.unknown("hosts wait for the ends of jobs of others");
        }
        let iterations = self.iterations(thread);
        let Some(steps) = followed(thread, iterations) else {
            self.unknown(format!("host {:?} has too many steps to follow", thread.label));
            return;
        };
        for step in steps {
            count_turn();
            if self.program.items.len() >= MOST_ITEMS {
                self.unknown(format!("more than {MOST_ITEMS} operations are launched"));
                return;
            }
            self.step(number, step, &mut host);
        }
    }

    fn value(&self, value: ValueId) -> (Counter, u64) {
        counter_and_value(self.scenario, value)
    }

    fn step(&mut self, thread: usize, step: Step, host: &mut Option<usize>) {
        if let Some((_, stream)) = step.submission() {
            let after = host.iter().copied().collect();
            let item = Item { thread, stream: Some(stream), after, ..Item::default() };
            self.submit(thread, step, stream, item);
            return;
        }
        let own_last = |last: &BTreeMap<StreamId, BTreeMap<usize, usize>>, stream: StreamId| {
            last.get(&stream).and_then(|by| by.get(&thread)).copied()
        };
        let number = self.program.items.len();
        let mut item = Item { thread, after: host.iter().copied().collect(), ..Item::default() };
        match step {
            Step::AwaitValue(value) => item.needs = Some(self.value(value)),
            Step::SetValue(value) => item.writes = Some(self.value(value)),
            Step::SynchronizeStream(stream) => {
                item.after.extend(own_last(&self.last, stream));
                self.all_synchronizations.entry(stream).or_default().push((thread, number));
            }
            Step::AwaitLast => {
                let own = self.last.values().filter_map(|by| by.get(&thread)).copied().max();
                item.after.extend(own);
            }
            Step::SynchronizeDevice | Step::Free => {
                // Of several GPUs a host waits for its own, wherever it or others have submitted.
                let process = self.scenario.threads[thread].process;
                let streams = self.scenario.streams();
                let is_own = |stream: StreamId| streams.get(stream.index()).is_some_and(|own| own.process == process);
                let own = self.last.iter().filter(|(stream, _)| is_own(**stream));
                item.after.extend(own.filter_map(|(_, by)| by.get(&thread)).copied());
                if self.scenario.threads.len() > 1 {
                    let is_other = |(number, other): (usize, &HostThread)| {
                        let streams = other.steps.iter().filter_map(|step| step.submission());
                        number != thread && streams.into_iter().any(|(_, stream)| is_own(stream))
                    };
                    if self.scenario.threads.iter().enumerate().any(is_other) {
                        self.unknown("a host waits for the whole device, for whatever other hosts have submitted then");
                    }
                    let is_held = |(number, other): (usize, &HostThread)| {
                        let calls = other.steps.iter().any(|step| step.is_cuda_call());
                        number != thread && other.process == process && calls
                    };
                    if step == Step::Free && self.scenario.threads.iter().enumerate().any(is_held) {
                        self.unknown("a host that frees memory holds the calls of others until then");
                    }
                }
            }
            Step::SynchronizeEvent(event) => {
                let own = self.record_for(thread, event);
                self.all_waits.entry(event).or_default().push((thread, number, own));
            }
            Step::Barrier(_) => {
                self.unknown("hosts wait for one another at barriers");
                return;
            }
            _ => return,
        }
        self.program.items.push(item);
        *host = Some(self.program.items.len() - 1);
    }

    fn record_for(&self, thread: usize, event: EventId) -> Option<usize> {
        self.records.get(&event)?.get(&thread).copied()
    }

    fn submit(&mut self, thread: usize, step: Step, stream: StreamId, mut item: Item) {
        let catalogue = &self.scenario.catalogue;
        let number = self.program.items.len();
        item.after.extend(self.last.get(&stream).and_then(|by| by.get(&thread)));
        self.add_null_stream(thread, stream, &mut item);
        match step {
            Step::Launch(kernel, _) => item.launch = self.launch(kernel, stream),
            Step::WaitValue(value, _) => item.needs = Some(self.value(value)),
            Step::WriteValue(value, _) => item.writes = Some(self.value(value)),
            Step::Record(event, _) => {
                if catalogue.is_programmatic_event(event) {
                    self.program.unknown.insert("programmatic launches overlap".to_owned());
                }
                self.records.entry(event).or_default().insert(thread, number);
                self.all_records.entry(event).or_default().push((thread, number));
            }
            Step::Wait(event, _) => {
                item.event = Some(event);
                let own = self.record_for(thread, event);
                self.all_waits.entry(event).or_default().push((thread, number, own));
            }
            _ => {}
        }
        item.after.sort_unstable();
        item.after.dedup();
        self.program.items.push(item);
        self.last.entry(stream).or_default().insert(thread, number);
        self.all_operations.entry(stream).or_default().push((thread, number));
    }

    /// N1, N2, within what one thread submits.
    fn add_null_stream(&self, thread: usize, stream: StreamId, item: &mut Item) {
        let catalogue = &self.scenario.catalogue;
        let spec = |id: StreamId| catalogue.streams().get(id.index());
        let Some(own) = spec(stream).filter(|own| own.blocking) else { return };
        let is_null = catalogue.is_null_stream(stream);
        for (&other, by) in self.last.iter().filter(|(other, _)| **other != stream) {
            let holds = catalogue.is_null_stream(other) != is_null
                && spec(other).is_some_and(|spec| spec.blocking && spec.process == own.process);
            item.after.extend(by.get(&thread).filter(|_| holds));
        }
    }

    fn launch(&mut self, kernel: KernelId, stream: StreamId) -> Option<Launch> {
        let catalogue = &self.scenario.catalogue;
        let (known, spec) = (catalogue.kernels().get(kernel.index())?, catalogue.streams().get(stream.index())?);
        let blocks = u64::from(known.blocks);
        let mut passes = Vec::new();
        let barriers = self.next_counter;
        let mut blocks_at_barrier = 0;
        for point in known.synchronization().into_iter().flat_map(|all| all.points.iter()) {
            match point.action {
                PointAction::Signal(counter) => passes.push(Pass::Signal(counter.index())),
                PointAction::Wait(wanted) => passes.push(Pass::Await(wanted.counter.index(), wanted.value)),
                PointAction::GridSync => {
                    blocks_at_barrier += blocks;
                    passes.extend([Pass::Signal(barriers), Pass::Await(barriers, blocks_at_barrier)]);
                }
            }
        }
        self.next_counter += usize::from(blocks_at_barrier > 0);
        let (owner, level) = (catalogue.owner_of_queues(stream), spec.level());
        Some(Launch { kernel, blocks, is_cooperative: known.is_cooperative(), passes, owner, level })
    }

    /// What threads wait for that they have recorded or submitted themselves, and what of others, which depends on
    /// times.
    fn join_threads(&mut self) {
        let items = &mut self.program.items;
        for (event, waits) in &self.all_waits {
            let records = self.all_records.get(event).map_or(&[][..], Vec::as_slice);
            // At launch completion it is over when all blocks have begun, or later: best effort.
            let at_launch = self.scenario.catalogue.is_launch_completion_event(*event);
            for &(thread, wait, own) in waits {
                let item = &mut items[wait];
                let others = records.iter().filter(|(of, _)| *of != thread).map(|(_, record)| *record);
                item.perhaps_after.extend(others);
                // The last record counts, which may be another thread's.
                let is_sure = !at_launch && item.perhaps_after.is_empty();
                if is_sure { &mut item.after } else { &mut item.perhaps_after }.extend(own);
                item.after.sort_unstable();
                item.after.dedup();
            }
        }
        for (stream, waits) in &self.all_synchronizations {
            let operations = self.all_operations.get(stream).map_or(&[][..], Vec::as_slice);
            for (thread, wait) in waits {
                let others = operations.iter().filter(|(of, _)| of != thread).map(|(_, operation)| *operation);
                items[*wait].perhaps_after.extend(others);
            }
        }
    }

    fn note_unknown(&mut self) {
        let (scenario, catalogue) = (self.scenario, &self.scenario.catalogue);
        let by_several = self.last.iter().find(|(_, by)| by.len() > 1).map(|(stream, _)| *stream);
        if let Some(spec) = by_several.and_then(|stream| catalogue.streams().get(stream.index())) {
            self.unknown(format!("several hosts submit to stream {:?}: in which order depends on times", &*spec.name));
        }
        if scenario.kernels().iter().any(|kernel| kernel.programmatic().is_dependent) {
            self.unknown("programmatic launches overlap");
        }
        let nulls: BTreeSet<usize> = self
            .last
            .iter()
            .filter(|(id, _)| catalogue.is_null_stream(**id))
            .flat_map(|(_, by)| by.keys().copied())
            .collect();
        let blocking = self.last.iter().filter(|(id, _)| {
            !catalogue.is_null_stream(**id) && catalogue.streams().get(id.index()).is_some_and(|spec| spec.blocking)
        });
        let others: BTreeSet<usize> = blocking.flat_map(|(_, by)| by.keys().copied()).collect();
        if !nulls.is_empty() && !others.is_empty() && nulls.union(&others).count() > 1 {
            self.unknown("the NULL stream and blocking streams of other hosts wait for one another as times have it");
        }
        if scenario.threads.iter().any(|thread| thread.core.is_some_and(|share| share.spins)) {
            self.unknown("a host that spins may keep others of its core from launching");
        }
        let time_slicing = scenario.device().time_slicing;
        if catalogue.is_time_sliced() && time_slicing.preemption == Preemption::BlockEnd {
            self.unknown("blocks of a context that wait keep the GPU from all other contexts (preemption: block-end)");
        }
        if catalogue.shares_channels() {
            self.unknown("streams share hardware channels, in which one waits behind another");
        }
    }
}
