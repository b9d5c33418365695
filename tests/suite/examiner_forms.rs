//! Forms of the examiner's files beside those of its present version: older ones, those of an artefact, and those of
//! the tool that came of it.

use std::fs;

use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};

use crate::agreement::agrees;
use crate::common::{self, gpusched, stderr};
use crate::{generate::builtin, reference};

fn read(text: &str) -> Scenario {
    let options = ReadOptions { device: Some(builtin("titan-v")), ..ReadOptions::default() };
    Scenario::from_json("in.json", text, &options).expect("it is one")
}

fn refusal(text: &str) -> String {
    Scenario::from_json("in.json", text, &ReadOptions::default()).expect_err("it is none").to_string()
}

fn level(settings: &str, benchmarks: &[String]) -> String {
    format!(r#"{{"name": "x", "cuda_device": 0, {settings}, "benchmarks": [{}]}}"#, benchmarks.join(", "))
}

const ONCE: &str = r#""max_iterations": 1, "max_time": 0"#;
const ENDLESS: &str = r#""max_iterations": 0, "max_time": 0"#;

/// A benchmark of 32 threads and one block.
fn benchmark(plugin: &str, fields: &str) -> String {
    format!(r#"{{"filename": "./bin/{plugin}.so", "thread_count": 32, "block_count": 1, "data_size": 0, {fields}}}"#)
}

#[test]
fn parameters_as_text_are_those_of_the_list_or_object_that_came_after_them() {
    // As in the configurations of the history until June 2017.
    let entry = |name: &str, blocks: u32, threads: u32| {
        format!(
            r#"{{"kernel_label": "{name}", "duration": 500000000, "block_count": {blocks}, "thread_count": {threads}}}"#
        )
    };
    // That version rounded threads up to whole warps.
    let list = format!("[{}, {}]", entry("K1", 7, 512), entry("K2", 7, 512));
    for (plugin, text, now) in [
        ("multikernel", "K1,500000000,7,512,K2, 500000000 ,7,500", &*list),
        ("multikernel", "K4,500000000,1,1024", &*format!("[{}]", entry("K4", 1, 1_024))),
        ("sharedmem_timer_spin", "500000000,10240", r#"{"duration": 500000000, "shared_memory_size": 10240}"#),
        ("timer_spin", "500000000", "500000000"),
    ] {
        let of = |info: &str| read(&level(ONCE, &[benchmark(plugin, &format!(r#""additional_info": {info}"#))]));
        assert_eq!(of(&format!("{text:?}")), of(now), "{plugin} {text}");
    }
    let refused = |plugin: &str, text: &str| {
        refusal(&level(ONCE, &[benchmark(plugin, &format!(r#""additional_info": {text:?}"#))]))
    };
    assert!(refused("multikernel", "K1,500000000,7").contains("name, nanoseconds, blocks and threads"));
    assert!(refused("multikernel", "K1,soon,7,512").contains("nanoseconds, from 0 to 2^63, found \"soon\""));
    assert!(refused("multikernel", "K1,5,0,512").contains("from 1 to 2147483647, found \"0\""));
    assert!(refused("sharedmem_timer_spin", "5").contains("\"500000000,4096\""));
}

#[test]
fn a_file_may_lack_its_name_and_have_older_names_of_settings() {
    let spin = benchmark("timer_spin", r#""additional_info": 1000"#);
    let unnamed = level(ONCE, std::slice::from_ref(&spin)).replace(r#""name": "x", "#, "");
    let scenario = read(&unnamed);
    assert_eq!(scenario.name, "unnamed");
    assert!(scenario.notes.iter().any(|note| note.contains("without a name")), "{:?}", scenario.notes);
    let with =
        |setting: &str| read(&level(&format!("{ONCE}, {setting}"), &[spin.clone(), spin.replace("1000", "2000")]));
    assert_eq!(with(r#""cycle_cpus": true"#), with(r#""pin_cpus": true"#));
    assert_eq!(with(r#""resync_iterations": true"#), with(r#""sync_every_iteration": true"#));
    assert_ne!(with(r#""resync_iterations": true"#), with(r#""resync_iterations": false"#));
    let twice = level(&format!(r#"{ONCE}, "pin_cpus": true, "cycle_cpus": true"#), &[spin]);
    assert!(refusal(&twice).contains("what \"pin_cpus\" was called"));
}

#[test]
fn a_configuration_of_hip_plugin_framework_is_called_so() {
    let text = r#"{"name": "x", "max_iterations": 1, "max_time": 0, "gpu_device_id": 0, "plugins": [
        {"filename": "./bin/counter_spin.so", "thread_count": 256, "block_count": 4}]}"#;
    assert!(refusal(text).contains("a configuration of hip_plugin_framework, whose format is not read"));
}

#[test]
fn other_benchmarks_go_on_until_the_terminator_is_done() {
    let spin = |ms: u32, fields: &str| {
        benchmark("timer_spin", &format!(r#""additional_info": {ms}000000, "label": "{ms} ms", {fields}"#))
    };
    let last = spin(10, r#""max_iterations": 3, "terminator": true"#);
    // The terminator is done at 30 ms: by then one has begun 8 iterations, the last at 28 ms, and another 10, the last
    // at 27 ms. At 30 ms itself threads act in the order of the file.
    let (four, three) = (spin(4, r#""release_time": 0"#), spin(3, r#""terminator": false"#));
    for (benchmarks, iterations) in [
        ([last.clone(), four.clone(), three.clone()], [3, 8, 10]),
        ([four.clone(), last.clone(), three.clone()], [8, 3, 10]),
        ([three, four.clone(), last.clone()], [11, 8, 3]),
    ] {
        let scenario = read(&level(ENDLESS, &benchmarks));
        let run = simulate(&scenario).expect("it ends");
        let begun = [0, 1, 2].map(|thread| run.iterations.iter().filter(|span| span.thread == thread).count());
        assert_eq!(begun, iterations);
        agrees(&run, &reference::run(&scenario), true).expect("the reference does the same");
        let native = scenario.to_native_json().expect_err("it has no words for that");
        assert!(native.to_string().contains("until another one has ended"), "{native}");
    }
    assert!(refusal(&level(ENDLESS, &[four.clone(), spin(10, r#""terminator": true"#)])).contains("never ends"));
    assert!(refusal(&level(ENDLESS, &[last.clone(), last.clone()])).contains("a second terminator"));
    let skipped = benchmark("cpu_random_walk", r#""terminator": true"#);
    assert!(refusal(&level(ONCE, &[skipped, four])).contains("is not known"));
}

#[test]
fn several_benchmarks_may_write_no_log() {
    let spin = |label: &str, log: &str| {
        benchmark("timer_spin", &format!(r#""additional_info": 1000000, "label": "{label}", "log_name": "{log}""#))
    };
    let directory = common::directory("examiner-no-logs");
    let (file, logs) = (directory.join("in.json"), directory.join("logs"));
    let benchmarks = [spin("A", "a.json"), spin("B", "/dev/null"), spin("C", "/dev/null")];
    fs::write(&file, level(ONCE, &benchmarks)).expect("it can be written");
    let [file, logs] = [file, logs].map(|path| path.display().to_string());
    for _ in 0..2 {
        let output = gpusched(&["simulate", &file, "--logs", &logs, "--force"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let names = fs::read_dir(&logs).expect("it is there").map(|entry| entry.expect("a file").file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["a.json"]);
    }
    let audit = gpusched(&["audit", &format!("{logs}/a.json"), "--scenario", &file, "--device", "tx2"]);
    assert!(audit.status.success() && stderr(&audit).contains("there is no log of B, C"), "{}", stderr(&audit));
    assert!(
        refusal(&level(ONCE, &[spin("A", "a.json"), spin("B", "a.json")])).contains("two benchmarks write their logs")
    );
}
