//! How much longer the jobs of one stream or host may take: by hand, and what is proven of random streams that take
//! just so much longer, searched for runs that miss.

use gpusched::analysis::AnalysisError;
use gpusched::formats::write_json;
use gpusched::tables::AnalysisReport;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::campaign::config;

/// The report of a scenario for which more is searched.
pub(super) fn found(
    scenario: &Scenario,
    search: &dyn Fn(&mut AnalysisReport<'_>) -> Result<(), AnalysisError>,
) -> Value {
    let run = simulate(scenario).expect("it runs");
    let mut report = AnalysisReport::of(&run, None, None, Progress::NONE).expect("no run is above a bound");
    search(&mut report).expect("no run is above a bound");
    let mut json = Vec::new();
    write_json(&report, None, &mut json).expect("it can be written");
    serde_json::from_slice(&json).expect("it is JSON")
}

/// Of each stream and host with a deadline: name, slack in thousandths, and what is not proven beyond it.
fn slack(scenario: &Scenario) -> Vec<(String, Option<u64>, Option<String>)> {
    let json = found(scenario, &|report| report.find_slack(None, Progress::NONE));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let row = |row: &Value| {
        let percent = row["slack_percent"].as_f64();
        (
            text(&row["stream"]).expect("it is named"),
            percent.map(|percent| format!("{:.0}", percent * 10.0).parse().expect("it is a number")),
            text(&row["until"]),
        )
    };
    json["slack"].as_array().expect("it is asked for").iter().map(row).collect()
}

fn row(name: &str, slack: u64, until: &str) -> (String, Option<u64>, Option<String>) {
    (name.to_owned(), Some(slack), Some(until.to_owned()))
}

/// Both launch the same kernel, which fills the GPU for 4 ms, one at a time: 10 ms are 150 % more, 5 ms 25 %. B takes
/// as long as before if A takes longer.
#[test]
fn streams_that_launch_the_same_kernel_grow_each_by_itself() {
    let streams = r#"{"name": "A", "deadline": "10 ms", "operations": [{"kernel": "K"}]},
        {"name": "B", "release": "20 ms", "deadline": "5 ms", "operations": [{"kernel": "K"}]}"#;
    let scenario = scenario(r#""K": {"blocks": 4, "threads": 1024, "duration": "4 ms"}"#, streams, &tx2());
    assert_eq!(slack(&scenario), [row("A", 1_500, "job 0 of A"), row("B", 250, "job 0 of B")]);
}

/// A's 4 ms and then B's 2 ms. B's deadline of 7 ms leaves A 5 ms (25 %) and B 3 ms (50 %), where A's own deadline
/// would leave it 8 ms.
#[test]
fn a_stream_grows_as_long_as_others_stay_proven() {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "4 ms"},
        "B": {"blocks": 4, "threads": 1024, "duration": "2 ms"}"#;
    let streams = r#"{"name": "A", "deadline": "8 ms", "operations": [{"kernel": "A"}]},
        {"name": "B", "deadline": "7 ms", "operations": [{"kernel": "B"}]}"#;
    let mut scenario = scenario(kernels, streams, &tx2());
    scenario.release_order = ReleaseOrder::Declared;
    assert_eq!(slack(&scenario), [row("A", 250, "job 0 of B"), row("B", 500, "job 0 of B")]);
}

/// 12 ms that are due in 10 ms are in time with 833 thousandths of them. B, which is due in 3 ms, waits for all of them
/// first, however short it is itself.
#[test]
fn what_is_late_is_proven_with_shorter_times_of_its_own_if_with_any() {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "12 ms"},
        "B": {"blocks": 4, "threads": 1024, "duration": "1 ms"}"#;
    let streams = r#"{"name": "A", "deadline": "10 ms", "operations": [{"kernel": "A"}]},
        {"name": "B", "deadline": "3 ms", "operations": [{"kernel": "B"}]}"#;
    let mut scenario = scenario(kernels, streams, &tx2());
    scenario.release_order = ReleaseOrder::Declared;
    let json = found(&scenario, &|report| report.find_slack(None, Progress::NONE));
    let rows = json["slack"].as_array().expect("it is asked for").iter();
    let proven_at: Vec<Option<f64>> = rows.map(|row| row["proven_at"].as_f64()).collect();
    assert_eq!(proven_at, [Some(0.833), None]);
}

/// 2 ms on a core and 4 ms on the GPU, of 9 ms: half as long again. Nothing is said of what is late as it is, nor of
/// what does nothing that takes time.
#[test]
fn work_on_the_cpu_grows_with_what_is_on_the_gpu() {
    let host = |deadline: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "host", "device": "tx2", "horizon": "100 ms",
            "kernels": {{"K": {{"blocks": 4, "threads": 1024, "duration": "4 ms"}}}},
            "streams": [{{"name": "S"}}],
            "hosts": [{{"name": "H", "core": 0, "period": "50 ms", "iterations": 2, "deadline": "{deadline}", "steps": [
                {{"work": "1 ms"}}, {{"launch": "K", "stream": "S"}}, {{"synchronize": "S"}}, {{"work": "1 ms"}}]}}]}}"#
        );
        Scenario::from_json("host.json", &text, &ReadOptions::default()).expect("it is sound")
    };
    assert_eq!(slack(&host("9 ms")), [row("H", 500, "job 0 of H")]);
    assert_eq!(slack(&host("5 ms")), [("H".to_owned(), None, None)]);
}

/// What vision reads at 45 ms is read by the brake at 60 ms if vision takes 15 ms, 7/8 more than its 8 ms; later by
/// 10 ms beyond, so that the reaction time is 71 ms in place of 61 ms.
#[test]
fn chains_are_among_what_stays_proven() {
    let text = std::fs::read_to_string("scenarios/deadlines/camera-to-brake.json").expect("it is there");
    let text = text.replace(r#""horizon": "80 ms""#, r#""horizon": "130 ms""#);
    let text = text.replace(r#""reaction_time": "80 ms""#, r#""reaction_time": "65 ms""#);
    let scenario = Scenario::from_json("chain.json", &text, &ReadOptions::default()).expect("it is sound");
    assert_eq!(slack(&scenario), [row("vision", 875, "reaction time of camera to brake")]);
}

/// A stream: period and release \[ms\], priority, blocks, threads, block time and copy time \[us\], deadline \[us\].
pub(super) type Drawn = (u64, u64, i32, u32, u32, u64, u64, u64);

pub(super) fn streams() -> impl Strategy<Value = Vec<Drawn>> {
    let threads = prop_oneof![Just(256_u32), Just(512), Just(1_024)];
    let drawn = (2_u64..4, 0_u64..8, -1_i32..1, 1_u32..9, threads, 200_u64..3_000, 0_u64..800, 2_000_u64..20_000);
    prop::collection::vec(drawn, 1..4)
}

/// The streams, with blocks and copies as long as `factor` says in thousandths, by stream and whether it is a copy.
pub(super) fn scenario_of(streams: &[Drawn], factor: &dyn Fn(usize, bool) -> u64) -> Scenario {
    let kernel = |(number, &(.., blocks, threads, duration, _, _)): (usize, &Drawn)| {
        let duration = duration * factor(number, false);
        format!(r#""K{number}": {{"blocks": {blocks}, "threads": {threads}, "duration": "{duration} ns"}}"#)
    };
    let stream = |(number, &(period, release, priority, .., copy, deadline)): (usize, &Drawn)| {
        let copy = copy * factor(number, true);
        format!(
            r#"{{"name": "S{number}", "priority": {priority}, "period": "{} ms", "release": "{release} ms", "jobs": 2,
                "deadline": "{deadline} us",
                "operations": [{{"copy": "host-to-device", "duration": "{copy} ns"}}, {{"kernel": "K{number}"}}]}}"#,
            period * 8
        )
    };
    let kernels: Vec<String> = streams.iter().enumerate().map(kernel).collect();
    let all: Vec<String> = streams.iter().enumerate().map(stream).collect();
    scenario(&kernels.join(", "), &all.join(", "), &tx2())
}

/// Which jobs are proven, in spite of a search.
pub(super) fn proven(scenario: &Scenario) -> Vec<bool> {
    let verdicts = judged(scenario, &SearchOptions { runs: 48, ..SearchOptions::default() });
    verdicts.jobs.iter().map(|job| job.verdict == Some(Verdict::Proven)).collect()
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn what_is_proven_stays_proven_with_all_of_the_slack_and_no_longer_beyond_it(streams in streams()) {
        let plain = scenario_of(&streams, &|_, _| 1_000);
        let known = proven(&plain);
        let still = |longer: usize, growth: u64| {
            let factor = |number, _| 1_000 + if number == longer { growth } else { 0 };
            let grown = proven(&scenario_of(&streams, &factor));
            known.iter().zip(&grown).all(|(known, still)| *still || !known)
        };
        for (number, (name, slack, until)) in slack(&plain).into_iter().enumerate() {
            prop_assert_eq!(name, format!("S{number}"));
            prop_assert_eq!(slack.is_some(), known[2 * number] || known[2 * number + 1]);
            let Some(slack) = slack else { continue };
            prop_assert!(still(number, slack), "S{} with {} more", number, slack);
            prop_assert!(until.is_some() && !still(number, slack + 1), "S{} with one more than {}", number, slack);
        }
    }
}
