//! Figs. 9 and 10 of RTNS 2020 as charts.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::response_times::{Figure9, Figure10Point};

const NS_PER_MS: f64 = 1e6;

/// Fig. 9: response time of the most urgent task, job by job.
pub(crate) fn figure_9_plot(title: &str, figure: &Figure9) -> Result<Drawing, DrawError> {
    let curve = |responses: &[u64]| -> Vec<(f64, f64)> {
        responses.iter().enumerate().map(|(job, &response)| (job as f64, response as f64 / NS_PER_MS)).collect()
    };
    let series = vec![
        Series::new("stream per task, no scheduler", curve(&figure.without_platform)),
        Series::new("multiple streams, fixed priorities", curve(&figure.with_platform)),
    ];
    let jobs = figure.with_platform.len().max(figure.without_platform.len()).max(2) - 1;
    let x = Axis { title: "job".to_owned(), range: 0.0..jobs as f64 };
    let y = Axis { title: "response time [ms]".to_owned(), range: 0.0..top(&series) };
    Chart::new(title, x, y, series).draw()
}

/// Fig. 10: execution time of the low-priority job against its number of blocks.
pub(crate) fn figure_10_plot(points: &[Figure10Point]) -> Result<Drawing, DrawError> {
    let curve = |value: fn(&Figure10Point) -> u64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (f64::from(point.low_blocks), value(point) as f64 / NS_PER_MS)).collect()
    };
    let series = vec![
        Series::new("alone", curve(|point| point.alone_ns)),
        Series::new("with a high-priority job of 64 blocks", curve(|point| point.with_high_priority_ns)),
    ];
    let last = points.iter().map(|point| f64::from(point.low_blocks)).fold(1.0, f64::max);
    let x = Axis { title: "blocks of the low-priority task".to_owned(), range: 0.0..last };
    let y = Axis { title: "its execution time [ms]".to_owned(), range: 0.0..top(&series) };
    Chart::new("Execution time of a low-priority task", x, y, series).with_points().draw()
}

/// Some room above the highest point.
fn top(series: &[Series]) -> f64 {
    1.05 * series.iter().flat_map(|series| &series.points).map(|&(_, value)| value).fold(1.0, f64::max)
}
