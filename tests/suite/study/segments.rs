//! Studies of tasks with CPU and GPU segments.

use std::collections::BTreeSet;

use gpusched::experiments::study::{Shard, StudySummary};
use gpusched::tasks::segments::SegmentGenerator;
use serde_json::Value;

use super::*;
use crate::common::document;

/// Points of Fig. 8 (b) of ECRTS 2024.
const CURVE: &str = r#"{"format": "gpusched-study/1", "name": "curve", "command": "tasks segments", "seed": 3, "samples": 12,
    "parameters": {"tests": ["round-robin-suspend", "gcaps-busy-as-printed"]},
    "grid": {"utilization_permille": [100, 300]}}"#;

/// The value of a measure at a point.
fn value(summary: &StudySummary, point: usize, name: &str) -> Option<f64> {
    summary.points[point].measures.iter().find(|(known, _)| *known == name).and_then(|(_, measure)| measure.value())
}

#[test]
fn a_study_of_segment_tests_finds_what_the_command_finds() {
    let summary = StudySummary::compute(&study(CURVE)).expect("it is computed");
    let curve = ["tasks", "curve", "--segments", "utilization", "--samples", "12", "--seed", "3"];
    let tests = ["--tests", "round-robin-suspend,gcaps-busy-as-printed"];
    let output = gpusched(&[&curve[..], &tests].concat());
    let text = String::from_utf8(output.stdout).expect("it is text");
    for (point, utilization) in ["0.1", "0.3"].into_iter().enumerate() {
        let line = text.lines().find(|line| line.starts_with(&format!("{utilization},"))).expect("the point is there");
        let counts: Vec<f64> = line.split(',').skip(2).map(|count| count.parse().expect("a number")).collect();
        let shares = ["round-robin-suspend", "gcaps-busy-as-printed"].map(|test| value(&summary, point, test));
        assert_eq!(shares.to_vec(), counts.iter().map(|count| Some(count / 12.0)).collect::<Vec<_>>(), "{line}");
        assert_eq!(value(&summary, point, "mpcp-busy"), None, "it was not asked for");
    }
}

/// What its authors published has `L = 1` \[ms\] in `analysis/default_driver.py`, the paper 1024 us (section 7.1).
#[test]
fn presets_are_the_paper_and_what_its_authors_published() {
    let of = |parameters: &str| {
        let text = CURVE.replace("{\"tests\"", &format!("{{{parameters}, \"tests\""));
        rows(&study(&text), Shard::WHOLE)
    };
    let plain = rows(&study(CURVE), Shard::WHOLE);
    assert_eq!(plain, of("\"preset\": \"ecrts2024-paper\""));
    let artefact = of("\"preset\": \"ecrts2024-artefact\"");
    assert_ne!(plain, artefact);
    assert_eq!(artefact, of("\"sets\": \"published\", \"time_slice\": \"1 ms\""));
    // What is stated wins, wherever it stands.
    assert_eq!(plain, of("\"sets\": \"printed\", \"preset\": \"ecrts2024-artefact\", \"time_slice\": \"1024 us\""));
}

#[test]
fn harmonic_periods_are_the_shortest_and_its_doubles() {
    let mut generator = SegmentGenerator::ecrts_2024();
    generator.harmonic_periods = true;
    let sets = (0..50).map(|index| generator.sample(3, index));
    let periods: BTreeSet<u64> = sets.flat_map(|set| set.tasks).map(|task| task.period.as_ns() / 1_000_000).collect();
    assert_eq!(periods, BTreeSet::from([30, 60, 120, 240, 480]), "from 30 to 500 ms");
    let harmonic = CURVE.replace("{\"tests\"", "{\"periods_are\": \"harmonic\", \"tests\"");
    assert_ne!(rows(&study(CURVE), Shard::WHOLE), rows(&study(&harmonic), Shard::WHOLE));
}

#[test]
fn runs_stand_beside_tests_and_exceed_no_bound() {
    let text = CURVE.replace("{\"tests\": [", "{\"simulated_runs\": 3, \"period_ms\": [30, 60], \"tests\": [");
    let summary = StudySummary::compute(&study(&text)).expect("no run exceeds a bound");
    for point in 0..2 {
        let of = |name: &str| value(&summary, point, name).expect("it was asked for");
        // What is proven misses nothing in any run, and what misses in a run is not proven.
        assert!(of("round-robin-suspend") <= of("round-robin-suspend_no_miss"));
        assert!(of("round-robin-suspend_no_miss") <= of("necessary-suspend"));
        assert!((0.0..=1.0).contains(&of("round-robin-suspend_found_over_bound")));
        // Runs of a test as printed are those of the sound one.
        assert!(value(&summary, point, "gcaps-busy_no_miss").is_some());
        assert_eq!(value(&summary, point, "gcaps-suspend_no_miss"), None);
    }
}

#[test]
fn every_share_has_an_interval_over_the_sets() {
    let (_, file) = with_study("segments", CURVE);
    done(&["study", "run", &file]);
    let summary: Value = document(&gpusched(&["study", "plot", &file, "--format", "json"]));
    for name in ["round-robin-suspend", "gcaps-busy-as-printed_weighted", "necessary-busy"] {
        let measure = &summary["points"][0]["measures"][name];
        assert_eq!(measure["runs"], 12, "{name}: {measure}");
        assert!(measure["low"].is_number() && measure["high"].is_number(), "{name}: {measure}");
    }
}

#[test]
fn mistakes_in_a_study_of_segments_are_named() {
    for (new, message) in [
        ("\"preset\": \"ecrts2025\", ", "one of ecrts2024-paper, ecrts2024-artefact"),
        ("\"switch_cost\": \"2 ms\", ", "a switch costs at most a time slice"),
        ("\"tasks\": 4, ", "\"utilization_permille\" has no effect where \"tasks\" is stated"),
        ("\"cpus\": 0, ", "a whole number from 1 to 1024"),
        ("\"gpu_segments\": [3, 1], ", "a number, or a list of the least and the most"),
        ("\"epsilon\": 1, ", "unknown key \"epsilon\""),
        ("\"samples_per_row\": 100, ", ""),
    ] {
        let text = CURVE.replace("{\"tests\"", &format!("{{{new}\"tests\""));
        let read = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let error = Study::from_json("study.json", &text, &read).expect_err("it is refused").to_string();
        assert!(error.contains(message), "{new}: {error}");
    }
}
