//! A chart of response times: which share of the jobs of each stream or host took no longer than a given time.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::run::Responses;
use crate::time::Duration;

/// Steps of one curve at most: more would not be told apart in print.
const MOST_STEPS: u64 = 500;

/// For every response time the share of jobs that took no longer, one curve for each stream or host, and its deadline
/// as an upright line. Jobs that had not finished count among all jobs, so a curve with such jobs ends below 1.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn response_chart(scenario: &str, rows: &[Responses<'_>]) -> Result<Drawing, DrawError> {
    let shown = || rows.iter().filter(|row| !row.times.is_empty() || row.deadline_ns.is_some());
    let longest = shown().flat_map(|row| row.max_ns.into_iter().chain(row.deadline_ns)).max();
    let (unit, ns) = time_unit(longest.unwrap_or_default());
    let end = 1.05 * longest.map_or(1.0, |longest| longest.as_ns() as f64 / ns).max(f64::MIN_POSITIVE);
    let mut series = Vec::new();
    for row in shown() {
        let unfinished = if row.unfinished > 0 { format!(" ({} unfinished)", row.unfinished) } else { String::new() };
        series.push(Series::new(format!("{}{unfinished}", row.stream), steps(row, ns, end)));
    }
    for (row, deadline) in shown().filter_map(|row| row.deadline_ns.map(|deadline| (row, deadline))) {
        let at = deadline.as_ns() as f64 / ns;
        series.push(Series::new(format!("deadline of {}", row.stream), vec![(at, 0.0), (at, 1.0)]));
    }
    let x = Axis { title: format!("response time [{unit}]"), range: 0.0..end };
    let y = Axis { title: "share of jobs".to_owned(), range: 0.0..1.05 };
    Chart::new(format!("Response times: {scenario}"), x, y, series).draw()
}

/// The largest unit in which `longest` is not below 1, and its length \[ns\].
fn time_unit(longest: Duration) -> (&'static str, f64) {
    match longest.as_ns() {
        1_000_000_000.. => ("s", 1e9),
        1_000_000.. => ("ms", 1e6),
        1_000.. => ("us", 1e3),
        _ => ("ns", 1.0),
    }
}

/// The corners of one curve, from the axis to the right end. Where steps are left out, the curve passes below them: it
/// never shows a larger share than there is.
fn steps(row: &Responses<'_>, ns: f64, end: f64) -> Vec<(f64, f64)> {
    let jobs = row.jobs as f64;
    let finished = row.finished();
    let stride = finished.div_ceil(MOST_STEPS).max(1);
    let mut corners = vec![(0.0, 0.0)];
    let mut share = 0.0;
    let strides = (1..=finished / stride).map(|step| step * stride);
    for rank in strides.chain((!finished.is_multiple_of(stride)).then_some(finished)) {
        let at = row.time_of_rank(rank).unwrap_or_default().as_ns() as f64 / ns;
        corners.push((at, share));
        share = rank as f64 / jobs;
        corners.push((at, share));
    }
    corners.push((end, share));
    corners
}
