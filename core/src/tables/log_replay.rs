//! Logs of measurements, simulated again.

use std::io::{self, Write};

use crate::formats::{CellOf, Column, DocumentWriter, Page, Report, RowsPart, Text, fields};
use crate::logs::Dropped;
use crate::replay::{KernelComparison, Replay};
use crate::time::Duration;

/// Everything about a replay.
#[derive(Debug, Clone, Copy)]
pub struct ReplayReport<'a> {
    /// The replay.
    pub replay: &'a Replay,
    /// What was left out of the logs.
    pub dropped: &'a [Dropped],
    /// What was assumed.
    pub notes: &'a [String],
}

/// The kernels, and the figures over all blocks; empty where the simulated kernel did not get that far.
impl Report for ReplayReport<'_> {
    const IS_INDENTED: bool = true;

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let replay = self.replay;
        to.entry("device", &replay.scenario.device().name)?;
        to.entry("placement", replay.scenario.placement.name())?;
        to.list("kernels", &replay.kernels)?;
        fields!(to, replay => blocks, sm_decidable, sm_equal, median_start_error_ns, max_start_error_ns);
        to.list("dropped", self.dropped)?;
        to.entry("notes", self.notes)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&replay_columns(), &self.replay.kernels, out)
    }

    fn text(&self, page: &mut Page) {
        let replay = self.replay;
        page.table(&replay_columns(), &replay.kernels);
        page.blank();
        page.line(&format!(
            "{} blocks: starts differ by {} (median) and {} (at most); {} of {} decidable blocks on the same SM",
            replay.blocks,
            Duration::from_ns(replay.median_start_error_ns),
            Duration::from_ns(replay.max_start_error_ns),
            replay.sm_equal,
            replay.sm_decidable
        ));
    }
}

fn replay_columns<'k>() -> [Column<&'k KernelComparison>; 15] {
    [
        Column::new("kernel", "kernel", |kernel: &&KernelComparison| (&*kernel.name).into()).left(),
        Column::data("benchmark", |kernel| kernel.benchmark.into()),
        Column::new("iteration", "iteration", |kernel| kernel.iteration.into()),
        Column::new("blocks", "blocks", |kernel| kernel.blocks.into()),
        Column::data("measured_start_ns", |kernel| kernel.measured_start_ns.into()),
        Column::table("start measured", |kernel| milliseconds(Some(kernel.measured_start_ns))),
        Column::data("simulated_start_ns", |kernel| kernel.simulated_start_ns.into()),
        Column::table("simulated", |kernel| milliseconds(kernel.simulated_start_ns)),
        Column::data("measured_finish_ns", |kernel| kernel.measured_finish_ns.into()),
        Column::table("finish measured", |kernel| milliseconds(Some(kernel.measured_finish_ns))),
        Column::data("simulated_finish_ns", |kernel| kernel.simulated_finish_ns.into()),
        Column::table("simulated", |kernel| milliseconds(kernel.simulated_finish_ns)),
        Column::data("difference_ns", |kernel| kernel.difference_ns.into()),
        Column::table("apart", |kernel| milliseconds(kernel.difference_ns)),
        Column::data("max_start_error_ns", |kernel| kernel.max_start_error_ns.into()),
    ]
}

fn milliseconds<'r>(ns: Option<i64>) -> CellOf<'r, Text> {
    ns.map(|ns| format!("{:.3} ms", ns as f64 / 1e6)).into()
}
