//! Ctrl-C and SIGTERM at any moment leave each output whole or not there, whatever kind it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{command, directory};

/// Moments at which a command is ended, as shares of its time.
const MOMENTS: u32 = 4;

/// All files below a directory.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).expect("it is there") {
            let path = entry.expect("it is readable").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let bytes = fs::read(&path).expect("it is readable");
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// Runs a command that writes into a directory of its own, whole and then ended at some moments: each time the files
/// are as those of the whole run, or not there. Of `together`, all are there or none.
fn ended(test: &str, arguments: impl Fn(&Path) -> Vec<String>, together: bool) {
    let all = directory(&format!("ending_writes/{test}"));
    let run = |name: &str, end: Option<(Signal, Duration)>| {
        let out = all.join(name);
        fs::create_dir_all(&out).expect("it can be made");
        let began = Instant::now();
        let mut child = command()
            .args(arguments(&out))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        if let Some((signal, after)) = end {
            std::thread::sleep(after);
            let id = i32::try_from(child.id()).expect("it fits");
            // It may have ended by now.
            let _ = kill(Pid::from_raw(id), signal);
        }
        let status = child.wait().expect("it ends");
        let written = files(&out).into_iter();
        let inside = |path: PathBuf| path.strip_prefix(&out).expect("it is inside").to_path_buf();
        let written: BTreeMap<PathBuf, Vec<u8>> = written.map(|(path, bytes)| (inside(path), bytes)).collect();
        (status, written, began.elapsed())
    };
    let (status, whole, time) = run("whole", None);
    assert!(status.code() < Some(2) && !whole.is_empty(), "{test}: {status}");
    for moment in 1..=MOMENTS {
        let signal = if moment % 2 == 0 { Signal::SIGINT } else { Signal::SIGTERM };
        let (status, written, _) = run(&format!("ended-{moment}"), Some((signal, time * moment / (MOMENTS + 1))));
        // Before it watches for them, signals end it as they end any program.
        assert!(matches!(status.code(), None | Some(0 | 1 | 130)), "{test}: {status}");
        for (path, bytes) in &written {
            let is_whole = whole.get(path).is_some_and(|other| other == bytes);
            assert!(is_whole, "{test}, moment {moment}: {} is left, and is not whole", path.display());
        }
        let is_none_or_all = written.is_empty() || written.len() == whole.len();
        assert!(is_none_or_all || !together, "{test}, moment {moment}: {} of {}", written.len(), whole.len());
    }
}

/// A file beside the directories that are written.
fn beside(name: &str, text: &str) -> String {
    let file = directory(&format!("ending_writes_inputs/{name}")).join(name);
    fs::write(&file, text).expect("it can be written");
    file.display().to_string()
}

fn many_jobs(name: &str) -> String {
    beside(
        name,
        r#"{"format": "gpusched-scenario/1", "name": "many", "kernels": {"K": {"blocks": 4, "threads": 512,
            "duration": "1 us"}}, "streams": [{"name": "S", "period": "2 us", "jobs": 4000, "deadline": "1 us",
            "operations": [{"kernel": "K"}]}, {"name": "T", "period": "2 us", "jobs": 4000, "deadline": "1 us",
            "operations": [{"kernel": "K"}]}]}"#,
    )
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

/// A command with an option that names a file to write.
fn with_file(arguments: &[&str], option: &str, name: &str) -> impl Fn(&Path) -> Vec<String> {
    let (mut arguments, option, name) = (owned(arguments), option.to_owned(), name.to_owned());
    arguments.push(option);
    move |out| [&arguments[..], &[out.join(&name).display().to_string()]].concat()
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_traces_pages_and_tables_of_a_run() {
    let file = many_jobs("run.json");
    for (option, name) in [("--perfetto", "trace.json"), ("--html", "run.html"), ("--responses", "responses.csv")] {
        ended(name, with_file(&["simulate", &file], option, name), true);
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_pictures_of_a_run() {
    let file = many_jobs("picture.json");
    for (option, name) in [("--figure", "figure.svg"), ("--figure", "figure.png"), ("--blame-figure", "blame.svg")] {
        ended(name, with_file(&["simulate", &file], option, name), true);
    }
}

#[test]
fn scenarios() {
    let file = many_jobs("scenario.json");
    ended("converted.json", with_file(&["convert", &file], "--out", "converted.json"), true);
    let profile = ["import", "scenarios/profiles/synthetic.json"];
    ended("imported.json", with_file(&profile, "--out", "imported.json"), true);
}

#[test]
fn times_of_runnables() {
    let file = many_jobs("times.json");
    for name in ["times.csv", "times.json"] {
        ended(name, with_file(&["simulate", &file], "--runnable-times", name), true);
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_witness_is_a_whole_scenario_that_misses_its_deadline_or_not_there() {
    // Each of the two fills the GPU.
    let file = beside(
        "witness.json",
        r#"{"format": "gpusched-scenario/1", "name": "many", "kernels": {"K": {"blocks": 8, "threads": 512,
            "duration": "1 us"}}, "streams": [{"name": "S", "period": "4 us", "jobs": 500, "deadline": "1 us",
            "operations": [{"kernel": "K"}]}, {"name": "T", "period": "4 us", "jobs": 500, "deadline": "1 us",
            "operations": [{"kernel": "K"}]}]}"#,
    );
    let all = directory("ending_writes/witness");
    let arguments = ["analyze", &*file, "--search", "2s", "--witness"];
    // What was found by then counts, so that it is not the same whenever the search ends.
    let mut written = 0;
    for moment in 0..6 {
        let out = all.join(format!("witness-{moment}.json"));
        let mut child = command()
            .args(arguments)
            .arg(&out)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(400 * moment));
        let signal = if moment % 2 == 0 { Signal::SIGINT } else { Signal::SIGTERM };
        let _ = kill(Pid::from_raw(i32::try_from(child.id()).expect("it fits")), signal);
        let status = child.wait().expect("it ends");
        assert!(matches!(status.code(), None | Some(0 | 130)), "{status}");
        if out.exists() {
            written += 1;
            let path = out.display().to_string();
            let mut check = command();
            check.args(["simulate", &path, "--check"]).stdout(Stdio::null()).stderr(Stdio::null());
            assert_eq!(check.status().expect("it runs").code(), Some(1), "moment {moment}: it misses a deadline");
        }
    }
    assert_eq!(files(&all).len(), written, "and nothing else is left");
}

#[test]
fn logs_are_all_there_or_none() {
    let benchmark = |index: u32| {
        format!(
            r#"{{"filename": "./bin/timer_spin.so", "log_name": "log-{index}.json", "label": "B{index}",
            "thread_count": 1024, "block_count": 4, "data_size": 0, "additional_info": 1000000}}"#
        )
    };
    let benchmarks: Vec<String> = (0..40).map(benchmark).collect();
    let file = beside(
        "logs.json",
        &format!(
            r#"{{"name": "logs", "max_iterations": 40, "max_time": 0, "cuda_device": 0, "benchmarks": [{}]}}"#,
            benchmarks.join(",")
        ),
    );
    ended("logs", with_file(&["simulate", &file], "--logs", "logs"), true);
}

#[test]
fn figures_are_each_whole() {
    let only = ["figures", "--only", "rtss2017-figure-3", "--only", "rtss2017-figure-8", "--out"];
    ended("figures", move |out| [owned(&only), vec![out.display().to_string()]].concat(), false);
    ended("tour.html", with_file(&["tour"], "--output", "tour.html"), true);
}

#[test]
fn merged_and_drawn_studies() {
    let study = beside(
        "study.json",
        r#"{"format": "gpusched-study/1", "name": "small", "command": "merged-sm", "seed": 7, "samples": 200,
            "samples_per_row": 1, "grid": {"family": ["unequal", "priorities"]}}"#,
    );
    for shard in ["0/2", "1/2"] {
        let run = command().args(["study", "run", &study, "--shard", shard]).stderr(Stdio::null()).status();
        assert!(run.expect("it runs").success());
    }
    ended("merged.csv", with_file(&["study", "merge", &study], "--out", "merged.csv"), true);
    assert!(command().args(["study", "merge", &study]).stderr(Stdio::null()).status().expect("it runs").success());
    ended("study.svg", with_file(&["study", "plot", &study], "--figure", "study.svg"), true);
}

#[test]
fn rows_of_a_curve_are_whole_and_gone_on_with() {
    let all = directory("ending_writes/curve");
    let curve = |out: &Path| {
        let mut curve = command();
        curve.args(["tasks", "curve", "--samples", "20", "--step", "20", "--out", &out.display().to_string()]);
        curve.stdout(Stdio::null()).stderr(Stdio::null());
        curve
    };
    let whole = all.join("whole.csv");
    let began = Instant::now();
    assert!(curve(&whole).status().expect("it runs").success());
    let time = began.elapsed();
    let whole = fs::read_to_string(whole).expect("it is there");
    for moment in 1..=MOMENTS {
        let out = all.join(format!("ended-{moment}.csv"));
        let mut child = curve(&out).spawn().expect("it starts");
        std::thread::sleep(time * moment / (MOMENTS + 1));
        let _ = kill(Pid::from_raw(i32::try_from(child.id()).expect("it fits")), Signal::SIGTERM);
        let status = child.wait().expect("it ends");
        assert!(matches!(status.code(), None | Some(0 | 130)), "{status}");
        let written = fs::read_to_string(&out).unwrap_or_default();
        assert!(whole.starts_with(&written) && (written.is_empty() || written.ends_with('\n')), "{written}");
        assert!(curve(&out).status().expect("it runs").success());
        assert_eq!(fs::read_to_string(&out).expect("it is there"), whole);
    }
    assert_eq!(files(&all).len(), 1 + MOMENTS as usize, "and nothing else is left");
}
