//! Studies of the command `simulate`.

use std::fs;

use super::*;
use crate::common::document;

/// The camera's second job meets the lidar's: it waits for it from 22 to 27 ms. Each on an SM of its own, both take
/// twice as long, and the camera waits all the same: the lidar's second pair of blocks heads the EE queue until 27 ms
/// (X1).
const WHAT_IF: &str = r#"{"format": "gpusched-study/1", "name": "what if", "command": "simulate", "seed": 0, "samples": 1,
    "parameters": {"scenario": "scenario.json"},
    "grid": {"sm_mask": [{}, {"camera": "0x1", "lidar": "0x2"}], "responses_of": ["camera", "lidar"]}}"#;

fn scenario() -> String {
    let file = crate::published::root().join("deadlines/camera-and-lidar.json");
    fs::read_to_string(file).expect("it is shipped")
}

pub(super) fn with_scenario(test: &str, study: &str) -> (PathBuf, String) {
    let (directory, file) = with_study(test, study);
    fs::write(directory.join("scenario.json"), scenario()).expect("it can be written");
    (directory, file)
}

pub(super) fn refused_study(text: &str) -> String {
    let read = |name: &str| match name {
        "scenario.json" => Ok(scenario().into_bytes()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    Study::from_json("study.json", text, &read).expect_err("it is refused").to_string()
}

#[test]
fn a_grid_of_masks_gives_the_responses_and_misses_that_were_worked_out_by_hand() {
    let (_, file) = with_scenario("simulate", WHAT_IF);
    done(&["study", "run", &file]);
    let summary = document(&gpusched(&["study", "plot", &file, "--format", "json"]));
    let value = |point: usize, name: &str| summary["points"][point]["measures"][name]["value"].as_f64();
    // Camera together: 2 + 5 + 1 ms, then 2 + 5 (lidar) + 5 + 1 ms against a deadline of 10 ms.
    assert_eq!(value(0, "missed"), Some(0.5));
    assert_eq!((value(0, "response_median_s"), value(0, "response_max_s")), (Some(0.008), Some(0.013)));
    // The makespan is the whole run's: 20 + 13 ms.
    assert_eq!((value(0, "makespan_s"), value(1, "makespan_s")), (Some(0.033), Some(0.033)));
    // Lidar together: 1 + 8 ms.
    assert_eq!((value(1, "missed"), value(1, "response_max_s")), (Some(0.0), Some(0.009)));
    // Apart: 2 + 5 (X1) + 2 * 5 + 1 ms, and 1 + 2 * 8 ms.
    assert_eq!((value(2, "missed"), value(2, "response_max_s")), (Some(1.0), Some(0.018)));
    assert_eq!((value(3, "missed"), value(3, "response_max_s")), (Some(0.0), Some(0.017)));
    // All operations of a job are launched at its release, so that the kernel's time is the job's.
    assert_eq!(value(3, "kernel_response_max_s"), Some(0.017));
}

#[test]
fn a_sample_is_the_run_that_simulate_makes_with_the_seed_plus_its_number() {
    let study = r#"{"format": "gpusched-study/1", "name": "drawn", "command": "simulate", "seed": 40, "samples": 3,
        "parameters": {"scenario": "scenario.json", "vary": "10..100"}}"#;
    let (directory, file) = with_scenario("simulate-drawn", study);
    done(&["study", "run", &file]);
    let rows = fs::read_to_string(directory.join("study.results/rows.csv")).expect("it was written");
    let scenario = directory.join("scenario.json").display().to_string();
    let mut makespans = Vec::new();
    for (row, seed) in rows.lines().skip(2).zip(["40", "41", "42"]) {
        let run = gpusched(&["simulate", &scenario, "--vary", "10..100", "--seed", seed, "--format", "json"]);
        let makespan = document(&run)["makespan_ns"].as_u64().expect("all is done").to_string();
        // After point, first sample, samples and four counts.
        assert_eq!(row.split(',').nth(7), Some(makespan.as_str()), "{row}");
        makespans.push(makespan);
    }
    makespans.dedup();
    assert_eq!(makespans.len(), 3, "the samples differ");
}

#[test]
fn a_profile_is_simulated_as_well() {
    let study = r#"{"format": "gpusched-study/1", "name": "profile", "command": "simulate", "seed": 0, "samples": 1,
        "parameters": {"scenario": "synthetic.json"},
        "grid": {"launches": ["host", "recorded"], "set_priority": [{"stream 20": -1}, {}]}}"#;
    let (directory, file) = with_study("simulate-profile", study);
    let profile = crate::published::root().join("profiles/synthetic.json");
    fs::copy(profile, directory.join("synthetic.json")).expect("it can be copied");
    done(&["study", "run", &file]);
    let summary = document(&gpusched(&["study", "plot", &file, "--format", "json"]));
    let profile = directory.join("synthetic.json").display().to_string();
    let run = gpusched(&[
        "simulate",
        &profile,
        "--launches",
        "recorded",
        "--set-priority",
        "stream 20=-1",
        "--format",
        "json",
    ]);
    let makespan = document(&run)["makespan_ns"].as_f64().map(|ns| ns / 1e9);
    assert_eq!(summary["points"][2]["measures"]["makespan_s"]["value"].as_f64(), makespan);
}

/// With one channel for both streams, the order says who is next.
#[test]
fn the_order_of_channels_and_the_block_times_of_another_profile_are_those_of_the_options() {
    let study = r#"{"format": "gpusched-study/1", "name": "profile", "command": "simulate", "seed": 3, "samples": 1,
        "parameters": {"scenario": "synthetic.json", "connections": 1, "block_times": "alone.json"},
        "grid": {"channel_order": ["fifo", "lifo", "random"]}}"#;
    let (directory, file) = with_study("simulate-options", study);
    let profile = fs::read_to_string(crate::published::root().join("profiles/synthetic.json")).expect("it is shipped");
    fs::write(directory.join("synthetic.json"), &profile).expect("it can be written");
    // Its kernels that ran alone took 48, 91.5 and 16 or 16.5 us.
    let alone = profile.replace("\"dur\": 91.5", "\"dur\": 81.5");
    assert_ne!(alone, profile);
    fs::write(directory.join("alone.json"), alone).expect("it can be written");
    done(&["study", "run", &file]);
    let summary = document(&gpusched(&["study", "plot", &file, "--format", "json"]));
    let named = |name: &str| directory.join(name).display().to_string();
    let (profile, alone) = (named("synthetic.json"), named("alone.json"));
    let makespan = |more: &[&str]| {
        let fixed = ["simulate", &profile, "--connections", "1", "--seed", "3", "--format", "json"];
        document(&gpusched(&[&fixed, more].concat()))["makespan_ns"].as_f64().map(|ns| ns / 1e9)
    };
    for (point, order) in ["fifo", "lifo", "random"].into_iter().enumerate() {
        let of_study = summary["points"][point]["measures"]["makespan_s"]["value"].as_f64();
        assert_eq!(of_study, makespan(&["--channel-order", order, "--block-times", &alone]), "{order}");
        assert_ne!(of_study, makespan(&["--channel-order", order]), "the block times matter");
    }
}

#[test]
fn mistakes_in_a_study_of_a_scenario_are_named() {
    for (old, new, message) in [
        ("\"scenario\": \"scenario.json\"", "", "no scenario is stated"),
        ("scenario.json", "other.json", "cannot read other.json"),
        ("\"samples\": 1", "\"samples\": 2", "nothing is drawn"),
        ("\"0x2\"", "\"0x3\"", "point 2: \"sm_mask\""),
        ("\"0x2\"", "7", "grid.sm_mask[1].lidar"),
        ("[\"camera\", \"lidar\"]", "[\"radar\"]", "no stream or host is called \"radar\"; there are camera, lidar"),
        ("\"lidar\": \"0x2\"", "\"camera\": \"0x2\"", "\"camera\" stands twice"),
        ("\"lidar\": \"0x2\"", "\"radar\": \"0x2\"", "no stream is called \"radar\""),
        ("\"sm_mask\": [{}, ", "\"set_priority\": [{\"camera\": 1}], \"sm_mask\": [{}, ", "at most 0"),
        ("\"sm_mask\": [{}, ", "\"vary\": [\"100..80\"], \"sm_mask\": [{}, ", "the first not above the second"),
        ("\"sm_mask\": [{}, ", "\"colour\": [1], \"sm_mask\": [{}, ", "unknown key \"colour\""),
        (
            "\"sm_mask\": [{}, ",
            "\"channel_order\": [\"first\"], \"sm_mask\": [{}, ",
            "one of submission, fifo, lifo, random",
        ),
        ("\"sm_mask\": [{}, ", "\"block_times\": [\"scenario.json\"], \"sm_mask\": [{}, ", "is no profile"),
        ("\"sm_mask\": [{}, ", "\"block_times\": [\"none.json\"], \"sm_mask\": [{}, ", "cannot read none.json"),
        ("\"sm_mask\": [{}, ", "\"period\": [{\"camera\": \"0 s\"}], \"sm_mask\": [{}, ", "a time above zero"),
    ] {
        assert!(WHAT_IF.contains(old), "{old}");
        let error = refused_study(&WHAT_IF.replace(old, new));
        assert!(error.contains(message), "{new}: {error}");
    }
}

#[test]
fn block_times_and_deadlines_of_a_study_are_those_of_the_options() {
    let study = r#"{"format": "gpusched-study/1", "name": "set", "command": "simulate", "seed": 0, "samples": 1,
        "parameters": {"scenario": "scenario.json", "responses_of": "camera"},
        "grid": {"set_block_time": [{}, {"register": "2 ms"}], "deadline": [{}, {"camera": "7 ms"}, {"camera": "none"}]}}"#;
    let (_, file) = with_scenario("simulate-set", study);
    done(&["study", "run", &file]);
    let summary = document(&gpusched(&["study", "plot", &file, "--format", "json"]));
    let value = |point: usize, name: &str| summary["points"][point]["measures"][name]["value"].as_f64();
    // As in the file: 8 and 13 ms against 10 ms, against 7 ms, and without a deadline.
    assert_eq!([0, 1, 2].map(|point| value(point, "missed")), [Some(0.5), Some(1.0), None]);
    // The lidar is done at 21 ms, before the camera's second kernel comes at 22 ms: both jobs take 8 ms.
    assert_eq!([3, 4, 5].map(|point| value(point, "missed")), [Some(0.0), Some(1.0), None]);
    assert_eq!([2, 5].map(|point| value(point, "response_max_s")), [Some(0.013), Some(0.008)]);
}
