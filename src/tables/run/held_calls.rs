//! Calls that did not return at once because of one that frees memory.

use crate::formats::{Column, MAX_ROWS, Page};
use crate::run::{HeldCall, Summary};
use crate::spelling::formats;

pub(super) struct HeldCallRow<'a> {
    host: &'a str,
    by: &'a str,
    name: &'static str,
    call: HeldCall,
}

impl<'a> HeldCallRow<'a> {
    /// Those of a run, in the order in which they began.
    pub(super) fn all(summary: &Summary<'a>) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let scenario = summary.scenario;
        let label = move |number: u32| scenario.threads.get(number as usize).map_or("", |thread| &*thread.label);
        summary.held_calls.iter().map(move |&call| Self {
            host: label(call.thread),
            by: label(call.by),
            name: call.name(scenario),
            call,
        })
    }
}

pub(super) fn held_call_columns<'a>() -> [Column<HeldCallRow<'a>>; 9] {
    [
        Column::new("host", "host", |row: &HeldCallRow<'_>| row.host.into()).names(),
        Column::new("iteration", "iteration", |row| row.call.iteration.into()),
        Column::data("step", |row| row.call.step.into()),
        Column::new("call", "call", |row: &HeldCallRow<'_>| row.name.into()).left(),
        Column::new("rule", "rule", |row: &HeldCallRow<'_>| row.call.rule.name().into()).left(),
        Column::new("by", "held by", |row: &HeldCallRow<'_>| row.by.into()).names(),
        Column::new("from_ns", "called", |row| row.call.from.into()),
        Column::new("to_ns", "went on", |row| row.call.to().into()),
        Column::table("lasted", |row| row.call.to().map(|to| to.since(row.call.from)).into()),
    ]
}

/// The calls of a run that were held, if any were.
pub(super) fn add_held_calls(page: &mut Page, summary: &Summary<'_>) {
    let rows = HeldCallRow::all(summary);
    if rows.len() > 0 {
        page.blank();
        page.first_rows(MAX_ROWS, &held_call_columns(), rows, " calls that were held", &formats(&["json"]));
    }
}
