//! What holds for every trace, checked without the engine or the framework.

use std::collections::BTreeMap;

use gpusched::applications::{ApplicationSet, Injections, Outcome, Usage, segments};
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, UsageDetail};
use gpusched::time::{Duration, Instant};
use gpusched::trace::Trace;
use gpusched::workload::{OperationId, OperationKind};
use proptest::prelude::*;

use super::{builtin, on_four_sms, run, schedule};
use crate::campaign::config;

/// (SM, start, end, injection) of all blocks, grouped by SM and instant.
fn runs(trace: &Trace) -> Vec<(u16, Instant, Instant, u32)> {
    let mut found = Vec::new();
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        found.extend(trace.block_runs(id).map(|run| (run.sm, run.start, run.end, record.origin.thread)));
    }
    found.sort_unstable();
    found
}

fn no_sm_runs_two_applications(trace: &Trace) {
    let mut last: BTreeMap<(u16, u32), Instant> = BTreeMap::new();
    for (sm, start, end, injection) in runs(trace) {
        for (&(_, other), &until) in last.range((sm, 0)..=(sm, u32::MAX)) {
            assert!(other == injection || until <= start, "SM {sm} runs {other} and {injection} at {start}");
        }
        let until = last.entry((sm, injection)).or_default();
        *until = end.max(*until);
    }
}

/// Every launch is in the hardware's queues for no time at all.
fn no_launch_waits(trace: &Trace) {
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        if let OperationKind::Kernel(_) = record.kind {
            assert_eq!(trace.waits(id), [], "{id:?}");
            assert_eq!((record.first_start(), record.last_start()), (Some(record.launched()), Some(record.launched())));
        }
    }
}

/// Each kernel runs all its blocks as often as it is launched, one launch and one kernel after the other, with the
/// copies before and after, and nothing begins before the arrival.
fn every_block_runs_once_and_in_order(set: &ApplicationSet, trace: &Trace) {
    let mut blocks: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut spans: BTreeMap<(u32, u32), (Instant, Instant)> = BTreeMap::new();
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        let injection = set.injections[record.origin.thread as usize];
        assert!(record.launched() >= injection.arrival);
        let finish = record.finish().expect("it ended");
        if matches!(record.kind, OperationKind::Kernel(_)) {
            let key = (record.origin.thread, record.origin.iteration);
            *blocks.entry(key).or_default() += trace.block_runs(id).map(|run| u64::from(run.blocks)).sum::<u64>();
            let span = spans.entry(key).or_insert((Instant::MAX, Instant::ZERO));
            *span = (span.0.min(record.first_start().expect("it began")), span.1.max(finish));
        }
    }
    for (number, injection) in (0_u32..).zip(&set.injections) {
        let application = &set.applications[injection.application as usize];
        let mut before = injection.arrival;
        for (index, kernel) in (0_u32..).zip(&application.kernels) {
            let expected = u64::from(kernel.blocks) * u64::from(kernel.launches);
            assert_eq!(blocks.get(&(number, index)), Some(&expected));
            let (start, end) = spans[&(number, index)];
            assert!(start >= before, "kernel {index} of {number} overlaps the one before");
            before = end;
        }
    }
}

fn small_thirteen(count: u32, seed: u64) -> ApplicationSet {
    let mut set = builtin("rodinia-like-k20m");
    for application in &mut set.applications {
        for kernel in &mut application.kernels {
            kernel.launches = kernel.launches.min(2);
            kernel.blocks = kernel.blocks.min(300);
        }
        application.requirements =
            application.requirements.iter().map(|time| Duration::from_ns(time.as_ns() / 10)).collect();
    }
    set.reprofile().expect("they are short");
    let injections = Injections::Random { count, gap: Duration::from_ns(10_000_000) };
    set.injections = injections.draw(&set, seed, 0).expect("few");
    set
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn no_sm_ever_runs_two_applications_and_nothing_waits_in_the_hardware(
        seed in any::<u64>(), count in 1_u32..25, alternative in 0_usize..9,
    ) {
        let set = small_thirteen(count, seed);
        let mut rules = vec![EvrRules::default()];
        rules.extend(EvrRules::default().alternatives().into_iter().map(|(_, rules)| rules));
        let (trace, log) = Scheduler::run_gpu_evr(&set, rules[alternative]).expect("it runs");
        no_sm_runs_two_applications(&trace);
        no_launch_waits(&trace);
        every_block_runs_once_and_in_order(&set, &trace);
        prop_assert_eq!(log.expected.len(), set.injections.len());
    }

    #[test]
    fn baselines_run_every_block_once_and_two_of_them_one_application_at_a_time(
        seed in any::<u64>(), count in 1_u32..25,
    ) {
        let set = small_thirteen(count, seed);
        for scheduler in [Scheduler::TimeGraph, Scheduler::GlobalEdf, Scheduler::PlainStreams] {
            let trace = run(&set, scheduler, EvrRules::default());
            every_block_runs_once_and_in_order(&set, &trace);
            if scheduler != Scheduler::PlainStreams {
                let outcome = Outcome::new(&set, scheduler.name(), &trace);
                let mut spans: Vec<_> = outcome.outcomes.iter().map(|one| (one.start_ns, one.finish_ns)).collect();
                spans.sort_unstable();
                prop_assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{}", scheduler);
            }
        }
    }

    #[test]
    fn sums_that_are_kept_without_a_trace_are_those_of_the_trace(
        seed in any::<u64>(), count in 1_u32..25, alternative in 0_usize..8,
    ) {
        let set = small_thirteen(count, seed);
        let (_, changed) = EvrRules::default().alternatives().swap_remove(alternative);
        let by_default = Scheduler::ALL.map(|scheduler| (scheduler, EvrRules::default()));
        for (scheduler, rules) in by_default.into_iter().chain([(Scheduler::GpuEvr, changed)]) {
            let trace = run(&set, scheduler, rules);
            let usage = scheduler.usage(&set, rules, UsageDetail::ALL_SMS_OVER_TIME).expect("it runs");
            prop_assert_eq!(&usage, &Usage::of(&trace, &segments(&trace), set.injections.len()), "{}", scheduler);
            let totals = scheduler.usage(&set, rules, UsageDetail::Totals).expect("it runs");
            prop_assert_eq!(&Usage { sms_over_time: Vec::new(), ..usage.clone() }, &totals, "{}", scheduler);
            let whole = Outcome::new(&set, scheduler.name(), &trace);
            let from_sums = Outcome::of_usage(&set, scheduler.name(), usage);
            prop_assert_eq!(Outcome { segments: Vec::new(), ..whole }, from_sums, "{}", scheduler);
        }
    }

    /// Whatever low class runs, a high application that needs every SM has all but the one that low class keeps from
    /// the first block boundary on that each of them has after its arrival.
    #[test]
    fn high_class_gets_every_sm_at_its_first_block_boundary(
        blocks in 20_u32..60, time in 2_u64..30, arrival in 1_u64..100,
    ) {
        let end = u64::from(blocks).div_ceil(4) * time;
        prop_assume!(arrival < end - time);
        let set = on_four_sms(&[
            ("LOW", "low", end, vec![0], blocks, time),
            ("HIGH", "high", 1, vec![arrival], 40, 7),
        ]);
        let found = schedule(&run(&set, Scheduler::GpuEvr, EvrRules::default()));
        let boundary = arrival.div_ceil(time) * time;
        for sm in 0..3 {
            let first = found.iter().find(|one| one.0 == 1 && one.1 == sm).expect("it has the SM");
            prop_assert_eq!(first.2, boundary);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_the_shipped_set_keeps_all_rules() {
    let mut set = builtin("rodinia-like-k20m");
    let injections = Injections::Random { count: 15, gap: Duration::from_ns(500_000_000) };
    set.injections = injections.draw(&set, 1, 0).expect("few");
    let trace = run(&set, Scheduler::GpuEvr, EvrRules::default());
    assert!(trace == run(&set, Scheduler::GpuEvr, EvrRules::default()));
    no_sm_runs_two_applications(&trace);
    no_launch_waits(&trace);
    every_block_runs_once_and_in_order(&set, &trace);
}
