//! Plotters' drawing on our paper: its pixels are hundredths of a millimetre, so that nothing is rounded visibly, and
//! its charts come in every file format.

use std::convert::Infallible;

use plotters::style::{FontTransform, RGBColor};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use crate::draw::drawing::{Anchor, Dash, Shape, Stroke, Text};
use crate::draw::font;
use crate::draw::geometry::{Length, Point, Rect};
use crate::draw::theme::{Colour, Fill, Theme};
use crate::proven::OrMost;

/// What plotters draws on.
pub(super) struct Canvas<'s> {
    pub(super) size: (u32, u32),
    pub(super) shapes: &'s mut Vec<Shape>,
}

pub(super) type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A place that plotters computed.
pub(super) fn point((x, y): BackendCoord) -> Point {
    Point { x: x.into(), y: y.into() }
}

pub(super) const fn rgb(Colour(red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

const fn colour(color: BackendColor) -> Colour {
    let (red, green, blue) = color.rgb;
    Colour(red, green, blue)
}

fn stroke<S: BackendStyle>(style: &S) -> Stroke {
    Stroke { colour: colour(style.color()), width: style.stroke_width().into() }
}

/// Whether there is something to see.
fn is_visible<S: BackendStyle>(style: &S) -> bool {
    style.color().alpha > 0.0
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        let area = Rect { x: x.into(), y: y.into(), width: 1, height: 1 };
        self.shapes.push(Shape::Box { area, fill: Some(Fill::plain(colour(color))), stroke: None });
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        if is_visible(style) {
            self.shapes.push(Shape::Line { from: point(from), to: point(to), stroke: stroke(style) });
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, one: BackendCoord, other: BackendCoord, style: &S, fill: bool) -> Drawn {
        if is_visible(style) {
            let (one, other) = (point(one), point(other));
            let area = Rect::between(one.x, one.y, other.x, other.y);
            let inside = fill.then(|| Fill::plain(colour(style.color())));
            self.shapes.push(Shape::Box { area, fill: inside, stroke: (!fill).then(|| stroke(style)) });
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        if is_visible(style) {
            let points: Vec<Point> = path.into_iter().map(point).collect();
            let stroke = stroke(style);
            self.shapes.push(match points[..] {
                [from, to] => Shape::Line { from, to, stroke },
                _ => Shape::Path { points, stroke, dash: Dash::Solid },
            });
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        if is_visible(style) {
            let fill = Fill::plain(colour(style.color()));
            self.shapes.push(Shape::Polygon { corners: corners.into_iter().map(point).collect(), fill, stroke: None });
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        let size = size_of(style);
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        // From the place stated down to the baseline.
        let drop = match style.anchor().v_pos {
            VPos::Top => 2 * Theme::baseline(size),
            VPos::Center => Theme::baseline(size),
            VPos::Bottom => 0,
        };
        let at = point(at);
        let upwards = matches!(style.transform(), FontTransform::Rotate270);
        let at = if upwards { Point { x: at.x + drop, ..at } } else { Point { y: at.y + drop, ..at } };
        let colour = colour(style.color());
        self.shapes.push(Shape::Text(Text { text: text.to_owned(), at, anchor, size, colour, bold: false, upwards }));
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = size_of(style);
        let pixels = |length: Length| u32::try_from(length).or_most();
        Ok((pixels(font::width(text, size, false)), pixels(size)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sizes of fonts are whole and small")]
fn size_of<S: BackendTextStyle>(style: &S) -> Length {
    style.size().round() as Length
}
