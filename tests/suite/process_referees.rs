//! Several processes: the engine against the reference simulator and the audit, and what does not change a run.
//!
//! Long campaigns: `cargo test --release --test suite -- --ignored long_campaign_of_processes`, of as many scenarios of each kind as
//! `PROPTEST_CASES` says.

use gpusched::audit::{Observation, Tolerances, audit};
use gpusched::device::Preemption;
use gpusched::hosts::{Run, simulate};
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};
use gpusched::workload::{InterleaveLevel, ProcessId, ProcessSharing, ProcessSpec};
use proptest::prelude::*;

use crate::engine_properties::{MANY_BLOCKS, agrees, agrees_but_for_waits, config, same};
use crate::generate::{Case, Limits, scenario};
use crate::generate_processes::with_processes;
use crate::reference;

/// Whatever the slices.
const FREE_SWITCHES: ProcessSharing = ProcessSharing { mps: false, switch_cost: Some(Duration::ZERO) };

/// The run of a scenario, on which the reference and the audit agree.
pub(crate) fn agreed(scenario: &Scenario) -> Result<Run, TestCaseError> {
    let run = simulate(scenario)?;
    let expected = reference::run(scenario);
    if scenario.device().time_slicing.preemption == Preemption::BlockEnd && !run.trace.turns().is_empty() {
        // The record does not tell when a turn begins to run out, and so not what waits for that.
        agrees_but_for_waits(&run, &expected, true)?;
    } else {
        agrees(&run, &expected, true)?;
    }
    let observation = Observation::of_trace(scenario, &run.trace, run.ended);
    let findings = audit(&observation.expect("it is short"), &Tolerances::EXACT).findings;
    prop_assert!(findings.is_empty(), "{:#?}", findings);
    Ok(run)
}

/// Turns, switches and idle time are the whole run, and no two turns overlap (T1, T3).
fn times_add_up(run: &Run) -> Result<(), TestCaseError> {
    let (mut at, mut turns, mut switches, mut idle) = (0, 0, 0, 0);
    for turn in run.trace.turns() {
        let [from, start, end] = [turn.switch_from, turn.start, turn.end].map(Instant::as_ns);
        prop_assert!(at <= from && from <= start && start <= end, "{:?}", turn);
        idle += from - at;
        switches += start - from;
        turns += end - start;
        at = end;
    }
    let end = run.trace.end().as_ns();
    prop_assert!(at <= end);
    prop_assert_eq!(turns + switches + idle + (end - at), end);
    Ok(())
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn contexts_take_turns_as_reference_and_audit_say(Case(scenario) in with_processes(Limits::ALL, false)) {
        times_add_up(&agreed(&scenario)?)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn with_many_blocks_contexts_take_turns_as_reference_and_audit_say(
        Case(scenario) in with_processes(MANY_BLOCKS, false),
    ) {
        times_add_up(&agreed(&scenario)?)?;
    }

    #[test]
    fn clients_of_mps_share_as_reference_and_audit_say(Case(scenario) in with_processes(Limits::ALL, true)) {
        let run = agreed(&scenario)?;
        prop_assert!(run.trace.turns().is_empty());
    }

    #[test]
    fn one_process_is_as_none(Case(scenario) in scenario(Limits::ALL), slice in 1_u64..9) {
        let mut own = scenario.clone();
        own.catalogue.set_sharing(FREE_SWITCHES).expect("it is possible");
        let spec = ProcessSpec {
            time_slice: Some(Duration::from_ns(slice)), level: InterleaveLevel::High, ..ProcessSpec::new("P")
        };
        own.catalogue.set_process(ProcessId::FIRST, spec).expect("the device takes it");
        let (run, own) = (simulate(&scenario)?, simulate(&own)?);
        same(&run, &own)?;
        prop_assert!(own.trace.turns().is_empty());
    }

    #[test]
    fn a_process_that_does_nothing_changes_nothing(
        Case(scenario) in scenario(MANY_BLOCKS), slice in 1_u64..9, idle in 1_usize..3,
    ) {
        let mut shared = scenario.clone();
        shared.catalogue.set_sharing(FREE_SWITCHES).expect("it is possible");
        for number in 0..idle {
            let spec = ProcessSpec { time_slice: Some(Duration::from_ns(slice)), ..ProcessSpec::new(format!("Q{number}")) };
            shared.catalogue.add_process(spec).expect("the device takes it");
        }
        same(&simulate(&scenario)?, &simulate(&shared)?)?;
        agreed(&shared)?;
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    #[ignore = "a long campaign: cargo test --release --test suite -- --ignored long_campaign_of_processes"]
    fn long_campaign_of_processes(
        Case(small) in with_processes(Limits::ALL, false), Case(large) in with_processes(MANY_BLOCKS, false),
        Case(clients) in with_processes(Limits::ALL, true),
    ) {
        for scenario in [small, large, clients] {
            times_add_up(&agreed(&scenario)?)?;
        }
    }
}
