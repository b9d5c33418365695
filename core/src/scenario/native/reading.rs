//! What the parts of a scenario file refer to each other by: kernels, streams, events and graphs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::json::{Node, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::host_thread::{BarrierId, HostThread, Step};
use crate::scenario::reader;
use crate::time::Duration;
use crate::words::{did_you_mean, listed};
use crate::workload::{CounterId, EventId, GreenContextId, KernelId, ProcessId, StreamId};

/// What reading a file leads to.
pub(super) struct Reading<'a, 'o> {
    pub(super) builder: ScenarioBuilder<'o>,
    /// Where each host thread stands in the file.
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) kernels: NamedKernels,
    pub(super) streams: BTreeMap<String, StreamId>,
    pub(super) barriers: BTreeMap<String, BarrierId>,
    pub(super) events: BTreeMap<String, EventId>,
    pub(super) counters: BTreeMap<String, CounterId>,
    pub(super) green_contexts: BTreeMap<String, GreenContextId>,
    pub(super) graphs: Graphs<'a>,
    pub(super) processes: BTreeMap<String, ProcessId>,
    /// Whether these are GPUs, each of one process.
    pub(super) are_gpus: bool,
    /// Whether the file lists its processes; otherwise the first mention makes one.
    pub(super) declares_processes: bool,
    /// The kernel that was stated last for each stream; `None`: something else was.
    pub(super) last: BTreeMap<StreamId, Option<KernelId>>,
    /// The first stream or host that says of no process that it is of it.
    pub(super) without_process: Option<Node<'a>>,
}

/// A kernel as the rest of the file refers to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedKernel {
    pub(super) id: KernelId,
    pub(super) blocks: u32,
    /// Whether its blocks take different times.
    pub(super) varies: bool,
    /// Whether its block time is the user's and not the file's.
    pub(super) given: bool,
    /// Whether the file states its registers, and its shared memory.
    pub(super) states_registers: bool,
    pub(super) states_shared_memory: bool,
    /// Whether something launches it.
    pub(super) is_launched: bool,
    /// The same, launched programmatically, if it is.
    pub(super) dependent: Option<KernelId>,
}

/// The kernels of a file, in its order: a million of them are not looked for in a tree.
#[derive(Default)]
pub(super) struct NamedKernels {
    all: Vec<NamedKernel>,
    places: HashMap<Arc<str>, usize>,
}

impl NamedKernels {
    /// Another one, of which the name is not known.
    pub(super) fn insert(&mut self, name: Arc<str>, kernel: NamedKernel) {
        self.places.insert(name, self.all.len());
        self.all.push(kernel);
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether that is so of one of them.
    pub(super) fn any(&self, is_so: impl Fn(&NamedKernel) -> bool) -> bool {
        self.all.iter().any(is_so)
    }

    /// The one that `node` names.
    pub(super) fn get(&self, node: Node<'_>) -> Result<&NamedKernel, Problem> {
        Ok(&self.all[self.place(node)?])
    }

    fn get_mut(&mut self, node: Node<'_>) -> Result<&mut NamedKernel, Problem> {
        let place = self.place(node)?;
        Ok(&mut self.all[place])
    }

    fn place(&self, node: Node<'_>) -> Result<usize, Problem> {
        let name = node.text()?;
        let found = self.places.get(&*name).copied();
        found.ok_or_else(|| unknown(node, "kernel", &name, self.names(|_| true).iter()))
    }

    /// All of them with their names, in the order of the file.
    pub(super) fn named(&self) -> Vec<(&str, &NamedKernel)> {
        let mut named: Vec<_> = self.places.iter().map(|(name, place)| (&**name, &self.all[*place])).collect();
        crate::sorted::sort_by_key(&mut named, |(name, _)| self.places.get(*name));
        named
    }

    /// The names of those of which that is so, in order.
    pub(super) fn names(&self, is_so: impl Fn(&NamedKernel) -> bool) -> Vec<&str> {
        let own = self.places.iter().filter(|(_, place)| is_so(&self.all[**place]));
        let mut names: Vec<&str> = own.map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names
    }
}

impl<'a> Reading<'a, '_> {
    /// The kernel that `node` names, which thereby counts as launched.
    pub(super) fn kernel(&mut self, node: Node<'_>) -> Result<KernelId, Problem> {
        Ok(self.launch(node)?.id)
    }

    fn launch(&mut self, node: Node<'_>) -> Result<&mut NamedKernel, Problem> {
        let kernel = self.kernels.get_mut(node)?;
        kernel.is_launched = true;
        Ok(kernel)
    }

    /// The same, of a launch with the attribute of programmatic dependent launch.
    pub(super) fn dependent(&mut self, node: Node<'_>) -> Result<KernelId, Problem> {
        let NamedKernel { id, dependent, .. } = *self.launch(node)?;
        if let Some(known) = dependent {
            return Ok(known);
        }
        let added = self.builder.add_dependent(id).map_err(|error| node.problem(error.to_string()))?;
        self.launch(node)?.dependent = Some(added);
        Ok(added)
    }

    /// Whether a kernel has a trigger.
    pub(super) fn triggers(&self, kernel: KernelId) -> bool {
        let known = self.builder.kernels().get(kernel.index());
        known.is_some_and(|known| known.programmatic().trigger.is_some())
    }

    /// Says where a launch with the attribute overlaps nothing.
    pub(super) fn note_without_trigger(&mut self, kernel: KernelId, stream: StreamId) {
        let kernels = self.builder.kernels();
        let name = |id: KernelId| kernels.get(id.index()).map_or("", |kernel| &kernel.title);
        let behind = match self.last.get(&stream) {
            Some(Some(before)) if !self.triggers(*before) => {
                format!("behind {:?}, which has no trigger", name(*before))
            }
            Some(None) => "behind what is no kernel".to_owned(),
            _ => return,
        };
        let name = name(kernel).to_owned();
        self.builder.note(format!("{name:?} is launched programmatically {behind}: it begins when that has completed"));
    }

    /// The stream that `node` names.
    pub(super) fn stream(&self, node: Node<'_>) -> Result<StreamId, Problem> {
        let name = node.string()?;
        self.streams.get(&name).copied().ok_or_else(|| unknown(node, "stream", &name, self.streams.keys()))
    }

    /// The event that `node` names; the first mention makes it.
    pub(super) fn event(&mut self, node: Node<'_>) -> Result<EventId, Problem> {
        let name = reader::filled_name(node)?;
        if let Some(&known) = self.events.get(&name) {
            return Ok(known);
        }
        let event = self.builder.add_event(name.as_str()).map_err(|error| node.problem(error.to_string()))?;
        self.events.insert(name, event);
        Ok(event)
    }

    /// Says which events nothing records, which are likely to be misspelt: nobody ever waits for them.
    pub(super) fn note_unrecorded_events(&mut self) {
        let steps = self.builder.threads().iter().flat_map(|thread| &thread.steps);
        let recorded: BTreeSet<EventId> = steps
            .filter_map(|step| match step {
                Step::Record(event, _) => Some(*event),
                _ => None,
            })
            .collect();
        for (name, _) in self.events.iter().filter(|(_, event)| !recorded.contains(event)) {
            self.builder.note(format!("nothing records the event {name:?}, so nothing waits for it"));
        }
    }

    /// Adds the host thread that stands at `node`.
    pub(super) fn add_thread(&mut self, node: Node<'a>, thread: HostThread) {
        self.nodes.push(node);
        if thread.jitter > Duration::ZERO {
            self.builder.note(format!(
                "the jitter of {:?}, up to {}, is not simulated: releases are exactly periodic; `gpusched analyze` counts \
                 it",
                thread.label, thread.jitter
            ));
        }
        self.builder.add_thread(thread);
    }
}

/// A name that nothing in the file has.
pub(super) fn unknown<'n, N: AsRef<str> + 'n>(
    node: Node<'_>,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n N> + Clone,
) -> Problem {
    let near = did_you_mean(name, known.clone().map(AsRef::as_ref));
    let list = listed(known.map(AsRef::as_ref));
    let problem = node.problem(format!("no {what} of this scenario is called {name:?}{near}"));
    if list.is_empty() { problem } else { problem.with_help(format!("there are: {list}")) }
}

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
