//! The engine against the reference simulator, and what must hold for every run.
//!
//! A long campaign: `PROPTEST_CASES=100000 cargo test --release --test suite engine_properties -- --include-ignored`.

use std::collections::{BTreeMap, BTreeSet};

use gpusched::gpu::{Ended, GpuOptions};
use gpusched::hosts::{simulate, simulate_with};
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{HostThread, Scenario, Step};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Block, OperationRecord, Part, Rule, blame};
use gpusched::workload::{OperationId, Placement};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::agreement::{agrees, same};
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::{recount, reference};

fn options(scenario: &Scenario) -> GpuOptions {
    GpuOptions {
        placement: scenario.placement,
        seed: scenario.seed,
        horizon: scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon),
        ..GpuOptions::default()
    }
}

fn with_placement(mut scenario: Scenario, placement: Placement) -> Scenario {
    scenario.placement = placement;
    scenario
}

fn placement() -> impl Strategy<Value = Placement> {
    proptest::sample::select(Placement::ALL.to_vec())
}

const VARYING: Limits = Limits { varying: true, ..Limits::ALL };
const EQUAL_BLOCKS: Limits = Limits { equal_blocks: true, ..Limits::ALL };

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn the_engine_agrees_with_the_reference_on_every_instant_block_and_wait(Case(scenario) in scenario(Limits::ALL)) {
        agrees(&simulate(&scenario)?, &reference::run(&scenario), true)?;
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn with_equal_blocks_any_placement_gives_the_reference_instants(
        Case(scenario) in scenario(EQUAL_BLOCKS), placement in placement(),
    ) {
        let scenario = with_placement(scenario, placement);
        agrees(&simulate(&scenario)?, &reference::run(&scenario), placement != Placement::Random)?;
    }

    #[test]
    fn every_run_keeps_the_rules(Case(scenario) in scenario(Limits::ALL), placement in placement()) {
        let scenario = with_placement(scenario, placement);
        recount::check(&scenario, &simulate(&scenario)?.trace);
    }

    #[test]
    fn every_run_with_varying_block_times_keeps_the_rules(
        Case(scenario) in scenario(VARYING), placement in placement(),
    ) {
        let scenario = with_placement(scenario, placement);
        recount::check(&scenario, &simulate(&scenario)?.trace);
    }

    #[test]
    fn block_times_do_not_depend_on_placement(
        Case(scenario) in scenario(VARYING), one in placement(), other in placement(),
    ) {
        // With one thread and no limit in time, operation n is the same one whatever the placement.
        let mut scenario = scenario;
        scenario.threads.truncate(1);
        scenario.threads[0].time_limit = None;
        scenario.threads[0].iterations.get_or_insert(2);
        scenario.horizon = None;
        let (one, other) = (with_placement(scenario.clone(), one), with_placement(scenario, other));
        let (one, other) = (simulate(&one)?, simulate(&other)?);
        prop_assert_eq!(one.trace.operations().len(), other.trace.operations().len());
        for operation in (0..).take(one.trace.operations().len()).map(OperationId) {
            let times = |run: &Run| run.trace.blocks(operation).map(|block| block.end - block.start).collect::<Vec<_>>();
            prop_assert_eq!(times(&one), times(&other));
        }
    }

    #[test]
    fn the_same_scenario_gives_the_same_run(Case(scenario) in scenario(VARYING), placement in placement()) {
        let scenario = with_placement(scenario, placement);
        prop_assert_eq!(simulate(&scenario)?, simulate(&scenario)?);
    }

    #[test]
    fn releasing_everything_later_shifts_everything(
        Case(scenario) in scenario(VARYING), placement in placement(), later in 1_u64..1_000_000,
    ) {
        let scenario = with_placement(scenario, placement);
        let later = Duration::from_ns(later);
        let mut shifted = scenario.clone();
        for thread in &mut shifted.threads {
            thread.release += later;
        }
        shifted.horizon = scenario.horizon.map(|horizon| horizon + later);
        let (run, shifted) = (simulate(&scenario)?, simulate(&shifted)?);
        let shift = |instant: Option<Instant>| instant.map(|instant| instant + later);
        prop_assert_eq!(Some(shifted.trace.end()), shift(Some(run.trace.end())));
        for (operation, (record, moved)) in
            (0..).map(OperationId).zip(run.trace.operations().iter().zip(shifted.trace.operations()))
        {
            prop_assert_eq!((record.kind, record.stream, record.origin), (moved.kind, moved.stream, moved.origin));
            let instants = |record: &OperationRecord| {
                let start = [Some(record.launched()), record.reached_head(), record.queued(), record.first_start()];
                [&start[..], &[record.last_start(), record.finish()]].concat()
            };
            prop_assert_eq!(instants(record).into_iter().map(shift).collect::<Vec<_>>(), instants(moved));
            let blocks = run.trace.blocks(operation);
            let blocks = blocks.map(|block| Block { start: block.start + later, end: block.end + later, ..block });
            prop_assert!(blocks.eq(shifted.trace.blocks(operation)));
        }
    }

    #[test]
    fn skipping_cycles_changes_nothing(Case(scenario) in scenario(Limits::MANY_BLOCKS), placement in placement()) {
        let scenario = with_placement(scenario, placement);
        let skipping = simulate_with(&scenario, GpuOptions { skip_cycles: true, ..options(&scenario) })?;
        let plain = simulate_with(&scenario, GpuOptions { skip_cycles: false, ..options(&scenario) })?;
        same(&skipping, &plain)?;
        for operation in (0..).take(plain.trace.operations().len()).map(OperationId) {
            let runs = |run: &Run| run.trace.block_runs(operation).collect::<Vec<_>>();
            prop_assert_eq!(runs(&skipping), runs(&plain));
            let by_sm = |parts: Vec<(u16, u128)>| {
                let mut sums = BTreeMap::new();
                for (sm, amount) in parts {
                    *sums.entry(sm).or_insert(0) += amount;
                }
                sums.retain(|_, sum| *sum > 0);
                sums
            };
            let busy = |run: &Run| by_sm(run.trace.block_time(operation).collect());
            let end = plain.trace.end();
            let block_time = |block: Block| (block.sm, u128::from((block.end.min(end) - block.start).as_ns()));
            let counted = by_sm(plain.trace.blocks(operation).map(block_time).collect());
            prop_assert_eq!(busy(&skipping), counted.clone(), "block time of {:?}", operation);
            prop_assert_eq!(busy(&plain), counted);
            for at in (0..40).map(|step| Instant::from_ns(step * (end.as_ns() / 40 + 1))) {
                // After the run there is what there was at its end.
                let present = |block: &Block| block.start <= at && (at < block.end || block.end > end);
                let counted = by_sm(plain.trace.blocks(operation).filter(present).map(|b| (b.sm, 1)).collect());
                let resident = |part: Part| (part.sm, u128::from(part.blocks));
                let told = by_sm(skipping.trace.resident_at(operation, at).map(resident).collect());
                prop_assert_eq!(told, counted, "residents of {:?} at {}", operation, at);
            }
        }
    }

    #[test]
    fn the_state_at_any_instant_names_the_rules_of_the_reference(Case(scenario) in scenario(Limits::ALL)) {
        // A run that ends at an instant, told of that instant, against one that goes on.
        let expected = reference::run(&Scenario { horizon: None, ..scenario.clone() });
        for at in (0..20).step_by(3) {
            let cut = Scenario { horizon: Some(Duration::from_ns(at)), ..scenario.clone() };
            let run = simulate(&cut)?;
            let summary = Summary::of(&run);
            let state = State::at(&summary, Instant::from_ns(at));
            let told: Vec<_> = state.waiting.iter().map(|waiting| (waiting.id, waiting.rule)).collect();
            let holds = |wait: &&(Rule, u64, u64)| wait.1 <= at && at < wait.2;
            let waits = (0..).zip(&expected.operations).filter_map(|(id, operation)| {
                operation.waits.iter().find(holds).map(|(rule, ..)| (id, *rule))
            });
            prop_assert_eq!(told, waits.collect::<Vec<_>>(), "at {}", at);
        }
    }

    #[test]
    fn wake_ups_beside_the_work_change_nothing(
        Case(scenario) in scenario(Limits::MANY_BLOCKS), placement in placement(), pause in 1_u64..40,
    ) {
        let scenario = with_placement(scenario, placement);
        let mut disturbed = scenario.clone();
        let idle = HostThread::once("idle", Duration::ZERO, vec![Step::Sleep(Duration::from_ns(pause))]);
        disturbed.threads.push(HostThread { iterations: Some(200), ..idle });
        let (plain, disturbed) = (simulate(&scenario)?, simulate(&disturbed)?);
        prop_assert_eq!(plain.trace.operations(), disturbed.trace.operations());
        for id in (0..).map(OperationId).take(plain.trace.operations().len()) {
            prop_assert!(plain.trace.block_runs(id).eq(disturbed.trace.block_runs(id)));
            prop_assert!(plain.trace.blocks(id).eq(disturbed.trace.blocks(id)));
            if plain.ended == Ended::Done {
                let finished = plain.trace.operations()[id.index()].finish().is_some();
                prop_assert!(!finished || plain.trace.waits(id) == disturbed.trace.waits(id));
            }
        }
    }
}

#[test]
fn the_random_scenarios_reach_every_rule_and_skip_cycles() {
    let mut runner = TestRunner::deterministic();
    let strategy = scenario(Limits::MANY_BLOCKS);
    let (mut rules, mut with_stretches) = (BTreeSet::new(), 0);
    for _ in 0..400 {
        let Case(scenario) = strategy.new_tree(&mut runner).expect("there are scenarios").current();
        let run = simulate(&scenario).expect("it runs");
        let operations = (0..).take(run.trace.operations().len()).map(OperationId);
        rules.extend(operations.flat_map(|operation| run.trace.waits(operation)).map(|wait| wait.rule.name()));
        let plain = simulate_with(&scenario, GpuOptions { skip_cycles: false, ..options(&scenario) });
        with_stretches += u32::from(plain.expect("it runs").trace.waves() > run.trace.waves());
    }
    let all = ["A2", "C1", "C2", "E2", "G2", "L1", "L2", "N1", "N2", "R2", "R3", "X1", "channel", "registers"];
    assert!(rules.iter().eq(&all), "{rules:?}");
    assert!(with_stretches >= 40, "{with_stretches} of 400");
}

proptest! {
    #![proptest_config(config(100_000))]

    #[test]
    #[ignore = "a long campaign: cargo test --release --test suite engine_properties -- --ignored"]
    fn in_a_long_campaign_the_engine_agrees_with_the_reference(
        Case(small) in scenario(Limits::ALL), Case(large) in scenario(Limits::MANY_BLOCKS),
    ) {
        for scenario in [small, large] {
            agrees(&simulate(&scenario)?, &reference::run(&scenario), true)?;
        }
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn blame_divides_the_wait_of_every_operation_and_keeps_its_rules(Case(scenario) in scenario(Limits::ALL)) {
        let trace = simulate(&scenario)?.trace;
        let parts = blame(&trace, scenario.device());
        for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
            let start = record.first_start().unwrap_or(trace.end());
            let own: Vec<_> = parts.iter().filter(|part| part.operation == id).collect();
            let mut at = record.launched();
            for part in &own {
                prop_assert!(part.from == at && part.from < part.to, "{:?}", part);
                at = part.to;
                let Some(other) = part.blocking else { continue };
                let blocking = &trace.operations()[other.index()];
                prop_assert!(other != id && !blocking.kind.is_instant(), "{:?}", part);
                let there = blocking.launched() <= part.from && blocking.finish().is_none_or(|end| part.to <= end);
                prop_assert!(there, "{:?} is not there: {:?}", blocking, part);
            }
            prop_assert_eq!(at, start.max(record.launched()), "all of the wait of {:?}", id);
            let rules = |waits: &mut dyn Iterator<Item = (Rule, Instant, Instant)>| {
                let mut sums: BTreeMap<Rule, u64> = BTreeMap::new();
                for (rule, from, to) in waits.filter(|(_, from, to)| from < to) {
                    *sums.entry(rule).or_default() += to.since(from).as_ns();
                }
                sums
            };
            let waits = trace.waits(id);
            let told = rules(&mut waits.iter().map(|wait| (wait.rule, wait.from, wait.to.min(start))));
            prop_assert_eq!(rules(&mut own.iter().map(|part| (part.rule, part.from, part.to))), told);
        }
    }
}
