//! `expected`: the published result of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use super::reading::{NamedKernel, unknown};
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
pub(super) fn replaced(
    own: &Own<'_>,
    options: &ReadOptions,
    kernels: &BTreeMap<String, NamedKernel>,
) -> Vec<&'static str> {
    let drawn = own.placement == Placement::Random || kernels.values().any(|kernel| kernel.varies);
    let given = kernels.values().any(|kernel| kernel.given);
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
pub(super) fn read(node: Node<'_>, kernels: &BTreeMap<String, NamedKernel>, sms: u32) -> Result<Expected, Problem> {
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

fn kernel(node: Node<'_>, kernels: &BTreeMap<String, NamedKernel>, sms: u32) -> Result<ExpectedKernel, Problem> {
    let mut entry = node.object()?;
    let name_node = entry.required("name")?;
    let name = name_node.string()?;
    let launched = kernels.get(&name).ok_or_else(|| unknown(name_node, "kernel", &name, kernels.keys()))?;
    let iteration = entry.optional("iteration")?.map_or(Ok(0), |node| node.whole_u32(0, u32::MAX))?;
    let mut instant = |key| entry.optional(key)?.map(|node| Ok(Instant::ZERO + node.time()?)).transpose();
    let (first_start, finish) = (instant("first_start")?, instant("finish")?);
    let counts = entry.optional("blocks_per_sm")?;
    entry.finish()?;
    if first_start.is_none() && finish.is_none() && counts.is_none() {
        return Err(node.problem("one of the keys \"first_start\", \"finish\" or \"blocks_per_sm\" is missing"));
    }
    let blocks_per_sm = counts.map(|node| blocks_per_sm(node, launched.blocks, sms)).transpose()?;
    Ok(ExpectedKernel { name, iteration, first_start, finish, blocks_per_sm })
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
