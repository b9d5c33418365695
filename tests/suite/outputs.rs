//! Outputs that are inputs, or each other, are refused before anything is read or written.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::common::{directory, gpusched, stderr};

const SCENARIO: &str = r#"{"format": "gpusched-scenario/1", "name": "s", "comment": "mine",
    "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
    "streams": [{"name": "S", "operations": [{"kernel": "K"}]}],
    "expected": {"source": "by hand", "tolerance": "0 ns", "kernels": [{"name": "K", "finish": "1 ms"}]}}"#;

fn written(test: &str) -> (PathBuf, String) {
    let folder = directory(&format!("outputs/{test}"));
    let file = folder.join("in.json");
    fs::write(&file, SCENARIO).expect("it can be written");
    (folder, file.display().to_string())
}

fn refused(output: &Output, words: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_output_that_is_the_input_by_any_name_is_refused_and_the_input_left_as_it_was() {
    let (folder, file) = written("input");
    let link = folder.join("link.json");
    std::os::unix::fs::symlink(&file, &link).expect("links can be made");
    let hard = folder.join("hard.json");
    fs::hard_link(&file, &hard).expect("links can be made");
    let around = folder.join("../input/./in.json");
    for name in [PathBuf::from(&file), link, hard, around] {
        let output = gpusched(&["simulate", &file, "--perfetto", &name.display().to_string()]);
        refused(&output, &["--perfetto", "SCENARIO", "is read for"]);
        assert_eq!(fs::read_to_string(&file).expect("it is there"), SCENARIO);
    }
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let (folder, file) = written("twice");
    let (one, other) = (folder.join("run.html"), folder.join("./run.html"));
    let (one, other) = (one.display().to_string(), other.display().to_string());
    refused(&gpusched(&["simulate", &file, "--html", &one, "--perfetto", &other]), &["--html", "--perfetto"]);
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 1, "nothing is written");
    let device = gpusched(&["simulate", "scenarios/rtss2017/figure-3.json", "--device", &file, "--perfetto", &file]);
    refused(&device, &["--device", "--perfetto"]);
    let null = gpusched(&["simulate", &file, "--perfetto", "/dev/null", "--responses", "/dev/null"]);
    assert!(!stderr(&null).contains("a name of its own"), "what is no file is written to as often as asked for");
}

#[test]
fn what_is_no_standard_output_is_refused_rather_than_written_into_a_file_of_that_name() {
    let (_, file) = written("dash");
    for option in ["--blocks-csv", "--perfetto", "--html"] {
        refused(&gpusched(&["simulate", &file, option, "-"]), &[option, "found -", "not standard output"]);
    }
    assert!(gpusched(&["convert", &file, "--out", "-"]).status.success());
}

#[test]
fn convert_replaces_nothing_unless_it_is_told_to_and_says_what_it_leaves_out() {
    let (folder, file) = written("convert");
    refused(&gpusched(&["convert", &file, "-o", &file]), &["--out", "SCENARIO", "--force"]);
    let other = folder.join("other.json").display().to_string();
    fs::write(&other, "mine").expect("it can be written");
    refused(&gpusched(&["convert", &file, "-o", &other]), &["--out", "other.json exists; --force replaces it"]);
    assert_eq!(fs::read_to_string(&other).expect("it is there"), "mine");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), SCENARIO);
    let forced = gpusched(&["convert", &file, "-o", &file, "--force"]);
    let said = stderr(&forced);
    assert!(forced.status.success(), "{said}");
    assert!(
        said.contains("expected result is left out") && said.contains("comments of the file are left out"),
        "{said}"
    );
    assert!(!fs::read_to_string(&file).expect("it is there").contains("mine"));
    let named = fs::read_to_string(&file).expect("it is there").replace("\"name\": \"", "\"name\": \"comment on ");
    fs::write(&other, named).expect("it can be written");
    let no_comment = stderr(&gpusched(&["convert", &other]));
    assert!(!no_comment.contains("comments of the file"), "a name is no comment: {no_comment}");
}

#[test]
fn what_import_only_writes_is_refused_where_it_writes_nothing() {
    for option in [&["--mps"][..], &["--time-slice", "1 ms"], &["--switch-cost", "1 us"]] {
        let arguments = [&["import", "scenarios/profiles/synthetic.json"][..], option].concat();
        refused(&gpusched(&arguments), &[option[0], "--out"]);
    }
}
