//! Figures of the cost study as pictures and as CSV.

use std::fmt::Write;

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::cost_study::{CostFigure, CostPoint};

/// What time is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The number of kernels.
    Kernels,
    /// The number of blocks of all kernels.
    Blocks,
}

/// Time on logarithmic axes, a curve of the printed algorithm and one of ours for every setting.
///
/// # Errors
/// As [`Chart::draw`]: there have to be two points.
pub fn chart(figure: CostFigure, against: Against, points: &[CostPoint]) -> Result<Drawing, DrawError> {
    let x = |point: &CostPoint| match against {
        Against::Kernels => point.kernels as f64,
        Against::Blocks => point.blocks as f64,
    };
    let mut settings: Vec<String> = Vec::new();
    for point in points {
        let setting = setting(figure, point);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let curves = |whose: &str, seconds: fn(&CostPoint) -> f64| -> Vec<Series> {
        let curve = |name: &String| {
            let of_setting = points.iter().filter(|point| setting(figure, point) == *name);
            let places = of_setting.map(|point| (x(point), seconds(point))).collect();
            Series::new(format!("{whose}{}{name}", if name.is_empty() { "" } else { ", " }), places)
        };
        settings.iter().map(curve).collect()
    };
    let mut series = curves("as printed", |point| point.printed_s);
    series.extend(curves("ours", |point| point.fast_s));
    let range = |values: &mut dyn Iterator<Item = f64>, margin: f64| {
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        low / margin..high * margin
    };
    let title = match against {
        Against::Kernels => "kernels",
        Against::Blocks => "blocks of all kernels",
    };
    let x_axis = Axis { title: title.to_owned(), range: range(&mut points.iter().map(x), 1.2) };
    let times = range(&mut points.iter().flat_map(|point| [point.printed_s, point.fast_s]), 2.0);
    let y_axis = Axis { title: "computation time [s]".to_owned(), range: times };
    Chart { logarithmic_x: true, logarithmic: true, ..Chart::new("", x_axis, y_axis, series).with_points() }.draw()
}

/// In what the curves of a figure differ.
fn setting(figure: CostFigure, point: &CostPoint) -> String {
    match figure {
        CostFigure::Kernels => String::new(),
        CostFigure::GMax => format!("g_max = {}", point.g_max),
        CostFigure::LargestGrid => format!("grids up to {}", point.largest_grid),
    }
}

/// The points as comma-separated values, times in seconds.
#[must_use]
pub fn points_csv(points: &[CostPoint]) -> String {
    let mut text = "g_max,largest_grid,kernels,blocks,printed_turns,printed_s,ours_s\n".to_owned();
    for CostPoint { g_max, largest_grid, kernels, blocks, printed_steps, printed_s, fast_s, .. } in points {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{g_max},{largest_grid},{kernels},{blocks},{printed_steps},{printed_s:.9},{fast_s:.9}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(g_max: u32, kernels: usize, printed_s: f64) -> CostPoint {
        let (largest_grid, blocks, printed_steps) = (20, 11 * kernels as u64, 3 * kernels);
        CostPoint {
            figure: CostFigure::GMax,
            g_max,
            largest_grid,
            kernels,
            blocks,
            printed_steps,
            printed_s,
            fast_s: 1e-6,
        }
    }

    #[test]
    fn one_line_of_csv_a_point_with_times_in_seconds() {
        let csv = points_csv(&[point(8, 100, 0.000_25)]);
        let expected = "g_max,largest_grid,kernels,blocks,printed_turns,printed_s,ours_s\n\
                        8,20,100,1100,300,0.000250000,0.000001000\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn a_chart_has_two_curves_for_every_setting_on_logarithmic_axes() {
        let points = [point(8, 10, 1e-5), point(8, 1_000, 1e-4), point(16, 10, 1e-5), point(16, 1_000, 5e-5)];
        for (against, title, tick) in
            [(Against::Kernels, "kernels", ">100<"), (Against::Blocks, "blocks of all kernels", ">1000<")]
        {
            let svg = chart(CostFigure::GMax, against, &points).unwrap().to_svg();
            for text in ["as printed, g_max = 8", "as printed, g_max = 16", "ours, g_max = 8", title, tick, ">1e−5<"]
            {
                assert!(svg.contains(text), "{text} in {svg}");
            }
        }
        assert!(chart(CostFigure::GMax, Against::Kernels, &[]).is_err());
    }
}
