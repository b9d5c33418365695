//! What became of a profile, for people and for programs.

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::formats::{Column, Page, RowsPart, TableStyle};
use crate::profile::{Import, ImportedStream};

fn columns<'s>() -> [Column<&'s ImportedStream>; 3] {
    [
        Column::new("stream", "stream", |stream: &&ImportedStream| stream.name.as_str().into()).left(),
        Column::new("priority", "priority", |stream| i64::from(stream.priority).into()),
        Column::new("operations", "operations", |stream| stream.operations.into()),
    ]
}

/// The streams of a profile and what was counted.
#[must_use]
pub fn import_table(import: &Import, style: TableStyle) -> String {
    let Import { kernels, copies, memsets, block_times, .. } = import;
    let mut page = Page::new(style);
    page.line(&format!("{}: {kernels} kernels, {copies} copies, {memsets} memsets", import.scenario.device().title));
    let other = match block_times.other_profile {
        0 => String::new(),
        kernels => format!(", {kernels} of another profile"),
    };
    page.line(&format!(
        "block times: {} alone, {} same kernel alone, {} upper bound{other}",
        block_times.alone, block_times.same_kernel_alone, block_times.upper_bound
    ));
    page.blank();
    page.trimmed_table(&columns(), &import.streams);
    page.finish()
}

/// The streams for programs.
///
/// # Errors
/// Whatever `out` refuses.
pub fn import_rows(import: &Import, part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), &import.streams, out)
}

/// The whole as one JSON document.
#[derive(Debug)]
pub struct ImportDocument<'i>(pub &'i Import);

impl Serialize for ImportDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let import = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("device", &import.scenario.device().name)?;
        map.serialize_entry("gpu", &import.gpu)?;
        map.serialize_entry("kernels", &import.kernels)?;
        map.serialize_entry("copies", &import.copies)?;
        map.serialize_entry("memsets", &import.memsets)?;
        map.serialize_entry("streams", &import.streams)?;
        map.serialize_entry("block_times", &import.block_times)?;
        map.serialize_entry("launch_latency_ns", &import.launch_latency.map(|latency| latency.latency_ns))?;
        map.serialize_entry("kernel_gap_ns", &import.kernel_gap.map(|gap| gap.gap_ns))?;
        map.serialize_entry("notes", &import.scenario.notes)?;
        map.end()
    }
}
