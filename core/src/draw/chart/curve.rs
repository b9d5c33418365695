//! The curves of a chart: lines, points whose forms differ in grey, bars through them; and the paper on which plotters
//! draws.

use std::convert::Infallible;

use plotters::element::{Drawable, PointCollection};
use plotters::style::{FontTransform, RGBColor};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};

use super::Series;
use crate::draw::drawing::{Anchor, Dash, Shape, Stroke, Text};
use crate::draw::font;
use crate::draw::geometry::{Length, MM, Point, Rect, as_length};
use crate::draw::theme::{Colour, Fill, Theme, line_colour};
use crate::proven::OrMost;

/// Half of the width of a point.
const RADIUS: Length = 7 * MM / 10;
/// Forms of points \[percent of the radius\].
const SQUARE: [(i64, i64); 4] = [(-85, -85), (85, -85), (85, 85), (-85, 85)];
const TRIANGLE: [(i64, i64); 3] = [(0, -115), (105, 75), (-105, 75)];
const DIAMOND: [(i64, i64); 4] = [(0, -125), (105, 0), (0, 125), (-105, 0)];
const DISC: [(i64, i64); 12] = [
    (100, 0),
    (87, 50),
    (50, 87),
    (0, 100),
    (-50, 87),
    (-87, 50),
    (-100, 0),
    (-87, -50),
    (-50, -87),
    (0, -100),
    (50, -87),
    (87, -50),
];

/// How series number `index` looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    colour: Colour,
    dash: Dash,
    corners: &'static [(i64, i64)],
    filled: bool,
}

impl Look {
    /// How many series differ without their colours.
    #[doc(hidden)]
    pub const DIFFERENT: usize = 32;
    /// How many of them differ by their dashes.
    pub(crate) const DASHES: usize = 4;

    /// The first four differ in dashes and in the form of their points, the next four have hollow points, and the next
    /// eight the same points on other dashes.
    #[doc(hidden)]
    pub fn of(index: usize) -> Self {
        const DASHES: [Dash; Look::DASHES] = [Dash::Solid, Dash::Dashed, Dash::Alternating, Dash::Dotted];
        const FORMS: [&[(i64, i64)]; 4] = [&DISC, &SQUARE, &TRIANGLE, &DIAMOND];
        Self {
            colour: line_colour(index),
            dash: DASHES[(index + index / (2 * FORMS.len())) % DASHES.len()],
            corners: FORMS[index % FORMS.len()],
            filled: (index / FORMS.len()).is_multiple_of(2),
        }
    }

    #[doc(hidden)]
    pub const fn colour(self) -> Colour {
        self.colour
    }

    pub(crate) fn line(self, points: Vec<Point>) -> Shape {
        let stroke = Stroke { colour: self.colour, width: Theme::PAPER.curve_line };
        Shape::Path { points, stroke, dash: self.dash }
    }

    #[doc(hidden)]
    pub fn point(self, at: Point) -> Shape {
        let corner = |&(x, y): &(i64, i64)| Point { x: at.x + x * RADIUS / 100, y: at.y + y * RADIUS / 100 };
        let fill = Fill::plain(if self.filled { self.colour } else { Colour::WHITE });
        let stroke = Some(Stroke { colour: self.colour, width: Theme::PAPER.line });
        Shape::Polygon { corners: self.corners.iter().map(corner).collect(), fill, stroke }
    }

    fn thin(self, from: Point, to: Point) -> Shape {
        Shape::Line { from, to, stroke: Stroke { colour: self.colour, width: Theme::PAPER.thin_line } }
    }
}

/// A series as plotters' element.
pub(super) struct Curve {
    /// With bars, every point is followed by the ends of its bar.
    points: Vec<(f64, f64)>,
    has_bars: bool,
    has_points: bool,
    look: Look,
    bars: BarLook,
}

impl Curve {
    /// Everything outside `least..` upwards is cut.
    pub(super) fn new(series: &Series, index: usize, has_points: bool, least: f64, bars: BarLook) -> Self {
        let has_bars = !series.bars.is_empty();
        let with_bars = |(index, &(x, y)): (usize, &(f64, f64))| {
            let (low, high) = series.bars.get(index).copied().unwrap_or((y, y));
            [(x, y), (x, low.max(least)), (x, high)].into_iter().take(if has_bars { 3 } else { 1 })
        };
        let points = series.points.iter().enumerate().flat_map(with_bars).collect();
        Self { points, has_bars, has_points, look: Look::of(index), bars }
    }
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a Curve {
    type Point = &'a (f64, f64);
    type IntoIter = std::slice::Iter<'a, (f64, f64)>;

    fn point_iter(self) -> Self::IntoIter {
        self.points.iter()
    }
}

impl Drawable<Canvas<'_>> for Curve {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, places: I, canvas: &mut Canvas<'_>, _: (u32, u32)) -> Drawn {
        let places: Vec<Point> = places.map(point).collect();
        let middles: Vec<Point> = places.iter().copied().step_by(if self.has_bars { 3 } else { 1 }).collect();
        for bar in places.chunks_exact(3).take(if self.has_bars { places.len() } else { 0 }) {
            let [low, high] = [bar[1], bar[2]].map(|end| Point { x: end.x + self.bars.aside, ..end });
            canvas.shapes.push(self.look.thin(low, high));
            for end in [low, high] {
                let beside = |by| Point { x: end.x + by, ..end };
                canvas.shapes.push(self.look.thin(beside(-self.bars.end), beside(self.bars.end)));
            }
        }
        canvas.shapes.push(self.look.line(simplified(&middles)));
        if self.has_points {
            canvas.shapes.extend(middles.iter().map(|&at| self.look.point(at)));
        }
        Ok(())
    }
}

/// The same line without points that lie on a level or upright stretch of it.
fn simplified(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for &at in points {
        if let [.., before, last] = kept[..] {
            let level = before.y == last.y && last.y == at.y && (before.x <= last.x) == (last.x <= at.x);
            let upright = before.x == last.x && last.x == at.x && (before.y <= last.y) == (last.y <= at.y);
            if level || upright {
                kept.pop();
            }
        }
        if kept.last() != Some(&at) {
            kept.push(at);
        }
    }
    kept
}

/// From one bar to the next where there is room.
const APART: Length = 12 * MM / 10;
/// Half of the width of a bar's ends where there is room.
const END: Length = MM / 2;

/// Bars at one place stand beside each other, around it, and do not reach those of the next place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bars {
    /// From one series to the next.
    apart: Length,
    /// How many series have bars.
    series: Length,
    /// Half of the width of their ends.
    pub(super) end: Length,
}

/// How the bars of one series stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct BarLook {
    /// How far to the right of their points.
    pub(super) aside: Length,
    /// Half of the width of their ends.
    pub(super) end: Length,
}

impl Bars {
    /// For so many series with bars at these places from left to right.
    pub(super) fn new(mut places: Vec<i32>, series: usize) -> Self {
        places.sort_unstable();
        places.dedup();
        let step = places.windows(2).map(|pair| Length::from(pair[1] - pair[0])).min().unwrap_or(Length::MAX);
        let series = as_length(series.max(1));
        let apart = (step / series).min(APART);
        Self { apart, series, end: (apart * 2 / 5).min(END) }
    }

    /// How far aside those of one of the series stand.
    pub(super) fn aside(&self, number: usize) -> Length {
        let number = as_length(number);
        self.apart * (2 * number - (self.series - 1)) / 2
    }
}

/// What plotters draws on, our paper: its pixels are hundredths of a millimetre, so that nothing is rounded visibly,
/// and its charts come in every file format.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_without_their_colours() {
        let looks = (0..Look::DIFFERENT).map(|index| Look { colour: Colour::BLACK, ..Look::of(index) });
        assert_eq!(looks.collect::<std::collections::BTreeSet<_>>().len(), Look::DIFFERENT);
        // Without points, dashes alone tell series apart.
        let dashes = (0..Look::DASHES).map(|index| Look::of(index).dash);
        assert_eq!(dashes.collect::<std::collections::BTreeSet<_>>().len(), Look::DASHES);
    }

    #[test]
    fn steps_keep_their_corners_only() {
        let at = |x, y| Point { x, y };
        let steps = [at(0, 9), at(1, 9), at(2, 9), at(2, 9), at(2, 5), at(2, 1), at(3, 1)];
        assert_eq!(simplified(&steps), [at(0, 9), at(2, 9), at(2, 1), at(3, 1)]);
    }

    #[test]
    fn bars_of_several_series_neither_touch_each_other_nor_those_of_the_next_place() {
        for (places, series) in [(vec![0, 370, 740], 3), (vec![0, 90, 180], 4), (vec![0, 5_000], 8), (vec![7], 5)] {
            let bars = Bars::new(places.clone(), series);
            let mut all: Vec<Length> = places
                .iter()
                .flat_map(|place| (0..series).map(move |number| Length::from(*place) + bars.aside(number)))
                .collect();
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[1] - pair[0] > 2 * bars.end), "{places:?}: {all:?}");
        }
    }
}
