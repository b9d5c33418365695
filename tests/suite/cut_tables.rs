//! Tables for people that are cut say how many rows they leave out, and what lists all of them.

use std::fs;

use serde_json::Value;

use crate::common::{directory, gpusched, json, stderr, stdout};

/// Streams with a job each, of a copy and a kernel, the first of them with so many; some of them wait for one another.
fn scenario(test: &str, streams: usize, jobs: usize) -> String {
    let stream = |index: usize| {
        let release = if index < 60 { 0 } else { 2 * index };
        let jobs = if index == 0 { jobs } else { 1 };
        format!(
            r#"{{"name": "S{index}", "release": "{release} us", "period": "1 ms", "jobs": {jobs}, "deadline": "1 ms",
            "operations": [{{"copy": "host-to-device", "duration": "1 ns"}}, {{"kernel": "K"}}]}}"#
        )
    };
    let streams: Vec<String> = (0..streams).map(stream).collect();
    let file = directory(test).join("scenario.json");
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "long", "kernels": {{"K": {{"blocks": 2, "threads": 1024,
        "duration": "1 us"}}}}, "streams": [{}]}}"#,
        streams.join(",")
    );
    fs::write(&file, text).expect("it can be written");
    file.display().to_string()
}

/// What a command prints, which has to be able to.
fn printed(arguments: &[&str]) -> String {
    let output = gpusched(arguments);
    assert!(output.status.code() < Some(2), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// How many entries a list of a JSON document has.
fn entries(document: &Value, list: &str) -> usize {
    document[list].as_array().map_or_else(|| panic!("{list} is no list"), Vec::len)
}

#[test]
fn every_list_of_a_long_run_says_what_it_leaves_out_and_where_all_of_it_is() {
    let file = scenario("cut_run", 1_010, 1);
    let table = printed(&["simulate", &file, "--rules", "--blame"]);
    let document = json(&["simulate", &file, "--rules", "--blame", "--format", "json"]);
    // Who made whom wait stands below the first kernels and copies, and not far below.
    for (list, shown, words) in [
        ("kernels", 40, "more kernel launches; --format json or --format csv lists all of them"),
        ("copies", 40, "more copies; --format json lists all of them"),
        ("responses", 1_000, "more streams and hosts; --format json lists all of them"),
        ("rules", 1_000, "more steps; --format json lists all of them"),
    ] {
        let rest = entries(&document, list) - shown;
        assert!(rest > 0 && table.contains(&format!(" ... and {rest} {words}\n")), "{list}: {rest} {words}");
    }
    let blamed: Vec<&str> =
        table.lines().filter(|line| line.ends_with("more; --format json lists all of them")).collect();
    assert!(!blamed.is_empty(), "who made whom wait is cut, too");
    let plain = printed(&["simulate", &file]);
    assert!(plain.contains(&format!(" ... and {} more kernel launches", entries(&document, "kernels") - 1_000)));
    let rows = printed(&["simulate", &file, "--format", "csv"]).lines().count();
    assert_eq!(rows, 1 + entries(&document, "kernels"));
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_analyses_of_many_jobs_say_what_they_leave_out() {
    let file = scenario("cut_analysis", 1, 1_100);
    let arguments = ["analyze", &*file, "--search", "10ms"];
    let table = printed(&arguments);
    let launches = " ... and 100 more kernel launches; --format json or --format csv lists all of them\n";
    let jobs = " ... and 100 more jobs; --verdicts --format csv lists all of them\n";
    assert!(table.contains(launches) && table.contains(jobs), "{}", &table[table.len().saturating_sub(2_000)..]);
    assert_eq!(printed(&[&arguments[..], &["--format", "csv"]].concat()).lines().count(), 1_101);
    assert_eq!(printed(&[&arguments[..], &["--verdicts", "--format", "csv"]].concat()).lines().count(), 1_101);
    assert!(printed(&["compare", &file]).contains(launches));
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_streams_of_which_one_has_several_jobs_say_what_the_sums_of_their_responses_leave_out() {
    let file = scenario("cut_responses", 1_010, 2);
    let words = " ... and 10 more streams and hosts; --format json lists all of them\n";
    assert!(printed(&["analyze", &file, "--search", "10ms"]).contains(words));
    assert_eq!(entries(&json(&["analyze", &file, "--search", "10ms", "--format", "json"]), "responses"), 1_010);
}

#[test]
fn many_findings_of_an_audit_say_what_they_leave_out() {
    // Blocks of a GPU with many SMs, as if they had been on one with two.
    let file = directory("cut_findings").join("scenario.json");
    let text = r#"{"name": "findings", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [{"filename":
        "timer_spin.so", "log_name": "log.json", "thread_count": 1024, "block_count": 2000, "data_size": 0,
        "additional_info": 1000000}]}"#;
    fs::write(&file, text).expect("it can be written");
    let (file, logs) = (file.display().to_string(), directory("cut_findings/logs").display().to_string());
    printed(&["simulate", &file, "--device", "h100", "--logs", &logs]);
    let log = format!("{logs}/log.json");
    let table = printed(&["audit", &log, "--device", "tx2"]);
    // It finds something, which is the exit status.
    let document = printed(&["audit", &log, "--device", "tx2", "--format", "json"]);
    let findings = entries(&serde_json::from_str(&document).expect("it is JSON"), "violations");
    assert!(findings > 100, "{findings}");
    let words = format!("and {} more (--format json or --format csv lists all)\n", findings - 100);
    assert!(table.contains(&words), "{words}");
    assert_eq!(printed(&["audit", &log, "--device", "tx2", "--format", "csv"]).lines().count(), 1 + findings);
}

#[test]
fn many_applications_say_what_they_leave_out() {
    let arguments = ["evr", "narrow-k20m", "--inject", "1100", "--scheduler", "plain-streams"];
    let words = " ... and 100 more; --format json or --format csv lists all of them\n";
    assert!(printed(&arguments).contains(words));
    assert_eq!(printed(&[&arguments[..], &["--format", "csv"]].concat()).lines().count(), 1_101);
}

#[test]
fn a_replayed_profile_says_how_many_kernels_are_not_among_the_furthest_off() {
    let file = directory("cut_replay").join("profile.csv");
    let text = fs::read_to_string("scenarios/profiles/synthetic.csv").expect("it is there");
    let kernel = text.lines().rfind(|line| line.contains("scale")).expect("it has kernels");
    let (_, rest) = kernel.split_once(',').expect("it begins with its start");
    let more: Vec<String> = (2..=50).map(|index| format!("{index}0.000000,{rest}\n")).collect();
    fs::write(&file, text.trim_end().to_owned() + "\n" + &more.concat()).expect("it can be written");
    let file = file.display().to_string();
    let kernels = entries(&json(&["replay-log", &file, "--format", "json"]), "kernels");
    let words = "more kernels, whose durations are closer; --format json or --format csv lists all of them\n";
    assert!(printed(&["replay-log", &file]).contains(&format!(" ... and {} {words}", kernels - 20)));
    assert_eq!(printed(&["replay-log", &file, "--format", "csv"]).lines().count(), 1 + kernels);
}

#[test]
fn markdown_cuts_nothing() {
    let file = scenario("cut_markdown", 1, 1_100);
    let text = printed(&["simulate", &file, "--format", "markdown"]);
    assert!(!text.contains("... and") && text.matches("| K").count() >= 1_100);
}
