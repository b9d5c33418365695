//! Streams: a row for each with arrows of its launches, and, where lanes are streams, a lane with what it ran.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{
    BESIDE_PLOT, Context, LEAST_STREAM_LANE, LEAST_WIDTH, Other, PALE, STREAM_LANE_GAP, centred, ending_at, fill_of,
    short, starting_at,
};
use super::shapes::SUBMITTED_OTHERS;
use super::means::Had;
use super::rows::Deadlines;
use super::waits::Waits;
use super::{
    Arrow, DeadlineMark, Label, LabelStyle, LegendSymbol, MarkStrip, StreamBox, StreamLane, StreamRow, TimeShare,
    context, engine_lanes, means, widest_part,
};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length, font};
use crate::limits::count_turn;
use crate::pictures::pack::FreeLanes;
use crate::time::{Duration, Instant};
use crate::workload::{KernelId, OperationId, OperationKind, StreamId};

/// Width of an arrow's head.
const HEAD: Length = 11 * MM / 10;
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
const MOST_TOLD: usize = 12;

/// The operations of one row, in launch order.
pub(super) struct Group {
    /// Their streams: one, but for the last row of many.
    pub(super) streams: Vec<StreamId>,
    operations: Vec<OperationId>,
}

/// The streams that operations, deadlines and waits of the window belong to. Those behind the first ones share a row,
/// but streams in which a deadline was missed come first there.
pub(super) fn groups(context: &Context<'_>, deadlines: &Deadlines, waits: &Waits) -> Vec<Group> {
    let mut streams: BTreeMap<StreamId, Vec<OperationId>> = BTreeMap::new();
    let window = &context.scale.window;
    for (id, record) in context.summary.trace.numbered() {
        let chosen = match record.kind {
            OperationKind::Kernel(kernel) => context.is_chosen(kernel),
            _ => context.options.only.is_none(),
        };
        // Of what nobody measured the launch is that of another run.
        let known = !context.summary.trace.is_observed() || record.first_start().is_some();
        if chosen && known && window.start <= record.launched() && record.launched() <= window.end {
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
        alone.into_iter().map(|(stream, operations)| Group { streams: vec![stream], operations }).collect();
    if !together.is_empty() {
        let (streams, operations): (Vec<StreamId>, Vec<Vec<OperationId>>) = together.into_iter().unzip();
        let mut operations = operations.concat();
        // Numbered in launch order.
        operations.sort_unstable();
        groups.push(Group { streams, operations });
    }
    groups
}

/// A row's name and what is special about its stream: a priority is stated only where the scenario states it.
pub(super) fn name(context: &Context<'_>, group: &Group) -> (String, String) {
    let [id] = group.streams.as_slice() else {
        return (format!("{} more streams", group.streams.len()), String::new());
    };
    if *id == StreamId::NULL {
        return ("NULL stream".to_owned(), String::new());
    }
    let Some(stream) = context.summary.trace.streams().get(id.index()) else { return <_>::default() };
    let stated = !stream.blocking || stream.priority != 0;
    let priority = if stated { format!(" (prio. {})", signed(stream.priority)) } else { String::new() };
    (stream.name.to_string(), priority)
}

/// With a real minus sign.
pub(super) fn signed(number: i32) -> String {
    if number < 0 { format!("−{}", number.unsigned_abs()) } else { number.to_string() }
}

/// The names of streams as they fit beside their rows: only names themselves are shortened, first by a remark in
/// brackets at their end, unless the word before the priority is too long for anything of the name.
pub(super) fn fitted_names(names: &[(String, String)], room: Length) -> Vec<String> {
    let size = Theme::PAPER.text_size;
    let width = |text: &str| font::width(text, size, false);
    let suffix = |(name, suffix): &(String, String)| {
        let full = width(&format!("{}{suffix}", short(name))) <= room;
        if full { suffix.clone() } else { suffix.replace("prio. ", "") }
    };
    let suffixes: Vec<String> = names.iter().map(suffix).collect();
    let fitting = |(name, suffix): (&(String, String), &String)| {
        let rest = room - width(suffix);
        let whole = names.iter().filter(|(other, _)| short(other) == short(&name.0)).count() > 1;
        let shown = if whole || width(&name.0) <= rest { name.0.clone() } else { short(&name.0).to_owned() };
        // Widths are rounded up: together the two may fit where one after the other does not.
        let rest = if width(&format!("{shown}{suffix}")) <= room { rest.max(width(&shown)) } else { rest };
        (shown, rest)
    };
    let texts: Vec<(String, Length)> = names.iter().zip(&suffixes).map(fitting).collect();
    let texts: Vec<(&str, Length)> = texts.iter().map(|(name, rest)| (name.as_str(), *rest)).collect();
    let shortened = font::shortened_apart(&texts, size);
    shortened.into_iter().zip(suffixes).map(|(name, suffix)| format!("{name}{suffix}")).collect()
}

/// One row: its arrows, what is written beside them, and its deadlines.
pub(super) fn row(
    context: &Context<'_>,
    deadlines: &Deadlines,
    group: &Group,
    waits: &Waits,
    (name, suffix): &(String, String),
    (area, label): (Rect, Label),
) -> StreamRow {
    let records = context.summary.trace.operations();
    let mut arrows: Vec<Arrow> = Vec::new();
    for &id in &group.operations {
        let Some(record) = records.get(id.index()) else { continue };
        let x = context.scale.x(record.launched());
        if arrows.last().is_none_or(|last| x - last.x >= LEAST_DISTANCE) {
            arrows.push(Arrow { x, head: HEAD, operations: Vec::new(), kernels: 0, others: 0, label: None });
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
    let (streams, name) = (group.streams.clone(), format!("{name}{suffix}"));
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

pub(super) fn legend(rows: &[StreamRow]) -> Vec<Other> {
    let arrows = || rows.iter().flat_map(|row| &row.arrows);
    let several = arrows().any(|arrow| if arrow.kernels > 0 { arrow.kernels > 1 } else { arrow.others > 1 });
    let heads = if several { " (two heads: several)" } else { "" };
    let mut entries = Vec::new();
    if arrows().any(|arrow| arrow.kernels > 0) {
        let text = format!("kernel launch{heads}");
        let shorter = vec!["kernel launch".to_owned(), "launch".to_owned()];
        entries.push(Other { shorter, ..Other::new(PALE, LegendSymbol::Launch, text) });
    }
    if arrows().any(|arrow| arrow.kernels == 0) {
        let text = "copy, memset or event submitted".to_owned();
        let shorter = vec!["other submission".to_owned()];
        entries.push(Other { shorter, ..Other::new(PALE, LegendSymbol::Submission, text) });
    }
    let strips = || rows.iter().flat_map(|row| &row.strips);
    if strips().next().is_some() {
        let deadlines = if strips().any(|strip| strip.deadlines > 0) { " and met deadlines" } else { "" };
        let text = format!("launches{deadlines}, too close to draw");
        let shorter = vec![format!("launches{deadlines}"), "launches".to_owned()];
        entries.push(Other { shorter, ..Other::new(Fill::plain(SUBMITTED_OTHERS), LegendSymbol::Wait, text) });
    }
    entries
}

/// What may be written beside an arrow, best first. Kernels are named; copies only where there are no kernels.
fn texts(context: &Context<'_>, arrow: &Arrow) -> Vec<String> {
    let records = context.summary.trace.operations();
    let kinds = || arrow.operations.iter().filter_map(|id| records.get(id.index())).map(|record| record.kind);
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
pub(super) fn lanes(
    context: &Context<'_>,
    groups: &[Group],
    names: &[(String, String)],
    labels: &[String],
    top: Length,
) -> (Vec<StreamLane>, Length) {
    let height = height(context, groups.len());
    let mut bottom = top - STREAM_LANE_GAP;
    let mut lanes = Vec::with_capacity(groups.len());
    let mut of_stream = by_stream(context);
    for ((group, (name, suffix)), label) in groups.iter().zip(names).zip(labels) {
        let area = Rect { x: context.scale.left, y: bottom + STREAM_LANE_GAP, width: context.scale.width, height };
        bottom = area.bottom();
        let mut ran: Vec<Ran> =
            group.streams.iter().filter_map(|stream| of_stream.remove(&stream.0)).flatten().collect();
        crate::sorted::sort_by_key(&mut ran, |ran| (ran.start, ran.operation));
        let size = Theme::PAPER.text_size;
        let label = ending_at(label.clone(), area.x - BESIDE_PLOT, area.centre().y, size, LabelStyle::Normal);
        let (streams, name) = (group.streams.clone(), format!("{name}{suffix}"));
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
    context::are_dense(&context.scale, ran.into_iter().map(|ran| ran.start..ran.end))
}

/// Shares of time by kernel, copies together; of several streams as many at once as run at most, on average.
fn shares(context: &Context<'_>, ran: &[Ran], lane: &Rect) -> Vec<TimeShare<Option<KernelId>>> {
    // All kernels of one title are one; copies are uppermost.
    let key = |ran: &Ran| ran.kernel.map_or(usize::MAX, |kernel| context.series(kernel));
    let kernel = |key: usize| (key != usize::MAX).then(|| context.first_of(key));
    let had = ran.iter().map(|ran| Had { what: key(ran), count: 1, time: ran.start..ran.end });
    let fill = |key: usize| kernel(key).map_or(PALE, |kernel| fill_of(context, Some(kernel)));
    let mut free = FreeLanes::default();
    for ran in ran {
        free.take(ran.start, ran.end);
    }
    let (shares, _) = means::stacked(context, lane, Some(free.count() as u128), had, fill);
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
    start: Instant,
    end: Instant,
}

fn by_stream(context: &Context<'_>) -> BTreeMap<u32, Vec<Ran>> {
    let trace = context.summary.trace;
    let ran = trace.numbered().filter_map(|(operation, record)| {
        let start = record.first_start()?;
        let end = record.finish().unwrap_or(trace.end());
        if !context.scale.shows(start, end) {
            return None;
        }
        let (kernel, fill, labels) = match record.kind {
            OperationKind::Kernel(id) => {
                let name = if context.is_chosen(id) { context.short_name(id) } else { "" };
                let labels = [name.to_owned()].into_iter().chain(context.repeat(id)).collect();
                (Some(id), fill_of(context, Some(id)), labels)
            }
            OperationKind::Copy(id) => {
                let copy = trace.copies().get(id.index())?;
                (
                    None,
                    engine_lanes::copy_fill(copy.direction),
                    vec![engine_lanes::direction_name(copy.direction).to_owned()],
                )
            }
            _ => return None,
        };
        Some((record.stream.0, Ran { operation, kernel, fill, labels, start, end }))
    });
    let mut of_stream: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    ran.for_each(|(stream, ran)| of_stream.entry(stream).or_default().push(ran));
    of_stream
}

/// Boxes of what ran in one lane, in the order in which it started. What is too narrow is joined with what follows
/// within the same width, and looks like what ran longest in it.
fn boxes(context: &Context<'_>, ran: &[Ran], lane: &Rect) -> Vec<StreamBox> {
    let mut boxes: Vec<StreamBox> = Vec::new();
    let mut rest = ran;
    while let Some(first) = rest.first() {
        count_turn();
        let x = |at: Instant| context.scale.x(at.max(context.scale.window.start));
        let left = x(first.start);
        let narrow = |ran: &&Ran| x(ran.end) - x(ran.start) < LEAST_WIDTH && x(ran.end) - left <= LEAST_WIDTH;
        let joined = rest.iter().take_while(narrow).count().max(1);
        let (these, others) = rest.split_at(joined);
        rest = others;
        let end = these.iter().map(|ran| ran.end).max().unwrap_or(first.end);
        let longest = longest(context, these).unwrap_or(first);
        let area = Rect { x: left, y: lane.y, width: x(end) - left, height: lane.height };
        let fill = if joined > 1 { longest.fill.without_hatch() } else { longest.fill };
        let pauses = if joined > 1 { Vec::new() } else { context.pauses_of(first.operation) };
        let label = centred(&longest.labels, &widest_part(&area, &pauses), Theme::PAPER.small_size);
        let label = label.filter(|_| joined == 1 && fill != PALE);
        boxes.push(StreamBox {
            operation: first.operation,
            count: joined as u64,
            kernel: longest.kernel,
            time: first.start..end,
            fill,
            area,
            pauses,
            label,
        });
    }
    boxes
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
