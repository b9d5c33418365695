//! What became of a profile, for people and for programs.

use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::profile::{Import, ImportedStream};
use crate::words::counted;

fn columns<'s>() -> [Column<&'s ImportedStream>; 3] {
    [
        Column::new("stream", "stream", |stream: &&ImportedStream| stream.name.as_str().into()).left(),
        Column::new("priority", "priority", |stream| i64::from(stream.priority).into()),
        Column::new("operations", "operations", |stream| stream.operations.into()),
    ]
}

/// The streams of a profile and what was counted.
impl Report for Import {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "streams";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", &self.scenario.device().name)?;
        fields!(to, self => gpu, kernels, copies, memsets);
        to.elements("streams", &self.streams, &columns(), &self.streams)?;
        fields!(to, self => block_times);
        to.entry("launch_latency_ns", &self.launch_latency.map(|latency| latency.latency_ns))?;
        to.entry("kernel_gap_ns", &self.kernel_gap.map(|gap| gap.gap_ns))?;
        to.entry("notes", &self.scenario.notes)
    }

    /// How many block times are from where is among the notes.
    fn text(&self, page: &mut Page) {
        let Self { kernels, copies, memsets, .. } = self;
        let numbers =
            [(kernels, "kernel"), (copies, "copy"), (memsets, "memset")].map(|(count, of)| counted(*count, of));
        page.line(&format!("{}: {}", self.scenario.device().title, numbers.join(", ")));
        page.blank();
        page.trimmed_table(&columns(), &self.streams);
    }
}
