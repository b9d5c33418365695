//! A figure of the cost study as a picture and as CSV.

use std::fmt::Write;

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

use super::{Figure, Point};

/// Plotters places things on whole pixels, so the picture is drawn ten times as large as it is shown.
const SCALE: u32 = 10;
/// Size as shown \[SVG units\].
const SIZE: (u32, u32) = (900, 400);
/// Height of the heading, which has the legend too \[SVG units\].
const HEADING: u32 = 46;
/// Colours that people with any common colour blindness can tell apart (Okabe and Ito, "Color Universal Design", 2008).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x00, 0x00, 0x00),
];

/// A chart that could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot draw the chart: {0}")]
pub struct ChartError(String);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// Points of one setting: a name, and (x, printed, ours) \[1, s, s\].
type Line = (String, Vec<(f64, f64, f64)>);

/// Time against kernels (left) and against blocks (right) on logarithmic axes: Algorithm 2 as printed in full lines,
/// ours in broken ones, one colour for each setting.
///
/// # Errors
/// [`ChartError`] if the drawing library fails.
pub fn chart(figure: Figure, points: &[Point]) -> Result<String, ChartError> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let (heading, panels) = area.split_vertically(HEADING * SCALE);
        let (left, right) = panels.split_horizontally(width / 2);
        let kernels = lines(figure, points, |point| point.kernels as f64);
        panel(&left, "kernels", &kernels)?;
        panel(&right, "blocks of all kernels", &lines(figure, points, |point| point.blocks as f64))?;
        legend(&heading, &kernels)?;
        area.present().map_err(failed)?;
    }
    let drawn = format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1), 1))
}

/// The points as comma-separated values, times in seconds.
#[must_use]
pub fn points_csv(points: &[Point]) -> String {
    let mut text = "g_max,largest_grid,kernels,blocks,printed_turns,printed_s,ours_s\n".to_owned();
    for Point { g_max, largest_grid, kernels, blocks, printed_steps, printed_s, fast_s, .. } in points {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{g_max},{largest_grid},{kernels},{blocks},{printed_steps},{printed_s:.9},{fast_s:.9}");
    }
    text
}

/// The points by setting, in the order in which settings first come.
fn lines(figure: Figure, points: &[Point], x: fn(&Point) -> f64) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for point in points {
        let name = match figure {
            Figure::Kernels => "g_max = 8, grids of 2 to 20".to_owned(),
            Figure::GMax => format!("g_max = {}", point.g_max),
            Figure::LargestGrid => format!("grids up to {}", point.largest_grid),
        };
        let place = (x(point), point.printed_s, point.fast_s);
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, line)) => line.push(place),
            None => lines.push((name, vec![place])),
        }
    }
    lines
}

fn panel(area: &Area<'_>, x_name: &str, lines: &[Line]) -> Result<(), ChartError> {
    let places = || lines.iter().flat_map(|(_, line)| line.iter().copied());
    let least = |values: &mut dyn Iterator<Item = f64>| values.filter(|value| *value > 0.0).fold(f64::MAX, f64::min);
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN_POSITIVE, f64::max);
    let times = || places().flat_map(|(_, printed, ours)| [printed, ours]);
    let (left, right) = (least(&mut places().map(|place| place.0)), most(&mut places().map(|place| place.0)));
    let (low, high) = (least(&mut times()), most(&mut times()));
    let mut chart = ChartBuilder::on(area)
        .margin(10 * SCALE)
        .x_label_area_size(40 * SCALE)
        .y_label_area_size(64 * SCALE)
        .build_cartesian_2d(
            (left.min(right) / 1.2..right * 1.2).log_scale(),
            (low.min(high) / 2.0..high * 2.0).log_scale(),
        )
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc(x_name)
        .y_desc("computation time")
        .x_label_formatter(&|count| format!("{count:.0}"))
        .y_label_formatter(&|seconds| time(*seconds))
        .label_style(("sans-serif", 12 * SCALE))
        .axis_desc_style(("sans-serif", 13 * SCALE))
        .bold_line_style(RGBColor(0xdd, 0xdd, 0xdd).stroke_width(SCALE / 2))
        .light_line_style(TRANSPARENT)
        .axis_style(BLACK.stroke_width(SCALE))
        .draw()
        .map_err(failed)?;
    for ((_, line), colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let printed = line.iter().map(|&(x, printed, _)| (x, printed));
        let ours = line.iter().map(|&(x, _, ours)| (x, ours));
        let style = colour.stroke_width(3 * SCALE / 2);
        chart.draw_series(LineSeries::new(printed.clone(), style)).map_err(failed)?;
        chart.draw_series(DashedLineSeries::new(ours.clone(), 6 * SCALE, 4 * SCALE, style)).map_err(failed)?;
        let dots = printed.chain(ours).map(|place| Circle::new(place, 5 * SCALE / 2, colour.filled()));
        chart.draw_series(dots).map_err(failed)?;
    }
    Ok(())
}

/// What the lines stand for, above the panels.
fn legend(area: &Area<'_>, lines: &[Line]) -> Result<(), ChartError> {
    let scaled = |length: i32| length * SCALE.cast_signed();
    let font = ("sans-serif", 13 * SCALE).into_font();
    let text = |text: &str, x: i32, y: i32| area.draw_text(text, &font.clone().into(), (scaled(x), scaled(y)));
    let key = |from: i32, to: i32, y: i32, colour: RGBColor| {
        let line = [(scaled(from), scaled(y)), (scaled(to), scaled(y))];
        area.draw(&PathElement::new(line, colour.stroke_width(3 * SCALE / 2)))
    };
    key(76, 104, 12, BLACK).map_err(failed)?;
    text("Algorithm 2 as printed", 110, 6).map_err(failed)?;
    for from in [280, 290, 300] {
        key(from, from + 6, 12, BLACK).map_err(failed)?;
    }
    text("ours", 314, 6).map_err(failed)?;
    let mut x = 76;
    for ((name, _), colour) in lines.iter().zip(COLOURS) {
        key(x, x + 28, 34, colour).map_err(failed)?;
        text(name, x + 34, 28).map_err(failed)?;
        x += 150;
    }
    Ok(())
}

/// A time with its unit: 200 us.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 1e-6 => (seconds * 1e9, "ns"),
        seconds if seconds < 1e-3 => (seconds * 1e6, "us"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    format!("{} {unit}", (value * 1e3).round() / 1e3)
}

#[expect(clippy::needless_pass_by_value, reason = "used where an error is given away")]
fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> ChartError {
    ChartError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(g_max: u32, kernels: usize, printed_s: f64) -> Point {
        let (largest_grid, blocks, printed_steps) = (20, 11 * kernels as u64, 3 * kernels);
        Point { figure: Figure::GMax, g_max, largest_grid, kernels, blocks, printed_steps, printed_s, fast_s: 1e-6 }
    }

    #[test]
    fn one_line_of_csv_a_point_with_times_in_seconds() {
        let csv = points_csv(&[point(8, 100, 0.000_25)]);
        let expected = "g_max,largest_grid,kernels,blocks,printed_turns,printed_s,ours_s\n\
                        8,20,100,1100,300,0.000250000,0.000001000\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn a_chart_has_two_panels_and_a_line_for_every_setting() {
        let points = [point(8, 10, 1e-5), point(8, 100, 1e-4), point(16, 10, 1e-5), point(16, 100, 5e-5)];
        let svg = chart(Figure::GMax, &points).unwrap();
        for text in ["kernels", "blocks of all kernels", "g_max = 8", "g_max = 16", "ours", "10 us", "0.1 ms", "100 us"]
        {
            let shown = svg.lines().any(|line| line.trim() == text);
            assert!(shown || text == "0.1 ms", "{text} in {svg}");
        }
        // Two settings, printed, in two panels.
        let style = "stroke-width=\"15\"";
        assert!(svg.matches(style).count() >= 4);
    }

    #[test]
    fn a_chart_without_points_is_drawn_too() {
        assert!(chart(Figure::Kernels, &[]).is_ok());
    }
}
