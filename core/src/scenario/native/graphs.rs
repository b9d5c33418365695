//! `graphs`: CUDA graphs. A launch of one is read as operations of streams: of the stream that it is launched into, and
//! of one more for each further branch, with events between them.

use std::collections::BTreeMap;

use super::operations;
use super::reading::{Graph, GraphNode, Instance, Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::host_thread::Step;
use crate::workload::{EventId, KernelId, StreamId, StreamSpec};

/// What a node can be.
const KINDS: [&str; 3] = ["kernel", "copy", "memset"];

/// How many operations all launches of graphs may be read as.
const MOST_STEPS: usize = 10_000_000;

/// Reads the object whose keys are the graphs' names.
pub(super) fn read<'a>(node: Node<'a>, reading: &mut Reading<'a, '_>) -> Result<(), Problem> {
    for (name, node) in node.object()?.into_distinct_entries()? {
        let mut entry = node.object()?;
        let nodes = entry.required("nodes")?;
        entry.finish()?;
        let graph = graph(nodes, reading)?;
        reading.graphs.known.insert(name.into_owned(), graph);
    }
    Ok(())
}

/// A node of the file, and the edges that lead to it: from which node, and whether they are programmatic.
struct Stated<'a> {
    name: String,
    work: Node<'a>,
    edges: Vec<(usize, bool)>,
}

/// Nodes in the order of the file, in which edges lead forwards only. Each goes on in the branch of a node before it
/// that nothing follows there so far, or begins a branch.
fn graph<'a>(node: Node<'a>, reading: &Reading<'a, '_>) -> Result<Graph<'a>, Problem> {
    let (stated, leaving) = stated(node, reading)?;
    let mut nodes: Vec<GraphNode<'a>> = Vec::new();
    // The last node of each branch.
    let mut ends = Vec::<usize>::new();
    for (place, Stated { name, work, edges }) in stated.into_iter().enumerate() {
        let is_dependent = edges.iter().any(|(_, is_programmatic)| *is_programmatic);
        let froms = |programmatic: bool| {
            let some = edges.iter().filter(move |(_, is_programmatic)| *is_programmatic == programmatic);
            some.map(|(from, _)| *from).collect::<Vec<usize>>()
        };
        let (mut waits_for, mut waits_for_triggers) = (froms(false), froms(true));
        // A kernel overlaps the one right before it in its stream, or else those whose triggers it waits for by events.
        let goes_on = match *edges {
            [(from, true)] if leaving[from] == 1 => Some(from),
            _ if is_dependent => None,
            _ => waits_for.iter().copied().find(|from| ends[nodes[*from].branch] == *from),
        };
        let branch = goes_on.map_or(ends.len(), |from| nodes[from].branch);
        waits_for.retain(|from| nodes[*from].branch != branch);
        waits_for_triggers.retain(|from| nodes[*from].branch != branch);
        for from in &waits_for {
            nodes[*from].is_recorded = true;
        }
        for from in &waits_for_triggers {
            nodes[*from].is_recorded_early = true;
        }
        match ends.get_mut(branch) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
        nodes.push(GraphNode {
            name,
            work,
            is_dependent,
            branch,
            waits_for_launch: goes_on.is_none() && edges.is_empty() && place > 0,
            waits_for,
            waits_for_triggers,
            is_recorded: false,
            is_recorded_early: false,
            ends_branch: false,
        });
    }
    for end in ends.iter().skip(1).filter(|end| leaving[**end] == 0) {
        (nodes[*end].is_recorded, nodes[*end].ends_branch) = (true, true);
    }
    Ok(Graph { nodes: nodes.into(), branches: ends.len() })
}

/// The nodes of a file, and how many edges leave each.
fn stated<'a>(node: Node<'a>, reading: &Reading<'a, '_>) -> Result<(Vec<Stated<'a>>, Vec<usize>), Problem> {
    let mut all: Vec<Stated<'a>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut leaving = Vec::<usize>::new();
    for (name, work) in node.object()?.into_distinct_entries()? {
        let mut entry = work.object()?;
        let kind = operations::kind(&entry, &KINDS)?;
        if kind == "kernel" {
            reading.kernels.get(entry.required("kernel")?)?;
        }
        if entry.has("programmatic") {
            return Err(work.problem(
                "a node is launched programmatically by an edge: {\"node\": NAME, \"edge\": \"programmatic\"}",
            ));
        }
        let mut edges = Vec::new();
        let after = entry.optional("after")?;
        for edge in after.map(|node| node.list()).transpose()?.unwrap_or_default() {
            let (from, is_programmatic) = edge_from(edge, &places)?;
            let is_kernel = |work: Node<'_>| work.object().is_ok_and(|entry| entry.has("kernel"));
            if is_programmatic && (kind != "kernel" || !is_kernel(all[from].work)) {
                return Err(edge.problem("a programmatic edge leads from a kernel to a kernel"));
            }
            if edges.iter().any(|(other, _)| *other == from) {
                return Err(edge.problem("there is an edge from that node already"));
            }
            edges.push((from, is_programmatic));
            leaving[from] += 1;
        }
        places.insert(name.to_string(), all.len());
        leaving.push(0);
        all.push(Stated { name: name.into_owned(), work, edges });
    }
    if all.is_empty() {
        return Err(node.problem("expected at least one node, found none"));
    }
    Ok((all, leaving))
}

/// The node that an edge leads from, and whether it is programmatic.
fn edge_from(edge: Node<'_>, places: &BTreeMap<String, usize>) -> Result<(usize, bool), Problem> {
    let (node, is_programmatic) = if edge.is_object() {
        let mut entry = edge.object()?;
        let node = entry.required("node")?;
        let kind = entry.required("edge")?;
        let is_programmatic = match kind.string()?.as_str() {
            "full" => false,
            "programmatic" => true,
            _ => return Err(kind.expected("\"full\" or \"programmatic\"")),
        };
        entry.finish()?;
        (node, is_programmatic)
    } else {
        (edge, false)
    };
    let name = node.string()?;
    let place = places.get(&name).copied();
    Ok((place.ok_or_else(|| unknown(node, "earlier node", &name, places.keys()))?, is_programmatic))
}

/// The operations of one launch.
pub(super) fn launch(
    entry: &mut Object<'_>,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
    steps: &mut Vec<Step>,
) -> Result<(), Problem> {
    let name_node = entry.required("graph")?;
    let name = name_node.string()?;
    let known = reading.graphs.known.get(&name).cloned();
    let graph = known.ok_or_else(|| unknown(name_node, "graph", &name, reading.graphs.known.keys()))?;
    let before = steps.len();
    let Instance { streams, launched, events, early } = instance(name_node, &name, &graph, stream, reading)?;
    if graph.nodes.iter().any(|node| node.waits_for_launch) {
        record(launched, stream, reading, steps);
    }
    let mut kernels: Vec<Option<KernelId>> = Vec::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let own = streams[node.branch];
        if node.waits_for_launch {
            wait(launched, own, reading, steps);
        }
        for from in &node.waits_for {
            wait(events[*from], own, reading, steps);
        }
        for from in &node.waits_for_triggers {
            steps.extend(early.get(from).map(|event| Step::Wait(*event, own)));
        }
        let befores: Vec<KernelId> = node.waits_for_triggers.iter().filter_map(|from| kernels[*from]).collect();
        if !befores.is_empty() {
            // It is behind these kernels, of which one may have no trigger.
            let before = befores.iter().copied().find(|before| !reading.triggers(*before)).unwrap_or(befores[0]);
            reading.last.insert(own, Some(before));
            reading.graphs.ended.remove(&own);
        }
        let step = work(node, own, reading)?;
        kernels.push(if let Step::Launch(kernel, _) = step { Some(kernel) } else { None });
        steps.push(step);
        if let Some(event) = early.get(&place) {
            record(*event, own, reading, steps);
        }
        if node.is_recorded {
            record(events[place], own, reading, steps);
        }
    }
    for (_, event) in graph.nodes.iter().zip(&events).filter(|(node, _)| node.ends_branch) {
        wait(*event, stream, reading, steps);
    }
    for stream in streams {
        reading.last.insert(stream, None);
        reading.graphs.ended.insert(stream);
    }
    reading.graphs.steps += steps.len() - before;
    if reading.graphs.steps > MOST_STEPS {
        return Err(name_node.problem(format!("launches of graphs are more than {MOST_STEPS} operations")));
    }
    Ok(())
}

fn record(event: EventId, stream: StreamId, reading: &mut Reading<'_, '_>, steps: &mut Vec<Step>) {
    reading.last.insert(stream, None);
    steps.push(Step::Record(event, stream));
}

fn wait(event: EventId, stream: StreamId, reading: &mut Reading<'_, '_>, steps: &mut Vec<Step>) {
    reading.last.insert(stream, None);
    steps.push(Step::Wait(event, stream));
}

fn work(node: &GraphNode<'_>, stream: StreamId, reading: &mut Reading<'_, '_>) -> Result<Step, Problem> {
    let mut entry = node.work.object()?;
    entry.optional("after")?;
    let step = match operations::kind(&entry, &KINDS)? {
        "kernel" => {
            let step = operations::launch_kernel(entry.required("kernel")?, node.is_dependent, stream, reading)?;
            if let Step::Launch(kernel, _) = step {
                reading.builder.note_graph_node(kernel);
            }
            step
        }
        kind => operations::submission(kind, &mut entry, stream, reading)?,
    };
    entry.finish()?;
    Ok(step)
}

/// The name of the stream of a further branch of a graph.
fn title_of_branch(stream: &str, graph: &str, number: usize) -> String {
    format!("{stream}: {graph}, branch {number}")
}

/// Whether a stream is that of a branch of a graph that is launched into `own`, as [`title_of_branch`] calls it.
pub(in crate::scenario) fn is_branch_of(stream: &str, own: &str) -> bool {
    let graph_and_number = stream.strip_prefix(own).and_then(|rest| rest.strip_prefix(": "));
    let number = graph_and_number.and_then(|rest| rest.rsplit_once(", branch "));
    number.is_some_and(|(_, number)| number.parse::<usize>().is_ok())
}

/// Streams and events of launches into `stream`, which the first of them makes.
fn instance(
    node: Node<'_>,
    name: &str,
    graph: &Graph<'_>,
    stream: StreamId,
    reading: &mut Reading<'_, '_>,
) -> Result<Instance, Problem> {
    let key = (name.to_owned(), stream);
    if let Some(known) = reading.graphs.instances.get(&key) {
        return Ok(known.clone());
    }
    let refuse = |error: crate::workload::WorkloadError| node.problem(error.to_string());
    let own = StreamSpec::clone(&reading.builder.so_far().streams()[stream.index()]);
    let mut streams = vec![stream];
    for branch in 1..graph.branches {
        let title = title_of_branch(&own.name, name, branch + 1);
        if reading.streams.contains_key(&title) {
            return Err(node.problem(format!("two streams are called {title:?}, which is what a branch is called")));
        }
        let spec = StreamSpec { name: title.as_str().into(), blocking: false, ..own.clone() };
        let added = reading.builder.add_stream(spec).map_err(refuse)?;
        reading.streams.insert(title, added);
        streams.push(added);
    }
    let event = |of: &str| format!("{name} in {}: {of}", own.name);
    let launched = reading.builder.add_event(event("launch").as_str()).map_err(refuse)?;
    let events = graph.nodes.iter().map(|node| reading.builder.add_event(event(&node.name).as_str()).map_err(refuse));
    let events = events.collect::<Result<_, _>>()?;
    let mut early = BTreeMap::new();
    for (place, node) in (0..).zip(graph.nodes.iter()).filter(|(_, node)| node.is_recorded_early) {
        let added =
            reading.builder.add_event(event(&format!("{} has triggered", node.name)).as_str()).map_err(refuse)?;
        reading.builder.set_programmatic_event(added).map_err(refuse)?;
        early.insert(place, added);
    }
    let made = Instance { streams, launched, events, early };
    reading.graphs.instances.insert(key, made.clone());
    Ok(made)
}

impl Reading<'_, '_> {
    /// Says which graphs nothing launches.
    pub(super) fn note_graphs_without_launch(&mut self) {
        let launched: Vec<&String> = self.graphs.instances.keys().map(|(name, _)| name).collect();
        let idle: Vec<String> = self.graphs.known.keys().filter(|name| !launched.contains(name)).cloned().collect();
        for name in idle {
            self.builder.note(format!("graph {name:?} is never launched"));
        }
    }
}
