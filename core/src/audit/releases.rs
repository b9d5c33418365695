//! Whether each job that the end of another's releases was released just then, and began as soon as its host was free.

use super::audited_run::AuditedRun;
use super::finding::{AuditRule, Finding, length};
use super::observed_run::{ObservedJob, ObservedTrigger};
use crate::logs::LogTime;

/// Checks the jobs of each thread that another one releases.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    for trigger in &run.observed.triggers {
        let of = |thread: usize| run.observed.jobs.iter().filter(move |job| job.thread == thread);
        check_jobs(trigger, of(trigger.thread), of(trigger.trigger), findings);
    }
}

/// Jobs of a thread, and those whose ends release them, both in their order.
fn check_jobs<'a>(
    trigger: &ObservedTrigger,
    own: impl Iterator<Item = &'a ObservedJob>,
    mut releasing: impl Iterator<Item = &'a ObservedJob>,
    findings: &mut Vec<Finding>,
) {
    let mut found = |at: LogTime, by: i64, what: String| {
        findings.push(Finding::new(AuditRule::Trigger, &trigger.name, at, by.unsigned_abs(), what));
    };
    let in_words = |apart: i64| format!("{} {}", length(apart), if apart > 0 { "after" } else { "before" });
    // When all of those so far had ended, and when the host was free.
    let (mut ended, mut free) = (Some(LogTime::MIN), Some(LogTime::MIN));
    for job in own {
        let number = job.number;
        ended = ended.zip(releasing.next().and_then(|other| other.end_ns)).map(|(ended, end)| ended.max(end));
        match ended.map(|ended| job.released_ns.since(ended)) {
            Some(0) => {}
            Some(by) => {
                let apart = in_words(by);
                found(job.released_ns, by, format!("job {number} was released {apart} the end that releases it"));
            }
            None => found(job.released_ns, 0, format!("job {number} was released, and what releases it never ended")),
        }
        let late = free.map(|free| job.began_ns.since(free.max(job.released_ns)));
        if late.is_none_or(|late| late < 0 || late > 0 && !trigger.may_wait) {
            let apart = late.map_or_else(|| "before".to_owned(), in_words);
            let what = format!("job {number} began {apart} it was released and its host was free");
            found(job.began_ns, late.unwrap_or_default(), what);
        }
        free = job.host_end_ns;
    }
    let next = ended.and_then(|_| releasing.next()?.end_ns);
    if let Some(next) = next.filter(|_| free.is_some() && !trigger.may_wait) {
        found(next, 0, "it was free, and the job that an end then releases never began".to_owned());
    }
}
