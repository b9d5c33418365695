//! Streams that may change places: each is all that a thread uses, they launch the same at the same instants, nothing
//! waits for anything in another stream, and which of them is first at one instant is open. With their operations
//! exchanged, a run is a run. So of states that differ in that only, one is enough, and what is found of one stream
//! holds of all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::graph::{Graph, Node, Work};
use super::state::{CertainUntil, Dispatched, Interval, State};
use crate::proven::Proven;
use crate::time::Instant;

/// By operation of a stream: when it finishes, and until when its blocks may and certainly do run, where a state knows
/// it.
type Content = (Vec<(usize, Interval)>, Vec<(usize, Vec<(u64, u32)>)>, Vec<(usize, CertainUntil)>);

/// The streams of a graph that may change places, by group, each ascending.
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
        let mut known: Vec<(Program, u32, Vec<usize>)> = Vec::new();
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
            match known.iter_mut().find(|(other, wanted, _)| *other == program && *wanted == goal[number]) {
                Some((.., streams)) => streams.push(number),
                None => known.push((program, goal[number], vec![number])),
            }
        }
        for (.., streams) in known.into_iter().filter(|(.., streams)| streams.len() > 1) {
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
            contents.entry(stream).or_default().0.push((position, span));
        }
        for (node, until) in &state.running {
            let Node { stream, position, .. } = graph.nodes[*node];
            contents.entry(stream).or_default().1.push((position, until.clone()));
        }
        for &(node, until) in &state.certain {
            let Node { stream, position, .. } = graph.nodes[node];
            contents.entry(stream).or_default().2.push((position, until));
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
        for (node, _) in &mut state.finish {
            *node = moved(*node);
        }
        for (node, _) in &mut state.running {
            *node = moved(*node);
        }
        for (node, _) in &mut state.certain {
            *node = moved(*node);
        }
        state.certain.sort_unstable_by_key(|(node, _)| *node);
        state.finish.sort_unstable_by_key(|(node, _)| *node);
        state.running.sort_unstable_by_key(|(node, _)| *node);
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
