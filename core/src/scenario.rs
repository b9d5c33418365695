//! Scenarios: what runs on the GPU and who submits it, as data that never changes while a simulation runs.
//!
//! Every input format is a reader that makes a [`Scenario`]; nothing behind the readers knows formats.

pub(crate) mod ahead;
mod build;
mod chain_links;
mod demands;
mod endless;
pub mod examiner;
mod examiner_logs;
mod host_calls;
mod host_thread;
mod known_kernels;
mod model;
mod names;
mod native;
mod options;
mod reader;
mod what_if;

use crate::device::Device;
use crate::json::{Document, JsonError, Node, Problem};

pub use build::ScenarioBuilder;
pub use demands::{ModelDemands, RequirementOf};
#[doc(hidden)]
pub use demands::{ReleaseDoubt, Requirement, ResponseLimit};
#[doc(hidden)]
pub use endless::Endless;
pub use host_calls::HostCalls;
pub(crate) use host_thread::followed;
pub use host_thread::{BarrierId, CoreShare, Deadline, HostThread, Step};
#[doc(hidden)]
pub use model::who_delays;
pub use model::{Chain, ChainLink, ChainMeasure, Expected, ExpectedKernel, LinkOperation, ReleaseOrder, Scenario};
pub use names::{KernelLaunch, UnknownStream};
pub use native::{JoinError, JoinedScenario, NotNative, Program, Together};
pub use options::{LogUse, ReadOptions, ReadProgress};
pub use what_if::{NewTime, WhatIf, WhatIfError};

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

/// The device that the text of a scenario states; `None`: it states none, as the examiner's never do, or none that is
/// known.
pub(crate) fn stated_device(text: &str) -> Option<Device> {
    let document = Document::parse("", text).ok()?;
    let mut object = document.root().object().ok()?;
    let is_stated = object.has(native::FORMAT_KEY) && object.has("device");
    native::device(&mut object).ok().filter(|_| is_stated)
}

/// Whether a key at the top of an object is one by which a scenario file is known.
#[doc(hidden)]
pub fn is_key_of_scenarios(key: &str) -> bool {
    key == native::FORMAT_KEY || examiner::KEYS.contains(&key)
}

fn read(root: Node<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let object = root.object()?;
    if object.has(native::FORMAT_KEY) {
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
