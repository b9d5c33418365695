//! Devices, for people and for programs.

use std::io;

use serde::{Serialize, Serializer};

use crate::device::{Device, Sided};
use crate::formats::{Column, Objects, Page, RowsPart, TableStyle};

fn columns<'a>() -> [Column<&'a Device>; 11] {
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

/// One line per device.
#[must_use]
pub fn list(devices: &[Device], style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.trimmed_table(&columns(), devices);
    page.finish()
}

/// The same for programs.
///
/// # Errors
/// Whatever `out` refuses.
pub fn device_rows(devices: &[Device], part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), devices, out)
}

/// All devices in one JSON list, each as its device file.
#[must_use]
pub fn json(devices: &[Device]) -> String {
    let files: Vec<String> = devices.iter().map(Device::to_json).collect();
    format!("[{}]", files.join(",\n"))
}

/// All devices with the columns of [`device_rows`], for JSON lines.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DevicesDocument<'d> {
    /// The devices.
    #[serde(serialize_with = "rows")]
    pub devices: &'d [Device],
}

fn rows<S: Serializer>(devices: &[Device], serializer: S) -> Result<S::Ok, S::Error> {
    Objects::as_csv(&columns(), || devices.iter()).serialize(serializer)
}

/// The numbers of one device with the columns of [`number_rows`], for JSON lines.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DeviceDocument<'d> {
    /// The device.
    #[serde(serialize_with = "limit_rows")]
    pub limits: &'d Device,
}

fn limit_rows<S: Serializer>(device: &Device, serializer: S) -> Result<S::Ok, S::Error> {
    Objects::as_csv(&limit_columns(), || limits(device)).serialize(serializer)
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

/// The numbers of one device for programs, without the texts below the table of [`one`].
///
/// # Errors
/// Whatever `out` refuses.
pub fn number_rows(device: &Device, part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&limit_columns(), limits(device), out)
}

/// Every number of one device, with its source or the note that it is assumed.
#[must_use]
pub fn one(device: &Device, style: TableStyle) -> String {
    let mut page = Page::new(style);
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
    page.finish()
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
