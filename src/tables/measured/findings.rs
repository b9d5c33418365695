//! What an audit of logs found.

use crate::audit::{AuditReport, Finding};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::spelling::formats;
use crate::tables::rule_words::HINT;

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

/// Findings shown in a table.
const SHOWN: usize = 100;

/// The findings, and what was checked.
impl Report for AuditReport {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "violations";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.elements("violations", &self.violations, &columns(), &self.violations)?;
        fields!(to, self => checked);
        to.list("dropped", &self.dropped)?;
        fields!(to, self => placement, devices, notes);
        Ok(())
    }

    fn text(&self, page: &mut Page) {
        let Self { violations, checked, placement, .. } = self;
        let shown = page.most_rows(SHOWN);
        if !violations.is_empty() {
            page.table(&columns(), violations.iter().take(shown));
            if violations.len() > shown {
                let (more, formats) = (violations.len() - shown, formats(&["json", "csv"]));
                page.line(&format!("and {more} more ({formats} lists all)"));
            }
            page.line(HINT);
            page.blank();
        }
        page.line(&format!(
            "{} findings in {} kernels, {} blocks; {} of {} decidable blocks were placed as {} says",
            violations.len(),
            checked.kernels,
            checked.blocks,
            placement.followed,
            placement.decidable,
            placement.policy.name()
        ));
    }
}
