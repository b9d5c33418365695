//! Whether boxes are so short that they would be one area.

use std::ops::Range;

use super::scale::TimeScale;
use crate::draw::{Length, MM};
use crate::time::Instant;

/// Boxes narrower than this are not told from what is beside them.
pub(super) const LEAST_WIDTH: Length = 3 * MM / 10;

/// Where narrow boxes stand.
pub(super) struct Crowd {
    taken: Vec<bool>,
    left: Length,
}

impl Crowd {
    pub(super) fn new(scale: &TimeScale) -> Self {
        let columns = usize::try_from(scale.width / LEAST_WIDTH).unwrap_or(0) + 1;
        Self { taken: vec![false; columns], left: scale.left }
    }

    pub(super) fn add(&mut self, scale: &TimeScale, time: &Range<Instant>) {
        let (left, right) = (scale.x(time.start.max(scale.window.start)), scale.x(time.end.max(scale.window.start)));
        let column = usize::try_from((left - self.left) / LEAST_WIDTH).unwrap_or(0);
        if right - left < LEAST_WIDTH
            && let Some(taken) = self.taken.get_mut(column)
        {
            *taken = true;
        }
    }

    /// Whether there are narrow ones on more than half of the width: drawn one by one, at least as wide as a line each,
    /// they would be one area, whatever share of the time they take.
    pub(super) fn is_dense(&self) -> bool {
        self.taken.iter().filter(|taken| **taken).count() * 2 > self.taken.len()
    }
}

/// Whether boxes of some times would be one area.
pub(super) fn are_dense(scale: &TimeScale, times: impl Iterator<Item = Range<Instant>>) -> bool {
    let mut crowd = Crowd::new(scale);
    times.for_each(|time| crowd.add(scale, &time));
    crowd.is_dense()
}
