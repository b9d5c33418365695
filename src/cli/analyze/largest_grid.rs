//! `gpusched analyze --progress --largest-grid`.

use clap::Args;
use gpusched::device::Device;
use gpusched::scenario::{Scenario, WhatIf};
use gpusched::tables::LargestGridReport;

use crate::cli::output;
use crate::cli::several::Part;
use crate::cli::{Answer, ending, input};

/// Where nobody says on which.
const DEVICES: [&str; 11] =
    ["v100", "a100-80gb", "h100", "h200", "h20", "b200", "l4", "l40s", "rtx4090", "orin", "thor"];

/// How large the grid of a kernel may be.
#[derive(Debug, Args)]
pub(super) struct LargestGridOptions {
    /// With --progress: how many blocks KERNEL may have, on this and on other devices, so that nothing of the scenario
    /// can hang
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["witness", "check"])]
    largest_grid: Option<String>,
    /// Built-in devices, or files of devices, on which --largest-grid looks too [default: eleven known ones]
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',')]
    largest_grid_on: Vec<String>,
}

impl LargestGridOptions {
    pub(super) fn is_given(&self) -> bool {
        self.largest_grid.is_some()
    }

    pub(super) fn run(&self, (scenario, changes): &(Scenario, WhatIf), part: &Part<'_>) -> anyhow::Result<Answer> {
        let names: Vec<&str> = match &*self.largest_grid_on {
            [] => DEVICES.to_vec(),
            stated => stated.iter().map(String::as_str).collect(),
        };
        let devices = names.into_iter().map(input::device).collect::<anyhow::Result<Vec<Device>>>()?;
        let kernel = self.largest_grid.as_deref().unwrap_or_default();
        let report = LargestGridReport::of(scenario, changes, kernel, devices)?;
        ending::stop_working()?;
        let out = part.turn()?;
        output::show_abridged(report.notes(), |text| part.note(text));
        part.print(&report, out)?;
        Ok(Answer::Done)
    }
}
