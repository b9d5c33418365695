//! Who made whom wait, summed over all launches of a kernel, or over streams.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::formats::{Column, Page};
use crate::run::{Summary, process_name, title_of};
use crate::spelling::formats;
use crate::tables::rule_words::RuleWords;
use crate::time::Duration;
use crate::trace::{Blame, Rule, blame};
use crate::workload::{OperationId, ProcessId};

/// How long something made something else wait under one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameRow {
    /// The kernel, copy or stream that waited, from launches until first blocks were assigned, or paused (T4, T5).
    pub waiting: String,
    /// The kernel, copy or stream that stood in the way, or the turns of the context that did (T1, T4, T5); `None`:
    /// none did.
    pub blocking: Option<String>,
    /// The rule.
    pub rule: Rule,
    /// How long in all.
    pub wait_ns: Duration,
}

/// All of a run, once by kernels and copies and once by streams, the longest first. What kernels and copies waited and
/// paused is all there, so both add up to the same; memsets, records and waits are passed over, and who holds them
/// stands in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameTables {
    /// By kernel and copy.
    pub kernels: Vec<BlameRow>,
    /// By stream.
    pub streams: Vec<BlameRow>,
}

impl BlameTables {
    /// Of a simulated run.
    #[must_use]
    pub fn new(summary: &Summary<'_>) -> Self {
        Self::of(summary, &blame(summary.trace, summary.scenario.device()))
    }

    /// Sums up what is known already of who made what wait.
    #[must_use]
    pub fn of(summary: &Summary<'_>, parts: &[Blame]) -> Self {
        let stream = |id: OperationId| {
            let record = summary.trace.operations().get(id.index());
            let stream = record.and_then(|record| summary.trace.streams().get(record.stream.index()));
            stream.map_or(Cow::Borrowed(""), |stream| Cow::Borrowed(&*stream.name))
        };
        Self { kernels: rows(summary, parts, |id| title_of(summary, id)), streams: rows(summary, parts, stream) }
    }

    /// What waited in all.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.streams.iter().fold(Duration::ZERO, |sum, row| sum.saturating_add(row.wait_ns))
    }
}

/// What stood in the way, before it has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Blocking {
    /// Something with the name of this operation.
    Named(OperationId),
    /// The turns of a context, or switches.
    Turns(Option<ProcessId>),
    Nobody,
}

fn rows<'a>(summary: &Summary<'a>, parts: &[Blame], name: impl Fn(OperationId) -> Cow<'a, str>) -> Vec<BlameRow> {
    let records = summary.trace.operations();
    let waits = |id: OperationId| records.get(id.index()).is_some_and(|record| !record.kind.is_instant());
    // Of each name the first operation: there are many more parts than operations, and to compare names takes long.
    let mut known: FxHashMap<Cow<'a, str>, OperationId> = FxHashMap::default();
    let first: Vec<OperationId> =
        (0..).map(OperationId).zip(records).map(|(id, _)| *known.entry(name(id)).or_insert(id)).collect();
    let first_of = |id: OperationId| first.get(id.index()).copied().unwrap_or(id);
    let mut by_first: FxHashMap<(OperationId, Blocking, Rule), Duration> = FxHashMap::default();
    for part in parts.iter().filter(|part| waits(part.operation)) {
        let blocking = part.blocking.map_or_else(|| turns(part), |id| Blocking::Named(first_of(id)));
        let sum = by_first.entry((first_of(part.operation), blocking, part.rule)).or_default();
        *sum = sum.saturating_add(part.to.since(part.from));
    }
    let mut sums: BTreeMap<(String, Option<String>, Rule), Duration> = BTreeMap::new();
    for ((waiting, blocking, rule), wait) in by_first {
        let blocking = match blocking {
            Blocking::Named(id) => Some(name(id).into_owned()),
            Blocking::Turns(Some(process)) => Some(format!("turns of {}", process_name(summary, process))),
            Blocking::Turns(None) => Some("switches of contexts".to_owned()),
            Blocking::Nobody => None,
        };
        // Names may be the same still: those of contexts.
        let sum = sums.entry((name(waiting).into_owned(), blocking, rule)).or_default();
        *sum = sum.saturating_add(wait);
    }
    let row = |((waiting, blocking, rule), wait_ns)| BlameRow { waiting, blocking, rule, wait_ns };
    let mut rows: Vec<BlameRow> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.wait_ns));
    rows
}

pub(crate) fn blame_columns() -> [Column<BlameRow>; 4] {
    columns_of("waiting", "blocking")
}

fn columns_of(waiting: &'static str, blocking: &'static str) -> [Column<BlameRow>; 4] {
    [
        Column::new("waiting", waiting, |row: &BlameRow| row.waiting.as_str().into()).left(),
        Column::new("blocking", blocking, |row: &BlameRow| row.blocking.as_deref().into()).left(),
        Column::new("rule", "rule", |row: &BlameRow| row.rule.name().into()).left(),
        Column::new("wait_ns", "waited", |row| row.wait_ns.into()),
    ]
}

/// Where it is not the turn of a context: whose turns stood in the way.
fn turns(part: &Blame) -> Blocking {
    match part.rule {
        Rule::T1 | Rule::T4 | Rule::T5 => Blocking::Turns(part.turn_of),
        _ => Blocking::Nobody,
    }
}

/// Rows that a table shows at most.
const MAX_ROWS: usize = 40;

/// Who made whom wait, as tables: by stream, if there is more than one, and by kernel.
pub(super) fn add_blame(page: &mut Page, tables: &BlameTables, words: &mut RuleWords) {
    let shown = page.most_rows(MAX_ROWS);
    for row in tables.streams.iter().take(shown).chain(tables.kernels.iter().take(shown)) {
        words.see(row.rule);
    }
    if tables.streams.iter().any(|row| row.blocking.as_ref().is_some_and(|blocking| *blocking != row.waiting)) {
        let columns = columns_of("waiting stream", "blocking stream");
        page.first_rows(MAX_ROWS, &columns, tables.streams.iter().cloned(), "", &formats(&["json"]));
        page.blank();
    }
    page.first_rows(MAX_ROWS, &blame_columns(), tables.kernels.iter().cloned(), "", &formats(&["json"]));
}
