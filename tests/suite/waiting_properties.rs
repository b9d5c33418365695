//! Blocks, streams and hosts that wait for one another, on random scenarios: engine and reference agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use gpusched::audit::{ObservedOperation, ObservedRun, ObservedWork, Tolerances, audit};
use gpusched::device::Preemption;
use gpusched::effort::Progress;
use gpusched::hosts::{ProgramError, simulate};
use gpusched::logs::LogTime;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::workload::CounterValue;
use proptest::prelude::*;

use crate::agreement::{agrees_and_passes_the_audit, simulated};
use crate::campaign::config;
use crate::generate::Case;
use crate::generate_waiting::{Family, waiting};
use crate::reference;

pub(crate) fn check(Case(scenario): &Case) -> Result<(), TestCaseError> {
    let expected = reference::run(scenario);
    prop_assume!(!expected.takes_back);
    match simulated(scenario) {
        Ok(run) => agrees_and_passes_the_audit(&run, &expected),
        // Nothing of the GPU stands still, but a host.
        Err(ProgramError::WaitsForever { .. }) => {
            let all_done = expected.operations.iter().all(|operation| operation.finish.is_some());
            prop_assert!(expected.host_waits && all_done && expected.done);
            Ok(())
        }
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn engine_and_reference_agree_on_blocks_that_wait(case in waiting(Family::One)) {
        check(&case)?;
    }

    #[test]
    fn they_agree_on_several_gpus(case in waiting(Family::Gpus)) {
        check(&case)?;
    }

    #[test]
    fn they_agree_on_contexts_that_take_turns(case in waiting(Family::Turns)) {
        check(&case)?;
    }

    #[test]
    fn they_agree_on_clients_of_mps(case in waiting(Family::Mps)) {
        check(&case)?;
    }
}

/// One thing changed in what was seen of a run, and what that is.
fn corrupted(clean: &ObservedRun, number: usize) -> Option<(ObservedRun, &'static str)> {
    let mut mutant = clean.clone();
    let synchronized = |operation: &mut ObservedOperation| match &mut operation.work {
        ObservedWork::Kernel(kernel) if kernel.synchronization.is_some() => Some(kernel.clone()),
        _ => None,
    };
    let (place, mut kernel) =
        mutant.operations.iter_mut().enumerate().find_map(|(place, one)| Some((place, synchronized(one)?)))?;
    let closed = kernel.stands.iter().position(|stand| stand.to_ns < LogTime::MAX);
    let what = match number {
        0 => {
            kernel.stands.get_mut(closed?)?.to_ns = kernel.stands[closed?].from_ns.saturating_add(1_000);
            "a wait that ends at another time"
        }
        1 => {
            kernel.stands.remove(closed?);
            "a wait that is not there"
        }
        2 => {
            let blocks = Arc::make_mut(&mut kernel.blocks);
            blocks.times.first_mut()?[1] = blocks.times[0][1].saturating_add(1_000);
            "a block that ends later"
        }
        3 => {
            let all = kernel.synchronization.as_ref().filter(|all| all.is_cooperative);
            let blocks = Arc::make_mut(&mut kernel.blocks);
            if all.is_none() || blocks.times.len() < 2 {
                return None;
            }
            blocks.times[0] = blocks.times[0].map(|at| at.saturating_sub(1));
            "a block of a cooperative launch that begins before others"
        }
        4 => {
            let waits = mutant.operations.iter_mut().find_map(|one| match &mut one.work {
                ObservedWork::Value(seen) if seen.waits && seen.finish_ns < LogTime::MAX => Some(seen),
                _ => None,
            });
            let seen = waits.filter(|seen| clean_counter(clean, seen.value))?;
            seen.finish_ns = seen.finish_ns.saturating_add(1_000);
            return Some((mutant, "a stream that waits too long"));
        }
        _ => {
            let open = kernel.stands.iter().position(|stand| stand.to_ns == LogTime::MAX)?;
            kernel.stands[open].to_ns = kernel.stands[open].from_ns;
            "a wait that never ends and has ended"
        }
    };
    mutant.operations[place].work = ObservedWork::Kernel(kernel);
    Some((mutant, what))
}

/// Whether a value is more than a counter holds at first, so that something must have been seen that changed it.
fn clean_counter(run: &ObservedRun, value: CounterValue) -> bool {
    let changes = |operation: &ObservedOperation| matches!(&operation.work, ObservedWork::Value(seen) if !seen.waits && seen.value.counter == value.counter);
    value.value > 0 && run.operations.iter().any(changes)
}

#[test]
fn what_is_corrupted_of_waits_is_found() {
    let runs = [
        r#""kernels": {
            "consume": {"blocks": 2, "threads": 32, "duration": "2 ms", "wait": [{"at": 0.5, "counter": "ready", "value": 3}]},
            "produce": {"blocks": 3, "threads": 32, "duration": "5 ms", "signal": [{"at": "end", "counter": "ready"}]}},
        "streams": [{"name": "A", "blocking": false, "operations": [{"kernel": "consume"}]},
            {"name": "B", "blocking": false, "operations": [{"kernel": "produce"}, {"write_value": "D", "value": 1}]},
            {"name": "E", "blocking": false, "operations": [{"wait_value": "D", "value": 1}, {"kernel": "produce"}]}]"#,
        r#""kernels": {
            "half": {"blocks": 2, "threads": 1024, "duration": "2 ms"},
            "all": {"blocks": 4, "threads": 1024, "duration": "1 ms", "cooperative": true, "grid_sync": [0.5],
                "wait": [{"at": 1, "counter": "never", "value": 1}]}},
        "streams": [{"name": "A", "blocking": false, "operations": [{"kernel": "half"}]},
            {"name": "B", "blocking": false, "operations": [{"kernel": "all"}]}]"#,
    ];
    let mut kinds = BTreeSet::new();
    for rest in runs {
        let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "waiting", "device": "tx2", {rest}}}"#);
        let scenario = Scenario::from_json("waiting.json", &text, &ReadOptions::default()).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let clean = ObservedRun::of_run(&run).expect("it is short");
        let findings = |run: &ObservedRun| audit(run, &Tolerances::EXACT, Progress::NONE).findings;
        assert_eq!(findings(&clean), []);
        for (mutant, what) in (0..6).filter_map(|number| corrupted(&clean, number)) {
            assert!(!findings(&mutant).is_empty(), "{what}");
            kinds.insert(what);
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

fn agree_on(rest: &str) -> Result<(), TestCaseError> {
    let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "waiting", {rest}}}"#);
    check(&Case(Scenario::from_json("waiting.json", &text, &ReadOptions::default()).expect("it is sound")))
}

#[test]
fn who_need_not_wait_any_longer_goes_on_in_its_next_turn_however_alike_rounds_are() -> Result<(), TestCaseError> {
    // Written as a turn of Q begins.
    agree_on(
        r#""device": "tx2", "processes": {"P": {"time_slice": "10 us"}, "Q": {"time_slice": "10 us"}}, "switch_cost": "0 s",
        "kernels": {
            "waits": {"blocks": 1, "threads": 32, "duration": "2 us", "wait": [{"at": 0.5, "counter": "C", "value": 1}]},
            "long": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [
            {"name": "A", "process": "P", "blocking": false, "operations": [{"kernel": "waits"}]},
            {"name": "B", "process": "P", "blocking": false, "operations": [{"kernel": "long"}]},
            {"name": "D", "process": "Q", "blocking": false, "operations": [{"kernel": "long"}]}],
        "hosts": [{"name": "H", "process": "Q", "release": "10 us", "steps": [{"write_value": "C", "value": 1}]}]"#,
    )
}

#[test]
fn blocks_that_wait_for_one_another_go_on_while_a_turn_runs_out() -> Result<(), TestCaseError> {
    let device = crate::generate::builtin("tx2").with(|spec| spec.time_slicing.preemption = Preemption::BlockEnd);
    let options = ReadOptions { device: Some(device.expect("it is a GPU")), ..ReadOptions::default() };
    let text = r#"{"format": "gpusched-scenario/1", "name": "runs out", "processes": {"P": {}, "Q": {}},
        "kernels": {
            "waits": {"blocks": 1, "threads": 32, "duration": "2 ms", "wait": [{"at": 0.5, "counter": "C", "value": 1}]},
            "signals": {"blocks": 1, "threads": 32, "duration": "9 ms", "signal": [{"at": "end", "counter": "C"}]}},
        "streams": [
            {"name": "A", "process": "P", "blocking": false, "operations": [{"kernel": "waits"}]},
            {"name": "B", "process": "P", "blocking": false, "operations": [{"kernel": "signals"}]},
            {"name": "D", "process": "Q", "blocking": false, "operations": [{"kernel": "signals"}]}]}"#;
    let scenario = Scenario::from_json("runs-out.json", text, &options).expect("it is sound");
    prop_assert!(simulate(&scenario)?.trace.operations().iter().all(|record| record.finish().is_some()));
    check(&Case(scenario))
}
