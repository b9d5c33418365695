//! Runs that are told of piece by piece and forgotten: what is told is what the whole record tells, to the byte.

#![allow(clippy::print_stdout, reason = "what came of a campaign is to be read")]

use std::cell::Cell;

use gpusched::formats::{
    Report, RowFormat, RowsPart, TableStyle, csv_of, frame_of_rows, text_of, write_json, write_json_lines,
};
use gpusched::hosts::{AnyLength, AnyRun, HeldAtMost, SimulateOptions, simulate_any_length, simulate_with};
use gpusched::run::{Responses, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{SimulationReport, simulate_to_rows};
use gpusched::time::{Duration, Instant};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use crate::agreement::agreed;
use crate::campaign::config;
use crate::common::{gpusched_with, stderr, stdout};
use crate::generate::{Case, Limits, scenario};
use crate::generate_periodic::periodic;
use crate::generate_processes::with_processes;

/// What a report tells in each format.
fn told(report: &impl Report) -> Vec<String> {
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    let (mut csv, mut json, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    report.rows(RowsPart::whole(RowFormat::Csv), &mut csv).expect("memory takes all");
    write_json(report, None, &mut json).expect("memory takes all");
    write_json_lines(report, None, None, &mut lines).expect("memory takes all");
    let texts = [TableStyle::Plain, TableStyle::Markdown].map(|style| text_of(report, style));
    [text(csv), text(json), text(lines), frame_of_rows(report)].into_iter().chain(texts).collect()
}

fn csv(rows: Vec<Responses<'_>>) -> String {
    let mut bytes = Vec::new();
    Responses::write_csv(rows, &mut bytes).expect("memory takes all");
    String::from_utf8(bytes).expect("it is text")
}

/// The table of kernel launches, written while the run goes on, if it is long.
fn written_at_once(scenario: &Scenario, options: SimulateOptions<'_>, held: HeldAtMost) -> Option<String> {
    let mut rows = Vec::new();
    let run = simulate_to_rows(scenario, options, held, RowsPart::CSV, &mut rows).expect("memory takes all");
    let is_long = matches!(run.expect("it runs"), AnyLength::Long(_));
    is_long.then(|| String::from_utf8(rows).expect("it is text"))
}

/// Runs a scenario until `horizon` both ways, and compares all that is told.
fn check(scenario: &Scenario, piece: usize, horizon: Option<Instant>) -> Result<bool, TestCaseError> {
    let mut options = SimulateOptions::of(scenario);
    options.gpu.horizon = horizon.unwrap_or(options.gpu.horizon);
    let whole = simulate_with(scenario, options.clone());
    // All pieces are kept, none is, or only some, which is none too.
    let rows = [usize::MAX, 0, piece.saturating_mul(3)][piece % 3];
    let held = HeldAtMost { whole: piece, piece, rows };
    let any = simulate_any_length(scenario, options.clone(), held);
    let (whole, any) = match (whole, any) {
        (Ok(whole), Ok(any)) => (whole, any),
        (whole, any) => {
            prop_assert_eq!(whole.map(|_| ()), any.map(|_| ()));
            return Ok(false);
        }
    };
    let (told_any, summary) = (AnyRun::from(&any), Summary::of(&whole));
    prop_assert_eq!(told_any.notes(), summary.notes());
    prop_assert_eq!(told_any.misses(), summary.jobs().misses());
    prop_assert_eq!(told_any.responses(), summary.responses());
    prop_assert_eq!(csv(told_any.responses()), csv(summary.responses()));
    prop_assert_eq!(told_any.ended(), whole.ended);
    if let AnyLength::Recorded(run) = &any {
        prop_assert_eq!(run, &whole);
        return Ok(false);
    }
    let blocks_of = |run: AnyRun<'_>| {
        let mut bytes = Vec::new();
        run.write_blocks(&mut bytes).expect("memory takes all");
        String::from_utf8(bytes).expect("it is text")
    };
    prop_assert_eq!(blocks_of(told_any), blocks_of(summary.into()));
    for blocks in [false, true] {
        let of_whole = told(&SimulationReport { blocks, ..SimulationReport::of(summary) });
        let of_any = told(&SimulationReport { blocks, ..SimulationReport::of(told_any) });
        for (long, whole) in of_any.into_iter().zip(of_whole) {
            prop_assert_eq!(long, whole);
        }
    }
    prop_assert_eq!(written_at_once(scenario, options, held), Some(csv_of(&SimulationReport::of(summary))));
    Ok(true)
}

/// The end of the run, for a horizon before it.
fn before_end(scenario: &Scenario, percent: u64) -> Option<Instant> {
    let run = simulate_with(scenario, SimulateOptions::of(scenario)).ok()?;
    Some(Instant::from_ns(run.trace.end().as_ns() / 100 * percent))
}

const VARYING: Limits = Limits { varying: true, ..Limits::ALL };
const EQUAL: Limits = Limits { equal_blocks: true, ..Limits::MANY_BLOCKS };

proptest! {
    #![proptest_config(config(30))]

    #[test]
    fn a_run_that_leaves_piece_by_piece_tells_what_its_record_tells(
        Case(scenario) in prop_oneof![scenario(VARYING), scenario(EQUAL), scenario(Limits::ALL)],
        piece in 1_usize..3_000,
        percent in 10_u64..120,
    ) {
        check(&scenario, piece, None)?;
        check(&scenario, usize::MAX, None)?;
        check(&scenario, piece, before_end(&scenario, percent))?;
    }

    #[test]
    fn so_does_one_of_several_processes(
        Case(scenario) in prop_oneof![with_processes(VARYING, false), with_processes(EQUAL, false), with_processes(VARYING, true)],
        piece in 1_usize..3_000,
        percent in 10_u64..120,
    ) {
        check(&scenario, piece, None)?;
        check(&scenario, usize::MAX, None)?;
        check(&scenario, piece, before_end(&scenario, percent))?;
    }
}

/// Runs a scenario with what repeats skipped and without, and compares all that is told. Gives how much of
/// its time was skipped \[%\], if it ran.
fn skipped(scenario: &Scenario, piece: usize) -> Result<Option<u64>, TestCaseError> {
    // Pieces are kept only of what is not skipped.
    let held = HeldAtMost { whole: 1, piece, rows: usize::MAX };
    let run = |skip_repeats| {
        simulate_any_length(scenario, SimulateOptions { skip_repeats, ..SimulateOptions::of(scenario) }, held)
    };
    let (skipping, plain) = match (run(true), run(false)) {
        (Ok(skipping), Ok(plain)) => (skipping, plain),
        (skipping, plain) => {
            prop_assert_eq!(skipping.map(|_| ()), plain.map(|_| ()));
            return Ok(None);
        }
    };
    let (one, other) = (AnyRun::from(&skipping), AnyRun::from(&plain));
    prop_assert_eq!(one.notes(), other.notes());
    prop_assert_eq!(one.misses(), other.misses());
    prop_assert_eq!(one.responses(), other.responses());
    prop_assert_eq!((one.ended(), one.blocks()), (other.ended(), other.blocks()));
    let lines = |run| {
        let mut lines = Vec::new();
        let report = SimulationReport { blocks: true, ..SimulationReport::of(run) };
        write_json_lines(&report, None, None, &mut lines).expect("memory takes all");
        String::from_utf8(lines).expect("it is text")
    };
    prop_assert_eq!(lines(one), lines(other));
    let (AnyLength::Long(skipping), AnyLength::Long(plain)) = (&skipping, &plain) else { return Ok(None) };
    let at_once = written_at_once(scenario, SimulateOptions::of(scenario), held);
    prop_assert_eq!(at_once, Some(csv_of(&SimulationReport::of(other))));
    let (one, other) = (skipping.sums(), plain.sums());
    prop_assert_eq!((one.end(), one.makespan()), (other.end(), other.makespan()));
    prop_assert_eq!((one.kernels(), one.copies()), (other.kernels(), other.copies()));
    prop_assert_eq!(one.utilization(), other.utilization());
    Ok(Some(100 * one.skipped().as_ns() / one.end().as_ns().max(1)))
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn a_run_whose_repeats_are_skipped_tells_what_its_record_tells(Case(scenario) in periodic(1_200), piece in 1_usize..3_000) {
        check(&scenario, piece, None)?;
    }
}

/// Up to four streams on a TX2 until a horizon, the first of which asks for up to three times what there is, and a copy
/// now and then: what is late comes later and later.
fn overloaded() -> impl Strategy<Value = Scenario> {
    let kernel = (1_u32..20, select(vec![32_u32, 256, 768, 1024]));
    let stream = (select(vec![4_u64, 6, 8, 12]), 0_u64..9, kernel, 1_u64..24, any::<bool>(), -1_i32..=0);
    (vec(stream, 1..=4), 1_u64..=200, 200_u64..800).prop_map(|(streams, over, horizon)| {
        let (mut kernels, mut of_streams) = (Vec::new(), Vec::new());
        for (number, &(period, release, (blocks, threads), duration, copies, priority)) in streams.iter().enumerate() {
            let ns = if number == 0 { period * 1_000 * (100 + over) / 100 } else { duration * 500 };
            kernels
                .push(format!(r#""K{number}": {{"blocks": {blocks}, "threads": {threads}, "duration": "{ns} ns"}}"#));
            let copy = if copies { r#", {"copy": "host-to-device", "duration": "700 ns"}"# } else { "" };
            of_streams.push(format!(
                r#"{{"name": "S{number}", "priority": {priority}, "period": "{period} us", "release": "{release} us",
                    "operations": [{{"kernel": "K{number}"}}{copy}]}}"#
            ));
        }
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "overload", "device": "tx2", "horizon": "{horizon} us",
                "kernels": {{{}}}, "streams": [{}]}}"#,
            kernels.join(", "),
            of_streams.join(", ")
        );
        Scenario::from_json("overload", &text, &ReadOptions::default()).expect("it is sound")
    })
}

proptest! {
    #![proptest_config(config(20))]

    #[test]
    fn a_backlog_that_grows_is_told_of_as_its_record_is_on_which_the_referees_agree(
        scenario in overloaded(),
        piece in 1_usize..20_000,
    ) {
        let run = agreed(&scenario)?;
        prop_assert!(run.jobs().misses() > 0, "all jobs of the first stream are late");
        check(&scenario, piece, None)?;
        skipped(&scenario, piece)?;
    }
}

/// Runs so many scenarios of up to `most` \[ns\] with what repeats skipped and without.
fn compare_repeats(cases: u32, most: u64) {
    let (ran, half) = (Cell::new(0_u32), Cell::new(0_u32));
    let case = (periodic(most), 1_usize..20_000);
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..config(cases) });
    let result = runner.run(&case, |(Case(scenario), piece)| {
        if let Some(percent) = skipped(&scenario, piece)? {
            ran.set(ran.get() + 1);
            half.set(half.get() + u32::from(percent >= 50));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let (ran, half) = (ran.get(), half.get());
    println!("{ran} runs are the same with what repeats skipped; of {half} at least half of the time is");
    // It is about 3 of 10, but of a handful of runs that `cargo test` draws there may be none.
    assert!(ran < 200 || half >= ran / 5, "half of the time is skipped in {half} of {ran}");
}

#[test]
fn what_repeats_is_skipped_and_makes_no_difference() {
    compare_repeats(25, 3_000);
}

#[test]
#[ignore = "a long campaign: cargo test --release --test suite -- --ignored long_campaign_of_repeats --nocapture"]
fn long_campaign_of_repeats() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok());
    compare_repeats(cases.unwrap_or(100_000), 6_000);
}

/// Kernels of one block on a TX2, which has room for both: `c` takes 100 us each ms, `l` 2 ms each 5 ms. `more` is said
/// of `l`.
fn hour(more: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "hour", "device": "tx2", "horizon": "3600 s",
            "kernels": {{"C": {{"blocks": 1, "threads": 64, "duration": "100 us"}},
                "L": {{"blocks": 1, "threads": 64, "duration": "2 ms"}}}},
            "streams": [{{"name": "c", "period": "1 ms", "operations": [{{"kernel": "C"}}]}},
                {{"name": "l", "period": "5 ms", "deadline": "1 ms", "operations": [{{"kernel": "L"}}]{more}}}]}}"#
    );
    Scenario::from_json("hour", &text, &ReadOptions::default()).expect("it is sound")
}

#[test]
fn an_hour_of_a_periodic_system_is_known_after_its_first_cycles() {
    let scenario = hour("");
    let held = HeldAtMost { whole: 10_000, piece: 10_000, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { panic!("an hour is long") };
    let sums = run.sums();
    // All but the first cycles and the last.
    assert!(sums.skipped() > Duration::from_ns(3_599_000_000_000), "{}", sums.skipped());
    let us = |us: u64| Duration::from_ns(us * 1_000);
    // The last jobs are released at the very end, and have not finished.
    let [c, l] = sums.responses() else { panic!("two streams") };
    assert_eq!((c.jobs, c.unfinished, &*c.times), (3_600_001, 1, &[(us(100), 3_600_000)][..]));
    assert_eq!((l.jobs, l.unfinished, &*l.times), (720_001, 1, &[(us(2_000), 720_000)][..]));
    assert_eq!((c.misses, l.misses), (Some(0), Some(720_000)));
    assert_eq!((sums.kernels(), sums.end()), (4_320_002, Instant::from_ns(3_600_000_000_000)));
    // 0.1 of each ms and 2 of each 5 ms, with 2 of 64 warps on one of two SMs.
    let threads: f64 = sums.utilization().iter().map(|sm| sm.threads).sum();
    assert!((threads - 0.5 * 2.0 / 64.0).abs() < 1e-12, "{threads}");
}

#[test]
fn what_is_skipped_ends_with_the_jobs_of_a_thread() {
    // Jobs 0 to 999 begin by 4.995 s; from then on only the other stream repeats.
    let scenario = hour(r#", "jobs": 1000"#);
    let held = HeldAtMost { whole: 10_000, piece: 10_000, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { panic!("an hour is long") };
    let jobs: Vec<u64> = run.sums().responses().iter().map(|row| row.jobs).collect();
    assert_eq!(jobs, [3_600_001, 1_000]);
    assert!(run.sums().skipped() > Duration::from_ns(3_590_000_000_000), "{}", run.sums().skipped());
}

#[test]
fn a_job_that_has_waited_for_its_core_since_its_release_does_not_repeat() {
    // The urgent host has the core for 100 us, 1 us a job; then the other does its first job, released at 0, and 99
    // more.
    let host = |name: &str, priority: u32| {
        format!(
            r#"{{"name": "{name}", "core": 0, "cpu_priority": {priority}, "iterations": 100,
                "steps": [{{"launch": "K", "stream": "{name} stream"}}, {{"work": "1 us"}}]}}"#
        )
    };
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "core", "device": "tx2",
            "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "100 ns"}}}},
            "streams": [{{"name": "urgent stream"}}, {{"name": "other stream"}}], "hosts": [{}, {}]}}"#,
        host("urgent", 0),
        host("other", 1)
    );
    let scenario = Scenario::from_json("core", &text, &ReadOptions::default()).expect("it is sound");
    let held = HeldAtMost { whole: 1, piece: 1, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { panic!("all is long") };
    assert!(run.sums().skipped() > Duration::ZERO, "the jobs of each repeat");
    let times: Vec<_> = run.sums().responses().iter().map(|row| &row.times[..]).collect();
    let us = |us: u64| Duration::from_ns(us * 1_000);
    assert_eq!(times, [&[(us(1), 100)][..], &[(us(1), 99), (us(101), 1)]]);
}

#[test]
fn rows_that_leave_while_a_long_run_goes_on_are_those_that_are_told_when_it_is_over() {
    // More launches than are recorded as a whole. Under a limit all of it runs before anything is told.
    let scenario = r#"{"format": "gpusched-scenario/1", "name": "long", "horizon": "1600 ms",
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": {"best": "1 us", "worst": "5 us"}}},
        "streams": [{"name": "s", "period": "10 us", "operations": [{"kernel": "K"}]}]}"#;
    let run = |more: &[&str]| {
        let told = gpusched_with(scenario, &[&["simulate", "-", "--format", "csv"], more].concat());
        assert_eq!(told.status.code(), Some(0), "{}", stderr(&told));
        stdout(&told)
    };
    let at_once = run(&[]);
    // The last one is released at the horizon.
    assert_eq!(at_once.lines().count(), 1 + 160_001);
    assert!(at_once == run(&["--max-time", "3600s"]), "the tables differ");
}
