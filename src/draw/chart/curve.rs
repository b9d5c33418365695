//! One series: a line, points whose forms differ in grey, bars through them.

use plotters::element::{Drawable, PointCollection};
use plotters_backend::BackendCoord;

use super::Series;
use super::bars::BarLook;
use super::canvas::{Canvas, Drawn, point};
use crate::draw::drawing::{Dash, Shape, Stroke};
use crate::draw::geometry::{Length, MM, Point};
use crate::draw::theme::{Colour, Fill, Theme, line_colour};

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
pub(crate) struct Look {
    colour: Colour,
    dash: Dash,
    corners: &'static [(i64, i64)],
    filled: bool,
}

impl Look {
    /// How many series differ without their colours.
    pub(crate) const DIFFERENT: usize = 32;
    /// How many of them differ by their dashes.
    pub(crate) const DASHES: usize = 4;

    /// The first four differ in dashes and in the form of their points, the next four have hollow points, and the next
    /// eight the same points on other dashes.
    pub(crate) fn of(index: usize) -> Self {
        const DASHES: [Dash; Look::DASHES] = [Dash::Solid, Dash::Dashed, Dash::Alternating, Dash::Dotted];
        const FORMS: [&[(i64, i64)]; 4] = [&DISC, &SQUARE, &TRIANGLE, &DIAMOND];
        Self {
            colour: line_colour(index),
            dash: DASHES[(index + index / (2 * FORMS.len())) % DASHES.len()],
            corners: FORMS[index % FORMS.len()],
            filled: (index / FORMS.len()).is_multiple_of(2),
        }
    }

    pub(crate) const fn colour(self) -> Colour {
        self.colour
    }

    pub(crate) fn line(self, points: Vec<Point>) -> Shape {
        let stroke = Stroke { colour: self.colour, width: Theme::PAPER.curve_line };
        Shape::Path { points, stroke, dash: self.dash }
    }

    pub(crate) fn point(self, at: Point) -> Shape {
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
}
