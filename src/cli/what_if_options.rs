//! Options that change a scenario to see what would happen.

use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::device::{ChannelOrder, SmMask};
use gpusched::scenario::WhatIf;
use gpusched::time::Duration;

/// Where help lists them; a heading for the whole struct would go on to the options after it.
const HEADING: &str = "What if";

/// Other priorities, which are also of use where nothing is simulated.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PriorityOptions {
    /// Give STREAM the priority P, 0 (lowest) or negative; may be repeated
    #[arg(long, alias = "priority", help_heading = HEADING, value_name = "STREAM=P", value_parser = parse_priority)]
    pub(crate) set_priority: Vec<(String, i32)>,
}

/// What if something were different?
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WhatIfOptions {
    #[command(flatten)]
    priorities: PriorityOptions,
    /// Launch KERNEL into STREAM, wherever it was launched; may be repeated
    #[arg(long, help_heading = HEADING, value_name = "KERNEL=STREAM", value_parser = parse_stream)]
    set_stream: Vec<(String, String)>,
    /// Let each block of KERNEL run for TIME, whatever its file says; may be repeated
    #[arg(long, help_heading = HEADING, value_name = "KERNEL=TIME", value_parser = parse_block_time)]
    set_block_time: Vec<(String, Duration)>,
    /// Keep STREAM off the SMs of these TPCs, as in a scenario's `sm_mask`; may be repeated
    #[arg(long, help_heading = HEADING, value_name = "STREAM=MASK", value_parser = parse_mask)]
    sm_mask: Vec<(String, SmMask)>,
    /// Hardware channels that streams share, as `CUDA_DEVICE_MAX_CONNECTIONS` sets them
    #[arg(long, help_heading = HEADING, value_name = "N")]
    connections: Option<u32>,
    /// Which of the streams that wait for a hardware channel gets the next one [default: the device's, or fifo]
    #[arg(long, help_heading = HEADING, value_name = "ORDER",
        value_parser = PossibleValuesParser::new(ChannelOrder::ALL.map(ChannelOrder::name)))]
    channel_order: Option<String>,
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

fn parse_block_time(text: &str) -> Result<(String, Duration), String> {
    let (kernel, time) = text.rsplit_once('=').ok_or("expected KERNEL=TIME, for example K1=250ms")?;
    Ok((kernel.to_owned(), Duration::parse(time).map_err(|error| error.to_string())?))
}

fn parse_mask(text: &str) -> Result<(String, SmMask), String> {
    let (stream, mask) = text.rsplit_once('=').ok_or("expected STREAM=MASK, for example \"stream 7=0xf0\"")?;
    Ok((stream.to_owned(), SmMask::parse(mask).map_err(|error| error.to_string())?))
}

impl WhatIfOptions {
    /// The options as the library has them.
    pub(crate) fn changes(&self) -> WhatIf {
        WhatIf {
            priorities: self.priorities.set_priority.clone(),
            streams: self.set_stream.clone(),
            block_times: self.set_block_time.clone(),
            sm_masks: self.sm_mask.clone(),
            connections: self.connections,
            channel_order: self.channel_order.as_deref().and_then(ChannelOrder::from_name),
        }
    }
}
