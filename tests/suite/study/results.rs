//! What comes out of studies.

use serde_json::Value;

use super::*;

#[test]
fn rows_are_the_same_bytes_for_any_number_of_threads() {
    let (directory, file) = with_study("threads", &SMALL.replace("45", "300"));
    let run = |jobs: &str| {
        let results = directory.join(jobs);
        done(&["study", "run", &file, "--jobs", jobs, "--results", &results.display().to_string()]);
        read(results.join("rows.csv"))
    };
    let one = run("1");
    assert_eq!(one.lines().count(), 2 + 60);
    assert_eq!(run("4"), one);
}

#[test]
fn a_study_of_the_merged_sm_finds_what_the_command_finds() {
    let (_, file) = with_study("merged_sm", SMALL);
    done(&["study", "run", &file]);
    let summary = gpusched(&["study", "plot", &file, "--format", "json"]);
    let summary: Value = serde_json::from_slice(&summary.stdout).expect("it is JSON");
    let families = ["--family", "unequal", "--family", "priorities"];
    let command = [&["merged-sm", "--samples", "45", "--seed", "7", "--format", "json"], &families[..]].concat();
    let report: Value = serde_json::from_slice(&gpusched(&command).stdout).expect("it is JSON");
    for (point, family) in [0, 1].map(|index| (&summary["points"][index], &report["families"][index])) {
        assert_eq!(point["parameters"]["family"], family["family"]);
        for verdict in ["equal", "optimistic", "pessimistic"] {
            assert_eq!(point["measures"][verdict]["count"], family[verdict]);
            assert_eq!(point["measures"][verdict]["of"], 45);
        }
        assert_eq!(point["measures"]["max_error"]["largest"], family["max_error"]);
    }
}

#[test]
fn a_study_of_acceptance_ratios_finds_what_the_command_finds() {
    let text = r#"{"format": "gpusched-study/1", "name": "curve", "command": "tasks curve", "seed": 4, "samples": 130,
        "parameters": {"tests": ["exact", "sbf"]}, "grid": {"utilization_permille": [200, 300, 400]}}"#;
    let (directory, file) = with_study("tasks_curve", text);
    done(&["study", "run", &file]);
    let summary = gpusched(&["study", "plot", &file, "--format", "json"]);
    let summary: Value = serde_json::from_slice(&summary.stdout).expect("it is JSON");
    let out = directory.join("curve.csv").display().to_string();
    done(&["tasks", "curve", "--samples", "130", "--seed", "4", "--out", &out]);
    for (point, line) in (0..3).zip(read(&out).lines().skip(2)) {
        let measures = &summary["points"][point]["measures"];
        let fields: Vec<&str> = line.split(',').collect();
        for (field, name) in [(3, "necessary"), (4, "sbf"), (7, "exact")] {
            assert_eq!(measures[name]["count"].to_string(), fields[field], "{name}: {line}");
        }
        assert_eq!(measures["chunks"], Value::Null, "it was not asked for");
    }
}

#[test]
fn a_study_of_schedulers_finds_what_the_command_finds() {
    let text = r#"{"format": "gpusched-study/1", "name": "evr", "command": "evr", "seed": 9, "samples": 3,
        "parameters": {"applications": "rodinia-like-k20m", "inject": 3},
        "grid": {"scheduler": ["timegraph", "gpu-evr"]}}"#;
    let (_, file) = with_study("evr", text);
    done(&["study", "run", &file]);
    let summary = gpusched(&["study", "plot", &file, "--format", "json"]);
    let summary: Value = serde_json::from_slice(&summary.stdout).expect("it is JSON");
    let command = gpusched(&[
        "evr",
        "rodinia-like-k20m",
        "--inject",
        "3",
        "--samples",
        "3",
        "--seed",
        "9",
        "--format",
        "csv",
        "--scheduler",
        "timegraph",
        "--scheduler",
        "gpu-evr",
    ]);
    let csv = String::from_utf8(command.stdout).expect("it is text");
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    for (point, line) in (0..2).zip(csv.lines().skip(1)) {
        for (name, field) in header.iter().zip(line.split(',')) {
            let Some(quantity) = name.strip_suffix("_mean") else { continue };
            let value = summary["points"][point]["measures"][quantity]["value"].as_f64().expect("a number");
            assert_eq!(format!("{value:.4}"), field, "{quantity}");
        }
    }
}

#[test]
fn tables_have_a_line_a_point_and_figures_have_their_intervals() {
    let (directory, file) = with_study("plot", SMALL);
    done(&["study", "run", &file]);
    let figure = directory.join("figure.svg").display().to_string();
    let table = gpusched(&["study", "plot", &file, "--figure", &figure, "--format", "csv"]);
    let text = String::from_utf8(table.stdout).expect("it is text");
    assert!(text.starts_with("family,samples,equal,equal_low,equal_high,optimistic,"), "{text}");
    assert_eq!(text.lines().count(), 3);
    let svg = read(&figure);
    assert!(svg.starts_with("<svg") && svg.contains("unequal") && svg.contains("95 %"), "{svg}");
    done(&["study", "plot", &file, "--figure", &figure, "--y", "optimistic"]);
    done(&["study", "plot", &file, "--figure", &figure, "--y", "max_error", "--x", "family"]);
    for (arguments, message) in [
        (vec!["--y", "speed"], "there is no quantity \"speed\""),
        (vec!["--x", "speed"], "the grid has no key \"speed\""),
        (vec!["--y", "equal", "--y", "max_error"], "do not go into one figure"),
    ] {
        let text = refused(&[&["study", "plot", &file, "--figure", &figure], &arguments[..]].concat());
        assert!(text.contains(message), "{text}");
    }
    assert!(refused(&["study", "plot", &file, "--figure", "a.xyz"]).contains("--figure"));
}

#[test]
fn an_unfinished_study_is_plotted_with_a_note_and_none_is_no_study() {
    let (directory, file) = with_study("unfinished", SMALL);
    assert!(refused(&["study", "plot", &file]).contains("gpusched study run"));
    done(&["study", "run", &file]);
    let rows = directory.join("study.results/rows.csv");
    let text = read(&rows);
    fs::write(&rows, &text[..text.len() / 2]).expect("it can be written");
    let said = done(&["study", "plot", &file]);
    assert!(said.contains("of 10 rows: the study is not complete"), "{said}");
    assert_eq!(gpusched(&["study", "status", &file, "--check"]).status.code(), Some(1));
    assert_eq!(read(&rows).len(), text.len() / 2, "reading changes nothing");
}

#[test]
fn a_file_with_something_behind_its_last_row_is_damaged_until_it_is_gone_on_with() {
    let (directory, file) = with_study("behind", SMALL);
    done(&["study", "run", &file]);
    let rows = directory.join("study.results/rows.csv");
    let text = read(&rows);
    for behind in ["x", "rubbish\n", text.lines().last().expect("there are rows")] {
        fs::write(&rows, format!("{text}{behind}")).expect("it can be written");
        let status = gpusched(&["study", "status", &file, "--check"]);
        assert_eq!(status.status.code(), Some(1), "{behind}");
        assert!(String::from_utf8_lossy(&status.stdout).contains("damaged"));
        done(&["study", "run", &file]);
        assert_eq!(read(&rows), text);
        assert_eq!(gpusched(&["study", "status", &file, "--check"]).status.code(), Some(0));
    }
}
