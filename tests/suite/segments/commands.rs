//! `gpusched tasks` on tasks with segments, as its user meets it.

use serde_json::Value;

use crate::common::{gpusched, json};

fn witness(name: &str) -> String {
    format!("{}/witnesses/ecrts2024/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn only_sound_tests_say_proven() {
    let tests = "round-robin-busy,gcaps-suspend,gcaps-suspend-as-printed";
    let report = json(&["tasks", &witness("case-study"), "--tests", tests, "--format", "json"]);
    assert_eq!(report["tests"]["gcaps-suspend"]["schedulable"], true);
    assert_eq!(report["tests"]["gcaps-suspend"]["tasks"]["histogram"], true);
    assert_eq!(report["tests"]["gcaps-suspend-as-printed"]["schedulable"], Value::Null);
    // `null` for open and for as printed alike; the verdict tells them apart.
    assert_eq!(report["tests"]["gcaps-suspend-as-printed"]["verdict"], "as printed");
    assert_eq!(report["tests"]["gcaps-suspend-as-printed"]["tasks"]["histogram"], Value::Null);
    let rows = report["bounds"].as_array().expect("a list");
    assert_eq!(rows.len(), 3 * 6);
    for row in rows {
        let is_proven = row["verdict"] == "proven";
        assert!(!is_proven || !row["test"].as_str().expect("a name").contains("printed"), "{row}");
        assert_eq!(row["bound_ns"].is_null(), row["verdict"] == "open" || row["task"] == "mmul_gpu_2", "{row}");
    }
    assert!(report["notes"][0].as_str().is_some_and(|note| note.contains("prove nothing")), "{}", report["notes"]);
}

#[test]
fn a_check_is_answered_by_the_exit_status() {
    let study = witness("case-study");
    let status = |arguments: &[&str]| gpusched(&[&["tasks", &study], arguments].concat()).status.code();
    assert_eq!(status(&["--check", "gcaps-suspend"]), Some(0));
    assert_eq!(status(&["--check", "fmlp-plus-suspend"]), Some(1));
    assert_eq!(status(&["--check", "exact"]), Some(2));
    let printed = "gcaps-busy-as-printed";
    assert_eq!(status(&["--tests", printed, "--check", printed]), Some(2));
    assert_eq!(status(&["--tests", "exact"]), Some(2));
    assert_eq!(status(&["--reservation-period", "5"]), Some(2));
}

#[test]
fn tests_of_segments_are_refused_for_other_sets() {
    let other = format!("{}/witnesses/rtns2020/theorem-5-left.json", env!("CARGO_MANIFEST_DIR"));
    let output = gpusched(&["tasks", &other, "--tests", "gcaps-busy"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("is for tasks with segments"), "{text}");
}

#[test]
fn runs_stand_beside_their_bounds_and_say_what_was_missed() {
    let study = witness("case-study");
    let report = json(&["tasks", "run", &study, "--strategy", "round-robin-busy", "--format", "json"]);
    assert_eq!(report["horizon_ns"], 1_200_000_000);
    let tasks = report["tasks"].as_array().expect("a list");
    assert_eq!((tasks.len(), &tasks[0]["jobs"]), (6, &Value::from(12)));
    for task in &tasks[..5] {
        assert_eq!(task["verdict"], "proven");
        assert!(task["longest_response_ns"].as_u64() <= task["bound_ns"].as_u64(), "{task}");
    }
    assert_eq!((&tasks[5]["verdict"], &tasks[5]["bound_ns"]), (&Value::Null, &Value::Null));
    // One of the two waits for the other's slice of 5 ns.
    let late = std::fs::read_to_string(witness("eq-3-own-switch")).expect("it is committed");
    let folder = crate::common::directory("segments_missed");
    let file = folder.join("late.json").display().to_string();
    std::fs::write(&file, late.replace("\"T\": \"100 ns\"", "\"T\": \"100 ns\", \"D\": \"6 ns\""))
        .expect("it is written");
    let run = ["tasks", "run", &file, "--strategy", "round-robin-suspend"];
    assert_eq!(gpusched(&[&run[..], &["--check"]].concat()).status.code(), Some(1));
    let report = json(&[&run[..], &["--format", "json"]].concat());
    assert!(report["tasks"].as_array().expect("a list").iter().any(|task| task["verdict"] == "missed"), "{report}");
    for refused in [&["--strategy", "gang"][..], &["--strategy", "mpcp-busy", "--policy", "fp"]] {
        assert_eq!(gpusched(&[&["tasks", "run", &study], refused].concat()).status.code(), Some(2), "{refused:?}");
    }
    let other = format!("{}/witnesses/rtns2020/theorem-5-left.json", env!("CARGO_MANIFEST_DIR"));
    assert_eq!(gpusched(&["tasks", "run", &other, "--strategy", "mpcp-busy"]).status.code(), Some(2));
}

#[test]
fn a_figure_of_a_run_has_cores_the_gpu_switches_and_pauses() {
    let figure = crate::common::directory("segments_run_figure").join("run.svg");
    let path = figure.display().to_string();
    let run = |more: &[&str]| {
        let run = ["tasks", "run", &witness("case-study"), "--figure", &path, "--strategy"];
        gpusched(&[&run[..], more].concat())
    };
    let drawn = |more: &[&str]| {
        let output = run(more);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(&figure).expect("it is drawn")
    };
    let short = "200000000";
    let suspended = drawn(&["gcaps-suspend", "--horizon", short]);
    for part in ["CPU 0", "CPU 1", "GPU", "histogram", "time [ms]", "is in a driver call", "works"] {
        assert!(suspended.contains(part), "{part}");
    }
    assert!(!suspended.contains("histogram keeps the core busy, "), "it is suspended while the GPU works");
    let slices = drawn(&["round-robin-busy", "--horizon", short]);
    assert!(slices.contains("histogram keeps the core busy, ") && slices.contains("histogram pauses, "));
    assert!(!drawn(&["fmlp-plus-suspend", "--horizon", short]).contains("pauses"), "a lock is not taken away");
    std::fs::remove_file(&figure).expect("it is there");
    let output = run(&["round-robin-busy", "--horizon", "60000000000"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("use --horizon"));
    assert!(!figure.exists());
    assert_eq!(run(&["gcaps-suspend", "--figure", "run.bananas"]).status.code(), Some(2));
}

#[test]
fn acceptance_is_the_same_for_any_number_of_threads() {
    let curve = |jobs: &str| {
        let arguments = ["tasks", "curve", "--segments", "utilization", "--samples", "20", "--jobs", jobs];
        let output = gpusched(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let whole = curve("1");
    assert_eq!(curve("3"), whole);
    let rows: Vec<Vec<&str>> = whole.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.len(), rows[0].len(), rows[1][0]), (1 + 9, 2 + 13, "0.1"));
    let accepted = |row: usize| rows[row][2..].iter().map(|count| count.parse::<u64>().expect("a count")).sum::<u64>();
    assert!(accepted(1) > accepted(9), "{whole}");
}

#[test]
fn a_curve_that_was_cut_off_goes_on_and_one_of_other_parameters_is_refused() {
    let folder = crate::common::directory("segments_curve");
    let (file, figure) =
        (folder.join("curve.csv").display().to_string(), folder.join("curve.svg").display().to_string());
    let run = |more: &[&str]| {
        let curve = ["tasks", "curve", "--segments", "cpus", "--samples", "3", "--tests", "mpcp-busy", "--out", &file];
        gpusched(&[&curve[..], more].concat())
    };
    assert_eq!(run(&["--figure", &figure]).status.code(), Some(0));
    let whole = std::fs::read_to_string(&file).expect("it is written");
    assert_eq!(whole.lines().count(), 2 + 10, "{whole}");
    let drawn = std::fs::read_to_string(&figure).expect("it is drawn");
    assert!(drawn.contains("mpcp-busy") && drawn.contains("CPUs"), "{drawn}");
    for cut in [whole.len() - 7, whole.len() - 70] {
        std::fs::write(&file, &whole[..cut]).expect("it is cut");
        assert_eq!(run(&[]).status.code(), Some(0));
        assert_eq!(std::fs::read_to_string(&file).expect("it is written"), whole);
    }
    for other in [&["--seed", "1"][..], &["--sets", "published"]] {
        let output = run(other);
        assert_eq!(output.status.code(), Some(2), "{other:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("other parameters"), "{other:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("it is left alone"), whole);
}

#[test]
fn what_is_not_for_curves_of_segments_is_refused() {
    for refused in [
        &["--segments", "bananas"][..],
        &["--segments", "cpus", "--tests", "exact"],
        &["--segments", "cpus", "--step", "50"],
        &["--segments", "cpus", "--figure", "curve.bananas"],
        &["--segments", "cpus", "--sets", "bananas"],
        &["--sets", "published"],
    ] {
        assert_eq!(gpusched(&[&["tasks", "curve"], refused].concat()).status.code(), Some(2), "{refused:?}");
    }
}

#[test]
fn assigned_gpu_priorities_are_told() {
    let test = "gcaps-suspend-assigned-as-printed";
    let run = ["tasks", &witness("table-2"), "--tests", &format!("gcaps-suspend,{test}"), "--format"];
    let report = json(&[&run[..], &["json"]].concat());
    assert_eq!(report["tests"][test]["gpu_priorities"], serde_json::json!(["tau1", "tau2", "tau4", "tau3"]));
    assert_eq!(report["tests"]["gcaps-suspend"].get("gpu_priorities"), None);
    let text = String::from_utf8_lossy(&gpusched(&[&run[..], &["table"]].concat()).stdout).into_owned();
    assert!(text.contains("GPU priorities of gcaps-suspend-assigned-as-printed: tau1, tau2, tau4, tau3"), "{text}");
}

/// The usual value too: EDF would seem to hold for runs by fixed priorities.
#[test]
fn options_of_tasks_on_sms_are_refused_whatever_their_value() {
    let set = witness("case-study");
    let run = ["tasks", "run", &set, "--strategy", "gcaps-suspend"];
    let curve = ["tasks", "curve", "--segments", "utilization", "--samples", "1"];
    for (command, option, value) in [
        (&run[..], "--policy", "edf"),
        (&run, "--policy", "fp"),
        (&run, "--synchronization", "0"),
        (&curve, "--tasks-per-sm", "3"),
        (&curve, "--utilizations", "uunifast"),
        (&curve, "--deadlines-from", "75"),
    ] {
        let output = gpusched(&[command, &[option, value]].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {text}");
        assert!(text.contains(option), "{option} {value}: {text}");
    }
}

#[test]
fn several_sets_are_tested_in_one_call() {
    let folder = crate::common::directory("segments_several");
    let late = std::fs::read_to_string(witness("eq-3-own-switch")).expect("it is committed");
    std::fs::write(folder.join("a.json"), &late).expect("it is written");
    std::fs::write(folder.join("b.json"), late.replace("\"T\": \"100 ns\"", "\"T\": \"100 ns\", \"D\": \"6 ns\""))
        .expect("it is written");
    let all = folder.display().to_string();
    let test = ["--tests", "round-robin-suspend"];
    let output = gpusched(&[&["tasks", &all, "--check", "round-robin-suspend"], &test[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "one of them is not accepted: {text}");
    assert!(text.contains("a.json\n") && text.contains("b.json\n"), "{text}");
    let csv = gpusched(&[&["tasks", &all, "--format", "csv"], &test[..]].concat()).stdout;
    let lines: Vec<String> = String::from_utf8_lossy(&csv).lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("file,test,task,bound_ns"), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 2 * 2, "{lines:?}");
    let documents = json(&[&["tasks", &all, "--format", "json"], &test[..]].concat());
    let verdicts: Vec<&Value> = documents
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["tests"]["round-robin-suspend"]["verdict"])
        .collect();
    assert_eq!(verdicts, ["proven", "open"]);
    let other = format!("{}/witnesses/rtns2020/theorem-5-left.json", env!("CARGO_MANIFEST_DIR"));
    let mixed = gpusched(&["tasks", &all, &other]);
    assert!(String::from_utf8_lossy(&mixed.stderr).contains("are of different kinds"));
}
