//! Tables and plain text for people.

use std::fmt::Write;

use crate::formats::{Column, MAX_ROWS, Page};
use crate::run::{Firing, State, Summary, Suspended, SuspendedCopy, TurnState, Waiting, rule_log};
use crate::spelling::formats;
use crate::tables::rule_words::HINT;
use crate::workload::stream_in_words;

/// Which rule let which operation go on, and when.
pub(super) fn add_rules(page: &mut Page, summary: &Summary<'_>) {
    let firings = rule_log(summary);
    let columns = [
        Column::table("at", |firing: &&Firing<'_>| firing.at_ns.into()),
        Column::table("rule", |firing: &&Firing<'_>| firing.rule.into()).left(),
        Column::table("operation", |firing: &&Firing<'_>| (&*firing.operation).into()).left(),
        Column::table("", |firing: &&Firing<'_>| firing.what.into()).left(),
    ];
    // CSV has the kernels alone.
    page.first_rows(MAX_ROWS, &columns, &firings, " steps", &formats(&["json"]));
    page.line(HINT);
}

fn turn_in_words(turn: &TurnState) -> String {
    let (Some(process), Some(from), Some(to)) = (&turn.process, turn.from_ns, turn.to_ns) else {
        return "turn: nobody's".to_owned();
    };
    let what = if turn.switching { "switch to" } else { "turn:" };
    format!("{what} {process}, from {from} to {to}")
}

/// The state at one instant as text.
pub fn state_text(state: &State) -> String {
    let mut text = format!("state at {}\n", state.at_ns);
    if let Some(turn) = &state.turn {
        let _ = writeln!(text, "  {}", turn_in_words(turn));
    }
    // Why the heads of queues wait is asked for most; what stands behind them in its stream is told after that.
    let (behind, heads): (Vec<&Waiting>, Vec<&Waiting>) =
        state.waiting.iter().partition(|waiting| waiting.rule.is_behind_in_stream());
    for waiting in heads.into_iter().chain(behind) {
        let _ = writeln!(text, "  {} waits ({}): {}", waiting.operation, waiting.rule, waiting.why);
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
    text
}
