//! Studies of which the samples are files.

use super::*;

/// What is drawn: the command, and its parameters.
const DRAWN: [(&str, &str); 4] = [
    ("tasks segments", r#""tests": ["mpcp-suspend"], "simulated_runs": 1, "utilization_permille": 200"#),
    ("tasks curve", r#""tests": ["sbf", "exact"], "utilization_permille": 300"#),
    (
        "simulate",
        r#""load_percent": 60, "streams": 2, "periods_are": "drawn", "releases_until": "20 ms", "device": "orin""#,
    ),
    ("analyze", r#""load_percent": 60, "streams": 2, "periods_are": "drawn", "search_runs": 2, "tests": ["given"]"#),
];

/// Of these, what says something else than what is drawn.
const KEPT: [&str; 4] = [
    r#""tests": ["mpcp-suspend"], "simulated_runs": 1"#,
    r#""tests": ["sbf", "exact"]"#,
    r#""device": "orin""#,
    r#""search_runs": 2, "tests": ["given"]"#,
];

fn text(command: &str, samples: usize, parameters: &str) -> String {
    let per_row = if command == "tasks curve" { "\"samples_per_row\": 1," } else { "" };
    format!(
        r#"{{"format": "gpusched-study/1", "name": "files", "command": "{command}", "seed": 2, "samples": {samples},
        {per_row} "parameters": {{{parameters}}}}}"#
    )
}

fn in_folder(folder: &Path, text: &str) -> Result<Study, String> {
    Study::from_json("study.json", text, &|name| Study::read_beside(folder, name)).map_err(|error| error.to_string())
}

fn values(study: &Study) -> Vec<String> {
    rows(study, Shard::WHOLE).into_iter().map(|row| row.values).collect()
}

/// Eleven of the quickest, so that the tenth comes behind the ninth and not behind the first.
#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_is_exported_is_read_again_with_the_same_rows() {
    for ((command, drawn), kept) in DRAWN.into_iter().zip(KEPT) {
        let folder = directory(&format!("files-{}", command.replace(' ', "-")));
        fs::create_dir(folder.join("sets")).expect("it is made");
        let samples = if command == "tasks curve" { 11 } else { 2 };
        let drawn = in_folder(&folder, &text(command, samples, drawn)).expect("it is sound");
        for sample in 0..samples as u64 {
            let content = drawn.input(0, sample).expect("it is a file");
            fs::write(folder.join(format!("sets/point-0-sample-{sample}.json")), content).expect("it is written");
        }
        fs::write(folder.join("sets/README.md"), "no sample").expect("it is written");
        let of_folder = in_folder(&folder, &text(command, samples, &format!("\"files\": \"sets\", {kept}")));
        assert_eq!(values(&of_folder.expect("it is sound")), values(&drawn), "{command}");
        if samples == 11 {
            let list = r#""files": ["sets/point-0-sample-10.json", "sets/point-0-sample-3.json"]"#;
            let of_list = in_folder(&folder, &text(command, 2, &format!("{list}, {kept}"))).expect("it is sound");
            let all = values(&drawn);
            assert_eq!(values(&of_list), [all[10].clone(), all[3].clone()], "{command}");
        }
    }
}

#[test]
fn what_is_wrong_with_files_is_named() {
    let folder = directory("files-wrong");
    fs::create_dir_all(folder.join("sets")).expect("it is made");
    fs::create_dir_all(folder.join("empty")).expect("it is made");
    let set = r#"{"sms": 1, "tasks": [{"C": 1, "T": 10, "sm": 0}]}"#;
    fs::write(folder.join("sets/a.json"), set).expect("it is written");
    let stream = r#"{"name": "S", "operations": [{"kernel": "K"}]}"#;
    let kernels = r#""kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 ms"}}"#;
    let scenario = format!(r#"{{"format": "gpusched-scenario/1", "name": "S", {kernels}, "streams": [{stream}]}}"#);
    fs::write(folder.join("scenario.json"), scenario).expect("it is written");
    for (command, samples, parameters, message) in [
        (
            "tasks curve",
            1,
            r#""files": "sets", "sms": 2"#,
            "\"sms\" is for samples that are drawn, and \"files\" names",
        ),
        (
            "tasks curve",
            2,
            r#""files": "sets", "reservation_period": 5"#,
            "there are 2 samples, and \"files\" has 1 of",
        ),
        ("tasks curve", 1, r#""files": "sets""#, "sets/a.json has no reservation"),
        ("tasks curve", 1, r#""files": "sets", "reservation_period": "drawn""#, "of sets in files is a number"),
        ("tasks curve", 1, r#""files": "empty""#, "empty/ has no file that ends in .json"),
        ("tasks curve", 1, r#""files": "nowhere""#, "cannot read nowhere/"),
        ("tasks curve", 1, r#""files": "sets/a.json""#, "a string is a folder; a list has the names of files"),
        ("tasks curve", 1, r#""files": ["sets/a.json", "sets/a.json"]"#, "stands twice"),
        ("tasks segments", 1, r#""files": "sets""#, "sets/a.json:1:1"),
        ("tasks segments", 1, r#""files": 5"#, "the name of a folder, or a list of files"),
        ("simulate", 1, r#""files": "sets", "load_percent": 5"#, "\"load_percent\" is for scenarios that are drawn"),
        ("simulate", 1, r#""files": ["scenario.json"], "scenario": "scenario.json""#, "names one file for all samples"),
        ("simulate", 2, r#""files": ["scenario.json"]"#, "there are 2 samples, and \"files\" has 1 of them"),
        ("analyze", 1, r#""files": ["scenario.json"]"#, "scenario.json: no job has a deadline to judge"),
    ] {
        let error = in_folder(&folder, &text(command, samples, parameters)).expect_err(parameters);
        assert!(error.contains(message), "{command}, {parameters}: {error}");
    }
    // With a period, the reservation is that of `gpusched tasks --reservation-period`.
    let study =
        in_folder(&folder, &text("tasks curve", 1, r#""files": "sets", "reservation_period": 5, "tests": ["sbf"]"#));
    assert_eq!(values(&study.expect("it is sound")).len(), 1);
}

/// Two points, each a folder of its own.
#[test]
fn folders_stand_on_an_axis() {
    let folder = directory("files-axis");
    for (name, work) in [("light", 1), ("heavy", 9)] {
        fs::create_dir(folder.join(name)).expect("it is made");
        for number in 0..2 {
            let tasks = format!(r#"[{{"C": {work}, "T": 10, "sm": 0}}, {{"C": {work}, "T": 20, "sm": "all"}}]"#);
            let reservation =
                r#"{"period": 10, "single": {"offset": 0, "budget": 5}, "all": {"offset": 5, "budget": 5}}"#;
            let set = format!(r#"{{"sms": 1, "tasks": {tasks}, "reservation": {reservation}}}"#);
            fs::write(folder.join(format!("{name}/{number}.json")), set).expect("it is written");
        }
    }
    let text =
        text("tasks curve", 2, r#""tests": ["exact"]"#).replace("}}", r#"}, "grid": {"files": ["light", "heavy"]}}"#);
    let study = in_folder(&folder, &text).expect("it is sound");
    let accepted: Vec<String> =
        values(&study).iter().map(|row| row.split(',').nth(7).expect("exact").to_owned()).collect();
    assert_eq!(accepted, ["1", "1", "0", "0"]);
}
