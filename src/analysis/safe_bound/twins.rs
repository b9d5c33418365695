//! Streams that may change places: each is all that a thread uses, they launch the same at the same instants, nothing waits
//! for anything in another stream, and which of them is first at one instant is open. With their operations exchanged, a run
//! is a run. So of states that differ in that only, one is enough, and what is found of one stream holds of all of them.

use super::graph::{Graph, Node, Work};
use super::state::{Dispatched, Span, State};
use crate::time::Instant;

/// By operation of a stream: when it finishes, and until when its blocks may run, where a state knows it.
type Content = (Vec<(usize, Span)>, Vec<(usize, Vec<(u64, u32)>)>);

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
    pub(super) fn new(graph: &Graph, goal: &Dispatched) -> Self {
        let mut twins = Self { groups: Vec::new(), group: vec![None; graph.streams.len()] };
        if !graph.any_order {
            return twins;
        }
        let mut is_alone = vec![true; graph.streams.len()];
        let mut stream_of = std::collections::BTreeMap::new();
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

    fn content(graph: &Graph, state: &State, stream: usize) -> Content {
        let place = |node: usize| (graph.nodes[node].stream == stream).then(|| graph.nodes[node].position);
        let finish = state.finish.iter().filter_map(|&(node, span)| Some((place(node)?, span)));
        let running = state.running.iter().filter_map(|(node, until)| Some((place(*node)?, until.clone())));
        (finish.collect(), running.collect())
    }

    /// Whether a state knows the same of a stream and of a twin of it among `others`.
    pub(super) fn repeats(
        &self,
        graph: &Graph,
        (dispatched, state): (&Dispatched, &State),
        stream: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> bool {
        self.group[stream].is_some()
            && others.any(|other| {
                self.group[other] == self.group[stream]
                    && dispatched[other] == dispatched[stream]
                    && Self::content(graph, state, other) == Self::content(graph, state, stream)
            })
    }

    /// The same state with twins in an order that does not depend on which is which.
    pub(super) fn sorted(&self, graph: &Graph, dispatched: &mut Dispatched, state: &mut State) {
        let mut to: Option<Vec<usize>> = None;
        for group in &self.groups {
            let key =
                |&stream: &usize| (std::cmp::Reverse(dispatched[stream]), Self::content(graph, state, stream), stream);
            if group.is_sorted_by_key(key) {
                continue;
            }
            let mut sorted = group.clone();
            sorted.sort_by_cached_key(key);
            let to = to.get_or_insert_with(|| (0..graph.streams.len()).collect());
            for (&place, stream) in group.iter().zip(sorted) {
                to[stream] = place;
            }
        }
        let Some(to) = to else { return };
        let before = dispatched.clone();
        for (&place, done) in to.iter().zip(before) {
            dispatched[place] = done;
        }
        let moved = |node: usize| graph.streams[to[graph.nodes[node].stream]][graph.nodes[node].position];
        for (node, _) in &mut state.finish {
            *node = moved(*node);
        }
        for (node, _) in &mut state.running {
            *node = moved(*node);
        }
        state.finish.sort_unstable_by_key(|(node, _)| *node);
        state.running.sort_unstable_by_key(|(node, _)| *node);
    }

    /// Makes what is known of one of several twins known of all.
    pub(super) fn spread(&self, graph: &Graph, finish: &mut [u64], complete: &mut Dispatched) {
        for group in &self.groups {
            let least = group.iter().map(|&stream| complete[stream]).min().unwrap_or(0);
            for &stream in group {
                complete[stream] = least;
            }
            for position in 0..graph.streams[group[0]].len() {
                let nodes = || group.iter().map(|&stream| graph.streams[stream][position]);
                let latest = nodes().map(|node| finish[node]).max().unwrap_or(u64::MAX);
                nodes().for_each(|node| finish[node] = latest);
            }
        }
    }
}
