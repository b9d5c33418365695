//! Findings as JSON, CSV and for people.

use std::fmt::Write;
use std::io;

use serde::Serialize;

use super::finding::Finding;
use super::placement::PlacementStatistic;
use super::run::{Audit, Checked};
use crate::logs::Dropped;
use crate::report::{csv_field, plain_table};

/// Everything about one or several audits, as one JSON document.
#[derive(Debug, Clone, Serialize)]
pub struct AuditReport {
    /// What breaks a rule.
    pub violations: Vec<Finding>,
    /// How much was looked at.
    pub checked: Checked,
    /// What was left out of the logs.
    pub dropped: Vec<Dropped>,
    /// How many blocks went where the model would have put them.
    pub placement: PlacementStatistic,
    /// The devices, by name, one for each run.
    pub devices: Vec<String>,
    /// What could not be checked, and what was assumed.
    pub notes: Vec<String>,
}

impl AuditReport {
    /// A report of nothing.
    #[must_use]
    pub fn new(dropped: Vec<Dropped>) -> Self {
        Self {
            violations: Vec::new(),
            checked: Checked::default(),
            dropped,
            placement: PlacementStatistic::default(),
            devices: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds the audit of one run on `device`.
    pub fn add(&mut self, audit: Audit, device: &str) {
        self.violations.extend(audit.findings);
        self.checked.kernels += audit.checked.kernels;
        self.checked.blocks += audit.checked.blocks;
        self.placement.decidable += audit.placement.decidable;
        self.placement.followed += audit.placement.followed;
        self.devices.push(device.to_owned());
        self.notes.extend(audit.notes);
    }
}

/// The findings, one line each.
///
/// # Errors
/// Whatever `out` refuses.
pub fn finding_csv(findings: &[Finding], mut out: impl io::Write) -> io::Result<()> {
    writeln!(out, "rule,kernel,block,sm,at_ns,by,unit,what")?;
    for finding in findings {
        let block = finding.block.map_or_else(String::new, |block| block.to_string());
        let sm = finding.sm.map_or_else(String::new, |sm| sm.to_string());
        let (rule, kernel, what) = (finding.rule.name(), csv_field(&finding.kernel), csv_field(&finding.what));
        writeln!(out, "{rule},{kernel},{block},{sm},{},{},{},{what}", finding.at_ns, finding.by, finding.unit)?;
    }
    Ok(())
}

/// Findings shown in a table.
const SHOWN: usize = 100;

/// The findings for people, and what was checked.
#[must_use]
pub fn finding_table(report: &AuditReport) -> String {
    let mut text = String::new();
    if !report.violations.is_empty() {
        let mut table = plain_table(&["rule", "kernel", "block", "SM", "at", "by", "what"], 2..6);
        for finding in report.violations.iter().take(SHOWN) {
            let number = |number: Option<String>| number.unwrap_or_default();
            table.add_row([
                finding.rule.name().to_owned(),
                finding.kernel.to_string(),
                number(finding.block.map(|block| block.to_string())),
                number(finding.sm.map(|sm| sm.to_string())),
                format!("{:.9} s", finding.at_ns as f64 / 1e9),
                format!("{} {}", finding.by, finding.unit),
                finding.what.clone(),
            ]);
        }
        let _ = writeln!(text, "{table}");
        if report.violations.len() > SHOWN {
            let _ = writeln!(text, "and {} more (--format json or csv lists all)", report.violations.len() - SHOWN);
        }
        text.push('\n');
    }
    let (checked, placement) = (&report.checked, &report.placement);
    let _ = writeln!(
        text,
        "{} findings in {} kernels, {} blocks; {} of {} decidable blocks were placed as most-room says",
        report.violations.len(),
        checked.kernels,
        checked.blocks,
        placement.followed,
        placement.decidable
    );
    text
}
