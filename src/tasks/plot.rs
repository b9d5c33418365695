//! Demand against supply, and acceptance curves, as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::curve::CurvePoint;
use super::demand::dbf;
use super::reservation::Reservation;
use super::supply::{LinearSupply, Supply, SupplyBound};
use super::task_set::Timing;

/// Size of a figure \[pixels\]; plotters rounds to whole ones.
const SIZE: (u32, u32) = (900, 560);

/// Points of a step curve beyond which a demand plot is cut.
const MAX_INSTANTS: u64 = 20_000;

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// A curve with its name.
type Series = (String, Vec<(f64, f64)>);

/// dbf, sbf, its linear bound, and t, over [0, `end`]; `end` is cut to 20,000 units.
///
/// # Errors
/// The message of the drawing library.
pub fn demand_plot(title: &str, tasks: &[Timing], reservation: Reservation, end: u64) -> Result<String, String> {
    let end = end.clamp(1, MAX_INSTANTS);
    let (supply, linear) = (SupplyBound(reservation), LinearSupply(reservation));
    let mut demand = Vec::new();
    for t in 0..=end {
        let before = demand.last().map_or(0.0, |&(_, before)| before);
        let now = dbf(tasks, t) as f64;
        if now > before {
            demand.push((t as f64, before));
        }
        if now > before || t == 0 || t == end {
            demand.push((t as f64, now));
        }
    }
    let supplied = (0..=end).map(|t| (t as f64, supply.within(t) as f64)).collect();
    let delay = linear.rate_and_delay().1.min(end) as f64;
    let slope = reservation.budget as f64 / reservation.period as f64;
    let straight = vec![(0.0, 0.0), (delay, 0.0), (end as f64, slope * (end as f64 - delay))];
    let series: [Series; 3] = [
        ("demand dbf(t)".to_owned(), demand),
        ("supply sbf(t)".to_owned(), supplied),
        ("linear supply".to_owned(), straight),
    ];
    let top = series.iter().flat_map(|(_, points)| points.iter().map(|point| point.1)).fold(1.0, f64::max);
    draw(title, ("t", "execution time"), (0.0..end as f64, 0.0..top * 1.05), &series, false)
}

/// Acceptance ratio of each test against the utilization of each SM's own tasks.
///
/// # Errors
/// The message of the drawing library.
pub fn acceptance_plot(title: &str, points: &[CurvePoint]) -> Result<String, String> {
    let tests: Vec<_> =
        points.first().map(|point| point.accepted.iter().map(|(test, _)| *test)).into_iter().flatten().collect();
    let x = |point: &CurvePoint| f64::from(point.single_permille) / 1000.0;
    let series: Vec<Series> = tests
        .into_iter()
        .map(|test| {
            let ratios = points.iter().filter_map(|point| Some((x(point), point.ratio(test)?))).collect();
            (test.name().to_owned(), ratios)
        })
        .collect();
    let first = points.iter().map(x).fold(1.0, f64::min);
    let last = points.iter().map(x).fold(first + 0.1, f64::max);
    draw(title, ("utilization of each SM's tasks", "acceptance ratio"), (first..last, 0.0..1.02), &series, true)
}

type Ranges = (std::ops::Range<f64>, std::ops::Range<f64>);

/// Curves in one pair of axes.
pub(crate) fn draw(
    title: &str,
    axes: (&str, &str),
    ranges: Ranges,
    series: &[Series],
    with_points: bool,
) -> Result<String, String> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    let drawn = draw_on(&area, title, axes, ranges, series, with_points);
    drawn.and_then(|()| area.present()).map_err(|error| error.to_string())?;
    drop(area);
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw_on<'a>(
    area: &Area<'a>,
    title: &str,
    (x_name, y_name): (&str, &str),
    (x_range, y_range): Ranges,
    series: &[Series],
    with_points: bool,
) -> Outcome<'a> {
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(x_range, y_range)?;
    chart.configure_mesh().x_desc(x_name).y_desc(y_name).light_line_style(TRANSPARENT).draw()?;
    for ((name, points), color) in series.iter().zip(COLORS.iter().cycle()) {
        let line = chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?;
        line.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
        if with_points {
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, color.filled())))?;
        }
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    Ok(())
}
