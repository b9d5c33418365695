//! The report's Figs. 5, 6 and 7: how long solving takes, how estimates converge.

use std::time::Duration;

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::warp_curves::{Convergence, ConvergencePoint, SolvingTime};
use crate::formats::{CellOf, Column, Text, csv_text};

/// Figs. 6 and 7: the estimate against x, with the pessimistic value, the proven bound and what a schedule takes.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn convergence_chart(convergence: &Convergence) -> Result<Drawing, DrawError> {
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
pub fn solving_times_chart(times: &[SolvingTime]) -> Result<Drawing, DrawError> {
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
pub fn convergence_csv(convergence: &Convergence) -> String {
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
pub fn solving_times_csv(times: &[SolvingTime]) -> String {
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
mod tests {
    use super::*;
    use crate::experiments::warp_curves::{convergence, solving_times};
    use crate::warps::{KernelString, SearchLimits, Unit};

    fn string(text: &str, sigma_l: &str) -> KernelString {
        let unit = |letter, sigma: &str| Unit { sigma: sigma.parse().expect("sound"), ..Unit::new(letter) };
        KernelString::parse(text, &[unit('L', sigma_l), unit('C', "1")]).expect("sound")
    }

    #[test]
    fn report_figure_6_the_estimate_for_600_llcll_warps_converges_towards_the_exact_value() {
        let figure = convergence(&string("LLCLL", "1"), 600, 8, &SearchLimits::DEFAULT).expect("small");
        // From the golden T(1..4) = 5, 9, 13, 17.
        let estimates: Vec<u64> = figure.points.iter().take(4).map(|point| point.estimate).collect();
        assert_eq!(estimates, [3000, 2700, 2600, 2550]);
        assert_eq!((figure.pessimistic, figure.bound.cycles, figure.at_least), (3000, 2401, Some(2401)));
        assert!(figure.points.is_sorted_by(|a, b| a.estimate >= b.estimate));
        let svg = convergence_chart(&figure).expect("drawn").to_svg();
        assert!(roxmltree::Document::parse(&svg).is_ok());
        assert!(svg.contains("exact worst case") && svg.contains("pessimistic"));
        assert_eq!(svg, convergence_chart(&figure).expect("drawn").to_svg(), "the same bytes again");
    }

    #[test]
    fn report_figure_7_half_a_load_store_unit() {
        let figure = convergence(&string("LCLCL", "1/2"), 420, 5, &SearchLimits::DEFAULT).expect("small");
        // LLCLLCLL: I = 8, M = 2, of one run of length 1 after another: LLC, CLL, linked at each C.
        assert_eq!((figure.pessimistic, figure.bound.cycles), (3360, 6 * 420 + 2));
        assert_eq!(figure.points[0].from_x, 3360);
        let csv = convergence_csv(&figure);
        assert!(csv.starts_with("x,makespan,from_x,estimate,pessimistic,bound,at_least\n1,8,3360,3360,3360,2522,"));
    }

    #[test]
    fn report_figure_5_solving_times_are_measured_for_each_way() {
        let limits = SearchLimits { time: Some(std::time::Duration::from_secs(20)), ..SearchLimits::DEFAULT };
        let times = solving_times(&string("LC", "1"), 2, &limits);
        assert_eq!(times.len(), 2);
        assert!(times.iter().all(|time| time.search.is_some()));
        assert_eq!(times[0].ilp_short.is_some(), cfg!(feature = "ilp"));
        let csv = solving_times_csv(&times);
        assert!(csv.starts_with("warps,search_s,ilp_short_s,ilp_long_s,gave_up\n1,"));
        let svg = solving_times_chart(&times).expect("drawn").to_svg();
        assert!(svg.contains("exact search"));
    }
}
