//! CUDA graphs, which are read as streams with events: nodes begin when their edges say, launches are one, and what
//! cannot be said that way is refused.

use std::fmt::Write;

use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};
use gpusched::time::{Duration, Instant};
use gpusched::workload::OperationKind;
use proptest::prelude::*;

use crate::agreement::agreed;
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

/// A diamond of kernels whose blocks trigger, behind their waits, before tails as long as the parts before those;
/// `edge` is the kind of all edges. Four kernels are measured on an H100 NVL, of one block an SM, in the shortest of
/// ten launches of each kind (repository memory-of-star/gpu_sheduler_survey, 2026, `diamond_node.sqlite`).
#[test]
fn a_diamond_begins_and_ends_as_measured_on_an_h100_with_programmatic_edges_and_without() {
    let common = r#""blocks": 132, "threads": 128"#;
    let kernels_of = format!(
        r#""producer": {{{common}, "duration": "11.207 ms", "trigger": 0}},
        "middle": {{{common}, "duration": "22.412 ms", "wait": 0.5, "trigger": 0.5}},
        "last": {{{common}, "duration": "11.206 ms", "wait": 1}}"#
    );
    for (edge, measured) in [
        ("full", [(0.0, 11.2061), (11.2063, 33.6176), (11.2065, 33.6179), (33.6180, 44.8247)]),
        ("programmatic", [(0.0, 11.2072), (0.0013, 22.4141), (0.0015, 22.4144), (11.2087, 22.4154)]),
    ] {
        let edge = |from: &str| format!(r#"{{"node": "{from}", "edge": "{edge}"}}"#);
        let (p, a, b) = (edge("p"), edge("a"), edge("b"));
        let nodes = format!(
            r#""p": {{"kernel": "producer"}}, "a": {{"kernel": "middle", "after": [{p}]}},
            "b": {{"kernel": "middle", "after": [{p}]}}, "f": {{"kernel": "last", "after": [{a}, {b}]}}"#
        );
        let scenario = read("h100", &kernels_of, &nodes, r#"{"graph": "g"}"#).expect("it is sound");
        assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
        let simulated = kernels(&scenario);
        for ((start, finish), (measured_start, measured_finish)) in simulated.iter().zip(measured) {
            for (simulated, measured) in [(*start, measured_start), (*finish, measured_finish)] {
                let apart = (simulated as f64 / 1e6 - measured).abs();
                assert!(apart < 0.003, "{simulated} ns, measured {measured} ms");
            }
        }
        agreed(&scenario).expect("they agree");
        let written = scenario.to_native_json().expect("it can be written");
        let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
        assert_eq!(kernels(&again), simulated);
        assert!(again.notes.iter().all(|note| note.ends_with("is never launched")), "{:?}", again.notes);
    }
}

#[test]
fn a_programmatic_edge_from_a_kernel_without_a_trigger_is_worth_a_note() {
    let kernels_of = r#""a": {"blocks": 1, "threads": 32, "duration": "1 ms"},
        "b": {"blocks": 1, "threads": 32, "duration": "2 ms", "trigger": 0.5}"#;
    let nodes = r#""x": {"kernel": "b"}, "y": {"kernel": "a"},
        "z": {"kernel": "b", "after": [{"node": "x", "edge": "programmatic"}, {"node": "y", "edge": "programmatic"}]}"#;
    let scenario = read("h100", kernels_of, nodes, r#"{"graph": "g"}, {"graph": "g"}"#).expect("it is sound");
    let note =
        "\"b\" is launched programmatically behind \"a\", which has no trigger: it begins when that has completed";
    assert_eq!(scenario.notes, [note]);
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
    let a = programmatic("a");
    for (nodes, expected) in [
        (String::new(), "at least one node"),
        (r#""a": {"kernel": "K"}"#.to_owned(), "no kernel"),
        (r#""a": {"kernel": "k", "after": ["b"]}, "b": {"kernel": "k"}"#.to_owned(), "no earlier node"),
        (r#""a": {"kernel": "k", "programmatic": true}"#.to_owned(), "programmatically by an edge"),
        (r#""a": {"kernel": "k", "before": []}"#.to_owned(), "before"),
        (r#""a": {"kernel": "k"}, "b": {"kernel": "k", "after": [{"node": "a", "edge": "half"}]}"#.to_owned(), "full"),
        (format!(r#""a": {{"memset": 1}}, "b": {{"kernel": "k", "after": [{a}]}}"#), "from a kernel to a kernel"),
        (
            format!(r#""a": {{"kernel": "k"}}, "b": {{"kernel": "k", "after": ["a", {a}]}}"#),
            "an edge from that node already",
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

/// A node of a random graph: its time \[us\], trigger and wait in quarters of it, and whether edges lead to it from
/// those before it: 1 full, 2 programmatic.
type RandomNode = (u64, Option<u64>, u64, Vec<u8>);

fn random_nodes(most: usize) -> impl Strategy<Value = Vec<RandomNode>> {
    let share = 0_u64..5;
    let node =
        (1_u64..6, proptest::option::weighted(0.8, share.clone()), share, proptest::collection::vec(0_u8..3, most));
    proptest::collection::vec(node, 1..most)
}

/// Such a graph, launched as often, on a GPU of compute capability 9.0 with these latencies \[ns\] and `blocks` a
/// kernel.
fn random_graph(drawn: &[RandomNode], launches: usize, blocks: u32, latencies: (u64, u64)) -> Scenario {
    let (mut kernel_texts, mut nodes) = (Vec::new(), Vec::new());
    for (number, (time, trigger, wait, edges)) in drawn.iter().enumerate() {
        let quarters = |quarters: u64| quarters as f64 / 4.0;
        let trigger = trigger.map_or(String::new(), |at| format!(r#", "trigger": {}"#, quarters(at)));
        let wait = quarters(*wait);
        kernel_texts.push(format!(
            r#""k{number}": {{"blocks": {blocks}, "threads": 1024, "duration": "{} ns", "wait": {wait}{trigger}}}"#,
            time * 1000
        ));
        let before = (0..number).filter(|&from| edges[from] > 0).map(|from| {
            let edge = if edges[from] == 1 { "full" } else { "programmatic" };
            format!(r#"{{"node": "n{from}", "edge": "{edge}"}}"#)
        });
        let before: Vec<String> = before.collect();
        nodes.push(format!(r#""n{number}": {{"kernel": "k{number}", "after": [{}]}}"#, before.join(", ")));
    }
    let operations = vec![r#"{"graph": "g"}"#; launches].join(", ");
    let mut scenario = read("h100", &kernel_texts.join(", "), &nodes.join(", "), &operations).expect("it is sound");
    let device = scenario.device().with(|spec| {
        (spec.pdl_trigger_latency, spec.pdl_wait_latency) =
            (Duration::from_ns(latencies.0), Duration::from_ns(latencies.1));
    });
    scenario.catalogue = scenario.catalogue.on(device.expect("it is a GPU")).expect("it takes the same");
    scenario
}

proptest! {
    #![proptest_config(config(100))]

    /// On a GPU with room for all, by hand: full edges lead from the end, programmatic ones from the last trigger, or
    /// the end if that is earlier; blocks stand at their wait until all before them over programmatic edges have ended.
    #[test]
    fn nodes_of_random_graphs_begin_when_their_full_and_programmatic_edges_say(
        drawn in random_nodes(8), launches in 1_usize..3,
    ) {
        let (mut expected, mut begins) = (Vec::new(), 0);
        for _ in 0..launches {
            // Of each node when it has triggered, and when it ends.
            let mut known: Vec<(Option<u64>, u64)> = Vec::new();
            for (number, (time, trigger, wait, edges)) in drawn.iter().enumerate() {
                let (mut start, mut released) = (begins, 0);
                for (&edge, &(triggered, end)) in edges.iter().zip(&known[..number]) {
                    match edge {
                        1 => start = start.max(end),
                        2 => {
                            start = start.max(triggered.map_or(end, |at| end.min(at + 690)));
                            released = released.max(end + 850);
                        }
                        _ => {}
                    }
                }
                let share = |quarters: u64| time * 1000 * quarters / 4;
                let stood = if released > 0 { released.saturating_sub(start + share(*wait)) } else { 0 };
                let end = start + time * 1000 + stood;
                let is_dependent = edges[..number].contains(&2);
                let behind_wait = |at: u64| is_dependent && *wait <= at;
                let triggered = trigger.map(|at| start + share(at) + if behind_wait(at) { stood } else { 0 });
                known.push((triggered, end));
                expected.push((start, end));
            }
            begins = known.into_iter().map(|(_, end)| end).max().expect("it has nodes");
        }
        prop_assert_eq!(kernels(&random_graph(&drawn, launches, 1, (690, 850))), expected);
    }

    /// Also where kernels have no room beside others, and where things happen at one instant.
    #[test]
    fn engine_reference_and_audit_agree_on_graphs_with_programmatic_edges(
        drawn in random_nodes(7), launches in 1_usize..3, blocks in 1_u32..300, latencies in (0_u64..3, 0_u64..3),
    ) {
        agreed(&random_graph(&drawn, launches, blocks, (latencies.0 * 400, latencies.1 * 450)))?;
    }
}

#[test]
fn the_shipped_graph_takes_six_milliseconds_a_step() {
    let file = crate::published::root().join("rules/graphs.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound");
    assert_eq!(kernels(&scenario).last(), Some(&(10 * MS, 12 * MS)));
}
