//! The command as its user meets it: exit status, streams, files.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::common::{command, directory, document, gpusched, gpusched_with, stderr, stdout};
use crate::markdown::{Seen, seen};

const TWO_BENCHMARKS: &str = r#"{
  "name": "two", "max_iterations": 2, "max_time": 0, "cuda_device": 0,
  "benchmarks": [
    {"filename": "./bin/timer_spin.so", "log_name": "one.json", "label": "One", "thread_count": 512, "block_count": 2,
     "data_size": 0, "additional_info": 1500000},
    {"filename": "./bin/timer_spin_default_stream.so", "thread_count": 140, "block_count": 1,
     "data_size": 7, "additional_info": "250", "release_time": 0.0000005, "cpu_core": 3}
  ]
}"#;

fn scenario(directory: &Path, text: &str) -> String {
    let path = directory.join("scenario.json");
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn a_wrong_value_is_reported_with_file_line_column_path_and_exit_status_2() {
    let directory = directory("wrong_value");
    let file = scenario(&directory, &TWO_BENCHMARKS.replace("512", "\"many\""));
    let output = gpusched(&["simulate", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let text = stderr(&output);
    assert!(text.contains("scenario.json:4:97: benchmarks[0].thread_count: expected a whole number"), "{text}");
    assert!(text.contains("found \"many\""), "{text}");
}

#[test]
fn files_that_cannot_be_read_or_written_end_with_exit_status_2() {
    let directory = directory("unreadable");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let folder = directory.display().to_string();
    for arguments in [
        vec!["simulate", "no/such/file.json"],
        vec!["orders", &folder],
        vec!["simulate", &file, "--logs", &file],
        vec!["simulate", &file, "--device", "gtx9999"],
        vec!["simulate", &file, "--device", &folder],
        vec!["simulate", &file, "--block-duration", "nobody=1ms"],
        vec!["simulate", &file, "--horizon", "5"],
        vec!["simulate", &file, "--vary", "100..80"],
        vec!["simulate", &file, "--blocks"],
        vec!["simulate", &file, "--check"],
        vec!["simulate", &file, "--rules", "--format", "csv"],
        vec!["simulate", &file, "--state-at", "1ms", "--format", "markdown"],
        vec!["simulate", &file, "--placement", "somewhere"],
        vec!["no-such-command"],
    ] {
        let output = gpusched(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?} says nothing");
    }
}

#[test]
fn standard_output_that_cannot_be_written_is_exit_status_2_and_a_closed_pipe_ends_quietly() {
    let directory = directory("full");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let commands: [&[&str]; 8] = [
        &["simulate", &file],
        &["convert", &file, "-o", "-"],
        &["schema", "scenario"],
        &["completions", "bash"],
        &["devices"],
        &["--help"],
        &["study", "run", "--help"],
        &["--version"],
    ];
    for arguments in commands {
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { break };
        let status = command().args(arguments).stdout(full).stderr(Stdio::null()).status().expect("the command runs");
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
    let many = scenario(&directory, &TWO_BENCHMARKS.replace("\"block_count\": 2", "\"block_count\": 100000"));
    let mut child = command()
        .args(["simulate", &many, "--blocks", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut first = [0_u8; 16];
    let mut pipe = child.stdout.take().expect("it is piped");
    pipe.read_exact(&mut first).expect("it prints something");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn where_one_log_cannot_be_written_no_other_replaces_an_older_one() {
    let directory = directory("together");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let logs = directory.join("logs");
    let logs_argument = logs.display().to_string();
    assert_eq!(gpusched(&["simulate", &file, "--logs", &logs_argument]).status.code(), Some(0));
    let mut names: Vec<_> =
        fs::read_dir(&logs).expect("written").map(|entry| entry.expect("readable").path()).collect();
    names.sort();
    let [first, second] = &names[..] else { panic!("{names:?}") };
    fs::write(first, "older").expect("it can be written");
    fs::remove_file(second).expect("it is there");
    fs::create_dir(second).expect("it can be made");
    let output = gpusched(&["simulate", &file, "--logs", &logs_argument, "--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("it is a directory"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(first).expect("it is there"), "older");
    assert_eq!(fs::read_dir(&logs).expect("it is there").count(), 2, "no temporary file is left");
}

#[test]
fn a_dash_reads_standard_input_and_json_is_one_document() {
    let arguments = ["simulate", "-", "--format", "json", "--state-at", "1ms", "--blocks"];
    let document = document(&gpusched_with(TWO_BENCHMARKS, &arguments));
    assert_eq!(document["kernels"][0]["finish_ns"], 1_500_000);
    // The NULL-stream kernel was launched after the first kernel of the blocking stream, so N1 holds it.
    assert_eq!(document["kernels"][1]["waits_ns"]["N1"], 1_499_500);
    assert_eq!(document["kernels"][1]["stream"], -1);
    assert_eq!(document["states"][0]["sms"][0]["resident"][0]["kernel"], "One");
}

#[test]
fn logs_have_the_examiners_form() {
    let directory = directory("logs");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let logs = directory.join("results");
    let folder = logs.display().to_string();
    assert_eq!(gpusched(&["simulate", &file, "--logs", &folder]).status.code(), Some(0));
    // Written by hand from the form of the examiner's logs.
    let expected = r#"{
"scenario_name": "two",
"benchmark_name": "Timer Spin",
"label": "One",
"max_resident_threads": 4096,
"data_size": 0,
"release_time": 0.000000,
"PID": 1,
"TID": 1,
"times": [{},
{"copy_in_times": [0.000000000,0.000000000], "execute_times": [0.000000000,0.001500000], "copy_out_times": [0.001500000,0.001500000], "cpu_times": [0.000000000,0.001500000]},
{"kernel_name": "GPUSpin", "block_count": 2, "thread_count": 512, "shared_memory": 0, "cuda_launch_times": [0.000000000, 0.000000000, 0.001500000], "block_times": [0.000000000,0.001500000,0.000000000,0.001500000], "block_smids": [0,1], "cpu_core": 0},
{"copy_in_times": [0.001500000,0.001500000], "execute_times": [0.001500000,0.003000250], "copy_out_times": [0.003000250,0.003000250], "cpu_times": [0.001500000,0.003000250]},
{"kernel_name": "GPUSpin", "block_count": 2, "thread_count": 512, "shared_memory": 0, "cuda_launch_times": [0.001500000, 0.001500000, 0.003000250], "block_times": [0.001500250,0.003000250,0.001500250,0.003000250], "block_smids": [0,1], "cpu_core": 0}
]}
"#;
    let written = fs::read_to_string(logs.join("one.json")).expect("the log was written");
    assert_eq!(written, expected);
    let second = fs::read_to_string(logs.join("timer_spin_default_stream_1.json")).expect("the log was written");
    assert!(
        second.contains("\"benchmark_name\": \"Timer Spin (default stream)\",\n\"max_resident_threads\""),
        "{second}"
    );
    assert!(second.contains("\"release_time\": 0.000001,\n\"PID\": 1,\n\"TID\": 2,"), "{second}");
    assert!(second.contains("\"cuda_launch_times\": [0.000000500, 0.000000500, 0.000000000]"), "{second}");

    let again = gpusched(&["simulate", &file, "--logs", &folder]);
    assert_eq!(again.status.code(), Some(2), "existing logs are kept");
    assert!(stderr(&again).contains("--force"));
    assert_eq!(gpusched(&["simulate", &file, "--logs", &folder, "--force"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(logs.join("one.json")).expect("it is there"), expected, "the same bytes again");
    let leftovers = fs::read_dir(&logs).expect("it is there").count();
    assert_eq!(leftovers, 2, "no temporary files stay behind");
}

#[test]
fn log_names_that_lead_out_of_the_directory_are_refused_unless_allowed() {
    let directory = directory("escaping");
    let file = scenario(&directory, &TWO_BENCHMARKS.replace("one.json", "../evil.json"));
    let logs = directory.join("results").display().to_string();
    assert_eq!(gpusched(&["simulate", &file]).status.code(), Some(0), "without --logs nothing is written");
    let refused = gpusched(&["simulate", &file, "--logs", &logs]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--allow-log-paths"));
    assert!(!directory.join("results").exists(), "nothing was written");
    assert_eq!(gpusched(&["simulate", &file, "--logs", &logs, "--allow-log-paths"]).status.code(), Some(0));
    assert!(directory.join("evil.json").exists());
}

#[test]
fn a_horizon_ends_a_run_and_says_what_had_not_finished() {
    let directory = directory("horizon");
    let endless = TWO_BENCHMARKS.replace("\"max_iterations\": 2", "\"max_iterations\": 0");
    let file = scenario(&directory, &endless);
    let refused = gpusched(&["simulate", &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("never ends") && stderr(&refused).contains("--horizon"), "{}", stderr(&refused));
    let output = gpusched(&["simulate", &file, "--horizon", "1ms", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert!(document["makespan_ns"].is_null());
    assert!(document["kernels"][0]["finish_ns"].is_null());
    assert!(document["notes"][0].as_str().expect("a note").contains("2 of 2 operations had not finished"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_block_times() {
    let directory = directory("seed");
    let file = scenario(&directory, &TWO_BENCHMARKS.replace("\"block_count\": 2", "\"block_count\": 200"));
    let run = |seed: &str| {
        let arguments = ["simulate", &file, "--vary", "50..100", "--placement", "random", "--seed", seed];
        gpusched(&[&arguments[..], &["--blocks", "--format", "csv"]].concat()).stdout
    };
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn devices_are_listed_shown_and_can_be_used_as_files() {
    let directory = directory("devices");
    let list = gpusched(&["devices"]);
    let text = String::from_utf8_lossy(&list.stdout);
    for name in gpusched::device::BUILTIN_NAMES {
        assert!(text.contains(name), "{name} is not listed");
        let file = gpusched(&["devices", name, "--format", "json"]);
        let path = directory.join(format!("{name}.json"));
        fs::write(&path, &file.stdout).expect("it can be written");
        let mine = gpusched(&["devices", &path.display().to_string(), "--format", "json"]);
        assert_eq!(mine.stdout, file.stdout, "{name} reads back as it was written");
    }
    let csv = gpusched(&["devices", "tx2", "--format", "csv"]);
    let lines = stdout(&csv);
    assert_eq!(lines.lines().next(), Some("limit,value,from"));
    assert!(lines.lines().any(|line| line == "per_sm.threads,2048,source"), "{lines}");
    let one = gpusched(&["devices", "tx2"]);
    let text = String::from_utf8_lossy(&one.stdout).into_owned();
    assert!(text.contains("copy.latency_ns") && text.contains("assumption") && text.contains("RTSS 2017"), "{text}");
}

#[test]
fn threads_that_wait_for_one_another_forever_are_an_error_and_not_a_silent_end() {
    let directory = directory("deadlock");
    let file = scenario(
        &directory,
        r#"{"format": "gpusched-scenario/1", "name": "crossed barriers",
            "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 ms"}}, "streams": [{"name": "A"}],
            "hosts": [
              {"name": "a", "steps": [{"barrier": "x"}, {"barrier": "y"}, {"launch": "K", "stream": "A"}]},
              {"name": "b", "steps": [{"barrier": "y"}, {"barrier": "x"}]}]}"#,
    );
    let output = gpusched(&["simulate", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("waits forever"), "{}", stderr(&output));
}

#[test]
fn a_state_after_the_horizon_is_refused() {
    let directory = directory("late_state");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let output = gpusched(&["simulate", &file, "--horizon", "1ms", "--state-at", "2ms"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("horizon"), "{}", stderr(&output));
}

#[test]
fn a_replayed_log_is_drawn_measured_above_simulated_on_one_axis() {
    let directory = directory("replay_figure");
    let figure = directory.join("replay.svg").display().to_string();
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs/two-streams").display().to_string();
    let output = gpusched(&["replay-log", &logs, "--figure", &figure]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(&figure).expect("the figure was written");
    let document = roxmltree::Document::parse(&text).expect("it is XML");
    let texts: Vec<&str> =
        document.descendants().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("measured: ")), "{texts:?}");
    assert!(texts.contains(&"simulated"), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| text.starts_with("time [")).count(), 2, "both have an axis");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_markdown_of_texts_has_every_word_of_the_text_and_tables_that_stand_apart() {
    let directory = directory("markdown_texts");
    let tasks = directory.join("tasks.json");
    let text = r#"{"sms": 2, "priority_levels": 2,
        "tasks": [{"name": "a", "C": 2, "T": 10, "sm": 0}, {"name": "b", "C": 4, "T": 12, "sm": "all"}],
        "reservation": {"period": 10, "single": {"offset": 0, "budget": 5}, "all": {"offset": 5, "budget": 5}}}"#;
    fs::write(&tasks, text).expect("it can be written");
    let tasks = tasks.display().to_string();
    let model = "scenarios/amalthea/periodic-with-requirements.amxmi";
    let figure = "scenarios/rtss2017/figure-8.json";
    let kineto = "scenarios/profiles/synthetic.json";
    let logs = "tests/data/logs/two-streams";
    for (command, tables) in [
        (&["devices"][..], 1),
        (&["devices", "tx2"], 1),
        (&["simulate", figure], 1),
        (&["compare", figure], 1),
        (&["orders", figure, "--samples", "2"], 1),
        (&["merged-sm", "--samples", "20"], 1),
        (&["occupancy", kineto], 1),
        (&["import", kineto], 1),
        (&["audit", kineto], 1),
        (&["audit", logs], 0),
        (&["replay-log", logs], 1),
        (&["replay-log", kineto], 2),
        (&["analyze", figure, "--deadline", "S1=1s"], 2),
        (&["analyze", model], 4),
        (&["tasks", &tasks, "--smallest-budgets", "10"], 2),
        (&["tasks", "run", &tasks, "--strategy", "single-stream"], 1),
        (&["evr", "gpu-evr-figure-1"], 3),
        (&["evr", "narrow-k20m", "--inject", "2", "--samples", "2"], 2),
        (&["warps", "LLCL", "--warps", "3"], 1),
        (&["amalthea", model], 4),
    ] {
        let [people, markdown] =
            [&[][..], &["--format", "markdown"]].map(|format| gpusched(&[command, format].concat()));
        assert_eq!(markdown.status.code(), Some(0), "{command:?}: {}", stderr(&markdown));
        let markdown = stdout(&markdown);
        let words = |line: &str| line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let Seen { tables: rows, lines } = seen(&markdown);
        let rows = rows.into_iter().flatten().map(|row| row.join(" "));
        let found: std::collections::BTreeSet<Vec<String>> =
            lines.into_iter().chain(rows).map(|line| words(&line)).collect();
        // Long names are shortened for people alone (blame::long_names_are_shortened_for_people_...).
        for line in stdout(&people).lines().filter(|line| !line.trim().is_empty() && !line.contains('…')) {
            assert!(found.contains(&words(line)), "{command:?}: {line} is not in {markdown}");
        }
        let lines: Vec<&str> = markdown.lines().collect();
        let is_row = |line: &&str| line.starts_with('|');
        let blocks: Vec<&[&str]> = lines.chunk_by(|one, other| is_row(one) == is_row(other)).collect();
        assert_eq!(blocks.iter().filter(|block| is_row(&block[0])).count(), tables, "{command:?}: {markdown}");
        for pair in blocks.windows(2) {
            let [text] = [pair[usize::from(is_row(&pair[0][0]))]];
            let beside = if is_row(&pair[0][0]) { text.first() } else { text.last() };
            assert_eq!(beside, Some(&""), "{command:?}: a line touches a table in {markdown}");
        }
    }
}

#[test]
fn a_block_that_the_horizon_cuts_has_no_end() {
    // All blocks of the scenario run longer than the run.
    let arguments = ["simulate", "scenarios/rtss2017/figure-3.json", "--horizon", "0.1s", "--blocks", "--format"];
    let out = |format| stdout(&gpusched(&[&arguments[..], &[format]].concat()));
    let document: serde_json::Value = serde_json::from_str(&out("json")).expect("it is JSON");
    let placements = |kernel: &serde_json::Value| kernel["placements"].as_array().cloned().unwrap_or_default();
    let kernels = document["kernels"].as_array().expect("there are kernels");
    let blocks: Vec<serde_json::Value> = kernels.iter().flat_map(placements).collect();
    assert!(!blocks.is_empty());
    assert!(blocks.iter().all(|block| block["end_ns"].is_null()), "{blocks:?}");
    assert!(out("csv").lines().skip(1).all(|line| line.ends_with(',')));
}

#[cfg(unix)]
#[test]
fn output_replaces_a_link_and_leaves_what_it_points_to_alone() {
    let directory = directory("link");
    let (target, link) = (directory.join("target.svg"), directory.join("link.svg"));
    fs::write(&target, "kept").expect("it can be written");
    std::os::unix::fs::symlink(&target, &link).expect("it can be made");
    let figure = link.display().to_string();
    let output = gpusched(&["simulate", "scenarios/rtss2017/figure-3.json", "--figure", &figure]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&target).expect("it is there"), "kept");
    assert!(!link.is_symlink() && fs::read_to_string(&link).expect("it is there").starts_with("<svg"));
}

#[test]
fn convert_reads_its_input_once_so_that_a_pipe_will_do() {
    let file = "scenarios/rtss2017/figure-3.json";
    let text = std::fs::read_to_string(file).expect("it is there");
    let piped = crate::common::gpusched_with(&text, &["convert", "/dev/stdin"]);
    let read = gpusched(&["convert", file]);
    assert_eq!(piped.status.code(), Some(0), "{}", stderr(&piped));
    assert_eq!((stdout(&piped), stderr(&piped)), (stdout(&read), stderr(&read)));
}

#[test]
fn files_that_were_written_are_told_on_standard_error_and_nothing_else_changes() {
    let directory = directory("told");
    let file = scenario(&directory, TWO_BENCHMARKS);
    let plain = gpusched(&["simulate", &file]);
    assert_eq!(stderr(&plain), "");
    let [figure, trace] = ["a.svg", "b.json"].map(|name| directory.join(name).display().to_string());
    let written = gpusched(&["simulate", &file, "--figure", &figure, "--perfetto", &trace]);
    assert_eq!(stderr(&written), format!("wrote {figure}, {trace}\n"));
    assert_eq!(written.stdout, plain.stdout);
    let nowhere = gpusched(&["simulate", &file, "--perfetto", "/dev/null"]);
    assert_eq!((stderr(&nowhere).as_str(), nowhere.stdout), ("", plain.stdout));
}

#[test]
fn a_check_that_only_deadlines_pass_says_so() {
    let met = ["simulate", "scenarios/deadlines/camera-and-lidar.json", "--deadline", "camera=13ms", "--check"];
    let output = gpusched(&met);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("no job misses its deadline in this run"), "{}", stderr(&output));
}

#[test]
fn names_that_are_near_to_known_ones_are_suggested() {
    let figure = "scenarios/rtss2017/figure-3.json";
    let cases: [(&[&str], &str); 6] = [
        (&["devices", "tx-2"], "\"tx2\""),
        (&["simulate", figure, "--device", "a100"], "\"a100-40gb\", \"a100-80gb\" or \"a100-80gb-pcie\""),
        (&["simulate", figure, "--set-priority", "s1=-1"], "\"S1\""),
        (&["simulate", figure, "--set-block-time", "k1=1s"], "\"K1\""),
        (&["simulate", figure, "--period", "CPU1=1s"], "\"CPU 1\""),
        (&["figures", "--only", "rtss2017_figure_3", "--check"], "\"rtss2017-figure-3\""),
    ];
    for (arguments, near) in cases {
        let output = gpusched(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(&format!("did you mean {near}?")), "{}", stderr(&output));
    }
}

#[test]
fn a_file_with_a_name_that_is_nearly_that_of_another_is_told_with_it() {
    for (given, meant) in [
        ("scenarios/rtss2017/figure3.json", "scenarios/rtss2017/figure-3.json"),
        ("scenario/rtss2017/figure-3.json", "scenarios"),
    ] {
        for command in [&["simulate"][..], &["analyze"], &["audit"]] {
            let output = gpusched(&[command, &[given]].concat());
            let words = format!("{given} (did you mean {meant:?}?)");
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            assert!(stderr(&output).contains(&words), "{command:?} {words}: {}", stderr(&output));
        }
    }
    assert!(!stderr(&gpusched(&["simulate", "no such thing.json"])).contains("did you mean"));
}
