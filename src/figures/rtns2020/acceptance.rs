//! Figs. 6 to 8 of RTNS 2020: how many random task sets each test accepts.

use std::fmt::Write;

use super::super::figure::{Failure, File, Made};
use crate::experiments::acceptance::{
    Curve, CurvePoint, figure_6 as curve_6, figure_7 as curve_7, figure_8 as curves_8,
};
use crate::report::task_charts::acceptance_plot;
use crate::tasks::{ReservationPeriod, ReservationTest};

/// Task sets a point; the paper has 100.
const SETS: u64 = 1_000;
const SEED: u64 = 0;

pub(super) fn figure_6(name: &'static str) -> Result<Made, Failure> {
    curves(name, &[curve_6(SETS, SEED)])
}

pub(super) fn figure_7(name: &'static str) -> Result<Made, Failure> {
    curves(name, &[curve_7(SETS, SEED)])
}

pub(super) fn figure_8(name: &'static str) -> Result<Made, Failure> {
    curves(name, &curves_8(SETS, SEED))
}

/// Each curve with the reservation's period drawn, as in the paper, and with the shortest of the list.
fn curves(name: &str, curves: &[Curve]) -> Result<Made, Failure> {
    let (mut pictures, mut tables, mut finding) = (Vec::new(), Vec::new(), String::new());
    let mut all_points = Vec::new();
    for (reservation, suffix, words) in [
        (ReservationPeriod::Drawn, "", "reservation period drawn"),
        (ReservationPeriod::Shortest, "-shortest-reservation", "shortest reservation period"),
    ] {
        let mut csv = String::new();
        for curve in curves {
            let mut curve = curve.clone();
            curve.generator.reservation = reservation;
            let points: Vec<CurvePoint> =
                curve.points.iter().map(|&point| curve.point(point, |_| ())).collect::<Result<_, _>>()?;
            let gang = f64::from(curve.generator.gang_permille) / 1000.0;
            let title = format!("Gang utilization {gang}, {words}");
            let of_gang = if curves.len() > 1 { format!("-gang-{gang}") } else { String::new() };
            let text = acceptance_plot(&title, &points)?.to_svg();
            pictures.push(File { name: format!("{name}{of_gang}{suffix}.svg"), text });
            if csv.is_empty() {
                csv = curve.csv_header() + "\n";
            }
            for point in &points {
                csv += &(point.csv_line() + "\n");
            }
            if finding.is_empty() {
                write_head(&mut finding, &points)?;
            }
            write_row(&mut finding, &format!("{gang}, {words}"), &points)?;
            all_points.extend(points);
        }
        tables.push(File { name: format!("{name}{suffix}.csv"), text: csv });
    }
    pictures.extend(tables);
    write_comparison(&mut finding, &all_points)?;
    finding += "Tasks, periods, and what may explain the difference: [docs/tasks.md](../docs/tasks.md).\n";
    Ok(Made { files: pictures, finding })
}

fn tests(points: &[CurvePoint]) -> Vec<ReservationTest> {
    let first = points.first().map(|point| point.accepted.as_slice()).unwrap_or_default();
    first.iter().map(|(test, _)| *test).collect()
}

fn accepted(point: &CurvePoint, test: ReservationTest) -> u64 {
    point.accepted.iter().find(|(other, _)| *other == test).map_or(0, |(_, count)| *count)
}

fn all_accepted(points: &[CurvePoint], test: ReservationTest) -> u64 {
    points.iter().map(|point| accepted(point, test)).sum()
}

fn write_head(finding: &mut String, points: &[CurvePoint]) -> Result<(), std::fmt::Error> {
    let judged: Vec<&str> = tests(points).iter().map(|test| test.name()).filter(|name| *name != "exact").collect();
    writeln!(finding, "Share of the schedulable sets (`exact`) that each test accepts, all points together:\n")?;
    writeln!(finding, "| gang utilization | schedulable | {} |", judged.join(" | "))?;
    writeln!(finding, "| --- | ---: |{}", " ---: |".repeat(judged.len()))
}

fn write_row(finding: &mut String, which: &str, points: &[CurvePoint]) -> Result<(), std::fmt::Error> {
    let schedulable = all_accepted(points, ReservationTest::Exact);
    let drawn: u64 = points.iter().map(|point| point.samples).sum();
    write!(finding, "| {which} | {schedulable} of {drawn} |")?;
    for test in tests(points).into_iter().filter(|test| *test != ReservationTest::Exact) {
        let share = 100.0 * all_accepted(points, test) as f64 / schedulable.max(1) as f64;
        write!(finding, " {share:.1} % |")?;
    }
    writeln!(finding)
}

/// At how many points the paper's own tests accept more sets than sbf.
fn write_comparison(finding: &mut String, points: &[CurvePoint]) -> Result<(), std::fmt::Error> {
    let own =
        tests(points).into_iter().filter(|test| matches!(test, ReservationTest::Chunks | ReservationTest::Harmonic));
    let better = own.map(|test| {
        let ahead = points.iter().filter(|point| accepted(point, test) > accepted(point, ReservationTest::Sbf)).count();
        format!("`{}` at {ahead}", test.name())
    });
    let better = better.collect::<Vec<_>>().join(", ");
    write!(finding, "\nOf {} points, more sets than `sbf` are accepted by {better}. ", points.len())
}
