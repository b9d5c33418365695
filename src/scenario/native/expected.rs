//! `expected`: the published result of a scenario.

use std::collections::BTreeSet;

use super::reading::NamedKernels;
use crate::device::Device;
use crate::json::{Node, Problem};
use crate::scenario::expected::{Expected, ExpectedKernel};
use crate::scenario::options::ReadOptions;
use crate::time::{Duration, Instant};
use crate::workload::Placement;

/// What the file itself says of the conditions of a run.
pub(super) struct Own<'a> {
    pub(super) device: &'a Device,
    pub(super) placement: Placement,
    pub(super) seed: Option<u64>,
    pub(super) horizon: Option<Duration>,
}

/// Conditions of the published result that the user has replaced by others. The placement is not among them: whether
/// it makes a difference is worth knowing.
pub(super) fn replaced(own: &Own<'_>, options: &ReadOptions, kernels: &NamedKernels) -> Vec<&'static str> {
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
pub(super) fn read(node: Node<'_>, kernels: &NamedKernels, sms: u32) -> Result<Expected, Problem> {
    let mut entry = node.object()?;
    let source = entry.required("source")?.string()?;
    let tolerance = entry.required("tolerance")?.time()?;
    let list = entry.required("kernels")?.filled_list()?;
    entry.finish()?;
    let mut seen = BTreeSet::new();
    let mut expected = Vec::with_capacity(list.len());
    for node in list {
        let kernel = kernel(node, kernels, sms)?;
        if !seen.insert((kernel.name.clone(), kernel.iteration)) {
            let (name, iteration) = (&kernel.name, kernel.iteration);
            return Err(node.problem(format!("launch {iteration} of kernel {name:?} is expected twice")));
        }
        expected.push(kernel);
    }
    Ok(Expected { source, tolerance, placement: Placement::default(), kernels: expected, replaced: Vec::new() })
}

fn kernel(node: Node<'_>, kernels: &NamedKernels, sms: u32) -> Result<ExpectedKernel, Problem> {
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
