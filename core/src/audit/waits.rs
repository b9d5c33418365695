//! Whether anything went on before what it has to wait for: nothing starts before it may enter its EE or CE queue (G1,
//! G4, N1, N2, E2, L1, L2), no block is assigned before those ahead of its kernel (X1, A2), and calls that free memory
//! wait for all work of their process and no longer (H1), while no other thread of it launches anything (H2).

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::audited_run::AuditedRun;
use super::finding::{AuditRule, Finding, length};
use super::launches::{Stamp, When};
use super::observed_run::{ObservedFree, ObservedWork};
use crate::logs::LogTime;

/// Nothing starts before it was launched, nor before what N1, N2, events and its stream put in front of it.
pub(super) fn check_ready(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let operations = &run.observed.operations;
    let tolerance = run.clocks.tolerances.across_clocks_ns;
    for (index, operation) in operations.iter().enumerate() {
        let Some(start) = run.executed[index].first_start else { continue };
        let block =
            operation.kernel().and_then(|kernel| kernel.blocks.times.iter().position(|[other, _]| *other == start));
        let sm = block.and_then(|block| operation.kernel()?.blocks.sms.get(block).copied());
        let mut finding = |rule, by: i64, what| {
            let finding = Finding::new(rule, &operation.name, start, by.unsigned_abs(), what);
            findings.push(Finding { block, sm, ..finding });
        };
        let early = operation.called_ns.since(start);
        if early > tolerance {
            finding(AuditRule::G1, early, format!("it started {} before it was launched", length(early)));
        }
        let started = When::on_gpu(Stamp::assignment(start));
        let waits = &run.ready[index];
        let null_rule = if run.observed.is_null(operation.stream) { AuditRule::N1 } else { AuditRule::N2 };
        for (rule, held) in [(AuditRule::L1, waits.launch_latency), (AuditRule::L2, waits.kernel_gap)] {
            let Some(over) = held.filter(|over| run.clocks.surely_before(&started, over)) else { continue };
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
            let is_early = run.clocks.surely_before(&started, &complete);
            if !is_early || rule == AuditRule::G4 && is_measured_pdl(run, index, other) {
                continue;
            }
            too_early_for_event |= rule == AuditRule::E2;
            let early = complete.latest().since(start);
            let is_dependent = operation.kernel().is_some_and(|kernel| kernel.programmatic.is_dependent);
            let rule = if rule == AuditRule::G4 && is_dependent { AuditRule::Pdl } else { rule };
            let (stream, done) = match rule {
                AuditRule::E2 => ("for which its stream waits", "was complete"),
                AuditRule::G4 => ("before it in its stream", "was complete"),
                AuditRule::Pdl => ("before it in its stream", "had triggered or ended"),
                AuditRule::Channel => ("ahead of it in its hardware channel", "had gone on"),
                AuditRule::N1 => ("launched before it in a blocking stream", "was complete"),
                _ => ("launched before it on the NULL stream", "was complete"),
            };
            let name = &operations[other].name;
            let what = if complete.latest() == LogTime::MAX {
                format!("it started although {name}, {stream}, never completed")
            } else {
                format!("it started {} before {name}, {stream}, {done}", length(early))
            };
            finding(rule, early, what);
        }
    }
}

/// Whether a measured kernel began before the one before it in its stream had ended, and the GPU has what explains
/// that.
fn is_measured_pdl(run: &AuditedRun<'_>, index: usize, before: usize) -> bool {
    let operations = &run.observed.operations;
    let are_kernels = operations[index].kernel().is_some() && operations[before].kernel().is_some();
    !run.observed.is_simulated() && are_kernels && run.observed.device.has_programmatic_launch()
}

/// How many measured kernels began so (PDL).
pub(super) fn programmatic_launches(run: &AuditedRun<'_>) -> usize {
    let begins_early = |index: &usize| {
        let (executed, waits) = (&run.executed[*index], &run.ready[*index]);
        let (Some(start), Some((before, complete))) = (executed.first_start, waits.stream) else { return false };
        let started = When::on_gpu(Stamp::assignment(start));
        run.clocks.surely_before(&started, &complete) && is_measured_pdl(run, *index, before)
    };
    (0..run.observed.operations.len()).filter(begins_early).count()
}

/// Checks each block against the kernels that surely waited when it started.
pub(super) fn check_queues(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let observed = run.observed;
    let tolerance = run.clocks.tolerances.one_clock_ns;
    let mut entering: Vec<(LogTime, usize)> = (0..run.executed.len())
        .filter(|&index| observed.operations[index].kernel().is_some())
        .filter_map(|index| Some((run.hi(index)?.latest(), index)))
        .collect();
    entering.sort_unstable();
    let mut entering = entering.into_iter().peekable();
    let mut waiting: Vec<usize> = Vec::new();
    // Until then all of those wait.
    let mut until = LogTime::MAX;
    let until_of = |kernel: usize| run.executed[kernel].last_start.saturating_sub(tolerance);
    let mut found = FxHashSet::default();
    for start in run.counted(run.events.starts()) {
        while let Some((_, kernel)) = entering.next_if(|(at, _)| *at <= start.at) {
            waiting.push(kernel);
            until = until.min(until_of(kernel));
        }
        if until <= start.at {
            waiting.retain(|&kernel| until_of(kernel) > start.at);
            until = waiting.iter().map(|&kernel| until_of(kernel)).min().unwrap_or(LogTime::MAX);
        }
        let starting = start.operation();
        let operation = &observed.operations[starting];
        for &other in &waiting {
            let Some(rule) = broken(run, starting, other, start.at) else { continue };
            if !found.insert((starting, other)) {
                continue;
            }
            let (name, last) = (&observed.operations[other].name, run.executed[other].last_start);
            let early = last.since(start.at);
            let before = if last == LogTime::MAX {
                format!("although {name} never got all its blocks")
            } else {
                format!("{} before the last block of {name}", length(early))
            };
            let what = match rule {
                AuditRule::A2 => format!("it started {before}, which waited with a higher priority"),
                _ if observed.has_unknown_priority(operation) => format!(
                    "it started {before}, which was ahead of it; only a higher priority of its stream, which a log \
                     does not tell, would explain that"
                ),
                _ => format!("it started {before}, which was ahead of it in the EE queue"),
            };
            let finding = Finding::new(rule, &operation.name, start.at, early.unsigned_abs(), what);
            findings.push(finding.of_block(start.block as usize, start.sm));
        }
    }
}

/// The rule that a block of `starting` breaks by starting at `at`, while `other` waits.
fn broken(run: &AuditedRun<'_>, starting: usize, other: usize, at: LogTime) -> Option<AuditRule> {
    // Each context has queues of its own, and so have green contexts and some clients of MPS.
    if starting == other || !run.observed.share_queues(starting, other) {
        return None;
    }
    let (own, others) = (run.executed[starting].priority, run.executed[other].priority);
    if others < own {
        let assigned = When::on_gpu(Stamp::assignment(at));
        return run.clocks.surely_before(&run.hi(other)?, &assigned).then_some(AuditRule::A2);
    }
    (others == own && run.surely_ahead(other, starting)).then_some(AuditRule::X1)
}

/// Checks each call of a simulated run; logs show none.
pub(super) fn check_calls(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    run.observed.frees.iter().for_each(|free| check_call(run, free, findings));
}

fn check_call(run: &AuditedRun<'_>, free: &ObservedFree, findings: &mut Vec<Finding>) {
    let observed = run.observed;
    let mut last: Option<(LogTime, &Arc<str>)> = None;
    for (operation, executed) in observed.operations.iter().zip(&run.executed) {
        if observed.stream_of(operation).is_none_or(|stream| stream.process != free.process) {
            continue;
        }
        let mut found = |rule, at_ns, by, what: &str| {
            findings.push(Finding::new(rule, &operation.name, at_ns, by, what.to_owned()));
        };
        let launched = operation.launched_ns[0];
        let is_in_call = launched > free.from_ns && free.to_ns.is_none_or(|to| launched < to);
        if is_in_call && operation.thread != free.thread {
            let what = "it was launched while another thread of its process freed memory";
            found(AuditRule::H2, launched, launched.abs_diff(free.from_ns), what);
        }
        let takes_time = !is_instant(&operation.work);
        // What others launch at the instant of the call comes before it, or is held; both may be this instant, too.
        let is_before = |to: LogTime| launched < free.from_ns || launched == free.from_ns && to > free.from_ns;
        let Some(to) = free.to_ns.filter(|to| takes_time && is_before(*to)) else { continue };
        match executed.finish {
            Some(finish) if finish <= to => last = last.max(Some((finish, &operation.name))),
            finish => {
                let what = "a call that frees memory returned before it was complete";
                found(AuditRule::H1, to, finish.map_or(0, |finish| finish.abs_diff(to)), what);
            }
        }
    }
    // Operations without length may complete later than these, and a thread may have to wait for its core.
    if let (Some(to), Some((finish, name))) = (free.to_ns, last)
        && finish.max(free.from_ns) < to
        && !free.shares_core
        && observed.operations.iter().all(|operation| !is_instant(&operation.work))
    {
        let what = "a call that frees memory went on waiting when the last operation of its process was complete";
        findings.push(Finding::new(AuditRule::H1, name, to, to.abs_diff(finish), what.to_owned()));
    }
}

const fn is_instant(work: &ObservedWork) -> bool {
    !matches!(work, ObservedWork::Kernel(_) | ObservedWork::Copy(_))
}
