//! Turns of the printed algorithm's loop as pictures and as CSV.

use std::fmt::Write;

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::cost_study::LoopIterations;

/// Turns against kernels, both axes linear, as the thesis' figures have time.
pub(crate) fn iterations_chart(points: &[LoopIterations]) -> Result<Drawing, DrawError> {
    let most = |of: fn(&LoopIterations) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let x = Axis { title: "number of kernels".to_owned(), range: 0.0..most(|point| point.kernels as f64) };
    let y = Axis { title: "turns of the loop".to_owned(), range: 0.0..1.05 * most(LoopIterations::turns) };
    Chart::new("", x, y, curves(points, LoopIterations::turns)).with_points().draw()
}

/// Turns as a share of n g / `g_max`, both axes logarithmic: level where the factor n shows, falling where it does not.
pub(crate) fn share_chart(points: &[LoopIterations]) -> Result<Drawing, DrawError> {
    let kernels = points.iter().map(|point| point.kernels as f64);
    let shares = || points.iter().map(|point| point.turns_over_estimate);
    let x = Axis { title: "number of kernels n".to_owned(), range: 1.0..1.2 * kernels.fold(2.0, f64::max) };
    let (low, high) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
    let y = Axis { title: "turns / (n g / g_max)".to_owned(), range: low / 2.0..high * 2.0 };
    let chart = Chart::new("", x, y, curves(points, |point| point.turns_over_estimate)).with_points();
    Chart { logarithmic_x: true, logarithmic: true, ..chart }.draw()
}

fn curves(points: &[LoopIterations], y: impl Fn(&LoopIterations) -> f64) -> Vec<Series> {
    let curve = |points: &[LoopIterations]| {
        let places = points.iter().map(|point| (point.kernels as f64, y(point))).collect();
        Series::new(points[0].variant.name(), places)
    };
    points.chunk_by(|one, other| one.variant == other.variant).map(curve).collect()
}

/// The points as comma-separated values.
pub(crate) fn iterations_csv(points: &[LoopIterations]) -> String {
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
    use crate::experiments::cost_study::{LoopVariant, study};

    #[test]
    fn turns_are_drawn_and_written_for_every_variant_and_size() {
        let points = study(NonZeroU32::MIN, 4, &LoopVariant::ALL, &[1, 4], 2, 1).unwrap();
        let svg = share_chart(&points).unwrap().to_svg();
        assert!(svg.contains("turns / (n g / g_max)") && svg.contains(LoopVariant::FineTime.name()));
        assert!(iterations_chart(&points).unwrap().to_svg().contains("turns of the loop"));
        assert_eq!(iterations_csv(&points).lines().count(), 7);
    }
}
