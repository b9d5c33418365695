//! The table of a curve of acceptance ratios, line by line: curves that take long are written, and read again, so.

use crate::experiments::acceptance::{Curve, CurvePoint};
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::formats::{Cell, cells_line};

/// The header of the curve's table.
pub fn curve_header(curve: &Curve) -> String {
    let fixed = ["gang_utilization", "single_utilization", "samples", "necessary"].into_iter();
    cells_line(fixed.chain(curve.tests.iter().map(|test| test.name())).map(Cell::from))
}

/// One line of the curve's table.
pub fn curve_line(point: &CurvePoint) -> String {
    let utilizations = [point.gang_permille, point.single_permille].map(|permille| decimal(permille).into());
    let counts = [point.samples, point.necessary].into_iter().chain(point.accepted.iter().map(|(_, count)| *count));
    cells_line(utilizations.into_iter().chain(counts.map(Cell::from)))
}

/// Reads a line, without its end, that [`curve_line`] wrote for `curve`; `None` if it is no such line.
pub fn curve_point(curve: &Curve, line: &str) -> Option<CurvePoint> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != 4 + curve.tests.len() {
        return None;
    }
    let permille = |text: &str| curve.points.iter().copied().find(|&point| decimal(point) == text);
    let counts: Vec<u64> = fields[2..].iter().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let point = curve.counted(permille(fields[1])?, &counts);
    (curve_line(&point).strip_suffix('\n') == Some(line)).then_some(point)
}

/// The header of the table of a curve of tasks with segments.
pub fn segment_curve_header(curve: &SegmentCurve) -> String {
    let fixed = [curve.panel.name(), "samples"].into_iter();
    cells_line(fixed.chain(curve.tests.iter().map(|test| test.name())).map(Cell::from))
}

/// One line of that table.
pub fn segment_curve_line(curve: &SegmentCurve, point: &SegmentCurvePoint) -> String {
    let value = Cell::from(curve.panel.value(point.point).to_string());
    let counts = std::iter::once(point.samples).chain(point.accepted.iter().map(|(_, count)| *count));
    cells_line(std::iter::once(value).chain(counts.map(Cell::from)))
}

/// Reads a line, without its end, that [`segment_curve_line`] wrote for `curve`; `None` if it is no such line.
pub fn segment_curve_point(curve: &SegmentCurve, line: &str) -> Option<SegmentCurvePoint> {
    let fields: Vec<&str> = line.split(',').collect();
    let value = curve
        .panel
        .points(curve.preset)
        .into_iter()
        .find(|&point| curve.panel.value(point).to_string() == fields[0])?;
    let counts: Vec<u64> = fields.get(2..)?.iter().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let point = curve.counted(value, &counts);
    (segment_curve_line(curve, &point).strip_suffix('\n') == Some(line)).then_some(point)
}

fn decimal(permille: u32) -> String {
    format!("{}.{:03}", permille / 1000, permille % 1000)
}
