//! Lengths and places on paper, as exact integers, and round ticks of axes.

use crate::limits::count_turn;
use crate::proven::Proven;

/// A length or coordinate on paper [1/100 mm]; y grows downwards.
///
/// Integers make pictures exact: what touches in time touches on paper, and nothing overlaps by rounding.
pub type Length = i64;

/// So many entries of a list, or the place of one in it, to reckon lengths with.
pub fn as_length(entries: usize) -> Length {
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
pub const COLUMN_WIDTH: Length = 8_857;
/// Both columns of an IEEE two-column paper.
pub const PAGE_WIDTH: Length = 18_100;
/// What a figure may be high to stand on a page of an IEEE paper: the text is 9.25 inches high (`IEEEtran`,
/// conference), and a caption of some lines takes 15 mm of it.
pub const PAGE_HEIGHT: Length = 22_000;

/// A length by its decimal number of millimetres with up to two decimals; `None` for anything else.
pub(super) fn in_millimetres(text: &str) -> Option<Length> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<2}");
    let exact = !whole.is_empty() && fraction.len() <= 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| exact)
}

/// A place on paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// From the left edge.
    pub x: Length,
    /// From the upper edge.
    pub y: Length,
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rect {
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
    #[doc(hidden)]
    pub const fn between(left: Length, top: Length, right: Length, bottom: Length) -> Self {
        Self { x: left, y: top, width: right - left, height: bottom - top }
    }

    /// Right edge.
    #[doc(hidden)]
    pub const fn right(&self) -> Length {
        self.x + self.width
    }

    /// Where a share of it, from 0 to 1, ends from left to right.
    #[expect(clippy::cast_possible_truncation, reason = "a share of a width fits")]
    #[doc(hidden)]
    pub fn end_of(&self, share: f64) -> Length {
        self.x + (self.width as f64 * share.clamp(0.0, 1.0)).round() as Length
    }

    /// Lower edge.
    #[doc(hidden)]
    pub const fn bottom(&self) -> Length {
        self.y + self.height
    }

    /// The point in the middle, rounded to the left and upwards.
    #[doc(hidden)]
    pub const fn centre(&self) -> Point {
        Point { x: self.x + self.width / 2, y: self.y + self.height / 2 }
    }

    /// Whether the insides of two rectangles share a point.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.x.max(other.x) < self.right().min(other.right()) && self.y.max(other.y) < self.bottom().min(other.bottom())
    }
}

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Ticks of an axis: a unit, and where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisTicks {
    /// Name of the unit.
    pub unit: &'static str,
    /// Instants \[ns\] and what is written there.
    pub at: Vec<(u64, String)>,
}

/// Ticks from `from` to `to` \[ns\], at most `most` of them (at least 2): multiples of 1, 2 or 5 times a power of ten,
/// in the largest unit of which the span holds two.
pub fn time_ticks(from: u64, to: u64, most: u64) -> AxisTicks {
    time_ticks_since(0, from, to, most)
}

/// As [`time_ticks`], on an axis that counts from `origin` \[ns\]: what is before it is negative.
pub fn time_ticks_since(origin: u64, from: u64, to: u64, most: u64) -> AxisTicks {
    let span = to.saturating_sub(from);
    let units = [(NS_PER_SECOND, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let (unit_ns, unit) = units.into_iter().find(|(ns, _)| span >= 2 * ns).unwrap_or((1, "ns"));
    let step = round_step(span, most.max(2));
    let before = (1..=origin.saturating_sub(from) / step).rev().map(|number| (origin - number * step, number, "−"));
    let since = |at: u64| at.checked_sub(origin);
    let first = since(from).unwrap_or(0).div_ceil(step);
    let after = since(to).map(|last| first..=last / step).into_iter().flatten();
    let after = after.map(|number| (origin + number * step, number, ""));
    let at = before.chain(after).take_while(|(at, ..)| *at <= to);
    let at = at.map(|(at, number, sign)| (at, format!("{sign}{}", in_unit(number * step, unit_ns)))).collect();
    AxisTicks { unit, at }
}

/// Round numbers from `from` to `to`, at most `most` of them (at least 2).
pub fn round_ticks(from: u64, to: u64, most: u64) -> Vec<u64> {
    let step = round_step(to.saturating_sub(from), most.max(2));
    (from.div_ceil(step)..=to / step).map(|tick| tick * step).collect()
}

/// The smallest 1-2-5 step of which `span` holds fewer than `most`.
fn round_step(span: u64, most: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        count_turn();
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if span / step < most {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The exact decimal of `ns` in a unit that is a power of ten.
fn in_unit(ns: u64, unit_ns: u64) -> String {
    let (whole, rest) = (ns / unit_ns, ns % unit_ns);
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit_ns.ilog10() as usize;
    format!("{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64, most: u64) -> (Vec<String>, &'static str) {
        let ticks = time_ticks(from, to, most);
        (ticks.at.into_iter().map(|(_, label)| label).collect(), ticks.unit)
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(
            labels(0, 4_100_000_000, 10),
            (["0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4"].map(String::from).to_vec(), "s")
        );
        assert_eq!(labels(0, 4_100_000_000, 5), (["0", "1", "2", "3", "4"].map(String::from).to_vec(), "s"));
        assert_eq!(labels(0, 1_700_000, 5), (["0", "500", "1000", "1500"].map(String::from).to_vec(), "µs"));
    }

    #[test]
    fn a_window_far_from_zero_has_exact_labels() {
        assert_eq!(
            labels(12_300_000_000, 12_303_000_000, 4),
            (["12300", "12301", "12302", "12303"].map(String::from).to_vec(), "ms")
        );
    }

    #[test]
    fn an_axis_may_count_from_within_the_window() {
        let ticks = time_ticks_since(1_300, 250, 2_400, 5);
        assert_eq!(
            ticks.at,
            [(300, "−1"), (800, "−0.5"), (1_300, "0"), (1_800, "0.5"), (2_300, "1")]
                .map(|(at, text)| (at, text.to_owned()))
                .to_vec()
        );
        assert_eq!(time_ticks_since(3_000, 0, 2_000, 5).at.len(), 5);
    }

    #[test]
    fn the_longest_time_has_ticks() {
        let ticks = time_ticks(0, u64::MAX, 6);
        assert!((2..=6).contains(&ticks.at.len()), "{ticks:?}");
    }

    #[test]
    fn one_nanosecond_has_two_ticks() {
        assert_eq!(labels(0, 1, 6).0, ["0", "1"]);
    }
}
