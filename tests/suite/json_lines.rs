//! `--format jsonl`: every command's rows, one object a line.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{directory, gpusched, json, stderr, stdout};
use crate::tasks::TABLE_1;

/// The lines of a command, which has to succeed, by kind.
fn lines(arguments: &[&str]) -> BTreeMap<String, Vec<Value>> {
    let output = gpusched(&[arguments, &["--format", "jsonl"]].concat());
    assert!(output.status.code() < Some(2), "{arguments:?}: {}", stderr(&output));
    let mut lines = BTreeMap::<String, Vec<Value>>::new();
    for (number, line) in stdout(&output).lines().enumerate() {
        let object: Value = serde_json::from_str(line).expect("every line is JSON");
        let kind = object["row"].as_str().expect("every line has a kind").to_owned();
        // A key that stands twice would be lost.
        assert_eq!(line.matches("\"row\":").count(), 1, "{arguments:?}: {line}");
        assert_eq!(kind == "document", number == 0, "{arguments:?}: the document's line is the first");
        lines.entry(kind).or_default().push(object);
    }
    lines
}

/// How many rows the same command has as comma-separated values.
fn csv_rows(arguments: &[&str]) -> usize {
    let output = gpusched(&[arguments, &["--format", "csv"]].concat());
    csv::Reader::from_reader(&output.stdout[..])
        .records()
        .filter(|record| record.as_ref().expect("it is a row").len() > 1)
        .count()
}

/// Every command that prints a table for programs, and which lines its rows are.
pub(crate) fn tables(test: &str) -> Vec<(Vec<String>, &'static str)> {
    let (figure, model) = ("scenarios/rtss2017/figure-8.json", "scenarios/amalthea/tx2-like-waters2019.amxmi");
    let (profile, nvprof) = ("scenarios/profiles/synthetic.json", "scenarios/profiles/synthetic.csv");
    let deadlines = "scenarios/deadlines/camera-and-lidar.json";
    let logs = "tests/data/logs/two-streams";
    let set = directory(test).join("tasks.json");
    std::fs::write(&set, TABLE_1).expect("it can be written");
    let set = set.display().to_string();
    let tables = [
        (vec!["simulate", figure], "kernels"),
        (vec!["simulate", figure, "--blocks"], "blocks"),
        (vec!["analyze", figure], "kernels"),
        (vec!["analyze", deadlines, "--sporadic"], "streams"),
        (vec!["analyze", deadlines, "--ladder"], "deadlines"),
        (vec!["compare", figure], "kernels"),
        (vec!["orders", figure, "--samples", "10"], "kernels"),
        (vec!["merged-sm", "--samples", "5"], "families"),
        (vec!["residents", figure], "residents"),
        (vec!["residents", figure, "--at", "1s"], "residents"),
        (vec!["occupancy", figure], "kernels"),
        (vec!["import", profile], "streams"),
        (vec!["audit", profile], "cases"),
        (vec!["replay-log", nvprof], "kernels"),
        (vec!["amalthea", model], "work"),
        (vec!["evr", "gpu-evr-figure-1"], "applications"),
        (vec!["evr", "rodinia-like-k20m", "--inject", "5", "--samples", "2"], "points"),
        (vec!["warps", "LCL", "--warps", "2"], "document"),
        (vec!["audit", "tests/data/logs/broken"], "violations"),
        (vec!["replay-log", logs], "kernels"),
        (vec!["tasks", &set], "verdicts"),
        (vec!["tasks", "run", &set, "--strategy", "single-stream"], "released"),
        (vec!["devices"], "devices"),
        (vec!["devices", "tx2"], "limits"),
    ];
    let owned = |arguments: Vec<&str>| arguments.into_iter().map(str::to_owned).collect();
    tables.into_iter().map(|(arguments, kind)| (owned(arguments), kind)).collect()
}

#[test]
fn every_command_has_as_many_lines_as_its_table_has_rows() {
    for (arguments, kind) in tables("json_lines") {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let rows = lines(&arguments).get(kind).map_or(0, Vec::len);
        // Logs that break no rule have none.
        assert!(rows > 0 || kind == "violations", "{arguments:?} has no {kind}");
        assert_eq!(rows, csv_rows(&arguments), "{arguments:?}");
    }
}

#[test]
fn lines_are_the_entries_of_the_json_document() {
    for arguments in [
        vec!["simulate", "scenarios/rtss2017/figure-8.json", "--rules", "--blame", "--state-at", "1s"],
        vec!["analyze", "scenarios/deadlines/camera-and-lidar.json"],
        vec!["compare", "scenarios/thesis2019/figure-3-4.json"],
    ] {
        let document = json(&[&arguments[..], &["--format", "json"]].concat());
        let mut lines = lines(&arguments);
        let mut first = lines.remove("document").expect("there is one").remove(0);
        for (key, value) in document.as_object().expect("it is an object") {
            let own = match value.as_array() {
                Some(list) if list.is_empty() => continue,
                Some(list) if list[0].is_object() => Value::Array(without_list(lines.remove(key))),
                _ => first.as_object_mut().expect("it is an object").remove(key).expect("it is there"),
            };
            assert_eq!(own, *value, "{arguments:?}: {key}");
        }
        assert!(lines.is_empty());
        assert_eq!(first.as_object().map(serde_json::Map::len), Some(1), "{first}");
    }
}

fn without_list(lines: Option<Vec<Value>>) -> Vec<Value> {
    let mut lines = lines.expect("the list has lines");
    for line in &mut lines {
        line.as_object_mut().expect("it is an object").remove("row");
    }
    lines
}
