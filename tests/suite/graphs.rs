//! CUDA graphs, which are read as streams with events: nodes begin when their edges say, launches are one, and what
//! cannot be said that way is refused.

use std::fmt::Write;

use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};
use gpusched::time::Instant;
use gpusched::workload::OperationKind;
use proptest::prelude::*;

use crate::campaign::config;
use crate::generate::builtin;

fn read(device: &str, kernels: &str, nodes: &str, operations: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "graphs", "kernels": {{{kernels}}},
        "graphs": {{"g": {{"nodes": {{{nodes}}}}}}}, "streams": [{{"name": "s", "operations": [{operations}]}}]}}"#
    );
    // With one channel for each branch none waits for one.
    let device = builtin(device).without_channels();
    let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
    Scenario::from_json("graphs", &text, &options).map_err(|error| error.to_string())
}

/// Start and finish of each kernel \[ns\], in the order of launches.
fn kernels(scenario: &Scenario) -> Vec<(u64, u64)> {
    let run = simulate(scenario).expect("it runs");
    let kernels = run.trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
    let ns = |instant: Option<Instant>| instant.expect("it ends").as_ns();
    kernels.map(|record| (ns(record.first_start()), ns(record.finish()))).collect()
}

const MS: u64 = 1_000_000;

#[test]
fn a_diamond_begins_and_ends_as_its_edges_say_and_holds_what_is_behind_it() {
    let kernel = |name: &str, ms: u32| format!(r#""{name}": {{"blocks": 1, "threads": 32, "duration": "{ms} ms"}}"#);
    let kernels_of = [kernel("k1", 1), kernel("k2", 2), kernel("k3", 3)].join(", ");
    let nodes = r#""a": {"kernel": "k1"}, "b": {"kernel": "k2", "after": ["a"]}, "c": {"kernel": "k3", "after": ["a"]},
        "d": {"kernel": "k1", "after": ["b", {"node": "c", "edge": "full"}]}, "e": {"kernel": "k3"}"#;
    let operations = r#"{"kernel": "k1"}, {"graph": "g"}, {"kernel": "k2"}, {"graph": "g"}"#;
    let scenario = read("h100", &kernels_of, nodes, operations).expect("it is sound");
    // By hand: the kernel before it ends at 1 ms, the graph takes 5 ms, the kernel behind it 2 ms.
    let launch = |at: u64| [(at, at + 1), (at + 1, at + 3), (at + 1, at + 4), (at + 4, at + 5), (at, at + 3)];
    let expected: Vec<(u64, u64)> =
        [(0, 1)].into_iter().chain(launch(1)).chain([(6, 8)]).chain(launch(8)).map(|(a, b)| (a * MS, b * MS)).collect();
    assert_eq!(kernels(&scenario), expected);
    let written = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(kernels(&again), expected);
}

#[test]
fn a_chain_of_programmatic_edges_ends_as_launches_in_one_stream_do() {
    // The chain measured on a B200 (`programmatic.rs`).
    let kernel = r#""stage": {"blocks": 148, "threads": 1024, "shared_memory_bytes": 100000, "duration": "1.020 ms", "trigger": 0.5, "wait": 0.5}"#;
    let mut nodes = r#""n0": {"kernel": "stage"}"#.to_owned();
    for number in 1..6 {
        let before = number - 1;
        let edge = format!(r#"{{"node": "n{before}", "edge": "programmatic"}}"#);
        write!(nodes, r#", "n{number}": {{"kernel": "stage", "after": [{edge}]}}"#).expect("it is text");
    }
    let scenario = read("b200", kernel, &nodes, r#"{"graph": "g"}"#).expect("it is sound");
    for ((_, finish), measured) in kernels(&scenario).into_iter().zip([1.021, 1.532, 2.042, 2.553, 3.065, 3.576]) {
        let simulated = finish as f64 / 1e6;
        assert!((simulated / measured - 1.0).abs() < 0.001, "{simulated} ms, measured {measured} ms");
    }
}

#[test]
fn branches_follow_the_priority_of_the_stream_that_the_graph_is_launched_into() {
    let kernels_of = r#""k": {"blocks": 1, "threads": 32, "duration": "1 ms"}"#;
    let nodes = r#""a": {"kernel": "k"}, "b": {"kernel": "k"}"#;
    let scenario = read("tx2", kernels_of, nodes, r#"{"graph": "g"}"#).expect("it is sound");
    let changes = WhatIf { priorities: vec![("s".to_owned(), -1)], ..WhatIf::default() };
    let changed = scenario.clone().what_if(&changes).expect("there is one");
    let priorities: Vec<i32> = changed.streams().iter().map(|stream| stream.priority).collect();
    assert!(priorities.ends_with(&[-1, -1]), "{priorities:?}");
    // Its edges are events in its own stream.
    let changes = WhatIf { streams: vec![("k".to_owned(), "s".to_owned())], ..WhatIf::default() };
    let refused = scenario.what_if(&changes).expect_err("its edges say when it begins").to_string();
    assert!(refused.contains("\"k\" is launched by a graph, whose edges say when it begins"), "{refused}");
}

#[test]
fn a_programmatic_launch_behind_a_graph_waits_for_all_of_it() {
    let kernels_of = r#""a": {"blocks": 4, "threads": 256, "duration": "1 ms", "trigger": 0.2},
        "b": {"blocks": 4, "threads": 256, "duration": "2 ms", "wait": 0.5}"#;
    let operations = r#"{"graph": "g"}, {"kernel": "b", "programmatic": true}"#;
    for nodes in [r#""x": {"kernel": "a"}"#, r#""x": {"kernel": "a"}, "y": {"kernel": "a"}"#] {
        let scenario = read("h100", kernels_of, nodes, operations).expect("it is sound");
        assert_eq!(kernels(&scenario).last(), Some(&(MS, 3 * MS)), "{nodes}");
        let has_note = |note: &String| note.ends_with("behind what is no kernel: it begins when that has completed");
        assert!(scenario.notes.iter().any(has_note), "{:?}", scenario.notes);
    }
}

#[test]
fn what_a_graph_cannot_be_is_refused() {
    let kernel = r#""k": {"blocks": 1, "threads": 32, "duration": "1 ms", "trigger": 0}"#;
    let programmatic = |from: &str| format!(r#"{{"node": "{from}", "edge": "programmatic"}}"#);
    let (a, b) = (programmatic("a"), programmatic("b"));
    for (nodes, expected) in [
        (String::new(), "at least one node"),
        (r#""a": {"kernel": "K"}"#.to_owned(), "no kernel"),
        (r#""a": {"kernel": "k", "after": ["b"]}, "b": {"kernel": "k"}"#.to_owned(), "no earlier node"),
        (r#""a": {"kernel": "k", "programmatic": true}"#.to_owned(), "programmatically by an edge"),
        (r#""a": {"kernel": "k", "before": []}"#.to_owned(), "before"),
        (r#""a": {"kernel": "k"}, "b": {"kernel": "k", "after": [{"node": "a", "edge": "half"}]}"#.to_owned(), "full"),
        (format!(r#""a": {{"memset": 1}}, "b": {{"kernel": "k", "after": [{a}]}}"#), "from a kernel to a kernel"),
        // A diamond of programmatic edges.
        (
            format!(
                r#""a": {{"kernel": "k"}}, "b": {{"kernel": "k", "after": [{a}]}}, "c": {{"kernel": "k", "after": [{a}]}},
                "d": {{"kernel": "k", "after": [{b}, "c"]}}"#
            ),
            "only edge",
        ),
    ] {
        let error = read("h100", kernel, &nodes, r#"{"graph": "g"}"#).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    let error = read("h100", kernel, r#""a": {"kernel": "k"}"#, r#"{"graph": "h"}"#).expect_err("there is none");
    assert!(error.contains("no graph"), "{error}");
    let scenario = read("h100", kernel, r#""a": {"kernel": "k"}"#, r#"{"kernel": "k"}"#).expect("it is sound");
    assert!(scenario.notes.iter().any(|note| note.contains("\"g\" is never launched")), "{:?}", scenario.notes);
}

proptest! {
    #![proptest_config(config(100))]

    /// On a GPU with room for all: each node begins when the last of those before it ends, or when the launch does.
    #[test]
    fn nodes_of_random_graphs_begin_when_those_before_them_have_ended(
        drawn in proptest::collection::vec((1_u64..6, proptest::collection::vec(any::<bool>(), 9)), 1..9), launches in 1_usize..4,
    ) {
        let (mut kernel_texts, mut nodes) = (Vec::new(), Vec::new());
        for (number, (time, edges)) in drawn.iter().enumerate() {
            kernel_texts.push(format!(r#""k{number}": {{"blocks": 1, "threads": 32, "duration": "{time} ms"}}"#));
            let before: Vec<String> = (0..number).filter(|&from| edges[from]).map(|from| format!(r#""n{from}""#)).collect();
            nodes.push(format!(r#""n{number}": {{"kernel": "k{number}", "after": [{}]}}"#, before.join(", ")));
        }
        let operations = vec![r#"{"graph": "g"}"#; launches].join(", ");
        let scenario = read("h100", &kernel_texts.join(", "), &nodes.join(", "), &operations).expect("it is sound");
        let (mut expected, mut begins) = (Vec::new(), 0);
        for _ in 0..launches {
            let mut ends: Vec<u64> = Vec::new();
            for (number, (time, edges)) in drawn.iter().enumerate() {
                let start = (0..number).filter(|&from| edges[from]).map(|from| ends[from]).max().unwrap_or(begins);
                ends.push(start + time * MS);
                expected.push((start, start + time * MS));
            }
            begins = ends.into_iter().max().expect("it has nodes");
        }
        prop_assert_eq!(kernels(&scenario), expected);
    }
}

#[test]
fn the_shipped_graph_takes_six_milliseconds_a_step() {
    let file = crate::published::root().join("rules/graphs.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound");
    assert_eq!(kernels(&scenario).last(), Some(&(10 * MS, 12 * MS)));
}
