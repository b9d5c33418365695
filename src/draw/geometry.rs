//! Lengths and places on paper, as exact integers.

use crate::proven::Proven;

/// A length or coordinate on paper [1/100 mm]; y grows downwards.
///
/// Integers make pictures exact: what touches in time touches on paper, and nothing overlaps by rounding.
pub type Length = i64;

/// So many entries of a list, or the place of one in it, to reckon lengths with.
pub(crate) fn as_length(entries: usize) -> Length {
    Length::try_from(entries).proven("a list has fewer than 2^63 entries")
}

/// One millimetre.
pub const MM: Length = 100;

/// A length as an exact decimal \[mm\].
pub(super) fn millimetres(length: Length) -> String {
    let (sign, length) = (if length < 0 { "-" } else { "" }, length.abs());
    format!("{sign}{}.{:02}", length / MM, length % MM)
}

/// One column of an IEEE two-column paper: `\columnwidth` of `IEEEtran` is 252 points of 1/72.27 inch.
pub(crate) const COLUMN_WIDTH: Length = 8_857;
/// Both columns of an IEEE two-column paper.
pub(crate) const PAGE_WIDTH: Length = 18_100;
/// What a figure may be high to stand on a page of an IEEE paper: the text is 9.25 inches high (`IEEEtran`,
/// conference), and a caption of some lines takes 15 mm of it.
pub(crate) const PAGE_HEIGHT: Length = 22_000;

/// A length by its decimal number of millimetres with up to two decimals; `None` for anything else.
pub(super) fn in_millimetres(text: &str) -> Option<Length> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<2}");
    let exact = !whole.is_empty() && fraction.len() <= 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| exact)
}

/// A place on paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Point {
    /// From the left edge.
    pub x: Length,
    /// From the upper edge.
    pub y: Length,
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rect {
    /// Left edge.
    pub x: Length,
    /// Upper edge.
    pub y: Length,
    /// From left to right, not negative.
    pub width: Length,
    /// From top to bottom, not negative.
    pub height: Length,
}

impl Rect {
    /// The rectangle between two edges in each direction.
    pub(crate) const fn between(left: Length, top: Length, right: Length, bottom: Length) -> Self {
        Self { x: left, y: top, width: right - left, height: bottom - top }
    }

    /// Right edge.
    pub(crate) const fn right(&self) -> Length {
        self.x + self.width
    }

    /// Where a share of it, from 0 to 1, ends from left to right.
    #[expect(clippy::cast_possible_truncation, reason = "a share of a width fits")]
    pub(crate) fn end_of(&self, share: f64) -> Length {
        self.x + (self.width as f64 * share.clamp(0.0, 1.0)).round() as Length
    }

    /// Lower edge.
    pub(crate) const fn bottom(&self) -> Length {
        self.y + self.height
    }

    /// The point in the middle, rounded to the left and upwards.
    pub(crate) const fn centre(&self) -> Point {
        Point { x: self.x + self.width / 2, y: self.y + self.height / 2 }
    }

    /// Whether the insides of two rectangles share a point.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.x.max(other.x) < self.right().min(other.right()) && self.y.max(other.y) < self.bottom().min(other.bottom())
    }
}
