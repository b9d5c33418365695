//! Figs. 9 and 10 of RTNS 2020 as SVG.

use super::measurements::{Figure9, Figure10Point};
use crate::tasks::plot::draw;

const NS_PER_MS: f64 = 1e6;

/// Fig. 9: response time of the most urgent task, job by job.
///
/// # Errors
/// The message of the drawing library.
pub fn figure_9_plot(figure: &Figure9) -> Result<String, String> {
    let curve = |responses: &[u64]| -> Vec<(f64, f64)> {
        responses.iter().enumerate().map(|(job, &response)| (job as f64, response as f64 / NS_PER_MS)).collect()
    };
    let series = [
        ("stream per task, no scheduler".to_owned(), curve(&figure.without_platform)),
        ("multiple streams, fixed priorities".to_owned(), curve(&figure.with_platform)),
    ];
    let top = series.iter().flat_map(|(_, points)| points.iter().map(|point| point.1)).fold(1.0, f64::max);
    let jobs = figure.with_platform.len().max(figure.without_platform.len()).max(2) - 1;
    let ranges = (0.0..jobs as f64, 0.0..top * 1.05);
    draw("Response time of the most urgent task", ("job", "response time [ms]"), ranges, &series, false)
}

/// Fig. 10: execution time of the low-priority job against its number of blocks.
///
/// # Errors
/// The message of the drawing library.
pub fn figure_10_plot(points: &[Figure10Point]) -> Result<String, String> {
    let curve = |value: fn(&Figure10Point) -> u64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (f64::from(point.low_blocks), value(point) as f64 / NS_PER_MS)).collect()
    };
    let series = [
        ("alone".to_owned(), curve(|point| point.alone_ns)),
        ("with a high-priority job of 64 blocks".to_owned(), curve(|point| point.with_high_priority_ns)),
    ];
    let top = series.iter().flat_map(|(_, points)| points.iter().map(|point| point.1)).fold(1.0, f64::max);
    let last = points.iter().map(|point| f64::from(point.low_blocks)).fold(1.0, f64::max);
    let axes = ("blocks of the low-priority task", "its execution time [ms]");
    draw("Execution time of a low-priority task", axes, (0.0..last, 0.0..top * 1.05), &series, true)
}
