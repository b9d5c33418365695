//! Charts of task sets: demand against supply, acceptance by test, response times.

use std::ops::Range;

use crate::draw::theme::{Colour, Fill, Theme, series_fill};
use crate::draw::{Anchor, Axis, COLUMN_WIDTH, Chart, DrawError, Drawing, Length, MM, Rect, Series, Sheet, as_length};
use crate::experiments::acceptance::{Curve, CurvePoint};
use crate::experiments::response_times::{Figure9, Figure10Point};
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::tasks::{Periods, ReservationTest};

/// Acceptance ratio of each test against the utilization of each SM's own tasks.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn acceptance_plot(title: &str, points: &[CurvePoint]) -> Result<Drawing, DrawError> {
    let x = |point: &CurvePoint| f64::from(point.single_permille) / 1000.0;
    let tests = points.iter().take(1).flat_map(|point| &point.accepted).map(|(test, _)| *test);
    let series = tests.map(|test| {
        let ratios = points.iter().filter_map(|point| Some((x(point), point.ratio(test)?))).collect();
        Series::new(test.name(), ratios)
    });
    let first = points.iter().map(x).fold(0.9, f64::min);
    // As in the paper; beyond U_1 + U_B = 1 nothing is schedulable.
    let last = points.iter().map(x).fold(1.0, f64::max);
    acceptance_chart(title, "utilization of each SM's tasks", first..last, series.collect())
}

fn acceptance_chart(title: &str, x: &str, range: Range<f64>, series: Vec<Series>) -> Result<Drawing, DrawError> {
    let x = Axis { title: x.to_owned(), range };
    let y = Axis { title: "acceptance ratio".to_owned(), range: 0.0..1.02 };
    Chart::new(title, x, y, series).with_points().draw()
}

/// Acceptance ratio of each test against what a panel varies.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn segment_acceptance_plot(
    title: &str,
    curve: &SegmentCurve,
    points: &[SegmentCurvePoint],
) -> Result<Drawing, DrawError> {
    let x = |point: &SegmentCurvePoint| curve.panel.value(point.point);
    let series = curve.tests.iter().map(|&test| {
        let ratios = points.iter().filter_map(|point| Some((x(point), point.ratio(test)?))).collect();
        Series::new(test.name(), ratios)
    });
    let first = points.first().map_or(0.0, x);
    let last = points.last().map_or(1.0, x);
    acceptance_chart(title, curve.panel.words(), first..last, series.collect())
}

/// Which of two tests accepts more sets, against the utilization of each SM's own tasks and the number of periods in
/// the list: by how many percent of the sets the first is ahead of the second. `rows` have the same points each.
pub fn boundary_map(
    title: &str,
    rows: &[(Curve, Vec<CurvePoint>)],
    first: ReservationTest,
    second: ReservationTest,
) -> RegionMap {
    let cell = |point: &CurvePoint| {
        let ahead = point.ratio(first).zip(point.ratio(second)).map_or(0.0, |(first, second)| first - second);
        let region = if ahead > 0.0 { Some(0) } else { (ahead < 0.0).then_some(1) };
        let shown = format!("{:+.1}", 100.0 * ahead).replace('-', "\u{2212}");
        (region, if region.is_some() { shown } else { "=".to_owned() })
    };
    let periods = |curve: &Curve| match &curve.generator.periods {
        Periods::List(list) | Periods::Harmonic(list) => list.len().to_string(),
        Periods::LogUniform(least, most) => format!("{least}..{most}"),
    };
    let x = rows.first().map(|(_, points)| points.as_slice()).unwrap_or_default();
    RegionMap {
        title: title.to_owned(),
        x: Scale {
            title: "utilization of each SM's tasks".to_owned(),
            values: x.iter().map(|point| (f64::from(point.single_permille) / 1000.0).to_string()).collect(),
        },
        y: Scale {
            title: "periods in the list".to_owned(),
            values: rows.iter().map(|(curve, _)| periods(curve)).collect(),
        },
        cells: rows.iter().map(|(_, points)| points.iter().map(cell).collect()).collect(),
        regions: vec![
            format!("{} accepts more sets than {} (by % of all)", first.name(), second.name()),
            format!("{} accepts more sets than {}", second.name(), first.name()),
        ],
    }
}

const NS_PER_MS: f64 = 1e6;

/// Fig. 9: response time of the most urgent task, job by job.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn figure_9_plot(title: &str, figure: &Figure9) -> Result<Drawing, DrawError> {
    let curve = |responses: &[u64]| -> Vec<(f64, f64)> {
        responses.iter().enumerate().map(|(job, &response)| (job as f64, response as f64 / NS_PER_MS)).collect()
    };
    let series = vec![
        Series::new("stream per task, no scheduler", curve(&figure.without_platform)),
        Series::new("multiple streams, fixed priorities", curve(&figure.with_platform)),
    ];
    let jobs = figure.with_platform.len().max(figure.without_platform.len()).max(2) - 1;
    let x = Axis { title: "job".to_owned(), range: 0.0..jobs as f64 };
    let y = Axis { title: "response time [ms]".to_owned(), range: 0.0..Series::above(&series) };
    Chart::new(title, x, y, series).draw()
}

/// Fig. 10: execution time of the low-priority job against its number of blocks.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn figure_10_plot(points: &[Figure10Point]) -> Result<Drawing, DrawError> {
    let curve = |value: fn(&Figure10Point) -> u64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (f64::from(point.low_blocks), value(point) as f64 / NS_PER_MS)).collect()
    };
    let series = vec![
        Series::new("alone", curve(|point| point.alone_ns)),
        Series::new("with a high-priority job of 64 blocks", curve(|point| point.with_high_priority_ns)),
    ];
    let last = points.iter().map(|point| f64::from(point.low_blocks)).fold(1.0, f64::max);
    let x = Axis { title: "blocks of the low-priority task".to_owned(), range: 0.0..last };
    let y = Axis { title: "its execution time [ms]".to_owned(), range: 0.0..Series::above(&series) };
    Chart::new("Execution time of a low-priority task", x, y, series).with_points().draw()
}

/// Height of a cell.
const CELL: Length = 6 * MM;
/// A key in the legend.
const KEY: Length = 4 * MM;
const BESIDE_KEY: Length = MM;
const ROW: Length = 4 * MM;

/// A parameter: its name and the values that the grid has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// What is varied.
    pub title: String,
    /// Its values, from left to right or from the bottom up.
    pub values: Vec<String>,
}

/// A map of cells over two parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionMap {
    /// Above the map.
    pub title: String,
    /// To the right.
    pub x: Scale,
    /// Upwards.
    pub y: Scale,
    /// For each value of `y`, and of `x` in it, which region it belongs to, by its place in `regions` (none: left
    /// white), and what is written there.
    pub cells: Vec<Vec<(Option<usize>, String)>>,
    /// Names of the regions.
    pub regions: Vec<String>,
}

impl RegionMap {
    /// Draws the map, the same bytes for the same data.
    #[doc(hidden)]
    pub fn draw(&self) -> Drawing {
        let mut sheet = Sheet::new();
        let right = COLUMN_WIDTH - Sheet::MARGIN;
        let mut top = sheet.title(&self.title, COLUMN_WIDTH);
        for (region, name) in self.regions.iter().enumerate() {
            let key = Rect { x: Sheet::MARGIN, y: top + MM / 2, width: KEY, height: ROW - MM };
            sheet.area(key, Some(series_fill(region)), Some(Sheet::OUTLINE));
            sheet.text(Sheet::fitted(name, right - KEY), key.right() + BESIDE_KEY, top + ROW / 2, Anchor::Start);
            top += ROW;
        }
        sheet.text(self.y.title.clone(), Sheet::MARGIN, top + ROW / 2, Anchor::Start);
        top += ROW;
        let widest = self.y.values.iter().map(|value| Sheet::small_width(value)).max().unwrap_or(0);
        let left = Sheet::MARGIN + widest + MM;
        let columns = as_length(self.x.values.len().max(1));
        let edge = |column: usize| left + (right - left) * as_length(column) / columns;
        // The first value of y stands at the bottom.
        for (row, (value, cells)) in self.y.values.iter().zip(&self.cells).rev().enumerate() {
            let y = top + as_length(row) * CELL;
            sheet.small(value.clone(), left - MM / 2, y + CELL / 2, Anchor::End);
            for (column, (region, text)) in cells.iter().enumerate() {
                let area = Rect::between(edge(column), y, edge(column + 1), y + CELL);
                let fill = region.map_or(Fill::plain(Colour::WHITE), series_fill);
                sheet.area(area, Some(fill), Some(Sheet::OUTLINE));
                sheet.label(&[text], &area, fill);
            }
        }
        let bottom = top + as_length(self.y.values.len()) * CELL;
        for (column, value) in self.x.values.iter().enumerate() {
            let middle = edge(column).midpoint(edge(column + 1));
            sheet.small(value.clone(), middle, bottom + MM / 2 + Theme::PAPER.small_size / 2, Anchor::Middle);
        }
        let below = bottom + MM + Theme::PAPER.small_size;
        sheet.text(self.x.title.clone(), left.midpoint(right), below + ROW / 2, Anchor::Middle);
        sheet.into_drawing(self.title.clone(), COLUMN_WIDTH, below + ROW + Sheet::MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_its_values_cells_and_regions() {
        let scale = |title: &str, values: [&str; 2]| Scale {
            title: title.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        };
        let map = RegionMap {
            title: "Who wins".to_owned(),
            x: scale("load", ["0.2", "0.4"]),
            y: scale("periods", ["1", "2"]),
            cells: vec![
                vec![(Some(0), "+9".to_owned()), (Some(1), "-8".to_owned())],
                vec![(None, String::new()), (Some(1), "-7".to_owned())],
            ],
            regions: vec!["first".to_owned(), "second".to_owned()],
        };
        let svg = map.draw().to_svg();
        for text in ["Who wins", "load", "periods", "first", "second", ">+9<", ">-8<", ">-7<", ">0.4<"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }
}
