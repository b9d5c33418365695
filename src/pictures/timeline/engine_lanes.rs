//! Lanes of the cores that hosts share, above the GPU, and of the copy engines, below the SMs.

use super::context::{BESIDE_PLOT, Context, Other, PALE, centred, ending_at};
use super::means::Had;
use super::{CopyBox, CoreBox, CoreLane, LabelStyle, Lane, LegendSymbol, context, means, widest_part};
use crate::device::CopyDirection;
use crate::draw::theme::{Colour, Fill, Hatch, Theme, share_fill};
use crate::draw::{Length, MM, Rect, as_length};
use crate::pictures::pack::FreeLanes;
use crate::run::{CoreSpan, Recorded};
use crate::time::Instant;
use crate::workload::{Copy, OperationId};

const CORE_HEIGHT: Length = 5 * MM;
/// Between it and what is below.
const CORE_GAP: Length = MM / 2;
/// Hosts that the core_legend names.
const MOST_NAMED: usize = 6;

/// What is seen_spans of the cores, by core.
fn seen_spans<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a CoreSpan> {
    context.summary.cores.iter().filter(|span| context.scale.shows(span.start, span.end))
}

/// What cores are called beside the plot.
fn core_name(core: u32) -> String {
    format!("core {core}")
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
        let area = Rect { x: context.scale.left, y: bottom, width: context.scale.width, height: CORE_HEIGHT };
        bottom = area.bottom() + CORE_GAP;
        let core = own.first().map_or(0, |span| span.core);
        let size = Theme::PAPER.text_size;
        let label = ending_at(core_name(core), area.x - BESIDE_PLOT, area.centre().y, size, LabelStyle::Normal);
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
    let left = context.scale.x(span.start.max(context.scale.window.start));
    let area = Rect { x: left, width: context.scale.x(span.end) - left, ..*lane };
    let label = centred(&[context.host(span.thread).to_owned()], &area, Theme::PAPER.small_size);
    CoreBox { span: *span, fill: span_fill(span), area, label }
}

/// What the boxes mean.
pub(super) fn core_legend(context: &Context<'_>) -> Vec<Other> {
    let mut threads: Vec<u32> = seen_spans(context).map(|span| span.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let named = |thread: &u32| {
        let text = format!("{} on its core", context.host(*thread));
        Other::new(share_fill(*thread as usize), LegendSymbol::Area, text)
    };
    let mut entries: Vec<Other> = threads.iter().take(MOST_NAMED).map(named).collect();
    if let Some(rest) = threads.len().checked_sub(MOST_NAMED).filter(|rest| *rest > 0) {
        let shorter = vec![format!("and {rest} more")];
        let text = format!("and {rest} more hosts on cores");
        entries.push(Other { shorter, ..Other::new(PALE, LegendSymbol::Nothing, text) });
    }
    if seen_spans(context).any(|span| span.spins) {
        entries.push(Other::new(PALE, LegendSymbol::Nothing, "paler: spins".to_owned()));
    }
    entries
}

impl Context<'_> {
    /// What a host thread is called.
    fn host(&self, thread: u32) -> &str {
        self.summary.scenario.threads.get(thread as usize).map_or("", |thread| &thread.label)
    }
}

/// Height of a lane, and of what copies that overlap add to it: there are lanes within the lane then.
const COPY_HEIGHT: Length = 3 * MM + MM / 2;
const MORE: Length = 2 * MM;
/// No lane is higher.
const MOST_HEIGHT: Length = 4 * COPY_HEIGHT;
/// Between a lane and what is above it.
const COPY_GAP: Length = MM;

pub(super) fn copy_fill(direction: CopyDirection) -> Fill {
    let ink = Colour(0x80, 0x80, 0x80);
    match direction {
        CopyDirection::HostToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Rising, ink },
        CopyDirection::DeviceToHost => Fill { background: Colour(0xd8, 0xd8, 0xd8), hatch: Hatch::Falling, ink },
        CopyDirection::DeviceToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Grid, ink },
    }
}

/// From where to where, with H for the host and D for the device.
pub(super) const fn direction_name(direction: CopyDirection) -> &'static str {
    match direction {
        CopyDirection::HostToDevice => "H→D",
        CopyDirection::DeviceToHost => "D→H",
        CopyDirection::DeviceToDevice => "D→D",
    }
}

pub(super) fn copy_name(context: &Context<'_>, copy: OperationId) -> String {
    context.summary.trace.copy_of(copy).map_or("", |copy| direction_name(copy.direction)).to_owned()
}

/// The directions of the copies that are seen.
pub(super) fn directions(context: &Context<'_>) -> Vec<CopyDirection> {
    let mut directions: Vec<CopyDirection> = seen_copies(context).map(|(_, _, copy, _)| copy.direction).collect();
    directions.sort_unstable();
    directions.dedup();
    directions
}

/// Copies that began before the window ends and did not end before it begins.
fn seen_copies<'c>(context: &'c Context<'_>) -> impl Iterator<Item = (OperationId, Instant, Copy, Instant)> + 'c {
    context.summary.copies().filter_map(|Recorded { id, record, work: copy }| {
        let start = record.first_start()?;
        let end = record.finish().unwrap_or(Instant::MAX);
        context.scale.shows(start, end).then_some((id, start, copy, end))
    })
}

/// Whether copies of an engine are too many and too short to be seen one by one.
pub(super) fn copies_are_dense(context: &Context<'_>) -> bool {
    let engines = &context.summary.scenario.device().copy;
    (0..engines.engines).any(|engine| is_dense(context, engine))
}

fn is_dense(context: &Context<'_>, engine: u32) -> bool {
    let engines = &context.summary.scenario.device().copy;
    let own = seen_copies(context).filter(|(_, _, copy, _)| engines.engine_for(copy.direction) == engine);
    context::are_dense(&context.scale, own.map(|(_, start, _, end)| start..end))
}

/// The lanes below `top`, and where they end.
pub(super) fn copy_lanes(context: &Context<'_>, top: Length) -> (Vec<Lane>, Length) {
    let engines = &context.summary.scenario.device().copy;
    let mut bottom = top;
    let mut lanes = Vec::new();
    for engine in 0..engines.engines {
        let mut copies: Vec<_> =
            seen_copies(context).filter(|(_, _, copy, _)| engines.engine_for(copy.direction) == engine).collect();
        if copies.is_empty() {
            continue;
        }
        crate::sorted::sort_by_key(&mut copies, |(id, start, _, _)| (*start, *id));
        let mut free = FreeLanes::default();
        let within: Vec<usize> = copies.iter().map(|(_, start, _, end)| free.take(*start, *end)).collect();
        let depth = as_length(free.count());
        let height = (depth - 1).saturating_mul(MORE).saturating_add(COPY_HEIGHT).min(MOST_HEIGHT);
        let area = Rect { x: context.scale.left, y: bottom + COPY_GAP, width: context.scale.width, height };
        bottom = area.bottom();
        let name = if engines.engines > 1 { format!("copy {engine}") } else { "copies".to_owned() };
        let right = area.x - BESIDE_PLOT;
        let label = ending_at(name, right, area.centre().y, Theme::PAPER.text_size, LabelStyle::Normal);
        if is_dense(context, engine) {
            let had =
                copies.iter().map(|(_, start, copy, end)| Had { what: copy.direction, count: 1, time: *start..*end });
            let at_once = Some(free.count() as u128);
            let (shares, _) = means::stacked(context, &area, at_once, had, copy_fill);
            lanes.push(Lane { engine, label, area, copies: Vec::new(), shares });
            continue;
        }
        let mut boxes: Vec<CopyBox> = Vec::new();
        let mut last_within: Vec<Option<usize>> = vec![None; free.count()];
        for ((id, start, copy, end), lane) in copies.into_iter().zip(within) {
            let (left, right) = (context.scale.x(start), context.scale.x(end));
            let place = as_length(lane);
            let edge = |place: Length| area.y + height * place / depth;
            let here = Rect::between(left, edge(place), right, edge(place + 1));
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
            let fill = copy_fill(copy.direction);
            boxes.push(CopyBox { operation: id, count: 1, bytes: copy.bytes, fill, area: here, pauses, label });
        }
        lanes.push(Lane { engine, label, area, copies: boxes, shares: Vec::new() });
    }
    (lanes, bottom)
}

/// A size with at most one decimal, rounded down, in the largest unit of which it holds one.
pub(crate) fn bytes(bytes: u64) -> String {
    let units: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| bytes >= *unit) else { return format!("{bytes} B") };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        rest => format!("{}.{rest} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_short() {
        assert_eq!([bytes(0), bytes(1_023), bytes(1_536), bytes(256 << 20)], ["0 B", "1023 B", "1.5 KiB", "256 MiB"]);
    }
}
