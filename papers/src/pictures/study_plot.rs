//! What a study found, drawn with its confidence intervals: curves over numbers, or rows of dots over names.

use crate::draw::{
    Anchor, Axis, COLUMN_WIDTH, Chart, Drawing, Length, Look, MM, PAGE_HEIGHT, PAGE_WIDTH, PictureOptions, Point, Rect,
    Series, Sheet, Stroke, as_length,
};
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
        return Ok(draw_places(&title, &counted, highest, &across.names, &curves, options.picture));
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

/// Height of one quantity in a row.
const LINE: Length = 22 * MM / 10;
/// Between two rows.
const GAP: Length = 2 * MM;
const LEGEND_ROW: Length = 4 * MM;
/// Half of the width of a dot.
const RADIUS: Length = 6 * MM / 10;
/// Axis and its title.
const BELOW: Length = 14 * MM;
/// Right of the plot, where half of the last tick's label reaches.
const RIGHT_MARGIN: Length = 6 * MM;

fn draw_places(
    title: &str,
    counted: &str,
    highest: f64,
    names: &[&str],
    curves: &[Curve],
    options: PictureOptions,
) -> Drawing {
    let width = options.width.unwrap_or(PAGE_WIDTH);
    let mut sheet = Sheet::new();
    let widest = names.iter().map(|name| Sheet::text_width(name)).max().unwrap_or(0).min(width / 3);
    let legend_top = if options.title { sheet.title(title, width) } else { Sheet::MARGIN };
    let left = Sheet::MARGIN + widest + 2 * MM;
    let top = legend(&mut sheet, legend_top, (left, width), curves) + MM;
    let row = LINE * as_length(curves.len()) + GAP;
    // As many rows as a page holds; the others are counted.
    let most = usize::try_from((PAGE_HEIGHT - top - BELOW) / row).unwrap_or(1).max(1);
    let shown = names.len().min(most);
    let plot = Rect::between(left, top, width - RIGHT_MARGIN, top + row * as_length(shown));
    let step = round_step(highest);
    let ticks: Vec<(Length, String)> = (0..=10)
        .map(|number| f64::from(number) * step)
        .take_while(|value| *value <= highest * (1.0 + 1e-9))
        .map(|value| (plot.end_of(value / highest), tick(value, step)))
        .collect();
    for (x, _) in &ticks {
        sheet.line((*x, plot.y), (*x, plot.bottom()), Sheet::GRID);
    }
    let fitted = Sheet::fitted_apart(names.iter().copied().take(shown), widest);
    for (number, name) in fitted.into_iter().enumerate() {
        let upper = top + row * as_length(number);
        sheet.text(name, left - MM, upper + row / 2, Anchor::End);
        for (index, curve) in curves.iter().enumerate() {
            let y = upper + GAP / 2 + LINE * as_length(index) + LINE / 2;
            for dot in curve.dots.iter().filter(|dot| (dot.x - number as f64).abs() < 0.5) {
                draw_dot(&mut sheet, &plot, highest, index, dot, y);
            }
        }
    }
    let bottom = sheet.axis((plot.x, plot.right()), plot.bottom(), ticks, "");
    let room = 2 * (plot.centre().x - Sheet::MARGIN).min(width - Sheet::MARGIN - plot.centre().x);
    sheet.text(Sheet::fitted(counted, room), plot.centre().x, bottom + MM, Anchor::Middle);
    let mut bottom = bottom + 3 * MM;
    if shown < names.len() {
        sheet.text(format!("and {} more rows", names.len() - shown), Sheet::MARGIN, bottom + MM, Anchor::Start);
        bottom += 3 * MM;
    }
    sheet.into_drawing(title.to_owned(), width, bottom)
}

/// The names of curves from `top` down; gives where they end.
fn legend(sheet: &mut Sheet, top: Length, (left, right): (Length, Length), curves: &[Curve]) -> Length {
    let (mut x, mut y) = (left, top);
    let room = right - Sheet::MARGIN - left - 4 * RADIUS;
    let names = Sheet::fitted_apart(curves.iter().map(|curve| &*curve.name), room);
    for (index, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let width = 4 * RADIUS + Sheet::text_width(&name) + 4 * MM;
        if x + width > right && x > left {
            (x, y) = (left, y + LEGEND_ROW);
        }
        let middle = y + LEGEND_ROW / 2;
        mark(sheet, x + RADIUS, middle, index);
        sheet.text(name, x + 4 * RADIUS, middle, Anchor::Start);
        x += width;
    }
    y + LEGEND_ROW
}

fn draw_dot(sheet: &mut Sheet, plot: &Rect, highest: f64, index: usize, dot: &Dot, y: Length) {
    let stroke = Stroke { colour: Look::of(index).colour(), ..Sheet::AXIS };
    let [low, at, high] = [dot.low, dot.value, dot.high].map(|value| plot.end_of(value / highest));
    sheet.line((low, y), (high, y), stroke);
    for end in [low, high] {
        sheet.line((end, y - RADIUS), (end, y + RADIUS), stroke);
    }
    mark(sheet, at, y, index);
}

fn mark(sheet: &mut Sheet, x: Length, y: Length, index: usize) {
    sheet.push(Look::of(index).point(Point { x, y }));
}

/// A step of 1, 2 or 5 times a power of ten that divides an axis into four to ten.
fn round_step(highest: f64) -> f64 {
    let power = 10_f64.powf((highest / 4.0).log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| 4.0 * step <= highest * 1.000_001)
        .unwrap_or(power)
}

/// A number on the axis, with the decimals that its step needs.
fn tick(value: f64, step: f64) -> String {
    let decimals = (0..12).find(|&decimals| step * 10_f64.powi(decimals) >= 0.999_999).unwrap_or(12);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps() {
        for (highest, step, last) in
            [(100.0, 20.0, "100"), (0.9, 0.2, "0.8"), (23_600.0, 5_000.0, "20000"), (1e-3, 2e-4, "0.0010")]
        {
            let found = round_step(highest);
            assert!((found / step - 1.0).abs() < 1e-9, "{found} is not {step}");
            assert_eq!(tick((highest / step + 1e-9).floor() * step, step), last);
        }
    }
}
