//! Commands that are ended before their time, and small inputs that would take all memory or all time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{directory, gpusched, stderr};

/// A scenario of one kernel of 1 ns in a stream, with these keys of the stream beside it, and these hosts.
fn scenario(stream: &str, hosts: &str) -> String {
    let hosts = if hosts.is_empty() { String::new() } else { format!(r#", "hosts": [{hosts}]"#) };
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "endless",
            "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 ns"}}}}, "streams": [{{"name": "S"{stream}, "operations": [{{"kernel": "K"}}]}}]{hosts}}}"#
    )
}

fn written(test: &str, text: &str) -> (std::path::PathBuf, String) {
    let directory = directory(&format!("ending/{test}"));
    let file = directory.join("scenario.json");
    fs::write(&file, text).expect("it can be written");
    (directory, file.display().to_string())
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("readable"));
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn refused(output: &Output, message: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn more_jobs_than_a_run_can_record_are_refused_before_it_begins() {
    let (_, file) = written("jobs", &scenario(r#", "period": "1 us", "jobs": 4294967295"#, ""));
    refused(&gpusched(&["simulate", &file]), "submits 4294967295 operations; a run has 50000000 at most");
}

#[test]
fn a_run_that_takes_too_much_memory_is_ended_and_leaves_no_file() {
    let (directory, file) = written("memory", &scenario(r#", "period": "1 us", "jobs": 40000000"#, ""));
    let html = directory.join("run.html").display().to_string();
    refused(&gpusched(&["simulate", &file, "--max-memory", "64M", "--html", &html]), "64 MiB of memory; --max-memory");
    assert_eq!(files(&directory), ["scenario.json"]);
}

#[test]
fn a_host_that_sleeps_a_nanosecond_for_centuries_is_refused() {
    let host = r#"{"name": "H", "time_limit": "9e9 s", "steps": [{"sleep": "1 ns"}]}"#;
    let (_, file) = written("sleep", &scenario("", host));
    refused(&gpusched(&["simulate", &file]), "more than 10000000 steps");
}

#[test]
fn a_command_ends_after_its_time() {
    let (_, file) = written("time", &scenario(r#", "period": "1 us", "jobs": 40000000"#, ""));
    refused(&gpusched(&["simulate", &file, "--max-time", "50ms"]), "ended after 50 ms (--max-time)");
}

#[test]
fn a_signal_ends_a_command_in_the_middle_of_writing_and_leaves_no_file() {
    let (directory, file) = written("signal", &scenario(r#", "period": "1 us", "jobs": 200000"#, ""));
    for signal in ["-TERM", "-INT"] {
        let html = directory.join("run.json");
        let mut child = Command::new(env!("CARGO_BIN_EXE_gpusched"))
            .args(["simulate", &file, "--perfetto", &html.display().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // Until it writes.
        while files(&directory).len() == 1 {
            assert!(child.try_wait().expect("it is a child").is_none(), "it has not ended yet");
            std::thread::sleep(Duration::from_millis(2));
        }
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
        assert!(killed.success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(130), "stopped\n"), "{signal}");
        assert_eq!(files(&directory), ["scenario.json"], "{signal}");
    }
}

#[test]
fn a_small_file_that_asks_for_much_time_is_ended_with_the_option_that_lets_it_go_on() {
    // A horizon ends the run of a stream that goes on for ever, so that nothing is known beforehand.
    let (_, file) = written("processor_time", &scenario(r#", "period": "1 us""#, ""));
    let long = ["simulate", &file, "--horizon", "1000s", "--max-memory", "64G"];
    refused(&gpusched(&long), "s of processor time, more than its input explains; with --max-time");
    let told = gpusched(&[&long[..], &["--max-time", "100ms"]].concat());
    refused(&told, "ended after 100 ms (--max-time)");
}

#[test]
fn applications_that_submit_more_than_a_run_can_have_are_refused_before_any_scheduler_runs() {
    let directory = directory("ending/applications");
    let file = directory.join("applications.json");
    let with = |blocks: u32, launches: u32| {
        let text = format!(
            r#"{{"format": "gpusched-applications/1", "name": "a", "injection": {{"random": {{"count": 1000000, "gap": "1 ms"}}}},
                "applications": [{{"name": "A", "class": "low", "requirement": "1 s", "kernels": [{{"blocks": {blocks},
                "threads": 1024, "block_time": "1 us", "launches": {launches}}}]}}]}}"#
        );
        fs::write(&file, text).expect("it can be written");
        gpusched(&["evr", &file.display().to_string()])
    };
    refused(
        &with(1, 51),
        "gpu-evr submits at least 51000000 operations for these applications; a run has 50000000 at most",
    );
    // An SM of the K20m holds two of these blocks, and it has 13.
    refused(&with(26 * 17 + 1, 3), "gpu-evr submits at least 54000000 operations");
}
