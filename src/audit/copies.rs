//! Copies, where their times are known: each engine serves one at a time, in the order of its queue, without a pause;
//! or at once, where copies share its link. Those of contexts that take turns are a matter of `copy_turns`.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{AuditRule, Finding, length};
use super::observation::{ObservedContexts, ObservedWork};
use super::stamp::Stamp;
use crate::device::CopySharing;
use crate::logs::LogTime;

/// A copy that ran.
struct Served {
    operation: usize,
    ready: Option<Stamp>,
    start: LogTime,
    end: LogTime,
}

/// Checks each engine.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let device = &case.observation.device;
    let shared = device.copy.sharing == CopySharing::SharedLink;
    let by_turns = !shared || case.observation.copies_run_in_turns();
    if by_turns && matches!(case.observation.contexts, ObservedContexts::Seen(_)) {
        return;
    }
    let mut engines: BTreeMap<u32, Vec<Served>> = BTreeMap::new();
    for (operation, observed) in case.observation.operations.iter().enumerate() {
        let ObservedWork::Copy(copy) = &observed.work else { continue };
        let Some([start, end]) = copy.times_ns else { continue };
        let ready = case.ready[operation].lo.gpu;
        engines.entry(copy.engine).or_default().push(Served { operation, ready, start, end });
    }
    for served in engines.values_mut() {
        // Ready at one instant through one event: launch order. Where that order is not known, either is accepted.
        crate::sorted::sort_by_key(served, |copy| {
            let at = copy.ready.map(|stamp| stamp.at);
            let rank = if case.clocks.exact { copy.ready.map(|stamp| stamp.rank) } else { None };
            // One without length may have begun and ended where the next began.
            let seen = if case.clocks.exact { None } else { Some((copy.start, copy.end)) };
            (at, rank, seen, copy.operation)
        });
        let mut free = LogTime::MIN;
        for copy in served.iter() {
            let ready = copy.ready.map_or(LogTime::MIN, |stamp| stamp.at);
            let expected = if shared { ready } else { ready.max(free) };
            let wrong = copy.start.since(expected);
            if wrong != 0 {
                let what = if wrong < 0 {
                    format!("it started {} before its turn on the copy engine", length(wrong))
                } else {
                    format!("it started {} after its turn on the idle copy engine", length(wrong))
                };
                findings.push(Finding {
                    rule: AuditRule::C2,
                    kernel: case.observation.operations[copy.operation].name.clone(),
                    block: None,
                    sm: None,
                    at_ns: copy.start,
                    by: wrong.unsigned_abs(),
                    unit: "ns",
                    what,
                });
            }
            free = free.max(copy.end);
        }
    }
}
