//! Which rule let which operation go on, and when.

use crate::formats::{Column, MAX_ROWS, Page};
use crate::run::{Firing, Summary, rule_log};
use crate::spelling::formats;
use crate::tables::rule_words::HINT;

/// The table of them.
pub(super) fn add_rules(page: &mut Page, summary: &Summary<'_>) {
    let firings = rule_log(summary);
    let columns = [
        Column::table("at", |firing: &&Firing<'_>| firing.at_ns.into()),
        Column::table("rule", |firing: &&Firing<'_>| firing.rule.into()).left(),
        Column::table("operation", |firing: &&Firing<'_>| (&*firing.operation).into()).left(),
        Column::table("", |firing: &&Firing<'_>| firing.what.into()).left(),
    ];
    // CSV has the kernels alone.
    page.first_rows(MAX_ROWS, &columns, &firings, " steps", &formats(&["json"]));
    page.line(HINT);
}
