//! The gap between a block and the one that takes its place: as measured, on random scenarios against the reference
//! simulator and the audit, and what refuses it.

use gpusched::analysis::analyse;
use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, Snapshot, reasons};
use gpusched::workload::OperationId;
use proptest::prelude::*;

use crate::agreement::agreed;
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::generate_processes::with_processes;

/// On a TX2 a block took the place of another on its SM 0.96 us after that had ended: a kernel of 66 blocks, of which
/// the GPU holds 64 (public log of the examiner).
const MEASURED: Duration = Duration::from_ns(960);

fn with_gap(scenario: Scenario, block_gap: Duration) -> Scenario {
    let device = scenario.device().with(|spec| spec.block_gap = block_gap).expect("it is a GPU");
    Scenario { catalogue: scenario.catalogue.on(device).expect("it fits"), ..scenario }
}

fn of_66_blocks() -> Scenario {
    let text = r#"{
      "format": "gpusched-scenario/1", "name": "66 blocks", "device": "tx2",
      "kernels": {"K": {"blocks": 66, "threads": 64, "duration": "1 ms"}},
      "streams": [{"name": "S", "deadline": "5 ms", "operations": [{"kernel": "K"}]}]
    }"#;
    Scenario::from_json("66.json", text, &ReadOptions::default()).expect("it is sound")
}

#[test]
fn a_block_takes_the_place_of_another_a_gap_after_its_end() {
    let scenario = with_gap(of_66_blocks(), MEASURED);
    let run = agreed(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let last: Vec<u64> = run.trace.blocks(OperationId(0)).skip(64).map(|block| block.start.as_ns()).collect();
    assert_eq!(last, [1_000_960; 2]);
    // The kernel completes with its last block, and nothing comes after that.
    assert_eq!(run.trace.end().as_ns(), 2_000_960);
    let waits = run.trace.waits(OperationId(0));
    assert_eq!(waits.iter().map(|wait| wait.rule).collect::<Vec<_>>(), [Rule::R2]);
    // Within the gap nothing runs, and no SM has room.
    let within = Snapshot::new(&run.trace, scenario.device(), Instant::from_ns(1_000_500));
    assert!(within.sms.iter().all(|sm| sm.residents.is_empty() && sm.free.blocks == 0), "{within:?}");
    let causes = reasons(&run.trace, scenario.device());
    assert!(causes.iter().all(|reason| reason.to == Some(Instant::from_ns(1_000_960))), "{causes:?}");
}

#[test]
fn without_a_gap_a_block_takes_the_place_of_another_at_its_end() {
    let run = agreed(&of_66_blocks()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.trace.end().as_ns(), 2_000_000);
}

#[test]
fn a_run_whose_blocks_leave_no_gap_is_found_on_a_device_that_has_one() {
    let run = simulate(&of_66_blocks()).expect("it runs").into_owned();
    let mut observation = ObservedRun::of_run(&run).expect("it is short");
    observation.device = observation.device.with(|spec| spec.block_gap = MEASURED).expect("it is a GPU");
    let findings = audit(&observation, &Tolerances::EXACT, Progress::NONE).findings;
    assert!(findings.iter().any(|finding| finding.rule == AuditRule::R2), "{findings:?}");
}

#[test]
fn no_analysis_bounds_what_has_gaps() {
    let with_gaps = with_gap(of_66_blocks(), MEASURED);
    let Err(error) = analyse(&with_gaps) else { panic!("nothing is known of gaps") };
    assert!(error.to_string().contains("block_gap"), "{error}");
    assert!(analyse(&with_gap(of_66_blocks(), Duration::ZERO)).is_ok());
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn engine_reference_and_audit_agree_on_gaps(Case(scenario) in scenario(Limits::ALL), gap in 1_u64..4) {
        agreed(&with_gap(scenario, Duration::from_ns(gap)))?;
    }

    #[test]
    fn engine_reference_and_audit_agree_on_gaps_of_several_processes(
        Case(turns) in with_processes(Limits::ALL, false), Case(clients) in with_processes(Limits::ALL, true), gap in 1_u64..4,
    ) {
        for scenario in [turns, clients] {
            agreed(&with_gap(scenario, Duration::from_ns(gap)))?;
        }
    }
}
