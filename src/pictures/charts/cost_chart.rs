//! The cost study as pictures and as CSV; Figs. 3.11 to 3.13 with the thesis' linear axes.

mod fit;
mod loop_iterations;

use self::fit::best_fit;
use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::cost_study::{CostFigure, CostPoint};
use crate::formats::{Column, csv_text};
use crate::named::named;

pub(crate) use loop_iterations::{iterations_chart, iterations_csv, share_chart};

named! {
    /// What an axis shows, by its title.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum CostQuantity {
        /// The number of kernels.
        Kernels = "number of kernels",
        /// The number of blocks of all kernels.
        Blocks = "total blocks",
        /// How long the printed algorithm took.
        Time = "computation time [us]",
    }
}

impl CostQuantity {
    fn of(self, point: &CostPoint) -> f64 {
        match self {
            Self::Kernels => point.kernels as f64,
            Self::Blocks => point.blocks as f64,
            Self::Time => 1e6 * point.printed_s,
        }
    }

    /// The whole axis, from 0.
    fn axis(self, points: &[CostPoint]) -> Axis {
        let most = points.iter().map(|point| self.of(point)).fold(0.0, f64::max);
        Axis { title: self.name().to_owned(), range: 0.0..most * if self == Self::Kernels { 1.0 } else { 1.05 } }
    }
}

/// The printed algorithm, a curve for every setting of Fig. 3.12 or 3.13 in the thesis' order: (a) time against
/// kernels, (b) blocks against kernels, (c) time against blocks.
pub(crate) fn chart(
    figure: CostFigure,
    x: CostQuantity,
    y: CostQuantity,
    points: &[CostPoint],
) -> Result<Drawing, DrawError> {
    Chart::new("", x.axis(points), y.axis(points), curves(figure, x, y, points)).with_points().draw()
}

/// Fig. 3.11: the same, each curve with its polynomial of least squares. The degrees are those of the author's program:
/// five against kernels, two against blocks.
pub(crate) fn fitted_chart(x: CostQuantity, points: &[CostPoint]) -> Result<Drawing, DrawError> {
    const PLACES: u32 = 19;
    let degree = if x == CostQuantity::Kernels { 5 } else { 2 };
    let y = CostQuantity::Time;
    let mut series = Vec::new();
    for curve in curves(CostFigure::Kernels, x, y, points) {
        let (low, high) = (curve.points.first().map_or(0.0, |at| at.0), curve.points.last().map_or(1.0, |at| at.0));
        let places: Vec<f64> =
            (0..=PLACES).map(|place| low + (high - low) * f64::from(place) / f64::from(PLACES)).collect();
        let fitted = best_fit(&curve.points, degree, &places);
        // The axis begins at 0, as no time is less.
        let fit = places.into_iter().zip(fitted.into_iter().map(|y| y.max(0.0))).collect();
        let name = format!("best fit, degree {degree}");
        series.extend([curve, Series::new(name, fit)]);
    }
    Chart::new("", x.axis(points), y.axis(points), series).with_points().draw()
}

/// A curve for every setting, from left to right.
fn curves(figure: CostFigure, x: CostQuantity, y: CostQuantity, points: &[CostPoint]) -> Vec<Series> {
    let mut series = Vec::new();
    for of_setting in points.chunk_by(|one, other| one.setting == other.setting) {
        let setting = of_setting[0].setting;
        let name = match figure {
            CostFigure::Kernels | CostFigure::GMax => format!("g_max = {}", setting.g_max),
            CostFigure::LargestGrid => format!("grids up to {}", setting.largest_grid),
        };
        let mut places: Vec<(f64, f64)> = of_setting.iter().map(|point| (x.of(point), y.of(point))).collect();
        places.sort_by(|one, other| one.0.total_cmp(&other.0));
        series.push(Series::new(name, places));
    }
    series
}

/// The points as comma-separated values, times in seconds.
pub(crate) fn points_csv(points: &[CostPoint]) -> String {
    let columns = [
        Column::csv("g_max", |point: &&CostPoint| point.setting.g_max.to_string().into()),
        Column::csv("largest_grid", |point| point.setting.largest_grid.to_string().into()),
        Column::csv("kernels", |point| point.kernels.into()),
        Column::csv("blocks", |point| point.blocks.into()),
        Column::csv("printed_turns", |point| point.printed_turns.into()),
        Column::csv("printed_s", |point| format!("{:.9}", point.printed_s).into()),
        Column::csv("ours_s", |point| format!("{:.9}", point.fast_s).into()),
    ];
    csv_text(&columns, points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::cost_study::{CostSetting, settings};

    #[test]
    fn a_chart_has_a_curve_for_every_setting_and_the_axes_of_the_thesis() {
        let point = |setting: CostSetting, kernels: usize| CostPoint {
            setting,
            kernels,
            blocks: 50 * kernels as u64,
            printed_turns: kernels,
            printed_s: 1e-6 * (kernels * kernels) as f64,
            fast_s: 1e-6,
        };
        for (figure, name) in [(CostFigure::GMax, "g_max = 128"), (CostFigure::LargestGrid, "grids up to 100")] {
            let points: Vec<CostPoint> =
                settings(figure).into_iter().flat_map(|setting| [1, 10, 20].map(|n| point(setting, n))).collect();
            let svg = chart(figure, CostQuantity::Kernels, CostQuantity::Blocks, &points).unwrap().to_svg();
            for text in [name, "number of kernels", "total blocks", ">1000<"] {
                assert!(svg.contains(text), "{text} in {svg}");
            }
        }
        let points: Vec<CostPoint> = (1..=20).map(|n| point(settings(CostFigure::Kernels)[0], n)).collect();
        let svg = fitted_chart(CostQuantity::Kernels, &points).unwrap().to_svg();
        assert!(svg.contains("best fit, degree 5") && svg.contains("computation time [us]"));
    }

    #[test]
    fn no_points_are_refused() {
        assert!(chart(CostFigure::GMax, CostQuantity::Kernels, CostQuantity::Time, &[]).is_err());
    }

    #[test]
    fn one_line_of_csv_a_point_with_times_in_seconds() {
        let setting = settings(CostFigure::GMax)[0];
        let point =
            CostPoint { setting, kernels: 3, blocks: 300, printed_turns: 90, printed_s: 0.000_25, fast_s: 1e-6 };
        let expected = "g_max,largest_grid,kernels,blocks,printed_turns,printed_s,ours_s\n\
                        8,200,3,300,90,0.000250000,0.000001000\n";
        assert_eq!(points_csv(&[point]), expected);
    }
}
