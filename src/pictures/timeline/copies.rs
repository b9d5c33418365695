//! Lanes of copy engines.

use super::context::{BESIDE_PLOT, Context, centred, ending_at};
use super::crowd;
use super::shares::{self, Had};
use super::{CopyBox, LabelStyle, Lane, widest_part};
use crate::device::CopyDirection;
use crate::draw::theme::{Colour, Fill, Hatch, Theme};
use crate::draw::{Length, MM, Rect, as_length};
use crate::pictures::free_lanes::FreeLanes;
use crate::run::Recorded;
use crate::time::Instant;
use crate::workload::{Copy, OperationId};

/// Height of a lane, and of what copies that overlap add to it: there are lanes within the lane then.
const HEIGHT: Length = 3 * MM + MM / 2;
const MORE: Length = 2 * MM;
/// No lane is higher.
const MOST_HEIGHT: Length = 4 * HEIGHT;
/// Between a lane and what is above it.
const GAP: Length = MM;

pub(super) fn fill_of(direction: CopyDirection) -> Fill {
    let ink = Colour(0x80, 0x80, 0x80);
    match direction {
        CopyDirection::HostToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Rising, ink },
        CopyDirection::DeviceToHost => Fill { background: Colour(0xd8, 0xd8, 0xd8), hatch: Hatch::Falling, ink },
        CopyDirection::DeviceToDevice => Fill { background: Colour(0xf4, 0xf4, 0xf4), hatch: Hatch::Grid, ink },
    }
}

/// From where to where, with H for the host and D for the device.
pub(super) const fn short_name(direction: CopyDirection) -> &'static str {
    match direction {
        CopyDirection::HostToDevice => "H→D",
        CopyDirection::DeviceToHost => "D→H",
        CopyDirection::DeviceToDevice => "D→D",
    }
}

pub(super) fn name_of(context: &Context<'_>, copy: OperationId) -> String {
    context.summary.trace.copy_of(copy).map_or("", |copy| short_name(copy.direction)).to_owned()
}

/// The directions of the copies that are seen.
pub(super) fn directions(context: &Context<'_>) -> Vec<CopyDirection> {
    let mut directions: Vec<CopyDirection> = seen(context).map(|(_, _, copy, _)| copy.direction).collect();
    directions.sort_unstable();
    directions.dedup();
    directions
}

/// Copies that began before the window ends and did not end before it begins.
fn seen<'c>(context: &'c Context<'_>) -> impl Iterator<Item = (OperationId, Instant, Copy, Instant)> + 'c {
    context.summary.copies().filter_map(|Recorded { id, record, work: copy }| {
        let start = record.first_start()?;
        let end = record.finish().unwrap_or(Instant::MAX);
        context.scale.shows(start, end).then_some((id, start, copy, end))
    })
}

/// Whether copies of an engine are too many and too short to be seen one by one.
pub(super) fn are_dense(context: &Context<'_>) -> bool {
    let engines = &context.summary.scenario.device().copy;
    (0..engines.engines).any(|engine| is_dense(context, engine))
}

fn is_dense(context: &Context<'_>, engine: u32) -> bool {
    let engines = &context.summary.scenario.device().copy;
    let own = seen(context).filter(|(_, _, copy, _)| engines.engine_for(copy.direction) == engine);
    crowd::are_dense(&context.scale, own.map(|(_, start, _, end)| start..end))
}

/// The lanes below `top`, and where they end.
pub(super) fn lanes(context: &Context<'_>, top: Length) -> (Vec<Lane>, Length) {
    let engines = &context.summary.scenario.device().copy;
    let mut bottom = top;
    let mut lanes = Vec::new();
    for engine in 0..engines.engines {
        let mut copies: Vec<_> =
            seen(context).filter(|(_, _, copy, _)| engines.engine_for(copy.direction) == engine).collect();
        if copies.is_empty() {
            continue;
        }
        crate::sorted::sort_by_key(&mut copies, |(id, start, _, _)| (*start, *id));
        let mut free = FreeLanes::default();
        let within: Vec<usize> = copies.iter().map(|(_, start, _, end)| free.take(*start, *end)).collect();
        let depth = as_length(free.count());
        let height = (depth - 1).saturating_mul(MORE).saturating_add(HEIGHT).min(MOST_HEIGHT);
        let area = Rect { x: context.scale.left, y: bottom + GAP, width: context.scale.width, height };
        bottom = area.bottom();
        let name = if engines.engines > 1 { format!("copy {engine}") } else { "copies".to_owned() };
        let right = area.x - BESIDE_PLOT;
        let label = ending_at(name, right, area.centre().y, Theme::PAPER.text_size, LabelStyle::Normal);
        if is_dense(context, engine) {
            let had =
                copies.iter().map(|(_, start, copy, end)| Had { what: copy.direction, count: 1, time: *start..*end });
            let at_once = Some(free.count() as u128);
            let (shares, _) = shares::stacked(context, &area, at_once, had, fill_of);
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
            let name = short_name(copy.direction);
            let with_size = copy.bytes.map(|size| format!("{name} {}", bytes(size)));
            let texts: Vec<String> = with_size.into_iter().chain([name.to_owned()]).collect();
            let pauses = context.pauses_of(id);
            let label = centred(&texts, &widest_part(&here, &pauses), Theme::PAPER.small_size);
            let fill = fill_of(copy.direction);
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
