//! Lanes of streams: what each ran, from when to when.

use std::collections::BTreeMap;

use super::arrows::Group;
use super::budget::{LEAST_STREAM_LANE, STREAM_LANE_GAP};
use super::context::{BESIDE_PLOT, Context, PALE, centred, ending_at, fill_of};
use super::crowd::{self, LEAST_WIDTH};
use super::shares::{self, Had};
use super::{LabelStyle, StreamBox, StreamLane, TimeShare, copies, widest_part};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length};
use crate::limits::count_turn;
use crate::pictures::free_lanes::FreeLanes;
use crate::time::{Duration, Instant};
use crate::workload::{KernelId, OperationId, OperationKind};

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
    crowd::are_dense(&context.scale, ran.into_iter().map(|ran| ran.start..ran.end))
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
    let (shares, _) = shares::stacked(context, lane, Some(free.count() as u128), had, fill);
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
                (None, copies::fill_of(copy.direction), vec![copies::short_name(copy.direction).to_owned()])
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
