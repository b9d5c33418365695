//! The audit of all runs that were read of logs.

use super::observation::Observation;
use super::options::Tolerances;
use super::report::AuditReport;
use super::run::{Audit, audit};
use crate::effort::Progress;
use crate::logs::LogInput;

/// Audits each run, with the scenario that made it where that is known.
#[must_use]
pub fn audit_logs(input: LogInput, tolerances: &Tolerances) -> AuditReport {
    audit_logs_by(input, |observation| audit(observation, tolerances, Progress::NONE))
}

/// The same, where `audit` says how one run is audited.
pub fn audit_logs_by(input: LogInput, mut audit: impl FnMut(&Observation) -> Audit) -> AuditReport {
    let mut report = AuditReport::new(input.dropped);
    for run in input.runs {
        let observation = match &run.scenario {
            Some((scenario, pairing)) => Observation::of_logs_with(&run.run, scenario, pairing),
            None => Observation::of_logs(&run.run, &run.device),
        };
        report.notes.extend(run.notes);
        report.add(audit(&observation), &run.device.name);
    }
    report
}
