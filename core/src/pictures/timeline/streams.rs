//! Streams: a row for each with arrows of its launches, and, where lanes are streams, a lane with what it ran.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::{
    Context, Entry, LEAST_STREAM_LANE, PALE, STREAM_LANE_GAP, beside, centred, fill_of, short, starting_at,
};
use super::means::Had;
use super::rows::{Deadlines, HEAD_WIDTH, MOST_TOLD};
use super::shapes::SUBMITTED_OTHERS;
use super::waits::Waits;
use super::{
    Arrow, DeadlineMark, LabelStyle, LegendSymbol, MarkStrip, StreamBox, StreamLane, StreamRow, TimeShare, context,
    means, widest_part,
};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length, font};
use crate::pictures::looks::{is_launch_known, signed};
use crate::pictures::timeline_model::FreeLanes;
use crate::time::{Duration, Instant};
use crate::workload::{KernelId, OperationId, OperationKind, StreamId};

/// Arrows closer than this are drawn as one.
const LEAST_DISTANCE: Length = MM / 2;
/// Half of an arrow's head, and some space.
const BESIDE: Length = 9 * MM / 10;
/// What each mark of a row takes at least, on average; with more of them they would be one black area.
const CROWDED: Length = 8 * MM / 10;
/// Marks of a crowded row that are farther apart than this have strips of their own.
const STRIP_GAP: Length = 12 * MM / 10;
/// Height of a strip.
const STRIP: Length = MM;

/// The operations of one row, in launch order.
pub(super) struct Group {
    /// Their streams: one, but for the last row of many.
    streams: Vec<StreamId>,
    operations: Vec<OperationId>,
    name: String,
    /// What is special about its stream: a priority, where the scenario states it.
    suffix: String,
    /// Both as they fit beside the row.
    label: String,
}

impl Group {
    fn new(context: &Context<'_>, streams: Vec<StreamId>, operations: Vec<OperationId>) -> Self {
        let (name, suffix) = name(context, &streams);
        Self { streams, operations, name, suffix, label: String::new() }
    }

    pub(super) fn whole_name(&self) -> String {
        format!("{}{}", self.name, self.suffix)
    }
}

/// The streams that operations, deadlines and waits of the window belong to. Those behind the first ones share a row,
/// but streams in which a deadline was missed come first there.
pub(super) fn groups(context: &Context<'_>, deadlines: &Deadlines, waits: &Waits) -> Vec<Group> {
    let mut streams: BTreeMap<StreamId, Vec<OperationId>> = BTreeMap::new();
    let window = &context.scale.window;
    for (id, record) in context.summary.trace.numbered() {
        let is_seen = (window.start..=window.end).contains(&record.launched());
        if context.is_asked_for(record.kind) && is_seen && is_launch_known(context.summary.trace, record) {
            streams.entry(record.stream).or_default().push(id);
        }
    }
    for stream in deadlines.streams().chain(waits.streams()) {
        streams.entry(stream).or_default();
    }
    let rows = context.budget.stream_rows.max(1);
    let own = if streams.len() > rows {
        let (_, missed) = deadlines.missed(context.summary.scenario);
        let (first, others): (Vec<StreamId>, Vec<StreamId>) = streams.keys().partition(|id| missed.contains(id));
        first.into_iter().chain(others).take(rows - 1).collect()
    } else {
        streams.keys().copied().collect::<BTreeSet<StreamId>>()
    };
    let (alone, together): (Vec<_>, Vec<_>) = streams.into_iter().partition(|(stream, _)| own.contains(stream));
    let mut groups: Vec<Group> =
        alone.into_iter().map(|(stream, operations)| Group::new(context, vec![stream], operations)).collect();
    if !together.is_empty() {
        let (streams, operations): (Vec<StreamId>, Vec<Vec<OperationId>>) = together.into_iter().unzip();
        let mut operations = operations.concat();
        // Numbered in launch order.
        operations.sort_unstable();
        groups.push(Group::new(context, streams, operations));
    }
    groups
}

/// The name of a row with these streams, and what is special about its stream.
fn name(context: &Context<'_>, streams: &[StreamId]) -> (String, String) {
    let [id] = streams else { return (format!("{} more streams", streams.len()), String::new()) };
    if *id == StreamId::NULL {
        return ("NULL stream".to_owned(), String::new());
    }
    let Some(stream) = context.summary.trace.streams().get(id.index()) else { return <_>::default() };
    let stated = !stream.blocking || stream.priority != 0;
    let priority = if stated { format!(" (prio. {})", signed(stream.priority)) } else { String::new() };
    (stream.name.to_string(), priority)
}

/// Shortens the names of streams as they fit beside their rows: only names themselves are shortened, first by a remark
/// in brackets at their end, unless the word before the priority is too long for anything of the name.
pub(super) fn fit_names(groups: &mut [Group], room: Length) {
    let size = Theme::PAPER.text_size;
    let width = |text: &str| font::width(text, size, false);
    let suffix = |group: &Group| {
        let full = width(&format!("{}{}", short(&group.name), group.suffix)) <= room;
        if full { group.suffix.clone() } else { group.suffix.replace("prio. ", "") }
    };
    let suffixes: Vec<String> = groups.iter().map(suffix).collect();
    let fitting = |(Group { name, .. }, suffix): (&Group, &String)| {
        let rest = room - width(suffix);
        let whole = groups.iter().filter(|other| short(&other.name) == short(name)).count() > 1;
        let shown = if whole || width(name) <= rest { name.clone() } else { short(name).to_owned() };
        // Widths are rounded up: together the two may fit where one after the other does not.
        let rest = if width(&format!("{shown}{suffix}")) <= room { rest.max(width(&shown)) } else { rest };
        (shown, rest)
    };
    let texts: Vec<(String, Length)> = groups.iter().zip(&suffixes).map(fitting).collect();
    let texts: Vec<(&str, Length)> = texts.iter().map(|(name, rest)| (name.as_str(), *rest)).collect();
    let shortened = font::shortened_apart(&texts, size);
    for ((group, name), suffix) in groups.iter_mut().zip(shortened).zip(suffixes) {
        group.label = format!("{name}{suffix}");
    }
}

/// One row: its arrows, what is written beside them, and its deadlines.
pub(super) fn row(context: &Context<'_>, deadlines: &Deadlines, group: &Group, waits: &Waits, area: Rect) -> StreamRow {
    let mut arrows: Vec<Arrow> = Vec::new();
    for &id in &group.operations {
        let Some(record) = context.summary.trace.record(id) else { continue };
        let x = context.scale.x(record.launched());
        if arrows.last().is_none_or(|last| x - last.x >= LEAST_DISTANCE) {
            arrows.push(Arrow { x, head: HEAD_WIDTH, operations: Vec::new(), kernels: 0, others: 0, label: None });
        }
        let Some(arrow) = arrows.last_mut() else { continue };
        if arrow.operations.len() < MOST_TOLD {
            arrow.operations.push(id);
        }
        match record.kind {
            OperationKind::Kernel(_) => arrow.kernels += 1,
            _ => arrow.others += 1,
        }
    }
    for position in 1..arrows.len() {
        // Heads get slimmer before they touch.
        let room = (arrows[position].x - arrows[position - 1].x) * 9 / 10;
        for arrow in &mut arrows[position - 1..=position] {
            arrow.head = arrow.head.min(room);
        }
    }
    let mut deadlines = deadlines.marks(context, &group.streams);
    let marks = as_length(arrows.len() + deadlines.len());
    let is_crowded = marks.saturating_mul(CROWDED) > area.width;
    let strips = if is_crowded { strips(&arrows, &deadlines, &area) } else { Vec::new() };
    if is_crowded {
        arrows.clear();
        deadlines.retain(|mark| mark.missed > 0);
    }
    let edge = context.scale.right() + MM;
    for position in 0..arrows.len() {
        let arrow = &arrows[position];
        // A text begins behind marks that touch the arrow, and ends before the next one.
        let mut left = arrow.x + BESIDE;
        let mut until = arrows.get(position + 1).map_or(edge, |next| next.x - BESIDE);
        let first = deadlines.partition_point(|mark| mark.x + BESIDE <= arrow.x);
        for mark in &deadlines[first..] {
            if mark.x - BESIDE > left {
                until = until.min(mark.x - BESIDE);
                break;
            }
            left = left.max(mark.x + BESIDE);
        }
        let size = Theme::PAPER.small_size;
        let fitting = texts(context, arrow).into_iter().find(|text| font::width(text, size, false) <= until - left);
        arrows[position].label = fitting.map(|text| starting_at(text, left, area.centre().y, size, LabelStyle::Normal));
    }
    let (streams, name, label) = (group.streams.clone(), group.whole_name(), beside(group.label.clone(), &area));
    let (waits, bottom) = waits.below(context, &group.streams, &area);
    StreamRow { streams, name, label, area, arrows, deadlines, strips, waits, bottom }
}

/// Where marks are that are too close to be drawn one by one.
fn strips(arrows: &[Arrow], deadlines: &[DeadlineMark], row: &Rect) -> Vec<MarkStrip> {
    let launches = arrows.iter().map(|arrow| (arrow.x, arrow.kernels + arrow.others, 0));
    let deadlines = deadlines.iter().map(|mark| (mark.x, 0, mark.jobs - mark.missed));
    let mut marks: Vec<(Length, u64, u64)> = launches.chain(deadlines).collect();
    marks.sort_unstable();
    let mut strips: Vec<MarkStrip> = Vec::new();
    for (x, launches, deadlines) in marks {
        if let Some(last) = strips.last_mut().filter(|last| x - last.area.right() <= STRIP_GAP) {
            last.area.width = x - last.area.x;
            last.launches += launches;
            last.deadlines += deadlines;
        } else {
            let area = Rect { x, y: row.bottom() - STRIP, width: 0, height: STRIP };
            strips.push(MarkStrip { area, launches, deadlines });
        }
    }
    strips
}

pub(super) fn legend(rows: &[StreamRow]) -> Vec<Entry> {
    let arrows = || rows.iter().flat_map(|row| &row.arrows);
    let several = arrows().any(|arrow| if arrow.kernels > 0 { arrow.kernels > 1 } else { arrow.others > 1 });
    let heads = if several { " (two heads: several)" } else { "" };
    let mut entries = Vec::new();
    if arrows().any(|arrow| arrow.kernels > 0) {
        let text = format!("kernel launch{heads}");
        entries.push(Entry::new(PALE, LegendSymbol::Launch, text).or(&["kernel launch", "launch"]));
    }
    if arrows().any(|arrow| arrow.kernels == 0) {
        let entry = Entry::new(PALE, LegendSymbol::Submission, "copy, memset or event submitted");
        entries.push(entry.or(&["other submission"]));
    }
    let strips = || rows.iter().flat_map(|row| &row.strips);
    if strips().next().is_some() {
        let deadlines = if strips().any(|strip| strip.deadlines > 0) { " and met deadlines" } else { "" };
        let text = format!("launches{deadlines}, too close to draw");
        let entry = Entry::new(Fill::plain(SUBMITTED_OTHERS), LegendSymbol::Wait, text);
        entries.push(entry.or(&[&format!("launches{deadlines}"), "launches"]));
    }
    entries
}

/// What may be written beside an arrow, best first. Kernels are named; copies only where there are no kernels.
fn texts(context: &Context<'_>, arrow: &Arrow) -> Vec<String> {
    let records = || arrow.operations.iter().filter_map(|id| context.summary.trace.record(*id));
    let kinds = || records().map(|record| record.kind);
    let mut names: Vec<String> = kinds()
        .filter_map(|kind| match kind {
            OperationKind::Kernel(kernel) => Some(context.short_name(kernel).to_owned()),
            _ => None,
        })
        .collect();
    let mut number = arrow.kernels;
    if names.is_empty() {
        names = kinds().map(|kind| kind.name().to_owned()).collect();
        names.dedup();
        number = arrow.others;
    }
    let mut texts = Vec::new();
    if arrow.kernels + arrow.others <= MOST_TOLD as u64 {
        texts.push(names.join(", "));
    }
    if number > 1 {
        texts.push(format!("{number}×"));
    }
    texts
}

/// Height of a lane where there is room.
const HEIGHT: Length = 6 * MM;

/// How high each of `count` lanes is.
fn height(context: &Context<'_>, count: usize) -> Length {
    let count = as_length(count.max(1));
    (context.budget.bands / count - STREAM_LANE_GAP).clamp(LEAST_STREAM_LANE, HEIGHT)
}

/// The lanes below `top`, with their names, and where they end.
pub(super) fn lanes(context: &Context<'_>, groups: &[Group], top: Length) -> (Vec<StreamLane>, Length) {
    let height = height(context, groups.len());
    let mut bottom = top - STREAM_LANE_GAP;
    let mut lanes = Vec::with_capacity(groups.len());
    let mut of_stream = by_stream(context);
    for group in groups {
        let area = context.strip(bottom + STREAM_LANE_GAP, height);
        bottom = area.bottom();
        let mut ran: Vec<Ran> =
            group.streams.iter().filter_map(|stream| of_stream.remove(&stream.0)).flatten().collect();
        crate::sorted::sort_by_key(&mut ran, |ran| (ran.time.start, ran.operation));
        let (streams, name, label) = (group.streams.clone(), group.whole_name(), beside(group.label.clone(), &area));
        let (boxes, shares) = if is_dense(context, &ran) {
            (Vec::new(), shares(context, &ran, &area))
        } else {
            (boxes(context, &ran, &area), Vec::new())
        };
        lanes.push(StreamLane { streams, name, label, area, boxes, shares });
    }
    (lanes, bottom)
}

/// Whether what ran in a stream is too much and too short to be seen.
pub(super) fn are_dense(context: &Context<'_>, groups: &[Group]) -> bool {
    let of_stream = by_stream(context);
    groups
        .iter()
        .any(|group| is_dense(context, group.streams.iter().filter_map(|stream| of_stream.get(&stream.0)).flatten()))
}

fn is_dense<'r>(context: &Context<'_>, ran: impl IntoIterator<Item = &'r Ran>) -> bool {
    context::are_dense(&context.scale, ran.into_iter().map(|ran| ran.time.clone()))
}

/// Shares of time by kernel, copies together; of several streams as many at once as run at most, on average.
fn shares(context: &Context<'_>, ran: &[Ran], lane: &Rect) -> Vec<TimeShare<Option<KernelId>>> {
    // All kernels of one title are one; copies are uppermost.
    let key = |ran: &Ran| ran.kernel.map_or(usize::MAX, |kernel| context.series(kernel));
    let kernel = |key: usize| (key != usize::MAX).then(|| context.first_of(key));
    let had = ran.iter().map(|ran| Had { what: key(ran), count: 1, time: ran.time.clone() });
    let fill = |key: usize| kernel(key).map_or(PALE, |kernel| fill_of(context, Some(kernel)));
    let mut free = FreeLanes::default();
    let at_once = ran.iter().map(|ran| free.take(&ran.time) as u128 + 1).max();
    let (shares, _) = means::stacked(context, lane, at_once, had, fill);
    let named = |TimeShare { of, count, fill, outlines }| TimeShare { of: kernel(of), count, fill, outlines };
    shares.into_iter().map(named).collect()
}

/// A kernel or copy that ran in the window.
struct Ran {
    operation: OperationId,
    kernel: Option<KernelId>,
    fill: Fill,
    /// What may be written on it, best first.
    labels: Vec<String>,
    time: Range<Instant>,
}

fn by_stream(context: &Context<'_>) -> BTreeMap<u32, Vec<Ran>> {
    let trace = context.summary.trace;
    let ran = trace.numbered().filter_map(|(operation, record)| {
        let time = record.first_start()?..record.finish().unwrap_or(context.end());
        if !context.scale.shows(time.start, time.end) {
            return None;
        }
        let (kernel, labels) = match record.kind {
            OperationKind::Kernel(id) => {
                let name = if context.is_chosen(id) { context.short_name(id) } else { "" };
                (Some(id), [name.to_owned()].into_iter().chain(context.repeat(id)).collect())
            }
            OperationKind::Copy(_) => (None, vec![context.name_of(operation)]),
            _ => return None,
        };
        let fill = context.fill_of_operation(operation);
        Some((record.stream.0, Ran { operation, kernel, fill, labels, time }))
    });
    let mut of_stream: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    ran.for_each(|(stream, ran)| of_stream.entry(stream).or_default().push(ran));
    of_stream
}

/// Boxes of what ran in one lane, in the order in which it started. What is too narrow is joined with what follows
/// within the same width, and looks like what ran longest in it.
fn boxes(context: &Context<'_>, ran: &[Ran], lane: &Rect) -> Vec<StreamBox> {
    let groups = context::joined(&context.scale, ran, |ran| ran.time.clone()).into_iter();
    let boxes = groups.filter_map(|these| {
        let first = these.first()?;
        let end = these.iter().map(|ran| ran.time.end).max().unwrap_or(first.time.end);
        let longest = longest(context, these).unwrap_or(first);
        let time = first.time.start..end;
        let area = Rect { x: context.scale.x(time.start), width: context.scale.width_of(&time), ..*lane };
        let is_one = these.len() == 1;
        let fill = if is_one { longest.fill } else { longest.fill.without_hatch() };
        let pauses = if is_one { context.pauses_of(first.operation) } else { Vec::new() };
        let label = centred(&longest.labels, &widest_part(&area, &pauses), Theme::PAPER.small_size);
        let label = label.filter(|_| is_one && fill != PALE);
        let (operation, count, kernel) = (first.operation, these.len() as u64, longest.kernel);
        Some(StreamBox { operation, count, kernel, time, fill, area, pauses, label })
    });
    boxes.collect()
}

/// The first of those of the title that ran longest together.
fn longest<'r>(context: &Context<'_>, ran: &'r [Ran]) -> Option<&'r Ran> {
    let trace = context.summary.trace;
    let mut sums: BTreeMap<Option<usize>, (Duration, &Ran)> = BTreeMap::new();
    for one in ran {
        let title = one.kernel.map(|id| context.series(id));
        sums.entry(title).or_insert((Duration::ZERO, one)).0 += trace.ran(one.operation);
    }
    // Of equals the first title in the order of names.
    sums.into_values().rev().max_by_key(|(time, _)| *time).map(|(_, first)| first)
}
