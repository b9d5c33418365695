//! Options that change a scenario to see what would happen.

use clap::Args;
use gpusched::device::SmMask;
use gpusched::scenario::WhatIf;

/// Where help lists them; a heading for the whole struct would go on to the options after it.
const HEADING: &str = "What if";

/// What if something were different?
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WhatIfOptions {
    /// Give STREAM the priority P, 0 (lowest) or negative; may be repeated
    #[arg(long, alias = "priority", help_heading = HEADING, value_name = "STREAM=P", value_parser = parse_priority)]
    set_priority: Vec<(String, i32)>,
    /// Launch KERNEL into STREAM, wherever it was launched; may be repeated
    #[arg(long, help_heading = HEADING, value_name = "KERNEL=STREAM", value_parser = parse_stream)]
    set_stream: Vec<(String, String)>,
    /// Keep STREAM off the SMs of these TPCs, as in a scenario's `sm_mask`; may be repeated
    #[arg(long, help_heading = HEADING, value_name = "STREAM=MASK", value_parser = parse_mask)]
    sm_mask: Vec<(String, SmMask)>,
    /// Hardware channels that streams share, as `CUDA_DEVICE_MAX_CONNECTIONS` sets them
    #[arg(long, help_heading = HEADING, value_name = "N")]
    connections: Option<u32>,
}

fn parse_priority(text: &str) -> Result<(String, i32), String> {
    const EXPECTED: &str = "expected STREAM=P with P 0 or negative, for example \"stream 7=-1\"";
    let (stream, priority) = text.rsplit_once('=').ok_or(EXPECTED)?;
    let priority = priority.trim().parse().ok().filter(|&priority| priority <= 0).ok_or(EXPECTED)?;
    Ok((stream.to_owned(), priority))
}

fn parse_stream(text: &str) -> Result<(String, String), String> {
    let (kernel, stream) = text.rsplit_once('=').ok_or("expected KERNEL=STREAM")?;
    Ok((kernel.to_owned(), stream.to_owned()))
}

fn parse_mask(text: &str) -> Result<(String, SmMask), String> {
    let (stream, mask) = text.rsplit_once('=').ok_or("expected STREAM=MASK, for example \"stream 7=0xf0\"")?;
    Ok((stream.to_owned(), SmMask::parse(mask).map_err(|error| error.to_string())?))
}

impl WhatIfOptions {
    /// The options as the library has them; `None` without any.
    pub(crate) fn changes(&self) -> Option<WhatIf> {
        let changes = WhatIf {
            priorities: self.set_priority.clone(),
            streams: self.set_stream.clone(),
            sm_masks: self.sm_mask.clone(),
            connections: self.connections,
        };
        (changes != WhatIf::default()).then_some(changes)
    }

    /// Streams and the priorities that they get.
    pub(crate) fn priorities(&self) -> &[(String, i32)] {
        &self.set_priority
    }

    /// One that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        if !self.set_priority.is_empty() {
            return Some("--set-priority");
        }
        self.given_besides_priorities()
    }

    /// One that was given and says something else than priorities.
    pub(crate) fn given_besides_priorities(&self) -> Option<&'static str> {
        [
            ("--set-stream", !self.set_stream.is_empty()),
            ("--sm-mask", !self.sm_mask.is_empty()),
            ("--connections", self.connections.is_some()),
        ]
        .into_iter()
        .find_map(|(option, given)| given.then_some(option))
    }
}
