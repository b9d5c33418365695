//! Telling formats apart, and what all readers check in the end.

use super::build::ScenarioBuilder;
use super::model::Scenario;
use super::options::ReadOptions;
use super::{endless, examiner, native};
use crate::device::Device;
use crate::json::{Document, JsonError, Node, Problem};

impl Scenario {
    /// Reads a scenario file in the native format (it has the key `format`) or the examiner's; `file` is its name in
    /// errors.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str, options: &ReadOptions) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        read(document.root(), options).map_err(|problem| document.locate(problem))
    }
}

fn read(root: Node<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let object = root.object()?;
    if object.has("format") {
        native::read(object, options)
    } else if examiner::KEYS.iter().any(|key| object.has(key)) {
        examiner::read(object, options)
    } else {
        Err(root.problem("this is in neither of the two formats of scenarios").with_help(format!(
            "gpusched's own has \"format\": {:?}; cuda_scheduling_examiner's has \"benchmarks\", \"max_iterations\", \
             \"max_time\" and \"cuda_device\"",
            native::FORMAT
        )))
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
            .with_help("--block-duration takes a benchmark's label, its file name without .so, or a kernel's name"));
    }
    if let Some(unused) = builder.unused_timing() {
        return Err(root.problem(unused));
    }
    let scenario = builder.build();
    for (index, thread) in scenario.threads.iter().enumerate() {
        endless::check(&scenario, thread)
            .map_err(|why| node_of(index).problem(why.to_string()).with_help(why.help()))?;
    }
    Ok(scenario)
}
