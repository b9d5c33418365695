//! What is known of the graphs of a scenario file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::json::Node;
use crate::workload::{EventId, StreamId};

/// The graphs of a file, and what their launches have made so far.
#[derive(Default)]
pub(super) struct Graphs<'a> {
    pub(super) known: BTreeMap<String, Graph<'a>>,
    /// By graph and the stream that it is launched into: each has an executable graph of its own.
    pub(super) instances: BTreeMap<(String, StreamId), Instance>,
    /// Streams in which a graph was launched last, other work than kernels aside.
    pub(super) ended: BTreeSet<StreamId>,
    /// Operations so far.
    pub(super) steps: usize,
}

#[derive(Clone)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Arc<[GraphNode<'a>]>,
    pub(super) branches: usize,
}

pub(super) struct GraphNode<'a> {
    pub(super) name: String,
    pub(super) work: Node<'a>,
    /// Whether it begins once nodes before it have triggered.
    pub(super) is_dependent: bool,
    pub(super) branch: usize,
    /// Whether nothing is before it, and it is not the first of the launching stream.
    pub(super) waits_for_launch: bool,
    /// Nodes of other branches that have to be over first.
    pub(super) waits_for: Vec<usize>,
    /// Nodes of other branches that have to trigger first.
    pub(super) waits_for_triggers: Vec<usize>,
    /// Whether another branch, or the end of the launch, waits for it.
    pub(super) is_recorded: bool,
    /// Whether another branch waits for its trigger.
    pub(super) is_recorded_early: bool,
    /// Whether what comes behind the launch waits for it.
    pub(super) ends_branch: bool,
}

/// What the launches of a graph into one stream share.
#[derive(Clone)]
pub(super) struct Instance {
    pub(super) streams: Vec<StreamId>,
    pub(super) launched: EventId,
    pub(super) events: Vec<EventId>,
    /// Programmatic events, by the place of the node whose trigger they are recorded at.
    pub(super) early: BTreeMap<usize, EventId>,
}
