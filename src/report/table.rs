//! Tables and plain text for people.

use std::fmt::Write;
use std::io;

use super::columns::{self, Column};
use super::kernels::{CopyRow, KernelRow, copy_columns, kernel_columns};
use super::markdown::write_markdown;
use super::responses::{Responses, response_columns, responses};
use super::rule_log::{Firing, rule_log};
use super::state::State;
use super::summary::Summary;

/// The kernel launches of a run: launched, waited and for which rule longest, started, finished, response; then the
/// copies.
#[must_use]
pub fn kernel_table(summary: &Summary<'_>) -> String {
    let table = columns::table(&kernel_columns(), KernelRow::of(*summary).take(MAX_ROWS));
    let mut text = table.trim_fmt() + "\n";
    add_rest(&mut text, summary.kernels().skip(MAX_ROWS).count(), "kernel launches");
    if summary.copies().next().is_some() {
        let table = columns::table(&copy_columns(), CopyRow::of(*summary).take(MAX_ROWS));
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", table.trim_fmt());
        add_rest(&mut text, summary.copies().skip(MAX_ROWS).count(), "copies");
    }
    let mut rows = responses(summary.scenario, &summary.jobs());
    if rows.iter().any(Responses::is_worth_showing) {
        let rest = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", columns::table(&response_columns(), rows).trim_fmt());
        add_rest(&mut text, rest, "streams and hosts");
    }
    text
}

/// The tables of [`kernel_table`] in Markdown, with all rows.
///
/// # Errors
/// Whatever `out` refuses.
pub fn kernel_markdown(summary: &Summary<'_>, mut out: impl io::Write) -> io::Result<()> {
    write_markdown(&kernel_columns(), KernelRow::of(*summary), &mut out)?;
    if summary.copies().next().is_some() {
        writeln!(out)?;
        write_markdown(&copy_columns(), CopyRow::of(*summary), &mut out)?;
    }
    let rows = responses(summary.scenario, &summary.jobs());
    if rows.iter().any(Responses::is_worth_showing) {
        writeln!(out)?;
        write_markdown(&response_columns(), rows, &mut out)?;
    }
    Ok(())
}

/// Rows beyond which a table is no longer something to read.
const MAX_ROWS: usize = 1_000;

fn add_rest(text: &mut String, rest: usize, what: &str) {
    if rest > 0 {
        let _ = writeln!(text, " ... and {rest} more {what}; --format json or --format csv lists all of them");
    }
}

/// Which rule let which operation go on, and when.
#[must_use]
pub fn rule_table(summary: &Summary<'_>) -> String {
    let firings = rule_log(summary);
    let columns = [
        Column::table("at", |firing: &&Firing| firing.at_ns.into()),
        Column::table("rule", |firing: &&Firing| firing.rule.into()).left(),
        Column::table("operation", |firing: &&Firing| firing.operation.as_str().into()).left(),
        Column::table("", |firing: &&Firing| firing.what.into()).left(),
    ];
    let table = columns::table(&columns, firings.iter().take(MAX_ROWS));
    let mut text = table.trim_fmt() + "\n";
    if let Some(rest) = firings.len().checked_sub(MAX_ROWS).filter(|rest| *rest > 0) {
        add_rest(&mut text, rest, "steps");
    }
    text
}

/// The state at one instant as text.
#[must_use]
pub fn state_text(state: &State) -> String {
    let mut text = format!("state at {}\n", state.at_ns);
    let list = |names: &[String]| if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
    for queue in &state.stream_queues {
        let _ = writeln!(text, "  stream {}: {}", queue.name, list(&queue.operations));
    }
    for (priority, queue) in &state.ee_queues {
        let _ = writeln!(text, "  EE queue, priority {priority}: {}", list(queue));
    }
    for (engine, (queue, served)) in state.ce_queues.iter().zip(&state.copy_engines).enumerate() {
        let _ = writeln!(text, "  CE queue {engine}: {}", list(queue));
        let _ = writeln!(text, "  copy engine {engine}: {}", served.as_deref().unwrap_or("idle"));
    }
    for sm in &state.sms {
        let residents: Vec<String> =
            sm.resident.iter().map(|resident| format!("{} x {}", resident.blocks, resident.kernel)).collect();
        let _ = writeln!(
            text,
            "  SM {}: {}; free: {} threads, {} block slots, {} bytes of shared memory, {} registers",
            sm.sm,
            list(&residents),
            sm.free_threads,
            sm.free_blocks,
            sm.free_shared_memory,
            sm.free_registers
        );
    }
    for waiting in &state.waiting {
        let _ = writeln!(text, "  {} waits ({}): {}", waiting.operation, waiting.rule, waiting.why);
    }
    text
}
