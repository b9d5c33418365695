//! The operations of a scenario, what they do, and what each of them waits for before it enters its EE or CE queue.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::{SmallVec, smallvec};

use super::BoundOptions;
use super::fill::SetApart;
use super::weights::{Class, ONE};
use crate::analysis::assumptions::sms_of;
use crate::analysis::merged_resources::{Analysed, Costs, needs};
use crate::device::BlockDemand;
use crate::joined::Joined;
use crate::limits::{count_steps, count_turn};
use crate::scenario::{ReleaseOrder, Scenario};
use crate::time::{Duration, Instant};
use crate::workload::{EventId, OperationKind, ProcessId, StreamId};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::analysis) enum Work {
    Kernel {
        class: usize,
        blocks: u32,
        block_time: Duration,
        best: Duration,
    },
    /// A copy, which takes at most and at least so long on an engine.
    Copy {
        worst: Duration,
        best: Duration,
        engine: usize,
    },
    /// A memset, a record, or a wait for an event: it is over when its predecessors are.
    Nothing,
    /// A host thread does something else for exactly so long once its predecessors are over: it sleeps, or, for no
    /// time, goes on after it has waited.
    Pause(Duration),
    /// A host thread works for no longer than this, or waits for its core besides, so that nobody knows when it goes
    /// on.
    Busy(Duration),
    /// A host thread goes on within so long of the end of its predecessors.
    Within(Duration),
}

impl Work {
    /// Whether a host does it, and not the GPU.
    pub(in crate::analysis) fn is_of_host(&self) -> bool {
        matches!(self, Self::Pause(_) | Self::Busy(_) | Self::Within(_))
    }

    /// How long what needs neither SMs nor a copy engine takes at least and at most; `None`: it needs one.
    pub(super) fn needs_no_engine(&self) -> Option<(Duration, Duration)> {
        match *self {
            Self::Nothing | Self::Busy(_) => Some((Duration::ZERO, Duration::ZERO)),
            Self::Pause(time) => Some((time, time)),
            Self::Within(time) => Some((Duration::ZERO, time)),
            Self::Kernel { .. } | Self::Copy { .. } => None,
        }
    }
}

/// What an operation of a scenario does, and into which stream; a class of blocks that is new joins those that are
/// known. `shortest` says how long what is stated takes at least.
pub(in crate::analysis) fn work_of(
    scenario: &Scenario,
    (demands, costs): (&[BlockDemand], &Costs),
    (kind, stream): (OperationKind, StreamId),
    classes: &mut Vec<Class>,
    shortest: impl Fn(Duration) -> Duration,
) -> Work {
    match kind {
        OperationKind::Kernel(kernel) => {
            let allowed = u64::from(sms_of(scenario, kernel, stream).min(costs.sms));
            let class = Class { needs: needs(&demands[kernel.index()]), allowed };
            let class = classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            });
            let cost = &costs.kernels[kernel.index()];
            let best = shortest(scenario.shortest_block_time(kernel).unwrap_or(Duration::ZERO));
            Work::Kernel { class, blocks: cost.blocks, block_time: cost.block_time, best }
        }
        OperationKind::Copy(copy) => {
            let (worst, engine) = costs.copies[copy.index()];
            Work::Copy { worst, best: shortest(worst), engine }
        }
        _ => Work::Nothing,
    }
}

/// The EE queue of a stream: 0 has the highest priority, and the last one is for those that the device does not have.
pub(in crate::analysis) fn level_of(scenario: &Scenario, stream: StreamId) -> usize {
    let priority = scenario.streams()[stream.index()].priority;
    let place = scenario.device().priorities().position(|known| known == priority);
    place.unwrap_or_else(|| scenario.device().priorities().count())
}

/// One operation.
#[derive(Debug)]
pub(super) struct Node {
    /// Not before.
    pub(super) launched: Instant,
    /// Not after \[ns\]; [`u64::MAX`]: perhaps never. What is always launched together with something before it in its
    /// stream has 0, as the end of that already bounds when it is ready.
    pub(super) launched_by: u64,
    pub(super) work: Work,
    /// Its EE queue, 0 is the highest priority.
    pub(super) level: usize,
    /// Its stream, and how many operations are before it there.
    pub(super) stream: usize,
    pub(super) position: usize,
    /// The host thread that launches it.
    pub(super) thread: u32,
    /// It enters its queue when it is launched and all of these have completed; where the [waits](Waits) are open,
    /// those of them that were launched before it.
    pub(super) predecessors: Vec<usize>,
}

impl Node {
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.work, Work::Copy { .. })
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self.work, Work::Kernel { .. })
    }

    /// Whether it may enter its queue later than it is launched.
    fn enters_late(&self) -> bool {
        !self.predecessors.is_empty() || self.launched_by > self.launched.as_ns()
    }

    /// Whether it may last.
    pub(super) fn takes_time(&self) -> bool {
        match self.work {
            Work::Kernel { block_time: time, .. } | Work::Copy { worst: time, .. } => time > Duration::ZERO,
            _ => false,
        }
    }

    /// The engine of a copy.
    pub(super) fn engine(&self) -> Option<usize> {
        match self.work {
            Work::Copy { engine, .. } => Some(engine),
            _ => None,
        }
    }
}

/// Who waits for whom.
#[derive(Debug, Default)]
pub(super) enum Waits {
    /// It is known: predecessors come before their successors.
    #[default]
    Known,
    /// It depends on the order of what is launched at one instant: predecessors are all that may be. The operations of
    /// an instant that may wait for one another have the same number here, others one of their own.
    Open(Vec<usize>),
}

/// All operations, by launch.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) classes: Vec<Class>,
    pub(super) streams: Vec<Vec<usize>>,
    pub(super) levels: usize,
    pub(super) engines: usize,
    /// Whether the order of threads that launch at one instant is open.
    pub(super) any_order: bool,
    /// Whether what has nothing left to wait for at an instant enters its queue before anything is assigned then, as
    /// what is launched then does.
    pub(super) ready_first: bool,
    pub(super) waits: Waits,
    /// Whether blocks that have ended by the latest dispatch so far are remembered, as a later one may be bounded to be
    /// before it.
    pub(super) remembers: bool,
    /// Kernels beside the nodes, of priorities lower than all of these.
    pub(super) set_apart: SetApart,
}

/// What stands before and behind one operation.
#[derive(Debug)]
pub(super) struct Relatives {
    /// The operation and its ancestors, ascending.
    pub(super) chain: Vec<usize>,
    pub(super) successors: Vec<usize>,
    pub(super) has_ancestor: bool,
    /// A kernel, or a copy, is among the operation and its ancestors.
    pub(super) has_kernel: bool,
    pub(super) has_copy: bool,
    /// The earliest launch of the operation and its ancestors.
    pub(super) first_launch: Instant,
    /// The lowest priority among their EE queues.
    pub(super) lowest_level: usize,
    /// How many of them are kernels.
    pub(super) kernels: u64,
}

impl Graph {
    /// Of operations that wait for their `predecessors`.
    pub(super) fn new(
        scenario: &Scenario,
        demands: &[BlockDemand],
        costs: &Costs,
        (operations, predecessors): (&[Analysed], Vec<Vec<usize>>),
        options: BoundOptions,
    ) -> Self {
        let shortest = |stated: Duration| options.block_times.shortest(stated);
        let mut graph = Self {
            streams: vec![Vec::new(); scenario.streams().len()],
            levels: scenario.device().priorities().count() + 1,
            engines: scenario.device().copy.engines as usize,
            any_order: options.order == ReleaseOrder::Any,
            ..Self::default()
        };
        for (record, predecessors) in operations.iter().zip(predecessors) {
            let of = (record.kind, record.stream);
            let work = work_of(scenario, (demands, costs), of, &mut graph.classes, shortest);
            graph.add(Node {
                launched: record.launched,
                launched_by: record.launched.as_ns(),
                work,
                level: level_of(scenario, record.stream),
                stream: record.stream.index(),
                position: 0,
                thread: record.origin.thread,
                predecessors,
            });
        }
        graph
    }

    /// The same without operations.
    pub(super) fn without_nodes(&self) -> Self {
        Self {
            classes: self.classes.clone(),
            streams: vec![Vec::new(); self.streams.len()],
            levels: self.levels,
            engines: self.engines,
            any_order: self.any_order,
            ready_first: self.ready_first,
            ..Self::default()
        }
    }

    /// Whether none of these operations down to a level uses a copy engine that one of them below it uses, too.
    pub(super) fn engines_are_apart(&self, level: usize, members: impl Iterator<Item = usize>) -> bool {
        let mut uses = vec![[false; 2]; self.engines];
        for node in members.map(|number| &self.nodes[number]) {
            if let Some(engine) = node.engine() {
                uses[engine][usize::from(node.level > level)] = true;
            }
        }
        uses.iter().all(|uses| *uses != [true, true])
    }

    /// Adds an operation as the last one of its stream; says its number.
    pub(super) fn add(&mut self, node: Node) -> usize {
        let number = self.nodes.len();
        let stream = &mut self.streams[node.stream];
        let position = stream.len();
        stream.push(number);
        self.nodes.push(Node { position, ..node });
        number
    }

    /// Adds an operation of a lower priority than all nodes, which no node waits for, and which is over by `over`
    /// \[ns\].
    pub(super) fn add_lower(&mut self, place: (usize, usize), launched: Instant, over: u64, work: Work) {
        if let Work::Kernel { class, blocks, block_time, .. } = work {
            self.set_apart.add(place, launched, over, (class, blocks, block_time.as_ns()));
        }
    }

    /// The same where predecessors are all that may be, so that who waits for whom is open.
    pub(super) fn with_open_waits(mut self) -> Self {
        count_steps(self.nodes.len());
        let mut component = Joined::new(self.nodes.len());
        let mut by_order = vec![false; self.nodes.len()];
        for (number, by_order) in by_order.iter_mut().enumerate() {
            for &before in &self.nodes[number].predecessors {
                if self.nodes[before].launched == self.nodes[number].launched {
                    component.join(before, number);
                    *by_order |= self.nodes[before].thread != self.nodes[number].thread;
                }
            }
        }
        let roots: Vec<usize> = (0..self.nodes.len()).map(|number| component.of(number)).collect();
        let mut is_open = vec![false; self.nodes.len()];
        for (&root, by_order) in roots.iter().zip(by_order) {
            is_open[root] |= by_order;
        }
        let own = roots.iter().enumerate().map(|(number, &root)| if is_open[root] { root } else { number });
        self.waits = Waits::Open(own.collect());
        self
    }

    /// The kernels that an operation certainly waits for, through nothing but what is no kernel.
    pub(super) fn kernels_before(&self, node: usize) -> Vec<usize> {
        let Waits::Known = self.waits else { return Vec::new() };
        let mut kernels = Vec::new();
        let mut open = self.nodes[node].predecessors.clone();
        // Ways along waits meet again and again: each operation is passed once.
        let mut is_found = BTreeSet::new();
        while let Some(before) = open.pop() {
            count_turn();
            if !is_found.insert(before) {
                continue;
            }
            if self.nodes[before].is_kernel() {
                kernels.push(before);
            } else {
                open.extend_from_slice(&self.nodes[before].predecessors);
            }
        }
        kernels
    }

    /// By operation: those that wait for it.
    pub(super) fn followers(&self) -> Vec<Vec<usize>> {
        let mut followers = vec![Vec::new(); self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            node.predecessors.iter().for_each(|&before| followers[before].push(number));
        }
        followers
    }

    /// Of operation `k`, given the [followers](Self::followers) of those behind it.
    pub(super) fn relatives(&self, k: usize, followers: &[Vec<usize>]) -> Relatives {
        count_steps(self.nodes.len());
        let mut is_found = vec![false; self.nodes.len()];
        is_found[k] = true;
        let (mut chain, mut open) = (vec![k], self.nodes[k].predecessors.clone());
        while let Some(next) = open.pop() {
            count_turn();
            if !std::mem::replace(&mut is_found[next], true) {
                chain.push(next);
                open.extend_from_slice(&self.nodes[next].predecessors);
            }
        }
        // Mostly they are in the opposite order, which takes a pass.
        chain.sort_unstable();
        let own = &self.nodes[k];
        let successors = match self.waits {
            Waits::Known => {
                let mut found = vec![k];
                for place in 0.. {
                    let Some(&next) = found.get(place) else { break };
                    let later = followers[next].iter().filter(|&&later| later > k);
                    found.extend(later.filter(|&&later| !std::mem::replace(&mut is_found[later], true)));
                }
                found.split_off(1)
            }
            // What certainly comes later in its stream.
            Waits::Open(_) => {
                let is_later = |later: &Node| own.launched < later.launched || own.thread == later.thread;
                let behind = self.streams[own.stream][own.position + 1..].iter().copied();
                behind.filter(|&later| is_later(&self.nodes[later])).collect()
            }
        };
        let mut relatives = Relatives {
            chain,
            successors,
            has_ancestor: own.enters_late(),
            has_kernel: false,
            has_copy: false,
            first_launch: own.launched,
            lowest_level: 0,
            kernels: 0,
        };
        for node in relatives.chain.iter().map(|&chained| &self.nodes[chained]) {
            relatives.has_kernel |= node.is_kernel();
            relatives.kernels += u64::from(node.is_kernel());
            relatives.has_copy |= node.is_copy();
            relatives.first_launch = relatives.first_launch.min(node.launched);
            relatives.lowest_level = relatives.lowest_level.max(node.level);
        }
        relatives
    }

    /// The largest (launch of the first + sum of `C_o` (1 - `v_o`)) over chains that end with `k`, in 1 / ONE ns. Of a
    /// copy this is 0: its own time is among that of all copies.
    pub(super) fn longest_chain(&self, weights: &[u64], relatives: &Relatives, k: usize) -> Option<u128> {
        count_steps(self.nodes.len());
        let chain = &relatives.chain;
        let mut ends: Vec<u128> = vec![0; chain.len()];
        let mut done = vec![false; chain.len()];
        // Mostly the one before it in the chain is meant.
        let end_of = |ends: &[u128], from: usize, node: &usize| match from.checked_sub(1) {
            Some(before) if chain[before] == *node => ends[before],
            _ => chain.binary_search(node).map_or(0, |place| ends[place]),
        };
        for (place, &node) in chain.iter().enumerate() {
            if done[place] {
                continue;
            }
            // A chain may go through all of them, in any order, and through each of them once.
            let together: SmallVec<[usize; 4]> = match &self.waits {
                Waits::Known => smallvec![place],
                Waits::Open(component) => {
                    let launched = self.nodes[node].launched;
                    let of_instant =
                        (place..chain.len()).take_while(|&other| self.nodes[chain[other]].launched == launched);
                    of_instant.filter(|&other| component[chain[other]] == component[node]).collect()
                }
            };
            let (mut begin, mut own) = (0, 0_u128);
            for &member in &together {
                let Node { launched, launched_by, work, predecessors, .. } = &self.nodes[chain[member]];
                begin = begin.max(u128::from(launched.as_ns().max(*launched_by)) * u128::from(ONE));
                begin = predecessors.iter().map(|before| end_of(&ends, member, before)).fold(begin, u128::max);
                own = own.checked_add(match work {
                    Work::Kernel { class, block_time, .. } => {
                        u128::from(block_time.as_ns()) * u128::from(ONE.saturating_sub(*weights.get(*class)?))
                    }
                    _ => 0,
                })?;
            }
            let end = begin.checked_add(own)?;
            for member in together {
                ends[member] = end;
                done[member] = true;
            }
        }
        Some(end_of(&ends, chain.len(), &k))
    }
}

/// Waits that may be above which nobody keeps account of them.
const MOST_WAITS: usize = 1 << 20;

/// What N1 and N2 say of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::analysis) enum NullRule {
    /// It is the NULL stream of this process.
    Null(ProcessId),
    /// It waits for that, and that for it.
    Blocking(ProcessId),
    /// They pass it by.
    None,
}

impl NullRule {
    pub(in crate::analysis) fn of(id: StreamId, scenario: &Scenario) -> Self {
        let stream = &scenario.streams()[id.index()];
        if scenario.catalogue.is_null_stream(id) {
            Self::Null(stream.process)
        } else if stream.blocking {
            Self::Blocking(stream.process)
        } else {
            Self::None
        }
    }

    /// Those of all streams of a scenario.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        (0..).map(StreamId).zip(scenario.streams()).map(|(id, _)| Self::of(id, scenario)).collect()
    }

    /// Whether operations of two streams wait for each other by N1 and N2.
    pub(in crate::analysis) fn couples(self, other: Self) -> bool {
        self.coupled() == Some(other)
    }

    /// What is said of streams with which one waits for each other, if there may be any.
    pub(super) fn coupled(self) -> Option<Self> {
        match self {
            Self::Null(process) => Some(Self::Blocking(process)),
            Self::Blocking(process) => Some(Self::Null(process)),
            Self::None => None,
        }
    }
}

/// The streams, ascending, of which each rule says the same.
struct Coupled<'r> {
    rules: &'r [NullRule],
    streams: BTreeMap<NullRule, Vec<usize>>,
}

impl<'r> Coupled<'r> {
    fn new(rules: &'r [NullRule]) -> Self {
        let mut streams: BTreeMap<NullRule, Vec<usize>> = BTreeMap::new();
        for (stream, rule) in rules.iter().enumerate() {
            streams.entry(*rule).or_default().push(stream);
        }
        Self { rules, streams }
    }

    /// The streams whose last operation one in `stream` waits for, ascending: its own, and by N1 and N2 others.
    fn waited_for(&self, stream: StreamId) -> impl Iterator<Item = usize> + '_ {
        let own = stream.index();
        let others = self.rules[own].coupled().and_then(|rule| self.streams.get(&rule)).map_or(&[][..], Vec::as_slice);
        let (before, behind) = others.split_at(others.partition_point(|&other| other < own));
        before.iter().copied().chain([own]).chain(behind.iter().copied())
    }
}

/// For each operation, given in launch order, those that must have completed before it enters.
///
/// Who waits for whom before it enters its EE or CE queue: stream order (G2, C1), N1, N2 and E2.
pub(super) fn in_this_order(operations: &[Analysed], rules: &[NullRule]) -> Vec<Vec<usize>> {
    let coupled = Coupled::new(rules);
    let mut last: Vec<Option<usize>> = vec![None; rules.len()];
    let mut records: BTreeMap<EventId, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(operations.len());
    for (number, operation) in operations.iter().enumerate() {
        let mut predecessors: Vec<usize> =
            coupled.waited_for(operation.stream).filter_map(|stream| last[stream]).collect();
        match operation.kind {
            OperationKind::Wait(event) => predecessors.extend(records.get(&event)),
            OperationKind::Record(event) => _ = records.insert(event, number),
            _ => {}
        }
        last[operation.stream.index()] = Some(number);
        all.push(predecessors);
    }
    all
}

/// Operations that may be launched last of those before an instant, and those launched at it.
#[derive(Debug, Default)]
struct Recent {
    before: Vec<usize>,
    now: Vec<usize>,
}

impl Recent {
    /// What may be the last one before operation `number`.
    fn may_precede<'r>(&'r self, number: usize, operations: &'r [Analysed]) -> impl Iterator<Item = usize> + 'r {
        let is_own = move |other: &&usize| operations[**other].origin.thread == operations[number].origin.thread;
        let own = self.now.iter().rev().filter(move |&&other| other < number).find(is_own);
        let others = self.now.iter().filter(move |other| !is_own(other));
        self.before.iter().chain(others).chain(own).copied()
    }

    /// The instant is over: of each thread the last one may be the last of all.
    fn pass(&mut self, operations: &[Analysed]) {
        if !self.now.is_empty() {
            let mut threads = BTreeSet::new();
            self.before.clear();
            self.before.extend(self.now.drain(..).rev().filter(|&last| threads.insert(operations[last].origin.thread)));
        }
    }
}

/// For each operation, given by launch and program order, all that it may wait for in some order of what different
/// threads launch at one instant. `None`: too many.
pub(super) fn in_any_order(operations: &[Analysed], rules: &[NullRule]) -> Option<Vec<Vec<usize>>> {
    let coupled = Coupled::new(rules);
    let mut streams: Vec<Recent> = rules.iter().map(|_| Recent::default()).collect();
    let mut records: BTreeMap<EventId, Recent> = BTreeMap::new();
    let mut all = Vec::with_capacity(operations.len());
    let (mut first, mut waits) = (0, 0);
    for together in operations.chunk_by(|one, other| one.launched == other.launched) {
        for (number, operation) in (first..).zip(together) {
            streams[operation.stream.index()].now.push(number);
            if let OperationKind::Record(event) = operation.kind {
                records.entry(event).or_default().now.push(number);
            }
        }
        for (number, operation) in (first..).zip(together) {
            count_steps(together.len());
            let mut predecessors = Vec::new();
            for stream in coupled.waited_for(operation.stream) {
                predecessors.extend(streams[stream].may_precede(number, operations));
            }
            if let OperationKind::Wait(event) = operation.kind
                && let Some(records) = records.get(&event)
            {
                predecessors.extend(records.may_precede(number, operations));
            }
            waits += predecessors.len();
            if waits > MOST_WAITS {
                return None;
            }
            all.push(predecessors);
        }
        for recent in streams.iter_mut().chain(records.values_mut()) {
            recent.pass(operations);
        }
        first += together.len();
    }
    Some(all)
}
