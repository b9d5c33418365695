//! What all readers begin and end with.

use super::build::ScenarioBuilder;
use super::endless::Endless;
use super::model::Scenario;
use crate::device::{BUILTIN_NAMES, Device};
use crate::json::{Node, Problem};
use crate::spelling::option;

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
