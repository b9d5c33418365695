//! The cost study as pictures and as CSV: Figs. 3.11 to 3.13 with the thesis' linear axes, and turns of the printed
//! algorithm's loop.

use std::fmt::Write;

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::cost_study::{CostFigure, CostPoint, LoopIterations};
use crate::formats::{Column, csv_text};
use crate::named::named;

named! {
    /// What an axis shows, by its title.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[doc(hidden)]
    pub enum CostQuantity {
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
#[doc(hidden)]
pub fn chart(figure: CostFigure, x: CostQuantity, y: CostQuantity, points: &[CostPoint]) -> Result<Drawing, DrawError> {
    Chart::new("", x.axis(points), y.axis(points), curves(figure, x, y, points)).with_points().draw()
}

/// Fig. 3.11: the same, each curve with its polynomial of least squares. The degrees are those of the author's program:
/// five against kernels, two against blocks.
#[doc(hidden)]
pub fn fitted_chart(x: CostQuantity, points: &[CostPoint]) -> Result<Drawing, DrawError> {
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
#[doc(hidden)]
pub fn points_csv(points: &[CostPoint]) -> String {
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

/// A polynomial of least squares through points, of so high a degree, at each of `places`; of a lower degree where
/// there are too few points.
///
/// By orthogonal polynomials over the points (G. E. Forsythe, "Generation and use of orthogonal polynomials for
/// data-fitting with a digital computer", 1957), which stays accurate where powers of x do not.
fn best_fit(points: &[(f64, f64)], degree: usize, places: &[f64]) -> Vec<f64> {
    let mut fitted = vec![0.0; places.len()];
    // Two polynomials in a row, at the points and at the places.
    let (mut last, mut last_there) = (vec![0.0; points.len()], vec![0.0; places.len()]);
    let (mut this, mut this_there) = (vec![1.0; points.len()], vec![1.0; places.len()]);
    let mut last_norm = 1.0;
    for _ in 0..=degree.min(points.len().saturating_sub(1)) {
        let norm: f64 = this.iter().map(|value| value * value).sum();
        if norm <= f64::EPSILON {
            break;
        }
        let factor: f64 = this.iter().zip(points).map(|(value, (_, y))| value * y).sum::<f64>() / norm;
        for (sum, value) in fitted.iter_mut().zip(&this_there) {
            *sum += factor * value;
        }
        let middle: f64 = this.iter().zip(points).map(|(value, (x, _))| x * value * value).sum::<f64>() / norm;
        let carried = norm / last_norm;
        let next = |x: f64, this: f64, last: f64| (x - middle) * this - carried * last;
        let at_points =
            points.iter().zip(&this).zip(&last).map(|(((x, _), this), last)| next(*x, *this, *last)).collect();
        let there =
            places.iter().zip(&this_there).zip(&last_there).map(|((x, this), last)| next(*x, *this, *last)).collect();
        (last, this) = (this, at_points);
        (last_there, this_there) = (this_there, there);
        last_norm = norm;
    }
    fitted
}

/// Turns against kernels, both axes linear, as the thesis' figures have time.
#[doc(hidden)]
pub fn iterations_chart(points: &[LoopIterations]) -> Result<Drawing, DrawError> {
    let most = |of: fn(&LoopIterations) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let x = Axis { title: "number of kernels".to_owned(), range: 0.0..most(|point| point.kernels as f64) };
    let y = Axis { title: "turns of the loop".to_owned(), range: 0.0..1.05 * most(LoopIterations::turns) };
    Chart::new("", x, y, loop_curves(points, LoopIterations::turns)).with_points().draw()
}

/// Turns as a share of n g / `g_max`, both axes logarithmic: level where the factor n shows, falling where it does not.
#[doc(hidden)]
pub fn share_chart(points: &[LoopIterations]) -> Result<Drawing, DrawError> {
    let kernels = points.iter().map(|point| point.kernels as f64);
    let shares = || points.iter().map(|point| point.turns_over_estimate);
    let x = Axis { title: "number of kernels n".to_owned(), range: 1.0..1.2 * kernels.fold(2.0, f64::max) };
    let (low, high) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
    let y = Axis { title: "turns / (n g / g_max)".to_owned(), range: low / 2.0..high * 2.0 };
    let chart = Chart::new("", x, y, loop_curves(points, |point| point.turns_over_estimate)).with_points();
    Chart { logarithmic_x: true, logarithmic: true, ..chart }.draw()
}

fn loop_curves(points: &[LoopIterations], y: impl Fn(&LoopIterations) -> f64) -> Vec<Series> {
    let curve = |points: &[LoopIterations]| {
        let places = points.iter().map(|point| (point.kernels as f64, y(point))).collect();
        Series::new(points[0].variant.name(), places)
    };
    points.chunk_by(|one, other| one.variant == other.variant).map(curve).collect()
}

/// The points as comma-separated values.
#[doc(hidden)]
pub fn iterations_csv(points: &[LoopIterations]) -> String {
    let mut text = "variant,kernels,sets,mean_blocks,mean_finishing_turns,mean_placing_turns,mean_pairs_compared,\
                    most_pairs,mean_turns_over_estimate\n"
        .to_owned();
    for point in points {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\"{}\",{},{},{:.1},{:.1},{:.1},{:.1},{},{:.4}",
            point.variant.name(),
            point.kernels,
            point.sets,
            point.blocks,
            point.finishing_turns,
            point.placing_turns,
            point.pairs_compared,
            point.most_pairs,
            point.turns_over_estimate
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::experiments::cost_study::{CostSetting, LoopVariant, settings, study};

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

    #[test]
    fn a_polynomial_is_found_again_and_noise_is_averaged() {
        let cubic = |x: f64| 2.0 - x + 0.5 * x * x * x;
        let points: Vec<(f64, f64)> = (0..20).map(f64::from).map(|x| (x, cubic(x))).collect();
        for (found, x) in best_fit(&points, 5, &[0.0, 3.5, 19.0]).into_iter().zip([0.0, 3.5, 19.0]) {
            assert!((found - cubic(x)).abs() < 1e-6 * cubic(x).abs().max(1.0), "{found} at {x}");
        }
        // By hand: the line of least squares through (0, 0), (1, 3), (2, 0) is y = 1.
        let line = best_fit(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)], 1, &[0.0, 2.0]);
        assert!(line.iter().all(|y| (y - 1.0).abs() < 1e-12), "{line:?}");
        assert_eq!(best_fit(&[], 2, &[1.0]), [0.0]);
    }

    #[test]
    fn turns_are_drawn_and_written_for_every_variant_and_size() {
        let points = study(NonZeroU32::MIN, 4, &LoopVariant::ALL, &[1, 4], 2, 1).unwrap();
        let svg = share_chart(&points).unwrap().to_svg();
        assert!(svg.contains("turns / (n g / g_max)") && svg.contains(LoopVariant::FineTime.name()));
        assert!(iterations_chart(&points).unwrap().to_svg().contains("turns of the loop"));
        assert_eq!(iterations_csv(&points).lines().count(), 7);
    }
}
