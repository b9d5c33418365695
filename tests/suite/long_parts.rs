//! Figures of a part of a long run: drawn from what is kept of that part, as from the record of the whole run.

use std::cell::Cell;

use gpusched::hosts::{AnyLength, HeldAtMost, LongRun, SimulateOptions, simulate_any_length, simulate_with};
use gpusched::pictures::timeline::{Lanes, Timeline, TimelineOptions};
use gpusched::run::{Run, Summary};
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::generate_periodic::periodic;
use crate::generate_processes::with_processes;

/// The figure of a window in each kind of lanes, with all that it can show; or why there is none.
fn drawn(run: &Run<'_>, (from, to): (Option<Duration>, Option<Duration>)) -> Vec<String> {
    let figure = |lanes| {
        let all = TimelineOptions { queues: true, waits: true, occupancy: true, ..TimelineOptions::default() };
        let options = TimelineOptions { from, to, lanes, ..all };
        let summary = Summary::of(run);
        match Timeline::new(&summary, &options) {
            Ok(timeline) => timeline.draw(&summary, &options).to_svg(),
            Err(error) => error.to_string(),
        }
    };
    [Lanes::Sms, Lanes::Streams].map(figure).to_vec()
}

/// Whether the figure was drawn from a part of the record.
fn check(scenario: &Scenario, piece: usize, (from, length): (u64, u64)) -> Result<bool, TestCaseError> {
    if !LongRun::has_parts(scenario) {
        return Ok(false);
    }
    let options = SimulateOptions::of(scenario);
    let Ok(whole) = simulate_with(scenario, options.clone()) else { return Ok(false) };
    let long = simulate_any_length(scenario, options, HeldAtMost { whole: 1, piece, rows: 0 }).expect("it runs");
    let AnyLength::Long(long) = &long else { return Ok(false) };
    let end = whole.trace.end().as_ns();
    let from = end / 100 * from;
    let to = from + (end / 100 * length).max(1);
    let ns = Duration::from_ns;
    let mut is_shorter = false;
    for (from, to) in [(Some(from), Some(to)), (None, Some(to)), (Some(from), None)] {
        let window = Instant::from_ns(from.unwrap_or(0))..=to.map_or(Instant::MAX, Instant::from_ns);
        let part = long.part(window);
        is_shorter |= part.trace.operations().len() < whole.trace.operations().len();
        let window = (from.map(ns), to.map(ns));
        for (part, whole) in drawn(&part, window).iter().zip(&drawn(&whole, window)) {
            let differing = part.lines().zip(whole.lines()).find(|(part, whole)| part != whole);
            prop_assert_eq!(differing, None, "{:?}", window);
            prop_assert_eq!(part.len(), whole.len(), "{:?}", window);
        }
    }
    Ok(is_shorter)
}

/// Draws windows of so many scenarios.
fn compare(cases: u32) {
    let shorter = Cell::new(0_u32);
    let scenarios = prop_oneof![
        1 => scenario(Limits::ALL).boxed(),
        1 => scenario(Limits { equal_blocks: true, ..Limits::MANY_BLOCKS }).boxed(),
        1 => with_processes(Limits { varying: true, ..Limits::ALL }, false).boxed(),
        3 => periodic(1_200).boxed(),
    ];
    let case = (scenarios, 1_usize..2_000, (0_u64..95, 1_u64..40));
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..config(cases) });
    let result = runner.run(&case, |(Case(scenario), piece, window)| {
        shorter.set(shorter.get() + u32::from(check(&scenario, piece, window)?));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Few cases may have none.
    let least = if cases < 1_000 { 0 } else { cases / 20 };
    assert!(shorter.get() >= least, "only {} of {cases} windows are drawn from less than all", shorter.get());
}

#[test]
fn a_figure_of_a_part_of_a_long_run_is_that_of_its_whole_record() {
    compare(60);
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_parts_of_long_runs() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok());
    compare(cases.unwrap_or(10_000));
}
