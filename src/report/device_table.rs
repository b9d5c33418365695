//! Devices, for people and for programs.

use std::fmt::Write;

use super::columns::plain_table;
use super::csv::field;
use crate::device::Device;

const COLUMNS: [&str; 11] = [
    "device",
    "board",
    "cc",
    "SMs",
    "threads/SM",
    "blocks/SM",
    "registers/SM",
    "shared bytes/SM",
    "threads/block",
    "copy engines",
    "priorities",
];

fn cells(device: &Device) -> Vec<String> {
    vec![
        device.name.clone(),
        device.title.clone(),
        device.compute_capability.clone(),
        device.sms.to_string(),
        device.per_sm.threads.to_string(),
        device.per_sm.blocks.to_string(),
        device.per_sm.registers.to_string(),
        device.per_sm.shared_memory_bytes.to_string(),
        device.per_block.threads.to_string(),
        device.copy.engines.to_string(),
        device.priority_levels.to_string(),
    ]
}

/// One line per device.
#[must_use]
pub fn list(devices: &[Device]) -> String {
    let mut table = plain_table(&COLUMNS, 2..COLUMNS.len());
    for device in devices {
        table.add_row(cells(device));
    }
    table.trim_fmt() + "\n"
}

/// The same as comma-separated values.
#[must_use]
pub fn csv(devices: &[Device]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for device in devices {
        let fields: Vec<String> = cells(device).iter().map(|cell| field(cell).into_owned()).collect();
        text += &(fields.join(",") + "\n");
    }
    text
}

/// All devices in one JSON list, each as its device file.
#[must_use]
pub fn json(devices: &[Device]) -> String {
    let files: Vec<String> = devices.iter().map(Device::to_json).collect();
    format!("[{}]", files.join(",\n"))
}

/// Every number of one device, with its source or the note that it is assumed.
#[must_use]
pub fn one(device: &Device) -> String {
    let mut text = format!("{}: {}\n\n", device.name, device.title);
    let mut table = plain_table(&["limit", "value", "from"], 1..2);
    for (key, value) in device.entries() {
        table.add_row(vec![key.clone(), value, provenance(device, &key)]);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", table.trim_fmt());
    let mut section = |title: &str, notes: &std::collections::BTreeMap<String, String>| {
        if !notes.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for (key, note) in notes {
            let _ = writeln!(text, "  {key}: {note}");
        }
    };
    section("Sources", &device.sources);
    section("Assumptions (nobody published these)", &device.assumptions);
    text
}

/// Whether a number has a source; the most specific entry that covers it decides.
fn provenance(device: &Device, key: &str) -> String {
    let covers = |noted: &&String| key == noted.as_str() || key.starts_with(&format!("{noted}."));
    let length =
        |notes: &std::collections::BTreeMap<String, String>| notes.keys().filter(covers).map(String::len).max();
    match (length(&device.sources), length(&device.assumptions)) {
        (source, assumption) if assumption > source => "assumption".to_owned(),
        (Some(_), _) => "source".to_owned(),
        _ => "no source stated".to_owned(),
    }
}
