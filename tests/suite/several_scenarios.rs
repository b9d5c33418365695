//! Several scenarios in one command.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{directory, gpusched, json, stderr, stdout};

const DIRECTORY: &str = "scenarios/ospert2017";

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

/// The formats of this build.
fn formats() -> impl Iterator<Item = &'static str> {
    let arrow = if cfg!(feature = "arrow") { Some("arrow") } else { None };
    ["table", "markdown", "csv", "json", "jsonl"].into_iter().chain(arrow)
}

/// What comes of a command with one job and with eight: the same in every format, with this exit status.
fn same_with_any_jobs(arguments: &[&str], status: i32) {
    for format in formats() {
        let with = |jobs: &str| gpusched(&[arguments, &["--format", format, "--jobs", jobs]].concat());
        let one = with("1");
        assert_eq!(one.status.code(), Some(status), "{arguments:?}: {}", stderr(&one));
        let eight = with("8");
        assert_eq!(eight.status.code(), one.status.code(), "{arguments:?}, {format}");
        let same = one.stdout == eight.stdout && one.stderr == eight.stderr;
        assert!(same, "{arguments:?}, {format}: {}", stderr(&eight));
    }
}

#[test]
fn the_same_is_printed_with_any_number_of_jobs() {
    same_with_any_jobs(&["simulate", DIRECTORY, "scenarios/rtss2017"], 0);
    same_with_any_jobs(&["compare", DIRECTORY], 0);
    let (one, other) = ("scenarios/deadlines/camera-and-lidar.json", "scenarios/thesis2019/figure-3-4.json");
    same_with_any_jobs(&["analyze", one, other], 0);
}

#[test]
fn checks_and_errors_are_the_same_with_any_number_of_jobs() {
    let (late, sound) = ("scenarios/deadlines/camera-and-lidar.json", "scenarios/thesis2019/figure-3-4.json");
    let deadline = ["--deadline", "camera=1ns"];
    same_with_any_jobs(&[&["simulate", late, late, "--check"], &deadline[..]].concat(), 1);
    let directory = directory("several_jobs_bad");
    fs::copy(sound, directory.join("a.json")).expect("it can be copied");
    fs::write(directory.join("b.json"), "{").expect("it can be written");
    fs::copy(sound, directory.join("c.json")).expect("it can be copied");
    same_with_any_jobs(&["simulate", &directory.display().to_string()], 2);
    // A run that fails after one before it was told, and before one that is sound.
    let too_many = r#"{"format": "gpusched-scenario/1", "name": "b", "kernels": {"K": {"blocks": 1, "threads": 32,
        "duration": "1 ns"}}, "streams": [{"name": "S", "period": "1 us", "jobs": 4294967295, "operations":
        [{"kernel": "K"}]}]}"#;
    fs::write(directory.join("b.json"), too_many).expect("it can be written");
    same_with_any_jobs(&["simulate", sound, &directory.display().to_string(), sound], 2);
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
    for command in ["orders", "residents", "occupancy", "convert"] {
        let output = gpusched(&[command, figure, figure]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("unexpected argument"), "{}", stderr(&output));
    }
    let empty = directory("several_none").display().to_string();
    let output = gpusched(&["simulate", &empty]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("holds nothing to read"), "{}", stderr(&output));
}
