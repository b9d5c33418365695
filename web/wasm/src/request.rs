//! What the page asks.

use std::collections::BTreeMap;

use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::scenario::{ReadOptions, WhatIf};
use gpusched::time::Duration;
use gpusched::workload::Placement;
use serde::Deserialize;

use super::answer::Refusal;

/// One question about a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) want: Want,
    #[serde(flatten)]
    pub(crate) settings: Settings,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Want {
    /// What there is to choose from: devices, placements, the schema of scenarios. Not about a file.
    Choices,
    /// What there is to change in the scenario.
    Outline,
    /// The data of the timeline.
    Data,
    /// The tables of `gpusched simulate`, in parts.
    Tables,
    /// The timeline as a file of its own.
    Html,
    /// The timeline as a picture.
    Svg,
    /// What `gpusched simulate --format json` prints.
    Simulate,
    /// What `gpusched analyze --format json` prints, and the tables of `gpusched analyze`.
    Analyze,
    /// The scenario in gpusched's own format, changes included.
    Scenario,
    /// A panic, with which a test sees what the page makes of one.
    Panic,
}

/// What the user has set beside the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// The name by which messages mention the file.
    pub(crate) file: String,
    /// A built-in device; none: the file's.
    device: Option<String>,
    /// The content of a device file, in place of a built-in one.
    device_text: Option<String>,
    placement: Option<String>,
    /// By stream.
    priorities: BTreeMap<String, i32>,
    /// By kernel, with units.
    block_times: BTreeMap<String, String>,
}

impl Settings {
    pub(crate) fn read_options(&self) -> Result<ReadOptions, Refusal> {
        let device = match (&self.device, &self.device_text) {
            (name, Some(text)) => Some(Device::from_json(name.as_deref().unwrap_or("device"), text)?),
            (Some(name), None) => {
                let known = || format!("no built-in device is called {name:?}; there are {}", BUILTIN_NAMES.join(", "));
                Some(Device::builtin(name)?.ok_or_else(|| Refusal::saying(known()))?)
            }
            (None, None) => None,
        };
        let placement = |name: &String| {
            let known = Placement::ALL.map(Placement::name).join(", ");
            Placement::from_name(name)
                .ok_or_else(|| Refusal::saying(format!("no placement is called {name:?}; there are {known}")))
        };
        let placement = self.placement.as_ref().map(placement).transpose()?;
        Ok(ReadOptions { device, placement, ..ReadOptions::default() })
    }

    pub(crate) fn changes(&self) -> Result<WhatIf, Refusal> {
        let time = |(kernel, text): (&String, &String)| match Duration::parse(text) {
            Ok(time) => Ok((kernel.clone(), time)),
            Err(error) => Err(Refusal::of(&error)),
        };
        Ok(WhatIf {
            priorities: self.priorities.iter().map(|(stream, priority)| (stream.clone(), *priority)).collect(),
            block_times: self.block_times.iter().map(time).collect::<Result<_, _>>()?,
            ..WhatIf::default()
        })
    }
}
