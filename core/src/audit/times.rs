//! Checks each time by itself: nothing ends before it starts, takes another time than stated, is missing, or was seen
//! by the host before it was over.

use std::collections::BTreeMap;

use super::audited_run::AuditedRun;
use super::executions::Execution;
use super::finding::Tolerances;
use super::finding::{AuditRule, Finding, length};
use super::observed_run::ObservedTurns;
use super::observed_run::{ObservedKernel, ObservedOperation, ObservedRun, ObservedWork, TimeSource};
use super::readiness;
use crate::device::CopySharing;
use crate::logs::LogTime;
use crate::workload::BlockClock;

/// Nothing ends before it starts; no block is missing or too many; block times are those stated, and so are those of
/// copies, unless they share a link.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let (observed, executed) = (run.observed, &run.executed);
    let shared = observed.device.copy.sharing == CopySharing::SharedLink;
    let mut last = vec![None; observed.streams.len()];
    for (index, operation) in observed.operations.iter().enumerate() {
        let before: Option<usize> = last.get_mut(operation.stream).and_then(|last| last.replace(index));
        match &operation.work {
            ObservedWork::Kernel(kernel) => {
                // Of blocks that wait for others: see `synchronization`.
                let waits = kernel.synchronization.as_ref().is_some_and(|all| all.waits());
                if executed[index].runs_backwards || kernel.duration.is_some() && !waits {
                    let released = before.and_then(|before| {
                        // What ends behind the end of the run told no wait.
                        let finish = executed[before].finish.filter(|finish| !observed.is_cut_before(*finish));
                        let device = &observed.device;
                        readiness::released(&observed.operations[before], finish, device)
                    });
                    let released = if released.is_some() { [released; 2] } else { recorded(run, index) };
                    check_blocks((observed, index), kernel, released, findings);
                }
                check_count(observed, operation, kernel, findings);
            }
            ObservedWork::Copy(copy) => {
                let Some([start, end]) = copy.times_ns else { continue };
                let took = end.since(start);
                let stated = copy.duration_ns.filter(|_| !shared).unwrap_or(took);
                // It may pause while it is another context's turn (T5), also when the run ends.
                let is_wrong = match observed.turns() {
                    Some(turns) => took < stated && end <= turns.run_end_ns,
                    None => took != stated,
                };
                if took < 0 || is_wrong {
                    let what = format!("the copy took {took} ns, not {stated} ns");
                    let by = took.abs_diff(stated);
                    findings.push(Finding::new(AuditRule::Duration, &operation.name, start, by, what));
                }
            }
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => {}
        }
    }
}

/// When waits of blocks return behind waits for programmatic events right before their kernel, at the earliest and at
/// the latest: at one instant a record may have completed before the wait for it was launched, and is not waited for
/// then. `None`: there are no such waits, or none that is waited for.
fn recorded(run: &AuditedRun<'_>, kernel: usize) -> [Option<LogTime>; 2] {
    let observed = run.observed;
    let is_dependent = observed.operations[kernel].kernel().is_some_and(|kernel| kernel.programmatic.is_dependent);
    if observed.programmatic_events.is_empty() || !is_dependent {
        return [None; 2];
    }
    let stream = observed.operations[kernel].stream;
    let [mut surely, mut perhaps] = [None; 2];
    for wait in (0..kernel).rev().filter(|before| observed.operations[*before].stream == stream) {
        let ObservedWork::Wait(event) = observed.operations[wait].work else { break };
        if !observed.programmatic_events.contains(&event) {
            continue;
        }
        let is_it = |before: &usize| observed.operations[*before].work == ObservedWork::Record(event);
        let Some(record) = (0..wait).rev().find(is_it) else { continue };
        let complete = run.ready[record].lo.latest();
        let launched = observed.operations[wait].launched_ns[1];
        // One that has not completed when the run ends never did.
        let ended = if observed.is_cut_before(complete) { LogTime::MAX } else { complete };
        let returns = Some(ended.after(observed.device.pdl_wait_latency));
        if launched < complete {
            surely = surely.max(returns);
        }
        if launched <= complete {
            perhaps = perhaps.max(returns);
        }
    }
    [surely, perhaps]
}

/// Where contexts take turns, a block runs only in those of its own (T4).
fn check_blocks(
    (observed, index): (&ObservedRun, usize),
    kernel: &ObservedKernel,
    [released, at_the_latest]: [Option<LogTime>; 2],
    findings: &mut Vec<Finding>,
) {
    let (operation, context) = (&observed.operations[index], observed.context_of(index));
    let turns = observed.turns();
    let mut finding = |rule, block, sm, at_ns, by, what| {
        findings.push(Finding::new(rule, &operation.name, at_ns, by, what).of_block(block, Some(sm)));
    };
    for (index, block) in kernel.blocks.iter().enumerate() {
        let took = block.end_ns.since(block.start_ns);
        if took < 0 {
            let what = format!("it ended {} before it started", length(took));
            finding(AuditRule::Time, index, block.sm, block.start_ns, took.unsigned_abs(), what);
        } else if let Some(stated) = kernel.stated_time(index) {
            let takes = |run, released| readiness::takes(kernel, block.start_ns, run, released);
            // It still stands when the run ends, and nobody knows for how long.
            if at_the_latest == Some(LogTime::MAX)
                && kernel.programmatic.is_dependent
                && observed.is_cut_before(block.end_ns)
            {
                continue;
            }
            let allowed = takes(stated.best, released)..=takes(stated.worst, at_the_latest);
            let counted = |turns: &ObservedTurns| match kernel.clock {
                BlockClock::RunTime => turns.net(context, block.start_ns, block.end_ns),
                BlockClock::Wall => turns.on_timer(context, (block.start_ns, block.end_ns), stated.worst),
            };
            let took = turns.map_or(took, counted).unsigned_abs();
            if !allowed.contains(&took) {
                let by = allowed.start().saturating_sub(took).max(took.saturating_sub(*allowed.end()));
                let what = format!("it took {took} ns, and {} to {} ns are stated", allowed.start(), allowed.end());
                let rule = match turns {
                    Some(_) => AuditRule::T4,
                    None if kernel.programmatic.is_dependent => AuditRule::Pdl,
                    None => AuditRule::Duration,
                };
                finding(rule, index, block.sm, block.start_ns, by, what);
            }
        }
    }
}

fn check_count(
    observed: &ObservedRun,
    operation: &ObservedOperation,
    kernel: &ObservedKernel,
    findings: &mut Vec<Finding>,
) {
    let (seen, grid) = (kernel.blocks.len(), kernel.grid as usize);
    let ran_to_its_end = matches!(observed.source, TimeSource::Simulated { horizon_ns: None, .. });
    if seen > grid || (seen < grid && ran_to_its_end) {
        let (by, what) = (seen.abs_diff(grid) as u64, format!("{seen} blocks ran of a kernel of {grid}"));
        let finding = Finding::new(AuditRule::Time, &operation.name, operation.called_ns, by, what);
        findings.push(finding.counted_in("blocks"));
    }
}

/// What the host saw complete must be complete: otherwise the clocks are further apart than the tolerance, which is
/// found once for each process, where it is worst. Gives how far apart they are at least \[ns\].
pub(super) fn check_clocks(
    observed: &ObservedRun,
    executed: &[Execution],
    tolerances: &Tolerances,
    findings: &mut Vec<Finding>,
) -> i64 {
    let mut worst: BTreeMap<Option<u64>, (i64, &ObservedOperation, LogTime)> = BTreeMap::new();
    for (operation, executed) in observed.operations.iter().zip(executed) {
        let synchronized = operation.kernel().and_then(|kernel| kernel.synchronized_ns);
        let (Some(finish), Some(synchronized)) = (executed.finish, synchronized) else { continue };
        let apart = finish.since(synchronized);
        let entry = worst.entry(operation.process).or_insert((apart, operation, finish));
        if apart > entry.0 {
            *entry = (apart, operation, finish);
        }
    }
    let mut most = 0;
    for (apart, operation, finish) in worst.into_values() {
        most = most.max(apart);
        if apart > tolerances.across_clocks_ns {
            let what = format!("the host saw it complete {} before its last block ended", length(apart));
            findings.push(Finding::new(AuditRule::Clocks, &operation.name, finish, apart.unsigned_abs(), what));
        }
    }
    most
}
