//! What is drawn in the rows of streams and from one to another: deadlines of jobs, arrows from an event's record to
//! the waits that it releases (E1, E2), and the longest way of data through a chain.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::{Context, Entry, PALE, WAIT_LANE};
use super::{ChainWay, CoreLane, EventArrow, Label, LegendSymbol, TimeShare};
use crate::draw::theme::Fill;
use crate::draw::{Length, MM, Point, Rect};
use crate::limits::count_turn;
use crate::run::{DueJobs, HeldCall, LongestWay, due_jobs};
use crate::scenario::{HostThread, Scenario};
use crate::time::Instant;
use crate::trace::Rule;
use crate::workload::{KernelId, OperationId, OperationKind, StreamId};

/// One stream, or the last of many streams together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamRow {
    pub(crate) streams: Vec<StreamId>,
    /// Its whole name.
    pub(crate) name: String,
    /// Its name and priority, shortened.
    pub(crate) label: Label,
    /// The whole window; waits are below it.
    pub(crate) area: Rect,
    /// Launches, in order of time; none where they are too close to be drawn one by one.
    pub(crate) arrows: Vec<Arrow>,
    /// Deadlines of the jobs that end in it, in order of time; only missed ones where they are too close.
    pub(crate) deadlines: Vec<DeadlineMark>,
    /// Where there are launches and deadlines that are too close to be drawn one by one, in order of time.
    pub(crate) strips: Vec<MarkStrip>,
    /// What waited in it, if that is asked for.
    pub(crate) waits: Option<StreamWaits>,
    /// Where it ends, with its waits.
    pub(crate) bottom: Length,
}

impl StreamRow {
    pub(super) fn wait_lanes(&self) -> usize {
        usize::try_from((self.bottom - self.area.bottom()) / WAIT_LANE).unwrap_or(0)
    }
}

/// Launches and deadlines that were met, too close to be drawn one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkStrip {
    /// From the first to the last.
    pub(crate) area: Rect,
    /// How many operations were submitted.
    pub(crate) launches: u64,
    /// How many deadlines.
    pub(crate) deadlines: u64,
}

/// What waited in a stream, from launch to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamWaits {
    /// All of it.
    pub(crate) area: Rect,
    /// The operations that have a bar, lane by lane, each in order of time.
    pub(crate) bars: Vec<WaitBar>,
    /// Wherever more waited than have bars.
    pub(crate) more: Vec<MoreWaits>,
    /// Where waits are too many and too short to be seen: how many wait under each rule on average; then `bars` is
    /// empty.
    pub(crate) shares: Vec<TimeShare<Rule>>,
    /// How many more wait at once at most, or how many stand for the whole height of the shares.
    pub(crate) label: Option<Label>,
}

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    Operation(OperationId),
    /// A call of a host (H1, H2).
    Call(HeldCall),
}

/// An operation or a call that waited, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitBar {
    /// The (first) one.
    pub(crate) who: Waiter,
    /// How many.
    pub(crate) count: u64,
    /// From when to when, within the window.
    pub(crate) time: Range<Instant>,
    /// On paper.
    pub(crate) area: Rect,
    /// The rules that held it, in order of time; of several operations the one that held them longest.
    pub(crate) parts: Vec<WaitPart>,
    /// What is written beside it.
    pub(crate) label: Option<Label>,
}

/// The time for which one rule held an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitPart {
    pub(crate) rule: Rule,
    /// From when to when, within the window.
    pub(crate) time: Range<Instant>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
}

/// Operations without a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MoreWaits {
    /// How many.
    pub(crate) count: u64,
    /// From the first beginning to the last end, in all of which some wait.
    pub(crate) time: Range<Instant>,
    /// On paper.
    pub(crate) area: Rect,
}

/// The deadline of a job, or deadlines too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeadlineMark {
    /// Where.
    pub(crate) x: Length,
    /// Width of its head: less where marks are close.
    pub(crate) head: Length,
    /// How many jobs.
    pub(crate) jobs: u64,
    /// Those of them that missed it.
    pub(crate) missed: u64,
    /// Which jobs, and what became of them.
    pub(crate) explanation: String,
}

/// Operations submitted to one stream at one time, or at times too close to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrow {
    /// Where.
    pub(crate) x: Length,
    /// Width of its head: less where arrows are close.
    pub(crate) head: Length,
    /// The operations, in launch order; only the first of many.
    pub(crate) operations: Vec<OperationId>,
    /// How many kernels were launched.
    pub(crate) kernels: u64,
    /// How many copies and memsets were submitted.
    pub(crate) others: u64,
    /// What is written beside it.
    pub(crate) label: Option<Label>,
}

/// Marks closer than this are drawn as one.
const DEADLINE_DISTANCE: Length = 8 * MM / 10;
/// Width of the head of an arrow or a mark.
pub(super) const HEAD_WIDTH: Length = 11 * MM / 10;
/// Operations of one arrow, or jobs of one mark, that are told one by one.
pub(super) const MOST_TOLD: usize = 12;

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
    pub(super) fn legend(&self, rows: &[StreamRow]) -> Vec<Entry> {
        let missed: u64 = self.0.iter().filter(|jobs| jobs.is_missed()).map(|jobs| jobs.count).sum();
        let mut entries = Vec::new();
        if rows.iter().flat_map(|row| &row.deadlines).any(|mark| mark.missed == 0) {
            entries.push(Entry::new(PALE, LegendSymbol::Deadline, "deadline"));
        }
        if missed > 0 {
            let jobs = if missed == 1 { "job" } else { "jobs" };
            let text = format!("deadline missed ({missed} {jobs})");
            entries.push(Entry::new(PALE, LegendSymbol::DeadlineMissed, text));
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
                let next = first_not(number + 1, jobs.count, |other| {
                    context.scale.x(jobs.due_of(other)) - x < DEADLINE_DISTANCE
                });
                places.push((x, jobs, number, next - number));
                number = next;
            }
        }
        crate::sorted::sort_by_key(&mut places, |(x, ..)| *x);
        let mut marks: Vec<(DeadlineMark, Vec<JobsOfMark<'_>>)> = Vec::new();
        for (x, jobs, number, count) in places {
            if marks.last().is_none_or(|(last, _)| x - last.x >= DEADLINE_DISTANCE) {
                marks.push((
                    DeadlineMark { x, head: HEAD_WIDTH, jobs: 0, missed: 0, explanation: String::new() },
                    Vec::new(),
                ));
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
            let explanation = jobs_of_mark(context.summary.scenario, &mark, &parts);
            DeadlineMark { explanation, ..mark }
        };
        marks.into_iter().map(explained).collect()
    }
}

/// Jobs of one mark: which, the number of the first of them, and how many.
type JobsOfMark<'a> = (&'a DueJobs, u64, u64);

/// How many, and the first of them, those that missed before those that did not.
fn jobs_of_mark(scenario: &Scenario, mark: &DeadlineMark, parts: &[JobsOfMark<'_>]) -> String {
    let (missed, others): (Vec<_>, Vec<_>) = parts.iter().partition(|(jobs, ..)| jobs.is_missed());
    let told = missed
        .into_iter()
        .chain(others)
        .flat_map(|&(jobs, number, count)| (number..number + count).map(move |number| jobs.sentence(number, scenario)));
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

/// Arrows that begin and end within this are one.
const EVENT_DISTANCE: Length = MM / 2;
/// Arrows that can be told apart, about.
const MOST_ARROWS: usize = 150;

/// The arrows of a figure, and what there is.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) arrows: Vec<EventArrow>,
    /// Waits in the window for a record in another row.
    all: u64,
}

impl Events {
    pub(super) fn legend(&self) -> Option<Entry> {
        let drawn: u64 = self.arrows.iter().map(|arrow| arrow.count).sum();
        let of = if drawn == self.all { String::new() } else { format!("{drawn} of ") };
        let text = format!("event to its wait ({of}{})", self.all);
        (self.all > 0).then(|| Entry::new(PALE, LegendSymbol::Event, text))
    }

    /// Arrows between the middles of rows: from where the record completed to where the wait did. Those of waits that
    /// were held come first where there are too many.
    pub(super) fn new(context: &Context<'_>, rows: &[StreamRow]) -> Self {
        let trace = context.summary.trace;
        let row_of = |id: OperationId| {
            let stream = trace.record(id)?.stream;
            rows.iter().position(|row| row.streams.contains(&stream))
        };
        let mut events = Self::default();
        for (wait, record) in trace.numbered() {
            let Some(awaited) = trace.awaited_by(wait) else { continue };
            let recorded = trace.record(awaited).and_then(super::OperationRecord::finish);
            let (Some(recorded), Some(released)) = (recorded, record.finish()) else { continue };
            let (Some(from), Some(to)) = (row_of(awaited), row_of(wait)) else { continue };
            let window = &context.scale.window;
            if from == to || released < window.start || recorded > window.end {
                continue;
            }
            events.all += 1;
            let place = |row: usize, at| Point { x: context.scale.x(at), y: rows[row].area.centre().y };
            let (from, to) = (place(from, recorded), place(to, released));
            let held = record.reached_head().is_some_and(|head| head < recorded);
            let near = |a: Point, b: Point| a.y == b.y && (a.x - b.x).abs() < EVENT_DISTANCE;
            let same = |arrow: &&mut EventArrow| near(arrow.from, from) && near(arrow.to, to);
            match events.arrows.iter_mut().rev().take(MOST_ARROWS).find(same) {
                Some(arrow) => {
                    arrow.count += 1;
                    arrow.held += u64::from(held);
                }
                None => {
                    events.arrows.push(EventArrow { record: awaited, wait, count: 1, held: u64::from(held), from, to });
                }
            }
        }
        if events.arrows.len() > MOST_ARROWS {
            crate::sorted::sort_by_key(&mut events.arrows, |arrow| (arrow.held == 0, arrow.wait));
            events.arrows.truncate(MOST_ARROWS);
        }
        events
    }
}

/// Where it goes: for each job that has a lane, from where it reads to where it has written.
pub(super) fn chain_way(
    context: &Context<'_>,
    longest: Option<&LongestWay<'_>>,
    cores: &[CoreLane],
    rows: &[StreamRow],
) -> Option<ChainWay> {
    let longest = longest?;
    let threads = &context.summary.scenario.threads;
    let window = &context.scale.window;
    let is_seen = |&&(_, read, written): &&(u32, Instant, Instant)| read < window.end && written > window.start;
    let jobs = longest.jobs.iter().filter(is_seen).filter_map(|&(thread, read, written)| {
        let y = lane_of(threads.get(thread as usize)?, cores, rows)?;
        Some([read, written].map(|at| Point { x: context.scale.x(at), y }))
    });
    let jobs: Vec<[Point; 2]> = jobs.collect();
    let path = longest.delay.path(longest.chain, context.summary.scenario);
    (!jobs.is_empty()).then_some(ChainWay { name: longest.name(), path, jobs })
}

/// The middle of the lane of a host's core, or of the row of the stream to which it submits first.
fn lane_of(thread: &HostThread, cores: &[CoreLane], rows: &[StreamRow]) -> Option<Length> {
    let core = thread.core.and_then(|share| cores.iter().find(|lane| lane.core == share.core));
    let stream = thread.first_stream();
    let row = || rows.iter().find(|row| stream.is_some_and(|stream| row.streams.contains(&stream)));
    core.map(|lane| lane.area.centre().y).or_else(|| Some(row()?.area.centre().y))
}

/// What the arrows mean.
pub(super) fn chain_legend(longest: Option<&LongestWay<'_>>) -> Option<Entry> {
    let longest = longest?;
    let text = format!("{}: {}", longest.chain.name, longest.delay.length());
    Some(Entry::new(PALE, LegendSymbol::Event, text).or(&["chain"]))
}
