//! Runs that are told of piece by piece and forgotten: what is told is what the whole record tells, to the byte.

use gpusched::formats::{
    Report, RowFormat, RowsPart, TableStyle, frame_of_rows, text_of, write_json, write_json_lines,
};
use gpusched::hosts::{AnyLength, HeldAtMost, SimulateOptions, simulate_any_length, simulate_with};
use gpusched::run::{Responses, Summary};
use gpusched::scenario::Scenario;
use gpusched::tables::{LongReport, SimulationReport, responses_csv};
use gpusched::time::Instant;
use proptest::prelude::*;

use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
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
    responses_csv(rows, &mut bytes).expect("memory takes all");
    String::from_utf8(bytes).expect("it is text")
}

/// Runs a scenario until `horizon` both ways, and compares all that is told.
fn check(scenario: &Scenario, piece: usize, horizon: Option<Instant>) -> Result<bool, TestCaseError> {
    let mut options = SimulateOptions::of(scenario);
    options.gpu.horizon = horizon.unwrap_or(options.gpu.horizon);
    let whole = simulate_with(scenario, options.clone());
    let any = simulate_any_length(scenario, options, HeldAtMost { whole: piece, piece });
    let (whole, any) = match (whole, any) {
        (Ok(whole), Ok(any)) => (whole, any),
        (whole, any) => {
            prop_assert_eq!(whole.map(|_| ()), any.map(|_| ()));
            return Ok(false);
        }
    };
    let summary = Summary::of(&whole);
    prop_assert_eq!(any.notes(), summary.notes());
    prop_assert_eq!(any.misses(), summary.jobs().misses());
    prop_assert_eq!(any.responses(), summary.responses());
    prop_assert_eq!(csv(any.responses()), csv(summary.responses()));
    prop_assert_eq!(any.ended(), whole.ended);
    let run = match &any {
        AnyLength::Recorded(run) => {
            prop_assert_eq!(run, &whole);
            return Ok(false);
        }
        AnyLength::Long(run) => run,
    };
    for blocks in [false, true] {
        let of_whole = told(&SimulationReport { blocks, ..SimulationReport::of(summary) });
        for (long, whole) in told(&LongReport { run, blocks }).into_iter().zip(of_whole) {
            prop_assert_eq!(long, whole);
        }
    }
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
    #![proptest_config(config(50))]

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
