//! The makespans of warps as a table, JSON and CSV.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::formats::{Column, DocumentWriter, Page, Report, RowsPart, Streamed, fields};
use crate::spelling::{formats, option};
use crate::warps::{Answer, ExactBy, Issue, KernelString, Schedule};

/// Schedules of more cycles or warps than this are not printed as a table.
const MAX_PRINTED: (u64, u32) = (60, 40);

/// How long warps can take; makespans in cycles.
#[derive(Debug, Clone, Copy)]
pub struct WarpsDocument<'a> {
    /// The kernel string as it was written.
    pub written: &'a str,
    /// The kernel string with one cycle per letter.
    pub string: &'a KernelString,
    /// What was found.
    pub answer: &'a Answer,
}

/// The makespans, and the schedule: for people where it is small enough to read.
impl Report for WarpsDocument<'_> {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let Self { written, string, answer } = *self;
        to.entry("string", written)?;
        to.entry("transformed", &string.to_string())?;
        to.entry("uninterrupted", &string.steps().iter().any(|step| step.held))?;
        to.list("units", string.units().iter().map(|unit| json!({"letter": unit.letter, "capacity": unit.capacity})))?;
        fields!(to, answer => warps, pessimistic, pessimistic_is_bound);
        to.entry("bound", &answer.bound.cycles)?;
        to.entry("bound_formula", answer.bound.by.name())?;
        fields!(to, answer => exact);
        to.entry("exact_by", &answer.exact_by.map(ExactBy::name))?;
        fields!(to, answer => at_least, best, best_at_least);
        to.entry("estimate", &answer.estimate.map(|estimate| estimate.cycles))?;
        to.entry("estimate_from", &answer.estimate.map(|estimate| estimate.known))?;
        to.entry("estimate_is_bound", &false)?;
        to.entry("states", &answer.size.states)?;
        to.entry("schedule", &answer.schedule.as_ref().map(|schedule| ServedByUnit { string, schedule }))?;
        to.entry("notes", &answer.notes)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Self { written, string, answer } = *self;
        let transformed = string.to_string();
        part.write(&answer_columns(), [AnswerRow { written, transformed: &transformed, answer }], out)
    }

    fn text(&self, page: &mut Page) {
        let Self { written, string, answer } = *self;
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
                let (figure, json) = (option("figure"), formats(&["json"]));
                page.line(&format!("The schedule is too large to print; {figure} draws it, {json} lists it."));
            }
        }
    }
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
        (Some(answer.bound.cycles), "proven bound", answer.bound.by.name().to_owned()),
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

/// Per unit and cycle, the warps that it serves, from 0.
struct ServedByUnit<'a> {
    string: &'a KernelString,
    schedule: &'a Schedule,
}

impl Serialize for ServedByUnit<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { string, schedule } = *self;
        let units = string.units().iter().enumerate().map(|(unit, kind)| {
            let is_here = move |issue: &&Issue| string.steps().get(issue.step).is_some_and(|step| step.unit == unit);
            let cycles = move || {
                schedule
                    .cycles
                    .iter()
                    .map(move |issues| Streamed(move || issues.iter().filter(is_here).map(|issue| issue.warp)))
            };
            (kind.letter, Streamed(cycles))
        });
        serializer.collect_map(units)
    }
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

/// The schedule as a table of letters, warps and cycles counted from 1.
fn schedule_text(string: &KernelString, schedule: &Schedule) -> String {
    let cell = schedule.cycles.len().to_string().len() + 1;
    let name = "Clock cycle".len().max("Warp ".len() + schedule.warps.to_string().len());
    let mut text = format!("{:<name$}", "Clock cycle");
    // Writing to a string cannot fail.
    for cycle in 1..=schedule.cycles.len() {
        let _ = write!(text, "{cycle:>cell$}");
    }
    for (warp, row) in (1..).zip(schedule.by_warp(string)) {
        let mut line = format!("{:<name$}", format!("Warp {warp}"));
        let mut row = row.into_iter().peekable();
        for cycle in 0..schedule.cycles.len() {
            let letter = row.next_if(|(at, _)| *at == cycle).map_or(' ', |(_, unit)| string.units()[unit].letter);
            let _ = write!(line, "{letter:>cell$}");
        }
        let _ = write!(text, "\n{}", line.trim_end());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warps::report_figure_2;

    #[test]
    fn report_figure_2_as_a_table() {
        let (string, schedule) = report_figure_2();
        assert_eq!(crate::warps::verify(&string, &schedule), Ok(9));
        let expected = "\
Clock cycle 1 2 3 4 5 6 7 8 9
Warp 1      L       L C
Warp 2        L       L C
Warp 3          L       L C
Warp 4            L       L C
";
        assert_eq!(schedule_text(&string, &schedule), expected);
    }
}
