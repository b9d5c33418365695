//! Tables of blocks with their own scenario: of several processes, of hosts that launch to several streams, and of
//! clients of MPS, whose SM numbers are their own.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::{self, document, gpusched, stderr};

fn folder(test: &str) -> PathBuf {
    common::directory(&format!("joined-logs-{test}"))
}

/// The table of a run of a scenario.
fn simulated(test: &str, scenario: &str, options: &[&str]) -> String {
    let table = folder(test).join("blocks.csv").display().to_string();
    let output = gpusched(&[&["simulate", scenario, "--blocks-csv", &table], options].concat());
    assert!(output.status.success(), "{scenario}: {}", stderr(&output));
    table
}

/// What an audit and a replay make of a table with a scenario.
fn judged(table: &str, scenario: &str) -> [Value; 2] {
    ["audit", "replay-log"].map(|command| {
        let output = gpusched(&[command, table, "--scenario", scenario, "--format", "json"]);
        assert!(output.status.code() == Some(0), "{command} {scenario}: {}", stderr(&output));
        document(&output)
    })
}

fn rules(audit: &Value) -> Vec<&str> {
    audit["violations"].as_array().expect("a list").iter().filter_map(|found| found["rule"].as_str()).collect()
}

fn written(test: &str, name: &str, text: &str) -> String {
    // A folder is emptied when it is asked for again.
    let path = folder(&format!("{test}-{name}")).join(name);
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn the_blocks_of_a_run_are_taken_with_the_scenario_that_made_them() {
    let two = r#"{"format": "gpusched-scenario/1", "name": "t", "device": "orin", "processes": {"A": {}, "B": {}},
        "kernels": {"k": {"blocks": 2, "threads": 64, "duration": "1 ms"}}, "streams": [
        {"name": "a", "process": "A", "operations": [{"kernel": "k"}]},
        {"name": "b", "process": "B", "operations": [{"kernel": "k"}]}]}"#;
    let two = written("two", "two.json", two);
    // Two benchmarks of processes of their own, one of which launches to its NULL stream.
    let examiner = r#"{"name": "x", "max_iterations": 2, "max_time": 0, "cuda_device": 0, "use_processes": true,
        "benchmarks": [
        {"filename": "timer_spin.so", "label": "A", "log_name": "a.json", "thread_count": 512, "block_count": 3,
         "data_size": 0},
        {"filename": "timer_spin_default_stream.so", "label": "B", "log_name": "b.json", "thread_count": 512,
         "block_count": 2, "data_size": 0}]}"#;
    // As threads of one they share the NULL stream, if both launch to it.
    let null = examiner.replace("true", "false").replace("timer_spin.so", "timer_spin_default_stream.so");
    let [examiner, null] =
        [("examiner", examiner), ("null", &*null)].map(|(test, text)| written(test, "own.json", text));
    for (test, scenario, kernels) in [
        ("two-run", &*two, 2),
        ("examiner-run", &examiner, 4),
        ("null-run", &null, 4),
        ("figure-3", "scenarios/rtss2017/figure-3.json", 6),
        ("perception", "scenarios/processes/perception-and-control.json", 0),
        ("waters", "scenarios/deadlines/waters-2019.json", 0),
        ("six", "scenarios/validation/six-processes.json", 0),
        ("graphs", "scenarios/rules/graphs.json", 8),
    ] {
        let table = simulated(test, scenario, &[]);
        let [audit, replay] = judged(&table, scenario);
        assert_eq!(rules(&audit), [""; 0], "{scenario}");
        if kernels > 0 {
            assert_eq!(audit["checked"]["kernels"], kernels, "{scenario}");
        }
        assert_eq!(audit["checked"]["blocks"], replay["blocks"], "{scenario}");
    }
}

#[test]
fn a_host_of_two_streams_is_replayed_as_it_ran() {
    let scenario = "scenarios/rtss2017/figure-3.json";
    let [_, replay] = judged(&simulated("replayed", scenario, &[]), scenario);
    // Its blocks begin some nanoseconds apart, and those of a kernel are replayed with one time.
    assert!(replay["max_start_error_ns"].as_u64().is_some_and(|apart| apart <= 1_500), "{replay}");
    // With a kernel more in one of its streams it is the log of another scenario.
    let text = fs::read_to_string(simulated("more", scenario, &[])).expect("it is there");
    let (_, last) = text.lines().last().expect("a row").split_once(',').expect("cells");
    let more = written("more", "more.csv", &format!("{text}another,{last}\n"));
    let refused = gpusched(&["audit", &more, "--scenario", scenario]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

#[test]
fn kernels_of_a_stream_to_which_two_hosts_launch_go_to_the_one_that_launches_such_a_kernel() {
    let two = |kernel: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "t", "device": "orin",
                "kernels": {{"k": {{"blocks": 2, "threads": 64, "duration": "1 ms"}},
                "l": {{"blocks": 2, "threads": 64, "duration": "1 ms"}}}}, "streams": [{{"name": "s"}}], "hosts": [
                {{"name": "one", "iterations": 3, "steps": [{{"launch": "k", "stream": "s"}}]}},
                {{"name": "two", "release": "5 ms", "steps": [{{"launch": "{kernel}", "stream": "s"}}]}}]}}"#
        );
        let scenario = written(&format!("shared-{kernel}"), "shared.json", &text);
        (simulated(&format!("shared-run-{kernel}"), &scenario, &[]), scenario)
    };
    let (table, scenario) = two("l");
    let [audit, replay] = judged(&table, &scenario);
    assert_eq!((rules(&audit), &replay["max_start_error_ns"]), (Vec::new(), &0.into()));
    let (table, scenario) = two("k");
    let refused = gpusched(&["audit", &table, "--scenario", &scenario]);
    assert!(
        refused.status.code() == Some(2) && stderr(&refused).contains("nor does a host alone"),
        "{}",
        stderr(&refused)
    );
}

/// Two clients of MPS on disjoint halves of an A100 by their masks, as libsmctrl makes them. As of Volta on such a
/// client sees numbers of SMs of its own, from 0 on (libsmctrl's README, known issues; US patent 11,307,903).
fn masked(device: &str, mps: bool) -> String {
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "masked clients", "device": "{device}", "mps": {mps},
            "processes": {{"A": {{}}, "B": {{}}}},
            "kernels": {{"k": {{"blocks": 54, "threads": 1024, "duration": "1 ms"}}}}, "streams": [
            {{"name": "a", "process": "A", "sm_mask": "~0x3ffffff8000000", "operations": [{{"kernel": "k"}}]}},
            {{"name": "b", "process": "B", "sm_mask": "~0x7ffffff", "operations": [{{"kernel": "k"}}]}}]}}"#
    )
}

/// A block on each of so many SMs, from 0 on, of both clients.
fn blocks(sms: u32) -> String {
    let row = |process: &str, block: u32| {
        let stream = process.to_lowercase();
        format!("{process},k,{stream},{block},{},0,1000000,1024,0,0\n", block % sms)
    };
    let rows: String = ["A", "B"].iter().flat_map(|process| (0..54).map(|block| row(process, block))).collect();
    format!("process,kernel,stream,block,sm,start_ns,end_ns,threads,shared_memory_bytes,registers_per_thread\n{rows}")
}

#[test]
fn virtual_sms_of_clients_are_not_held_against_masks() {
    let audit = |test: &str, scenario: &str, sms: u32| {
        let (scenario, table) = (written(test, "own.json", scenario), written(test, "blocks.csv", &blocks(sms)));
        document(&gpusched(&["audit", &table, "--scenario", &scenario, "--format", "json"]))
    };
    let clients = masked("a100-80gb-pcie", true);
    let clean = audit("virtual", &clients, 54);
    assert_eq!(rules(&clean), [""; 0]);
    assert!(clean["notes"].to_string().contains("that each client of MPS gives them for itself"), "{}", clean["notes"]);
    assert_eq!(clean["placement"]["decidable"], 0);
    // More SMs than a mask leaves it has under any numbers, and no SM takes three such blocks.
    let few = clients.replace("~0x3ffffff8000000", "~0x1");
    let found = audit("few", &few, 54);
    assert_eq!(rules(&found), ["mask"]);
    assert!(found["violations"][0]["what"].as_str().expect("text").contains("on 54 SMs, and its SM mask leaves 2"));
    assert_eq!(rules(&audit("full", &clients, 18)).first(), Some(&"R2"));
    // Contexts that take turns see the numbers of the GPU, and so do clients of MPS before Volta.
    assert_eq!(rules(&audit("turns", &masked("a100-80gb-pcie", false), 54)), ["mask"; 54]);
}

#[test]
fn files_of_the_examiner_do_not_say_whether_mps_ran() {
    let spin = |label: &str, mask: &str| {
        format!(
            r#"{{"filename": "timer_spin.so", "label": "{label}", "log_name": "{label}.json", "thread_count": 1024,
                "block_count": 54, "data_size": 0, "additional_info": 1000000, "sm_mask": "{mask}"}}"#
        )
    };
    let text = format!(
        r#"{{"name": "x", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "use_processes": true,
            "benchmarks": [{}, {}]}}"#,
        spin("a", "~0x3ffffff8000000"),
        spin("b", "~0x7ffffff")
    );
    let rows = blocks(54).replace("A,", "a,").replace("B,", "b,");
    let (scenario, table) = (written("unsaid", "own.json", &text), written("unsaid", "blocks.csv", &rows));
    let output = gpusched(&["audit", &table, "--scenario", &scenario, "--device", "a100-80gb", "--format", "json"]);
    let audit = document(&output);
    assert_eq!(rules(&audit), [""; 0], "{}", stderr(&output));
    assert!(audit["notes"].to_string().contains("SMs may have the numbers"), "{}", audit["notes"]);
}
