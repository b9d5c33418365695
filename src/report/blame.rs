//! Who made whom wait, summed over all launches of a kernel.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::columns::{self, Column};
use super::state::title;
use super::summary::Summary;
use crate::time::Duration;
use crate::trace::{Rule, blame};
use crate::workload::OperationId;

/// How long something made something else wait under one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameRow {
    /// The kernel or copy that waited, from its launch until its first block was assigned.
    pub waiting: String,
    /// The kernel or copy that stood in the way; `None`: none did.
    pub blocking: Option<String>,
    /// The rule.
    pub rule: Rule,
    /// How long in all.
    pub wait_ns: Duration,
}

/// All of a run, the longest first. What kernels and copies waited is all there; memsets, records and waits are passed
/// over, and who holds them stands in their place.
#[must_use]
pub fn blame_rows(summary: &Summary<'_>) -> Vec<BlameRow> {
    let records = summary.trace.operations();
    let waits = |id: OperationId| records.get(id.0 as usize).is_some_and(|record| !record.kind.is_instant());
    let mut sums: BTreeMap<(String, Option<String>, Rule), Duration> = BTreeMap::new();
    for part in blame(summary.trace, summary.scenario.device()).into_iter().filter(|part| waits(part.operation)) {
        let key = (title(summary, part.operation), part.blocking.map(|id| title(summary, id)), part.rule);
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(part.to.since(part.from));
    }
    let row = |((waiting, blocking, rule), wait_ns)| BlameRow { waiting, blocking, rule, wait_ns };
    let mut rows: Vec<BlameRow> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.wait_ns));
    rows
}

/// Their columns.
pub(super) fn blame_columns() -> [Column<BlameRow>; 4] {
    [
        Column::new("waiting", "waiting", |row: &BlameRow| row.waiting.as_str().into()).left(),
        Column::new("blocking", "blocking", |row: &BlameRow| row.blocking.as_deref().into()).left(),
        Column::new("rule", "rule", |row: &BlameRow| row.rule.name().into()).left(),
        Column::new("wait_ns", "waited", |row| row.wait_ns.into()),
    ]
}

/// Rows that a table shows at most.
const MAX_ROWS: usize = 40;

/// Who made whom wait, as a table.
#[must_use]
pub fn blame_table(summary: &Summary<'_>) -> String {
    let rows = blame_rows(summary);
    let mut text = columns::table(&blame_columns(), rows.iter().take(MAX_ROWS).cloned()).trim_fmt() + "\n";
    if let Some(rest) = rows.len().checked_sub(MAX_ROWS).filter(|rest| *rest > 0) {
        let _ = writeln!(text, " ... and {rest} more; --format json lists all of them");
    }
    text
}
