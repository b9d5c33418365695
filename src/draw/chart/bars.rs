//! Where the bars of several series stand that share their places.

use crate::draw::geometry::as_length;
use crate::draw::geometry::{Length, MM};

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

#[cfg(test)]
mod tests {
    use super::*;

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
