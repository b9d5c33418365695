//! Which application had which SM, and when, read off a trace.

use serde::Serialize;

use crate::time::{Duration, Instant};
use crate::trace::Trace;

/// A time during which blocks of one injection ran on one SM without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Number of the injection.
    pub injection: u32,
    /// The SM.
    pub sm: u16,
    /// When the first of its blocks was assigned.
    pub start: Instant,
    /// When the last of them completed.
    pub end: Instant,
}

impl Segment {
    /// How long.
    pub fn duration(&self) -> Duration {
        self.end.since(self.start)
    }
}

/// From an instant on, blocks of an application ran on so many SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SmCount {
    /// From when.
    pub at_ns: Instant,
    /// How many.
    pub sms: u32,
}

/// All segments of a trace whose operations name their injection as their origin's thread, ordered by SM and start.
pub fn segments(trace: &Trace) -> Vec<Segment> {
    let mut open: Vec<Option<Segment>> = vec![None; trace.sms() as usize];
    let mut done = Vec::new();
    for (id, record) in trace.numbered() {
        let injection = record.origin.thread;
        for run in trace.repeated_runs(id) {
            let (sm, start, end) = (run.first.sm, run.first.start, run.end());
            let Some(open) = open.get_mut(usize::from(sm)) else { continue };
            match open {
                Some(last) if last.injection == injection && last.start <= start && start <= last.end => {
                    last.end = last.end.max(end);
                }
                _ => done.extend(open.replace(Segment { injection, sm, start, end })),
            }
        }
    }
    done.extend(open.into_iter().flatten());
    crate::sorted::sort_by_key(&mut done, |segment| (segment.sm, segment.start, segment.end, segment.injection));
    done
}

/// How long the SMs were busy, taken together \[ns\]. `segments` must be ordered by SM and start.
pub(super) fn busy_ns(segments: &[Segment]) -> u128 {
    let mut total = 0;
    let mut covered = (u16::MAX, Instant::ZERO);
    for segment in segments {
        let from = if covered.0 == segment.sm { segment.start.max(covered.1) } else { segment.start };
        if segment.end > from {
            total += u128::from(segment.end.since(from).as_ns());
            covered = (segment.sm, segment.end);
        }
    }
    total
}

/// For each of `injections` injections, how many SMs ran its blocks over time; the last entry is 0. `segments` must be
/// ordered by SM and start.
pub(super) fn sm_counts_of_all(segments: &[Segment], injections: usize) -> Vec<Vec<SmCount>> {
    let mut own = vec![Vec::new(); injections];
    for segment in segments {
        if let Some(own) = own.get_mut(segment.injection as usize) {
            own.push(*segment);
        }
    }
    own.into_iter().map(sm_counts).collect()
}

/// How many SMs ran blocks of one injection over time. `own` are its segments, ordered by SM and start.
fn sm_counts(own: Vec<Segment>) -> Vec<SmCount> {
    let mut changes: Vec<(Instant, i64)> = Vec::with_capacity(2 * own.len());
    let mut covered: Option<Segment> = None;
    for segment in own {
        match &mut covered {
            Some(last) if last.sm == segment.sm && segment.start <= last.end => last.end = last.end.max(segment.end),
            _ => {
                changes.extend(covered.replace(segment).into_iter().flat_map(edges));
            }
        }
    }
    changes.extend(covered.into_iter().flat_map(edges));
    changes.sort_unstable();
    let mut counts: Vec<SmCount> = Vec::new();
    let mut sms = 0_i64;
    for (position, &(at, change)) in changes.iter().enumerate() {
        sms += change;
        let more_now = changes.get(position + 1).is_some_and(|&(next, _)| next == at);
        debug_assert!(more_now || sms >= 0, "a segment begins before it ends");
        let count = u32::try_from(sms).unwrap_or(0);
        if !more_now && counts.last().is_none_or(|last| last.sms != count) {
            counts.push(SmCount { at_ns: at, sms: count });
        }
    }
    counts
}

fn edges(segment: Segment) -> [(Instant, i64); 2] {
    [(segment.start, 1), (segment.end, -1)]
}
