//! Curves of acceptance ratios in every format.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::experiments::acceptance::CurvePoint;
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::formats::{Cell, CellKind, DocumentWriter, Field, Page, Report, RowsPart, RowsWriter};
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
