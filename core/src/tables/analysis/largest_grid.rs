//! How large a grid may be on which devices so that nothing can stand still, as a report.

use crate::analysis::{LargestGrid, ProgressCondition, ProgressVerdict, largest_grid};
use crate::device::Device;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::scenario::{Scenario, WhatIf, WhatIfError};
use crate::spelling::option;

/// The largest grid of a kernel on several devices.
#[derive(Debug)]
pub struct LargestGridReport {
    kernel: String,
    rows: Vec<LargestGridRow>,
    notes: Vec<String>,
}

/// One device.
#[derive(Debug)]
struct LargestGridRow {
    device: String,
    sms: u32,
    /// Or why there is none.
    found: Result<LargestGrid, String>,
}

impl LargestGridRow {
    fn found(&self) -> Option<&LargestGrid> {
        self.found.as_ref().ok()
    }

    /// The grid with which it may hang, and whether it does.
    fn beyond(&self) -> Option<(u32, ProgressVerdict)> {
        self.found()?.beyond
    }

    fn holds(&self) -> Option<&str> {
        match &self.found {
            Ok(found) if !found.waits => Some("nothing waits"),
            Ok(found) => found.condition.map(ProgressCondition::name),
            Err(why) => Some(why),
        }
    }
}

fn columns<'a>() -> [Column<&'a LargestGridRow>; 7] {
    [
        Column::new("device", "device", |row: &&LargestGridRow| row.device.as_str().into()).left(),
        Column::new("sms", "SMs", |row: &&LargestGridRow| row.sms.into()),
        Column::new("blocks", "cannot hang with", |row: &&LargestGridRow| {
            row.found().and_then(|found| found.blocks).into()
        }),
        Column::new("alone", "fit alone", |row: &&LargestGridRow| row.found().map(|found| found.alone).into()),
        Column::new("beyond_blocks", "beyond", |row: &&LargestGridRow| row.beyond().map(|beyond| beyond.0).into()),
        Column::new("beyond", "verdict", |row: &&LargestGridRow| row.beyond().map(|beyond| beyond.1.name()).into())
            .left(),
        Column::new("condition", "what holds", |row: &&LargestGridRow| row.holds().into()).left(),
    ]
}

impl LargestGridReport {
    /// Devices that are looked at where nobody says on which.
    pub const USUAL_DEVICES: [&str; 11] =
        ["v100", "a100-80gb", "h100", "h200", "h20", "b200", "l4", "l40s", "rtx4090", "orin", "thor"];

    /// Of a scenario with changes, on its own device and on others.
    ///
    /// # Errors
    /// As [`largest_grid`], on its own device.
    pub fn of(
        scenario: &Scenario,
        changes: &WhatIf,
        kernel: &str,
        others: impl IntoIterator<Item = Device>,
    ) -> Result<Self, WhatIfError> {
        let row = |device: &Device, found| LargestGridRow { device: device.name.clone(), sms: device.sms, found };
        let own = largest_grid(scenario, changes, kernel)?;
        let mut notes = scenario.clone().what_if(changes)?.notes;
        if !own.waits {
            let asked = option("grid_barrier").with("KERNEL");
            notes.push(format!(
                "nothing waits on the GPU for what may come later; {asked} asks what if blocks of a kernel wait for all of it"
            ));
        } else if !scenario.catalogue.counters().is_empty() {
            notes.push("counter values that the scenario states stay as they are, whatever the grid".to_owned());
        }
        let mut rows = vec![row(scenario.device(), Ok(own))];
        for device in others.into_iter().filter(|device| device.name != scenario.device().name) {
            rows.push(match scenario.on_device(device.clone()) {
                // Of several GPUs all are of the other kind.
                Ok(on) => row(on.device(), largest_grid(&on, changes, kernel).map_err(|error| error.to_string())),
                Err(error) => row(&device, Err(error.to_string())),
            });
        }
        Ok(Self { kernel: kernel.to_owned(), rows, notes })
    }

    /// What is to be known of it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Report for LargestGridReport {
    const TABLE: &'static str = "devices";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("kernel", &self.kernel)?;
        to.rows("devices", &columns(), &self.rows)?;
        to.entry("notes", &self.notes)
    }

    fn text(&self, page: &mut Page) {
        page.line(&format!("grids of {} with which nothing can hang:", self.kernel));
        page.trimmed_table(&columns(), &self.rows);
        page.line(
            "cannot hang with: the largest that was found; fit alone: blocks that fit on an empty GPU; beyond: a larger \
                   grid that was asked about, or where none was found the stated one, and its verdict; not all grids were \
                   asked about",
        );
    }
}
