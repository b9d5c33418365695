//! Where an instant is from left to right, and an amount of a resource from bottom to top.

use std::ops::Range;

use crate::draw::{Length, Rect};
use crate::proven::OrMost;
use crate::time::{Duration, Instant};

/// A window of time and the stretch of paper that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeScale {
    pub(super) window: Range<Instant>,
    pub(super) left: Length,
    pub(super) width: Length,
}

impl TimeScale {
    /// Length of the window \[ns\], at least 1.
    pub(super) fn span_ns(&self) -> u64 {
        self.window.end.since(self.window.start).as_ns().max(1)
    }

    /// Where an instant is; what lies outside the window is at its edge. Later instants are never further left.
    pub(super) fn x(&self, instant: Instant) -> Length {
        let since = instant.min(self.window.end).since(self.window.start);
        self.left + self.length(since)
    }

    /// How long a duration is on paper, to the nearest hundredth of a millimetre.
    pub(super) fn length(&self, duration: Duration) -> Length {
        proportion(duration.as_ns(), self.span_ns(), self.width)
    }

    /// Whether something from `start` to `end` is seen in the window; what has no length is seen at both edges.
    pub(super) fn shows(&self, start: Instant, end: Instant) -> bool {
        let begins = start < self.window.end || start == end && start == self.window.end;
        begins && (end > self.window.start || start >= self.window.start)
    }

    pub(super) fn right(&self) -> Length {
        self.left + self.width
    }
}

/// `part / whole * length`, to the nearest integer.
fn proportion(part: u64, whole: u64, length: Length) -> Length {
    let length = u128::from(length.unsigned_abs());
    let scaled = (u128::from(part) * length * 2 + u128::from(whole)) / (u128::from(whole) * 2);
    Length::try_from(scaled).or_most()
}

/// How high in `band` an amount of the resource reaches, of which the whole band shows `capacity`.
pub(super) fn y(band: &Rect, units: u32, capacity: u32) -> Length {
    band.bottom() - proportion(u64::from(units), u64::from(capacity.max(1)), band.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_keep_their_order_and_the_edges_are_exact() {
        let window = Instant::from_ns(100)..Instant::from_ns(1_100);
        let scale = TimeScale { window, left: 1_000, width: 7_000 };
        assert_eq!((scale.x(Instant::from_ns(100)), scale.x(Instant::from_ns(1_100))), (1_000, 8_000));
        assert_eq!((scale.x(Instant::ZERO), scale.x(Instant::MAX)), (1_000, 8_000));
        assert_eq!(scale.x(Instant::from_ns(600)), 4_500);
        let places: Vec<Length> = (100..1_100).map(|ns| scale.x(Instant::from_ns(ns))).collect();
        assert!(places.is_sorted());
    }
}
