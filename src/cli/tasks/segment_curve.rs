//! `gpusched tasks curve --segments`

use std::path::Path;

use gpusched::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use gpusched::pictures::segment_acceptance_plot;
use gpusched::tables::CurveReport;

use super::super::jobs::Jobs;
use super::super::output::{Format, print_report};
use super::super::progress::{self, Unit};
use super::super::{Answer, picture};
use super::curve_file::{Rows, stated};

/// Writes how many sets of each point each test accepts, and draws that.
pub(super) fn run(
    curve: &SegmentCurve,
    jobs: Jobs,
    out: Option<&Path>,
    figure: Option<&Path>,
    format: Option<Format>,
) -> anyhow::Result<Answer> {
    jobs.share()?;
    let points = curve.panel.points(curve.preset);
    let generator = points.first().map(|&point| curve.panel.generator(&curve.base, point));
    // With the generator of the first point.
    let stated = stated(curve.seed, curve.samples, &generator)?;
    let mut rows = Rows::open(out, format.is_some(), &stated, &curve.header())?;
    progress::hold("drawing", Unit::Of("task sets"), Some(points.len() as u64 * curve.samples));
    let mut found = Vec::new();
    for point in points {
        let is_it = |known: &SegmentCurvePoint| known.point == point;
        if let Some(known) = rows.known(|line| curve.read_line(line).filter(is_it)) {
            progress::advance(curve.samples);
            found.push(known);
            continue;
        }
        let new = curve.point(point, progress::advance);
        rows.add(&curve.line(&new))?;
        found.push(new);
    }
    if let Some(path) = figure {
        let title = format!("Acceptance ratio, {} sets a point", curve.samples);
        picture::write(path, &segment_acceptance_plot(&title, curve, &found)?)?;
    }
    progress::end();
    rows.finish()?;
    if let Some(format) = format {
        print_report(&CurveReport::of_segments(stated, curve, &found), format)?;
    }
    Ok(Answer::Done)
}
