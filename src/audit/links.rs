//! Copies that share a link: at every instant each has an equal share, and it ends with the nanosecond in which it has
//! had what it takes alone. So the link gives no more than there is, and loses nothing.
//!
//! Every copy is judged by the times at which the others were seen to run.

use std::collections::BTreeMap;

use super::finding::{AuditRule, Finding, length};
use super::observation::{Observation, ObservedContexts, ObservedWork, TimeSource};
use crate::device::CopySharing;
use crate::logs::LogTime;
use crate::proven::OrMost;

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

/// Checks every link of a simulated run; in a measured one nobody saw copies begin.
pub(super) fn check(observation: &Observation, findings: &mut Vec<Finding>) {
    let TimeSource::Simulated { horizon_ns, .. } = observation.source else { return };
    let is_in_turns = matches!(observation.contexts, ObservedContexts::Seen(_)) && observation.copies_run_in_turns();
    if observation.device.copy.sharing != CopySharing::SharedLink || is_in_turns {
        return;
    }
    let mut links: BTreeMap<u32, Vec<OnLink>> = BTreeMap::new();
    for (operation, observed) in observation.operations.iter().enumerate() {
        let ObservedWork::Copy(copy) = &observed.work else { continue };
        let (Some([start, end]), Some(alone)) = (copy.times_ns, copy.duration_ns) else { continue };
        let alone = u128::from(alone.unsigned_abs());
        links.entry(copy.engine).or_default().push(OnLink { operation, start, end, alone });
    }
    for copies in links.values() {
        let given = Given::of(copies);
        for copy in copies {
            let name = &observation.operations[copy.operation].name;
            findings.extend(given.judge(copy, horizon_ns).map(|(by, what)| Finding {
                rule: AuditRule::Duration,
                kernel: name.clone(),
                block: None,
                sm: None,
                at_ns: copy.start,
                by,
                unit: "ns",
                what,
            }));
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
        let before = self.steps.partition_point(|step| step.0 <= at);
        let step = before.checked_sub(1).and_then(|last| self.steps.get(last));
        step.map_or(0, |&(since, given, running)| given + share(since, at, running))
    }

    /// Until 1 ns before `at`, before which nothing changed in that nanosecond.
    fn until_just_before(&self, at: LogTime) -> u128 {
        let before = self.steps.partition_point(|step| step.0 < at);
        let step = before.checked_sub(1).and_then(|last| self.steps.get(last));
        step.map_or(0, |&(since, given, running)| given + share(since, at.saturating_sub(1), running))
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
        let just_before = if end < copy.end { had } else { self.until_just_before(end).saturating_sub(from) };
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
