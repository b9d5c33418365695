//! How much longer jobs may take, as columns and as a table.

use crate::analysis::ThreadSlack;
use crate::formats::{Column, DocumentWriter, Page, Rows};

fn slack_columns<'a>() -> [Column<&'a ThreadSlack>; 6] {
    [
        Column::table("jobs of", |row: &&ThreadSlack| row.stream.as_str().into()).left(),
        Column::data("stream", |row: &&ThreadSlack| row.stream.as_str().into()),
        Column::new("deadline_ns", "deadline", |row| row.deadline.into()),
        Column::new("bound_ns", "bound", |row| row.bound.into()),
        Column::new("slack_percent", "slack %", |row: &&ThreadSlack| row.slack_percent.into()),
        Column::new("until", "until", |row: &&ThreadSlack| row.until.as_deref().into()).left(),
    ]
}

pub(super) fn document<D: DocumentWriter>(to: &mut D, slacks: &[ThreadSlack]) -> Result<(), D::Error> {
    to.rows("slack", &slack_columns(), slacks)
}

/// The slack of threads as a table, and what it says.
pub(super) fn add_slack(page: &mut Page, slacks: &[ThreadSlack]) {
    page.blank();
    page.trimmed_table(&slack_columns(), slacks);
    page.line(
        "slack: all blocks, copies and CPU work of one of these may take so much longer, and what is proven stays so",
    );
}
