//! Checks copies whose times are known: each engine serves one at a time, in the order of its queue, without a pause;
//! or all at once, where copies share its link. Those of contexts that take turns are served in these (T5).

use std::collections::BTreeMap;

use super::audited_run::AuditedRun;
use super::finding::{AuditRule, Finding, length};
use super::launches::Stamp;
use super::observed_run::{ObservedCopy, ObservedRun, ObservedTurns, ObservedWork, TimeSource};
use super::rounds::Sequence;
use crate::device::CopySharing;
use crate::limits::count_turn;
use crate::logs::LogTime;
use crate::proven::OrMost;

/// A copy that ran.
struct Served {
    operation: usize,
    ready: Option<Stamp>,
    start: LogTime,
    end: LogTime,
}

/// What is asked of the copies of each engine, in launch order.
fn by_engine<T>(observed: &ObservedRun, of: impl Fn(usize, &ObservedCopy) -> Option<T>) -> BTreeMap<u32, Vec<T>> {
    let mut engines: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    for (index, operation) in observed.operations.iter().enumerate() {
        let ObservedWork::Copy(copy) = &operation.work else { continue };
        if let Some(asked) = of(index, copy) {
            engines.entry(copy.engine).or_default().push(asked);
        }
    }
    engines
}

/// Checks each engine.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let device = &run.observed.device;
    let shared = device.copy.sharing == CopySharing::SharedLink;
    let by_turns = !shared || run.observed.copies_run_in_turns();
    if by_turns && run.observed.turns().is_some() {
        return;
    }
    let mut engines = by_engine(run.observed, |operation, copy| {
        let [start, end] = copy.times_ns?;
        Some(Served { operation, ready: run.ready[operation].lo.gpu, start, end })
    });
    for served in engines.values_mut() {
        // Ready at one instant through one event: launch order. Where that order is not known, either is accepted.
        crate::sorted::sort_by_key(served, |copy| {
            let at = copy.ready.map(|stamp| stamp.at);
            let rank = if run.clocks.exact { copy.ready.map(|stamp| stamp.rank) } else { None };
            // One without length may have begun and ended where the next began.
            let seen = if run.clocks.exact { None } else { Some((copy.start, copy.end)) };
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
                let name = &run.observed.operations[copy.operation].name;
                findings.push(Finding::new(AuditRule::C2, name, copy.start, wrong.unsigned_abs(), what));
            }
            free = free.max(copy.end);
        }
    }
}

/// In how many parts a nanosecond is divided: 1 to 24 divide it. Shares of more copies are rounded down to such parts
/// for each time in which their number does not change.
const PARTS: u128 = 5_354_228_880;

/// A copy that began.
struct OnLink {
    operation: usize,
    start: LogTime,
    end: LogTime,
    /// How long it takes alone \[ns\].
    alone: u128,
}

/// Copies that share a link: at every instant each has an equal share, and it ends with the nanosecond in which it has
/// had what it takes alone. So the link gives no more than there is, and loses nothing. Every copy is judged by the
/// times at which the others were seen to run; in a measured run nobody saw copies begin.
pub(super) fn check_links(observed: &ObservedRun, findings: &mut Vec<Finding>) {
    let TimeSource::Simulated { horizon_ns, .. } = observed.source else { return };
    let is_in_turns = observed.turns().is_some() && observed.copies_run_in_turns();
    if observed.device.copy.sharing != CopySharing::SharedLink || is_in_turns {
        return;
    }
    let links = by_engine(observed, |operation, copy| {
        let ([start, end], alone) = copy.times_ns.zip(copy.duration_ns)?;
        Some(OnLink { operation, start, end, alone: u128::from(alone.unsigned_abs()) })
    });
    for copies in links.values() {
        let given = Given::of(copies);
        for copy in copies {
            let name = &observed.operations[copy.operation].name;
            let judged = given.judge(copy, horizon_ns);
            findings.extend(judged.map(|(by, what)| Finding::new(AuditRule::Duration, name, copy.start, by, what)));
        }
    }
}

/// What a copy that runs all the time would have had of a link.
struct Given {
    /// From when on, so far \[parts of a nanosecond\], and how many copies run from then on; in order of time.
    steps: Vec<(LogTime, u128, u128)>,
}

impl Given {
    fn of(copies: &[OnLink]) -> Self {
        let mut changes: BTreeMap<LogTime, (u128, u128)> = BTreeMap::new();
        for copy in copies.iter().filter(|copy| copy.start <= copy.end) {
            changes.entry(copy.start).or_default().0 += 1;
            changes.entry(copy.end).or_default().1 += 1;
        }
        let mut steps: Vec<(LogTime, u128, u128)> = Vec::with_capacity(changes.len());
        for (at, (begin, end)) in changes {
            let (given, running) = match steps.last() {
                Some(&(since, given, running)) => (given + share(since, at, running), running),
                None => (0, 0),
            };
            steps.push((at, given, running + begin - end));
        }
        Self { steps }
    }

    /// Until `at`, at which something may have changed or not.
    fn until(&self, at: LogTime) -> u128 {
        let last = self.steps[..self.steps.partition_point(|step| step.0 <= at)].last();
        last.map_or(0, |&(since, given, running)| given + share(since, at, running))
    }

    /// By how much a copy ended too early or too late, and how that is said.
    fn judge(&self, copy: &OnLink, horizon: Option<LogTime>) -> Option<(u64, String)> {
        let (wanted, from) = (copy.alone * PARTS, self.until(copy.start));
        let ns = |parts: u128| u64::try_from(parts.div_ceil(PARTS)).or_most();
        if copy.end < copy.start {
            let by = copy.start.since(copy.end);
            return Some((by.unsigned_abs(), format!("it ended {} before it started", length(by))));
        }
        // What had not ended by the horizon was still short of it then.
        let end = horizon.map_or(copy.end, |horizon| copy.end.min(horizon));
        let had = self.until(end).saturating_sub(from);
        if end == copy.end && had < wanted {
            let by = ns(wanted - had);
            return Some((
                by,
                format!("it ended when its share of the link was {by} ns short of its {} ns", copy.alone),
            ));
        }
        // Nothing changed in the nanosecond before its end.
        let just_before = if end < copy.end { had } else { self.until(end.saturating_sub(1)).saturating_sub(from) };
        if end > copy.start && just_before >= wanted {
            let by = ns(just_before - wanted).max(1);
            let what = format!("it ended when its share of the link was {by} ns or more beyond its {} ns", copy.alone);
            return Some((by, what));
        }
        None
    }
}

/// The share of each of `running` copies in a time.
fn share(from: LogTime, to: LogTime, running: u128) -> u128 {
    u128::from(to.since(from).unsigned_abs()) * PARTS / running.max(1)
}

/// A copy of a context that takes turns, while these are followed.
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

/// T5: copies of several contexts on one engine, in a simulated run. Where all engines share a runlist, copies go on in
/// the turns of their contexts. Otherwise contexts take turns on each engine by themselves, and when each copy should
/// have begun and ended follows from when all of them were ready.
pub(super) fn check_turns(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let Some(turns) = run.observed.turns() else { return };
    let mut engines = by_engine(run.observed, |operation, copy| {
        let (at, context) = (run.ready[operation].lo.latest(), run.observed.context_of(operation));
        let left = copy.duration_ns.filter(|_| at < LogTime::MAX)?;
        Some(PendingCopy { operation, context, at, left, start: None, end: None })
    });
    for copies in engines.values_mut() {
        crate::sorted::sort_by_key(copies, |copy| (run.ready[copy.operation].lo.gpu, copy.operation));
        if run.observed.copies_run_in_turns() {
            in_turns(run, turns, copies);
        } else {
            by_themselves(run, turns, copies);
        }
        for copy in copies.iter() {
            findings.extend(judged(run, turns, copy));
        }
    }
}

fn judged(run: &AuditedRun<'_>, turns: &ObservedTurns, copy: &PendingCopy) -> Option<Finding> {
    let operation = &run.observed.operations[copy.operation];
    let ObservedWork::Copy(seen) = &operation.work else { return None };
    let in_run = |at: Option<LogTime>| at.filter(|&at| at <= turns.run_end_ns);
    let (start, end) = (seen.times_ns.map(|times| times[0]), seen.times_ns.map(|times| times[1]));
    let (seen, wanted) = ((in_run(start), in_run(end)), (in_run(copy.start), in_run(copy.end)));
    if seen == wanted {
        return None;
    }
    let (seen, wanted) = if seen.0 == wanted.0 { (seen.1, wanted.1) } else { (seen.0, wanted.0) };
    let said =
        |at: Option<LogTime>| at.map_or_else(|| "not at all".to_owned(), |at| format!("at {}", length(at.as_ns())));
    let what =
        format!("by the turns of the contexts on its engine it was due {}, and came {}", said(wanted), said(seen));
    let (at, by) = (seen.or(wanted).unwrap_or(copy.at), seen.zip(wanted).map_or(0, |(one, other)| one.abs_diff(other)));
    Some(Finding::new(AuditRule::T5, &operation.name, at, by, what))
}

/// Each context runs its copies one after another in its turns.
fn in_turns(run: &AuditedRun<'_>, turns: &ObservedTurns, copies: &mut [PendingCopy]) {
    let sequence = Sequence::new(run, turns);
    for context in 0..run.observed.context_count() {
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
fn by_themselves(run: &AuditedRun<'_>, turns: &ObservedTurns, copies: &mut [PendingCopy]) {
    // Levels are those of the compute engine (T6).
    let round: Vec<usize> = (0..turns.levels.len()).collect();
    let slice = i64::try_from(run.observed.device.time_slicing.copy_time_slice.as_ns()).or_most().max(1);
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
