//! Curves of acceptance ratios, whole in every format, and as a table that is written and read again line by line, as
//! curves may take long.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::experiments::acceptance::{Curve, CurvePoint};
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::formats::{Cell, CellKind, DocumentWriter, Field, Page, Report, RowsPart, RowsWriter, cells_line};
use crate::statistics::Measure;
use crate::tables::study_table::{measure_entry, shown};

/// What curves of acceptance ratios say: a line a point, for each test how many of the sets it accepts, with 95 %
/// confidence intervals over the sets.
#[derive(Debug, Clone)]
pub struct CurveReport {
    stated: Value,
    /// What the points differ in.
    axes: Vec<&'static str>,
    points: Vec<Point>,
}

#[derive(Debug, Clone)]
struct Point {
    at: Vec<f64>,
    samples: u64,
    accepted: Vec<(&'static str, u64)>,
}

impl CurveReport {
    /// Of sets with SMs and reservations; `stated` is all that the points depend on.
    pub fn of(stated: Value, points: &[CurvePoint]) -> Self {
        let point = |point: &CurvePoint| Point {
            at: [point.gang_permille, point.single_permille].map(|permille| f64::from(permille) / 1000.0).to_vec(),
            samples: point.samples,
            accepted: [("necessary", point.necessary)]
                .into_iter()
                .chain(point.accepted.iter().map(|(test, count)| (test.name(), *count)))
                .collect(),
        };
        let axes = vec!["gang_utilization", "single_utilization"];
        Self { stated, axes, points: points.iter().map(point).collect() }
    }

    /// Of sets with CPU and GPU segments.
    pub fn of_segments(stated: Value, curve: &SegmentCurve, points: &[SegmentCurvePoint]) -> Self {
        let point = |point: &SegmentCurvePoint| Point {
            at: vec![curve.panel.value(point.point)],
            samples: point.samples,
            accepted: point.accepted.iter().map(|(test, count)| (test.name(), *count)).collect(),
        };
        Self { stated, axes: vec![curve.panel.name()], points: points.iter().map(point).collect() }
    }

    /// In the order in which points have them; those of two curves are the same.
    fn tests(&self) -> impl Iterator<Item = &'static str> {
        self.points.first().into_iter().flat_map(|point| &point.accepted).map(|(name, _)| *name)
    }
}

impl Point {
    fn shares(&self) -> impl Iterator<Item = (&'static str, Measure)> {
        self.accepted.iter().map(|&(name, count)| (name, Measure::Share { count, of: self.samples }))
    }
}

impl Report for CurveReport {
    const IS_INDENTED: bool = true;

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("stated", &self.stated)?;
        let point = |point: &Point| {
            let at = self.axes.iter().zip(&point.at).map(|(axis, value)| ((*axis).to_owned(), (*value).into()));
            let tests = point.shares().map(|(name, share)| (name.to_owned(), measure_entry(share)));
            json!({"at": at.collect::<Map<String, Value>>(), "samples": point.samples,
                "accepted": tests.collect::<Map<String, Value>>()})
        };
        to.list("points", self.points.iter().map(point))
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        let axes = self.axes.iter().map(|axis| Field::new(*axis, CellKind::Real));
        let counts = ["samples"].into_iter().chain(self.tests()).map(|name| Field::new(name, CellKind::Unsigned));
        let mut writer = RowsWriter::begin_with(part, axes.chain(counts), out)?;
        for point in &self.points {
            let counts = [point.samples].into_iter().chain(point.accepted.iter().map(|(_, count)| *count));
            writer.cells(point.at.iter().copied().map(Cell::from).chain(counts.map(Cell::from)))?;
        }
        writer.end()
    }

    fn text(&self, page: &mut Page) {
        let titles: Vec<&str> = self.axes.iter().copied().chain(["samples"]).chain(self.tests()).collect();
        let row = |point: &Point| {
            let at = point.at.iter().map(f64::to_string).chain([point.samples.to_string()]);
            at.chain(point.shares().map(|(name, share)| shown(name, share))).collect()
        };
        page.cells(&titles, 0, self.points.iter().map(row));
    }
}

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
