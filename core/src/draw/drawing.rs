//! Pictures as a list of shapes, independent of any file format, and how they are made in the look of the theme.

use super::font;
use super::geometry::{COLUMN_WIDTH, Length, MM, PAGE_HEIGHT, PAGE_WIDTH, Point, Rect, in_millimetres};
use super::theme::{self, Colour, Fill, Theme, series_fill, series_repeat};
use crate::effort::Counted;
use crate::limits::count;

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
pub struct Stroke {
    /// Colour.
    pub colour: Colour,
    /// Width.
    pub width: Length,
}

/// How a path is interrupted; with a [`Stroke`], what tells lines apart in grey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Dash {
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
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
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
pub enum Shape {
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
        /// Its corners.
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

/// A drawing in the making: shapes in the theme's look, for diagrams that need no layout of their own.
#[derive(Debug)]
#[doc(hidden)]
pub struct Sheet {
    shapes: Vec<Shape>,
}

impl Sheet {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self { shapes: Vec::new() }
    }

    #[doc(hidden)]
    pub const FRAME: Stroke = Stroke { colour: Colour::FRAME, width: Theme::PAPER.thin_line };
    #[doc(hidden)]
    pub const GRID: Stroke = Stroke { colour: Colour::GRID, width: Theme::PAPER.thin_line };
    #[doc(hidden)]
    pub const AXIS: Stroke = Stroke { colour: Colour::BLACK, width: Theme::PAPER.line };
    /// Narrower bars are all outline, and get none.
    pub(crate) const LEAST_OUTLINED: Length = 4 * Theme::PAPER.thin_line;
    #[doc(hidden)]
    pub const OUTLINE: Stroke = Stroke { colour: Colour(0x33, 0x33, 0x33), width: Theme::PAPER.thin_line };
    /// What calls for attention: a difference, a miss, an excess.
    pub const MARK: Stroke = Stroke { colour: theme::MARK, width: MM / 3 };
    /// Around every picture.
    pub const MARGIN: Length = MM / 2;
    /// Between names and the plot.
    pub const BESIDE_PLOT: Length = 13 * MM / 10;
    pub(crate) const TICK: Length = 6 * MM / 10;

    #[doc(hidden)]
    pub fn push(&mut self, shape: Shape) {
        count(Counted::Shapes, 1);
        self.shapes.push(shape);
    }

    /// The shapes that `draw` draws, with an explanation.
    pub fn explained(&mut self, tooltip: String, draw: impl FnOnce(&mut Self)) {
        let mut inner = Self::new();
        draw(&mut inner);
        self.push(Shape::Explained { tooltip, shapes: inner.shapes });
    }

    #[doc(hidden)]
    pub fn line(&mut self, from: (Length, Length), to: (Length, Length), stroke: Stroke) {
        let point = |(x, y)| Point { x, y };
        self.push(Shape::Line { from: point(from), to: point(to), stroke });
    }

    /// A rectangle.
    pub fn area(&mut self, area: Rect, fill: Option<Fill>, stroke: Option<Stroke>) {
        self.push(Shape::Box { area, fill, stroke });
    }

    /// Text of the theme's size for names, its middle at `middle` from the top.
    pub fn text(&mut self, text: impl Into<String>, x: Length, middle: Length, anchor: Anchor) {
        self.write(text.into(), (x, middle), anchor, Theme::PAPER.text_size, false);
    }

    /// Text of the theme's size for labels, its middle at `middle` from the top.
    pub fn small(&mut self, text: impl Into<String>, x: Length, middle: Length, anchor: Anchor) {
        self.write(text.into(), (x, middle), anchor, Theme::PAPER.small_size, false);
    }

    /// A title at the top, as much of it as fits `width`; gives where it ends.
    pub fn title(&mut self, text: &str, width: Length) -> Length {
        let size = Theme::PAPER.title_size;
        let text = font::shortened(text, size, true, width - 2 * Self::MARGIN);
        self.write(text, (Self::MARGIN, Self::MARGIN + size / 2), Anchor::Start, size, true);
        Self::MARGIN + size + MM
    }

    /// The first of some texts that fits in the middle of `room` with some space around it, on a plate of the fill's
    /// background; nothing if none does.
    pub fn label(&mut self, texts: &[&str], room: &Rect, fill: Fill) {
        let size = Theme::PAPER.small_size;
        let height = size + size / 5;
        let fits = |text: &&&str| Self::label_width(text) <= room.width && height <= room.height;
        let Some(text) = texts.iter().find(fits) else { return };
        self.plated(text, room.centre(), (Self::label_width(text), height), fill);
    }

    /// How wide the room of [`Self::label`] must be.
    pub(crate) fn label_width(text: &str) -> Length {
        Self::small_width(text) + Theme::PAPER.small_size / 4
    }

    /// A bar with the first of some texts that fits in it; one that is too narrow for an outline is its colour, at
    /// least as wide as a line.
    pub fn bar(&mut self, area: Rect, fill: Fill, texts: &[&str]) {
        if area.width < Self::LEAST_OUTLINED {
            self.area(Rect { width: area.width.max(Self::GRID.width), ..area }, Some(fill.without_hatch()), None);
        } else {
            self.area(area, Some(fill), Some(Self::OUTLINE));
            self.label(texts, &area, fill);
        }
    }

    /// Text on a plate of the fill's background.
    fn plated(&mut self, text: &str, middle: Point, (width, height): (Length, Length), fill: Fill) {
        if fill.ink != fill.background {
            let plate = Rect { x: middle.x - width / 2, y: middle.y - height / 2, width, height };
            self.area(plate, Some(Fill::plain(fill.background)), None);
        }
        self.small(text, middle.x, middle.y, Anchor::Middle);
    }

    /// The mark of a series in a list, with its number if it shares its hatch with others.
    pub fn series_mark(&mut self, area: Rect, index: usize) {
        let fill = series_fill(index);
        self.area(area, Some(fill), Some(Self::OUTLINE));
        if let Some(number) = series_repeat(index) {
            let (text, size) = (number.to_string(), Theme::PAPER.small_size);
            // Marks are hardly higher than a number.
            let size = (Self::small_width(&text) + size / 4, size.min(area.height));
            self.plated(&text, area.centre(), size, fill);
        }
    }

    fn write(&mut self, text: String, (x, middle): (Length, Length), anchor: Anchor, size: Length, bold: bool) {
        let at = Point { x, y: middle + Theme::baseline(size) };
        self.push(Shape::Text(Text { text, at, anchor, size, colour: Colour::BLACK, bold, upwards: false }));
    }

    #[doc(hidden)]
    pub fn text_width(text: &str) -> Length {
        font::width(text, Theme::PAPER.text_size, false)
    }

    #[doc(hidden)]
    pub fn small_width(text: &str) -> Length {
        font::width(text, Theme::PAPER.small_size, false)
    }

    /// As much of the beginning and the end of `text`, written as a name, as fits `room`.
    pub fn fitted(text: &str, room: Length) -> String {
        font::shortened(text, Theme::PAPER.text_size, false, room)
    }

    /// As [`Self::fitted`], of several names, so that different ones stay different where that can be.
    pub fn fitted_apart<'n>(names: impl Iterator<Item = &'n str>, room: Length) -> Vec<String> {
        let names: Vec<(&str, Length)> = names.map(|name| (name, room)).collect();
        font::shortened_apart(&names, Theme::PAPER.text_size)
    }

    /// How many ticks an axis of this width has room for: from one to the next are at least 11 mm.
    pub fn ticks_on(width: Length) -> u64 {
        u64::try_from(width / (11 * MM)).unwrap_or(2).max(2)
    }

    /// An axis from `left` to `right` with its ticks and its title at the left; gives where it ends.
    pub fn axis(
        &mut self,
        (left, right): (Length, Length),
        y: Length,
        ticks: impl IntoIterator<Item = (Length, String)>,
        title: &str,
    ) -> Length {
        self.line((left, y), (right, y), Self::AXIS);
        let size = Theme::PAPER.small_size;
        let middle = y + Self::TICK + MM / 5 + size / 2;
        let mut title_right = left - MM;
        for (x, text) in ticks {
            self.line((x, y), (x, y + Self::TICK), Self::AXIS);
            title_right = title_right.min(x - Self::small_width(&text) / 2 - MM);
            self.small(text, x, middle, Anchor::Middle);
        }
        self.text(title, title_right, middle, Anchor::End);
        middle + Theme::PAPER.text_size / 2 + Self::MARGIN
    }

    #[doc(hidden)]
    pub fn into_drawing(self, title: String, width: Length, height: Length) -> Drawing {
        Drawing { width, height, title, shapes: self.shapes }
    }
}
