//! Figures that the command draws of two runs or of logs, and the heights that it is given.

use std::fs;

use crate::common::{self, gpusched};
use crate::figure_command::directory;
use crate::figure_samples::log;
use crate::svg_checks::{checked, explained, height_mm};

#[test]
fn found_1_blocks_on_sms_that_the_gpu_lacks_are_counted_in_the_picture() {
    let directory = directory("figure-found-1");
    fs::write(directory.join("a.json"), log(&[0, 1, 7])).expect("it can be written");
    let figure = directory.join("a.svg").display().to_string();
    let file = directory.join("a.json").display().to_string();
    let output = gpusched(&["replay-log", &file, "--device", "tx2", "--figure", &figure]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let texts = checked(&fs::read_to_string(figure).expect("it was written"), "unknown SMs");
    assert!(texts.iter().any(|text| text.text == "not drawn: 1 measured blocks on SMs that tx2 lacks"), "{texts:?}");
}

#[test]
fn found_2_the_measured_panel_has_the_logs_launches_and_the_simulated_one_its_copies() {
    let directory = directory("figure-found-2");
    let figure = directory.join("a.svg").display().to_string();
    let output = gpusched(&["replay-log", "tests/data/logs/two-streams", "--figure", &figure]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(figure).expect("it was written");
    checked(&svg, "two streams");
    let told: Vec<String> = explained(&svg).into_iter().map(|(told, _)| told).collect();
    // The launch calls of One and Two returned at 5.00005 s and 5.50004 s; nobody measured what held them.
    let k2: Vec<&String> = told.iter().filter(|told| told.starts_with("K2, block 0")).collect();
    assert_eq!(k2[0], "K2, block 0 of 2, SM 0\nfrom 1.000014 s to 1.500019 s\nlaunched at 499.99 ms");
    assert!(k2[1].contains("waited"), "{}", k2[1]);
    // The copy before K2 is in no log; the simulation has it.
    let copies = told.iter().filter(|told| told.starts_with("copy of 100000000 bytes"));
    assert_eq!(copies.count(), 1);
}

#[test]
fn found_7_arrivals_and_due_times_of_gpu_evr_figure_1_have_a_key() {
    let directory = directory("figure-found-7");
    let figure = directory.join("a.svg").display().to_string();
    assert!(gpusched(&["evr", "gpu-evr-figure-1", "--figure", &figure]).status.success());
    let texts = checked(&fs::read_to_string(figure).expect("it was written"), "Fig. 1");
    for words in ["arrives", "due, and done by then"] {
        assert!(texts.iter().any(|text| text.text == words), "{words}");
    }
}

#[test]
fn a_profile_is_drawn_as_recorded_above_as_simulated_with_short_names_in_one_colour() {
    let directory = directory("figure-profile");
    let figure = directory.join("a.svg").display().to_string();
    let output = gpusched(&["replay-log", "scenarios/profiles/synthetic.json", "--figure", &figure]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(figure).expect("it was written");
    let texts = checked(&svg, "a profile");
    for words in ["recorded: synthetic", "simulated"] {
        assert!(texts.iter().any(|text| text.text == words), "{words}: {texts:?}");
    }
    assert!(!texts.iter().any(|text| text.text.contains('<') || text.text.contains("::")), "{texts:?}");
    assert!(height_mm(&svg) <= 220.0);
}

#[test]
fn two_runs_in_one_figure_are_refused_with_the_least_height_that_works() {
    let file = common::directory("height-limit-of-two").join("a.svg").display().to_string();
    let compare = |millimetres: &str| {
        let scenario = "scenarios/rtss2017/figure-8.json";
        gpusched(&["compare", scenario, "--waits", "--figure", &file, "--height-limit", millimetres])
    };
    let told = common::stderr(&compare("20"));
    let least = told.split("it needs ").nth(1).and_then(|rest| rest.split(" mm").next()).expect("it says how much");
    assert!(compare(least).status.success(), "{least}");
    let less = least.parse::<u32>().expect("a number") - 1;
    assert_eq!(compare(&less.to_string()).status.code(), Some(2));
}

#[test]
fn full_height_says_when_it_changes_nothing() {
    let file = common::directory("full-height").join("a.svg").display().to_string();
    let output = gpusched(&["simulate", "scenarios/rtss2017/figure-3.json", "--figure", &file, "--full-height"]);
    assert!(
        output.status.success() && common::stderr(&output).contains("--full-height has no effect"),
        "{}",
        common::stderr(&output)
    );
}

#[test]
fn a_height_that_is_too_low_is_refused_with_what_it_may_be() {
    let output = gpusched(&[
        "simulate",
        "scenarios/rtss2017/figure-3.json",
        "--figure",
        &common::directory("height-limit").join("a.svg").display().to_string(),
        "--height-limit",
        "20",
    ]);
    let told = common::stderr(&output);
    assert!(
        output.status.code() == Some(2) && told.contains("may be 20.00 mm high") && output.stdout.is_empty(),
        "{told}"
    );
}
