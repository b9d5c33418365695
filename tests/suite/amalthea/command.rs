//! Models on the command line.

use std::path::Path;
use std::process::Output;

use super::super::published;
use super::*;
use crate::common::gpusched_with;

fn gpusched(arguments: &[&str], input: &str) -> Output {
    gpusched_with(input, arguments)
}

fn shipped(name: &str) -> String {
    published::root().join(format!("amalthea/{name}.amxmi")).display().to_string()
}

#[test]
fn the_listing_as_json_has_the_fixed_keys() {
    let output = gpusched(&["amalthea", &shipped("tx2-like-waters2019"), "--format", "json"], "");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["version"], "0.9.7");
    let runnable = &document["runnables"][1];
    assert_eq!(runnable["name"], "Localization");
    assert_eq!(runnable["grid_size"], 16);
    let ticks = &runnable["ticks"][0];
    let found = (&ticks["processing_unit"], &ticks["lower"], &ticks["value"], &ticks["upper"]);
    let (unit, lower, value, upper) = ("GP10B".into(), 175_500_000.into(), 180_000_000.into(), 186_000_000.into());
    assert_eq!(found, (&unit, &lower, &value, &upper));
    assert_eq!(document["skipped"], serde_json::json!({}));
    assert_eq!(document["runnables"][0]["grid_size"], serde_json::Value::Null);
}

#[test]
fn the_listing_as_csv_has_a_line_for_each_amount_and_each_runnable_without() {
    let output = gpusched(
        &["amalthea", "-", "--format", "csv"],
        &one_runnable(&format!("<callGraph>{}{}</callGraph>", ticks_item("3"), ticks_item("4")))
            .replace("name=\"R\"", "name=\"A, B\""),
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        text,
        "runnable,processing_unit,unit,lower,value,upper,grid_size,block_size,copy,copy_bytes\n\"A, B\",,ticks,3,3,3,,,,\n\"A, B\",,ticks,4,4,4,,,,\n"
    );
}

#[test]
fn a_model_is_simulated_from_standard_input_too() {
    let text = one_runnable(&format!("<activityGraph>{}</activityGraph>", ticks_item("1000")));
    let arguments =
        ["simulate", "-", "--runnables", "R", "--grid-size", "R=9", "--block-size", "R=512", "--format", "json"];
    let output = gpusched(&arguments, &text);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    // Eight blocks at once, so nine are two waves.
    assert_eq!(document["kernels"][0]["finish_ns"], 2_000);
    assert_eq!(document["kernels"][0]["label"], "R");
}

#[test]
fn wrong_models_and_options_end_with_exit_status_2() {
    let model = one_runnable("");
    let json = r#"{"name": "x", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
        {"filename": "timer_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0}]}"#;
    let cases: [(&[&str], &str, &str); 10] = [
        (&["amalthea", "-"], "<a>", "standard input:1:4: this is not valid XML"),
        (&["amalthea", "no/such.amxmi"], "", "cannot open"),
        (&["simulate", "-"], &model, "GridSize"),
        (&["simulate", "-", "--runnables", "R", "--grid-size", "R=0"], &model, "from 1"),
        (&["simulate", "-", "--grid-size", "R=1", "--grid-size", "R=2"], &model, "given twice"),
        (&["simulate", "-", "--ticks", "most"], &model, "upper"),
        (&["simulate", "-", "--runnables", "R"], json, "--runnables is for AMALTHEA models"),
        (&["simulate", "-", "--runnable-times", "times.txt"], json, ".csv or .json"),
        (&["analyze", "-", "--runnable-times", "times"], json, ".csv or .json"),
        (&["compare", "-", "--runnable-times", "times.CSV"], json, ".csv or .json"),
    ];
    for (arguments, input, words) in cases {
        let output = gpusched(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words) && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
}

#[test]
fn runnable_times_are_written_to_a_file_with_the_analysed_ones_where_there_is_an_analysis() {
    let null = serde_json::Value::Null;
    for (command, analysed) in [("simulate", null), ("analyze", 73_000_000.into()), ("compare", 73_000_000.into())] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runnable-times-{command}.json"));
        let _ = std::fs::remove_file(&path);
        let output =
            gpusched(&[command, &shipped("thesis-appendix"), "--runnable-times", &path.display().to_string()], "");
        assert_eq!(output.status.code(), Some(0));
        let document: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect("it was written")).expect("one document");
        let last = &document["runnables"][4];
        // By hand, as in `the_appendix_example_finishes_as_algorithm_2_has_it`.
        assert_eq!((&last["runnable"], &last["kernel_finish_ns"]), (&"R5".into(), &73_000_000.into()));
        assert_eq!((command, &last["analysed_kernel_finish_ns"]), (command, &analysed));
        assert_eq!((command, &last["analysed_response_ns"]), (command, &analysed));
    }
}

#[test]
fn a_model_is_drawn() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tx2-like-waters2019.svg");
    let _ = std::fs::remove_file(&path);
    let arguments = ["simulate", &shipped("tx2-like-waters2019"), "--figure", &path.display().to_string()];
    assert_eq!(gpusched(&arguments, "").status.code(), Some(0));
    let figure = std::fs::read_to_string(&path).expect("it was drawn");
    assert!(["Localization", "Detection", "Lane detection", "SFM"].iter().all(|name| figure.contains(name)));
}

#[test]
fn check_fails_where_a_requirement_is_left_unchecked_unless_that_is_allowed() {
    // Detect takes 5 ms of 20; the other requirement speaks of a task of which nothing runs on the GPU.
    let path = published::root().join("amalthea/periodic-with-requirements.amxmi");
    let text = std::fs::read_to_string(path).expect("it is there");
    let text = text.replace(r#"runnable="Plan?type=Runnable"/>"#, r#"runnable="Detect?type=Runnable"/>"#);
    let text = text.replace(r#"stimuli="Request?type=RelativePeriodicStimulus""#, r#"stimuli="None?type=Stimulus""#);
    let text = text.replace(r#"<tasks name="Planner""#, r#"<isrs name="Other"/><tasks name="Planner""#);
    let only_camera = text.replace(
        r#"<callGraph><items xsi:type="am:RunnableCall" runnable="Detect?type=Runnable"/></callGraph>
    </tasks>
    <runnables"#,
        "</tasks><runnables",
    );
    let with_cpu = only_camera.replace(
        r#"name="Plan in time" runnable="Detect?type=Runnable""#,
        r#"name="Plan in time" runnable="Plan?type=Runnable""#,
    );
    let check = |more: &[&str]| {
        let arguments = [&["analyze", "-", "--runnables", "Detect", "--verdicts", "--check"], more].concat();
        gpusched(&arguments, &with_cpu)
    };
    let output = check(&[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1 of 2 requirements of the model are not checked"), "{said}");
    assert_eq!(check(&["--allow-unchecked"]).status.code(), Some(0), "{said}");
}

#[test]
fn a_model_is_no_task_set() {
    let output = gpusched(&["tasks", &shipped("tx2-like-waters2019")], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("AMALTHEA model"), "{said}");
}
