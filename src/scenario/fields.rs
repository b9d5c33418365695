//! Fields that several input formats have in common.

use crate::device::{DemandError, Resource, Sided, SidesError, SmMask};
use crate::json::{Node, Object, Problem};
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
pub(super) fn name(node: Node<'_>) -> Result<String, Problem> {
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
