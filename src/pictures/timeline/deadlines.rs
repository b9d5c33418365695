//! Deadlines of jobs, marked in the rows of their streams.

use std::collections::BTreeSet;

use super::context::Context;
use super::{DeadlineMark, LegendSymbol, StreamRow};
use crate::draw::{Length, MM};
use crate::limits::count_turn;
use crate::run::{DueJobs, due_jobs};
use crate::scenario::Scenario;
use crate::workload::{KernelId, OperationKind, StreamId};

/// Marks closer than this are drawn as one.
const LEAST_DISTANCE: Length = 8 * MM / 10;
/// Width of a mark's head.
const HEAD: Length = 11 * MM / 10;
/// Jobs of one mark that are told one by one.
const MOST_TOLD: usize = 12;

/// The jobs whose deadlines are in the window, in order of time.
pub(super) struct Deadlines(Vec<DueJobs>);

impl Deadlines {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let window = context.scale.window.start..=context.scale.window.end;
        Self(due_jobs(&context.summary).iter().filter_map(|jobs| jobs.within(&window)).collect())
    }

    /// The streams in whose rows there are marks.
    pub(super) fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.0.iter().map(|jobs| jobs.stream)
    }

    /// The kernels that jobs launch of which one misses its deadline, and the streams in whose rows that is marked.
    pub(super) fn missed(&self, scenario: &Scenario) -> (BTreeSet<KernelId>, BTreeSet<StreamId>) {
        let missed: Vec<&DueJobs> = self.0.iter().filter(|jobs| jobs.is_missed()).collect();
        let threads: BTreeSet<u32> = missed.iter().map(|jobs| jobs.thread).collect();
        let steps = threads.iter().filter_map(|id| scenario.threads.get(*id as usize)).flat_map(|thread| &thread.steps);
        let kernels = steps.filter_map(|step| match step.submission()?.0 {
            OperationKind::Kernel(kernel) => Some(kernel),
            _ => None,
        });
        (kernels.collect(), missed.iter().map(|jobs| jobs.stream).collect())
    }

    /// What the marks of `rows` mean, of which those that are too close to draw are not.
    pub(super) fn legend(&self, rows: &[StreamRow]) -> Vec<(LegendSymbol, String)> {
        let missed: u64 = self.0.iter().filter(|jobs| jobs.is_missed()).map(|jobs| jobs.count).sum();
        let mut entries = Vec::new();
        if rows.iter().flat_map(|row| &row.deadlines).any(|mark| mark.missed == 0) {
            entries.push((LegendSymbol::Deadline, "deadline".to_owned()));
        }
        if missed > 0 {
            let jobs = if missed == 1 { "job" } else { "jobs" };
            entries.push((LegendSymbol::DeadlineMissed, format!("deadline missed ({missed} {jobs})")));
        }
        entries
    }

    /// The marks of a row, from left to right. One that stands for several jobs is that of a miss if one of them is.
    pub(super) fn marks(&self, context: &Context<'_>, streams: &[StreamId]) -> Vec<DeadlineMark> {
        let mut places = Vec::new();
        for jobs in self.0.iter().filter(|jobs| streams.contains(&jobs.stream)) {
            let mut number = 0;
            while number < jobs.count {
                count_turn();
                let x = context.scale.x(jobs.due_of(number));
                let next =
                    first_not(number + 1, jobs.count, |other| context.scale.x(jobs.due_of(other)) - x < LEAST_DISTANCE);
                places.push((x, jobs, number, next - number));
                number = next;
            }
        }
        crate::sorted::sort_by_key(&mut places, |(x, ..)| *x);
        let mut marks: Vec<(DeadlineMark, Vec<Part<'_>>)> = Vec::new();
        for (x, jobs, number, count) in places {
            if marks.last().is_none_or(|(last, _)| x - last.x >= LEAST_DISTANCE) {
                marks
                    .push((DeadlineMark { x, head: HEAD, jobs: 0, missed: 0, explanation: String::new() }, Vec::new()));
            }
            let Some((mark, parts)) = marks.last_mut() else { continue };
            mark.jobs += count;
            mark.missed += if jobs.is_missed() { count } else { 0 };
            parts.push((jobs, number, count));
        }
        for position in 1..marks.len() {
            let room = (marks[position].0.x - marks[position - 1].0.x) * 9 / 10;
            for (mark, _) in &mut marks[position - 1..=position] {
                mark.head = mark.head.min(room);
            }
        }
        let explained = |(mark, parts): (DeadlineMark, Vec<_>)| {
            let explanation = explanation(context, &mark, &parts);
            DeadlineMark { explanation, ..mark }
        };
        marks.into_iter().map(explained).collect()
    }
}

/// Jobs of one mark: which, the number of the first of them, and how many.
type Part<'a> = (&'a DueJobs, u64, u64);

/// How many, and the first of them, those that missed before those that did not.
fn explanation(context: &Context<'_>, mark: &DeadlineMark, parts: &[Part<'_>]) -> String {
    let (missed, others): (Vec<_>, Vec<_>) = parts.iter().partition(|(jobs, ..)| jobs.is_missed());
    let told = missed.into_iter().chain(others).flat_map(|&(jobs, number, count)| {
        (number..number + count).map(move |number| jobs.sentence(number, context.summary.scenario))
    });
    let mut lines: Vec<String> = told.take(MOST_TOLD).collect();
    if mark.jobs > 1 {
        lines.insert(0, format!("{} deadlines, {} of them missed", mark.jobs, mark.missed));
        let more = mark.jobs.saturating_sub(MOST_TOLD as u64);
        lines.extend((more > 0).then(|| format!("and {more} more")));
    }
    lines.join("\n")
}

/// The first number of `from..to` for which `is` is false; it is false for all that follow.
fn first_not(mut from: u64, mut to: u64, is: impl Fn(u64) -> bool) -> u64 {
    while from < to {
        count_turn();
        let middle = from.midpoint(to);
        if is(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}
