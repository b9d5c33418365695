//! Lanes of the cores that hosts share, above the GPU, and of the copy engines, below the SMs.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Context, Entry, beside, centred};
use super::means::Had;
use super::{CopyBox, CoreBox, CoreLane, Lane, LegendSymbol, context, means, widest_part};
use crate::device::CopyDirection;
use crate::draw::theme::{Colour, Fill, Theme, share_fill};
use crate::draw::{Length, MM, Rect, Sheet, as_length};
use crate::pictures::looks::{bytes, copy_fill, direction_name};
use crate::pictures::timeline_model::{self, CopyInLane};
use crate::run::CoreSpan;

const CORE_HEIGHT: Length = 5 * MM;
/// Between it and what is below.
const CORE_GAP: Length = MM / 2;
/// Hosts that the legend names.
const MOST_NAMED: usize = 6;

/// What is seen of the cores, by core.
fn seen_spans<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a CoreSpan> {
    context.summary.cores.iter().filter(|span| context.scale.shows(span.start, span.end))
}

/// How the work of a host looks; while it spins it is paler.
fn span_fill(span: &CoreSpan) -> Fill {
    let fill = share_fill(span.thread as usize);
    if span.spins { Fill::plain(fill.background.tint(70)) } else { fill }
}

/// The lanes below `top`, and where they end.
pub(super) fn core_lanes(context: &Context<'_>, top: Length) -> (Vec<CoreLane>, Length) {
    let mut bottom = top;
    let mut lanes: Vec<CoreLane> = Vec::new();
    let spans: Vec<CoreSpan> = seen_spans(context).copied().collect();
    for own in spans.chunk_by(|one, other| one.core == other.core) {
        let area = context.strip(bottom, CORE_HEIGHT);
        bottom = area.bottom() + CORE_GAP;
        let core = own.first().map_or(0, |span| span.core);
        let label = beside(format!("core {core}"), &area);
        let times = || own.iter().map(|span| span.start..span.end);
        let (boxes, shares) = if context::are_dense(&context.scale, times()) {
            let had = own.iter().map(|span| Had { what: span.thread, count: 1, time: span.start..span.end });
            (Vec::new(), means::stacked(context, &area, Some(1), had, |thread| share_fill(thread as usize)).0)
        } else {
            (own.iter().map(|span| core_box(context, span, &area)).collect(), Vec::new())
        };
        lanes.push(CoreLane { core, label, area, boxes, shares });
    }
    (lanes, bottom)
}

fn core_box(context: &Context<'_>, span: &CoreSpan, lane: &Rect) -> CoreBox {
    let time = span.start..span.end;
    let area = Rect { x: context.scale.x(span.start), width: context.scale.width_of(&time), ..*lane };
    let label = centred(&[context.host(span.thread).to_owned()], &area, Theme::PAPER.small_size);
    CoreBox { span: *span, fill: span_fill(span), area, label }
}

/// What the boxes mean.
pub(super) fn core_legend(context: &Context<'_>) -> Vec<Entry> {
    let threads: BTreeSet<u32> = seen_spans(context).map(|span| span.thread).collect();
    let named = |thread: &u32| {
        let text = format!("{} on its core", context.host(*thread));
        Entry::new(share_fill(*thread as usize), LegendSymbol::Area, text)
    };
    let mut entries: Vec<Entry> = threads.iter().take(MOST_NAMED).map(named).collect();
    if let Some(rest) = threads.len().checked_sub(MOST_NAMED).filter(|rest| *rest > 0) {
        let text = format!("and {rest} more hosts on cores");
        entries.push(Entry::remark(text).or(&[&format!("and {rest} more")]));
    }
    if seen_spans(context).any(|span| span.spins) {
        entries.push(Entry::remark("paler: spins"));
    }
    entries
}

/// Height of a lane, and of what copies that overlap add to it: there are lanes within the lane then.
const COPY_HEIGHT: Length = 3 * MM + MM / 2;
const MORE: Length = 2 * MM;
/// No lane is higher.
const MOST_HEIGHT: Length = 4 * COPY_HEIGHT;
/// Between a lane and what is above it.
const COPY_GAP: Length = MM;

/// The directions of the copies that are seen.
pub(super) fn directions(context: &Context<'_>) -> BTreeSet<CopyDirection> {
    timeline_model::copies(&context.summary, &context.scale.window).iter().map(|seen| seen.copy.direction).collect()
}

/// Those that are seen, by engine; of each in the order of their beginnings.
fn copies_by_engine(context: &Context<'_>) -> BTreeMap<u32, Vec<CopyInLane>> {
    let mut by_engine: BTreeMap<u32, Vec<CopyInLane>> = BTreeMap::new();
    for seen in timeline_model::copies(&context.summary, &context.scale.window) {
        by_engine.entry(seen.engine).or_default().push(seen);
    }
    by_engine
}

/// Whether copies of an engine are too many and too short to be seen one by one.
pub(super) fn copies_are_dense(context: &Context<'_>) -> bool {
    copies_by_engine(context).values().any(|copies| is_dense(context, copies))
}

fn is_dense(context: &Context<'_>, copies: &[CopyInLane]) -> bool {
    context::are_dense(&context.scale, copies.iter().map(|seen| seen.time.clone()))
}

/// The lanes below `top`, and where they end.
pub(super) fn copy_lanes(context: &Context<'_>, top: Length) -> (Vec<Lane>, Length) {
    let engines = context.summary.scenario.device().copy.engines;
    let mut bottom = top;
    let mut lanes = Vec::new();
    for (engine, copies) in copies_by_engine(context) {
        let within = copies.iter().map(|seen| seen.lane as usize + 1).max().unwrap_or(1);
        let depth = as_length(within);
        let height = (depth - 1).saturating_mul(MORE).saturating_add(COPY_HEIGHT).min(MOST_HEIGHT);
        let area = context.strip(bottom + COPY_GAP, height);
        bottom = area.bottom();
        let label = beside(if engines > 1 { format!("copy {engine}") } else { "copies".to_owned() }, &area);
        if is_dense(context, &copies) {
            let had = copies.into_iter().map(|seen| Had { what: seen.copy.direction, count: 1, time: seen.time });
            let (shares, _) = means::stacked(context, &area, Some(within as u128), had, copy_fill);
            lanes.push(Lane { label, area, copies: Vec::new(), shares });
            continue;
        }
        let mut boxes: Vec<CopyBox> = Vec::new();
        let mut last_within: Vec<Option<usize>> = vec![None; within];
        for CopyInLane { id, copy, time, lane, .. } in copies {
            let lane = lane as usize;
            let right = context.scale.x(time.end);
            let edge = |lane: usize| area.y + height * as_length(lane) / depth;
            let here = Rect::between(context.scale.x(time.start), edge(lane), right, edge(lane + 1));
            let last = last_within[lane].and_then(|last| boxes.get_mut(last));
            if let Some(last) = last.filter(|last| last.area.right() == right) {
                // It ends where the one before ends, so there is nothing to see of it.
                last.count += 1;
                last.bytes = last.bytes.zip(copy.bytes).map(|(one, other)| one.saturating_add(other));
                continue;
            }
            last_within[lane] = Some(boxes.len());
            let name = direction_name(copy.direction);
            let with_size = copy.bytes.map(|size| format!("{name} {}", bytes(size)));
            let texts: Vec<String> = with_size.into_iter().chain([name.to_owned()]).collect();
            let pauses = context.pauses_of(id);
            let label = centred(&texts, &widest_part(&here, &pauses), Theme::PAPER.small_size);
            // A narrow one is only seen to be there.
            let fill = copy_fill(copy.direction);
            let fill = if here.width < Sheet::LEAST_OUTLINED { Fill::plain(Colour::FRAME) } else { fill };
            boxes.push(CopyBox { operation: id, count: 1, bytes: copy.bytes, fill, area: here, pauses, label });
        }
        lanes.push(Lane { label, area, copies: boxes, shares: Vec::new() });
    }
    (lanes, bottom)
}
