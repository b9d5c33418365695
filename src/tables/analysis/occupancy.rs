//! Occupancy of kernels, for people and for programs.

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::analysis::{OccupancyEntry, OccupancyReport};
use crate::formats::{CellOf, Column, Objects, Page, Real, RowsPart, TableStyle};

fn columns<'e>() -> [Column<&'e OccupancyEntry>; 14] {
    [
        Column::new("name", "kernel", |entry: &&OccupancyEntry| (&*entry.name).into()).left(),
        Column::new("count", "launches", |entry| entry.count.into()),
        Column::new("blocks", "blocks", |entry| entry.blocks.into()),
        Column::new("threads", "threads", |entry| entry.shape.threads.into()),
        Column::new("registers_per_thread", "registers", |entry| entry.shape.registers_per_thread.into()),
        Column::new("shared_memory_bytes", "shared bytes", |entry| entry.shape.shared_memory_bytes.into()),
        Column::new("resident_blocks_per_sm", "blocks/SM", |entry| entry.occupancy.resident_blocks_per_sm.into()),
        Column::new("limited_by", "limited by", |entry: &&OccupancyEntry| entry.occupancy.limited_by.name().into())
            .left(),
        Column::new("waves", "waves", |entry| entry.occupancy.waves.into()),
        Column::new("last_wave_percent", "last wave %", |entry| rounded(entry.occupancy.last_wave_percent)),
        Column::new("occupancy_percent", "occupancy %", |entry| rounded(entry.occupancy.occupancy_percent)),
        Column::new("recorded_occupancy_percent", "recorded %", |entry| entry.recorded_percent.into()),
        Column::new("agrees", "agrees", |entry| {
            let stated = entry.recorded_percent.filter(|&percent| percent > 0.0);
            stated.map(|percent| entry.occupancy.agrees_with(percent)).into()
        }),
        Column::new("total_ns", "total time", |entry| entry.total.into()),
    ]
}

/// Two digits after the point are plenty.
fn rounded<'r>(percent: f64) -> CellOf<'r, Real> {
    ((percent * 100.0).round() / 100.0).into()
}

/// One line for each kernel and shape.
#[must_use]
pub fn occupancy_table(report: &OccupancyReport, style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.trimmed_table(&columns(), &report.entries);
    if report.compared > 0 {
        page.blank();
        page.line(&format!("{} of {} recorded occupancies above 0 are as computed", report.agreeing, report.compared));
    }
    page.finish()
}

/// The same for programs.
///
/// # Errors
/// Whatever `out` refuses.
pub fn occupancy_rows(report: &OccupancyReport, part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), &report.entries, out)
}

/// The whole as one JSON document.
#[derive(Debug)]
pub struct OccupancyDocument<'r> {
    /// The device's name.
    pub device: &'r str,
    /// What is reported.
    pub report: &'r OccupancyReport,
    /// What its user should know.
    pub notes: &'r [String],
}

impl Serialize for OccupancyDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("device", self.device)?;
        map.serialize_entry("kernels", &Objects::new(&columns(), || self.report.entries.iter()))?;
        map.serialize_entry("compared", &self.report.compared)?;
        map.serialize_entry("agreeing", &self.report.agreeing)?;
        map.serialize_entry("notes", self.notes)?;
        map.end()
    }
}
