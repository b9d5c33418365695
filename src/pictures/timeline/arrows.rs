//! Launch arrows, one row for each stream.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Context, PALE, short, starting_at};
use super::deadlines::Deadlines;
use super::draw::SUBMITTED_OTHERS;
use super::legend_entry::Other;
use super::waits::Waits;
use super::{Arrow, DeadlineMark, Label, LabelStyle, LegendSymbol, MarkStrip, StreamRow};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length, font};
use crate::workload::{OperationId, OperationKind, StreamId};

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
