//! A replay as JSON, CSV and for people.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::csv::field as csv_field;
use super::table::plain_table;
use crate::experiments::replay::{KernelComparison, Replay};
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

/// The kernels, one line each; empty where the simulated kernel did not get that far.
///
/// # Errors
/// Whatever `out` refuses.
pub fn replay_csv(replay: &Replay, mut out: impl io::Write) -> io::Result<()> {
    writeln!(
        out,
        "kernel,benchmark,iteration,blocks,measured_start_ns,simulated_start_ns,measured_finish_ns,\
         simulated_finish_ns,difference_ns,max_start_error_ns"
    )?;
    let optional = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
    for kernel in &replay.kernels {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{}",
            csv_field(&kernel.name),
            kernel.benchmark,
            kernel.iteration,
            kernel.blocks,
            kernel.measured_start_ns,
            optional(kernel.simulated_start_ns),
            kernel.measured_finish_ns,
            optional(kernel.simulated_finish_ns),
            optional(kernel.difference_ns),
            kernel.max_start_error_ns
        )?;
    }
    Ok(())
}

/// The kernels for people, and the figures over all blocks.
#[must_use]
pub fn replay_table(replay: &Replay) -> String {
    let header =
        ["kernel", "iteration", "blocks", "start measured", "simulated", "finish measured", "simulated", "apart"];
    let mut table = plain_table(&header, 1..8);
    for kernel in &replay.kernels {
        table.add_row(vec![
            kernel.name.to_string(),
            kernel.iteration.to_string(),
            kernel.blocks.to_string(),
            milliseconds(Some(kernel.measured_start_ns)),
            milliseconds(kernel.simulated_start_ns),
            milliseconds(Some(kernel.measured_finish_ns)),
            milliseconds(kernel.simulated_finish_ns),
            milliseconds(kernel.difference_ns),
        ]);
    }
    let mut text = format!("{table}\n\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} blocks: starts differ by {} (median) and {} (at most); {} of {} decidable blocks on the same SM",
        replay.blocks,
        crate::time::Duration::from_ns(replay.median_start_error_ns),
        crate::time::Duration::from_ns(replay.max_start_error_ns),
        replay.sm_equal,
        replay.sm_decidable
    );
    text
}

fn milliseconds(ns: Option<i64>) -> String {
    ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.3} ms", ns as f64 / 1e6))
}
