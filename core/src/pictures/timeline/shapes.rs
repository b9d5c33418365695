//! The shapes of single marks: labels, boxes with pauses, arrows, deadlines, and what stands for them in the legend.

use std::ops::Range;

use super::context::PALE;
use super::{Arrow, Label, LabelStyle, LegendMark, LegendSymbol, parts_between, waits};
use crate::draw::theme::{Colour, Fill, Theme};
use crate::draw::{Anchor, Length, MM, Point, Rect, Shape, Sheet, Stroke, Text, font, theme};
use crate::pictures::looks::pause_line;
use crate::proven::OrMost;

const THEME: Theme = Theme::PAPER;
pub(super) const PALE_OUTLINE: Stroke = Stroke { colour: Colour(0xbb, 0xbb, 0xbb), width: THEME.thin_line };
/// Length of an arrow's head.
const HEAD: Length = 12 * MM / 10;
pub(super) const SUBMITTED_OTHERS: Colour = Colour(0x99, 0x99, 0x99);

/// A label, if there is one; over a hatch on a plate of the background's colour.
pub(super) fn plated(label: Option<&Label>, fill: Fill) -> impl Iterator<Item = Shape> + use<> {
    let plate = label.filter(|_| fill.ink != fill.background).map(|label| {
        let fill = Some(Fill::plain(fill.background));
        Shape::Box { area: label.area, fill, stroke: None }
    });
    plate.into_iter().chain(label.map(text))
}

/// A box for each part between pauses, with lines over them.
pub(super) fn paused_box(area: &Rect, pauses: &[Range<Length>], fill: Fill, stroke: Option<Stroke>) -> Vec<Shape> {
    let parts = parts_between(area, pauses).into_iter();
    let boxes = parts.map(|part| Shape::Box { area: visible(part), fill: Some(fill), stroke });
    boxes.chain(pause_lines(pauses, area.centre().y, fill)).collect()
}

/// A line over each pause.
pub(super) fn pause_lines(pauses: &[Range<Length>], y: Length, fill: Fill) -> impl Iterator<Item = Shape> {
    pauses.iter().map(move |pause| pause_line(Point { x: pause.start, y }, Point { x: pause.end, y }, fill))
}

/// At least as wide and as high as a thin line, so that nothing is lost from sight.
pub(super) fn visible(area: Rect) -> Rect {
    let (width, height) = (area.width.max(THEME.thin_line), area.height.max(THEME.thin_line));
    Rect { y: area.bottom() - height, width, height, ..area }
}

/// An arrow that points upwards, with a second head if it stands for several operations.
pub(super) fn arrow_shapes(arrow: &Arrow, row: &Rect) -> Vec<Shape> {
    let colour = if arrow.kernels > 0 { Colour::BLACK } else { SUBMITTED_OTHERS };
    let several = if arrow.kernels > 0 { arrow.kernels > 1 } else { arrow.others > 1 };
    let (x, top) = (arrow.x, row.y + MM / 4);
    let stroke = Stroke { colour, width: THEME.arrow_line };
    let shaft_top = Point { x, y: top + HEAD / 2 };
    let mut shapes = vec![Shape::Line { from: Point { x, y: row.bottom() }, to: shaft_top, stroke }];
    for head in 0..=i64::from(several) {
        let tip = top + head * HEAD * 3 / 4;
        let corner = |x, y| Point { x, y };
        let corners =
            vec![corner(x, tip), corner(x + arrow.head / 2, tip + HEAD), corner(x - arrow.head / 2, tip + HEAD)];
        shapes.push(Shape::Polygon { corners, fill: Fill::plain(colour), stroke: None });
    }
    shapes
}

/// An arrow from an event's record to a wait, grey if the wait had nothing to wait for.
pub(super) fn event_shapes(from: Point, to: Point, held: bool) -> Vec<Shape> {
    let colour = if held { theme::EVENT } else { SUBMITTED_OTHERS };
    let stroke = Stroke { colour, width: THEME.line };
    // The head points along the arrow: its base is a head's length behind the tip.
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.unsigned_abs().max(dy.unsigned_abs()).max(1);
    let length = Length::try_from(length).or_most();
    let back = |by: Length| Point { x: to.x - dx * by / length, y: to.y - dy * by / length };
    let (base, half) = (back(HEAD * 2 / 3), HEAD / 4);
    let (across_x, across_y) = (-dy * half / length, dx * half / length);
    let corners = vec![
        to,
        Point { x: base.x + across_x, y: base.y + across_y },
        Point { x: base.x - across_x, y: base.y - across_y },
    ];
    vec![Shape::Line { from, to: base, stroke }, Shape::Polygon { corners, fill: Fill::plain(colour), stroke: None }]
}

/// What stands beside a text of the legend.
pub(super) fn legend_shapes(mark: &LegendMark) -> Vec<Shape> {
    let middle = mark.area.centre();
    let [left, right] = [mark.area.x, mark.area.right()].map(|x| Point { x, y: middle.y });
    let missed = mark.symbol == LegendSymbol::DeadlineMissed;
    match mark.symbol {
        LegendSymbol::Area => {
            let area = Shape::Box { area: mark.area, fill: Some(mark.fill), stroke: Some(Sheet::OUTLINE) };
            let number = mark.repeat.map(|number| number_in(&mark.area, number));
            std::iter::once(area).chain(plated(number.as_ref(), mark.fill)).collect()
        }
        LegendSymbol::Thin => {
            let area = Rect { y: middle.y - MM / 8, height: MM / 4, ..mark.area };
            vec![Shape::Box { area, fill: Some(Fill::plain(mark.fill.ink)), stroke: None }]
        }
        LegendSymbol::Capacity => vec![Shape::Line { from: left, to: right, stroke: Sheet::MARK }],
        LegendSymbol::Event => event_shapes(left, right, true),
        LegendSymbol::Launch | LegendSymbol::Submission => {
            let kernels = u64::from(mark.symbol == LegendSymbol::Launch);
            let (operations, others) = (Vec::new(), 1 - kernels);
            let arrow = Arrow { x: middle.x, head: HEAD, operations, kernels, others, label: None };
            arrow_shapes(&arrow, &mark.area)
        }
        LegendSymbol::Wait => {
            let area = Rect { y: middle.y - waits::BAR / 2, height: waits::BAR, ..mark.area };
            let stroke = (mark.fill == PALE).then_some(PALE_OUTLINE);
            vec![Shape::Box { area, fill: Some(mark.fill), stroke }]
        }
        LegendSymbol::Pause => vec![pause_line(left, right, mark.fill)],
        LegendSymbol::Deadline | LegendSymbol::DeadlineMissed => deadline_shapes(middle.x, HEAD, missed, &mark.area),
    }
}

/// A number in the middle of a mark, which is hardly higher.
fn number_in(mark: &Rect, number: usize) -> Label {
    let (text, size) = (number.to_string(), THEME.small_size);
    let width = font::width(&text, size, false) + size / 4;
    let area = Rect { x: mark.centre().x - width / 2, y: mark.centre().y - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::Middle, size, style: LabelStyle::Normal }
}

/// An arrow that points downwards, as deadlines are drawn where arrows upwards are releases: with an open head, or
/// filled and crossed out if the deadline was missed.
pub(super) fn deadline_shapes(x: Length, head: Length, missed: bool, row: &Rect) -> Vec<Shape> {
    let colour = if missed { theme::MARK } else { Colour::BLACK };
    let stroke = Stroke { colour, width: THEME.arrow_line };
    let (top, tip) = (row.y + MM / 4, row.bottom());
    let point = |x, y| Point { x, y };
    let mut shapes = vec![Shape::Line { from: point(x, top), to: point(x, tip - HEAD), stroke }];
    let corners = vec![point(x, tip), point(x + head / 2, tip - HEAD), point(x - head / 2, tip - HEAD)];
    let fill = Fill::plain(if missed { colour } else { Colour::WHITE });
    shapes.push(Shape::Polygon { corners, fill, stroke: Some(Stroke { colour, width: THEME.thin_line }) });
    if missed {
        let (middle, reach) = ((top + tip - HEAD) / 2, head / 2);
        for slope in [-1, 1] {
            let [from, to] = [-1, 1].map(|side| point(x + side * reach, middle + side * slope * reach));
            shapes.push(Shape::Line { from, to, stroke });
        }
    }
    shapes
}

pub(super) fn text(label: &Label) -> Shape {
    let middle = label.area.centre();
    let drop = Theme::baseline(label.size);
    let upwards = label.style == LabelStyle::QuietUpwards;
    let at = if upwards {
        Point { x: middle.x + drop, y: middle.y }
    } else {
        let x = match label.anchor {
            Anchor::Start => label.area.x,
            Anchor::Middle => middle.x,
            Anchor::End => label.area.x + label.area.width,
        };
        Point { x, y: middle.y + drop }
    };
    let colour = match label.style {
        LabelStyle::Normal | LabelStyle::Bold => Colour::BLACK,
        LabelStyle::Quiet | LabelStyle::QuietUpwards => Colour::GREY_TEXT,
    };
    Shape::Text(Text {
        text: label.text.clone(),
        at,
        anchor: label.anchor,
        size: label.size,
        colour,
        bold: label.style == LabelStyle::Bold,
        upwards,
    })
}
