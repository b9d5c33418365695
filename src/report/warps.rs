//! The makespans of warps as a table, JSON and CSV.

use std::fmt::Write;

use serde_json::{Value, json};

use super::table::plain_table;
use crate::report::warp_schedule::schedule_text;
use crate::warps::{Answer, ExactBy, KernelString, Schedule};

/// Schedules of more cycles or warps than this are not printed as a table.
const MAX_PRINTED: (u64, u32) = (60, 40);

/// One table of makespans, and the schedule where it is small enough to read.
#[must_use]
pub fn warps_table(written: &str, string: &KernelString, answer: &Answer) -> String {
    let mut table = plain_table(&["cycles", "", ""], 0..1);
    let mut row = |cycles: Option<u64>, what: &str, how: String| {
        table.add_row(vec![cycles.map_or_else(|| "-".to_owned(), |cycles| cycles.to_string()), what.to_owned(), how]);
    };
    let pessimistic = if answer.pessimistic_is_bound { "the report's" } else { "the report's; no bound here" };
    row(Some(answer.pessimistic), "pessimistic", pessimistic.to_owned());
    row(Some(answer.bound.cycles), "proven bound", answer.bound.by.formula().to_owned());
    let by = answer.exact_by.map_or_else(|| "not known".to_owned(), |by| format!("by {}", by.name()));
    row(answer.exact, "worst case", by);
    if answer.exact.is_none() && answer.at_least.is_some() {
        row(answer.at_least, "at least", "some schedule takes so long".to_owned());
    }
    let best = if answer.best.is_some() { "exact".to_owned() } else { format!("at least {}", answer.best_at_least) };
    row(answer.best, "best case", best);
    if let Some(estimate) = answer.estimate {
        let how = format!(
            "the report's, no bound: ceil(W / {0}) T({0}), best of x = 1 to {1}",
            estimate.from, estimate.known
        );
        row(Some(estimate.cycles), "estimate", how);
    }
    // Writing to a string cannot fail.
    let transformed = string.to_string();
    let mut text = format!("{} warps of {written}", answer.warps);
    if transformed != written {
        let _ = write!(text, ", one cycle per letter: {transformed}");
    }
    text.push('\n');
    table.lines().for_each(|line| {
        let _ = writeln!(text, "{}", line.trim_end());
    });
    match &answer.schedule {
        None => {}
        Some(schedule) if schedule.cycles.is_empty() => {}
        Some(schedule) if schedule.makespan() <= MAX_PRINTED.0 && schedule.warps <= MAX_PRINTED.1 => {
            let _ = write!(text, "\n{}", schedule_text(string, schedule));
        }
        Some(_) => text.push_str("\nThe schedule is too large to print; --figure draws it, --format json lists it.\n"),
    }
    text
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

/// One line of comma-separated values under a header.
#[must_use]
pub fn warps_csv(written: &str, string: &KernelString, answer: &Answer) -> String {
    let cell = |cycles: Option<u64>| cycles.map_or_else(String::new, |cycles| cycles.to_string());
    format!(
        "string,transformed,warps,pessimistic,bound,exact,at_least,best,best_at_least,estimate,estimate_from\n\
         {written},{string},{},{},{},{},{},{},{},{},{}\n",
        answer.warps,
        answer.pessimistic,
        answer.bound.cycles,
        cell(answer.exact),
        cell(answer.at_least),
        cell(answer.best),
        answer.best_at_least,
        cell(answer.estimate.map(|estimate| estimate.cycles)),
        cell(answer.estimate.map(|estimate| estimate.known.into())),
    )
}
