//! Pictures as a list of shapes, independent of any file format.

use super::geometry::{COLUMN_WIDTH, Length, PAGE_HEIGHT, PAGE_WIDTH, Point, Rect, in_millimetres};
use super::theme::{Colour, Fill};

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// Width of the paper.
    pub width: Length,
    /// Height of the paper.
    pub height: Length,
    /// What it is called, for viewers and screen readers.
    pub title: String,
    /// From back to front.
    pub(crate) shapes: Vec<Shape>,
}

/// What may be chosen of a picture whose size follows from its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureOptions {
    /// Width of the paper; `None`: what suits the picture.
    pub width: Option<Length>,
    /// Whether its title stands above it.
    pub title: bool,
}

impl PictureOptions {
    /// A width by its name: `column`, `page`, or a decimal number of millimetres with up to two decimals. `None` for
    /// anything else.
    pub fn width_named(text: &str) -> Option<Length> {
        match text {
            "column" => Some(COLUMN_WIDTH),
            "page" => Some(PAGE_WIDTH),
            _ => in_millimetres(text),
        }
    }

    /// The most that a picture may be high, by its name: `page`, or a number of millimetres as of
    /// [`PictureOptions::width_named`].
    pub fn height_named(text: &str) -> Option<Length> {
        if text == "page" { Some(PAGE_HEIGHT) } else { in_millimetres(text) }
    }
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { width: None, title: true }
    }
}

/// A line's look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    /// Colour.
    pub colour: Colour,
    /// Width.
    pub width: Length,
}

/// How a path is interrupted; with a [`Stroke`], what tells lines apart in grey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Dash {
    /// Not at all.
    #[default]
    Solid,
    /// `- -`
    Dashed,
    /// `· ·`
    Dotted,
    /// `- ·`
    Alternating,
}

impl Dash {
    /// Lengths drawn and left out, in turn; empty for a solid line.
    pub(crate) const fn lengths(self) -> &'static [Length] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[150, 70],
            Self::Dotted => &[35, 55],
            Self::Alternating => &[150, 55, 35, 55],
        }
    }
}

/// Which end of a text its position states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "a text has a text")]
pub(crate) struct Text {
    /// The text.
    pub text: String,
    /// Where its anchor is on the baseline.
    pub at: Point,
    /// What `at` states.
    pub anchor: Anchor,
    /// Font size.
    pub size: Length,
    /// Colour.
    pub colour: Colour,
    /// Bold face.
    pub bold: bool,
    /// Turned by a quarter, to be read from below.
    pub upwards: bool,
}

/// Something to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A rectangle; a stroke is centred on its edge.
    Box {
        /// Where.
        area: Rect,
        /// Inside.
        fill: Option<Fill>,
        /// Edge.
        stroke: Option<Stroke>,
    },
    /// A straight line.
    Line {
        /// One end.
        from: Point,
        /// The other.
        to: Point,
        /// Look.
        stroke: Stroke,
    },
    /// Straight lines from each point to the next.
    Path {
        points: Vec<Point>,
        /// Look.
        stroke: Stroke,
        /// Interruptions.
        dash: Dash,
    },
    /// A closed polygon.
    Polygon {
        /// Corners in order.
        corners: Vec<Point>,
        /// Inside.
        fill: Fill,
        /// Edge.
        stroke: Option<Stroke>,
    },
    /// Text.
    Text(Text),
    /// Shapes with one explanation, which viewers show under the pointer.
    Explained {
        /// The explanation.
        tooltip: String,
        /// What it explains.
        shapes: Vec<Shape>,
    },
}

impl Drawing {
    /// How many shapes it has, those that are explained together counted one by one.
    pub fn shapes(&self) -> usize {
        self.flat().count()
    }

    /// All shapes, those inside others after what explains them.
    pub(crate) fn flat(&self) -> impl Iterator<Item = &Shape> {
        self.shapes.iter().flat_map(Shape::flat)
    }
}

impl Shape {
    /// The same shape, lower on the paper.
    pub(crate) fn moved_down(self, by: Length) -> Self {
        let point = |at: Point| Point { y: at.y + by, ..at };
        let rect = |area: Rect| Rect { y: area.y + by, ..area };
        match self {
            Self::Box { area, fill, stroke } => Self::Box { area: rect(area), fill, stroke },
            Self::Line { from, to, stroke } => Self::Line { from: point(from), to: point(to), stroke },
            Self::Path { points, stroke, dash } => {
                Self::Path { points: points.into_iter().map(point).collect(), stroke, dash }
            }
            Self::Polygon { corners, fill, stroke } => {
                Self::Polygon { corners: corners.into_iter().map(point).collect(), fill, stroke }
            }
            Self::Text(text) => Self::Text(Text { at: point(text.at), ..text }),
            Self::Explained { tooltip, shapes } => {
                Self::Explained { tooltip, shapes: shapes.into_iter().map(|shape| shape.moved_down(by)).collect() }
            }
        }
    }

    fn flat(&self) -> Box<dyn Iterator<Item = &Shape> + '_> {
        match self {
            Self::Explained { shapes, .. } => Box::new(shapes.iter().flat_map(Self::flat)),
            _ => Box::new(std::iter::once(self)),
        }
    }

    /// How the shape is filled.
    pub(crate) fn fill(&self) -> Option<Fill> {
        match self {
            Self::Box { fill, .. } => *fill,
            Self::Polygon { fill, .. } => Some(*fill),
            _ => None,
        }
    }
}
