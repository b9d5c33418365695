//! `gpusched evr` as its user meets it.

use std::process::Output;

use serde_json::Value;

use crate::common::{directory, gpusched};

fn evr(arguments: &[&str]) -> Output {
    gpusched(&[&["evr"], arguments].concat())
}

fn stdout(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn json_has_the_totals_of_every_scheduler_and_every_application() {
    let text = stdout(&evr(&["gpu-evr-figure-1", "--format", "json"]));
    let document: Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(document["synthetic"], true);
    let schedulers = document["schedulers"].as_array().expect("a list");
    assert_eq!(schedulers.len(), 4);
    let evr = &schedulers[0];
    assert_eq!((&evr["scheduler"], &evr["met"], &evr["applications"]), (&"gpu-evr".into(), &2.into(), &2.into()));
    assert_eq!((&evr["total_violation_ns"], &evr["utilization"]), (&0.into(), &0.96875.into()));
    // 50 W and 13.46 W for each of the 3.875 SMs that are busy on average.
    let power = evr["mean_power_w"].as_f64().expect("a number");
    assert!((power - (50.0 + 175.0 / 13.0 * 3.875)).abs() < 1e-9);
    assert_eq!(evr["outcomes"][1]["class"], "high");
    assert_eq!(evr["sms_over_time"][1][1]["at_ns"], 10_000_000);
    assert_eq!(evr["sms_over_time"][1][1]["sms"], 3);
    assert_eq!(schedulers[1]["total_violation_ns"], 19_000_000);
}

#[test]
fn samples_give_the_same_bytes_on_any_number_of_threads() {
    let base = ["rodinia-like-k20m", "--inject", "4", "--samples", "3", "--seed", "9", "--format", "csv", "--jobs"];
    let with = |jobs| stdout(&evr(&[&base[..], &[jobs]].concat()));
    let one = with("1");
    assert_eq!(one, with("2"));
    assert_eq!(one.lines().count(), 5);
    assert!(one.lines().skip(1).all(|line| line.contains(",SYNTHETIC,4,3,")), "{one}");
}

#[test]
fn the_figure_shows_rows_for_applications_and_sms_and_says_synthetic() {
    let path = directory("evr").join("figure-1.svg");
    let _ = std::fs::remove_file(&path);
    stdout(&evr(&["gpu-evr-figure-1", "--scheduler", "gpu-evr", "--figure", &path.display().to_string()]));
    let svg = std::fs::read_to_string(&path).expect("it was written");
    for words in [
        "SYNTHETIC",
        "2 of 2 requirements met under gpu-evr",
        "A #0 (medium)",
        "SM 3",
        "B #1: 3 SMs from 10 ms to 19 ms",
    ] {
        assert!(svg.contains(words), "{words} is not in the figure");
    }
}

#[test]
fn what_cannot_be_run_ends_with_exit_status_2_and_prints_nothing() {
    for (arguments, words) in [
        (vec!["gpu-evr-figure-1", "--rule", "keep=two"], "none of the rule's values one, none"),
        (vec!["gpu-evr-figure-1", "--rule", "keep"], "expected RULE=VALUE"),
        (vec!["gpu-evr-figure-1", "--rule", "keep=one", "--rule", "keep=none"], "--rule is given twice for \"keep\""),
        (vec!["gpu-evr-figure-1", "--samples", "2"], "states arrivals"),
        (vec!["rodinia-like-k20m", "--device", "xavier"], "2 SMs per TPC"),
        (vec!["rodinia-like-k20m", "--inject", "2000000"], "more than 1000000 injections"),
        (vec!["no-such-set"], "cannot open no-such-set"),
    ] {
        let output = evr(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}
