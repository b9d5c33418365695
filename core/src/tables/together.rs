//! What programs take that share a GPU, beside what each takes alone.

use crate::formats::{CellOf, Column, DocumentWriter, Page, Report, Rows};
use crate::hosts::{TogetherTime, TogetherTimes};
use crate::scenario::Together;
use crate::time::Duration;

/// Programs on one GPU, in one or several ways.
#[derive(Debug, Default)]
pub struct TogetherReport {
    /// What they take, by the way.
    pub ways: Vec<TogetherTimes>,
    /// Ways in which they cannot share this GPU, and why.
    pub refused: Vec<(Together, String)>,
    /// What its user should know.
    pub notes: Vec<String>,
}

/// A time, and in which way the GPU is shared.
pub(super) struct TogetherRow<'a> {
    how: String,
    time: &'a TogetherTime,
}

pub(super) fn together_columns<'c>() -> [Column<TogetherRow<'c>>; 8] {
    [
        Column::new("as", "as", |row: &TogetherRow<'_>| row.how.as_str().into()).left(),
        Column::data("program", |row: &TogetherRow<'_>| row.time.program.as_deref().into()),
        Column::table("program", |row: &TogetherRow<'_>| row.time.name().into()).left(),
        Column::data("longest_response_of", |row: &TogetherRow<'_>| row.time.job.as_deref().into()),
        Column::table("measured", |row: &TogetherRow<'_>| row.time.measured().into()).left(),
        Column::new("alone_ns", "alone", |row: &TogetherRow<'_>| row.time.alone.into()),
        Column::new("together_ns", "together", |row: &TogetherRow<'_>| row.time.together.into()),
        Column::new("factor", "times as long", |row: &TogetherRow<'_>| {
            row.time.factor().map_or(CellOf::MISSING, CellOf::rounded)
        }),
    ]
}

pub(super) fn together_rows(ways: &[TogetherTimes]) -> impl Iterator<Item = TogetherRow<'_>> {
    ways.iter().flat_map(|way| way.times.iter().map(|time| TogetherRow { how: way.how.to_string(), time }))
}

/// The first line: which way is best, by when all are done, or by who is slowed down most; and the table.
pub(super) fn add_together(page: &mut Page, ways: &[TogetherTimes]) {
    page.line(&answer(ways));
    page.blank();
    page.trimmed_table(&together_columns(), together_rows(ways));
}

fn answer(ways: &[TogetherTimes]) -> String {
    let all_done = |way: &TogetherTimes| way.times.last().filter(|time| time.program.is_none())?.together;
    let done = ways.iter().filter_map(|way| Some((all_done(way)?, way)));
    if let Some((together, best)) = done.min_by_key(|(together, _)| *together) {
        let alone = best.times.last().and_then(|time| time.alone);
        let Some(alone) = alone else { return format!("all are done after {together} as {}", best.how) };
        return format!(
            "{}all are done after {together} as {}, one after the other after {alone} ({}); {}",
            if together < alone { "" } else { "nothing is gained: " },
            best.how,
            change(alone, together),
            slowest(best)
        );
    }
    let worst = |way: &TogetherTimes| way.times.iter().filter_map(TogetherTime::factor).fold(0.0, f64::max);
    let best = ways.iter().min_by(|one, other| worst(one).total_cmp(&worst(other)));
    best.map_or_else(
        || "they cannot share this GPU in any of these ways".to_owned(),
        |best| match worst(best) {
            factor if factor > 0.0 && factor <= 1.0 => format!("{} delays nobody", best.how),
            _ => format!("{} delays least: {}", best.how, slowest(best)),
        },
    )
}

fn change(alone: Duration, together: Duration) -> String {
    format!("{:+.1} %", 100.0 * (together.as_ns() as f64 / alone.as_ns().max(1) as f64 - 1.0))
}

/// Who is slowed down most.
fn slowest(way: &TogetherTimes) -> String {
    let own = way.times.iter().filter(|time| time.program.is_some());
    let factors = own.filter_map(|time| Some((time.factor()?, time)));
    factors.max_by(|one, other| one.0.total_cmp(&other.0)).map_or_else(
        || "what each takes is not known, as none ends in these runs".to_owned(),
        |(factor, time)| format!("{} takes x{factor:.2} of what it takes alone, the others no more", time.name()),
    )
}

impl Report for TogetherReport {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "together";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.rows("together", &together_columns(), together_rows(&self.ways))?;
        let refused: Vec<String> = self.refused.iter().map(|(how, why)| format!("{how}: {why}")).collect();
        to.list("not_possible", &refused)?;
        to.entry("notes", &self.notes)
    }

    fn text(&self, page: &mut Page) {
        add_together(page, &self.ways);
        if !self.refused.is_empty() {
            page.blank();
        }
        for (how, why) in &self.refused {
            page.line(&format!("not possible as {how}: {why}"));
        }
    }
}
