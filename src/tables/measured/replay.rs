//! A replay as JSON, CSV and for people.

use std::io;

use serde::Serialize;

use crate::experiments::replay::{KernelComparison, Replay};
use crate::formats::{CellOf, Column, Page, RowsPart, TableStyle, Text};
use crate::logs::Dropped;

/// Everything about a replay, as one JSON document.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayReport<'a> {
    /// The device's name.
    pub device: &'a str,
    /// The placement policy.
    pub placement: &'static str,
    /// All kernels.
    pub kernels: &'a [KernelComparison],
    /// Blocks that were compared.
    pub blocks: usize,
    /// See [`Replay::sm_decidable`].
    pub sm_decidable: usize,
    /// See [`Replay::sm_equal`].
    pub sm_equal: usize,
    /// Median difference of block starts.
    pub median_start_error_ns: u64,
    /// Largest difference of block starts.
    pub max_start_error_ns: u64,
    /// What was left out of the logs.
    pub dropped: &'a [Dropped],
    /// What was assumed.
    pub notes: &'a [String],
}

impl<'a> ReplayReport<'a> {
    /// The report of one replay.
    #[must_use]
    pub fn new(replay: &'a Replay, dropped: &'a [Dropped], notes: &'a [String]) -> Self {
        Self {
            device: &replay.scenario.device().name,
            placement: replay.scenario.placement.name(),
            kernels: &replay.kernels,
            blocks: replay.blocks,
            sm_decidable: replay.sm_decidable,
            sm_equal: replay.sm_equal,
            median_start_error_ns: replay.median_start_error_ns,
            max_start_error_ns: replay.max_start_error_ns,
            dropped,
            notes,
        }
    }
}

fn columns<'k>() -> [Column<&'k KernelComparison>; 15] {
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

/// The kernels, one line each; empty where the simulated kernel did not get that far.
///
/// # Errors
/// Whatever `out` refuses.
pub fn replay_rows(replay: &Replay, part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), &replay.kernels, out)
}

/// The kernels for people, and the figures over all blocks.
#[must_use]
pub fn replay_table(replay: &Replay, style: TableStyle) -> String {
    let mut page = Page::new(style);
    page.table(&columns(), &replay.kernels);
    page.blank();
    page.line(&format!(
        "{} blocks: starts differ by {} (median) and {} (at most); {} of {} decidable blocks on the same SM",
        replay.blocks,
        crate::time::Duration::from_ns(replay.median_start_error_ns),
        crate::time::Duration::from_ns(replay.max_start_error_ns),
        replay.sm_equal,
        replay.sm_decidable
    ));
    page.finish()
}
