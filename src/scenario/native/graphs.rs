//! `graphs`: CUDA graphs. A launch of one is read as operations of streams: of the stream that it is launched into, and
//! of one more for each further branch, with events between them.

use std::collections::BTreeMap;

use super::graph_parts::{Graph, GraphNode, Instance};
use super::operations;
use super::reading::{Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::model::Step;
use crate::workload::{EventId, StreamId, StreamSpec};

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

/// Nodes in the order of the file, in which edges lead forwards only. Each goes on in the branch of a node before it
/// that nothing follows there so far, or begins a branch.
fn graph<'a>(node: Node<'a>, reading: &Reading<'a, '_>) -> Result<Graph<'a>, Problem> {
    let mut nodes: Vec<GraphNode<'a>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    // The last node of each branch, and how many edges leave each node.
    let (mut ends, mut leaving) = (Vec::<usize>::new(), Vec::<usize>::new());
    for (name, work) in node.object()?.into_distinct_entries()? {
        let place = nodes.len();
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
        let (mut before, mut is_dependent) = (Vec::new(), false);
        let after = entry.optional("after")?;
        for edge in after.map(|node| node.list()).transpose()?.unwrap_or_default() {
            let (from, is_programmatic) = edge_from(edge, &places)?;
            is_dependent |= is_programmatic;
            let is_kernel = |work: Node<'_>| work.object().is_ok_and(|entry| entry.has("kernel"));
            if is_programmatic && (kind != "kernel" || !is_kernel(nodes[from].work)) {
                return Err(edge.problem("a programmatic edge leads from a kernel to a kernel"));
            }
            before.push(from);
            leaving[from] += 1;
        }
        let goes_on = before.iter().copied().find(|from| ends[nodes[*from].branch] == *from);
        let branch = goes_on.map_or(ends.len(), |from| nodes[from].branch);
        before.retain(|from| nodes[*from].branch != branch);
        for from in &before {
            nodes[*from].is_recorded = true;
        }
        match ends.get_mut(branch) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
        places.insert(name.to_string(), place);
        leaving.push(0);
        nodes.push(GraphNode {
            name: name.into_owned(),
            work,
            is_dependent,
            branch,
            waits_for_launch: goes_on.is_none() && before.is_empty() && place > 0,
            waits_for: before,
            is_recorded: false,
            ends_branch: false,
        });
    }
    if nodes.is_empty() {
        return Err(node.problem("expected at least one node, found none"));
    }
    check_programmatic_edges(&nodes, &leaving)?;
    for end in ends.iter().skip(1).filter(|end| leaving[**end] == 0) {
        (nodes[*end].is_recorded, nodes[*end].ends_branch) = (true, true);
    }
    Ok(Graph { nodes: nodes.into(), branches: ends.len() })
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

/// Two kernels overlap by PDL only where one follows the other in a stream, with nothing in between.
fn check_programmatic_edges(nodes: &[GraphNode<'_>], leaving: &[usize]) -> Result<(), Problem> {
    for (place, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_dependent) {
        let before = nodes[..place].iter().rposition(|before| before.branch == node.branch);
        if !node.waits_for.is_empty() || before.is_none_or(|before| leaving[before] != 1) {
            return Err(node.work.problem(format!(
                "a programmatic edge is simulated only as the only edge of both its nodes: {:?}, or the node before it, has \
                 others",
                node.name
            )));
        }
    }
    Ok(())
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
    let Instance { streams, launched, events } = instance(name_node, &name, &graph, stream, reading)?;
    if graph.nodes.iter().any(|node| node.waits_for_launch) {
        record(launched, stream, reading, steps);
    }
    for (node, event) in graph.nodes.iter().zip(&events) {
        let own = streams[node.branch];
        if node.waits_for_launch {
            wait(launched, own, reading, steps);
        }
        for from in &node.waits_for {
            wait(events[*from], own, reading, steps);
        }
        steps.push(work(node, own, reading)?);
        if node.is_recorded {
            record(*event, own, reading, steps);
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
        "copy" => operations::copy(&mut entry, stream, reading)?,
        _ => operations::memset(&mut entry, stream, reading)?,
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
    let made = Instance { streams, launched, events };
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
