//! Which of the heads of streams can enter a queue before all others.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::state::{Interval, State};

/// The head of a stream, all of whose predecessors are dispatched.
#[derive(Clone, Copy)]
pub(super) struct Eligible {
    pub(super) node: usize,
    pub(super) entry: Interval,
    /// Whether it is tried as the next one: of twins of which the same is known, one is.
    pub(super) tried: bool,
}

/// What is known together of the heads that enter one queue, so that not each of them is compared with each.
pub(super) struct Entries {
    heads: Vec<Eligible>,
    first: First,
}

/// The one of some heads that has entered first at the latest.
struct First {
    /// It has by then \[ns\]; never without heads.
    by: u64,
    node: Option<usize>,
    /// Of the others that have by then, too, and enter at their launch: the first one of each thread, or where their
    /// order is known of all threads.
    at_launch: BTreeMap<Option<u32>, usize>,
}

impl First {
    fn of(graph: &Graph, state: &State, heads: impl Iterator<Item = Eligible> + Clone) -> Self {
        let first = heads.clone().min_by_key(|head| head.entry.to);
        let by = first.map_or(u64::MAX, |head| head.entry.to);
        let mut at_launch = BTreeMap::new();
        for Eligible { node, entry, .. } in heads {
            if entry.to == by && state.enters_at_launch(graph, node) {
                let first = at_launch.entry(order_of(graph, node)).or_insert(node);
                *first = node.min(*first);
            }
        }
        Self { by, node: first.map(|head| head.node), at_launch }
    }

    /// Whether an operation can enter before all heads but itself, which is not the first.
    fn may_follow(&self, graph: &Graph, state: &State, node: usize, entry: Interval) -> bool {
        if entry.from != self.by || self.at_launch.is_empty() {
            return entry.from <= self.by;
        }
        if state.enters_at_launch(graph, node) {
            return self.at_launch.get(&order_of(graph, node)).is_none_or(|first| node <= *first);
        }
        !waits_for_later(graph, node, self.by)
    }
}

impl Entries {
    pub(super) fn new(graph: &Graph, state: &State, heads: Vec<Eligible>) -> Self {
        let first = First::of(graph, state, heads.iter().copied());
        Self { heads, first }
    }

    pub(super) fn heads(&self) -> &[Eligible] {
        &self.heads
    }

    /// One of them has entered by then \[ns\].
    pub(super) fn some_by(&self) -> u64 {
        self.first.by
    }

    /// Whether one of them can enter before all others.
    pub(super) fn may_be_first(&self, graph: &Graph, state: &State, node: usize, entry: Interval) -> bool {
        if self.first.node != Some(node) {
            return self.first.may_follow(graph, state, node, entry);
        }
        let others = self.heads.iter().copied().filter(|other| other.node != node);
        First::of(graph, state, others).may_follow(graph, state, node, entry)
    }
}

/// Operations that have the same are launched at one instant in their order.
fn order_of(graph: &Graph, node: usize) -> Option<u32> {
    graph.any_order.then(|| graph.nodes[node].thread)
}

/// Whether an operation waits for a kernel or copy that is launched at an instant or later. That begins when all
/// that is launched at the instant has entered its queue, so it ends after that even if it takes no time.
fn waits_for_later(graph: &Graph, node: usize, launch: u64) -> bool {
    let mut before = graph.nodes[node].predecessors.iter().map(|&before| &graph.nodes[before]);
    before.any(|before| before.work.needs_no_engine().is_none() && before.launched.as_ns() >= launch)
}
