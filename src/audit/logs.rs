//! The audit of all runs that were read of logs.

use super::observation::Observation;
use super::report::AuditReport;
use super::run::Audit;
use crate::logs::LogInput;

/// Audits each run, with the scenario that made it where that is known, as `audit` does one.
pub fn audit_logs(input: LogInput, mut audit: impl FnMut(&Observation) -> Audit) -> AuditReport {
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
