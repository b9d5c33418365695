//! The report's Figs. 5, 6 and 7 as SVG.

use std::time::Duration;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::curves::{Convergence, SolvingTime};

/// Plotters rounds to whole pixels, so figures are drawn ten times as large as they are shown.
const SCALE: u32 = 10;
/// Size as shown \[SVG units\].
const SIZE: (u32, u32) = (640, 400);
/// Colours that people with any common colour blindness can tell apart (Okabe and Ito, "Color Universal Design", 2008).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
];
/// Length of a line in the legend \[pixels\].
const KEY: i32 = 200;

/// A figure that could not be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the figure: {0}")]
pub struct PlotError(String);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Line<X> = (&'static str, Vec<(X, f64)>);

/// Figs. 6 and 7: the estimate against x, with the pessimistic value, the proven bound and what a schedule takes.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn convergence_svg(convergence: &Convergence) -> Result<String, PlotError> {
    let points = &convergence.points;
    let flat = |cycles: u64| points.iter().map(|point| (f64::from(point.x), cycles as f64)).collect();
    let of = |value: fn(&super::ConvergencePoint) -> u64| {
        points.iter().map(|point| (f64::from(point.x), value(point) as f64)).collect()
    };
    let bound = convergence.bound.cycles;
    let mut lines: Vec<Line<f64>> = vec![
        ("estimate T_approx(x), no bound", of(|point| point.estimate)),
        ("ceil(W / x) T(x)", of(|point| point.from_x)),
        ("pessimistic", flat(convergence.pessimistic)),
    ];
    match convergence.at_least {
        Some(cycles) if cycles == bound => lines.push(("exact worst case", flat(bound))),
        Some(cycles) => lines.extend([("proven bound", flat(bound)), ("a schedule takes", flat(cycles))]),
        None => lines.push(("proven bound", flat(bound))),
    }
    let values = || lines.iter().flat_map(|(_, line)| line).map(|&(_, cycles)| cycles);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let low = if low.is_finite() { low } else { 0.0 };
    let margin = ((high - low) * 0.05).max(1.0);
    let xs = 1.0..points.last().map_or(2.0, |point| f64::from(point.x)).max(2.0);
    let title = format!("cycles for W = {} warps", convergence.warps);
    draw(|area| {
        let mut chart = ChartBuilder::on(area);
        let chart = layout(&mut chart);
        let mut chart = chart.build_cartesian_2d(xs, low - margin..high + margin).map_err(failed)?;
        mesh!(chart, "x, number of warps whose worst case is known", title.as_str());
        series!(chart, lines);
        Ok(())
    })
}

/// Fig. 5: solving time against W, on a logarithmic axis.
///
/// # Errors
/// [`PlotError`] if the drawing library fails.
pub fn solving_times_svg(times: &[SolvingTime]) -> Result<String, PlotError> {
    let of = |value: fn(&SolvingTime) -> Option<Duration>| {
        let seconds = |time: &SolvingTime| Some((f64::from(time.warps), value(time)?.as_secs_f64().max(1e-7)));
        times.iter().filter_map(seconds).collect()
    };
    let lines: Vec<Line<f64>> = vec![
        ("exact search", of(|time| time.search)),
        ("integer program, short constraints", of(|time| time.ilp_short)),
        ("integer program, long constraints", of(|time| time.ilp_long)),
    ];
    let lines: Vec<_> = lines.into_iter().filter(|(_, line): &Line<f64>| !line.is_empty()).collect();
    let values = || lines.iter().flat_map(|(_, line)| line).map(|&(_, seconds)| seconds);
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1e-6, f64::max));
    let xs = 1.0..times.last().map_or(2.0, |time| f64::from(time.warps)).max(2.0);
    draw(|area| {
        let mut chart = ChartBuilder::on(area);
        let chart = layout(&mut chart);
        let mut chart = chart.build_cartesian_2d(xs, (low / 2.0..high * 2.0).log_scale()).map_err(failed)?;
        mesh!(chart, "W, number of warps", "solving time [s]");
        series!(chart, lines);
        Ok(())
    })
}

fn layout<'a, 'b, 'c>(
    chart: &'c mut ChartBuilder<'a, 'b, SVGBackend<'b>>,
) -> &'c mut ChartBuilder<'a, 'b, SVGBackend<'b>> {
    chart.margin(10 * SCALE).x_label_area_size(40 * SCALE).y_label_area_size(64 * SCALE)
}

/// Axes, grid and their names.
macro_rules! mesh {
    ($chart:expr, $x:expr, $y:expr) => {
        $chart
            .configure_mesh()
            .x_desc($x)
            .y_desc($y)
            .label_style(("sans-serif", 12 * SCALE))
            .axis_desc_style(("sans-serif", 13 * SCALE))
            .bold_line_style(RGBColor(0xdd, 0xdd, 0xdd).stroke_width(SCALE / 2))
            .light_line_style(TRANSPARENT)
            .axis_style(BLACK.stroke_width(SCALE))
            .draw()
            .map_err(failed)?
    };
}

/// Lines with points and a legend.
macro_rules! series {
    ($chart:expr, $lines:expr) => {
        for (index, (name, line)) in $lines.into_iter().enumerate() {
            let style = COLOURS[index % COLOURS.len()].stroke_width(3 * SCALE / 2);
            let key = move |(x, y)| PathElement::new([(x, y), (x + KEY, y)], style);
            $chart.draw_series(LineSeries::new(line, style)).map_err(failed)?.label(name).legend(key);
        }
        $chart
            .configure_series_labels()
            .label_font(("sans-serif", 12 * SCALE))
            .legend_area_size(30 * SCALE)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.4).stroke_width(SCALE / 2))
            .draw()
            .map_err(failed)?
    };
}
use {mesh, series};

fn draw(fill: impl FnOnce(&Area<'_>) -> Result<(), PlotError>) -> Result<String, PlotError> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    fill(&area)?;
    area.present().map_err(failed)?;
    drop(area);
    let drawn = format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1), 1))
}

#[expect(clippy::needless_pass_by_value, reason = "used where an error is given away")]
fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> PlotError {
    PlotError(error.to_string())
}
