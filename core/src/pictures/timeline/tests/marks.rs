//! Every mark of a timeline beside a sweep over what happened: launches, deadlines, events, waits. How blocks fill SMs
//! is compared in `found`.

use std::fmt::Write as _;

use crate::draw::{Length, MM};
use crate::hosts::simulate;
use crate::pictures::timeline::{StreamRow, Timeline, TimelineOptions, Waiter};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};
use crate::time::Instant;
use crate::trace::{OperationRecord, Snapshot, Trace};
use crate::workload::{OperationId, OperationKind};
use proptest::prelude::*;

use super::config;

/// Period, jobs, deadline, blocks, and how long each takes; times in milliseconds.
type Periodic = (u64, u64, Option<u64>, u32, u64);

fn periodic() -> impl Strategy<Value = Periodic> {
    (2..40_u64, 1..9_u64, prop::option::of(1..60_u64), 1..7_u32, 1..9_u64)
}

/// Streams of one kernel each, and a host that lets two more wait for each other's work.
fn scenario(streams: &[Periodic], iterations: u64) -> Scenario {
    let (mut kernels, mut own) = (String::new(), String::new());
    for (number, (period, jobs, deadline, blocks, time)) in streams.iter().enumerate() {
        let deadline = deadline.map_or("none".to_owned(), |ms| format!("{ms} ms"));
        write!(kernels, r#""K{number}": {{"blocks": {blocks}, "threads": 1024, "duration": "{time} ms"}}, "#)
            .expect("to a string");
        write!(
            own,
            r#"{{"name": "S{number}", "priority": {}, "period": "{period} ms", "jobs": {jobs}, "deadline": "{deadline}",
                "operations": [{{"kernel": "K{number}"}}]}}, "#,
            -i32::from(number == 1)
        )
        .expect("to a string");
    }
    let host = format!(
        r#"{{"name": "host", "iterations": {iterations}, "steps": [
            {{"launch": "K", "stream": "x"}}, {{"record": "e", "stream": "x"}}, {{"wait": "e", "stream": "y"}},
            {{"launch": "K", "stream": "y"}}, {{"record": "f", "stream": "y"}}, {{"sleep": "3 ms"}},
            {{"wait": "f", "stream": "x"}}]}}"#
    );
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "random", "device": "tx2",
            "kernels": {{{kernels}"K": {{"blocks": 3, "threads": 1024, "duration": "2 ms"}}}},
            "streams": [{own}{{"name": "x", "priority": 0}}, {{"name": "y", "priority": 0}}], "hosts": [{host}]}}"#
    );
    Scenario::from_json("random.json", &text, &ReadOptions::default()).expect("it is sound")
}

/// Where an instant is, by hand.
fn place(timeline: &Timeline, at: Instant) -> Length {
    let ns = |at: Instant| i128::from(at.as_ns());
    let (start, span) = (ns(timeline.window.start), ns(timeline.window.end) - ns(timeline.window.start));
    let twice = (ns(at) - start) * i128::from(timeline.plot.width) * 2 + span;
    timeline.plot.x + Length::try_from(twice / (2 * span)).expect("it is on the sheet")
}

fn operations<'t>(trace: &'t Trace, row: &StreamRow) -> Vec<(OperationId, &'t OperationRecord)> {
    trace.numbered().filter(|(_, record)| row.streams.contains(&record.stream)).collect()
}

/// Marks stand for what is at their place and right behind it: the last one that is not behind `x`, which is near.
fn mark_of(marks: &[Length], x: Length, near: Length) -> Option<usize> {
    let place = marks.iter().rposition(|mark| *mark <= x)?;
    (x - marks[place] < near).then_some(place)
}

fn check_launches(timeline: &Timeline, row: &StreamRow, trace: &Trace) -> Result<(), TestCaseError> {
    let launched = operations(trace, row);
    if !row.strips.is_empty() {
        prop_assert!(row.arrows.is_empty());
        prop_assert_eq!(row.strips.iter().map(|strip| strip.launches).sum::<u64>(), launched.len() as u64);
        for (_, record) in launched {
            let x = place(timeline, record.launched());
            prop_assert!(row.strips.iter().any(|strip| (strip.area.x..=strip.area.right() + MM / 2).contains(&x)));
        }
        return Ok(());
    }
    let places: Vec<Length> = row.arrows.iter().map(|arrow| arrow.x).collect();
    let mut counts = vec![(0, 0); places.len()];
    for (_, record) in launched {
        let arrow = mark_of(&places, place(timeline, record.launched()), MM / 2);
        prop_assert!(arrow.is_some(), "a launch has no arrow");
        let (kernels, others) = &mut counts[arrow.expect("just seen")];
        *if matches!(record.kind, OperationKind::Kernel(_)) { kernels } else { others } += 1;
    }
    prop_assert_eq!(counts, row.arrows.iter().map(|arrow| (arrow.kernels, arrow.others)).collect::<Vec<_>>());
    Ok(())
}

fn check_deadlines(
    timeline: &Timeline,
    row: &StreamRow,
    trace: &Trace,
    streams: &[Periodic],
) -> Result<(), TestCaseError> {
    let number = row.name.strip_prefix('S').and_then(|name| name.split(' ').next()?.parse::<usize>().ok());
    let due = number.and_then(|number| Some((streams[number].0, streams[number].2?)));
    let (mut all, mut missed) = (Vec::new(), 0);
    for (job, (_, record)) in (0..).zip(operations(trace, row)) {
        let Some((period, deadline)) = due else { continue };
        // The only kernel of the job, which ends, as the run has no horizon.
        let due = Instant::from_ns((job * period + deadline) * 1_000_000);
        let is_missed = record.finish().is_none_or(|finish| finish > due);
        if due <= timeline.window.end {
            all.push((place(timeline, due), is_missed));
            missed += u64::from(is_missed);
        }
    }
    let met: u64 = row.strips.iter().map(|strip| strip.deadlines).sum();
    let marked =
        |count: fn(u64, u64) -> u64| row.deadlines.iter().map(|mark| count(mark.jobs, mark.missed)).sum::<u64>();
    prop_assert_eq!(marked(|_, missed| missed), missed);
    if !row.strips.is_empty() {
        // Marks of a miss may stand for others too, which the strips count.
        prop_assert_eq!(met + missed, all.len() as u64);
        return Ok(());
    }
    let places: Vec<Length> = row.deadlines.iter().map(|mark| mark.x).collect();
    let mut counts = vec![(0, 0); places.len()];
    for (x, is_missed) in all {
        let mark = mark_of(&places, x, 8 * MM / 10);
        prop_assert!(mark.is_some(), "a deadline has no mark");
        let (jobs, missed) = &mut counts[mark.expect("just seen")];
        (*jobs, *missed) = (*jobs + 1, *missed + u64::from(is_missed));
    }
    prop_assert_eq!(counts, row.deadlines.iter().map(|mark| (mark.jobs, mark.missed)).collect::<Vec<_>>());
    Ok(())
}

fn check_events(timeline: &Timeline, trace: &Trace) -> Result<(), TestCaseError> {
    let row_of = |record: &OperationRecord| timeline.rows.iter().position(|row| row.streams.contains(&record.stream));
    let (mut pairs, mut held) = (0, 0);
    for (wait, waiting) in trace.numbered() {
        let Some(recorded) = trace.awaited_by(wait).and_then(|record| trace.record(record)) else { continue };
        let (Some(at), Some(until)) = (recorded.finish(), waiting.finish()) else { continue };
        if row_of(recorded) == row_of(waiting) {
            continue;
        }
        pairs += 1;
        held += u64::from(waiting.reached_head().is_some_and(|head| head < at));
        let (from, to) = (place(timeline, at), place(timeline, until));
        let middle = |record| row_of(record).map(|row| timeline.rows[row].area.centre().y);
        let near = timeline.events.iter().any(|arrow| {
            (arrow.from.x - from).abs() < MM / 2
                && (arrow.to.x - to).abs() < MM / 2
                && (Some(arrow.from.y), Some(arrow.to.y)) == (middle(recorded), middle(waiting))
        });
        prop_assert!(near, "an event has no arrow");
    }
    let sums = timeline.events.iter().fold((0, 0), |(all, held), arrow| (all + arrow.count, held + arrow.held));
    prop_assert_eq!(sums, (pairs, held));
    Ok(())
}

fn check_waits(timeline: &Timeline, row: &StreamRow, trace: &Trace, scenario: &Scenario) -> Result<(), TestCaseError> {
    let began = |record: &OperationRecord| record.first_start().unwrap_or(trace.end());
    let waited = operations(trace, row).iter().filter(|(_, record)| began(record) > record.launched()).count();
    let Some(waits) = &row.waits else {
        prop_assert_eq!(waited, 0);
        return Ok(());
    };
    if !waits.shares.is_empty() {
        return Ok(());
    }
    let shown = waits.bars.iter().map(|bar| bar.count).chain(waits.more.iter().map(|more| more.count)).sum::<u64>();
    prop_assert_eq!(shown, waited as u64);
    for bar in waits.bars.iter().filter(|bar| bar.count == 1) {
        let Waiter::Operation(operation) = bar.who else { continue };
        let record = trace.record(operation).expect("it is in the run");
        let time = record.launched()..began(record);
        prop_assert_eq!(&bar.time, &time);
        prop_assert_eq!((bar.area.x, bar.area.right()), (place(timeline, time.start), place(timeline, time.end)));
        let mut until = time.start;
        for part in &bar.parts {
            prop_assert_eq!(part.time.start, until);
            until = part.time.end;
            let middle = Instant::from_ns(part.time.start.as_ns().midpoint(part.time.end.as_ns()));
            let waiting = Snapshot::new(trace, scenario.device(), middle).waiting;
            let rule = waiting.iter().find(|held| held.operation == operation).map(|held| held.rule);
            prop_assert_eq!(rule, Some(part.rule));
        }
        prop_assert_eq!(until, time.end);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn launches_deadlines_events_and_waits_are_marked_as_a_sweep_over_the_run_finds_them(
        streams in prop::collection::vec(periodic(), 1..4),
        iterations in 1..5_u64,
    ) {
        let scenario = scenario(&streams, iterations);
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = TimelineOptions { waits: true, ..TimelineOptions::default() };
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        for row in &timeline.rows {
            check_launches(&timeline, row, &run.trace)?;
            check_deadlines(&timeline, row, &run.trace, &streams)?;
            check_waits(&timeline, row, &run.trace, &scenario)?;
        }
        let rows: Vec<_> = timeline.rows.iter().flat_map(|row| row.streams.clone()).collect();
        prop_assert!(run.trace.operations().iter().all(|record| rows.contains(&record.stream)));
        check_events(&timeline, &run.trace)?;
    }
}
