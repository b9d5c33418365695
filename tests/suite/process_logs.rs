//! Logs that a simulation of several processes wrote, audited by the command: what a percentage of MPS explains, and
//! what a task host of another name has in the same run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{self, document, gpusched, stderr};

/// Simulates an examiner file and writes its logs; the directories of file and logs.
fn logged(test: &str, file: &Value, options: &[&str]) -> (PathBuf, PathBuf) {
    let directory = common::directory(&format!("process-logs-{test}"));
    let scenario = directory.join("own.json");
    fs::write(&scenario, file.to_string()).expect("it can be written");
    let logs = directory.join("logs");
    let (scenario_argument, logs_argument) = (scenario.display().to_string(), logs.display().to_string());
    let simulated = gpusched(&[&["simulate", &scenario_argument, "--logs", &logs_argument], options].concat());
    assert_eq!(simulated.status.code(), Some(0), "{}", stderr(&simulated));
    (scenario, logs)
}

/// Where the simulation put the logs: below the result directory.
fn folder_of(logs: &Path) -> PathBuf {
    let below = logs.join("results");
    if below.is_dir() { below } else { logs.to_path_buf() }
}

/// Runs the audit: what it prints, which ends well if nothing is found.
fn audited(logs: &Path, options: &[&str]) -> Value {
    let folder = folder_of(logs).display().to_string();
    let output = gpusched(&[&["audit", &folder, "--device", "tx2", "--format", "json"], options].concat());
    let document = document(&output);
    let is_sound = document["violations"].as_array().expect("a list").is_empty();
    assert_eq!(output.status.code(), Some(i32::from(!is_sound)), "{}", stderr(&output));
    document
}

/// What breaks a rule.
fn rules(audit: &Value) -> Vec<&str> {
    audit["violations"].as_array().expect("a list").iter().filter_map(|found| found["rule"].as_str()).collect()
}

/// How many runs there are.
fn runs(audit: &Value) -> usize {
    audit["devices"].as_array().expect("a list").len()
}

fn spin(label: &str, keys: Value) -> Value {
    let mut spin = json!({"filename": "timer_spin.so", "label": label, "log_name": format!("{label}.json"),
        "thread_count": 512, "block_count": 8, "data_size": 0, "additional_info": 10_000_000});
    let Value::Object(keys) = keys else { panic!("keys") };
    spin.as_object_mut().expect("an object").extend(keys);
    spin
}

fn file(benchmarks: &[Value], use_processes: bool) -> Value {
    json!({"name": "outer", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "use_processes": use_processes,
        "base_result_directory": "results", "benchmarks": benchmarks})
}

#[test]
fn an_audit_takes_the_percentage_of_a_client_into_account_with_its_scenario_and_without() {
    let (scenario, logs) =
        logged("client", &file(&[spin("A", json!({"mps_thread_percentage": 50}))], true), &["--mps"]);
    let scenario = scenario.display().to_string();
    for options in [&["--logs-alone"][..], &["--scenario", &scenario]] {
        let audit = audited(&logs, options);
        assert_eq!(rules(&audit), [""; 0]);
        let notes = audit["notes"].to_string();
        assert!(notes.contains("MPS limits the SMs of clients") && !notes.contains("no effect"), "{notes}");
    }
    // Logs that do not say it, as those of a board: the scenario does.
    let log = folder_of(&logs).join("A.json");
    let text = fs::read_to_string(&log).expect("it was written");
    assert!(text.contains("\"mps_sms\": 1,\n"), "{text}");
    fs::write(log, text.replace("\"mps_sms\": 1,\n", "")).expect("it can be written");
    assert_eq!(rules(&audited(&logs, &["--scenario", &scenario])), [""; 0]);
    // Without either nothing explains why half of the GPU is idle.
    assert!(rules(&audited(&logs, &["--logs-alone"])).contains(&"work conservation"));
}

#[test]
fn a_task_host_whose_scenario_has_another_name_is_of_the_same_run() {
    let inner = json!({"name": "inner", "max_iterations": 1, "max_time": 0, "cuda_device": 0,
        "benchmarks": [spin("B", json!({"release_time": 0.001}))]});
    let host = json!({"filename": "task_host.so", "log_name": "host.json", "thread_count": 0, "block_count": 0,
        "data_size": 0, "additional_info": inner});
    for use_processes in [false, true] {
        let name = format!("host-{use_processes}");
        let (scenario, logs) = logged(&name, &file(&[spin("A", json!({})), host.clone()], use_processes), &[]);
        let scenario = scenario.display().to_string();
        for options in [&["--logs-alone"][..], &["--scenario", &scenario]] {
            let audit = audited(&logs, options);
            assert_eq!((rules(&audit), runs(&audit)), (Vec::new(), 1), "{use_processes} {options:?}");
        }
    }
}

#[test]
fn runs_of_two_scenarios_that_did_not_run_at_the_same_time_stay_apart() {
    let apart = |name: &str, release: f64| {
        let mut file = file(&[spin(name, json!({"release_time": release}))], false);
        file["name"] = json!(name);
        file
    };
    let (_, logs) = logged("apart", &apart("early", 0.0), &[]);
    let (_, later) = logged("apart-later", &apart("late", 5.0), &[]);
    let text = fs::read_to_string(folder_of(&later).join("late.json")).expect("it was written");
    let of_another_thread = text.replace("\"TID\": 1,", "\"TID\": 2,");
    fs::write(folder_of(&logs).join("late.json"), of_another_thread).expect("it can be written");
    let audit = audited(&logs, &["--logs-alone"]);
    assert_eq!((rules(&audit), runs(&audit)), (Vec::new(), 2));
}
