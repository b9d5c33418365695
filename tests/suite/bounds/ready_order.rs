//! What becomes ready at one instant enters its queue in any order: successors in a graph, streams that one event or
//! one end sets free, what several ends of one instant make ready, hosts that one completion wakes. No order of a file
//! decides a verdict, and no run in any order is above a bound.

use gpusched::analysis::{
    BlockTimes, BoundOptions, LaunchOrders, SearchOptions, Verdict, finish_bounds, jobs_of, launch_orders,
};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};
use gpusched::time::Duration;
use gpusched::workload::OperationKind;
use proptest::prelude::*;

use super::random::{Sample, options, sample};
use super::{MS, judged};
use crate::agreement::agreed;
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario as any_scenario};

/// Kernels that fill the TX2, by name and time \[ms\].
fn filling(kernels: &[(&str, u64)]) -> String {
    let text =
        |(name, ms): &(&str, u64)| format!(r#""{name}": {{"blocks": 4, "threads": 1024, "duration": "{ms} ms"}}"#);
    kernels.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn read(kernels: &str, rest: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "ready", "device": "tx2", "kernels": {{{kernels}}}, {rest}}}"#
    );
    Scenario::from_json("ready.json", &text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A kernel, and its best and worst finish \[ms\].
type Extremes = (String, Option<u64>, Option<u64>);

/// Best and worst finish of each kernel in all orders \[ms\], by name, and whether these were all.
fn extremes(scenario: &Scenario) -> (Vec<Extremes>, u64, bool) {
    let run = simulate(scenario).expect("it runs");
    let orders: LaunchOrders<'_> = launch_orders(&run, 100, 0, Progress::NONE).expect("it runs");
    let ms = |time: Option<gpusched::time::Instant>| time.map(|time| time.as_ns() / MS);
    for kernel in &orders.kernels {
        // Who states the order of the latest gets that.
        let replayed = Scenario { ready_order: kernel.worst_ready_order.clone(), ..scenario.clone() };
        if scenario.threads.len() == 1 {
            let run = simulate(&replayed).expect("it runs");
            let finishes =
                run.trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
            assert!(finishes.into_iter().any(|record| record.finish() == kernel.worst_finish_ns), "{kernel:?}");
        }
    }
    let mut all: Vec<_> = orders
        .kernels
        .iter()
        .map(|kernel| (kernel.launch.title().to_owned(), ms(kernel.best_finish_ns), ms(kernel.worst_finish_ns)))
        .collect();
    all.sort();
    (all, orders.orders_tried, orders.exhaustive)
}

fn of(known: &[(&str, u64, u64)]) -> Vec<Extremes> {
    known.iter().map(|&(name, best, worst)| (name.to_owned(), Some(best), Some(worst))).collect()
}

#[test]
fn two_nodes_of_a_graph_have_the_same_verdicts_and_orders_in_either_listing() {
    let nodes = [r#""x": {"kernel": "x"}"#, r#""y": {"kernel": "y"}"#];
    let copy = r#""z": {"copy": "device-to-host", "duration": "4 ms", "after": ["y"]}"#;
    let kernels = filling(&[("x", 3), ("y", 2)]);
    for [first, second] in [nodes, [nodes[1], nodes[0]]] {
        let scenario = read(
            &kernels,
            &format!(
                r#""graphs": {{"g": {{"nodes": {{{first}, {second}, {copy}}}}}}},
                "streams": [{{"name": "main", "deadline": "7 ms", "operations": [{{"graph": "g"}}]}}]"#
            ),
        );
        // x, y and then the copy; in the other order the copy runs beside x, and all is over by 6 ms.
        let verdicts = judged(&scenario, &SearchOptions::default());
        let [job] = &verdicts.jobs[..] else { panic!("one job") };
        assert_eq!((job.worst_found_ns, job.verdict), (Some(Duration::from_ns(9 * MS)), Some(Verdict::Missed)));
        // The witness says in which order they enter, also as a file.
        let witness = verdicts.witness(0).expect("there is one").to_native_json().expect("it has a form");
        let witness = Scenario::from_json("witness", &witness, &ReadOptions::default()).expect("it is sound");
        let run = simulate(&witness).expect("it runs");
        let end = |operation: u32| run.trace.operations()[operation as usize].finish();
        let responses: Vec<_> =
            jobs_of(&run).iter().filter_map(|job| Some(job.finish(end)?.since(job.released))).collect();
        assert_eq!(responses, [Duration::from_ns(9 * MS)]);
        assert_eq!(extremes(&scenario), (of(&[("x", 3, 5), ("y", 2, 5)]), 2, true));
    }
}

#[test]
fn an_event_that_frees_two_streams_frees_them_in_either_order() {
    let scenario = read(
        &filling(&[("A", 2), ("B", 3), ("P", 1)]),
        r#""streams": [{"name": "p"}, {"name": "a"}, {"name": "b"}], "hosts": [{"name": "h", "steps": [
            {"launch": "P", "stream": "p"}, {"record": "e", "stream": "p"},
            {"wait": "e", "stream": "a"}, {"launch": "A", "stream": "a"},
            {"wait": "e", "stream": "b"}, {"launch": "B", "stream": "b"}]}]"#,
    );
    assert_eq!(extremes(&scenario), (of(&[("A", 3, 6), ("B", 4, 6), ("P", 1, 1)]), 2, true));
}

#[test]
fn an_event_that_frees_two_streams_of_one_channel_frees_them_in_the_order_of_submission() {
    let scenario = read(
        &filling(&[("A", 2), ("B", 3), ("P", 1)]),
        r#""streams": [{"name": "p"}, {"name": "a"}, {"name": "b"}], "hosts": [{"name": "h", "steps": [
            {"launch": "P", "stream": "p"}, {"record": "e", "stream": "p"},
            {"wait": "e", "stream": "a"}, {"launch": "A", "stream": "a"},
            {"wait": "e", "stream": "b"}, {"launch": "B", "stream": "b"}]}]"#,
    );
    let scenario = scenario.what_if(&WhatIf { connections: Some(1), ..WhatIf::default() }).expect("it has one");
    assert_eq!(extremes(&scenario), (of(&[("A", 3, 3), ("B", 6, 6), ("P", 1, 1)]), 1, true));
}

#[test]
fn kernels_behind_ends_of_one_instant_and_behind_the_null_stream_come_in_either_order() {
    let short = r#""S": {"blocks": 1, "threads": 32, "duration": "1 ms"}"#;
    let kernels = format!("{}, {short}", filling(&[("A", 2), ("B", 3)]));
    let own_ends = r#""streams": [{"name": "a"}, {"name": "b"}], "hosts": [{"name": "h", "steps": [
        {"launch": "S", "stream": "a"}, {"launch": "S", "stream": "b"},
        {"launch": "A", "stream": "a"}, {"launch": "B", "stream": "b"}]}]"#;
    // N2: both wait for what was launched into the NULL stream before.
    let null = r#""streams": [{"name": "a"}, {"name": "b"}], "hosts": [{"name": "h", "steps": [
        {"launch": "S", "stream": "NULL"}, {"launch": "A", "stream": "a"}, {"launch": "B", "stream": "b"}]}]"#;
    let (all, tried, exhaustive) = extremes(&read(&kernels, own_ends));
    assert_eq!((all[..2].to_vec(), tried, exhaustive), (of(&[("A", 3, 6), ("B", 4, 6)]), 2, true));
    assert_eq!(extremes(&read(&kernels, null)), (of(&[("A", 3, 6), ("B", 4, 6), ("S", 1, 1)]), 2, true));
}

#[test]
fn two_hosts_that_the_end_of_one_kernel_wakes_act_in_either_order() {
    let scenario = read(
        &filling(&[("A", 2), ("B", 3), ("P", 1)]),
        r#""streams": [{"name": "p"}, {"name": "a"}, {"name": "b"}], "hosts": [
            {"name": "first", "steps": [{"launch": "P", "stream": "p"}, {"synchronize": "p"}, {"launch": "A", "stream": "a"}]},
            {"name": "other", "release": "500 us", "steps": [{"synchronize": "p"}, {"launch": "B", "stream": "b"}]}]"#,
    );
    // Not all, as hosts that wait may launch together at other instants.
    assert_eq!(extremes(&scenario), (of(&[("A", 3, 6), ("B", 4, 6), ("P", 1, 1)]), 2, false));
}

#[test]
fn what_launches_alone_make_ready_keeps_the_order_of_its_host() {
    let scenario = read(
        &filling(&[("A", 2), ("B", 3)]),
        r#""streams": [{"name": "a"}, {"name": "b"}], "hosts": [{"name": "h", "steps": [
            {"launch": "A", "stream": "a"}, {"launch": "B", "stream": "b"}]}]"#,
    );
    assert_eq!(extremes(&scenario), (of(&[("A", 2, 2), ("B", 5, 5)]), 1, true));
}

#[test]
fn more_orders_than_are_tried_are_said_to_be_more() {
    // 9! orders of what one event sets free.
    let names: Vec<String> = (0..9).map(|number| format!("K{number}")).collect();
    let kernels: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let streams: Vec<String> = names.iter().map(|name| format!(r#"{{"name": "{name}"}}"#)).collect();
    let steps: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"wait": "e", "stream": "{name}"}}, {{"launch": "{name}", "stream": "{name}"}}"#))
        .collect();
    let scenario = read(
        &filling(&kernels),
        &format!(
            r#""streams": [{{"name": "p"}}, {}], "hosts": [{{"name": "h", "steps": [
                {{"launch": "K0", "stream": "p"}}, {{"record": "e", "stream": "p"}}, {}]}}]"#,
            streams.join(", "),
            steps.join(", ")
        ),
    );
    // None of them shares a channel with another.
    let scenario = scenario.what_if(&WhatIf { connections: Some(16), ..WhatIf::default() }).expect("it has as many");
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 50, 0, Progress::NONE).expect("it runs");
    assert_eq!((orders.orders, orders.orders_tried, orders.exhaustive), (Some(362_880), 50, false));
    assert!(orders.notes.iter().any(|note| note.contains("49 drawn at random")), "{:?}", orders.notes);
}

/// The order in which the nodes of a graph are listed: by any keys, but behind those that they are after.
fn listing(edges: &[Vec<usize>], keys: &[u32]) -> Vec<usize> {
    let mut listed: Vec<usize> = Vec::new();
    while listed.len() < edges.len() {
        let may_be_next =
            |node: &usize| !listed.contains(node) && edges[*node].iter().all(|before| listed.contains(before));
        let next = (0..edges.len()).filter(may_be_next).min_by_key(|&node| (keys[node], node)).expect("no circle");
        listed.push(next);
    }
    listed
}

proptest! {
    #![proptest_config(config(24))]

    /// With block times as stated only orders are open, and of four nodes all are tried.
    #[test]
    fn no_listing_of_a_graph_changes_what_is_found(
        nodes in prop::collection::vec((1_u64..6, any::<bool>(), any::<u8>()), 2..5),
        keys in prop::collection::vec(any::<u32>(), 4),
        deadline in 3_u64..20,
    ) {
        let edges: Vec<Vec<usize>> = nodes
            .iter()
            .enumerate()
            .map(|(number, (_, _, bits))| (0..number).filter(|before| (bits >> (2 * before)).trailing_zeros() >= 2).collect())
            .collect();
        let times: Vec<(String, u64)> =
            nodes.iter().enumerate().map(|(number, (ms, ..))| (format!("k{number}"), *ms)).collect();
        let kernels = filling(&times.iter().map(|(name, ms)| (name.as_str(), *ms)).collect::<Vec<_>>());
        let text = |node: usize| {
            let (ms, is_copy, _) = nodes[node];
            let before: Vec<String> = edges[node].iter().map(|before| format!(r#""n{before}""#)).collect();
            let work = if is_copy {
                format!(r#""copy": "device-to-host", "duration": "{ms} ms""#)
            } else {
                format!(r#""kernel": "k{node}""#)
            };
            format!(r#""n{node}": {{{work}, "after": [{}]}}"#, before.join(", "))
        };
        let verdict = |keys: &[u32]| {
            let nodes: Vec<String> = listing(&edges, keys).into_iter().map(text).collect();
            let scenario = read(
                &kernels,
                &format!(
                    r#""graphs": {{"g": {{"nodes": {{{}}}}}}},
                    "streams": [{{"name": "main", "deadline": "{deadline} ms", "operations": [{{"graph": "g"}}]}}]"#,
                    nodes.join(", ")
                ),
            );
            let bound = BoundOptions { block_times: BlockTimes::AsStated, ..BoundOptions::default() };
            let verdicts = judged(&scenario, &SearchOptions { bound, runs: 128, ..SearchOptions::default() });
            (verdicts.jobs[0].worst_found_ns, verdicts.jobs[0].verdict)
        };
        prop_assert_eq!(verdict(&[0; 4]), verdict(&keys));
    }

    #[test]
    fn no_run_in_any_ready_order_is_above_a_bound(
        sample in sample(), options in options(), choices in prop::collection::vec(prop::collection::vec(0_u32..6, 24), 12),
    ) {
        let scenario = Sample::scenario(&sample);
        let bounds = finish_bounds(&scenario, options).expect("it runs");
        for choices in choices {
            let run = Scenario { ready_order: choices.into(), ..scenario.clone() };
            let run = simulate(&run)?;
            for (record, bound) in run.trace.operations().iter().zip(&bounds.operations) {
                prop_assert!(record.finish() <= bound.finish, "{record:?} {bound:?}");
            }
        }
    }

    #[test]
    fn engine_reference_and_audit_agree_on_any_ready_order(
        Case(scenario) in any_scenario(Limits::ALL), choices in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        agreed(&Scenario { ready_order: choices.into(), ..scenario })?;
    }
}
