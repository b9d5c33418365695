//! Commands on scenarios of several processes: right and wrong values, and what does not change a byte.

use std::fs;
use std::path::Path;

use gpusched::analysis::{analyse, merged_scenario};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::trace::OperationRecord;
use serde_json::{Value, json};

use crate::common::{absent, directory, gpusched, gpusched_in, stderr, stdout};
use crate::published;

/// Two processes, each with a kernel that fills a TX2 for 3 ms.
fn two() -> Value {
    let stream = |name: &str| json!({"name": name, "process": name, "operations": [{"kernel": "K"}]});
    json!({
        "format": "gpusched-scenario/1", "name": "two", "device": "tx2", "processes": {"P": {}, "Q": {}},
        "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "3 ms"}}, "streams": [stream("P"), stream("Q")],
    })
}

fn written(test: &str, file: &Value) -> String {
    let path = directory(test).join("two.json");
    fs::write(&path, file.to_string()).expect("the build directory can be written");
    path.to_str().expect("it is text").to_owned()
}

/// When the kernels of a scenario finish \[us\].
fn finishes(path: &str, options: &[&str]) -> Vec<u64> {
    let output = gpusched(&[&["simulate", path, "--format", "json"], options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let kernels = document["kernels"].as_array().expect("a list");
    kernels.iter().map(|kernel| kernel["finish_ns"].as_u64().expect("it finishes") / 1_000).collect()
}

#[test]
fn compare_draws_processes_as_the_threads_of_one_as_which_they_are_analysed() {
    let path = written("process-merged", &two());
    let folder = Path::new(&path).parent().expect("it is in a folder");
    let output = gpusched_in(folder, &["compare", "two.json", "--html", "two.html", "--figure", "two.svg"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.join("two.html").is_file() && folder.join("two.svg").is_file());

    let scenario = Scenario::from_json("two.json", &two().to_string(), &ReadOptions::default()).expect("it is sound");
    let analysis = analyse(&scenario).expect("it can be analysed");
    let merged = merged_scenario(&scenario, &analysis).expect("it fits");
    assert_eq!(merged.catalogue.processes().len(), 2, "each keeps its NULL stream");
    let run = simulate(&merged).expect("it runs");
    let finishes: Vec<_> = run.trace.operations().iter().map(OperationRecord::finish).collect();
    assert_eq!(finishes, [3, 6].map(|ms| Some(Instant::from_ns(1_000_000 * ms))));
}

/// Asserts that it is refused, with these words, before anything is printed.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let output = gpusched(arguments);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{}", stderr(&output));
    for word in words {
        assert!(stderr(&output).contains(word), "{word:?} is not in {}", stderr(&output));
    }
}

#[test]
fn slices_and_switches_of_the_command_line_replace_those_of_the_device() {
    let path = written("process-options", &two());
    for (options, expected) in [
        (&["--time-slice", "1ms", "--switch-cost", "0s"][..], [5_000, 6_000]),
        (&["--time-slice", "3ms", "--switch-cost", "0s"], [3_000, 6_000]),
        (&["--time-slice", "1ms", "--switch-cost", "100us"], [5_400, 6_500]),
        // As long as a slice, and no longer.
        (&["--time-slice", "1ms", "--switch-cost", "1ms"], [9_000, 11_000]),
        (&["--mps"], [3_000, 6_000]),
        (&["--as-threads"], [3_000, 6_000]),
    ] {
        assert_eq!(finishes(&path, options), expected, "{options:?}");
    }
}

#[test]
fn options_of_processes_that_change_nothing_say_so() {
    let path = written("process-options-without-effect", &two());
    let mut alone = two();
    alone["processes"] = json!({});
    for stream in alone["streams"].as_array_mut().expect("a list") {
        stream.as_object_mut().expect("an object").remove("process");
    }
    let alone = written("process-options-of-one", &alone);
    let slices = ["--time-slice", "1ms", "--switch-cost", "0s"];
    for (path, options, without_effect) in [
        (&path, &slices[..], &[][..]),
        (&path, &["--mps"], &[]),
        (&path, &["--as-threads"], &[]),
        (
            &path,
            &[&slices[..], &["--mps"]].concat(),
            &["--time-slice has no effect: clients of MPS", "--switch-cost has no effect: clients of MPS"],
        ),
        (
            &path,
            &[&slices[..], &["--as-threads"]].concat(),
            &[
                "--time-slice has no effect: processes run as threads",
                "--switch-cost has no effect: processes run as threads",
            ],
        ),
        (
            &alone,
            &[&slices[..], &["--mps"]].concat(),
            &[
                "--time-slice has no effect: there is one process",
                "--switch-cost has no effect: there is one process",
                "--mps has no effect: there is one process",
            ],
        ),
        (&alone, &["--as-threads"], &["--as-threads has no effect: nothing asks for processes"]),
    ] {
        let output = gpusched(&[&["simulate", path][..], options].concat());
        let notes: Vec<String> =
            stderr(&output).lines().filter(|line| line.contains("no effect")).map(str::to_owned).collect();
        assert_eq!(notes.len(), without_effect.len(), "{options:?}: {notes:?}");
        for expected in without_effect {
            assert!(notes.iter().any(|note| note.contains(expected)), "{options:?}: {notes:?}");
        }
    }
}

#[test]
fn wrong_slices_and_switches_are_refused_on_the_command_line() {
    let path = written("process-wrong-options", &two());
    for (options, words) in [
        (&["--time-slice", "0s"][..], &["--time-slice", "above zero"][..]),
        (&["--time-slice", "5"], &["--time-slice", "has no known unit"]),
        (&["--time-slice", "100us"], &["processes.P", "a switch of contexts costs 200 us", "time slice of 100 us"]),
        (&["--switch-cost", "2ms"], &["processes.P", "a switch of contexts costs 2 ms", "time slice of 1.024 ms"]),
        (&["--switch-cost", "never"], &["--switch-cost", "has no known unit"]),
        (&["--mps", "--as-threads"], &["--mps", "--as-threads"]),
    ] {
        refused(&[&["simulate", &path], options].concat(), words);
    }
}

#[test]
fn wrong_processes_are_refused_where_they_stand_in_a_file() {
    for (number, (process, words)) in [
        (json!({"time_slice": "0 s"}), "processes.P.time_slice"),
        (json!({"time_slice": "199 us"}), "a switch of contexts costs 200 us, more than the time slice of 199 us"),
        (json!({"level": "urgent"}), "\"low\", \"medium\" or \"high\""),
        (json!({"mps_percentage": 100.000_001}), "a percentage above 0 and up to 100"),
        (json!({"mps_percentage": 0}), "a percentage above 0 and up to 100"),
        (json!({"slice": "1 ms"}), "unknown key"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut file = two();
        file["processes"]["P"] = process;
        refused(&["simulate", &written(&format!("process-wrong-{number}"), &file)], &["two.json:1:", words]);
    }
}

#[test]
fn a_barrier_may_cross_processes() {
    let mut file = two();
    let host = |name: &str| {
        json!({"name": format!("h{name}"), "process": name, "iterations": 2, "barrier": "B",
            "steps": [{"launch": "K", "stream": name}, {"synchronize": name}]})
    };
    file["hosts"] = json!([host("P"), host("Q")]);
    for stream in file["streams"].as_array_mut().expect("a list") {
        stream.as_object_mut().expect("an object").remove("operations");
    }
    let path = written("process-barrier", &file);
    // Both wait for 6 ms; the last turn was Q's, behind which P's comes at once where a switch costs nothing.
    let options = ["--time-slice", "1ms", "--switch-cost", "0s"];
    assert_eq!(finishes(&path, &options), [5_000, 6_000, 11_000, 12_000]);
}

#[test]
fn a_context_that_never_yields_is_stopped_or_where_blocks_run_to_their_ends_waited_for() {
    let mut file = two();
    file["kernels"]["H"] = json!({"blocks": 8, "threads": 512, "duration": "3600 s"});
    file["streams"][0]["operations"][0]["kernel"] = json!("H");
    let path = written("process-never", &file);
    let options = ["--time-slice", "1ms", "--switch-cost", "0s"];
    assert_eq!(finishes(&path, &options), [3_600_003_000, 6_000]);
    let tx1 = [&options[..], &["--device", "tx1"]].concat();
    assert_eq!(finishes(&path, &tx1), [3_600_000_000, 3_600_003_000]);
    let output = gpusched(&[&["simulate", &path, "--horizon", "10ms"], &tx1[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("T1 (10 ms)") && stderr(&output).contains("2 of 2 operations had not finished"));
}

#[test]
fn studies_vary_slices_switches_and_mps() {
    let folder = directory("process-study");
    fs::write(folder.join("two.json"), two().to_string()).expect("it can be written");
    let study = |grid: &Value| {
        let file = json!({"format": "gpusched-study/1", "name": "slices", "command": "simulate", "seed": 0, "samples": 1,
            "parameters": {"scenario": "two.json", "responses_of": "P"}, "grid": grid});
        fs::write(folder.join("study.json"), file.to_string()).expect("it can be written");
        gpusched_in(&folder, &["study", "run", "study.json"])
    };
    let grid = json!({"mps": [false, true], "time_slice": ["1 ms", "3 ms"], "switch_cost": ["0 s", "100 us"]});
    let output = study(&grid);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = fs::read_to_string(folder.join("study.results/rows.csv")).expect("it was written");
    let mut rows = rows.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let place = header.iter().position(|name| *name == "response_max_ns").expect("a column");
    let responses: Vec<u64> = rows.map(|row| row[place].parse().expect("a number")).collect();
    assert_eq!(responses, [5_000_000, 5_400_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000]);
    for (grid, words) in [
        (json!({"time_slice": ["0 s"]}), "above zero"),
        (json!({"switch_cost": ["2 ms"]}), "a switch of contexts costs 2 ms"),
        (json!({"mps": ["yes"]}), "true or false"),
    ] {
        fs::remove_dir_all(folder.join("study.results")).ok();
        let output = study(&grid);
        assert_eq!(output.status.code(), Some(2), "{grid}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{grid}: {}", stderr(&output));
        assert!(!folder.join("study.results/rows.csv").exists());
    }
}

/// What a command prints about `scenario.json` in a folder, and every file that it writes.
fn outputs(folder: &Path, options: &[&str]) -> Vec<(String, Vec<u8>)> {
    let output = gpusched_in(folder, &[&["simulate", "scenario.json"], options].concat());
    let mut all = vec![("stdout".to_owned(), output.stdout), ("stderr".to_owned(), output.stderr)];
    let files = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> = files.filter(|path| !path.ends_with("scenario.json")).collect();
    files.sort();
    for file in files {
        let name = file.file_name().expect("it has one").to_string_lossy().into_owned();
        all.push((name, fs::read(&file).expect("readable")));
        fs::remove_file(&file).expect("it is ours");
    }
    all
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_shipped_scenario_as_one_process_is_the_same_byte_by_byte_in_every_output() {
    let mut compared = 0;
    for file in published::files() {
        let text = fs::read_to_string(published::root().join(&file)).expect("it is there");
        let Ok(plain) = serde_json::from_str::<Value>(&text) else { continue };
        if plain["format"] != "gpusched-scenario/1"
            || plain.get("processes").is_some()
            || plain.get("devices").is_some()
        {
            continue;
        }
        let mut own = plain.clone();
        own["processes"] = json!({"process 0": {"time_slice": "1 us", "level": "high"}});
        own["switch_cost"] = json!("1 us");
        for key in ["streams", "hosts"] {
            for entry in own.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
                // What the one process is called that a file without any has.
                entry["process"] = json!("process 0");
            }
        }
        let of = |scenario: &Value, options: &[&str]| {
            let folder = directory("one-process");
            fs::write(folder.join("scenario.json"), scenario.to_string()).expect("it can be written");
            outputs(&folder, options)
        };
        for options in [
            &["--format", "json", "--rules", "--blame", "--state-at", "1ms"][..],
            &["--format", "csv", "--responses", "r.csv", "--html", "h.html"],
            &["--rules", "--blame", "--queues", "--figure", "f.svg", "--perfetto", "p.json"],
        ] {
            let (plain, own) = (of(&plain, options), of(&own, options));
            for ((name, expected), (_, found)) in plain.iter().zip(&own) {
                assert!(expected == found, "{file}, {options:?}: {name} differs");
            }
            assert_eq!(plain.len(), own.len());
            compared += plain.len();
        }
    }
    assert!(compared > 200, "{compared}");
    absent("one-process");
}
