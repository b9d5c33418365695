//! Tables and plain text for people.

use std::fmt::Write;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::responses::{Responses, responses};
use super::rule_log::rule_log;
use super::state::State;
use super::summary::{KernelSummary, Summary};
use crate::time::Duration;
use crate::workload::OperationId;

/// A table without frames whose numbers stand to the right.
pub(crate) fn plain_table(header: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(header.to_vec());
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The kernel launches of a run: launched, waited and for which rule longest, started, finished, response; then the
/// copies.
#[must_use]
pub fn kernel_table(summary: &Summary<'_>) -> String {
    let header = [
        "kernel",
        "stream",
        "iteration",
        "blocks",
        "threads",
        "launched",
        "waited",
        "longest for",
        "started",
        "finished",
        "response",
    ];
    let mut table = plain_table(&header, 2..11);
    for kernel in summary.kernels().take(MAX_ROWS) {
        table.add_row(kernel_row(summary, &kernel));
    }
    let mut text = table.trim_fmt() + "\n";
    add_rest(&mut text, summary.kernels().skip(MAX_ROWS).count(), "kernel launches");
    if summary.copies().next().is_some() {
        let header = ["copy", "stream", "bytes", "launched", "waited", "started", "finished"];
        let mut table = plain_table(&header, 2..7);
        for (id, record, copy) in summary.copies().take(MAX_ROWS) {
            let start = record.first_start();
            table.add_row(vec![
                super::state::title(summary, id),
                stream_name(summary, record.stream),
                copy.bytes.to_string(),
                record.launched().to_string(),
                start.map_or_else(dash, |start| start.since(record.launched()).to_string()),
                start.map_or_else(dash, |start| start.to_string()),
                record.finish().map_or_else(dash, |end| end.to_string()),
            ]);
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", table.trim_fmt());
        add_rest(&mut text, summary.copies().skip(MAX_ROWS).count(), "copies");
    }
    let jobs = summary.jobs();
    let rows = responses(summary.scenario, &jobs);
    if rows.iter().any(Responses::is_worth_showing) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", responses_table(&rows));
    }
    text
}

/// Response times of jobs by stream or host.
fn responses_table(rows: &[Responses<'_>]) -> String {
    let header = ["jobs of", "jobs", "unfinished", "min", "mean", "95 %", "99 %", "max response", "deadline", "misses"];
    let mut table = plain_table(&header, 1..10);
    let time = |time: Option<Duration>| time.map_or_else(dash, |time| time.to_string());
    for row in rows.iter().take(MAX_ROWS) {
        table.add_row(vec![
            row.stream.to_owned(),
            row.jobs.to_string(),
            row.unfinished.to_string(),
            time(row.min_ns),
            time(row.mean_ns),
            time(row.p95_ns),
            time(row.p99_ns),
            time(row.max_ns),
            time(row.deadline_ns),
            row.misses.map_or_else(dash, |misses| misses.to_string()),
        ]);
    }
    let mut text = table.trim_fmt() + "\n";
    add_rest(&mut text, rows.len().saturating_sub(MAX_ROWS), "streams and hosts");
    text
}

/// Rows beyond which a table is no longer something to read.
const MAX_ROWS: usize = 1_000;

fn add_rest(text: &mut String, rest: usize, what: &str) {
    if rest > 0 {
        let _ = writeln!(text, " ... and {rest} more {what}; --format json or --format csv lists all of them");
    }
}

fn dash() -> String {
    "-".to_owned()
}

fn stream_name(summary: &Summary<'_>, stream: crate::workload::StreamId) -> String {
    summary.trace.streams().get(stream.0 as usize).map_or_else(dash, |stream| stream.name.to_string())
}

fn kernel_row(summary: &Summary<'_>, kernel: &KernelSummary<'_>) -> Vec<String> {
    let id = OperationId(kernel.launch.id);
    let stream = summary.trace.operations().get(id.0 as usize).map(|record| record.stream);
    let waited = kernel.first_start_ns.map(|start| start.since(kernel.launched_ns));
    let longest = summary.longest_wait(id).filter(|(_, time)| *time > Duration::ZERO);
    vec![
        kernel.launch.title.to_owned(),
        stream.map_or_else(dash, |stream| stream_name(summary, stream)),
        kernel.launch.iteration.to_string(),
        kernel.blocks.to_string(),
        kernel.threads.to_string(),
        kernel.launched_ns.to_string(),
        waited.map_or_else(dash, |waited| waited.to_string()),
        longest.map_or_else(dash, |(rule, time)| format!("{rule} ({time})")),
        kernel.first_start_ns.map_or_else(dash, |start| start.to_string()),
        kernel.finish_ns.map_or_else(dash, |finish| finish.to_string()),
        kernel.response_ns.map_or_else(dash, |response| response.to_string()),
    ]
}

/// Which rule let which operation go on, and when.
#[must_use]
pub fn rule_table(summary: &Summary<'_>) -> String {
    let firings = rule_log(summary);
    let mut table = plain_table(&["at", "rule", "operation", ""], 0..1);
    for firing in firings.iter().take(MAX_ROWS) {
        let (rule, what) = (firing.rule.to_owned(), firing.what.to_owned());
        table.add_row(vec![firing.at_ns.to_string(), rule, firing.operation.clone(), what]);
    }
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
