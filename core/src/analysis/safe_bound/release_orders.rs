//! **Releases at one instant**: orders of what is launched then that need not be told apart, those that make the same
//! waits, and those that differ in which of two alike streams comes first.
//!
//! Claim: a bound that holds for one order of each class, as the largest of all, holds for any order. Assumption: what
//! is launched when is given. `docs/analysis.md`, "Releases at one instant", has the proof.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, NullRule, Work};
use super::state::{CertainUntil, Dispatched, Interval, State};
use crate::analysis::merged_resources::Analysed;
use crate::limits::{count_steps, count_turn};
use crate::proven::Proven;
use crate::time::Instant;
use crate::workload::{EventId, OperationKind, Origin, StreamId};

/// Orders above which they are not told apart.
const MOST_ORDERS: usize = 64;

/// Operations of one instant that decide who waits for whom above which orders are not told apart.
const MOST_DECIDING: usize = 64;

/// Steps after which orders of an instant are given up.
const MOST_STEPS: usize = 20_000;

/// The threads of some operations, so far as it matters whether one of them is another one.
#[derive(Clone, Copy)]
struct Threads {
    first: u32,
    are_several: bool,
}

/// What the operations of one instant do by which [they may decide](decide) who waits for whom: those who do each.
#[derive(Default)]
struct Deciders {
    streams: BTreeMap<StreamId, Threads>,
    rules: BTreeMap<NullRule, Threads>,
    records: BTreeMap<EventId, Threads>,
    waits: BTreeMap<EventId, Threads>,
}

impl Deciders {
    fn new(operations: &[Analysed], rules: &[NullRule]) -> Self {
        fn add<K: Ord>(to: &mut BTreeMap<K, Threads>, key: K, thread: u32) {
            let known = to.entry(key).or_insert(Threads { first: thread, are_several: false });
            known.are_several |= known.first != thread;
        }
        let mut all = Self::default();
        for &Analysed { kind, stream, origin: Origin { thread, .. }, .. } in operations {
            add(&mut all.streams, stream, thread);
            add(&mut all.rules, rules[stream.index()], thread);
            match kind {
                OperationKind::Record(event) => add(&mut all.records, event, thread),
                OperationKind::Wait(event) => add(&mut all.waits, event, thread),
                _ => {}
            }
        }
        all
    }

    /// Whether an operation of theirs decides anything together with one of another thread.
    fn decides(&self, one: &Analysed, rules: &[NullRule]) -> bool {
        let others = |threads: Option<&Threads>| {
            threads.is_some_and(|threads| threads.are_several || threads.first != one.origin.thread)
        };
        let by_event = match one.kind {
            OperationKind::Record(event) => others(self.records.get(&event)) || others(self.waits.get(&event)),
            OperationKind::Wait(event) => others(self.records.get(&event)),
            _ => false,
        };
        let coupled = rules[one.stream.index()].coupled();
        by_event || others(self.streams.get(&one.stream)) || others(coupled.and_then(|rule| self.rules.get(&rule)))
    }
}

/// Whether it matters for who waits for whom which of two operations of different threads comes first.
fn decide(one: &Analysed, other: &Analysed, rules: &[NullRule]) -> bool {
    let by_null = rules[one.stream.index()].couples(rules[other.stream.index()]);
    let by_event = match (one.kind, other.kind) {
        (OperationKind::Record(one), OperationKind::Record(other) | OperationKind::Wait(other))
        | (OperationKind::Wait(one), OperationKind::Record(other)) => one == other,
        _ => false,
    };
    one.stream == other.stream || by_null || by_event
}

/// All orders of `operations`, which are given by launch and program order, one for each way in which they can wait for
/// one another. `None`: more than [`MOST_ORDERS`], or `most`.
///
/// Two orders that differ only in operations that do not decide this make the same waits, so one of them is enough:
/// of each such class the first in the dictionary (the normal form of Anisimov and Knuth, "Inhomogeneous sorting",
/// International Journal of Computer and Information Sciences 8, 1979).
pub(super) fn orders(operations: &[Analysed], rules: &[NullRule], most: usize) -> Option<Vec<Vec<usize>>> {
    let most = most.min(MOST_ORDERS);
    let mut orders: Vec<Vec<usize>> = vec![Vec::with_capacity(operations.len())];
    let mut first = 0;
    for together in operations.chunk_by(|one, other| one.launched == other.launched) {
        let of_instant = Together::new(together, rules).orders(most)?;
        if of_instant.len() * orders.len() > most {
            return None;
        }
        if let ([order], [then]) = (&mut orders[..], &of_instant[..]) {
            order.extend(then.iter().map(|&at| first + at));
            first += together.len();
            continue;
        }
        let longer = orders.iter().flat_map(|before| {
            let then = |order: &Vec<usize>| before.iter().copied().chain(order.iter().map(|&at| first + at)).collect();
            of_instant.iter().map(then)
        });
        orders = longer.collect();
        first += together.len();
    }
    Some(orders)
}

/// What is launched at one instant.
struct Together<'a> {
    operations: &'a [Analysed],
    rules: &'a [NullRule],
    /// By thread, in program order.
    threads: Vec<Vec<usize>>,
    /// Whether an operation decides anything together with one of another thread.
    deciding: Vec<bool>,
}

/// An order in the making.
#[derive(Clone)]
struct Prefix {
    /// By thread: how many of its operations are in it.
    taken: Vec<usize>,
    order: Vec<usize>,
    /// Those in it that decide something.
    deciding: Vec<usize>,
}

impl<'a> Together<'a> {
    fn new(operations: &'a [Analysed], rules: &'a [NullRule]) -> Self {
        let (mut threads, mut places) = (Vec::<Vec<usize>>::new(), FxHashMap::<u32, usize>::default());
        for (number, operation) in operations.iter().enumerate() {
            let place = *places.entry(operation.origin.thread).or_insert(threads.len());
            if place == threads.len() {
                threads.push(Vec::new());
            }
            threads[place].push(number);
        }
        let deciders = Deciders::new(operations, rules);
        let decides = |one: &Analysed| {
            count_steps(operations.len());
            deciders.decides(one, rules)
        };
        let deciding = operations.iter().map(decides).collect();
        Self { operations, rules, threads, deciding }
    }

    /// Whether two operations keep their order in all orders of a class.
    fn is_fixed(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.operations[one], &self.operations[other]);
        one.origin.thread == other.origin.thread || decide(one, other, self.rules)
    }

    /// Whether an order with `next` behind it can be the first of its class: it cannot move before one that would come
    /// later in the dictionary.
    fn stays_first(&self, deciding: &[usize], next: usize) -> bool {
        let passed = deciding.iter().rev().take_while(|&&before| !self.is_fixed(before, next));
        passed.into_iter().all(|&before| before < next)
    }

    fn orders(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        if self.deciding.iter().filter(|decides| **decides).count() > MOST_DECIDING {
            return None;
        }
        let mut found = Vec::new();
        let start = Prefix { taken: vec![0; self.threads.len()], order: Vec::new(), deciding: Vec::new() };
        let mut open = vec![start];
        let mut steps = 0;
        while let Some(mut prefix) = open.pop() {
            steps += 1;
            count_steps(prefix.order.len());
            if steps > MOST_STEPS || found.len() > most {
                return None;
            }
            // What decides nothing need not be told apart.
            for (taken, thread) in prefix.taken.iter_mut().zip(&self.threads) {
                while let Some(&next) = thread.get(*taken).filter(|next| !self.deciding[**next]) {
                    count_turn();
                    prefix.order.push(next);
                    *taken += 1;
                }
            }
            if prefix.order.len() == self.operations.len() {
                found.push(prefix.order);
                continue;
            }
            for (index, thread) in self.threads.iter().enumerate() {
                let Some(&next) = thread.get(prefix.taken[index]) else { continue };
                if self.stays_first(&prefix.deciding, next) {
                    let mut longer = prefix.clone();
                    longer.taken[index] += 1;
                    longer.order.push(next);
                    longer.deciding.push(next);
                    open.push(longer);
                }
            }
        }
        (found.len() <= most).then_some(found)
    }
}

/// What a state knows of a stream, by operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Content {
    /// When it finishes.
    finish: Vec<(usize, Interval)>,
    /// Until when its blocks may run.
    running: Vec<(usize, Vec<(u64, u32)>)>,
    /// Until when they certainly do.
    certain: Vec<(usize, CertainUntil)>,
    /// The kernel that was dispatched last of all, if it is one of these.
    last: Option<usize>,
}

/// The streams of a graph that may change places, by group, each ascending.
///
/// Streams that may change places: each is all that a thread uses, they launch the same at the same instants, nothing
/// waits for anything in another stream, and which of them is first at one instant is open. With their operations
/// exchanged, a run is a run. So of states that differ in that only, one is enough, and what is found of one stream
/// holds of all of them.
#[derive(Debug)]
pub(super) struct Twins {
    groups: Vec<Vec<usize>>,
    /// By stream.
    group: Vec<Option<usize>>,
}

/// What is the same of twins, operation by operation.
type Program = Vec<(Instant, u64, Work, usize)>;

impl Twins {
    /// The twins among streams of which equally many operations are looked at.
    pub(super) fn new(graph: &Graph, goal: &[u32]) -> Self {
        let mut twins = Self { groups: Vec::new(), group: vec![None; graph.streams.len()] };
        if !graph.any_order {
            return twins;
        }
        let mut is_alone = vec![true; graph.streams.len()];
        let mut stream_of = BTreeMap::new();
        for node in &graph.nodes {
            let own = *stream_of.entry(node.thread).or_insert(node.stream);
            let others = node.predecessors.iter().map(|&before| graph.nodes[before].stream).chain([own]);
            for other in others.filter(|other| *other != node.stream) {
                (is_alone[other], is_alone[node.stream]) = (false, false);
            }
        }
        let thread = |stream: &Vec<usize>| stream.first().map(|&node| graph.nodes[node].thread);
        let (mut known, mut places) = (Vec::<Vec<usize>>::new(), FxHashMap::<(Program, u32), usize>::default());
        for (number, stream) in graph.streams.iter().enumerate() {
            let of_one = stream.iter().all(|&node| Some(graph.nodes[node].thread) == thread(stream));
            if stream.is_empty() || !is_alone[number] || !of_one {
                continue;
            }
            let step = |&node: &usize| {
                let Node { launched, launched_by, work, level, .. } = graph.nodes[node];
                (launched, launched_by, work, level)
            };
            let program: Program = stream.iter().map(step).collect();
            let place = *places.entry((program, goal[number])).or_insert(known.len());
            if place == known.len() {
                known.push(Vec::new());
            }
            known[place].push(number);
        }
        for streams in known.into_iter().filter(|streams| streams.len() > 1) {
            for &stream in &streams {
                twins.group[stream] = Some(twins.groups.len());
            }
            twins.groups.push(streams);
        }
        twins
    }

    /// What a state knows of the streams of which it knows anything.
    fn contents(graph: &Graph, state: &State) -> BTreeMap<usize, Content> {
        let mut contents: BTreeMap<usize, Content> = BTreeMap::new();
        for &(node, span) in &state.finish {
            let Node { stream, position, .. } = graph.nodes[node];
            contents.entry(stream).or_default().finish.push((position, span));
        }
        for (node, until) in &state.running {
            let Node { stream, position, .. } = graph.nodes[*node];
            contents.entry(stream).or_default().running.push((position, until.clone()));
        }
        for &(node, until) in &state.certain {
            let Node { stream, position, .. } = graph.nodes[node];
            contents.entry(stream).or_default().certain.push((position, until));
        }
        if let Some(last) = state.last_kernel {
            let Node { stream, position, .. } = graph.nodes[last];
            contents.entry(stream).or_default().last = Some(position);
        }
        contents
    }

    /// Of each of `streams`, whether it is the first one among twins of which a state knows the same; those without
    /// twins are.
    pub(super) fn firsts(
        &self,
        graph: &Graph,
        (dispatched, state): (&Dispatched, &State),
        streams: impl Iterator<Item = usize>,
    ) -> Vec<bool> {
        if self.groups.is_empty() {
            return streams.map(|_| true).collect();
        }
        let contents = Self::contents(graph, state);
        let mut known = BTreeSet::new();
        streams
            .map(|stream| {
                let alike = |group| (group, dispatched.of(stream), contents.get(&stream));
                self.group[stream].is_none_or(|group| known.insert(alike(group)))
            })
            .collect()
    }

    /// The same state with twins in an order that does not depend on which is which.
    pub(super) fn sorted(&self, graph: &Graph, dispatched: &mut Dispatched, state: &mut State) {
        if self.groups.is_empty() {
            return;
        }
        // Of others nothing is known, and they come last as they are.
        let touched: BTreeSet<usize> = dispatched.begun().filter_map(|(stream, _)| self.group[stream]).collect();
        let contents = Self::contents(graph, state);
        let mut to: FxHashMap<usize, usize> = FxHashMap::default();
        for group in touched.into_iter().map(|group| &self.groups[group]) {
            let key = |&stream: &usize| (Reverse(dispatched.of(stream)), contents.get(&stream), stream);
            if group.is_sorted_by_key(key) {
                continue;
            }
            let mut sorted = group.clone();
            sorted.sort_by_cached_key(key);
            to.extend(sorted.into_iter().zip(group.iter().copied()));
        }
        if to.is_empty() {
            return;
        }
        let place = |stream: usize| to.get(&stream).copied().unwrap_or(stream);
        dispatched.moved(place);
        let moved = |node: usize| graph.streams[place(graph.nodes[node].stream)][graph.nodes[node].position];
        move_nodes(&mut state.finish, moved);
        move_nodes(&mut state.running, moved);
        move_nodes(&mut state.certain, moved);
        state.last_kernel = state.last_kernel.map(moved);
    }

    /// Makes what is known of one of several twins known of all.
    pub(super) fn spread(&self, graph: &Graph, finish: &mut [u64], complete: &mut [u32]) {
        for group in &self.groups {
            let least = group.iter().map(|&stream| complete[stream]).min().proven("no group is empty");
            for &stream in group {
                complete[stream] = least;
            }
            for position in 0..graph.streams[group[0]].len() {
                let nodes = || group.iter().map(|&stream| graph.streams[stream][position]);
                let latest = nodes().map(|node| finish[node]).max().proven("no group is empty");
                nodes().for_each(|node| finish[node] = latest);
            }
        }
    }
}

/// What is known by operation, of those in whose place these are.
fn move_nodes<T>(known: &mut [(usize, T)], to: impl Fn(usize) -> usize) {
    for (node, _) in known.iter_mut() {
        *node = to(*node);
    }
    known.sort_unstable_by_key(|(node, _)| *node);
}
