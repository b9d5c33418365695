//! Clients of MPS: none has blocks on more SMs at once than it may use.

use super::case::Case;
use super::finding::{AuditRule, Finding};
use super::observation::TimeSource;
use super::sweep::BlockEvent;

/// Checks each client at each start of a block.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let observation = case.observation;
    // Of a measured run nobody knows whether MPS ran at all, and the noise of its clock would add SMs.
    if observation.client_sms.is_empty() || observation.source == TimeSource::Measured {
        return;
    }
    let mut blocks = vec![vec![0_i64; observation.device.sms as usize]; observation.process_count()];
    let place = |event: &BlockEvent| {
        let stream = observation.operations.get(event.operation())?.stream;
        Some((observation.streams.get(stream)?.process, event.sm? as usize))
    };
    let has_length = |event: &BlockEvent| event.ran_ns > 0;
    let mut ends = case.events.ends().filter(&has_length).peekable();
    for start in case.events.starts().filter(&has_length) {
        while let Some(end) = ends.next_if(|end| end.at <= start.at) {
            let own = place(&end).and_then(|(process, sm)| blocks.get_mut(process)?.get_mut(sm));
            if let Some(own) = own {
                *own -= 1;
            }
        }
        let Some((process, sm)) = place(&start) else { continue };
        let Some(own) = blocks.get_mut(process) else { continue };
        if let Some(own) = own.get_mut(sm) {
            *own += 1;
        }
        let on = own.iter().filter(|&&blocks| blocks > 0).count();
        let limit = observation.client_sms.get(process).map_or(usize::MAX, |&limit| limit as usize);
        if on > limit {
            findings.push(Finding {
                rule: AuditRule::Mps,
                kernel: observation.operations[start.operation()].name.clone(),
                block: Some(start.block as usize),
                sm: start.sm,
                at_ns: start.at,
                by: (on - limit) as u64,
                unit: "SMs",
                what: format!("with it its process is on {on} SMs, and MPS limits it to {limit}"),
            });
        }
    }
}
