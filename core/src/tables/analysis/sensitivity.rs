//! How much longer, or shorter, times may or have to be, as tables: slack and sensitivity.

use std::collections::BTreeSet;

use crate::analysis::{Sensitivity, SensitivityRow, ThreadSlack, TimeChange};
use crate::formats::{CellOf, Column, Page};

/// What is not proven any more that a row of a table names; the rest is counted.
const MOST_NAMED: usize = 2;

/// Of threads all of whose jobs are proven, tables do not say how much shorter jobs have to be.
pub(super) fn slack_columns<'a>(slacks: &[ThreadSlack]) -> Vec<Column<&'a ThreadSlack>> {
    let shorter = Column::table("proven at", |row: &&ThreadSlack| {
        row.is_open.then(|| row.proven_at.map_or_else(not_found, |factor| format!("x{factor}"))).into()
    });
    let shorter = slacks.iter().any(|slack| slack.is_open).then(|| shorter.left());
    let columns = [
        Column::table("jobs of", |row: &&ThreadSlack| row.stream.as_str().into()).left(),
        Column::data("stream", |row: &&ThreadSlack| row.stream.as_str().into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline.into()),
        Column::new("bound_ns", "bound", |row| CellOf::at_most(row.bound)),
        Column::new("slack_percent", "slack %", |row: &&ThreadSlack| row.slack_percent.into()),
        Column::new("until", "until", |row: &&ThreadSlack| row.until.as_deref().into()).left(),
        Column::data("proven_at", |row: &&ThreadSlack| row.proven_at.into()),
    ];
    columns.into_iter().chain(shorter).collect()
}

fn not_found() -> String {
    format!("not at x{}", Sensitivity::SMALLEST)
}

/// The slack of threads as a table, and what it says.
pub(super) fn add_slack(page: &mut Page, slacks: &[ThreadSlack]) {
    page.blank();
    page.trimmed_table(&slack_columns(slacks), slacks);
    page.line(
        "slack: all blocks, copies and CPU work of one of these may take so much longer, and what is proven stays so",
    );
    if slacks.iter().any(|slack| slack.is_open) {
        page.line("proven at: with all of these times so much as long, all of its jobs are proven");
    }
}

impl SensitivityRow {
    /// The factor as people read it.
    pub(crate) fn factor_in_words(&self) -> String {
        match self.factor {
            Some(factor) if self.is_largest => format!("x{factor} or more"),
            Some(factor) if self.is_cut => format!("x{factor}, stopped"),
            Some(factor) => format!("x{factor}"),
            None if self.is_cut => "stopped".to_owned(),
            None => not_found(),
        }
    }

    /// What it is about, as far as there is room.
    pub(crate) fn verdicts_in_words(&self) -> Option<String> {
        let named = self.verdicts[..self.verdicts.len().min(MOST_NAMED)].join("; ");
        let more = self.verdicts.len().saturating_sub(MOST_NAMED);
        (!named.is_empty()).then(|| if more > 0 { format!("{named}; {more} more") } else { named })
    }
}

pub(super) fn sensitivity_columns<'a>() -> [Column<&'a SensitivityRow>; 7] {
    [
        Column::data("what", |row: &&SensitivityRow| row.work.name().into()),
        Column::data("name", |row: &&SensitivityRow| row.name.as_str().into()),
        Column::data("change", |row: &&SensitivityRow| row.change.name().into()),
        Column::data("factor", |row: &&SensitivityRow| row.factor.into()),
        Column::data("is_largest", |row: &&SensitivityRow| row.is_largest.into()),
        Column::data("verdicts", |row: &&SensitivityRow| {
            (!row.verdicts.is_empty()).then(|| row.verdicts.join("; ")).into()
        }),
        Column::data("is_cut", |row: &&SensitivityRow| row.is_cut.into()),
    ]
}

fn what<'a>() -> Column<&'a SensitivityRow> {
    Column::table("time of", |row: &&SensitivityRow| row.work.name().into()).left()
}

fn name<'a>() -> Column<&'a SensitivityRow> {
    Column::table("name", |row: &&SensitivityRow| row.name.as_str().into()).names()
}

fn factor<'a>(title: &'static str) -> Column<&'a SensitivityRow> {
    Column::table(title, |row: &&SensitivityRow| row.factor_in_words().into()).left()
}

fn verdicts<'a>(title: &'static str) -> Column<&'a SensitivityRow> {
    Column::table(title, |row: &&SensitivityRow| row.verdicts_in_words().into()).left()
}

/// By which factors times may grow, and have to shrink.
pub(super) fn add_sensitivity(page: &mut Page, sensitivity: &Sensitivity) {
    page.blank();
    let longer: Vec<&SensitivityRow> = sensitivity.of(TimeChange::Longer).collect();
    let is_open = sensitivity.of(TimeChange::Shorter).next().is_some();
    if longer.is_empty() {
        page.line(if is_open { "sensitivity: nothing is proven that longer times could break" } else { NOTHING });
    } else {
        let columns = [what(), name(), factor("may take"), verdicts("longer breaks")];
        page.trimmed_table(&columns, longer.iter().copied());
        if let Some(first) = sensitivity.first() {
            let (what, name, breaks) = (first.work.name(), &first.name, first.verdicts.join("; "));
            page.line(&format!("breaks first by itself: {what} {name}, above {}: {breaks}", first.factor_in_words()));
        }
        page.line(
            "may take: with all of these times so much as long, or any of them shorter, all that is proven holds",
        );
        page.line("longer breaks: what is not proven any more with times 0.001 longer, though it need not be late");
    }
    if is_open {
        page.blank();
        let found = sensitivity.of(TimeChange::Shorter).filter(|row| row.factor.is_some());
        let found: Vec<&SensitivityRow> = found.collect();
        let columns = [verdicts("not proven"), what(), name(), factor("proven at")];
        if !found.is_empty() {
            page.trimmed_table(&columns, found.iter().copied());
        }
        // Of what was not looked at to its end a note tells.
        let unknown = sensitivity.of(TimeChange::Shorter).filter(|row| row.factor.is_some() || row.is_cut);
        let unknown: BTreeSet<&[String]> = unknown.map(|row| &*row.verdicts).collect();
        let never = sensitivity.of(TimeChange::Shorter).map(|row| &*row.verdicts).filter(|row| !unknown.contains(row));
        let never: BTreeSet<&str> = never.flatten().map(String::as_str).collect();
        if !never.is_empty() {
            let never: Vec<&str> = never.into_iter().collect();
            page.line(&format!(
                "not proven with any of these times at x{}: {}",
                Sensitivity::SMALLEST,
                never.join("; ")
            ));
        }
        if !found.is_empty() {
            page.line("proven at: with all of these times so much as long, or any of them shorter, it is proven");
        }
    }
}

const NOTHING: &str = "sensitivity: no job has a deadline, and no chain a limit";
