//! Deadlines in timelines: none that was missed is left out.

use crate::hosts::simulate;
use crate::pictures::timeline::{LegendSymbol, Timeline, TimelineOptions};
use crate::run::{DeadlineOutcome, Summary};
use crate::scenario::{Deadline, ReadOptions, Scenario};
use crate::time::{Duration, Instant};
use proptest::prelude::*;

use super::config;
use super::figure_samples::{BACKLOG, ONE_OF_TWO, run_of};
use crate::generate::{Case, Limits, scenario};

#[test]
fn a_met_and_a_missed_deadline_are_marked_where_they_are_due() {
    let run = run_of(ONE_OF_TWO);
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it can be drawn");
    let [met, missed] = timeline.rows[0].deadlines.as_slice() else { panic!("two marks") };
    // 17 ms fill the width.
    let at = |ms: i64| timeline.plot.x + (timeline.plot.width * ms * 2 + 17) / 34;
    assert_eq!((met.x, met.jobs, met.missed), (at(6), 1, 0));
    assert_eq!((missed.x, missed.jobs, missed.missed), (at(16), 1, 1));
    assert_eq!(missed.explanation, "S, job 1: deadline missed; response 7 ms, deadline 6 ms, due at 16 ms");
    let symbols: Vec<_> = timeline.legend.iter().filter_map(|entry| entry.mark).map(|mark| mark.symbol).collect();
    assert_eq!(symbols[2..], [LegendSymbol::Launch, LegendSymbol::Deadline, LegendSymbol::DeadlineMissed]);
    assert!(timeline.legend.iter().any(|entry| entry.full == "deadline missed (1 job)"));
    assert!(timeline.rows[1].deadlines.is_empty());

    let later = TimelineOptions { from: Some(Duration::from_ns(14_000_000)), ..TimelineOptions::default() };
    let timeline = Timeline::new(&summary, &later).expect("it can be drawn");
    let marks: Vec<_> = timeline.rows.iter().flat_map(|row| &row.deadlines).collect();
    assert_eq!((timeline.rows.len(), marks.len(), marks[0].missed), (1, 1, 1), "also where nothing is launched");
}

#[test]
fn missed_deadlines_of_jobs_that_never_began_are_merged_not_lost() {
    let run = run_of(BACKLOG);
    let summary = Summary::of(&run);
    let timeline = Timeline::new(&summary, &TimelineOptions::default()).expect("it can be drawn");
    let marks = &timeline.rows[0].deadlines;
    // Released at 0, 1, ... us and due by 100 ms are 99,001 jobs.
    assert_eq!(marks.iter().map(|mark| mark.missed).sum::<u64>(), 99_001);
    assert!(marks.len() < 200 && marks[1].explanation.contains("of them missed"));
    assert!(timeline.legend.iter().any(|entry| entry.full == "deadline missed (99001 jobs)"));
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn every_deadline_missed_in_the_window_is_in_one_mark(
        Case(scenario) in scenario(Limits::ALL),
        deadline_ns in 1_u64..200_000,
        from_percent in 0_u64..90,
    ) {
        let Ok(run) = simulate(&scenario) else { return Ok(()) };
        let end_ns = run.trace.end().as_ns();
        let Ok(text) = scenario.to_native_json() else { return Ok(()) };
        let deadline = Deadline::After(Duration::from_ns(deadline_ns));
        let deadlines = scenario.threads.iter().map(|thread| (thread.label.to_string(), deadline));
        let options = ReadOptions { deadlines: deadlines.collect(), ..ReadOptions::default() };
        let Ok(scenario) = Scenario::from_json("test.json", &text, &options) else { return Ok(()) };
        let Ok(run) = simulate(&scenario) else { return Ok(()) };
        let summary = Summary::of(&run);
        let jobs = summary.jobs();
        let marked = |from: Option<Duration>| {
            let options = TimelineOptions { from, ..TimelineOptions::default() };
            let timeline = Timeline::new(&summary, &options).ok()?;
            Some(timeline.rows.iter().flat_map(|row| &row.deadlines).map(|mark| mark.missed).sum::<u64>())
        };
        if let Some(marked) = marked(None) {
            prop_assert_eq!(marked, jobs.misses());
        }
        let from = Duration::from_ns(end_ns / 100 * from_percent);
        if let Some(marked) = marked(Some(from)).filter(|_| jobs.backlog.is_empty()) {
            let start = Instant::ZERO + from;
            let missed = jobs.begun.iter().filter(|job| job.outcome(jobs.end) == Some(DeadlineOutcome::Missed));
            let within = missed.filter(|job| job.due().is_some_and(|due| due >= start)).count();
            prop_assert_eq!(marked, within as u64);
        }
    }
}
