//! gpusched's own scenario format, `"format": "gpusched-scenario/1"`.
//!
//! Its keys are described in `docs/scenario-format.md`. A stream with `operations` becomes one host thread that
//! launches them all at its release; `hosts` are programs of their own. Threads are declared in that order: streams
//! first, then hosts.

mod chains;
mod counters;
mod graphs;
mod join;
mod kernels;
mod operations;
mod reading;
mod sharing;
mod threads;
mod triggers;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use reading::{Graphs, NamedKernels, Reading};

use super::build::ScenarioBuilder;
use super::model::{Expected, ExpectedKernel, ReleaseOrder, Scenario};
use super::options::ReadOptions;
use super::reader::{self, default_device, endless_at, finish};
use crate::device::{BUILTIN_NAMES, Device, read_device};
use crate::json::{Node, Object, Problem};
use crate::time::{Duration, Instant};
use crate::workload::{NULL_STREAM, Placement, StreamId};

pub(super) use graphs::is_branch_of;
pub use join::{JoinError, JoinedScenario, Program, Together};
pub(super) use sharing::mps_percentage;
pub use write::NotNative;

/// The key that no other format has.
pub(super) const FORMAT_KEY: &str = "format";

/// What it must say.
pub(super) const FORMAT: &str = "gpusched-scenario/1";

/// Reads what one key at the top of a file holds.
type ReadPart<'a, 'o> = fn(Node<'a>, &mut Reading<'a, 'o>) -> Result<(), Problem>;

/// Reads the native scenario that `file` holds.
pub(super) fn read(mut file: Object<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let format = file.required(FORMAT_KEY)?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}, the only version there is")));
    }
    let name = file.required("name")?.string()?;
    file.optional("source")?.map(|node| node.string()).transpose()?;
    let own_device = device(&mut file)?;
    let placement = file.optional("placement")?.map(placement).transpose()?;
    let seed = file.optional("seed")?.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
    let horizon = reader::positive_time(&mut file, "horizon")?;
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
    let gpus = sharing::read_gpus(&mut file, &mut builder)?;
    let mut reading = Reading {
        builder,
        nodes: Vec::new(),
        kernels: NamedKernels::default(),
        streams: BTreeMap::from([(NULL_STREAM.to_owned(), StreamId::NULL)]),
        barriers: BTreeMap::new(),
        events: BTreeMap::new(),
        counters: BTreeMap::new(),
        green_contexts: BTreeMap::new(),
        graphs: Graphs::default(),
        declares_processes: !gpus.is_empty(),
        are_gpus: !gpus.is_empty(),
        processes: gpus,
        without_process: None,
        last: BTreeMap::new(),
    };
    if !reading.are_gpus {
        sharing::read_sharing(&mut file, &mut reading)?;
    }
    let parts: [(&'static str, ReadPart<'_, '_>); 7] = [
        ("processes", sharing::read_processes),
        ("green_contexts", sharing::read_splits),
        ("kernels", kernels::read),
        ("graphs", graphs::read),
        ("streams", threads::read_streams),
        ("hosts", threads::read_hosts),
        ("chains", chains::read),
    ];
    for (key, read) in parts {
        if let Some(node) = file.optional(key)? {
            read(node, &mut reading)?;
        }
    }
    let expected = file.optional("expected")?.map(|node| read_expected(node, &reading.kernels, sms)).transpose()?;
    let root = file.node();
    file.finish()?;
    sharing::check_processes(&reading)?;

    if reading.nodes.is_empty() {
        return Err(root
            .problem("nothing in this scenario launches anything, and nobody works")
            .with_help("give a stream \"operations\", or add \"hosts\""));
    }
    reading.note_unrecorded_events();
    reading.note_lonely_counters();
    reading.note_graphs_without_launch();
    let kernels = std::mem::take(&mut reading.kernels);
    for name in kernels.names(|kernel| !kernel.is_launched) {
        reading.builder.note(format!("kernel {name:?} is never launched"));
    }
    let Reading { mut builder, nodes, .. } = reading;
    let node_of = |thread: usize| nodes.get(thread).copied().unwrap_or(root);
    builder.limit_jobs().map_err(|endless| endless_at(endless, node_of))?;
    let mut scenario = finish(builder, root, node_of)?;
    scenario.notes.extend(kernels::note_unstated(&kernels, &scenario));
    scenario.expected = expected.map(|mut expected| {
        expected.placement = placement.unwrap_or(own_device.placement);
        let own = Own { device: &own_device, placement: expected.placement, seed, horizon };
        expected.replaced = replaced_conditions(&own, options, &kernels);
        expected
    });
    Ok(scenario)
}

/// A built-in device by name, or one written out in the form of a device file.
pub(super) fn device(file: &mut Object<'_>) -> Result<Device, Problem> {
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

/// What the file itself says of the conditions of a run.
struct Own<'a> {
    device: &'a Device,
    placement: Placement,
    seed: Option<u64>,
    horizon: Option<Duration>,
}

/// Conditions of the published result that the user has replaced by others. The placement is not among them: whether
/// it makes a difference is worth knowing.
fn replaced_conditions(own: &Own<'_>, options: &ReadOptions, kernels: &NamedKernels) -> Vec<&'static str> {
    let drawn = own.placement == Placement::Random || kernels.any(|kernel| kernel.varies);
    let given = kernels.any(|kernel| kernel.given);
    let varied = options.vary_percent.is_some_and(|percent| percent != (100, 100));
    [
        ("the device", options.device_for(own.device.clone()) != *own.device),
        ("the block durations", given || varied),
        ("the seed", drawn && options.seed.is_some_and(|seed| seed != own.seed.unwrap_or(0))),
        ("a period", !options.periods.is_empty()),
        ("the horizon", options.horizon.is_some() && options.horizon != own.horizon),
    ]
    .into_iter()
    .filter_map(|(what, replaced)| replaced.then_some(what))
    .collect()
}

/// Reads the expected result; `sms` is the number of SMs of the file's own device.
fn read_expected(node: Node<'_>, kernels: &NamedKernels, sms: u32) -> Result<Expected, Problem> {
    let mut entry = node.object()?;
    let source = entry.required("source")?.string()?;
    let tolerance = entry.required("tolerance")?.time()?;
    let list = entry.required("kernels")?.filled_list()?;
    entry.finish()?;
    let mut seen = BTreeSet::new();
    let mut expected = Vec::with_capacity(list.len());
    for node in list {
        let kernel = expected_kernel(node, kernels, sms)?;
        if !seen.insert((kernel.name.clone(), kernel.iteration)) {
            let (name, iteration) = (&kernel.name, kernel.iteration);
            return Err(node.problem(format!("launch {iteration} of kernel {name:?} is expected twice")));
        }
        expected.push(kernel);
    }
    Ok(Expected { source, tolerance, placement: Placement::default(), kernels: expected, replaced: Vec::new() })
}

fn expected_kernel(node: Node<'_>, kernels: &NamedKernels, sms: u32) -> Result<ExpectedKernel, Problem> {
    let mut entry = node.object()?;
    let name_node = entry.required("name")?;
    let name = name_node.string()?;
    let launched = kernels.get(name_node)?;
    let iteration = entry.optional("iteration")?.map_or(Ok(0), |node| node.whole_u32(0, u32::MAX))?;
    let place = entry.optional("place")?.map(filled_text).transpose()?;
    let mut instant = |key| entry.optional(key)?.map(|node| Ok(Instant::ZERO + node.time()?)).transpose();
    let (first_start, finish) = (instant("first_start")?, instant("finish")?);
    let (counts, by_block) = (entry.optional("blocks_per_sm")?, entry.optional("sm_of_block")?);
    entry.finish()?;
    if first_start.is_none() && finish.is_none() && counts.is_none() && by_block.is_none() {
        let keys = "\"first_start\", \"finish\", \"blocks_per_sm\" or \"sm_of_block\"";
        return Err(node.problem(format!("one of the keys {keys} is missing")));
    }
    let blocks_per_sm = counts.map(|node| blocks_per_sm(node, launched.blocks, sms)).transpose()?;
    let sm_of_block = by_block.map(|node| sm_of_block(node, launched.blocks, sms)).transpose()?;
    Ok(ExpectedKernel { name, iteration, place, first_start, finish, blocks_per_sm, sm_of_block })
}

fn filled_text(node: Node<'_>) -> Result<String, Problem> {
    let text = node.string()?;
    if text.is_empty() { Err(node.expected("a text that is not empty")) } else { Ok(text) }
}

fn sm_of_block(node: Node<'_>, blocks: u32, sms: u32) -> Result<Vec<Option<u32>>, Problem> {
    let list = node.list()?;
    if list.len() != blocks as usize {
        let found = list.len();
        return Err(
            node.problem(format!("one SM for each of the kernel's {blocks} blocks is needed; there are {found}"))
        );
    }
    let sm =
        |node: &Node<'_>| if node.is_null() { Ok(None) } else { node.whole_u32(0, sms.saturating_sub(1)).map(Some) };
    let known: Vec<Option<u32>> = list.iter().map(sm).collect::<Result<_, _>>()?;
    if known.iter().all(Option::is_none) {
        return Err(node.problem("no block has an SM here; leave the key out"));
    }
    Ok(known)
}

fn blocks_per_sm(node: Node<'_>, blocks: u32, sms: u32) -> Result<Vec<u32>, Problem> {
    let counts: Vec<u32> = node.list()?.iter().map(|count| count.whole_u32(0, u32::MAX)).collect::<Result<_, _>>()?;
    if counts.len() != sms as usize {
        let (found, of) = (counts.len(), "the scenario's own device");
        return Err(node.problem(format!("one number for each of the {sms} SMs of {of} is needed; there are {found}")));
    }
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if sum > u64::from(blocks) {
        return Err(node.problem(format!("the kernel has {blocks} blocks, and these are {sum}")));
    }
    Ok(counts)
}
