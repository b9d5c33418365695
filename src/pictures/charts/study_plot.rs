//! What a study found, drawn with its confidence intervals.

mod places;

use crate::draw::{Axis, COLUMN_WIDTH, Chart, Drawing, Look, PAGE_WIDTH, PictureOptions, Series};
use crate::experiments::study::{AxisValue, PointSummary, Study, StudyError, StudySummary};
use crate::proven::Proven;
use crate::statistics::{Measure, PartsOfRuns};
use crate::tables::{WEIGHTED, axis_title, is_beside, measure, name_of, names, with_value};

/// What to draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlotOptions {
    /// The key of the grid that values are drawn over; if not stated, the last one of numbers, or else the last one.
    pub x: Option<String>,
    /// The quantities; if none is stated, all shares but that of task sets that could be drawn, or else the first mean.
    pub y: Vec<String>,
    /// Size and title.
    pub picture: PictureOptions,
}

/// More curves than these need a whole page's width.
const CURVES_OF_A_COLUMN: usize = 4;

/// A value over one place, with its interval.
#[derive(Debug, Clone, Copy)]
struct Dot {
    x: f64,
    value: f64,
    low: f64,
    high: f64,
}

/// One quantity of points that differ in nothing but their place.
struct Curve {
    name: String,
    dots: Vec<Dot>,
}

/// What values are drawn over.
struct Across<'a> {
    /// Which of the study's axes; `None` if it has none.
    axis: Option<usize>,
    key: &'a str,
    /// Names of places if they are no numbers; places are then counted from 0.
    names: Vec<&'a str>,
}

/// One curve for each quantity and each combination of the other keys of the grid, bars are 95 % confidence intervals;
/// over names instead of numbers, a row of dots for each name.
///
/// # Errors
/// [`StudyError::Draw`] if a key or quantity is unknown, shares and means were asked for together, or there are more
/// curves than can be told apart in grey.
pub fn plot(study: &Study, summary: &StudySummary, options: &PlotOptions) -> Result<Drawing, StudyError> {
    let across = across(study, options.x.as_deref())?;
    let (quantities, is_share) = quantities(summary, &options.y)?;
    let curves = curves(study, summary, &across, &quantities, is_share);
    if curves.len() > Look::DIFFERENT {
        let (count, most) = (curves.len(), Look::DIFFERENT);
        return Err(StudyError::Draw(format!("{count} curves cannot be told apart, only {most} can: ask for fewer")));
    }
    let sampled = summary.points.iter().map(|point| point.samples).max().unwrap_or(0);
    let has_intervals = curves.iter().flat_map(|curve| &curve.dots).any(|dot| dot.low < dot.high);
    let samples = if sampled == 1 { "sample" } else { "samples" };
    let confidence = if has_intervals { ", 95 % confidence" } else { "" };
    let title = format!("{}: {sampled} {samples} a point{confidence}", study.name);
    let counted = match &quantities[..] {
        [one] if is_share => format!("{} [% of {}]", name_of(one), counted_in(summary, one)),
        [one] => axis_title(one),
        _ if is_share => "share of samples [%]".to_owned(),
        _ => "mean".to_owned(),
    };
    let dots = || curves.iter().flat_map(|curve| &curve.dots);
    let highest = if is_share { 100.0 } else { dots().map(|dot| dot.high).fold(1e-9, f64::max) };
    if !across.names.is_empty() {
        return Ok(places::draw(&title, &counted, highest, &across.names, &curves, options.picture));
    }
    let (first, last) =
        dots().fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), dot| (first.min(dot.x), last.max(dot.x)));
    let range = if first < last { first..last } else { dots().next().map_or(0.0..1.0, |dot| dot.x - 1.0..dot.x + 1.0) };
    let series = curves.iter().map(|curve| Series {
        name: curve.name.clone(),
        points: curve.dots.iter().map(|dot| (dot.x, dot.value)).collect(),
        bars: curve.dots.iter().filter(|_| has_intervals).map(|dot| (dot.low, dot.high)).collect(),
    });
    let x = Axis { title: title_of(study, &across), range };
    let y = Axis { title: counted, range: 0.0..highest * 1.02 };
    let suits = if curves.len() > CURVES_OF_A_COLUMN { PAGE_WIDTH } else { COLUMN_WIDTH };
    let width = options.picture.width.unwrap_or(suits);
    let title = if options.picture.title { title } else { String::new() };
    let chart = Chart { width, ..Chart::new(title, x, y, series.collect()).with_points() };
    chart.draw().map_err(|error| StudyError::Draw(error.to_string()))
}

/// The title of an axis of numbers, which are of one kind.
fn title_of(study: &Study, across: &Across<'_>) -> String {
    match across.axis.and_then(|axis| study.axes[axis].values.first()) {
        Some(AxisValue { of: Some(name), is_time: true, .. }) => format!("{} of {name} [ms]", name_of(across.key)),
        Some(AxisValue { of: Some(name), .. }) => format!("{} of {name}", name_of(across.key)),
        Some(AxisValue { is_time: true, .. }) => format!("{} [ms]", name_of(across.key)),
        _ => axis_title(across.key),
    }
}

/// What a share is one of.
fn counted_in(summary: &StudySummary, name: &str) -> &'static str {
    let has_parts = |parts: PartsOfRuns| parts.sums().0 < parts.sums().2;
    match summary.points.iter().find_map(|point| measure(point, name)) {
        _ if name.ends_with(WEIGHTED) => "utilization",
        Some(Measure::PartsOfRuns(parts)) if has_parts(parts) => "jobs",
        _ => "samples",
    }
}

fn across<'a>(study: &'a Study, wanted: Option<&str>) -> Result<Across<'a>, StudyError> {
    let axes = &study.axes;
    let is_numbers = |index: usize| {
        let values = &axes[index].values;
        values.iter().all(|value| value.is_commensurable(&values[0]))
    };
    let axis = match wanted {
        Some(key) => Some(axes.iter().position(|axis| axis.key == key).ok_or_else(|| {
            let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
            StudyError::Draw(format!("the grid has no key {key:?}; it has {}", keys.join(", ")))
        })?),
        None => (0..axes.len())
            .rev()
            .find(|&index| is_numbers(index) && axes[index].values.len() > 1)
            .or_else(|| axes.len().checked_sub(1)),
    };
    let names = match axis {
        Some(index) if is_numbers(index) => Vec::new(),
        Some(index) => axes[index].values.iter().map(|value| value.words.as_str()).collect(),
        None => vec![study.command.name()],
    };
    Ok(Across { axis, key: axis.map_or("", |index| &axes[index].key), names })
}

/// The names of what is drawn, and whether they are shares.
fn quantities<'a>(summary: &StudySummary, wanted: &'a [String]) -> Result<(Vec<&'a str>, bool), StudyError> {
    let all = names(summary);
    let of = |name: &str| summary.points.iter().find_map(|point| measure(point, name));
    let is_share = |name: &str| of(name).is_some_and(|measure| measure.is_share());
    let is_known = |name: &str| {
        summary.points.iter().filter_map(|point| measure(point, name)).any(|measure| measure.value().is_some())
    };
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(StudyError::Draw(format!("there is no quantity {unknown:?}; there are {}", all.join(", "))));
    }
    if wanted.is_empty() {
        let shares = || all.iter().copied().filter(|name| is_share(name) && is_known(name) && *name != "drawn");
        // What stands beside a share is drawn where it is asked for.
        let plain: Vec<&str> = shares().filter(|name| !is_beside(name)).collect();
        let shares = if plain.is_empty() { shares().collect() } else { plain };
        let first = all.into_iter().find(|name| !is_share(name));
        return Ok(if shares.is_empty() { (first.into_iter().collect(), false) } else { (shares, true) });
    }
    let shares = wanted.iter().filter(|name| is_share(name)).count();
    if shares > 0 && shares < wanted.len() {
        return Err(StudyError::Draw("shares and other quantities do not go into one figure".to_owned()));
    }
    Ok((wanted.iter().map(String::as_str).collect(), shares > 0))
}

fn curves(
    study: &Study,
    summary: &StudySummary,
    across: &Across<'_>,
    quantities: &[&str],
    is_share: bool,
) -> Vec<Curve> {
    let factor = if is_share { 100.0 } else { 1.0 };
    let mut curves: Vec<Curve> = Vec::new();
    for point in &summary.points {
        let coordinates = study.coordinates(point.point);
        let x = match across.axis {
            None => 0.0,
            Some(axis) if across.names.is_empty() => coordinates[axis].number.proven("without names all are numbers"),
            Some(axis) => across.names.iter().position(|name| *name == coordinates[axis].words).unwrap_or(0) as f64,
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

/// The quantity, if there are several, and the values of all keys that are not drawn over.
fn curve_name(study: &Study, across: &Across<'_>, coordinates: &[&AxisValue], quantity: Option<&&str>) -> String {
    let is_other = |index: usize| Some(index) != across.axis && study.axes[index].values.len() > 1;
    let others = (0..study.axes.len()).filter(|&index| is_other(index)).map(|index| match coordinates[index] {
        AxisValue { number: Some(_), of: None, text, .. } => with_value(&study.axes[index].key, text),
        AxisValue { text, .. } if text == "{}" => format!("no {}", name_of(&study.axes[index].key)),
        AxisValue { words, .. } => words.clone(),
    });
    quantity.map(|quantity| name_of(quantity)).into_iter().chain(others).collect::<Vec<_>>().join(", ")
}
