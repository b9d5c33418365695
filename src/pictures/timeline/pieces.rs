//! Boxes of blocks on paper.

use std::ops::Range;

use super::context::{Context, centred};
use super::items::Item;
use super::scale::y;
use super::{Blocks, Piece, widest_part};
use crate::draw::Rect;
use crate::draw::theme::Theme;
use crate::pictures::pack::packed_apart;

/// Stacks the items of one SM, which are in the order of their starts, in its band.
/// `capacity` is what the band's height stands for.
pub(super) fn stacked(context: &Context<'_>, items: Vec<Item>, band: &Rect, capacity: u32) -> Vec<Blocks> {
    let trace = context.summary.trace;
    // Each context has the whole SM in its turns.
    let own = |item: &Item| trace.context_with_turns(item.operation);
    let needs: Vec<_> = items.iter().map(|item| (own(item), (item.units, item.time.clone()))).collect();
    let places = packed_apart(capacity, &needs);
    let blocks = |(item, places): (Item, Vec<Range<u32>>)| {
        let (left, right) = (context.scale.x(item.time.start), context.scale.x(item.time.end));
        let labels = labels(context, &item);
        let pauses = context.pauses(trace.process_of_known(item.operation), &item.time);
        let pieces = places.into_iter().map(|units| {
            let area = Rect::between(left, y(band, units.end, capacity), right, y(band, units.start, capacity));
            let label = centred(&labels, &widest_part(&area, &pauses), Theme::PAPER.small_size);
            Piece { units, area, pauses: pauses.clone(), label }
        });
        Blocks {
            operation: item.operation,
            kernel: item.kernel,
            index: item.index,
            count: item.count,
            units: item.units,
            pieces: pieces.collect(),
            time: item.time,
        }
    };
    items.into_iter().zip(places).map(blocks).collect()
}

/// What may be written on an item's boxes, best first.
fn labels(context: &Context<'_>, item: &Item) -> Vec<String> {
    if !context.is_chosen(item.kernel) {
        return Vec::new();
    }
    let title = context.short_name(item.kernel).to_owned();
    let longer = match (item.index, item.count) {
        (Some(index), _) => Some(format!("{title}:{index}")),
        (None, 1) => None,
        (None, count) => Some(format!("{title} ×{count}")),
    };
    longer.into_iter().chain([title]).chain(context.repeat(item.kernel)).collect()
}
