//! Calls that free memory: each waits for all work of its process and no longer (H1), and nothing of its process is
//! launched by another thread meanwhile (H2).

use std::sync::Arc;

use super::case::Case;
use super::finding::{AuditRule, Finding};
use super::observation::{ObservedFree, ObservedWork};
use crate::logs::LogTime;

/// Checks each call of a simulated run; logs show none.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for free in &case.observation.frees {
        check_one(case, free, findings);
    }
}

fn check_one(case: &Case<'_>, free: &ObservedFree, findings: &mut Vec<Finding>) {
    let observation = case.observation;
    let mut last: Option<(LogTime, &Arc<str>)> = None;
    for (operation, facts) in observation.operations.iter().zip(&case.facts) {
        if observation.streams.get(operation.stream).is_none_or(|stream| stream.process != free.process) {
            continue;
        }
        let finding = |rule, at_ns: LogTime, by: u64, what: &str| Finding {
            rule,
            kernel: Arc::clone(&operation.name),
            block: None,
            sm: None,
            at_ns,
            by,
            unit: "ns",
            what: what.to_owned(),
        };
        let launched = operation.launched_ns[0];
        let is_in_call = launched > free.from_ns && free.to_ns.is_none_or(|to| launched < to);
        if is_in_call && operation.thread != free.thread {
            let what = "it was launched while another thread of its process freed memory";
            findings.push(finding(AuditRule::H2, launched, launched.abs_diff(free.from_ns), what));
        }
        let takes_time = matches!(operation.work, ObservedWork::Kernel(_) | ObservedWork::Copy(_));
        // What others launch at the instant of the call comes before it, or is held; both may be this instant, too.
        let is_before = |to: LogTime| launched < free.from_ns || launched == free.from_ns && to > free.from_ns;
        let Some(to) = free.to_ns.filter(|to| takes_time && is_before(*to)) else { continue };
        match facts.finish {
            Some(finish) if finish <= to => last = last.max(Some((finish, &operation.name))),
            finish => {
                let what = "a call that frees memory returned before it was complete";
                findings.push(finding(AuditRule::H1, to, finish.map_or(0, |finish| finish.abs_diff(to)), what));
            }
        }
    }
    // Operations without length may complete later than these, and a thread may have to wait for its core.
    if let (Some(to), Some((finish, name))) = (free.to_ns, last)
        && finish.max(free.from_ns) < to
        && !free.shares_core
        && observation.operations.iter().all(|operation| !is_instant(&operation.work))
    {
        findings.push(Finding {
            rule: AuditRule::H1,
            kernel: Arc::clone(name),
            block: None,
            sm: None,
            at_ns: to,
            by: to.abs_diff(finish),
            unit: "ns",
            what: "a call that frees memory went on waiting when the last operation of its process was complete"
                .to_owned(),
        });
    }
}

const fn is_instant(work: &ObservedWork) -> bool {
    !matches!(work, ObservedWork::Kernel(_) | ObservedWork::Copy(_))
}
