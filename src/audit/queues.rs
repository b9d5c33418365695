//! Who may be assigned: the head of its EE queue (X1), and nobody while a higher queue is not empty (A2).

use rustc_hash::FxHashSet;

use super::case::Case;
use super::finding::{AuditRule, Finding, length};
use super::stamp::{Stamp, When};
use crate::logs::LogTime;

/// Checks each block against the kernels that surely waited when it started.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let observation = case.observation;
    let tolerance = case.clocks.tolerances.one_clock_ns;
    let mut entering: Vec<(LogTime, usize)> = (0..case.facts.len())
        .filter(|&index| observation.operations[index].kernel().is_some())
        .filter_map(|index| Some((case.hi(index)?.latest(), index)))
        .collect();
    entering.sort_unstable();
    let mut entering = entering.into_iter().peekable();
    let mut waiting: Vec<usize> = Vec::new();
    // Until then all of those wait.
    let mut until = LogTime::MAX;
    let until_of = |kernel: usize| case.facts[kernel].last_start.saturating_sub(tolerance);
    let mut found = FxHashSet::default();
    for start in case.counted(case.events.starts()) {
        while let Some((_, kernel)) = entering.next_if(|(at, _)| *at <= start.at) {
            waiting.push(kernel);
            until = until.min(until_of(kernel));
        }
        if until <= start.at {
            waiting.retain(|&kernel| until_of(kernel) > start.at);
            until = waiting.iter().map(|&kernel| until_of(kernel)).min().unwrap_or(LogTime::MAX);
        }
        let starting = start.operation();
        for &other in &waiting {
            let Some(rule) = broken(case, starting, other, start.at) else { continue };
            if !found.insert((starting, other)) {
                continue;
            }
            let (name, last) = (&observation.operations[other].name, case.facts[other].last_start);
            let early = last.since(start.at);
            let before = if last == LogTime::MAX {
                format!("although {name} never got all its blocks")
            } else {
                format!("{} before the last block of {name}", length(early))
            };
            let what = match rule {
                AuditRule::A2 => format!("it started {before}, which waited with a higher priority"),
                _ if unknown_priority(case, starting) => format!(
                    "it started {before}, which was ahead of it; only a higher priority of its stream, which a log \
                     does not tell, would explain that"
                ),
                _ => format!("it started {before}, which was ahead of it in the EE queue"),
            };
            findings.push(Finding {
                rule,
                kernel: observation.operations[starting].name.clone(),
                block: Some(start.block as usize),
                sm: start.sm,
                at_ns: start.at,
                by: early.unsigned_abs(),
                unit: "ns",
                what,
            });
        }
    }
}

fn unknown_priority(case: &Case<'_>, operation: usize) -> bool {
    let stream = case.observation.operations[operation].stream;
    case.observation.streams.get(stream).is_none_or(|stream| stream.priority.is_none())
}

/// The rule that a block of `starting` breaks by starting at `at`, while `other` waits.
fn broken(case: &Case<'_>, starting: usize, other: usize, at: LogTime) -> Option<AuditRule> {
    // Each context has queues of its own, and so have green contexts and some clients of MPS.
    if starting == other || !case.observation.share_queues(starting, other) {
        return None;
    }
    let (own, others) = (case.facts[starting].priority, case.facts[other].priority);
    if others < own {
        let assigned = When::on_gpu(Stamp::assignment(at));
        return case.clocks.surely_before(&case.hi(other)?, &assigned).then_some(AuditRule::A2);
    }
    (others == own && case.surely_ahead(other, starting)).then_some(AuditRule::X1)
}
