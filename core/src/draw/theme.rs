//! What all pictures have in common: colours, hatches, fonts, sizes, strokes.
//!
//! Colours are those of Okabe and Ito, "Color Universal Design", 2008, which people with any common colour blindness
//! can tell apart. Areas are filled with a light tint of them under a hatch, so that they also differ in grey, and so
//! that black text on them stays readable.

use super::geometry::{Length, MM};
use crate::named::named;
use crate::proven::Proven;

/// A colour, red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    pub const BLACK: Self = Self(0, 0, 0);
    pub const WHITE: Self = Self(255, 255, 255);
    /// Text of lesser weight.
    pub const GREY_TEXT: Self = Self(0x55, 0x55, 0x55);
    /// Frames and axes.
    pub(crate) const FRAME: Self = Self(0x60, 0x60, 0x60);
    /// Grid lines.
    pub(crate) const GRID: Self = Self(0xdd, 0xdd, 0xdd);

    /// As SVG and CSS write it: `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        let Self(red, green, blue) = self;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// This colour mixed with white: `percent` of it is left.
    pub fn tint(self, percent: u16) -> Self {
        let mix = |part: u8| {
            let mixed = (u16::from(part) * percent + 255 * (100 - percent)) / 100;
            u8::try_from(mixed).proven("a mean of two bytes is one")
        };
        Self(mix(self.0), mix(self.1), mix(self.2))
    }

    /// This colour mixed with black: `percent` of it is left.
    pub fn shade(self, percent: u16) -> Self {
        let mix = |part: u8| u8::try_from(u16::from(part) * percent / 100).proven("a share of a byte is one");
        Self(mix(self.0), mix(self.1), mix(self.2))
    }
}

named! {
    /// Lines over a plain background.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Hatch {
        /// None.
        Plain = "plain",
        /// `/`
        Rising = "rising",
        /// `\`
        Falling = "falling",
        /// Dots.
        Dots = "dots",
        /// `-`
        Horizontal = "horizontal",
        /// `x`
        Crossed = "crossed",
        /// `|`
        Vertical = "vertical",
        /// `+`
        Grid = "grid",
    }
}

/// How an area is filled: a background, and over it a hatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fill {
    /// The background.
    pub background: Colour,
    /// The hatch.
    pub hatch: Hatch,
    /// Colour of the hatch.
    pub ink: Colour,
}

impl Fill {
    /// A background without a hatch.
    pub const fn plain(background: Colour) -> Self {
        Self { background, hatch: Hatch::Plain, ink: background }
    }

    /// One colour for areas that are too small for a hatch: between the background's and the hatch's.
    pub(crate) fn without_hatch(self) -> Self {
        let (Colour(r, g, b), Colour(red, green, blue)) = (self.background, self.ink);
        Self::plain(Colour(r.midpoint(red), g.midpoint(green), b.midpoint(blue)))
    }
}

/// Okabe and Ito's colours, in an order in which neighbours differ much, their black replaced by grey.
const PALETTE: [Colour; 8] = [
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xf0, 0xe4, 0x42),
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x99, 0x99, 0x99),
];

/// Okabe and Ito's colours for lines on white, where yellow is not seen.
const LINE_PALETTE: [Colour; 7] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x00, 0x00, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
];

/// In the order of the colours.
const HATCHES: [Hatch; 8] = [
    Hatch::Plain,
    Hatch::Rising,
    Hatch::Falling,
    Hatch::Dots,
    Hatch::Crossed,
    Hatch::Horizontal,
    Hatch::Vertical,
    Hatch::Grid,
];

/// What calls for attention: a difference, a miss. Seen on every fill of a series.
pub const MARK: Colour = Colour(0xd5, 0x5e, 0x00);

/// What leads from one thing to another: an event to its wait.
pub(crate) const EVENT: Colour = Colour(0x00, 0x72, 0xb2);

/// The colour of line number `index`, in an order in which neighbours differ much.
pub(crate) fn line_colour(index: usize) -> Colour {
    LINE_PALETTE[index % LINE_PALETTE.len()]
}

/// The colour of series number `index`, at full strength.
pub fn series_colour(index: usize) -> Colour {
    PALETTE[index % PALETTE.len()]
}

/// How areas of series number `index` are filled. The first eight differ in colour and in hatch; the next ones have
/// the same colours under other hatches, and from the 65th on they repeat. In grey, `series_repeat` tells them apart.
pub fn series_fill(index: usize) -> Fill {
    let colour = series_colour(index);
    let hatch = HATCHES[(index + index / PALETTE.len()) % HATCHES.len()];
    Fill { background: colour.tint(45), hatch, ink: colour.shade(70) }
}

/// How shares of time of number `index` are filled: three greys, which no series of areas has, under each hatch.
pub(crate) fn share_fill(index: usize) -> Fill {
    const GREYS: [Colour; 3] = [Colour(0xf4, 0xf4, 0xf4), Colour(0xc4, 0xc4, 0xc4), Colour(0x94, 0x94, 0x94)];
    let hatch = HATCHES[index / GREYS.len() % HATCHES.len()];
    let background = GREYS[index % GREYS.len()];
    if hatch == Hatch::Plain {
        return Fill::plain(background);
    }
    Fill { background, hatch, ink: background.shade(55) }
}

/// How turns of process number `index` are filled, or with `None` what nobody has, as a switch from one to the next.
pub(crate) fn turn_fill(index: Option<usize>) -> Fill {
    index.map_or(Fill::plain(Colour(0x33, 0x33, 0x33)), share_fill)
}

/// What tells series number `index` from earlier ones with the same hatch where colours are not seen: how often its
/// hatch is in use with it, written in its areas; `None` for the first eight.
pub fn series_repeat(index: usize) -> Option<usize> {
    let before = index / HATCHES.len();
    (before > 0).then_some(before + 1)
}

/// Sizes of text and strokes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Font families, the embedded one first; the others have nearly the same widths.
    pub font_family: &'static str,
    /// Titles.
    pub title_size: Length,
    /// Legends, axis titles and names.
    pub text_size: Length,
    /// Labels inside the picture and ticks.
    pub small_size: Length,
    /// Frames and outlines.
    pub line: Length,
    /// Grids.
    pub thin_line: Length,
    /// Curves.
    pub curve_line: Length,
    /// Arrows.
    pub arrow_line: Length,
    /// Strokes of hatches.
    pub hatch_line: Length,
    /// Side of a hatch's tile.
    pub hatch_tile: Length,
}

impl Theme {
    /// For print in a two-column paper: text of 6.5 points, labels of 5.5.
    pub const PAPER: Self = Self {
        font_family: "DejaVu Sans, Bitstream Vera Sans, Verdana, sans-serif",
        title_size: points(15) / 2,
        text_size: points(13) / 2,
        small_size: points(11) / 2,
        line: points(1) / 2,
        thin_line: points(1) / 4,
        curve_line: points(9) / 10,
        arrow_line: points(3) / 4,
        hatch_line: points(2) / 5,
        hatch_tile: MM,
    };

    /// From the middle of a line of text down to its baseline: half the height of a capital, 0.729 of the size in
    /// `DejaVu Sans`.
    pub(crate) const fn baseline(size: Length) -> Length {
        size * 729 / 2_000
    }
}

/// Printer's points (1/72 inch).
const fn points(number: Length) -> Length {
    number * 2_540 / 72
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sixty_four_series_look_different_and_the_first_eight_differ_in_both_ways() {
        let all: BTreeSet<Fill> = (0..64).map(series_fill).collect();
        assert_eq!(all.len(), 64);
        let hatches: BTreeSet<Hatch> = (0..8).map(|index| series_fill(index).hatch).collect();
        assert_eq!(hatches.len(), 8);
    }

    #[test]
    fn hatch_and_number_of_a_series_are_those_of_no_other() {
        let all: BTreeSet<(Hatch, Option<usize>)> =
            (0..1_000).map(|index| (series_fill(index).hatch, series_repeat(index))).collect();
        assert_eq!(all.len(), 1_000);
    }

    #[test]
    fn tints_go_towards_white_and_shades_towards_black() {
        assert_eq!(Colour(0, 100, 200).tint(0), Colour::WHITE);
        assert_eq!(Colour(0, 100, 200).tint(100), Colour(0, 100, 200));
        assert_eq!(Colour(10, 100, 200).shade(50), Colour(5, 50, 100));
    }
}
