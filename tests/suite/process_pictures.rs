//! How several processes are shown: the band of turns, pauses of blocks, states, the rule log, blame, Perfetto files.

use std::ops::Range;

use gpusched::device::Runlists;
use gpusched::draw::MM;
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Lanes, Piece, Timeline, TimelineOptions};
use gpusched::pictures::{PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::{Run, State, Summary, rule_log};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{BlameTables, state_text};
use gpusched::time::{Duration, Instant};
use gpusched::trace::Rule;
use gpusched::workload::{OperationId, ProcessId};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::campaign::config;
use crate::generate::builtin;

const MS: u64 = 1_000_000;

/// Two processes, one stream and kernel each: half of a TX2 for `run_ms`, in slices of 1 ms with switches of 500 us.
/// The second kernel comes at 500 us.
pub(crate) fn two_halves(run_ms: u64) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "two", "device": "tx2", "switch_cost": "500 us",
        "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "1 ms"}},
        "kernels": {
            "A": {"blocks": 2, "threads": 1024, "duration": format!("{run_ms} ms")},
            "B": {"blocks": 2, "threads": 1024, "duration": format!("{run_ms} ms")},
        },
        "streams": [
            {"name": "P1", "process": "P", "operations": [{"kernel": "A"}]},
            {"name": "Q1", "process": "Q", "release": "500 us", "operations": [{"kernel": "B"}]},
        ],
    })
}

fn two(run_ms: u64) -> Scenario {
    let file = two_halves(run_ms).to_string();
    Scenario::from_json("two.json", &file, &ReadOptions::default()).expect("it is sound")
}

fn run(scenario: &Scenario) -> Run<'_> {
    simulate(scenario).expect("it runs")
}

#[test]
fn the_band_of_turns_and_the_pauses_are_where_they_happen() {
    let scenario = two(2);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    // P 0-1, switch, Q 1.5-2.5, switch, P 3-4, switch, Q 4.5-5.5.
    assert_eq!(run.trace.end(), Instant::from_ns(5_500_000));
    let options = TimelineOptions { to: Some(Duration::from_ns(6 * MS)), ..TimelineOptions::default() };
    let timeline = Timeline::new(&summary, &options).expect("it has a picture");
    let band = timeline.turns.as_ref().expect("contexts take turns");
    let at = |half_ms: i64| timeline.plot.x + (timeline.plot.width * half_ms * 2 + 12) / 24;
    let (first, second) = (Some(ProcessId(0)), Some(ProcessId(1)));
    let expected =
        [(first, 0, 2), (None, 2, 3), (second, 3, 5), (None, 5, 6), (first, 6, 8), (None, 8, 9), (second, 9, 11)];
    let boxes: Vec<_> = band.boxes.iter().map(|turn| (turn.process, turn.area.x, turn.area.right())).collect();
    assert_eq!(boxes, expected.map(|(process, from, to)| (process, at(from), at(to))));
    assert!(band.shares.is_empty());
    for sm in &timeline.bands {
        // Each has the whole SM in its turns: both stand at the bottom.
        assert!(sm.limit.is_none());
        let [a, b] = &sm.blocks[..] else { panic!("one block of each") };
        assert_eq!((a.pieces[0].units.clone(), b.pieces[0].units.clone()), (0..1024, 0..1024));
        assert_eq!(a.pieces[0].pauses, vec![Range { start: at(2), end: at(6) }]);
        assert_eq!(b.pieces[0].pauses, vec![Range { start: at(5), end: at(9) }]);
        let parts: Vec<_> = a.pieces[0].parts().iter().map(|part| (part.x, part.right())).collect();
        assert_eq!(parts, [(at(0), at(2)), (at(6), at(8))]);
    }
    let legend: Vec<&str> = timeline.legend.iter().map(|entry| entry.full.as_str()).collect();
    for text in ["turn of P", "turn of Q", "switch of contexts", "block pauses (T4)"] {
        assert!(legend.contains(&text), "{text} is missing in {legend:?}");
    }
    let drawn = timeline.draw(&summary, &options).to_svg();
    assert!(drawn.contains("turn of P\nfrom 3 ms to 4 ms"), "{drawn}");
    assert!(drawn.contains("ran for 2 ms in turns of P, paused once for 2 ms in all"), "{drawn}");
}

#[test]
fn turns_too_short_to_see_become_shares_of_time() {
    let scenario = two(3_000);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    let options = TimelineOptions::default();
    let timeline = Timeline::new(&summary, &options).expect("it has a picture");
    let band = timeline.turns.as_ref().expect("contexts take turns");
    assert!(band.boxes.is_empty() && band.turns > 5_000, "{} turns", band.turns);
    let shares: Vec<_> = band.shares.iter().map(|share| share.of).collect();
    assert_eq!(shares, [Some(ProcessId(0)), Some(ProcessId(1)), None]);
    assert!(band.area.height >= 7 * MM);
    assert!(timeline.legend.iter().any(|entry| entry.full.ends_with("turns, too short to see: shares of time")));
    // Steps are whole rounds: what takes a third of every round takes a third everywhere, but at the ends of the run.
    let inside = timeline.plot.x + timeline.plot.width / 20..timeline.plot.right() - timeline.plot.width / 20;
    for outlines in band.shares.iter().map(|share| &share.outlines) {
        let corners = outlines.iter().flatten().filter(|corner| inside.contains(&corner.x));
        assert_eq!(corners.count(), 0, "shares are even");
    }
    for profile in timeline.bands.iter().flat_map(|band| &band.profiles) {
        let corners = profile.outlines.iter().flatten().filter(|corner| inside.contains(&corner.x));
        assert_eq!(corners.count(), 0, "means are even");
    }
    // A mean over turns of both: never more than the third that each has.
    for sm in &timeline.bands {
        assert!(sm.blocks.is_empty() && sm.limit.is_none() && sm.profiles.len() == 2);
    }
}

#[test]
fn the_legend_of_many_turns_is_whole_at_any_width() {
    let scenario = two(3_000);
    let run = run(&scenario);
    let summary = Summary::of(&run);
    for width_mm in [50, 60, 88, 120, 181, 300] {
        let options = TimelineOptions { width: width_mm * MM, ..TimelineOptions::default() };
        let timeline = Timeline::new(&summary, &options).expect("it has a picture");
        for entry in timeline.legend.iter().filter(|entry| entry.full.contains("turn")) {
            assert!(!entry.label.text.contains('…'), "{} at {width_mm} mm", entry.label.text);
        }
    }
}

#[test]
fn copies_that_stand_still_are_drawn_with_their_pauses() {
    // On a TX2 copies run in the turns of their contexts: P 0-1, switch, Q 1.5-2.5, switch, P 3-4.
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "device": "tx2", "switch_cost": "500 us",
        "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "1 ms"}},
        "kernels": {"B": {"blocks": 2, "threads": 1024, "duration": "1 ms"}},
        "streams": [
            {"name": "P1", "process": "P", "operations": [{"copy": "host-to-device", "duration": "2 ms"}]},
            {"name": "Q1", "process": "Q", "release": "500 us", "operations": [{"kernel": "B"}]},
        ],
    });
    let scenario = Scenario::from_json("copies.json", &file.to_string(), &ReadOptions::default()).expect("sound");
    let run = run(&scenario);
    let summary = Summary::of(&run);
    for lanes in [Lanes::Sms, Lanes::Streams] {
        let options = TimelineOptions { lanes, ..TimelineOptions::default() };
        let timeline = Timeline::new(&summary, &options).expect("it has a picture");
        let pauses = match lanes {
            Lanes::Sms => &timeline.lanes[0].copies[0].pauses,
            Lanes::Streams => &timeline.stream_lanes[0].boxes[0].pauses,
        };
        let at = |ms| timeline.place_of(Instant::from_ns(ms * MS));
        assert_eq!(*pauses, [Range { start: at(1), end: at(3) }], "{lanes:?}");
        let drawn = timeline.draw(&summary, &options).to_svg();
        assert!(drawn.contains("ran for 2 ms, paused once for 2 ms in all"), "{lanes:?}");
    }
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
    let text = state_text(&switching);
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
        let text = state_text(&state);
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

proptest! {
    #![proptest_config(config(24))]

    /// Parts of blocks never meet on paper, whoever they are of, and they are in turns of their own contexts.
    #[test]
    fn parts_of_blocks_stand_apart_and_below_their_turns(
        kernels in prop::collection::vec((0..3_u64, 1..12_u64, 1..=1024_u64, 1..9_u64, 0..9_u64), 1..7),
        slice in 300..3_000_u64,
        cost in 0..300_u64,
    ) {
        let name = |number: usize| format!("K{number}");
        let file = json!({
            "format": "gpusched-scenario/1", "name": "random", "device": "tx2", "switch_cost": format!("{cost} us"),
            "processes": (0..3).map(|number| {
                (format!("P{number}"), json!({"time_slice": format!("{slice} us")}))
            }).collect::<serde_json::Map<_, _>>(),
            "kernels": kernels.iter().enumerate().map(|(number, (_, blocks, threads, ms, _))| {
                (name(number), json!({"blocks": blocks, "threads": threads, "duration": format!("{ms} ms")}))
            }).collect::<serde_json::Map<_, _>>(),
            "streams": kernels.iter().enumerate().map(|(number, (process, .., at))| json!({
                "name": name(number), "process": format!("P{process}"), "release": format!("{at} ms"),
                "operations": [{"kernel": name(number)}],
            })).collect::<Vec<_>>(),
        });
        let scenario = Scenario::from_json("random.json", &file.to_string(), &ReadOptions::default()).expect("sound");
        let run = run(&scenario);
        let summary = Summary::of(&run);
        let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it has a picture");
        let Some(turns) = &timeline.turns else { return Ok(()) };
        for band in &timeline.bands {
            prop_assert!(band.limit.is_none());
            let mut parts = Vec::new();
            for blocks in &band.blocks {
                let process = run.trace.process_of(blocks.operation);
                let own: Vec<_> = turns.boxes.iter().filter(|turn| turn.process == process).collect();
                for part in blocks.pieces.iter().flat_map(Piece::parts).filter(|part| part.width > 0) {
                    let within = own.iter().any(|turn| turn.area.x <= part.x && part.right() <= turn.area.right());
                    prop_assert!(within, "{part:?} is in no turn of {process:?}");
                    parts.push(part);
                }
            }
            for (number, part) in parts.iter().enumerate() {
                prop_assert!(parts[number + 1..].iter().all(|other| !part.overlaps(other)));
            }
        }
        let blocks: u64 = timeline.bands.iter().flat_map(|band| &band.blocks).map(|blocks| blocks.count).sum();
        let profiles: u64 = timeline.bands.iter().flat_map(|band| &band.profiles).map(|profile| profile.count).sum();
        prop_assert_eq!(blocks + profiles, kernels.iter().map(|(_, blocks, ..)| *blocks).sum::<u64>());
    }
}

#[test]
fn a_run_without_turns_has_no_band() {
    let mut scenario = serde_json::to_value(json!({
        "format": "gpusched-scenario/1", "name": "one", "device": "tx2",
        "kernels": {"A": {"blocks": 2, "threads": 1024, "duration": "2 ms"}},
        "streams": [{"name": "S", "operations": [{"kernel": "A"}]}],
    }))
    .expect("it is plain");
    for mps in [false, true] {
        if mps {
            scenario["mps"] = json!(true);
            scenario["streams"][0]["process"] = json!("P");
        }
        let read = Scenario::from_json("one.json", &scenario.to_string(), &ReadOptions::default()).expect("sound");
        let run = run(&read);
        let summary = Summary::of(&run);
        let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it has a picture");
        assert!(timeline.turns.is_none());
        let state = serde_json::to_value(State::at(&summary, Instant::from_ns(MS))).expect("it is plain");
        assert!(state.get("turn").is_none() && state.get("suspended").is_none());
        assert!(state["ee_queues"]["0"].is_array());
        assert!(run.trace.context_with_turns(OperationId(0)).is_none());
    }
}
