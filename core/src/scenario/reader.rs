//! What readers of several formats have in common: fields, and how they begin and end.

use super::build::ScenarioBuilder;
use super::endless::Endless;
use super::model::Scenario;
use crate::device::{BUILTIN_NAMES, DemandError, Device, Resource, Sided, SidesError, SmMask};
use crate::json::{Node, Object, Problem};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::WorkloadError;

/// Blocks of a grid or threads of a block: their number, or a list of one to three sides whose product counts.
pub(super) fn dimensions(node: Node<'_>, of: Sided) -> Result<u32, Problem> {
    const MOST: u32 = i32::MAX as u32;
    if !node.is_list() {
        return node.whole_u32(1, MOST);
    }
    let nodes = node.filled_list()?;
    if nodes.len() > 3 {
        return Err(node.expected("a number or a list of at most three numbers"));
    }
    let sides = nodes.iter().map(|side| side.whole_u32(1, MOST)).collect::<Result<Vec<u32>, _>>()?;
    of.count(&sides).map_err(|error| {
        let at = match error {
            SidesError::Side { axis, .. } => nodes.get(axis).copied(),
            _ => None,
        };
        at.unwrap_or(node).problem(error.to_string())
    })
}

pub(super) fn sm_mask(node: Node<'_>) -> Result<SmMask, Problem> {
    SmMask::parse(&node.string()?).map_err(|error| node.problem(error.to_string()))
}

/// Takes an optional time with a unit that must not be zero.
pub(super) fn positive_time(entry: &mut Object<'_>, key: &'static str) -> Result<Option<Duration>, Problem> {
    let Some(node) = entry.optional(key)? else { return Ok(None) };
    let time = node.time()?;
    if time == Duration::ZERO { Err(node.expected("a time of at least 1 ns")) } else { Ok(Some(time)) }
}

/// By how much a release may be late, of what has a period.
pub(super) fn jitter(entry: &mut Object<'_>, period: Option<Duration>) -> Result<Duration, Problem> {
    let jitter = entry.optional("jitter")?.map(|node| node.time()).transpose()?;
    if jitter.is_some() && period.is_none() {
        return Err(entry.node().problem("\"jitter\" needs a \"period\", and that key is missing"));
    }
    Ok(jitter.unwrap_or_default())
}

/// A string that must not be empty.
pub(super) fn filled_name(node: Node<'_>) -> Result<String, Problem> {
    let name = node.string()?;
    if name.is_empty() { Err(node.expected("a name that is not empty")) } else { Ok(name) }
}

/// Where a stream or kernel stands, and those of its fields for which the GPU may refuse it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) whole: Node<'a>,
    pub(super) threads: Option<Node<'a>>,
    pub(super) priority: Option<Node<'a>>,
    pub(super) sm_mask: Option<Node<'a>>,
}

impl<'a> Place<'a> {
    /// The field that is to blame for an error, or else the whole.
    pub(super) fn of(&self, error: &WorkloadError) -> Node<'a> {
        let field = match error {
            WorkloadError::Demand(
                DemandError::OverBlockLimit { resource: Resource::Threads, .. }
                | DemandError::OverEmptySm { resource: Resource::Threads, .. },
            ) => self.threads,
            WorkloadError::MaskLeavesNoSm { .. } => self.sm_mask,
            WorkloadError::Priority { .. } => self.priority,
            _ => None,
        };
        field.unwrap_or(self.whole)
    }
}

/// The device on which files run that name none.
pub(super) fn default_device(node: Node<'_>) -> Result<Device, Problem> {
    match Device::builtin("tx2") {
        Ok(Some(device)) => Ok(device),
        _ => Err(node.problem("the built-in device tx2 cannot be read")),
    }
}

/// Finishes a scenario, refusing block times that nobody needed and threads that could never end; `node_of` tells
/// where a thread stands.
pub(super) fn finish<'a>(
    builder: ScenarioBuilder<'_>,
    root: Node<'a>,
    node_of: impl Fn(usize) -> Node<'a>,
) -> Result<Scenario, Problem> {
    if let Some(name) = builder.unused_block_duration() {
        return Err(root
            .problem(format!("{name:?} was given a block duration, and no kernel of that name lacks one"))
            .with_help(format!(
                "{} takes a benchmark's label, its file name without .so, or a kernel's name",
                option("block_duration")
            )));
    }
    if let Some(unused) = builder.unused_timing() {
        return Err(root.problem(unused));
    }
    if let Err(error) = builder.device().check_placement(builder.placement()) {
        let with_gpcs = BUILTIN_NAMES.iter().filter_map(|name| Device::builtin(name).ok().flatten());
        let with_gpcs = with_gpcs.filter(|device| device.gpcs.is_some()).map(|device| device.name.clone());
        let help = format!("devices that state their GPCs: {}", with_gpcs.collect::<Vec<_>>().join(", "));
        return Err(root.problem(error.to_string()).with_help(help));
    }
    builder.build_ending().map_err(|endless| endless_at(endless, node_of))
}

/// What never ends, at the place of its thread.
pub(super) fn endless_at<'a>((thread, why): (usize, Endless), node_of: impl Fn(usize) -> Node<'a>) -> Problem {
    node_of(thread).problem(why.to_string()).with_help(why.help())
}
