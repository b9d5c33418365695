//! Where everything is in timelines of shipped, measured, random and extreme runs.

use std::path::Path;

use crate::campaign::config;
use crate::hosts::simulate;
use crate::pictures::timeline::{Timeline, TimelineOptions};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};
use crate::time::Instant;

mod deadlines;
mod editor;
#[path = "../../../../tests/suite/figure_samples.rs"]
mod figure_samples;
mod found;
mod kinds;
mod marks;
mod properties;
mod published;
#[path = "../../../../tests/suite/svg_checks.rs"]
mod svg_checks;
mod turns;
mod waiting;

/// A file of `scenarios/`, named without `.json`.
fn shipped(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(format!("{name}.json"));
    let text = std::fs::read_to_string(path).expect("it is shipped");
    Scenario::from_json(name, &text, &ReadOptions::default()).expect("it is sound")
}

#[test]
fn a_core_has_a_lane_above_the_gpu_and_the_longest_way_of_a_chain_goes_through_it() {
    let scenario = shipped("deadlines/shared-core");
    let own = simulate(&scenario).expect("it runs");
    let timeline = Timeline::new(&Summary::of(&own), &TimelineOptions::default()).expect("it has a picture");
    let [lane] = &timeline.cores[..] else { panic!("one core is shared") };
    let shown: Vec<_> = lane.boxes.iter().map(|one| one.span).collect();
    assert_eq!(shown, own.cores);
    assert!(timeline.bands.iter().all(|band| band.area.y > lane.area.y), "cores are above the GPU");
    // The longest reaction time: what happens at 1 ms, vision reads from 21 ms on and has written at 30 ms, and control
    // reads just then and acts at 31 ms, all on the core.
    let way = timeline.chain.as_ref().expect("the scenario has a chain");
    let at = |ms: u64| timeline.place_of(Instant::from_ns(ms * 1_000_000));
    let places: Vec<_> = way.jobs.iter().map(|job| job.map(|point| point.x)).collect();
    assert_eq!(places, [[at(21), at(30)], [at(30), at(31)]]);
    assert!(way.jobs.iter().flatten().all(|point| point.y == lane.area.centre().y));
    assert_eq!(way.name, "longest reaction time of vision to control: 30 ms");
}
