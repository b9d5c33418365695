//! Demand against supply, and acceptance curves, as charts.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::acceptance::{Curve, CurvePoint};
use crate::experiments::segment_acceptance::{SegmentCurve, SegmentCurvePoint};
use crate::pictures::maps::region_map::{RegionMap, Scale};
use crate::tasks::demand::dbf;
use crate::tasks::{LinearSupply, Periods, Reservation, ReservationTest, Supply, SupplyBound, TaskTime, Timing};

/// Points of a step curve beyond which a demand plot is cut.
const MAX_INSTANTS: u64 = 20_000;

/// dbf, sbf, its linear bound, and t, over [0, `end`]; `end` is cut to 20,000 units.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn demand_plot(
    title: &str,
    tasks: &[Timing],
    reservation: Reservation,
    end: TaskTime,
) -> Result<Drawing, DrawError> {
    let end = end.units().clamp(1, MAX_INSTANTS);
    let (supply, linear) = (SupplyBound(reservation), LinearSupply(reservation));
    let mut demand = Vec::new();
    for t in 0..=end {
        let before = demand.last().map_or(0.0, |&(_, before)| before);
        let now = dbf(tasks, TaskTime::from_units(t)).as_f64();
        if now > before {
            demand.push((t as f64, before));
        }
        if now > before || t == 0 || t == end {
            demand.push((t as f64, now));
        }
    }
    let supplied = (0..=end).map(|t| (t as f64, supply.within(TaskTime::from_units(t)).as_f64())).collect();
    let delay = linear.rate_and_delay().1.units().min(end) as f64;
    let slope = reservation.budget.as_f64() / reservation.period.as_f64();
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
/// [`DrawError::Backend`] if plotters cannot draw it.
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
    let first = points.iter().map(x).fold(0.9, f64::min);
    // As in the paper; beyond U_1 + U_B = 1 nothing is schedulable.
    let last = points.iter().map(x).fold(1.0, f64::max);
    let x = Axis { title: "utilization of each SM's tasks".to_owned(), range: first..last };
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
    let x = Axis { title: curve.panel.axis().to_owned(), range: first..last };
    let y = Axis { title: "acceptance ratio".to_owned(), range: 0.0..1.02 };
    Chart::new(title, x, y, series.collect()).with_points().draw()
}

/// Which of two tests accepts more sets, against the utilization of each SM's own tasks and the number of periods in
/// the list: by how many percent of the sets the first is ahead of the second. `rows` have the same points each.
pub(crate) fn boundary_map(
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
