//! Tables and plain text for people.

use std::fmt::Write;

use super::kernels::{CopyRow, KernelRow, copy_columns, kernel_columns};
use super::responses::response_columns;
use crate::formats::{Column, MAX_ROWS, Page, TableStyle, add_rest, columns};
use crate::run::{Firing, Responses, State, Summary, Suspended, SuspendedCopy, TurnState, responses, rule_log};
use crate::workload::stream_in_words;

/// The kernel launches of a run: launched, waited and for which rule longest, started, finished, response; then the
/// copies, and the response times of jobs.
#[must_use]
pub fn kernel_table(summary: &Summary<'_>, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let most = page.most_rows(MAX_ROWS);
    page.trimmed_table(&kernel_columns(summary), KernelRow::of(*summary).take(most));
    add_rest(&mut page, summary.kernels().skip(most).count(), "kernel launches", "--format json or --format csv");
    if summary.copies().next().is_some() {
        page.blank();
        page.trimmed_table(&copy_columns(summary), CopyRow::of(*summary).take(most));
        add_rest(&mut page, summary.copies().skip(most).count(), "copies", "--format json");
    }
    let mut rows = responses(summary.scenario, &summary.jobs());
    if rows.iter().any(Responses::is_worth_showing) {
        let rest = rows.len().saturating_sub(most);
        rows.truncate(most);
        page.blank();
        page.trimmed_table(&response_columns(), rows);
        add_rest(&mut page, rest, "streams and hosts", "--format json");
    }
    page.finish()
}

/// Which rule let which operation go on, and when.
#[must_use]
pub fn rule_table(summary: &Summary<'_>) -> String {
    let firings = rule_log(summary);
    let columns = [
        Column::table("at", |firing: &&Firing<'_>| firing.at_ns.into()),
        Column::table("rule", |firing: &&Firing<'_>| firing.rule.into()).left(),
        Column::table("operation", |firing: &&Firing<'_>| (&*firing.operation).into()).left(),
        Column::table("", |firing: &&Firing<'_>| firing.what.into()).left(),
    ];
    let table = columns::table(&columns, firings.iter().take(MAX_ROWS));
    let mut text = table.trim_fmt() + "\n";
    if let Some(rest) = firings.len().checked_sub(MAX_ROWS).filter(|rest| *rest > 0) {
        // CSV has the kernels alone.
        let _ = writeln!(text, " ... and {rest} more steps; --format json lists all of them");
    }
    text
}

fn turn_in_words(turn: &TurnState) -> String {
    let (Some(process), Some(from), Some(to)) = (&turn.process, turn.from_ns, turn.to_ns) else {
        return "turn: nobody's".to_owned();
    };
    let what = if turn.switching { "switch to" } else { "turn:" };
    format!("{what} {process}, from {from} to {to}")
}

/// The state at one instant as text.
#[must_use]
pub fn state_text(state: &State) -> String {
    let mut text = format!("state at {}\n", state.at_ns);
    if let Some(turn) = &state.turn {
        let _ = writeln!(text, "  {}", turn_in_words(turn));
    }
    let list = |names: &[String]| if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
    for queue in &state.stream_queues {
        let _ = writeln!(text, "  {}: {}", stream_in_words(&queue.name), list(&queue.operations));
    }
    for queue in &state.ee_queues {
        let of = queue.process.as_ref().map_or_else(String::new, |process| format!(" of {process}"));
        let _ = writeln!(text, "  EE queue{of}, priority {}: {}", queue.priority, list(&queue.operations));
    }
    for (engine, (queue, served)) in state.ce_queues.iter().zip(&state.copy_engines).enumerate() {
        let _ = writeln!(text, "  CE queue {engine}: {}", list(queue));
        let served = if served.names().is_empty() { "idle".to_owned() } else { served.names().join(", ") };
        let _ = writeln!(text, "  copy engine {engine}: {served}");
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
    for suspended in state.suspended.iter().flatten() {
        let Suspended { process, blocks } = suspended;
        let _ = writeln!(text, "  suspended, of {process}: {} x {}", blocks.blocks, blocks.kernel);
    }
    for SuspendedCopy { process, copy, .. } in state.suspended_copies.iter().flatten() {
        let _ = writeln!(text, "  suspended, of {process}: {copy}");
    }
    for waiting in &state.waiting {
        let _ = writeln!(text, "  {} waits ({}): {}", waiting.operation, waiting.rule, waiting.why);
    }
    text
}
