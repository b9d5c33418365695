//! The report's Figs. 5, 6 and 7 as charts.

use std::time::Duration;

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::warp_curves::{Convergence, ConvergencePoint, SolvingTime};
use crate::formats::{CellOf, Column, Text, csv_text};

/// Figs. 6 and 7: the estimate against x, with the pessimistic value, the proven bound and what a schedule takes.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub(crate) fn convergence_chart(convergence: &Convergence) -> Result<Drawing, DrawError> {
    let points = &convergence.points;
    let flat = |cycles: u64| points.iter().map(|point| (f64::from(point.x), cycles as f64)).collect();
    let of = |value: fn(&ConvergencePoint) -> u64| {
        points.iter().map(|point| (f64::from(point.x), value(point) as f64)).collect()
    };
    let bound = convergence.bound.cycles;
    let mut series = vec![
        Series::new("estimate T_approx(x), no bound", of(|point| point.estimate)),
        Series::new("ceil(W / x) T(x)", of(|point| point.from_x)),
        Series::new("pessimistic", flat(convergence.pessimistic)),
    ];
    match convergence.at_least {
        Some(cycles) if cycles == bound => series.push(Series::new("exact worst case", flat(bound))),
        Some(cycles) => {
            series.extend([Series::new("proven bound", flat(bound)), Series::new("a schedule takes", flat(cycles))]);
        }
        None => series.push(Series::new("proven bound", flat(bound))),
    }
    let values = || series.iter().flat_map(|series| &series.points).map(|&(_, cycles)| cycles);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let low = if low.is_finite() { low } else { 0.0 };
    let margin = ((high - low) * 0.05).max(1.0);
    let xs = 1.0..points.last().map_or(2.0, |point| f64::from(point.x)).max(2.0);
    let x = Axis { title: "x, number of warps whose worst case is known".to_owned(), range: xs };
    let y = Axis { title: format!("cycles for W = {} warps", convergence.warps), range: low - margin..high + margin };
    Chart::new("", x, y, series).draw()
}

/// Fig. 5: solving time against W, on a logarithmic axis.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub(crate) fn solving_times_chart(times: &[SolvingTime]) -> Result<Drawing, DrawError> {
    let of = |value: fn(&SolvingTime) -> Option<Duration>| {
        let seconds = |time: &SolvingTime| Some((f64::from(time.warps), value(time)?.as_secs_f64().max(1e-7)));
        times.iter().filter_map(seconds).collect()
    };
    let series = [
        Series::new("exact search", of(|time| time.search)),
        Series::new("integer program, short constraints", of(|time| time.ilp_short)),
        Series::new("integer program, long constraints", of(|time| time.ilp_long)),
    ];
    let series: Vec<Series> = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    let values = || series.iter().flat_map(|series| &series.points).map(|&(_, seconds)| seconds);
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1e-6, f64::max));
    let xs = 1.0..times.last().map_or(2.0, |time| f64::from(time.warps)).max(2.0);
    let x = Axis { title: "W, number of warps".to_owned(), range: xs };
    let y = Axis { title: "solving time [s]".to_owned(), range: low / 2.0..high * 2.0 };
    Chart { logarithmic: true, ..Chart::new("", x, y, series).with_points() }.draw()
}

/// The points of Figs. 6 and 7 as comma-separated values.
pub(crate) fn convergence_csv(convergence: &Convergence) -> String {
    type Row<'c> = (&'c Convergence, &'c ConvergencePoint);
    let columns: [Column<Row<'_>>; 7] = [
        Column::data("x", |(_, point): &Row<'_>| point.x.into()),
        Column::data("makespan", |(_, point)| point.makespan.into()),
        Column::data("from_x", |(_, point)| point.from_x.into()),
        Column::data("estimate", |(_, point)| point.estimate.into()),
        Column::data("pessimistic", |(all, _)| all.pessimistic.into()),
        Column::data("bound", |(all, _)| all.bound.cycles.into()),
        Column::data("at_least", |(all, _)| all.at_least.into()),
    ];
    csv_text(&columns, convergence.points.iter().map(|point| (convergence, point)))
}

/// Solving times \[s\] as comma-separated values. What did not finish within the limits is named in the last column;
/// what is empty otherwise was not tried.
pub(crate) fn solving_times_csv(times: &[SolvingTime]) -> String {
    let columns = [
        Column::data("warps", |time: &&SolvingTime| time.warps.into()),
        Column::data("search_s", |time| seconds(time.search)),
        Column::data("ilp_short_s", |time| seconds(time.ilp_short)),
        Column::data("ilp_long_s", |time| seconds(time.ilp_long)),
        Column::data("gave_up", |time| {
            let ways = ["search", "ilp_short", "ilp_long"].into_iter().zip(time.gave_up);
            let gave_up: Vec<&str> = ways.filter_map(|(way, gave_up)| gave_up.then_some(way)).collect();
            gave_up.join(" ").into()
        }),
    ];
    csv_text(&columns, times)
}

fn seconds<'r>(time: Option<Duration>) -> CellOf<'r, Text> {
    time.map(|time| format!("{:.6}", time.as_secs_f64())).into()
}

#[cfg(test)]
mod tests;
