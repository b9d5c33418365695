//! Where blocks wait for others on their SMs in timelines.

use crate::hosts::simulate;
use crate::pictures::timeline::{Timeline, TimelineOptions};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};
use crate::time::Instant;

use super::shipped;

fn legend(timeline: &Timeline) -> Vec<&str> {
    timeline.legend.iter().map(|entry| entry.full.as_str()).collect()
}

#[test]
fn a_block_looks_otherwise_from_when_on_it_waits_until_it_goes_on() {
    // By hand: the consumer comes to its wait after half of 2 ms, and the producer signals after 5 ms.
    let file = r#"{"format": "gpusched-scenario/1", "name": "waiting", "device": "tx2", "kernels": {
        "consume": {"blocks": 1, "threads": 32, "duration": "2 ms", "wait": [{"at": 0.5, "counter": "ready", "value": 1}]},
        "produce": {"blocks": 1, "threads": 32, "duration": "5 ms", "signal": [{"at": "end", "counter": "ready"}]}},
        "streams": [{"name": "A", "blocking": false, "operations": [{"kernel": "consume"}]},
            {"name": "B", "blocking": false, "operations": [{"kernel": "produce"}]}]}"#;
    let scenario = Scenario::from_json("waiting.json", file, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it has a picture");
    assert_eq!(timeline.window.end, Instant::from_ns(6_000_000), "it ends with the run");
    let at = |ms: u64| timeline.place_of(Instant::from_ns(ms * 1_000_000));
    let pieces = timeline.bands.iter().flat_map(|band| &band.blocks).flat_map(|blocks| &blocks.pieces);
    let places: Vec<_> = pieces.flat_map(|piece| &piece.stands).map(|part| (part.x, part.right())).collect();
    assert_eq!(places, [(at(1), at(5))]);
    let drawn = timeline.draw(&summary, &TimelineOptions::default()).to_svg();
    assert!(drawn.contains("waits from 1 ms to 5 ms until counter ready is 1 or more"));
    let told = legend(&timeline);
    assert!(told.contains(&"blocks wait for others, on their SM"), "{told:?}");
    assert!(!told.iter().any(|entry| entry.contains("stands still")), "{told:?}");
}

#[test]
fn a_run_that_stands_still_is_shown_beyond_its_end_so_that_waits_from_then_on_are_seen() {
    // All blocks wait from 5 us on, when nothing is left to happen; a third more of that is shown.
    let scenario = shipped("hang/mirage");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(run.trace.end(), Instant::from_ns(5_000));
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it has a picture");
    assert_eq!(timeline.window.end, Instant::from_ns(6_666));
    let waits_from = timeline.place_of(Instant::from_ns(5_000));
    for blocks in timeline.bands.iter().flat_map(|band| &band.blocks) {
        let parts: Vec<_> = blocks.pieces.iter().flat_map(|piece| &piece.stands).collect();
        assert!(parts.iter().all(|part| (part.x, part.right()) == (waits_from, timeline.plot.right())));
        assert_eq!(parts.len(), blocks.pieces.len());
    }
    let told = legend(&timeline);
    assert!(told.contains(&"the run stands still from 5 us on"), "{told:?}");
    let drawn = timeline.draw(&summary, &TimelineOptions::default()).to_svg();
    assert!(drawn.contains("waits from 5 us on until counter entered is 208 or more"));
}
