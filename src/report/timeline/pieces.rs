//! Boxes of blocks on paper.

use std::ops::Range;

use super::context::{Context, centred};
use super::items::Item;
use super::scale::y;
use super::{Blocks, Piece};
use crate::draw::Rect;
use crate::draw::theme::Theme;
use crate::report::pack::{Need, packed};

/// Stacks the items of one SM, which are in the order of their starts, in its band.
/// `capacity` is what the band's height stands for.
pub(super) fn stacked(context: &Context<'_>, items: Vec<Item>, band: &Rect, capacity: u32) -> Vec<Blocks> {
    let needs: Vec<Need> = items.iter().map(|item| (item.units, item.time.clone())).collect();
    let places = packed(capacity, &needs);
    let blocks = |(item, places): (Item, Vec<Range<u32>>)| {
        let (left, right) = (context.scale.x(item.time.start), context.scale.x(item.time.end));
        let labels = labels(context, &item);
        let pieces = places.into_iter().map(|units| {
            let area = Rect::between(left, y(band, units.end, capacity), right, y(band, units.start, capacity));
            let label = centred(&labels, &area, Theme::PAPER.small_size);
            Piece { units, area, label }
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
