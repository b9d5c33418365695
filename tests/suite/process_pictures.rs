//! How several processes are shown: the band of turns, pauses of blocks, states, the rule log, blame, Perfetto files.

use gpusched::device::Runlists;
use gpusched::hosts::simulate;
use gpusched::pictures::{PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::{Run, State, Summary, rule_log};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::BlameTables;
use gpusched::time::{Duration, Instant};
use gpusched::trace::Rule;
use serde_json::{Value, json};

use crate::figure_samples::two_halves;
use crate::generate::builtin;

const MS: u64 = 1_000_000;

fn two(run_ms: u64) -> Scenario {
    let file = two_halves(run_ms).to_string();
    Scenario::from_json("two.json", &file, &ReadOptions::default()).expect("it is sound")
}

fn run(scenario: &Scenario) -> Run<'_> {
    simulate(scenario).expect("it runs")
}

#[test]
fn a_state_says_whose_turn_it_is_and_what_waits_for_whom() {
    let scenario = two(2);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    let at = |us: u64| State::at(&summary, Instant::from_ns(us * 1_000));
    let value = serde_json::to_value(at(700)).expect("it is plain");
    assert_eq!(value["turn"], json!({"process": "P", "switching": false, "from_ns": 0, "to_ns": MS}));
    assert_eq!(value["ee_queues"]["Q"]["0"], json!(["B"]));
    assert_eq!(value["waiting"][0]["rule"], "T1");
    let why = "until it is the turn of its context, at 1.5 ms: now P has one, until 1 ms";
    assert_eq!(value["waiting"][0]["why"], why);
    let switching = at(1_200);
    let text = switching.text();
    assert!(text.contains("switch to Q, from 1 ms to 1.5 ms"), "{text}");
    assert!(text.contains("suspended, of P: 2 x A"), "{text}");
    assert!(switching.sms.iter().all(|sm| sm.resident.is_empty()));
    let suspended = at(2_000).suspended.expect("contexts take turns");
    assert_eq!((suspended.len(), suspended[0].blocks.blocks), (1, 2));
}

#[test]
fn a_copy_that_another_context_made_stand_still_is_in_the_state() {
    let stream = |name: &str| {
        let copy = json!({"copy": "host-to-device", "bytes": 0, "duration": "2 ms"});
        json!({"name": name, "process": name, "operations": [copy]})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "streams": [stream("P"), stream("Q")],
    });
    let device = builtin("tx2").with(|spec| spec.time_slicing.runlists = Runlists::Separate).expect("sound");
    let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
    let scenario = Scenario::from_json("copies.json", &file.to_string(), &options).expect("sound");
    let run = run(&scenario);
    // They trade every millisecond: P, Q, P, Q.
    for (us, suspended, served) in [(500, None, 0), (1_500, Some(0), 1), (2_500, Some(1), 0), (3_500, None, 1)] {
        let state = State::at(&Summary::of(&run), Instant::from_ns(us * 1_000));
        let copies = state.suspended_copies.clone().expect("contexts take turns");
        assert_eq!(
            copies.iter().map(|copy| copy.id).collect::<Vec<_>>(),
            suspended.into_iter().collect::<Vec<_>>(),
            "{us} us"
        );
        let text = state.text();
        assert!(text.contains(&format!("copy engine 0: copy {served} (host-to-device)")), "{text}");
        let said = suspended.map(|id| format!("suspended, of {}: copy {id} (host-to-device)", ["P", "Q"][id as usize]));
        assert_eq!(text.contains("suspended, of"), said.is_some(), "{text}");
        assert!(said.is_none_or(|said| text.contains(&said)), "{text}");
    }
}

#[test]
fn blame_names_the_contexts_that_had_turns_before_kernels_began_and_while_they_paused() {
    let scenario = two(2);
    let run = run(&scenario);
    let tables = BlameTables::new(&Summary::of(&run));
    let rows: Vec<_> = tables
        .kernels
        .iter()
        .map(|row| (&*row.waiting, row.blocking.as_deref(), row.rules.rule, row.wait_ns))
        .collect();
    let [half, whole] = [MS / 2, MS].map(Duration::from_ns);
    // A pauses from 1 to 3 ms, B from 2.5 to 4.5 ms: two switches and a turn of the other.
    let switches = "switches of contexts";
    let expected = [
        ("A", Some(switches), Rule::T4, whole),
        ("A", Some("turns of Q"), Rule::T4, whole),
        ("B", Some(switches), Rule::T4, whole),
        ("B", Some("turns of P"), Rule::T4, whole),
        ("B", Some(switches), Rule::T1, half),
        ("B", Some("turns of P"), Rule::T1, half),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_rule_log_has_turns_between_queues_and_assignments() {
    let scenario = two(2);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    let log = rule_log(&summary);
    let at_start: Vec<_> =
        log.iter().filter(|firing| firing.at_ns == Instant::ZERO).map(|firing| firing.rule).collect();
    assert_eq!(at_start, ["G1", "G2", "T1", "X1", "G3"]);
    let of_turns: Vec<_> = log.iter().filter(|firing| firing.id.is_none()).collect();
    // Four turns begin and end, three after a switch.
    assert_eq!(of_turns.len(), 4 + 3 + 3 + usize::from(of_turns.last().is_some_and(|last| last.rule == "T2")));
}

#[test]
fn perfetto_has_turns_by_process_and_a_slice_for_each_part_of_a_block() {
    let scenario = two(2);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    let mut out = Vec::new();
    let perfetto = PerfettoRun { summary, label: "", known: PerfettoKnown::Everything };
    perfetto_trace(&[perfetto], &mut out).expect("there is room");
    let value: Value = serde_json::from_slice(&out).expect("it is JSON");
    let events = value["traceEvents"].as_array().expect("a list");
    let of = |category: &str, name: &str| {
        let chosen = events.iter().filter(|event| event["cat"] == category && event["name"] == name);
        chosen.map(|event| (event["ts"].as_f64(), event["dur"].as_f64())).collect::<Vec<_>>()
    };
    let us = |from: f64, to: f64| (Some(from), Some(to));
    assert_eq!(of("turn", "turn"), [us(0.0, 1e3), us(1.5e3, 1e3), us(3e3, 1e3), us(4.5e3, 1e3)]);
    assert_eq!(of("turn", "switch").len(), 3);
    // Two blocks of two parts each.
    assert_eq!(of("block", "A"), [us(0.0, 1e3), us(3e3, 1e3), us(0.0, 1e3), us(3e3, 1e3)]);
    let taken = events.iter().filter(|event| event["ph"] == "C" && event["name"] == "thread slots");
    assert!(taken.filter_map(|event| event["args"]["taken"].as_u64()).all(|taken| taken <= 1024));
}
