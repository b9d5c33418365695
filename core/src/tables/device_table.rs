//! Devices, and how kernels fill them.

use std::collections::BTreeMap;

use crate::analysis::{OccupancyEntry, OccupancyReport};
use crate::device::{Device, Sided};
use crate::formats::{CellOf, Column, DocumentWriter, Page, Real, Report, Rows, fields};
use crate::words::shortened;

fn device_columns<'a>() -> [Column<&'a Device>; 11] {
    [
        Column::new("device", "device", |device: &&Device| device.name.as_str().into()).left(),
        Column::new("board", "board", |device: &&Device| device.title.as_str().into()).left(),
        Column::new("cc", "cc", |device: &&Device| device.compute_capability.as_str().into()),
        Column::new("SMs", "SMs", |device| device.sms.into()),
        Column::new("threads/SM", "threads/SM", |device| device.per_sm.threads.into()),
        Column::new("blocks/SM", "blocks/SM", |device| device.per_sm.blocks.into()),
        Column::new("registers/SM", "registers/SM", |device| device.per_sm.registers.into()),
        Column::new("shared bytes/SM", "shared bytes/SM", |device| device.per_sm.shared_memory_bytes.into()),
        Column::new("threads/block", "threads/block", |device| device.per_block.threads.into()),
        Column::new("copy engines", "copy engines", |device| device.copy.engines.into()),
        Column::new("priorities", "priorities", |device| device.priority_levels.into()),
    ]
}

/// Several devices, one line each.
#[derive(Debug, Clone, Copy)]
pub struct DevicesReport<'d>(pub &'d [Device]);

impl Report for DevicesReport<'_> {
    const TABLE: &'static str = "devices";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.lines("devices", &device_columns(), self.0)
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&device_columns(), self.0);
    }

    /// All device files in one list.
    fn file(&self) -> Option<String> {
        let files: Vec<String> = self.0.iter().map(Device::to_json).collect();
        Some(format!("[{}]", files.join(",\n")))
    }
}

/// A number of a device: its key, its value, and whether it has a source.
type Limit = (String, String, &'static str);

fn limits(device: &Device) -> impl Iterator<Item = Limit> {
    let own = device.entries().into_iter().map(|(key, value)| {
        let from = provenance(device, &key);
        (key, value, from)
    });
    own.chain(Sided::ALL.map(|of| {
        let [x, y, z] = of.most();
        (sides(of), format!("{x}, {y}, {z}"), "source")
    }))
}

/// What the longest sides are called, which all devices have in common.
fn sides(of: Sided) -> String {
    format!("{} (x, y, z)", of.name())
}

fn limit_columns() -> [Column<Limit>; 3] {
    [
        Column::new("limit", "limit", |limit: &Limit| limit.0.as_str().into()).left(),
        Column::new("value", "value", |limit: &Limit| limit.1.as_str().into()),
        Column::new("from", "from", |limit: &Limit| limit.2.into()).left(),
    ]
}

/// Every number of one device, with its source or the note that it is assumed.
#[derive(Debug, Clone, Copy)]
pub struct DeviceReport<'d>(pub &'d Device);

impl Report for DeviceReport<'_> {
    const TABLE: &'static str = "limits";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.lines("limits", &limit_columns(), limits(self.0))
    }

    fn text(&self, page: &mut Page) {
        let device = self.0;
        page.line(&format!("{}: {}", device.name, device.title));
        page.blank();
        page.trimmed_table(&limit_columns(), limits(device));
        let mut section = |title: &str, notes: &std::collections::BTreeMap<String, String>| {
            if !notes.is_empty() {
                page.blank();
                page.line(title);
            }
            for (key, note) in notes {
                page.item(&format!("{key}: {note}"));
            }
        };
        let mut sources = device.sources.clone();
        sources.insert(Sided::ALL.map(sides).join(" and "), Sided::SOURCE.to_owned());
        section("Sources", &sources);
        section("Assumptions (nobody published these)", &device.assumptions);
    }

    fn file(&self) -> Option<String> {
        Some(self.0.to_json())
    }
}

/// Whether a number has a source; the most specific entry that covers it decides.
fn provenance(device: &Device, key: &str) -> &'static str {
    let covers = |noted: &&String| key == noted.as_str() || key.starts_with(&format!("{noted}."));
    let length =
        |notes: &std::collections::BTreeMap<String, String>| notes.keys().filter(covers).map(String::len).max();
    match (length(&device.sources), length(&device.assumptions)) {
        (source, assumption) if assumption > source => "assumption",
        (Some(_), _) => "source",
        _ => "no source stated",
    }
}

fn occupancy_columns<'e>() -> [Column<&'e OccupancyEntry>; 14] {
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

impl OccupancyReport {
    /// How full the SMs are and what limits that for most of the time in which kernels run; `None`: none of that takes
    /// time.
    fn answer(&self) -> Option<String> {
        let all: u128 = self.entries.iter().map(|entry| u128::from(entry.total.as_ns())).sum();
        let share = |part: u128| 100.0 * part as f64 / all as f64;
        let mut by_limit: BTreeMap<&str, (u128, f64)> = BTreeMap::new();
        for OccupancyEntry { occupancy, total, .. } in &self.entries {
            let (time, filled) = by_limit.entry(occupancy.limited_by.name()).or_default();
            *time += u128::from(total.as_ns());
            *filled += occupancy.occupancy_percent * total.as_ns() as f64;
        }
        let mean = by_limit.values().map(|(_, filled)| filled).sum::<f64>() / all as f64;
        let (most, (time, _)) = by_limit.into_iter().max_by_key(|(_, (time, _))| *time).filter(|_| all > 0)?;
        let first = self.entries.first()?;
        let (longest, of_first) = (shortened(&first.name, |text| text.len() <= 50), share(first.total.as_ns().into()));
        let of_most = share(time);
        Some(format!(
            "occupancy is {mean:.1} % in the mean over the time in which kernels run, {of_most:.1} % of it limited by {most}; \
             {of_first:.1} % are of {longest}"
        ))
    }
}

impl Report for OccupancyDocument<'_> {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", self.device)?;
        to.rows("kernels", &occupancy_columns(), &self.report.entries)?;
        fields!(to, self.report => compared, agreeing);
        to.entry("notes", self.notes)
    }

    fn text(&self, page: &mut Page) {
        let OccupancyReport { entries, compared, agreeing, .. } = self.report;
        if let Some(answer) = self.report.answer() {
            page.line(&answer);
            page.blank();
        }
        page.trimmed_table(&occupancy_columns(), entries);
        if *compared > 0 {
            page.blank();
            page.line(&format!("{agreeing} of {compared} recorded occupancies above 0 are as computed"));
        }
    }
}
