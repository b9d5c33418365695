//! Curves of a study with their confidence intervals, drawn with plotters.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::error::StudyError;
use super::file::Study;
use super::summary::{PointSummary, Summary};
use super::table::{measure, names};
use super::tally::Measure;

/// What to draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlotOptions {
    /// The key of the grid to the right; if not stated, the last one of numbers, or else the last one.
    pub x: Option<String>,
    /// The quantities upwards; if none is stated, all shares, or else the first mean.
    pub y: Vec<String>,
}

/// Size of a figure \[pixels\]; plotters rounds to whole ones.
const SIZE: (u32, u32) = (960, 600);

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// A value over one place on the axis.
#[derive(Debug, Clone, Copy)]
struct Dot {
    x: f64,
    value: f64,
    low: f64,
    high: f64,
}

struct Curve {
    name: String,
    dots: Vec<Dot>,
}

/// What is drawn to the right.
struct Across<'a> {
    /// Which of the study's axes; `None` if it has none.
    axis: Option<usize>,
    key: &'a str,
    /// Names of places if they are no numbers.
    names: Vec<&'a str>,
}

/// One curve for each quantity and each combination of the other keys of the grid; bars are 95 % confidence intervals.
///
/// # Errors
/// [`StudyError::Draw`] if a key or quantity is unknown, or shares and means were asked for together.
pub fn plot(study: &Study, summary: &Summary, options: &PlotOptions) -> Result<String, StudyError> {
    let across = across(study, options.x.as_deref())?;
    let (quantities, is_share) = quantities(summary, &options.y)?;
    let curves = curves(study, summary, &across, &quantities, is_share);
    let sampled = summary.points.iter().map(|point| point.samples).max().unwrap_or(0);
    let title = format!("{}: {sampled} samples a point, 95 % confidence intervals", study.name);
    let upwards = match (&quantities[..], is_share) {
        ([one], true) => format!("{one} [%]"),
        ([one], false) => (*one).to_owned(),
        (_, true) => "share of samples [%]".to_owned(),
        (_, false) => "mean".to_owned(),
    };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let drawn = draw(&area, &title, &upwards, &across, &curves, is_share);
        drawn.and_then(|()| area.present()).map_err(|error| StudyError::Draw(error.to_string()))?;
    }
    Ok(svg)
}

fn across<'a>(study: &'a Study, wanted: Option<&str>) -> Result<Across<'a>, StudyError> {
    let axes = &study.axes;
    let is_numbers = |index: &usize| axes[*index].values.iter().all(|value| value.number.is_some());
    let is_curve = |index: &usize| is_numbers(index) && axes[*index].values.len() > 1;
    let axis = match wanted {
        Some(key) => Some(axes.iter().position(|axis| axis.key == key).ok_or_else(|| {
            let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
            StudyError::Draw(format!("the grid has no key {key:?}; it has {}", keys.join(", ")))
        })?),
        None => (0..axes.len()).rev().find(is_curve).or_else(|| axes.len().checked_sub(1)),
    };
    let names = match axis {
        Some(index) if is_numbers(&index) => Vec::new(),
        Some(index) => axes[index].values.iter().map(|value| value.text.as_str()).collect(),
        None => vec![study.command.name()],
    };
    Ok(Across { axis, key: axis.map_or("", |index| &axes[index].key), names })
}

/// The names of what is drawn, and whether they are shares.
fn quantities<'a>(summary: &Summary, wanted: &'a [String]) -> Result<(Vec<&'a str>, bool), StudyError> {
    let all = names(summary);
    let of = |name: &str| summary.points.iter().find_map(|point| measure(point, name));
    let is_share = |name: &str| matches!(of(name), Some(Measure::Share { .. }));
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(StudyError::Draw(format!("there is no quantity {unknown:?}; there are {}", all.join(", "))));
    }
    if wanted.is_empty() {
        let shares: Vec<&'static str> = all.iter().copied().filter(|name| is_share(name)).collect();
        return Ok(if shares.is_empty() { (all.into_iter().take(1).collect(), false) } else { (shares, true) });
    }
    let shares = wanted.iter().filter(|name| is_share(name)).count();
    if shares > 0 && shares < wanted.len() {
        return Err(StudyError::Draw("shares and other quantities do not go into one figure".to_owned()));
    }
    Ok((wanted.iter().map(String::as_str).collect(), shares > 0))
}

fn curves(study: &Study, summary: &Summary, across: &Across<'_>, quantities: &[&str], is_share: bool) -> Vec<Curve> {
    let factor = if is_share { 100.0 } else { 1.0 };
    let mut curves: Vec<Curve> = Vec::new();
    for point in &summary.points {
        let coordinates = study.coordinates(point.point);
        let x = match across.axis {
            None => 0.0,
            Some(axis) if across.names.is_empty() => coordinates[axis].number.unwrap_or_default(),
            Some(axis) => across.names.iter().position(|name| *name == coordinates[axis].text).unwrap_or(0) as f64,
        };
        for quantity in quantities {
            let Some(dot) = dot(point, quantity, x, factor) else { continue };
            let name = curve_name(study, across, &coordinates, (quantities.len() > 1).then_some(quantity));
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.dots.push(dot),
                None => curves.push(Curve { name, dots: vec![dot] }),
            }
        }
    }
    for curve in &mut curves {
        curve.dots.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    curves
}

fn dot(point: &PointSummary, quantity: &str, x: f64, factor: f64) -> Option<Dot> {
    let measure = measure(point, quantity)?;
    let value = measure.value()?;
    let (low, high) = measure.interval().unwrap_or((value, value));
    Some(Dot { x, value: factor * value, low: factor * low, high: factor * high })
}

fn curve_name(
    study: &Study,
    across: &Across<'_>,
    coordinates: &[&super::grid::AxisValue],
    quantity: Option<&&str>,
) -> String {
    let others = study
        .axes
        .iter()
        .zip(coordinates)
        .enumerate()
        .filter(|(index, (axis, _))| Some(*index) != across.axis && axis.values.len() > 1);
    let parts = quantity.map(|quantity| (*quantity).to_owned());
    let others = others.map(|(_, (axis, value))| match value.number {
        Some(_) => format!("{} {}", axis.key, value.text),
        None => value.text.clone(),
    });
    parts.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Outcome<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    area: &Area<'a>,
    title: &str,
    upwards: &str,
    across: &Across<'_>,
    curves: &[Curve],
    is_share: bool,
) -> Outcome<'a> {
    let dots = || curves.iter().flat_map(|curve| &curve.dots);
    let is_named = !across.names.is_empty();
    let (mut least, mut most) =
        dots().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), dot| (least.min(dot.x), most.max(dot.x)));
    if is_named {
        (least, most) = (-0.5, across.names.len() as f64 - 0.5);
    } else if least >= most || !least.is_finite() {
        (least, most) = if least.is_finite() { (least - 1.0, least + 1.0) } else { (0.0, 1.0) };
    }
    let lowest = dots().map(|dot| dot.low).fold(0.0, f64::min);
    let highest = if is_share { 102.0 } else { 1.05 * dots().map(|dot| dot.high).fold(1e-9, f64::max) };
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(14)
        .x_label_area_size(if is_named { 64 } else { 46 })
        .y_label_area_size(64)
        .right_y_label_area_size(0)
        .build_cartesian_2d(least..most, lowest..highest)?;
    let place = |x: &f64| {
        let nearest = x.round();
        let index = across.names.iter().enumerate().find(|(index, _)| (*index as f64 - nearest).abs() < 0.25);
        index.filter(|_| (x - nearest).abs() < 1e-6).map_or_else(String::new, |(_, name)| (*name).to_owned())
    };
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(across.key).y_desc(upwards).light_line_style(TRANSPARENT);
    if is_named {
        // Lines stand between the names, which are long: each is written below its place.
        mesh.x_labels(2 * across.names.len() + 1).x_label_formatter(&place).disable_x_mesh();
    }
    mesh.draw()?;
    for (number, (curve, colour)) in curves.iter().zip(COLOURS.into_iter().cycle()).enumerate() {
        // Intervals of several quantities at one name would hide each other.
        let aside = if is_named { 0.08 * (number as f64 - (curves.len() as f64 - 1.0) / 2.0) } else { 0.0 };
        let at = |dot: &Dot| dot.x + aside;
        if !is_named {
            chart.draw_series(LineSeries::new(
                curve.dots.iter().map(|dot| (dot.x, dot.value)),
                colour.stroke_width(2),
            ))?;
        }
        chart.draw_series(
            curve
                .dots
                .iter()
                .map(|dot| ErrorBar::new_vertical(at(dot), dot.low, dot.value, dot.high, colour.stroke_width(1), 7)),
        )?;
        let drawn =
            chart.draw_series(curve.dots.iter().map(|dot| Circle::new((at(dot), dot.value), 3, colour.filled())))?;
        if !curve.name.is_empty() {
            drawn
                .label(&curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    Ok(())
}
