//! Demand against supply, and acceptance curves, as charts.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::acceptance::CurvePoint;
use crate::tasks::demand::dbf;
use crate::tasks::{LinearSupply, Reservation, Supply, SupplyBound, Timing};

/// Points of a step curve beyond which a demand plot is cut.
const MAX_INSTANTS: u64 = 20_000;

/// dbf, sbf, its linear bound, and t, over [0, `end`]; `end` is cut to 20,000 units.
///
/// # Errors
/// As [`Chart::draw`].
pub fn demand_plot(title: &str, tasks: &[Timing], reservation: Reservation, end: u64) -> Result<Drawing, DrawError> {
    let end = end.clamp(1, MAX_INSTANTS);
    let (supply, linear) = (SupplyBound(reservation), LinearSupply(reservation));
    let mut demand = Vec::new();
    for t in 0..=end {
        let before = demand.last().map_or(0.0, |&(_, before)| before);
        let now = dbf(tasks, t) as f64;
        if now > before {
            demand.push((t as f64, before));
        }
        if now > before || t == 0 || t == end {
            demand.push((t as f64, now));
        }
    }
    let supplied = (0..=end).map(|t| (t as f64, supply.within(t) as f64)).collect();
    let delay = linear.rate_and_delay().1.min(end) as f64;
    let slope = reservation.budget as f64 / reservation.period as f64;
    let straight = vec![(0.0, 0.0), (delay, 0.0), (end as f64, slope * (end as f64 - delay))];
    let series = vec![
        Series::new("demand dbf(t)", demand),
        Series::new("supply sbf(t)", supplied),
        Series::new("linear supply", straight),
    ];
    let top = series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(1.0, f64::max);
    let x = Axis { title: "t".to_owned(), range: 0.0..end as f64 };
    let y = Axis { title: "execution time".to_owned(), range: 0.0..top * 1.05 };
    Chart::new(title, x, y, series).draw()
}

/// Acceptance ratio of each test against the utilization of each SM's own tasks.
///
/// # Errors
/// As [`Chart::draw`].
pub fn acceptance_plot(title: &str, points: &[CurvePoint]) -> Result<Drawing, DrawError> {
    let tests: Vec<_> =
        points.first().map(|point| point.accepted.iter().map(|(test, _)| *test)).into_iter().flatten().collect();
    let x = |point: &CurvePoint| f64::from(point.single_permille) / 1000.0;
    let series: Vec<Series> = tests
        .into_iter()
        .map(|test| {
            let ratios = points.iter().filter_map(|point| Some((x(point), point.ratio(test)?))).collect();
            Series::new(test.name(), ratios)
        })
        .collect();
    let first = points.iter().map(x).fold(1.0, f64::min);
    let last = points.iter().map(x).fold(first + 0.1, f64::max);
    let x = Axis { title: "utilization of each SM's tasks".to_owned(), range: first..last };
    let y = Axis { title: "acceptance ratio".to_owned(), range: 0.0..1.02 };
    Chart::new(title, x, y, series).with_points().draw()
}
