//! Whether anything started before it may have entered its EE or CE queue: rules G1, G4, N1, N2, E2, L1
//! and L2.

use super::case::Case;
use super::finding::{AuditRule, Finding, length};
use super::observation::TimeSource;
use super::stamp::{Stamp, When};
use crate::logs::LogTime;

/// Nothing starts before it was launched, nor before what N1, N2, events and its stream put in front of it.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let operations = &case.observation.operations;
    let tolerance = case.clocks.tolerances.across_clocks_ns;
    for (index, operation) in operations.iter().enumerate() {
        let Some(start) = case.facts[index].first_start else { continue };
        let block =
            operation.kernel().and_then(|kernel| kernel.blocks.times.iter().position(|[other, _]| *other == start));
        let sm = block.and_then(|block| operation.kernel()?.blocks.sms.get(block).copied());
        let mut finding = |rule, by: i64, what| {
            let kernel = operation.name.clone();
            findings.push(Finding { rule, kernel, block, sm, at_ns: start, by: by.unsigned_abs(), unit: "ns", what });
        };
        let early = operation.called_ns.since(start);
        if early > tolerance {
            finding(AuditRule::G1, early, format!("it started {} before it was launched", length(early)));
        }
        let started = When::on_gpu(Stamp::assignment(start));
        let waits = &case.ready[index];
        let null_rule = if case.observation.is_null(operation.stream) { AuditRule::N1 } else { AuditRule::N2 };
        for (rule, held) in [(AuditRule::L1, waits.launch_latency), (AuditRule::L2, waits.kernel_gap)] {
            let Some(over) = held.filter(|over| case.clocks.surely_before(&started, over)) else { continue };
            let early = over.latest().since(start);
            let what = if rule == AuditRule::L1 { "launch latency" } else { "gap behind the kernel before it" };
            finding(rule, early, format!("it started {} before the {what} was over", length(early)));
        }
        let mut too_early_for_event = false;
        for (rule, before) in [
            (AuditRule::E2, waits.event),
            (AuditRule::G4, waits.stream),
            (null_rule, waits.null),
            (AuditRule::Channel, waits.channel),
        ] {
            let Some((other, complete)) = before else { continue };
            // What stands between is only that wait.
            if rule == AuditRule::G4 && too_early_for_event {
                continue;
            }
            if case.clocks.surely_before(&started, &complete) {
                if rule == AuditRule::G4 && is_measured_pdl(case, index, other) {
                    continue;
                }
                too_early_for_event |= rule == AuditRule::E2;
                let early = complete.latest().since(start);
                let is_dependent = operation.kernel().is_some_and(|kernel| kernel.programmatic.is_dependent);
                let rule = if rule == AuditRule::G4 && is_dependent { AuditRule::Pdl } else { rule };
                let stream = match rule {
                    AuditRule::E2 => "for which its stream waits",
                    AuditRule::G4 | AuditRule::Pdl => "before it in its stream",
                    AuditRule::Channel => "ahead of it in its hardware channel",
                    AuditRule::N1 => "launched before it in a blocking stream",
                    _ => "launched before it on the NULL stream",
                };
                let name = &operations[other].name;
                let done = match rule {
                    AuditRule::Pdl => "had triggered or ended",
                    AuditRule::Channel => "had gone on",
                    _ => "was complete",
                };
                let what = if complete.latest() == LogTime::MAX {
                    format!("it started although {name}, {stream}, never completed")
                } else {
                    format!("it started {} before {name}, {stream}, {done}", length(early))
                };
                finding(rule, early, what);
            }
        }
    }
}

/// Whether a measured kernel began before the one before it in its stream had ended, and the GPU has what explains
/// that.
fn is_measured_pdl(case: &Case<'_>, index: usize, before: usize) -> bool {
    let operations = &case.observation.operations;
    let are_kernels = operations[index].kernel().is_some() && operations[before].kernel().is_some();
    let is_measured = matches!(case.observation.source, TimeSource::Measured);
    is_measured && are_kernels && case.observation.device.has_programmatic_launch()
}

/// How many measured kernels began so (PDL).
pub(super) fn programmatic_launches(case: &Case<'_>) -> usize {
    let begins_early = |index: &usize| {
        let (facts, waits) = (&case.facts[*index], &case.ready[*index]);
        let (Some(start), Some((before, complete))) = (facts.first_start, waits.stream) else { return false };
        let started = When::on_gpu(Stamp::assignment(start));
        case.clocks.surely_before(&started, &complete) && is_measured_pdl(case, *index, before)
    };
    (0..case.observation.operations.len()).filter(begins_early).count()
}
