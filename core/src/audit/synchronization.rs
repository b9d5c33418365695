//! Blocks that signal and wait while they run, streams that wait for values, and cooperative launches: counters are
//! computed anew from when blocks passed their points and streams wrote. In which order several things of one instant
//! changed a counter is not known, so each instant has the least and the most that the counter may have held.

use std::collections::BTreeMap;

use super::audited_run::AuditedRun;
use super::finding::{AuditRule, Finding};
use super::observed_run::{ObservedKernel, ObservedWork, TimeSource};
use crate::logs::LogTime;
use crate::time::Duration;
use crate::workload::{CounterValue, PointAction};

/// What changes a counter at one instant: values that are written, and how often it is signalled.
#[derive(Default)]
struct Changes {
    written: Vec<u64>,
    signals: u64,
}

/// What a counter may have held: at most at some time of an instant, and at most and at least when that is over.
#[derive(Clone, Copy, Default)]
struct Held {
    most: u64,
    after: u64,
    least: u64,
}

/// A wait that was seen: of which block of which operation, for what, since when for certain, and until when.
struct Seen {
    operation: usize,
    block: Option<usize>,
    value: CounterValue,
    from: LogTime,
    to: LogTime,
}

#[derive(Default)]
struct Points {
    changes: BTreeMap<u32, BTreeMap<LogTime, Changes>>,
    waits: Vec<Seen>,
}

/// Where contexts take turns, nothing is judged but that blocks of a cooperative launch begin together: blocks come to
/// their points by the time that they have had.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let observed = run.observed;
    let end = match observed.source {
        TimeSource::Simulated { horizon_ns, .. } => horizon_ns.unwrap_or(LogTime::MAX),
        TimeSource::Measured => return,
    };
    let mut points = Points::default();
    for (index, operation) in observed.operations.iter().enumerate() {
        match &operation.work {
            ObservedWork::Kernel(kernel) => {
                let Some(all) = &kernel.synchronization else { continue };
                if all.is_cooperative && !begin_together(kernel) {
                    let what = "its blocks did not begin at one instant, although its launch is cooperative".to_owned();
                    let at = run.executed[index].first_start.unwrap_or(LogTime::MIN);
                    findings.push(Finding::new(AuditRule::Cooperative, &operation.name, at, 0, what));
                }
                if observed.turns().is_none() {
                    check_kernel(run, (index, kernel), end, &mut points, findings);
                }
            }
            ObservedWork::Value(seen) if observed.turns().is_none() => {
                let ready = &run.ready[index];
                let from = ready.hi.map_or(LogTime::MAX, |hi| hi.latest());
                let is_known = from < LogTime::MAX && from <= end;
                if seen.finish_ns < ready.lo.latest() || !seen.waits && is_known && seen.finish_ns > from {
                    let what = "it was over before it came to the head of its stream, or later".to_owned();
                    findings.push(Finding::new(AuditRule::Counter, &operation.name, ready.lo.latest(), 0, what));
                }
                if seen.waits {
                    let (value, to) = (seen.value, seen.finish_ns);
                    points.waits.push(Seen { operation: index, block: None, value, from, to });
                } else if seen.finish_ns < LogTime::MAX {
                    points.at(seen.value.counter.0, seen.finish_ns).written.push(seen.value.value);
                }
            }
            _ => {}
        }
    }
    points.judge(run, end, findings);
}

fn begin_together(kernel: &ObservedKernel) -> bool {
    let first = kernel.blocks.times.first();
    first.is_none_or(|[start, _]| kernel.is_whole() && kernel.blocks.times.iter().all(|[other, _]| other == start))
}

/// Each block comes to each of its points when its time says, and takes its time and what it waited, and no more.
fn check_kernel(
    run: &AuditedRun<'_>,
    (index, kernel): (usize, &ObservedKernel),
    end: LogTime,
    points: &mut Points,
    findings: &mut Vec<Finding>,
) {
    let name = &run.observed.operations[index].name;
    let all = kernel.synchronization.as_ref().map_or(&[][..], |all| &all.points);
    // Of each barrier, when blocks came to it and left it.
    let mut barriers: BTreeMap<usize, Vec<(usize, LogTime, LogTime)>> = BTreeMap::new();
    for (number, block) in kernel.blocks.iter().enumerate() {
        let Some(stated) = kernel.stated_time(number) else { continue };
        let first = kernel.stands.partition_point(|stand| stand.block < number);
        let own = || kernel.stands[first..].iter().take_while(|stand| stand.block == number);
        // One that still waits when the run ends is told to do so for a nanosecond more.
        let until = |to: LogTime, from: LogTime| {
            if to == LogTime::MAX { end.max(from).saturating_add(1) } else { to }
        };
        let stood: i64 = own().map(|stand| until(stand.to_ns, stand.from_ns).since(stand.from_ns)).sum();
        let time = Duration::from_ns((block.end_ns.since(block.start_ns) - stood).max(0).unsigned_abs());
        let mut wrong = |rule, at: LogTime, what: String| {
            findings.push(Finding::new(rule, name, at, 0, what).of_block(number, Some(block.sm)));
        };
        if time < stated.best || time > stated.worst {
            let what =
                format!("it ran for {time} beside what it waited, and {} to {} are stated", stated.best, stated.worst);
            wrong(AuditRule::Duration, block.start_ns, what);
            continue;
        }
        let (mut at, mut progress) = (block.start_ns, Duration::ZERO);
        let mut met = 0;
        for (place, point) in all.iter().enumerate() {
            at = at.after(Duration::from_ns(point.at.of(time).as_ns() - progress.as_ns()));
            progress = point.at.of(time);
            let stand = own().find(|stand| stand.point == place);
            met += usize::from(stand.is_some());
            if at > end {
                break;
            }
            if stand.is_some_and(|stand| stand.from_ns != at) {
                wrong(AuditRule::Counter, at, "it began to wait before it came to where it waits, or later".to_owned());
            }
            let left = stand.map_or(at, |stand| stand.to_ns);
            match point.action {
                PointAction::Signal(counter) => points.at(counter.0, at).signals += 1,
                PointAction::Wait(value) => {
                    points.waits.push(Seen { operation: index, block: Some(number), value, from: at, to: left });
                }
                PointAction::GridSync => barriers.entry(place).or_default().push((number, at, left)),
            }
            at = left;
            if left == LogTime::MAX {
                break;
            }
        }
        if met != own().count() {
            wrong(AuditRule::Counter, block.start_ns, "it waited where its kernel says nothing of it".to_owned());
        }
    }
    for blocks in barriers.into_values() {
        let last = blocks.iter().map(|(_, came, _)| *came).max().filter(|_| blocks.len() >= kernel.grid as usize);
        let opens = last.unwrap_or(LogTime::MAX);
        for (number, _, left) in blocks.into_iter().filter(|(_, _, left)| *left != opens) {
            let what = "it left a barrier before all blocks of its grid had come, or later".to_owned();
            findings.push(Finding::new(AuditRule::Counter, name, left.min(opens), 0, what).of_block(number, None));
        }
    }
}

impl Points {
    fn at(&mut self, counter: u32, at: LogTime) -> &mut Changes {
        self.changes.entry(counter).or_default().entry(at).or_default()
    }

    /// Nobody went on before the counter can have been reached, nor waited on once it surely was.
    fn judge(self, run: &AuditedRun<'_>, end: LogTime, findings: &mut Vec<Finding>) {
        let mut held: BTreeMap<u32, BTreeMap<LogTime, Held>> = BTreeMap::new();
        for (counter, changes) in self.changes {
            let mut now = Held::default();
            for (at, Changes { written, signals }) in changes {
                let highest = written.iter().copied().max();
                now.most = now.after.max(highest.unwrap_or(0)).saturating_add(signals);
                now.after = highest.unwrap_or(now.after).saturating_add(signals);
                // With several writes any may be the last, before or behind all signals.
                now.least = written.iter().copied().min().unwrap_or(now.least.saturating_add(signals));
                held.entry(counter).or_default().insert(at, now);
            }
        }
        let none = BTreeMap::new();
        for Seen { operation, block, value, from, to } in self.waits {
            if !run.observed.known_counters.contains(&value.counter.0) {
                continue;
            }
            let all = held.get(&value.counter.0).unwrap_or(&none);
            let at = |at: LogTime| all.range(..=at).next_back();
            let most = at(to).map_or(0, |(last, held)| if *last == to { held.most } else { held.after });
            let wrong = if to < LogTime::MAX && most < value.value {
                Some((to, "it went on before the counter was reached that it waits for"))
            } else {
                let is_reached = |held: &Held| held.least >= value.value;
                let already =
                    from < to.min(end) && (value.value == 0 || at(from).is_some_and(|(_, held)| is_reached(held)));
                let reached = || {
                    all.range(from.min(to)..to).find(|(at, held)| **at <= end && is_reached(held)).map(|(at, _)| *at)
                };
                let since = if already { Some(from) } else { reached() };
                since.map(|since| (since, "it went on waiting when the counter was reached that it waits for"))
            };
            if let Some((at, what)) = wrong {
                let name = &run.observed.operations[operation].name;
                let finding = Finding::new(AuditRule::Counter, name, at, 0, what.to_owned());
                findings.push(Finding { block, ..finding });
            }
        }
    }
}
