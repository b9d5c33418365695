//! The data behind the report's Figs. 5, 6 and 7, and the figures.

use crate::experiments::warp_curves::{convergence, solving_times};
use crate::pictures::{convergence_chart, convergence_csv, solving_times_chart, solving_times_csv};
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
