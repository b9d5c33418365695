//! The findings of an audit as a table and as comma-separated values.

use std::io;

use crate::audit::{AuditReport, Finding};
use crate::formats::{Column, Page, RowsPart, TableStyle};

fn columns<'f>() -> [Column<&'f Finding>; 12] {
    [
        Column::new("rule", "rule", |finding: &&Finding| finding.rule.name().into()).left(),
        Column::new("kernel", "kernel", |finding: &&Finding| (&*finding.kernel).into()).left(),
        Column::data("block", |finding| finding.block.into()),
        Column::table("block", |finding| finding.block.map_or_else(String::new, |block| block.to_string()).into()),
        Column::data("sm", |finding| finding.sm.into()),
        Column::table("SM", |finding| finding.sm.map_or_else(String::new, |sm| sm.to_string()).into()),
        Column::data("at_ns", |finding| finding.at_ns.as_ns().into()),
        Column::table("at", |finding| format!("{:.9} s", finding.at_ns.as_ns() as f64 / 1e9).into()),
        Column::data("by", |finding| finding.by.into()),
        Column::table("by", |finding| format!("{} {}", finding.by, finding.unit).into()),
        Column::data("unit", |finding| finding.unit.into()),
        Column::new("what", "what", |finding: &&Finding| finding.what.as_str().into()).left(),
    ]
}

/// The findings, one line each.
///
/// # Errors
/// Whatever `out` refuses.
pub fn finding_rows(findings: &[Finding], part: RowsPart<'_>, out: impl io::Write) -> io::Result<()> {
    part.write(&columns(), findings, out)
}

/// Findings shown in a table.
const SHOWN: usize = 100;

/// The findings for people, and what was checked.
#[must_use]
pub fn finding_table(report: &AuditReport, style: TableStyle) -> String {
    let mut page = Page::new(style);
    let shown = page.most_rows(SHOWN);
    if !report.violations.is_empty() {
        page.table(&columns(), report.violations.iter().take(shown));
        if report.violations.len() > shown {
            page.line(&format!("and {} more (--format json or csv lists all)", report.violations.len() - shown));
        }
        page.blank();
    }
    let (checked, placement) = (&report.checked, &report.placement);
    page.line(&format!(
        "{} findings in {} kernels, {} blocks; {} of {} decidable blocks were placed as most-room says",
        report.violations.len(),
        checked.kernels,
        checked.blocks,
        placement.followed,
        placement.decidable
    ));
    page.finish()
}
