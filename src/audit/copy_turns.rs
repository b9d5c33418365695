//! T5: copies of several contexts on one engine, in a simulated run.
//!
//! Where all engines share a runlist, copies go on in the turns of their contexts. Otherwise contexts take turns on
//! each engine by themselves, and when each copy should have begun and ended follows from when all of them were ready.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{AuditRule, Finding, length};
use super::observation::{ObservedContexts, ObservedWork};
use super::observed_turns::ObservedTurns;
use super::rounds::Sequence;
use crate::limits::count_turn;
use crate::logs::LogTime;
use crate::proven::OrMost;

#[derive(Debug, Clone, Copy)]
struct PendingCopy {
    operation: usize,
    context: usize,
    at: LogTime,
    /// What is left of it \[ns\].
    left: i64,
    /// When it should have begun and ended.
    start: Option<LogTime>,
    end: Option<LogTime>,
}

/// Checks each engine.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let ObservedContexts::Seen(turns) = &case.observation.contexts else { return };
    let mut engines: BTreeMap<u32, Vec<PendingCopy>> = BTreeMap::new();
    for (operation, observed) in case.observation.operations.iter().enumerate() {
        let ObservedWork::Copy(copy) = &observed.work else { continue };
        let (at, context) = (case.ready[operation].lo, case.observation.context_of(operation));
        let Some(left) = copy.duration_ns.filter(|_| at.latest() < LogTime::MAX) else { continue };
        let ready = PendingCopy { operation, context, at: at.latest(), left, start: None, end: None };
        engines.entry(copy.engine).or_default().push(ready);
    }
    for copies in engines.values_mut() {
        crate::sorted::sort_by_key(copies, |copy| (case.ready[copy.operation].lo.gpu, copy.operation));
        if case.observation.copies_run_in_turns() {
            in_turns(case, turns, copies);
        } else {
            by_themselves(case, turns, copies);
        }
        for copy in copies.iter() {
            findings.extend(judged(case, turns, copy));
        }
    }
}

fn judged(case: &Case<'_>, turns: &ObservedTurns, copy: &PendingCopy) -> Option<Finding> {
    let observed = &case.observation.operations[copy.operation];
    let ObservedWork::Copy(seen) = &observed.work else { return None };
    let in_run = |at: Option<LogTime>| at.filter(|&at| at <= turns.run_end_ns);
    let (start, end) = (seen.times_ns.map(|times| times[0]), seen.times_ns.map(|times| times[1]));
    let (seen, wanted) = ((in_run(start), in_run(end)), (in_run(copy.start), in_run(copy.end)));
    if seen == wanted {
        return None;
    }
    let (seen, wanted) = if seen.0 == wanted.0 { (seen.1, wanted.1) } else { (seen.0, wanted.0) };
    let said =
        |at: Option<LogTime>| at.map_or_else(|| "not at all".to_owned(), |at| format!("at {}", length(at.as_ns())));
    Some(Finding {
        rule: AuditRule::T5,
        kernel: observed.name.clone(),
        block: None,
        sm: None,
        at_ns: seen.or(wanted).unwrap_or(copy.at),
        by: seen.zip(wanted).map_or(0, |(seen, wanted)| seen.abs_diff(wanted)),
        unit: "ns",
        what: format!(
            "by the turns of the contexts on its engine it was due {}, and came {}",
            said(wanted),
            said(seen)
        ),
    })
}

/// Each context runs its copies one after another in its turns.
fn in_turns(case: &Case<'_>, turns: &ObservedTurns, copies: &mut [PendingCopy]) {
    let sequence = Sequence::new(case, turns);
    for context in 0..case.observation.context_count() {
        let open: Vec<(LogTime, LogTime)> = sequence.open_times(context).collect();
        let whole: Vec<_> = turns.turns.iter().filter(|turn| turn.process == context).collect();
        let mut free = LogTime::MIN;
        for copy in copies.iter_mut().filter(|copy| copy.context == context) {
            let from = copy.at.max(free);
            let fits = open.iter().find(|&&(start, until)| from.max(start) < until);
            let Some(start) = fits.map(|&(start, _)| start.max(from)) else { break };
            copy.start = Some(start);
            let mut left = copy.left;
            for turn in whole.iter().filter(|turn| turn.end_ns >= start) {
                let begun = turn.start_ns.max(start);
                if turn.end_ns.since(begun) >= left {
                    copy.end = Some(begun.saturating_add(left));
                    break;
                }
                left -= turn.end_ns.since(begun).max(0);
            }
            let Some(end) = copy.end else { break };
            free = end;
        }
    }
}

/// The contexts take turns on the engine.
fn by_themselves(case: &Case<'_>, turns: &ObservedTurns, copies: &mut [PendingCopy]) {
    // Levels are those of the compute engine (T6).
    let round: Vec<usize> = (0..turns.levels.len()).collect();
    let slice = i64::try_from(case.observation.device.time_slicing.copy_time_slice.as_ns()).or_most().max(1);
    let (mut now, mut place) = (LogTime::MIN, round.len() - 1);
    // The first copy of a context that is not done.
    let next_of = |copies: &[PendingCopy], context: usize| {
        copies.iter().position(|copy| copy.context == context && copy.end.is_none())
    };
    let next_place = |place: usize, is_asked_for: &dyn Fn(usize) -> bool| {
        (1..=round.len()).map(|step| (place + step) % round.len()).find(|&place| is_asked_for(round[place]))
    };
    loop {
        count_turn();
        let first = copies.iter().filter(|copy| copy.end.is_none()).map(|copy| copy.at).min();
        let Some(first) = first else { return };
        now = now.max(first);
        let has_work = |context: usize| next_of(copies, context).is_some_and(|copy| copies[copy].at <= now);
        let Some(chosen) = next_place(place, &has_work) else { return };
        place = chosen;
        let (context, began) = (round[place], now);
        let others = round.iter().filter(|&&other| other != context).filter_map(|&other| next_of(copies, other));
        let until = others.map(|copy| copies[copy].at.max(began)).min().map_or(LogTime::MAX, |others| {
            let slices = (others.since(began).max(1) - 1) / slice + 1;
            began.saturating_add(slices.saturating_mul(slice))
        });
        while let Some(copy) = next_of(copies, context).map(|copy| &mut copies[copy]) {
            count_turn();
            if copy.at > now || now >= until {
                break;
            }
            copy.start.get_or_insert(now);
            let time = copy.left.min(until.since(now));
            copy.left -= time;
            now = now.saturating_add(time);
            if copy.left == 0 {
                copy.end = Some(now);
            }
        }
    }
}
