//! Files and names that are unusual and still mean what they say.

use std::fs;

use crate::common::{directory, gpusched, json, stderr, stdout};

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/small");

#[test]
fn a_byte_order_mark_before_a_file_changes_nothing() {
    let folder = directory("byte_order_marks");
    let mut tried = 0;
    for (name, command) in [
        ("native.json", &["simulate", "FILE", "--format", "csv"][..]),
        ("hosts.json", &["simulate", "FILE", "--format", "csv"]),
        ("examiner.json", &["simulate", "FILE", "--format", "csv"]),
        ("model.amxmi", &["simulate", "FILE", "--format", "csv"]),
        ("kineto.json", &["simulate", "FILE", "--format", "csv"]),
        ("nvprof.csv", &["simulate", "FILE", "--format", "csv"]),
        ("log.json", &["audit", "FILE", "--format", "csv"]),
        ("log.json", &["replay-log", "FILE", "--format", "csv"]),
        ("device.json", &["devices", "FILE", "--format", "csv"]),
        ("tasks.json", &["tasks", "FILE", "--format", "csv"]),
        ("segments.json", &["tasks", "FILE", "--format", "csv"]),
        ("applications.json", &["evr", "FILE", "--format", "csv"]),
        ("warps.json", &["warps", "--instance", "FILE", "--format", "csv"]),
        ("study.json", &["study", "status", "FILE"]),
    ] {
        let plain = fs::read(format!("{SMALL}/{name}")).expect("it is there");
        let file = folder.join(name);
        let printed = |content: &[u8]| {
            fs::write(&file, content).expect("it can be written");
            let path = file.display().to_string();
            let arguments: Vec<&str> = command.iter().map(|word| if *word == "FILE" { &path } else { *word }).collect();
            gpusched(&arguments)
        };
        let (without, with) = (printed(&plain), printed(&[b"\xef\xbb\xbf", &plain[..]].concat()));
        assert!(without.status.code() < Some(2) && !without.stdout.is_empty(), "{name}: {}", stderr(&without));
        assert_eq!((stdout(&with), stderr(&with)), (stdout(&without), stderr(&without)), "{command:?} {name}");
        tried += 1;
    }
    assert_eq!(tried, 14);
    // Lines and columns are those that an editor shows.
    let file = folder.join("wrong.json").display().to_string();
    fs::write(&file, "\u{feff}{\"format\": 3}").expect("it can be written");
    let said = stderr(&gpusched(&["simulate", &file]));
    assert!(said.starts_with(&format!("error: {file}:1:12: ")), "{said}");
}

#[test]
fn both_letters_mu_are_microseconds_in_files_and_options() {
    let file = directory("mu").join("mu.json").display().to_string();
    let scenario = |time: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "mu", "kernels": {{"K": {{"blocks": 1, "threads": 32,
                "duration": "{time}"}}}}, "streams": [{{"name": "S", "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    for mu in ["u", "\u{b5}", "\u{3bc}"] {
        fs::write(&file, scenario(&format!("1.5 {mu}s"))).expect("it can be written");
        let run = json(&["simulate", &file, "--launch-latency", &format!("2{mu}s"), "--format", "json"]);
        assert_eq!(run["kernels"][0]["finish_ns"], 3_500, "{mu}");
    }
}

#[test]
fn blanks_behind_the_last_line_of_an_nvprof_csv_are_no_operation() {
    let plain = fs::read_to_string(format!("{SMALL}/nvprof.csv")).expect("it is there");
    let file = directory("nvprof_blanks").join("profile.csv").display().to_string();
    let simulated = |text: &str| {
        fs::write(&file, text).expect("it can be written");
        let output = gpusched(&["simulate", &file, "--format", "csv"]);
        (output.status.code(), stdout(&output), stderr(&output))
    };
    let expected = simulated(&plain);
    assert_eq!(expected.0, Some(0), "{}", expected.2);
    for behind in [" ", "  \n", "\n \n\t\n", "\r\n "] {
        assert_eq!(simulated(&(plain.clone() + behind)), expected, "{behind:?}");
    }
    assert_eq!(simulated(plain.trim_end().trim_end_matches('"')).0, Some(2), "a line that was cut off is refused");
}

#[test]
fn a_file_may_have_the_longest_name_that_there_is() {
    let folder = directory("long_names");
    for length in [200, 240, 249, 255] {
        for (option, ending) in [("--figure", ".svg"), ("--perfetto", ".json"), ("--html", ".html")] {
            let file = folder.join("n".repeat(length - ending.len()) + ending);
            let path = file.display().to_string();
            let output = gpusched(&["simulate", "scenarios/rtss2017/figure-8.json", option, &path]);
            assert_eq!(output.status.code(), Some(0), "{length}: {}", stderr(&output));
            assert!(file.is_file(), "{length}");
        }
    }
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 12, "no temporary file is left");
    let path = folder.join("n".repeat(256)).display().to_string();
    let output = gpusched(&["convert", "scenarios/rtss2017/figure-8.json", "-o", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("File name too long"), "{}", stderr(&output));
}

#[test]
fn hundreds_of_notes_of_one_kind_are_one_and_their_number() {
    let kernels: Vec<String> =
        (0..826).map(|n| format!(r#""unused {n}": {{"blocks": 1, "threads": 32, "duration": "1 ms"}}"#)).collect();
    let stream = |n: usize| {
        format!(
            r#"{{"name": "S{n}", "period": "9 ms", "jobs": 1, "deadline": "1 us", "operations": [{{"kernel": "K"}}]}}"#
        )
    };
    let streams: Vec<String> = (0..40).map(stream).collect();
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "many", "kernels": {{"K": {{"blocks": 1, "threads": 32,
            "duration": "2 us"}}, {}}}, "streams": [{}]}}"#,
        kernels.join(", "),
        streams.join(", ")
    );
    let file = directory("many_notes").join("many.json").display().to_string();
    fs::write(&file, text).expect("it can be written");
    let output = gpusched(&["simulate", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = "note: kernel \"unused 0\", \"unused 1\", \"unused 10\" and 823 more is never launched\n\
                    note: \"S0\", \"S1\", \"S2\" and 37 more misses its deadline of 1 us in 1 of 1 jobs; the longest \
                    response is 2 us\n";
    assert_eq!(stderr(&output), expected);
    let notes = json(&["simulate", &file, "--format", "json"])["notes"].as_array().map(Vec::len);
    assert_eq!(notes, Some(866), "JSON has every one");
}
