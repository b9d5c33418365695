//! How several processes are shown in timelines: the band of turns, pauses of blocks.

use std::ops::Range;

use crate::draw::MM;
use crate::hosts::simulate;
use crate::pictures::timeline::{Lanes, Piece, Timeline, TimelineOptions};
use crate::run::{Run, State, Summary};
use crate::scenario::{ReadOptions, Scenario};
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, ProcessId};
use proptest::prelude::*;
use serde_json::json;

use super::config;
use super::figure_samples::two_halves;

const MS: u64 = 1_000_000;

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
