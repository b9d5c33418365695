//! Lines across the pauses of blocks (T4).

use super::Band;
use super::context::{Context, fill_of};
use super::tooltip::Tooltips;
use crate::draw::theme::{Colour, Fill, Theme};
use crate::draw::{Dash, Length, Point, Shape, Stroke};

/// Lines of several processes have places of their own, so that they do not become one.
const PLACES: Length = 3;
/// One of so many parts of the height of a block is from one place to the next.
const PARTS: Length = 8;

/// A line from where a block stops to where it goes on.
pub(in crate::pictures) fn line(from: Point, to: Point, fill: Fill) -> Shape {
    // A plain fill has no ink of its own.
    let colour = if fill.ink == fill.background { Colour::FRAME } else { fill.ink };
    Shape::Path { points: vec![from, to], stroke: Stroke { colour, width: Theme::PAPER.line }, dash: Dash::Dotted }
}

/// The lines of all blocks of a band, over the blocks of other contexts that run meanwhile.
pub(super) fn across(context: &Context<'_>, tooltips: &Tooltips<'_>, band: &Band, shapes: &mut Vec<Shape>) {
    for blocks in &band.blocks {
        let process = context.summary.trace.process_of_known(blocks.operation);
        let place = 1 + Length::from(process.0) % PLACES;
        let fill = fill_of(context, Some(blocks.kernel));
        for piece in blocks.pieces.iter().filter(|piece| !piece.pauses.is_empty()) {
            let y = piece.area.bottom() - piece.area.height * place / PARTS;
            let lines = piece.pauses.iter().map(|pause| {
                let [from, to] = [pause.start, pause.end].map(|x| Point { x, y });
                line(from, to, fill)
            });
            let tooltip = tooltips.pauses(&band.name, blocks);
            shapes.push(Shape::Explained { tooltip, shapes: lines.collect() });
        }
    }
}
