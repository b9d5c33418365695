//! The data of the paper's Figures 3 to 6, in a small version (`gpusched figures` makes the large one), and the
//! campaigns behind the tables of sections 3 and 5 of `docs/gpu-evr.md`, which are run with
//!
//! ```text
//! cargo test --release --lib -- --ignored --nocapture date2014
//! ```

use std::fs;
use std::path::Path;

use crate::applications::{ApplicationError, ApplicationSet, Class, Injections, Outcome, Variation};
use crate::experiments::evr::{SweepOptions, SweepPoint, ratios};
use crate::experiments::study::{Study, StudySummary, per_period, random_injection};
use crate::formats::csv_of;
use crate::hosts::gpu_evr::EvrRules;
use crate::hosts::{Scheduler, UsageDetail};
use crate::pictures::{Curves, Quantity};
use crate::tables::SummaryDocument;
use crate::time::Duration;
use serde_json::{Value, json};

fn builtin(name: &str) -> ApplicationSet {
    let text = ApplicationSet::builtin_json(name).expect("it is built in");
    ApplicationSet::from_json(name, text, None).expect("it is sound")
}

fn thirteen() -> ApplicationSet {
    builtin("rodinia-like-k20m")
}

#[test]
fn curves_have_a_point_for_every_scheduler_and_number_and_say_synthetic() {
    let options = SweepOptions { samples: 3, ..SweepOptions::default() };
    let points = random_injection(&thirteen(), &[1, 2], Duration::from_ns(500_000_000), &options).expect("it runs");
    assert_eq!(points.len(), 8);
    for point in &points {
        assert!(point.met.mean <= f64::from(point.applications) && point.samples == 3 && point.synthetic);
    }
    assert_eq!(ratios(&points, "gpu-evr").len(), 6);
    let curves = Curves { title: "Figure 3", x_title: "applications", quantity: Quantity::Met, points: &points };
    let svg = curves.draw().expect("it can be drawn").to_svg();
    assert!(svg.contains("SYNTHETIC") && svg.contains("global-edf"));

    let points = per_period(&thirteen(), &[1], Duration::from_ns(1_000_000_000), 2, &options).expect("it runs");
    assert!(points.iter().all(|point| point.met.most <= 1.0));
}

#[test]
fn a_variation_with_more_launches_than_can_be_counted_is_refused() {
    let mut set = thirteen();
    set.applications[0].kernels[0].launches = u32::MAX;
    let variation = Variation { narrow: 2, ..Variation::default() };
    assert_eq!(variation.apply(&set, Duration::ZERO).err(), Some(ApplicationError::TooManyLaunches));
}

/// Figure 6 with applications that fill 4 of 13 SMs and must end within twice their execution time. Three fit at a
/// time, as 13 / 4 is 3, and none waits for another; one at a time, at most two of those that come together can meet
/// it.
#[test]
#[ignore = "long work without optimisation; .ci/run has it"]
fn long_work_figure_6_has_the_shape_that_the_paper_describes_where_applications_are_narrow_and_requirements_tight() {
    let narrow = builtin("narrow-k20m");
    let options = SweepOptions { samples: 20, ..SweepOptions::default() };
    let counts = [1, 2, 3, 4, 5, 6, 7, 15];
    let points = per_period(&narrow, &counts, Duration::from_ns(130_000_000), 10, &options).expect("it runs");
    let met = |scheduler: Scheduler, count: u32| {
        let point = points.iter().find(|point| (&*point.scheduler, point.applications) == (scheduler.name(), count));
        point.expect("it was computed").met.mean
    };
    for count in 1..=3 {
        assert!(met(Scheduler::GpuEvr, count) > 0.95 * f64::from(count), "nearly all, up to three per period");
    }
    for count in 4..=7 {
        for baseline in [Scheduler::TimeGraph, Scheduler::GlobalEdf] {
            assert!(met(Scheduler::GpuEvr, count) > 2.0 * met(baseline, count), "{baseline} at {count}");
        }
    }
    assert!(met(Scheduler::GpuEvr, 15) < 1.0, "congestion");
    // The hardware alone does as well up to four per period, and not beyond.
    for count in 1..=4 {
        assert!(met(Scheduler::PlainStreams, count) >= met(Scheduler::GpuEvr, count));
    }
    for count in 5..=7 {
        assert!(met(Scheduler::GpuEvr, count) > 2.0 * met(Scheduler::PlainStreams, count));
    }
}

/// The map of regions at four of its 336 places, from the study that draws it. A sample depends on the seed, the
/// point's parameters and its number only, so a smaller grid has the same rows.
#[test]
fn committed_rows_of_the_map_of_regions_come_out_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
    let mut file: Value = serde_json::from_str(&read("studies/gpu-evr-regions.json")).expect("it is JSON");
    file["grid"]["per_period"] = json!([1, 3]);
    file["grid"]["saturation_sms"] = json!([4, 13]);
    file["grid"]["tightness_percent"] = json!([130]);
    let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let study = Study::from_json("gpu-evr-regions.json", &file.to_string(), &no_file).expect("it is sound");
    let summary = StudySummary::compute(&study).expect("it runs");
    let committed = read("output/gpu-evr2014-regions.csv");
    let here = csv_of(&SummaryDocument { study: &study, summary: &summary });
    assert_eq!(here.lines().count(), 1 + 2 * 2 * 4);
    for row in here.lines() {
        assert!(committed.lines().any(|line| line == row), "{row}");
    }
}

const GAP: Duration = Duration::from_ns(500_000_000);
/// For comparisons in which every scheduler and rule sees the same injections.
const FEWER_SAMPLES: u32 = 50;
const MEAN_GAP: Duration = Duration::from_ns(250_000_000);

fn factor(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// On what the ratios depend: parallelism of the applications and load of the GPU.
#[test]
#[ignore = "a campaign of minutes"]
fn campaign_parallelism_and_load() {
    let set = thirteen();
    let options = SweepOptions { samples: FEWER_SAMPLES, ..SweepOptions::default() };
    println!(
        "| narrow | load | met: EvR, TG, EDF, plain | /TG | /EDF | /plain | violation /TG | /EDF | power per app /TG | board /TG | energy /TG |"
    );
    for narrow in [1, 8, 32] {
        for load_percent in [50, 100, 200, 400, 800] {
            let variation = Variation { narrow, load_percent: Some(load_percent), ..Variation::default() };
            let changed = variation.apply(&set, MEAN_GAP).expect("short enough");
            let points = random_injection(&changed, &[50], GAP, &options).expect("it runs");
            let found = ratios(&points, "gpu-evr");
            let met: Vec<String> = points.iter().map(|point| format!("{:.1}", point.met.mean)).collect();
            println!(
                "| {narrow} | {load_percent} % | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                met.join(", "),
                factor(found[0].met),
                factor(found[1].met),
                factor(found[2].met),
                factor(found[0].violation),
                factor(found[1].violation),
                factor(found[0].application_power),
                factor(found[0].mean_power),
                factor(found[0].energy),
            );
        }
    }
}

/// Of 200 draws of 50 applications.
fn outcomes_under_gpu_evr(set: &ApplicationSet, rules: EvrRules) -> Vec<Outcome> {
    let injections = Injections::Random { count: 50, gap: GAP };
    let outcome = |sample| {
        let mut own = set.clone();
        own.injections = injections.draw(set, 0, sample).expect("there are applications");
        let usage = Scheduler::GpuEvr.usage(&own, rules, UsageDetail::Totals).expect("it runs");
        Outcome::of_usage(&own, "gpu-evr", usage)
    };
    (0..200).map(outcome).collect()
}

/// What each decision that the paper leaves open changes.
#[test]
#[ignore = "a campaign of minutes"]
fn campaign_rules() {
    let mut rows = vec![("(default)".to_owned(), EvrRules::default())];
    rows.extend(EvrRules::default().alternatives());
    println!("| rule | load | narrow | met of 50 | +- | high, medium, low met | violation [s] | utilization |");
    for (load_percent, narrow) in [(100, 1), (200, 1), (800, 32)] {
        let variation = Variation { narrow, load_percent: Some(load_percent), ..Variation::default() };
        let set = variation.apply(&thirteen(), MEAN_GAP).expect("short enough");
        for (name, rules) in &rows {
            let outcomes = outcomes_under_gpu_evr(&set, *rules);
            let point = SweepPoint::of("gpu-evr".to_owned(), true, 50, 1, &outcomes);
            let by_class: Vec<String> = Class::ALL
                .iter()
                .map(|&class| {
                    let own = || outcomes.iter().flat_map(|o| &o.outcomes).filter(|one| one.class == class);
                    format!("{:.0} %", 100.0 * own().filter(|one| one.met).count() as f64 / own().count() as f64)
                })
                .collect();
            println!(
                "| {name} | {load_percent} % | {narrow} | {:.2} | {:.2} | {} | {:.2} | {:.1} % |",
                point.met.mean,
                point.met.deviation,
                by_class.join(", "),
                point.violation_s.mean,
                100.0 * point.utilization.mean,
            );
        }
    }
}
