//! Several scenarios in one command.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{directory, gpusched, json, stderr, stdout};

const DIRECTORY: &str = "scenarios/thesis2019";

/// The scenario files of a directory, by name.
fn files(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("readable").path());
    let mut files: Vec<String> = entries.filter(|path| path.is_file()).map(|path| path.display().to_string()).collect();
    files.sort();
    files
}

#[test]
fn a_directory_is_its_files_by_name_and_json_is_a_list_of_what_each_prints() {
    let files = files(DIRECTORY);
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    for command in ["simulate", "compare", "analyze"] {
        let of_directory = gpusched(&[command, DIRECTORY, "--format", "json"]);
        let named = gpusched(&[&[command], &names[..], &["--format", "json"]].concat());
        assert!(of_directory.stdout == named.stdout && of_directory.stderr == named.stderr, "{command}");
        let one_by_one = names.iter().map(|name| json(&[command, name, "--format", "json"]));
        let documents: Value = serde_json::from_slice(&named.stdout).expect("one document");
        assert_eq!(documents, Value::Array(one_by_one.collect()), "{command}");
    }
}

#[test]
fn the_same_is_printed_with_any_number_of_jobs() {
    for format in ["table", "markdown", "csv", "json", "jsonl"] {
        let with =
            |jobs: &str| gpusched(&["simulate", DIRECTORY, "scenarios/rtss2017", "--format", format, "--jobs", jobs]);
        let one = with("1");
        assert_eq!(one.status.code(), Some(0));
        for jobs in ["2", "7"] {
            let other = with(jobs);
            assert!(one.stdout == other.stdout && one.stderr == other.stderr, "{format} with --jobs {jobs}");
        }
    }
}

#[test]
fn every_row_and_note_says_of_which_file_it_is() {
    let (first, second) = ("scenarios/thesis2019/figure-3-4.json", "scenarios/deadlines/camera-and-lidar.json");
    let output = gpusched(&["simulate", first, second, "--format", "csv"]);
    let of = |file: &str| stdout(&gpusched(&["simulate", file, "--format", "csv"]));
    let rows = |file: &str| of(file).lines().skip(1).map(|row| format!("{file},{row}\n")).collect::<Vec<_>>().concat();
    let names = format!("file,{}\n", of(first).lines().next().expect("a line of names"));
    assert_eq!(stdout(&output), names + &rows(first) + &rows(second));
    for line in stderr(&output).lines() {
        assert!(
            line.starts_with(&format!("note: {first}: ")) || line.starts_with(&format!("note: {second}: ")),
            "{line}"
        );
    }
    let lines = stdout(&gpusched(&["simulate", first, second, "--format", "jsonl"]));
    let files: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["file"].as_str().expect("a name").to_owned())
        .collect();
    let split = files.iter().position(|file| file == second).expect("there are lines of it");
    assert!(files[..split].iter().all(|file| file == first) && files[split..].iter().all(|file| file == second));
    let table = stdout(&gpusched(&["simulate", first, second]));
    assert!(table.starts_with(&format!("{first}\n")) && table.contains(&format!("\n\n{second}\n")), "{table}");
}

#[test]
fn one_bad_file_is_named_before_anything_is_run() {
    let directory = directory("several_bad");
    fs::copy("scenarios/rtss2017/figure-3.json", directory.join("a.json")).expect("it can be copied");
    fs::write(directory.join("b.json"), r#"{"format": "gpusched-scenario/1"}"#).expect("it can be written");
    let given = directory.display().to_string();
    for command in ["simulate", "analyze", "compare"] {
        let output = gpusched(&[command, &given]);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && stderr(&output).contains("b.json"), "{}", stderr(&output));
    }
    // What is wrong only with an option is said of its file, too.
    let (first, second) =
        ("scenarios/deadlines/camera-and-lidar.json", &*directory.join("c.json").display().to_string());
    let plain = r#"{"format": "gpusched-scenario/1", "name": "c", "kernels": {"K": {"blocks": 1, "threads": 32,
        "duration": "1 ms"}}, "streams": [{"name": "S", "operations": [{"kernel": "K"}]}]}"#;
    fs::write(second, plain).expect("it can be written");
    let output = gpusched(&["simulate", first, second, "--check"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && stderr(&output).contains(&format!("{second}: --check")), "{}", stderr(&output));
}

#[test]
fn a_run_that_fails_ends_the_list_after_those_before_it() {
    let directory = directory("several_failing");
    let kernels = r#""kernels": {"K": {"blocks": 1, "threads": 32, "duration": "9e9 s"}}"#;
    let write = |name: &str, operations: usize| {
        let operations = vec![r#"{"kernel": "K"}"#; operations].join(", ");
        let streams = format!(r#""streams": [{{"name": "S", "operations": [{operations}]}}]"#);
        let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "{name}", {kernels}, {streams}}}"#);
        fs::write(directory.join(name), text).expect("it can be written");
    };
    write("a.json", 1);
    // Three times 285 years are past the end of time, which is found out while it runs.
    write("b.json", 3);
    write("c.json", 1);
    let given = directory.display().to_string();
    for jobs in ["1", "3"] {
        let output = gpusched(&["simulate", &given, "--format", "json", "--jobs", jobs]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("b.json: "), "{}", stderr(&output));
        let documents: Value = serde_json::from_slice(&output.stdout).expect("a whole document");
        assert_eq!(documents.as_array().map(Vec::len), Some(1), "a.json, which is before it");
    }
}

#[test]
fn options_that_write_one_file_are_refused() {
    for (command, option, file) in [
        ("simulate", "--figure", "f.svg"),
        ("simulate", "--html", "f.html"),
        ("simulate", "--logs", "logs"),
        ("simulate", "--perfetto", "f.json"),
        ("compare", "--figure", "f.svg"),
        ("analyze", "--witness", "f.json"),
        ("analyze", "--runnable-times", "f.csv"),
    ] {
        let output = gpusched(&[command, DIRECTORY, option, file]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(&format!("{option} is about one scenario")), "{}", stderr(&output));
        assert!(output.stdout.is_empty() && !Path::new(file).exists());
    }
}

#[test]
fn commands_that_take_one_scenario_say_so_of_a_second() {
    let figure = "scenarios/rtss2017/figure-3.json";
    for command in ["orders", "occupancy", "convert"] {
        let output = gpusched(&[command, figure, figure]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("unexpected argument"), "{}", stderr(&output));
    }
    let empty = directory("several_none").display().to_string();
    let output = gpusched(&["simulate", &empty]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("holds no scenario"), "{}", stderr(&output));
}
