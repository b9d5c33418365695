//! What came of a run: which application had which SM, requirements met, violations, utilization, power.

use serde::Serialize;

use super::model::Class;
use super::set::ApplicationSet;
use crate::time::{Duration, Instant, is_in_time};
use crate::trace::Trace;

/// What came of one injected application.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApplicationOutcome {
    /// Number of the injection, in order of arrival.
    pub injection: u32,
    /// Name of the application.
    pub name: String,
    /// Its class.
    pub class: Class,
    /// When it arrived.
    pub arrival_ns: Instant,
    /// Until when it had to finish (Equation 3).
    pub due_ns: Instant,
    /// When its first operation began; `None` if the run ended before.
    pub start_ns: Option<Instant>,
    /// When its last operation completed.
    pub finish_ns: Option<Instant>,
    /// Whether that was no later than `due_ns`.
    pub met: bool,
    /// How much later it was; 0 if it was met.
    pub late_ns: Duration,
    /// SM time that it used: the sum over all SMs of the time in which one ran its blocks \[ns\].
    pub sm_time_ns: u128,
    /// Idle power and the power of its own SMs, averaged over the time from its start to its finish \[W\].
    pub mean_power_w: f64,
}

/// What came of a run under one scheduler.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the scheduler.
    pub scheduler: &'static str,
    /// How many applications were injected.
    pub applications: usize,
    /// How many met their requirement.
    pub met: usize,
    /// The sum of what the others were late by.
    pub total_violation_ns: Duration,
    /// From the first arrival to the last finish.
    pub span_ns: Duration,
    /// Share of all SM time of the span in which an SM ran at least one block.
    pub utilization: f64,
    /// Mean power of the board over the span, by the linear model \[W\].
    pub mean_power_w: f64,
    /// Energy over the span, by the linear model, divided by the number of applications \[J\].
    pub energy_per_application_j: f64,
    /// The mean of the applications' own mean powers, see [`ApplicationOutcome::mean_power_w`] \[W\].
    pub mean_application_power_w: f64,
    /// Every injection, in order of arrival.
    pub outcomes: Vec<ApplicationOutcome>,
    /// Which application had which SM, and when, ordered by SM and start; none if only sums were kept.
    #[serde(skip)]
    pub segments: Vec<Segment>,
    /// Of each injection, on how many SMs its blocks ran over time, the last entry being 0; empty if that was not kept.
    #[serde(skip)]
    pub sms_over_time: Vec<Vec<SmCount>>,
}

impl Outcome {
    /// Reads off a trace whose operations name their injection as their origin's thread.
    pub fn new(set: &ApplicationSet, scheduler: &'static str, trace: &Trace) -> Self {
        let segments = segments(trace);
        let usage = Usage::of(trace, &segments, set.injections.len());
        Self { segments, ..Self::of_usage(set, scheduler, usage) }
    }

    /// From the sums over a run: everything but the segments.
    pub fn of_usage(set: &ApplicationSet, scheduler: &'static str, usage: Usage) -> Self {
        let count = set.injections.len();
        let outcomes: Vec<ApplicationOutcome> = (0_u32..)
            .zip(&set.injections)
            .map(|(number, injection)| {
                let own = usage.applications.get(number as usize).copied().unwrap_or_default();
                let ApplicationUsage { start, end, unfinished, sm_time_ns } = own;
                let finish = end.filter(|_| unfinished == 0);
                let due = injection.due();
                let (name, class) = set
                    .of(injection)
                    .map_or((String::new(), Class::Low), |(found, _)| (found.name.to_string(), found.class));
                let own_span = end.unwrap_or_default().since(start.unwrap_or_default());
                ApplicationOutcome {
                    injection: number,
                    name,
                    class,
                    arrival_ns: injection.arrival,
                    due_ns: due,
                    start_ns: start,
                    finish_ns: finish,
                    met: finish.is_some_and(|finish| is_in_time(finish, due)),
                    late_ns: finish.unwrap_or(usage.end).since(due),
                    sm_time_ns,
                    mean_power_w: set.power.mean_w(sm_time_ns, own_span.as_ns()),
                }
            })
            .collect();
        let first = set.injections.iter().map(|injection| injection.arrival).min().unwrap_or_default();
        // Not the end of the trace: a scheduler may have asked to be woken after everything was done.
        let finished = outcomes.iter().map(|outcome| outcome.finish_ns.unwrap_or(usage.end)).max();
        let span = finished.unwrap_or_default().since(first);
        let busy = usage.busy_ns;
        let whole = u128::from(span.as_ns()) * u128::from(usage.sms);
        let per_application = |sum: f64| if count == 0 { 0.0 } else { sum / count as f64 };
        Self {
            scheduler,
            applications: count,
            met: outcomes.iter().filter(|outcome| outcome.met).count(),
            total_violation_ns: outcomes.iter().fold(Duration::ZERO, |sum, outcome| sum + outcome.late_ns),
            span_ns: span,
            utilization: if whole == 0 { 0.0 } else { busy as f64 / whole as f64 },
            mean_power_w: set.power.mean_w(busy, span.as_ns()),
            energy_per_application_j: per_application(set.power.energy_j(busy, span.as_ns())),
            mean_application_power_w: per_application(outcomes.iter().map(|outcome| outcome.mean_power_w).sum()),
            outcomes,
            segments: Vec::new(),
            sms_over_time: usage.sms_over_time,
        }
    }

    /// On how many SMs blocks of one injection ran, over time; the last entry is 0. Empty if that was not kept.
    pub fn sms_over_time(&self, injection: u32) -> &[SmCount] {
        self.sms_over_time.get(injection as usize).map_or(&[], Vec::as_slice)
    }
}

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

/// Sums over a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// When the run ended.
    pub end: Instant,
    /// SMs of the device.
    pub sms: u32,
    /// For how long SMs had blocks, added over the SMs \[ns\].
    pub busy_ns: u128,
    /// Of each injection.
    pub applications: Vec<ApplicationUsage>,
    /// Of each injection, on how many SMs its blocks ran over time, the last entry being 0; empty if that was not
    /// asked for.
    pub sms_over_time: Vec<Vec<SmCount>>,
}

/// What one injected application took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ApplicationUsage {
    /// When the first of its operations began.
    pub start: Option<Instant>,
    /// When the last of those that have completed did.
    pub end: Option<Instant>,
    /// Operations that have not completed.
    pub unfinished: u32,
    /// The sum over all SMs of the time in which one ran its blocks \[ns\].
    pub sm_time_ns: u128,
}

impl Usage {
    /// Reads off a trace whose operations name their injection, of which there are `injections`, as their origin's
    /// thread. `segments` are those of the trace.
    pub fn of(trace: &Trace, segments: &[Segment], injections: usize) -> Self {
        let mut applications = vec![ApplicationUsage::default(); injections];
        for segment in segments {
            if let Some(application) = applications.get_mut(segment.injection as usize) {
                application.sm_time_ns += u128::from(segment.duration().as_ns());
            }
        }
        for record in trace.operations() {
            let Some(application) = applications.get_mut(record.origin.thread as usize) else { continue };
            application.start = [application.start, record.first_start()].into_iter().flatten().min();
            application.end = application.end.max(record.finish());
            application.unfinished += u32::from(record.finish().is_none());
        }
        Self {
            end: trace.end(),
            sms: trace.sms(),
            busy_ns: busy_ns(segments),
            applications,
            sms_over_time: sm_counts_of_all(segments, injections),
        }
    }
}
