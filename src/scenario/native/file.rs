//! The top level of a scenario file.

use std::collections::BTreeMap;

use super::graph_parts::Graphs;
use super::reading::{NamedKernels, Reading};
use super::{chains, expected, graphs, green_contexts, hosts, kernels, processes, streams, unstated};
use crate::device::{BUILTIN_NAMES, Device, read_device};
use crate::json::{Node, Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::fields;
use crate::scenario::finish::{default_device, endless_at, finish};
use crate::scenario::model::Scenario;
use crate::scenario::options::ReadOptions;
use crate::scenario::release_order::ReleaseOrder;
use crate::workload::{NULL_STREAM, Placement, StreamId};

/// The key that no other format has.
pub(in crate::scenario) const FORMAT_KEY: &str = "format";

/// What it must say.
pub(in crate::scenario) const FORMAT: &str = "gpusched-scenario/1";

/// Reads the native scenario that `file` holds.
pub(in crate::scenario) fn read(mut file: Object<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let format = file.required(FORMAT_KEY)?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}, the only version there is")));
    }
    let name = file.required("name")?.string()?;
    file.optional("source")?.map(|node| node.string()).transpose()?;
    let own_device = device(&mut file)?;
    let placement = file.optional("placement")?.map(placement).transpose()?;
    let seed = file.optional("seed")?.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
    let horizon = fields::positive_time(&mut file, "horizon")?;
    let release_order = file.optional("release_order")?.map(release_order).transpose()?;
    let ready_order = file.optional("ready_order")?.map(ready_order).transpose()?;

    let assumptions = file.optional("assumptions")?.map(|node| node.list()).transpose()?.unwrap_or_default();
    let assumptions = assumptions.iter().map(Node::string).collect::<Result<Vec<String>, Problem>>()?;

    let sms = own_device.sms;
    let mut builder = ScenarioBuilder::new(name, own_device.clone(), options);
    builder.settings(placement, seed, horizon);
    builder.set_release_order(release_order.unwrap_or_default());
    for what in assumptions {
        builder.assume(what);
    }
    builder.set_ready_order(ready_order.unwrap_or_default());
    let mut reading = Reading {
        builder,
        nodes: Vec::new(),
        kernels: NamedKernels::default(),
        streams: BTreeMap::from([(NULL_STREAM.to_owned(), StreamId::NULL)]),
        barriers: BTreeMap::new(),
        events: BTreeMap::new(),
        green_contexts: BTreeMap::new(),
        graphs: Graphs::default(),
        processes: BTreeMap::new(),
        declares_processes: false,
        without_process: None,
        last: BTreeMap::new(),
    };
    processes::sharing(&mut file, &mut reading)?;
    if let Some(node) = file.optional("processes")? {
        processes::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("green_contexts")? {
        green_contexts::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("kernels")? {
        kernels::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("graphs")? {
        graphs::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("streams")? {
        streams::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("hosts")? {
        hosts::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("chains")? {
        chains::read(node, &mut reading)?;
    }
    let expected = file.optional("expected")?.map(|node| expected::read(node, &reading.kernels, sms)).transpose()?;
    let root = file.node();
    file.finish()?;
    processes::check(&reading)?;

    if reading.nodes.is_empty() {
        return Err(root
            .problem("nothing in this scenario launches anything")
            .with_help("give a stream \"operations\", or add \"hosts\" that launch kernels"));
    }
    reading.note_unrecorded_events();
    reading.note_graphs_without_launch();
    let kernels = std::mem::take(&mut reading.kernels);
    for name in kernels.names(|kernel| !kernel.is_launched) {
        reading.builder.note(format!("kernel {name:?} is never launched"));
    }
    let Reading { mut builder, nodes, .. } = reading;
    let node_of = |thread: usize| nodes.get(thread).copied().unwrap_or(root);
    builder.limit_jobs().map_err(|endless| endless_at(endless, node_of))?;
    let mut scenario = finish(builder, root, node_of)?;
    scenario.notes.extend(unstated::note(&kernels, &scenario));
    scenario.expected = expected.map(|mut expected| {
        expected.placement = placement.unwrap_or(own_device.placement);
        let own = expected::Own { device: &own_device, placement: expected.placement, seed, horizon };
        expected.replaced = expected::replaced(&own, options, &kernels);
        expected
    });
    Ok(scenario)
}

/// A built-in device by name, or one written out in the form of a device file.
pub(in crate::scenario) fn device(file: &mut Object<'_>) -> Result<Device, Problem> {
    let Some(node) = file.optional("device")? else { return default_device(file.node()) };
    if node.is_object() {
        return read_device(node);
    }
    let expected = format!("a built-in device ({}) or a device object", BUILTIN_NAMES.join(", "));
    let refuse = || node.expected_name(&expected, &BUILTIN_NAMES);
    let name = node.string().map_err(|_| refuse())?;
    Device::builtin(&name).ok().flatten().ok_or_else(refuse)
}

fn placement(node: Node<'_>) -> Result<Placement, Problem> {
    node.named(&Placement::ALL.map(Placement::name), Placement::from_name)
}

/// Which of several operations enters a queue next, choice by choice.
fn ready_order(node: Node<'_>) -> Result<Vec<u32>, Problem> {
    node.list()?.into_iter().map(|node| node.whole_u32(0, u32::MAX)).collect()
}

fn release_order(node: Node<'_>) -> Result<ReleaseOrder, Problem> {
    node.named(&ReleaseOrder::ALL.map(ReleaseOrder::name), ReleaseOrder::from_name)
}
