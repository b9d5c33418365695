//! Clients of MPS: none has blocks on more SMs at once than it may use, nor on one of another where all may use no more
//! together than there are.

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
    let shares: u64 = observation.client_sms.iter().map(|&sms| u64::from(sms)).sum();
    let are_disjoint = shares <= u64::from(observation.device.sms);
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
        let finding = |by: usize, what: String| Finding {
            rule: AuditRule::Mps,
            kernel: observation.operations[start.operation()].name.clone(),
            block: Some(start.block as usize),
            sm: start.sm,
            at_ns: start.at,
            by: by as u64,
            unit: "SMs",
            what,
        };
        let is_used_by =
            |(other, blocks): (usize, &Vec<i64>)| other != process && blocks.get(sm).is_some_and(|&on| on > 0);
        if are_disjoint && blocks.iter().enumerate().any(is_used_by) {
            let what = "another client of MPS is on that SM, although their shares leave each its own".to_owned();
            findings.push(finding(1, what));
        }
        let Some(own) = blocks.get_mut(process) else { continue };
        if let Some(own) = own.get_mut(sm) {
            *own += 1;
        }
        let on = own.iter().filter(|&&blocks| blocks > 0).count();
        let limit = observation.client_sms.get(process).map_or(usize::MAX, |&limit| limit as usize);
        if on > limit {
            let what = format!("with it its process is on {on} SMs, and MPS limits it to {limit}");
            findings.push(finding(on - limit, what));
        }
    }
}
