//! The table of a curve of acceptance ratios, line by line: curves that take long are written, and read again, so.

use crate::experiments::acceptance::{Curve, CurvePoint};
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::formats::{Cell, cells_line};

impl Curve {
    /// The header of the curve's table.
    pub fn header(&self) -> String {
        let fixed = ["gang_utilization", "single_utilization", "samples", "necessary"].into_iter();
        cells_line(fixed.chain(self.tests.iter().map(|test| test.name())).map(Cell::from))
    }

    /// Reads a line, without its end, that [`CurvePoint::line`] wrote for this curve; `None` if it is no such line.
    pub fn read_line(&self, line: &str) -> Option<CurvePoint> {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != 4 + self.tests.len() {
            return None;
        }
        let permille = |text: &str| self.points.iter().copied().find(|&point| decimal(point) == text);
        let counts: Vec<u64> = fields[2..].iter().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let point = self.counted(permille(fields[1])?, &counts);
        (point.line().strip_suffix('\n') == Some(line)).then_some(point)
    }
}

impl CurvePoint {
    /// One line of the curve's table.
    pub fn line(&self) -> String {
        let utilizations = [self.gang_permille, self.single_permille].map(|permille| decimal(permille).into());
        let counts = [self.samples, self.necessary].into_iter().chain(self.accepted.iter().map(|(_, count)| *count));
        cells_line(utilizations.into_iter().chain(counts.map(Cell::from)))
    }
}

impl SegmentCurve {
    /// The header of the table of a curve of tasks with segments.
    pub fn header(&self) -> String {
        let fixed = [self.panel.name(), "samples"].into_iter();
        cells_line(fixed.chain(self.tests.iter().map(|test| test.name())).map(Cell::from))
    }

    /// One line of that table.
    pub fn line(&self, point: &SegmentCurvePoint) -> String {
        let value = Cell::from(self.panel.value(point.point).to_string());
        let counts = std::iter::once(point.samples).chain(point.accepted.iter().map(|(_, count)| *count));
        cells_line(std::iter::once(value).chain(counts.map(Cell::from)))
    }

    /// Reads a line, without its end, that [`Self::line`] wrote for this curve; `None` if it is no such line.
    pub fn read_line(&self, line: &str) -> Option<SegmentCurvePoint> {
        let fields: Vec<&str> = line.split(',').collect();
        let value = self
            .panel
            .points(self.preset)
            .into_iter()
            .find(|&point| self.panel.value(point).to_string() == fields[0])?;
        let counts: Vec<u64> = fields.get(2..)?.iter().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let point = self.counted(value, &counts);
        (self.line(&point).strip_suffix('\n') == Some(line)).then_some(point)
    }
}

fn decimal(permille: u32) -> String {
    format!("{}.{:03}", permille / 1000, permille % 1000)
}
