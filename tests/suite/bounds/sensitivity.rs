//! By which factor times may grow, or have to shrink: by hand, and of random streams beside analyses of scenarios whose
//! times are multiplied here.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gpusched::effort::{Effort, Limits};
use proptest::prelude::*;
use serde_json::Value;

use super::slack::{found, proven, scenario_of, streams};
use super::*;
use crate::campaign::config;

/// One row: `kernel K`, how it changes, its factor in thousandths, whether it is the largest, and verdicts.
type Row = (String, String, Option<u64>, bool, String);

fn rows(scenario: &Scenario) -> Vec<Row> {
    let json = found(scenario, &|report| report.find_sensitivity(None, Progress::NONE));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let factor = row["factor"].as_f64().map(|factor| format!("{:.0}", factor * 1_000.0));
        (
            format!("{} {}", text(&row["what"]), text(&row["name"])),
            text(&row["change"]),
            factor.map(|factor| factor.parse().expect("it is a number")),
            row["is_largest"].as_bool().expect("it is told"),
            text(&row["verdicts"]),
        )
    };
    json["sensitivity"].as_array().expect("it is asked for").iter().map(row).collect()
}

fn longer(what: &str, factor: u64, breaks: &str) -> Row {
    (what.to_owned(), "longer".to_owned(), Some(factor), factor == 8_000, breaks.to_owned())
}

fn shorter(what: &str, factor: Option<u64>, of: &str) -> Row {
    (what.to_owned(), "shorter".to_owned(), factor, false, of.to_owned())
}

/// 4 ms of 10 ms, every 10 ms.
#[test]
fn a_kernel_alone_grows_up_to_its_deadline() {
    let stream = r#"{"name": "S", "period": "10 ms", "jobs": 2, "deadline": "10 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(r#""K": {"blocks": 4, "threads": 1024, "duration": "4 ms"}"#, stream, &tx2());
    let same = ["kernel K", "task S", "all streams and hosts"];
    assert_eq!(rows(&scenario), same.map(|what| longer(what, 2_500, "deadline of S")));
}

/// 2 ms and then 4 ms of 10 ms: 6 + 4, 2 + 8, and 9.996 ms of both.
#[test]
fn kernels_of_a_stream_grow_each_by_what_the_other_leaves() {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "2 ms"},
        "B": {"blocks": 4, "threads": 1024, "duration": "4 ms"}"#;
    let stream = r#"{"name": "S", "deadline": "10 ms", "operations": [{"kernel": "A"}, {"kernel": "B"}]}"#;
    let expected = [("task S", 1_666), ("all streams and hosts", 1_666), ("kernel B", 2_000), ("kernel A", 3_000)];
    let expected = expected.map(|(what, factor)| longer(what, factor, "deadline of S"));
    assert_eq!(rows(&scenario(kernels, stream, &tx2())), expected);
}

/// As much for either of two streams that launch the same kernel, one after the other: 4 + 4 ms of 12 ms.
#[test]
fn a_kernel_grows_wherever_it_is_launched() {
    let streams = r#"{"name": "A", "operations": [{"kernel": "K"}]},
        {"name": "B", "deadline": "12 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(r#""K": {"blocks": 4, "threads": 1024, "duration": "4 ms"}"#, streams, &tx2());
    let expected = [("kernel K", 1_500), ("all streams and hosts", 1_500), ("task A", 2_000), ("task B", 2_000)];
    assert_eq!(rows(&scenario), expected.map(|(what, factor)| longer(what, factor, "deadline of B")));
}

/// What vision reads at 45 ms is read by the brake at 60 ms if vision takes 15 ms, in which it copies for 2 ms,
/// computes for 5 ms and copies for 1 ms; 10 ms later beyond, and what it does at 71 ms is 61 ms old. Eight times the
/// 1 ms is just as much. The job that is released at 125 ms has 5 ms until the horizon, of which its copies leave 2 ms.
#[test]
fn chains_break_first_where_they_leave_less_than_deadlines() {
    let text = std::fs::read_to_string("scenarios/deadlines/camera-to-brake.json").expect("it is there");
    let text = text.replace(r#""horizon": "80 ms""#, r#""horizon": "130 ms""#);
    let text = text.replace(r#""reaction_time": "80 ms""#, r#""reaction_time": "65 ms""#);
    let scenario = Scenario::from_json("chain.json", &text, &ReadOptions::default()).expect("it is sound");
    let (first, cut) = ("reaction time of camera to brake; data age of camera to brake", "deadline of vision");
    let expected = [
        longer("task vision", 1_875, first),
        longer("all streams and hosts", 1_875, first),
        longer("kernel detect", 2_400, first),
        longer("copies host-to-device of vision", 4_500, first),
        longer("copies device-to-host of vision", 8_000, ""),
        shorter("task vision", Some(625), cut),
        shorter("all streams and hosts", Some(625), cut),
        shorter("kernel detect", Some(400), cut),
        shorter("copies host-to-device of vision", None, cut),
        shorter("copies device-to-host of vision", None, cut),
    ];
    assert_eq!(rows(&scenario), expected);
}

/// 1 ms and 2 ms of CPU work around 4 ms on the GPU, of 13 ms: 9 ms of work, and 10 ms on the GPU.
#[test]
fn cpu_work_of_a_host_grows_as_one() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "host", "device": "tx2", "horizon": "100 ms",
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
        "streams": [{"name": "S"}],
        "hosts": [{"name": "H", "core": 0, "period": "50 ms", "iterations": 2, "deadline": "13 ms", "steps": [
            {"work": "1 ms"}, {"launch": "K", "stream": "S"}, {"synchronize": "S"}, {"work": "2 ms"}]}]}"#;
    let scenario = Scenario::from_json("host.json", text, &ReadOptions::default()).expect("it is sound");
    let expected = [("task H", 1_857), ("all streams and hosts", 1_857), ("kernel K", 2_500), ("CPU work H", 3_000)];
    assert_eq!(rows(&scenario), expected.map(|(what, factor)| longer(what, factor, "deadline of H")));
}

/// 8 ms and 4 ms that are due in 10 ms, and in another stream, released when they are done, 1 ms that is due after
/// 500 us.
#[test]
fn what_is_not_proven_is_with_shorter_times_if_with_any() {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "8 ms"},
        "B": {"blocks": 4, "threads": 1024, "duration": "4 ms"},
        "C": {"blocks": 4, "threads": 1024, "duration": "1 ms"}"#;
    let streams = r#"{"name": "S", "deadline": "10 ms", "operations": [{"kernel": "A"}, {"kernel": "B"}]},
        {"name": "T", "release": "20 ms", "deadline": "500 us", "operations": [{"kernel": "C"}]}"#;
    let (late, later) = ("deadline of S", "deadline of T");
    let expected = [
        shorter("task S", Some(833), late),
        shorter("all streams and hosts", Some(833), late),
        shorter("kernel A", Some(750), late),
        shorter("kernel B", Some(500), late),
        shorter("kernel C", None, late),
        shorter("task T", None, late),
        shorter("kernel C", Some(500), later),
        shorter("task T", Some(500), later),
        shorter("all streams and hosts", Some(500), later),
        shorter("kernel A", None, later),
        shorter("kernel B", None, later),
        shorter("task S", None, later),
    ];
    assert_eq!(rows(&scenario(kernels, streams, &tx2())), expected);
}

#[test]
fn what_is_stopped_says_so_and_claims_no_more_than_is_known() {
    let stream = r#"{"name": "S", "deadline": "10 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(r#""K": {"blocks": 4, "threads": 1024, "duration": "4 ms"}"#, stream, &tx2());
    let json = found(&scenario, &|report| {
        let stopped = Arc::new(Effort::new(Limits::NONE, Arc::new(AtomicBool::new(true))));
        stopped.within(|| report.find_sensitivity(None, Progress::NONE)).expect("what is there is told")
    });
    for row in json["sensitivity"].as_array().expect("it is asked for") {
        assert_eq!((row["factor"].as_f64(), row["is_cut"].as_bool()), (Some(1.0), Some(true)), "{row}");
    }
    assert!(json["notes"].to_string().contains("3 of 3 factors were not found when the work was stopped"), "{json}");
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn what_is_told_is_proven_of_the_multiplied_times_and_not_a_step_beyond(streams in streams()) {
        let known = proven(&scenario_of(&streams, &|_, _| 1_000));
        for (what, change, told, is_largest, verdicts) in rows(&scenario_of(&streams, &|_, _| 1_000)) {
            let scaled = |factor: u64| {
                let is_meant = |stream: usize, is_copy: bool| match what.split_once(' ').expect("it is named") {
                    ("kernel", name) => !is_copy && name == format!("K{stream}"),
                    ("copies", name) => is_copy && name == format!("host-to-device of S{stream}"),
                    ("task", name) => name == format!("S{stream}"),
                    _ => true,
                };
                let of = |stream, is_copy| if is_meant(stream, is_copy) { factor } else { 1_000 };
                proven(&scenario_of(&streams, &of))
            };
            let holds = |factor: u64| {
                let grown = scaled(factor);
                if change == "longer" {
                    return known.iter().zip(&grown).all(|(known, still)| *still || !known);
                }
                let stream = (0..streams.len()).find(|stream| verdicts == format!("deadline of S{stream}"));
                let stream = stream.expect("it is one of them");
                grown[2 * stream] && grown[2 * stream + 1]
            };
            match told {
                Some(factor) => {
                    prop_assert!(holds(factor), "{} {}", what, factor);
                    prop_assert!(is_largest || !holds(factor + 1), "{} above {}", what, factor);
                }
                None => prop_assert!(change == "shorter" && !holds(10), "{}", what),
            }
        }
    }
}
