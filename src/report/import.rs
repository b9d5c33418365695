//! What became of a profile, for people and for programs.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::columns::{Column, table};
use crate::profile::{Import, ImportedStream};

/// The streams of a profile and what was counted.
#[must_use]
pub fn import_table(import: &Import) -> String {
    let columns = [
        Column::table("stream", |stream: &&ImportedStream| stream.name.as_str().into()).left(),
        Column::table("priority", |stream| i64::from(stream.priority).into()),
        Column::table("operations", |stream| stream.operations.into()),
    ];
    let mut text = String::new();
    let Import { kernels, copies, memsets, block_times, .. } = import;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {kernels} kernels, {copies} copies, {memsets} memsets\nblock times: {} alone, {} same kernel alone, {} \
         upper bound\n",
        import.scenario.device().title,
        block_times.alone,
        block_times.same_kernel_alone,
        block_times.upper_bound
    );
    let _ = writeln!(text, "{}", table(&columns, &import.streams).trim_fmt());
    text
}

/// The same as one JSON document.
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
