//! `gpusched devices`

use clap::Args;
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::tables::{DeviceReport, DevicesReport};

use super::output::{Format, print_report};
use super::{Answer, input};

/// List the built-in devices, or show one with the source of every number and what is an assumption.
#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// A built-in name or a device file
    name: Option<String>,
    /// What to print; JSON of one device is a device file, a model for your own
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Devices {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(name) = &self.name {
            print_report(&DeviceReport(&input::device(name)?), self.format)?;
            return Ok(Answer::Done);
        }
        let mut devices = Vec::new();
        for name in BUILTIN_NAMES {
            devices.extend(Device::builtin(name)?);
        }
        print_report(&DevicesReport(&devices), self.format)?;
        Ok(Answer::Done)
    }
}
