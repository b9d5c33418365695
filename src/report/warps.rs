//! The makespans of warps as a table, JSON and CSV.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::columns::Column;
use super::page::{Page, TableStyle};
use super::rows::RowsPart;
use crate::report::warp_schedule::schedule_text;
use crate::warps::{Answer, ExactBy, KernelString, Schedule};

/// Schedules of more cycles or warps than this are not printed as a table.
const MAX_PRINTED: (u64, u32) = (60, 40);

/// One table of makespans, and the schedule where it is small enough to read.
#[must_use]
pub fn warps_table(written: &str, string: &KernelString, answer: &Answer, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let transformed = string.to_string();
    let heading = format!("{} warps of {written}", answer.warps);
    page.line(&if transformed == written {
        heading
    } else {
        format!("{heading}, one cycle per letter: {transformed}")
    });
    page.trimmed_table(&makespan_columns(), makespans(answer));
    match &answer.schedule {
        None => {}
        Some(schedule) if schedule.cycles.is_empty() => {}
        Some(schedule) if schedule.makespan() <= MAX_PRINTED.0 && schedule.warps <= MAX_PRINTED.1 => {
            page.blank();
            page.code(&schedule_text(string, schedule));
        }
        Some(_) => {
            page.blank();
            page.line("The schedule is too large to print; --figure draws it, --format json lists it.");
        }
    }
    page.finish()
}

/// A makespan: cycles, of what, and how it is known.
type Makespan = (Option<u64>, &'static str, String);

fn makespan_columns() -> [Column<Makespan>; 3] {
    [
        Column::table("cycles", |row: &Makespan| row.0.into()),
        Column::table("", |row: &Makespan| row.1.into()).left(),
        Column::table("", |row: &Makespan| row.2.as_str().into()).left(),
    ]
}

fn makespans(answer: &Answer) -> Vec<Makespan> {
    let pessimistic = if answer.pessimistic_is_bound { "the report's" } else { "the report's; no bound here" };
    let by = answer.exact_by.map_or_else(|| "not known".to_owned(), |by| format!("by {}", by.name()));
    let mut rows = vec![
        (Some(answer.pessimistic), "pessimistic", pessimistic.to_owned()),
        (Some(answer.bound.cycles), "proven bound", answer.bound.by.formula().to_owned()),
        (answer.exact, "worst case", by),
    ];
    if answer.exact.is_none() && answer.at_least.is_some() {
        rows.push((answer.at_least, "at least", "some schedule takes so long".to_owned()));
    }
    let best = if answer.best.is_some() { "exact".to_owned() } else { format!("at least {}", answer.best_at_least) };
    rows.push((answer.best, "best case", best));
    if let Some(estimate) = answer.estimate {
        let how = format!(
            "the report's, no bound: ceil(W / {0}) T({0}), best of x = 1 to {1}",
            estimate.from, estimate.known
        );
        rows.push((Some(estimate.cycles), "estimate", how));
    }
    rows
}

/// One JSON document; makespans in cycles.
#[must_use]
pub fn warps_json(written: &str, string: &KernelString, answer: &Answer) -> Value {
    let units: Vec<Value> =
        string.units().iter().map(|unit| json!({"letter": unit.letter, "capacity": unit.capacity})).collect();
    let uninterrupted = string.steps().iter().any(|step| step.held);
    json!({
        "string": written,
        "transformed": string.to_string(),
        "uninterrupted": uninterrupted,
        "units": units,
        "warps": answer.warps,
        "pessimistic": answer.pessimistic,
        "pessimistic_is_bound": answer.pessimistic_is_bound,
        "bound": answer.bound.cycles,
        "bound_formula": answer.bound.by.formula(),
        "exact": answer.exact,
        "exact_by": answer.exact_by.map(ExactBy::name),
        "at_least": answer.at_least,
        "best": answer.best,
        "best_at_least": answer.best_at_least,
        "estimate": answer.estimate.map(|estimate| estimate.cycles),
        "estimate_from": answer.estimate.map(|estimate| estimate.known),
        "estimate_is_bound": false,
        "states": answer.size.states,
        "schedule": answer.schedule.as_ref().map(|schedule| schedule_json(string, schedule)),
        "notes": answer.notes,
    })
}

/// Per unit and cycle, the warps that it serves, from 0.
fn schedule_json(string: &KernelString, schedule: &Schedule) -> Value {
    let on = |unit: usize| {
        let cycles = schedule.cycles.iter().map(|issues| {
            let here =
                issues.iter().filter(|issue| string.steps().get(issue.step).is_some_and(|step| step.unit == unit));
            here.map(|issue| issue.warp).collect::<Vec<_>>()
        });
        cycles.collect::<Vec<_>>()
    };
    let units = (0..).zip(string.units()).map(|(unit, kind)| (kind.letter.to_string(), json!(on(unit))));
    Value::Object(units.collect())
}

/// The makespans as one row.
///
/// # Errors
/// Whatever `out` refuses.
pub fn warps_rows(
    written: &str,
    string: &KernelString,
    answer: &Answer,
    part: RowsPart<'_>,
    out: impl Write,
) -> io::Result<()> {
    let transformed = string.to_string();
    part.write(&answer_columns(), [AnswerRow { written, transformed: &transformed, answer }], out)
}

/// An answer with its kernel string, as written and with one cycle per letter.
struct AnswerRow<'a> {
    written: &'a str,
    transformed: &'a str,
    answer: &'a Answer,
}

fn answer_columns<'a>() -> [Column<AnswerRow<'a>>; 11] {
    [
        Column::csv("string", |row| row.written.into()),
        Column::csv("transformed", |row| row.transformed.into()),
        Column::csv("warps", |row| row.answer.warps.into()),
        Column::csv("pessimistic", |row| row.answer.pessimistic.into()),
        Column::csv("bound", |row| row.answer.bound.cycles.into()),
        Column::csv("exact", |row| row.answer.exact.into()),
        Column::csv("at_least", |row| row.answer.at_least.into()),
        Column::csv("best", |row| row.answer.best.into()),
        Column::csv("best_at_least", |row| row.answer.best_at_least.into()),
        Column::csv("estimate", |row| row.answer.estimate.map(|estimate| estimate.cycles).into()),
        Column::csv("estimate_from", |row| row.answer.estimate.map(|estimate| estimate.known).into()),
    ]
}
