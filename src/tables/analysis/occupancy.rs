//! Occupancy of kernels, for people and for programs.

use crate::analysis::{OccupancyEntry, OccupancyReport};
use crate::formats::{CellOf, Column, DocumentWriter, Page, Real, Report, Rows, fields};

fn columns<'e>() -> [Column<&'e OccupancyEntry>; 14] {
    [
        Column::new("name", "kernel", |entry: &&OccupancyEntry| (&*entry.name).into()).names(),
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

/// How kernels fill a device, one line for each kernel and shape.
#[derive(Debug)]
pub struct OccupancyDocument<'r> {
    /// The device's name.
    pub device: &'r str,
    /// What is reported.
    pub report: &'r OccupancyReport,
    /// What its user should know.
    pub notes: &'r [String],
}

impl Report for OccupancyDocument<'_> {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", self.device)?;
        to.rows("kernels", &columns(), &self.report.entries)?;
        fields!(to, self.report => compared, agreeing);
        to.entry("notes", self.notes)
    }

    fn text(&self, page: &mut Page) {
        let OccupancyReport { entries, compared, agreeing, .. } = self.report;
        page.trimmed_table(&columns(), entries);
        if *compared > 0 {
            page.blank();
            page.line(&format!("{agreeing} of {compared} recorded occupancies above 0 are as computed"));
        }
    }
}
