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
        if run.scenario.is_none() && run.device.has_clusters() {
            report.notes.push(
                "no log tells which kernels have clusters or are of a green context: these may seem to wait without need, \
                 or to be out of order, where a scenario of the same kernels would say why"
                    .to_owned(),
            );
        }
        report.add(audit(&observation), &run.device.name);
    }
    report
}
