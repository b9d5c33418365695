//! `gpusched devices`

use std::io::Write;

use clap::Args;
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::formats::write_json_lines;
use gpusched::tables::device_table;

use super::output::Format;
use super::{Answer, input, output};

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
        let mut out = output::stdout();
        match (&self.name, self.format) {
            (Some(name), Format::Json) => {
                let device = input::device(name)?;
                writeln!(out, "{}", device.to_json())?;
            }
            (Some(name), Format::Jsonl) => {
                let device = input::device(name)?;
                write_json_lines(&device_table::DeviceDocument { limits: &device }, None, &mut out)?;
            }
            (Some(name), Format::Csv | Format::Arrow) => {
                device_table::number_rows(&input::device(name)?, self.format.rows(), &mut out)?;
            }
            (Some(name), Format::Table | Format::Markdown) => {
                write!(out, "{}", device_table::one(&input::device(name)?, self.format.style()))?;
            }
            (None, format) => {
                let mut devices = Vec::new();
                for name in BUILTIN_NAMES {
                    devices.extend(Device::builtin(name)?);
                }
                match format {
                    Format::Table | Format::Markdown => {
                        write!(out, "{}", device_table::list(&devices, format.style()))?;
                    }
                    Format::Csv | Format::Arrow => device_table::device_rows(&devices, self.format.rows(), &mut out)?,
                    Format::Json => writeln!(out, "{}", device_table::json(&devices))?,
                    Format::Jsonl => {
                        let document = device_table::DevicesDocument { devices: &devices };
                        write_json_lines(&document, None, &mut out)?;
                    }
                }
            }
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}
