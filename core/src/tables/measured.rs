//! Logs of measurements, audited.

use super::HINT;
use crate::audit::{AuditReport, Finding, PlacementTried};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::spelling::formats;
use crate::time::NS_PER_SECOND;
use crate::words::counted;

fn finding_columns<'f>() -> [Column<&'f Finding>; 12] {
    [
        Column::new("rule", "rule", |finding: &&Finding| finding.rule.name().into()).left(),
        Column::new("kernel", "kernel", |finding: &&Finding| (&*finding.kernel).into()).left(),
        Column::data("block", |finding| finding.block.into()),
        Column::table("block", |finding| finding.block.map_or_else(String::new, |block| block.to_string()).into()),
        Column::data("sm", |finding| finding.sm.into()),
        Column::table("SM", |finding| finding.sm.map_or_else(String::new, |sm| sm.to_string()).into()),
        Column::data("at_ns", |finding| finding.at_ns.as_ns().into()),
        Column::table("at", |finding| seconds(finding.at_ns.as_ns()).into()),
        Column::data("by", |finding| finding.by.into()),
        Column::table("by", |finding| format!("{} {}", finding.by, finding.unit).into()),
        Column::data("unit", |finding| finding.unit.into()),
        Column::new("what", "what", |finding: &&Finding| finding.what.as_str().into()).left(),
    ]
}

/// Seconds to the nanosecond, which clocks that count from 1970 have too many of for an `f64`.
fn seconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09} s", ns / NS_PER_SECOND, ns % NS_PER_SECOND)
}

fn tried_columns<'t>() -> [Column<&'t PlacementTried>; 4] {
    fn elsewhere(tried: &PlacementTried) -> String {
        let first = tried
            .first_elsewhere
            .as_ref()
            .map(|block| format!("{} block {} on SM {}, not {}", block.kernel, block.block, block.sm, block.predicted));
        first.unwrap_or_default()
    }
    [
        Column::table("placement", |tried: &&PlacementTried| tried.policy.name().into()).left(),
        Column::table("order of SMs", |tried: &&PlacementTried| tried.order.as_str().into()).left(),
        Column::table("blocks there", |tried| format!("{} of {}", tried.followed, tried.decidable).into()),
        Column::table("first elsewhere", |tried: &&PlacementTried| elsewhere(tried).into()).left(),
    ]
}

/// Findings shown in a table.
const SHOWN: usize = 100;

/// The findings, and what was checked.
impl Report for AuditReport {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "violations";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.elements("violations", &self.violations, &finding_columns(), &self.violations)?;
        fields!(to, self => checked);
        to.list("dropped", &self.dropped)?;
        fields!(to, self => placement);
        if !self.learned.is_empty() {
            to.list("learned_placement", &self.learned)?;
        }
        fields!(to, self => devices, notes);
        Ok(())
    }

    fn text(&self, page: &mut Page) {
        let Self { violations, checked, placement, .. } = self;
        let shown = page.most_rows(SHOWN);
        if !violations.is_empty() {
            page.table(&finding_columns(), violations.iter().take(shown));
            if violations.len() > shown {
                let (more, formats) = (violations.len() - shown, formats(&["json", "csv"]));
                page.line(&format!("and {more} more ({formats} lists all)"));
            }
            page.line(HINT);
            page.blank();
        }
        page.line(&format!(
            "{} in {}, {}; {} of {} decidable blocks were placed as {} says",
            counted(violations.len(), "finding"),
            counted(checked.kernels, "kernel"),
            counted(checked.blocks, "block"),
            placement.followed,
            placement.decidable,
            placement.policy.name()
        ));
        for learned in &self.learned {
            page.blank();
            page.line(&format!("which placement explains the {} blocks of {} best:", learned.blocks, learned.run));
            page.table(&tried_columns(), &learned.tried);
        }
    }
}
