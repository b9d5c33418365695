//! The deadlines of a scenario under weaker and stronger assumptions.

use std::io::{self, Write};

use super::verdicts::assumptions_document;
use crate::analysis::{AnalysisError, Ladder, LadderRow, Rung, RungVerdict, ladder, proven_under};
use crate::effort::Progress;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, RowsPart, fields};
use crate::scenario::Scenario;
use crate::scenario::amalthea::ModelDemands;
use crate::spelling::option;
use crate::time::Duration;

/// The deadlines of a scenario under weaker and stronger assumptions, and what is to be known of them.
#[derive(Debug)]
pub struct LadderReport {
    /// The deadlines, with all notes.
    pub ladder: Ladder,
    /// What the scenario is taken for that nobody guarantees.
    pub assumptions: Vec<String>,
}

impl LadderReport {
    /// Judges the deadlines of a scenario, searched for `search` in all or as long as does not hold its user up;
    /// `demands` are those of an AMALTHEA model.
    ///
    /// # Errors
    /// [`AnalysisError`], for a scenario that did not come through a reader, and where a run exceeds a bound.
    pub fn of(
        scenario: &Scenario,
        demands: Option<&ModelDemands>,
        search: Option<Duration>,
        watch: Progress<'_>,
    ) -> Result<Self, AnalysisError> {
        let mut ladder = ladder(scenario, search, watch)?;
        if demands.is_some_and(|demands| !demands.limits.is_empty()) {
            let note = format!("requirements of the model are not judged: {} is about deadlines", option("ladder"));
            ladder.notes.push(note);
        }
        Ok(Self { ladder, assumptions: scenario.assumptions.clone() })
    }
}

/// What people read: a deadline a row, its verdict under each assumption a column.
fn verdict_columns<'a>() -> [Column<&'a LadderRow>; 10] {
    macro_rules! under {
        ($rung:ident) => {
            Column::table(Rung::$rung.name(), |row: &&LadderRow| row.under(Rung::$rung).verdict.name().into()).left()
        };
    }
    [
        Column::table("jobs of", |row: &&LadderRow| row.stream.as_str().into()).left(),
        Column::table("deadline", |row| row.deadline_ns.into()),
        under!(Sporadic),
        under!(Jitter),
        under!(Given),
        under!(StatedTimes),
        under!(DeclaredOrder),
        under!(OrderAndTimes),
        under!(Run),
        Column::table("proven under", |row: &&LadderRow| row.proven_under.map(Rung::name).into()).left(),
    ]
}

/// What programs read: a row for each deadline and assumption.
fn rung_columns<'a>() -> [Column<(&'a LadderRow, &'a RungVerdict)>; 7] {
    type Row<'a> = (&'a LadderRow, &'a RungVerdict);
    [
        Column::data("stream", |(row, _): &Row<'_>| row.stream.as_str().into()),
        Column::data("deadline_ns", |(row, _): &Row<'_>| row.deadline_ns.into()),
        Column::data("assumption", |(_, under): &Row<'_>| under.assumption.name().into()),
        Column::data("worst_found_ns", |(_, under): &Row<'_>| under.worst_found_ns.into()),
        Column::data("bound_ns", |(_, under): &Row<'_>| under.bound_ns.into()),
        Column::data("verdict", |(_, under): &Row<'_>| under.verdict.name().into()),
        Column::data("proven_under", |(row, _): &Row<'_>| row.proven_under.map(Rung::name).into()),
    ]
}

fn rungs(ladder: &Ladder) -> impl Iterator<Item = (&LadderRow, &RungVerdict)> {
    ladder.rows.iter().flat_map(|row| row.under.iter().map(move |under| (row, under)))
}

impl Report for LadderReport {
    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.rows("deadlines", &rung_columns(), rungs(&self.ladder))?;
        to.entry("runs_searched", &self.ladder.runs)?;
        fields!(to, self.ladder => notes);
        assumptions_document(to, &self.assumptions)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&rung_columns(), rungs(&self.ladder), out)
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&verdict_columns(), &self.ladder.rows);
        page.blank();
        for rung in Rung::ALL {
            page.line(&format!("{}: {}", rung.name(), rung.words()));
        }
        if let Some(text) = proven_under(&self.assumptions) {
            page.line(&text);
        }
    }
}
