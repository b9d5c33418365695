//! `gpusched analyze --progress --largest-grid`.

use clap::Args;
use gpusched::device::Device;
use gpusched::scenario::{Scenario, WhatIf};
use gpusched::tables::LargestGridReport;

use crate::cli::output;
use crate::cli::several::Part;
use crate::cli::{Answer, ending, input};

/// How large the grid of a kernel may be.
#[derive(Debug, Args)]
pub(super) struct LargestGridOptions {
    /// With --progress: how many blocks KERNEL may have, on this and on other devices, so that nothing of the scenario
    /// can hang
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["witness", "check"])]
    largest_grid: Option<String>,
    /// Built-in devices, or files of devices, on which --largest-grid looks too
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',', default_values = LargestGridReport::USUAL_DEVICES)]
    largest_grid_on: Vec<String>,
}

impl LargestGridOptions {
    pub(super) fn is_given(&self) -> bool {
        self.largest_grid.is_some()
    }

    pub(super) fn run(&self, (scenario, changes): &(Scenario, WhatIf), part: &Part<'_>) -> anyhow::Result<Answer> {
        let names = self.largest_grid_on.iter().map(String::as_str);
        let devices = names.map(input::device).collect::<anyhow::Result<Vec<Device>>>()?;
        let kernel = self.largest_grid.as_deref().unwrap_or_default();
        let report = LargestGridReport::of(scenario, changes, kernel, devices)?;
        ending::stop_working()?;
        let out = part.turn()?;
        output::show_abridged(report.notes(), |text| part.note(text));
        part.print(&report, out)?;
        Ok(Answer::Done)
    }
}
