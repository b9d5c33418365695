//! GPU-EvR and the schedulers it is compared with, on schedules worked out by hand, and what holds for every trace.

mod command;
mod invariants;

use gpusched::applications::{ApplicationSet, Outcome, segments};
use gpusched::device::Device;
use gpusched::hosts::gpu_evr::{EvrRules, FullGpu, Keep, Leftover, UrgentQueue};
use gpusched::hosts::{ScheduleError, Scheduler};
use gpusched::trace::Trace;

fn builtin(name: &str) -> ApplicationSet {
    let text = ApplicationSet::builtin_json(name).expect("it is built in");
    ApplicationSet::from_json(name, text, None).expect("it is sound")
}

/// Applications whose blocks fill an SM, on the four SMs of the paper's Fig. 1: name, class, requirement and arrivals
/// in ms, blocks, block time in ms.
type Row = (&'static str, &'static str, u64, Vec<u64>, u32, u64);

fn on_four_sms(rows: &[Row]) -> ApplicationSet {
    let applications: Vec<String> = rows
        .iter()
        .map(|(name, class, requirement, arrivals, blocks, time)| {
            let arrivals: Vec<String> = arrivals.iter().map(|at| format!("\"{at} ms\"")).collect();
            format!(
                r#"{{"name": "{name}", "class": "{class}", "requirement": "{requirement} ms",
                     "arrivals": [{}], "kernels": [{{"blocks": {blocks}, "threads": 1024,
                     "shared_memory_bytes": 49152, "block_time": "{time} ms"}}]}}"#,
                arrivals.join(", ")
            )
        })
        .collect();
    let text = format!(
        r#"{{"format": "gpusched-applications/1", "name": "by hand", "applications": [{}]}}"#,
        applications.join(", ")
    );
    ApplicationSet::from_json("by hand", &text, Some(builtin("gpu-evr-figure-1").device)).expect("it is sound")
}

/// (injection, SM, start, end) in ms.
fn schedule(trace: &Trace) -> Vec<(u32, u16, u64, u64)> {
    let ms = |instant: gpusched::time::Instant| instant.as_ns() / 1_000_000;
    segments(trace).iter().map(|one| (one.injection, one.sm, ms(one.start), ms(one.end))).collect()
}

fn run(set: &ApplicationSet, scheduler: Scheduler, rules: EvrRules) -> Trace {
    scheduler.run(set, rules).expect("it runs")
}

/// When each injection finished \[ms\].
fn finishes(set: &ApplicationSet, scheduler: Scheduler, rules: EvrRules) -> Vec<u64> {
    let outcome = Outcome::new(set, scheduler.name(), &run(set, scheduler, rules));
    outcome.outcomes.iter().map(|one| one.finish_ns.expect("it ended").as_ns() / 1_000_000).collect()
}

#[test]
fn figure_1_a_gives_two_sms_at_its_block_boundary_and_takes_all_when_b_has_ended() {
    let set = builtin("gpu-evr-figure-1");
    let trace = run(&set, Scheduler::GpuEvr, EvrRules::default());
    let (a, b) = (0, 1);
    assert_eq!(
        schedule(&trace),
        [
            // A has three SMs; at its block boundary, two of them go to B.
            (a, 0, 0, 10),
            (b, 0, 10, 20),
            (a, 0, 20, 40),
            (a, 1, 0, 10),
            (b, 1, 10, 20),
            (a, 1, 20, 40),
            (a, 2, 0, 40),
            // B arrives at 4 ms and gets the one that is free.
            (b, 3, 4, 19),
            (a, 3, 20, 40),
        ]
    );
    let outcome = Outcome::new(&set, "gpu-evr", &trace);
    let counts = |injection| -> Vec<(u64, u32)> {
        outcome.sms_over_time(injection).iter().map(|one| (one.at_ns.as_ns() / 1_000_000, one.sms)).collect()
    };
    assert_eq!(counts(a), [(0, 3), (10, 1), (20, 4), (40, 0)]);
    assert_eq!(counts(b), [(4, 1), (10, 3), (19, 2), (20, 0)]);
    assert_eq!((outcome.met, outcome.total_violation_ns.as_ns()), (2, 0));
    // 120 + 35 ms of SM time in 40 ms on four SMs.
    assert!((outcome.utilization - 155.0 / 160.0).abs() < 1e-9);
    // One at a time, B comes after all of A.
    for scheduler in [Scheduler::TimeGraph, Scheduler::GlobalEdf, Scheduler::PlainStreams] {
        assert_eq!(finishes(&set, scheduler, EvrRules::default()), [30, 40], "{scheduler}");
    }
}

#[test]
fn figure_1_is_what_equation_4_expects_but_for_the_reallocation() {
    let set = builtin("gpu-evr-figure-1");
    let (_, log) = Scheduler::run_gpu_evr(&set, EvrRules::default()).expect("it runs");
    // A alone on three SMs: 40 ms. B on the one SM that is free: 35 ms, before it gets two more.
    let expected: Vec<u64> = log.expected.iter().map(|time| time.as_ns() / 1_000_000).collect();
    assert_eq!(expected, [40, 35]);
    assert!(log.promoted.is_empty());
}

/// LOW has all four SMs from 0 on; HIGH arrives at 5 ms and needs three.
fn full_gpu() -> ApplicationSet {
    on_four_sms(&[("LOW", "low", 80, vec![0], 32, 10), ("HIGH", "high", 25, vec![5], 6, 10)])
}

#[test]
fn high_class_does_not_wait_longer_than_to_the_next_block_boundary_of_low_class() {
    let set = full_gpu();
    let trace = run(&set, Scheduler::GpuEvr, EvrRules::default());
    let high: Vec<_> = schedule(&trace).into_iter().filter(|one| one.0 == 1).collect();
    assert_eq!(high, [(1, 0, 10, 30), (1, 1, 10, 30), (1, 2, 10, 30)]);
    // As Algorithm 1 is printed, it waits for LOW to end, at 80 ms.
    let printed = EvrRules { full_gpu: FullGpu::Wait, ..EvrRules::default() };
    assert_eq!(finishes(&set, Scheduler::GpuEvr, EvrRules::default())[1], 30);
    assert_eq!(finishes(&set, Scheduler::GpuEvr, printed), [80, 100]);
}

#[test]
fn an_application_that_has_started_keeps_one_sm_or_none_as_the_rule_says() {
    // HIGH needs all four SMs from 10 to 30 ms.
    let set = on_four_sms(&[("LOW", "low", 80, vec![0], 32, 10), ("HIGH", "high", 25, vec![5], 8, 10)]);
    let on_sm_3 = |keep| {
        let rules = EvrRules { keep, ..EvrRules::default() };
        let found = schedule(&run(&set, Scheduler::GpuEvr, rules));
        found.into_iter().filter(|one| one.1 == 3).collect::<Vec<_>>()
    };
    assert_eq!(on_sm_3(Keep::None)[..2], [(0, 3, 0, 10), (1, 3, 10, 30)]);
    assert_eq!(on_sm_3(Keep::One)[0].0, 0);
    assert!(on_sm_3(Keep::One)[0].3 > 30, "{:?}", on_sm_3(Keep::One));
}

#[test]
fn sms_that_nobody_needs_stay_free_or_are_lent_as_the_rule_says() {
    // Two SMs suffice for 8 blocks in 40 ms; four would make it 20 ms.
    let set = on_four_sms(&[("A", "low", 40, vec![0], 8, 10), ("B", "low", 20, vec![5], 4, 10)]);
    assert_eq!(finishes(&set, Scheduler::GpuEvr, EvrRules::default()), [40, 25]);
    let lend = EvrRules { leftover: Leftover::Lend, ..EvrRules::default() };
    // Four blocks of A by 10 ms, when B gets the two SMs that were lent; the other four of A on two SMs.
    assert_eq!(finishes(&set, Scheduler::GpuEvr, lend), [30, 30]);
}

#[test]
fn urgent_promotion_prevents_starvation() {
    // Every 15 ms a high application that needs all four SMs for 20 ms: some wait at any time.
    let high: Vec<u64> = (0..40).map(|index| 15 * index).collect();
    let set = on_four_sms(&[("HIGH", "high", 20, high, 8, 10), ("LOW", "low", 200, vec![1], 4, 10)]);
    let rules = |urgent| EvrRules { urgent, full_gpu: FullGpu::Wait, ..EvrRules::default() };
    let low = |rules| finishes(&set, Scheduler::GpuEvr, rules)[1];
    // Injection 1 is LOW. It is urgent at 1 + 200 - 10 = 191 ms and comes next, at 200 ms.
    assert_eq!(low(rules(UrgentQueue::Fifo)), 210);
    // Without promotion it comes after all forty: 800 ms.
    assert_eq!(low(rules(UrgentQueue::Off)), 810);
    let (_, log) = Scheduler::run_gpu_evr(&set, rules(UrgentQueue::Fifo)).expect("it runs");
    assert_eq!(log.promoted, [1]);
}

#[test]
fn the_span_ends_with_the_last_application_and_not_with_a_wake_up_that_nobody_needs() {
    // A could have started as late as at 990 ms, of which GPU-EvR is told; it ends at 40 ms, on one SM.
    let set = on_four_sms(&[("A", "low", 1_000, vec![0], 4, 10)]);
    let outcome = Outcome::new(&set, "gpu-evr", &run(&set, Scheduler::GpuEvr, EvrRules::default()));
    assert_eq!(outcome.span_ns.as_ns(), 40_000_000);
    assert!((outcome.utilization - 0.25).abs() < 1e-9);
}

#[test]
fn baselines_serve_one_at_a_time_by_class_or_by_due_instant() {
    // Four blocks of 10 ms are one round on four SMs; FIRST has the GPU until 20 ms, when the others wait.
    let set = on_four_sms(&[
        ("FIRST", "low", 900, vec![0], 8, 10),
        ("LOW", "low", 50, vec![1], 4, 10),
        ("MEDIUM", "medium", 100, vec![2], 4, 10),
        ("HIGH", "high", 200, vec![3, 4], 4, 10),
    ]);
    let by = |scheduler| finishes(&set, scheduler, EvrRules::default());
    assert_eq!(by(Scheduler::TimeGraph), [20, 60, 50, 30, 40]);
    assert_eq!(by(Scheduler::GlobalEdf), [20, 30, 40, 50, 60]);
    assert_eq!(by(Scheduler::PlainStreams), [20, 30, 40, 50, 60]);
    let outcome = Outcome::new(&set, "timegraph", &run(&set, Scheduler::TimeGraph, EvrRules::default()));
    // LOW is due at 51 ms and ends at 60 ms.
    assert_eq!((outcome.met, outcome.total_violation_ns.as_ns()), (4, 9_000_000));
    assert!((outcome.utilization - 1.0).abs() < 1e-9);
}

#[test]
fn plain_streams_share_the_gpu_only_where_blocks_fit() {
    // A leaves two SMs free from 10 ms on, where B's first two blocks start; C waits behind B (X1).
    let set = on_four_sms(&[
        ("A", "low", 900, vec![0], 6, 10),
        ("B", "low", 900, vec![1], 3, 10),
        ("C", "high", 10, vec![2], 1, 1),
    ]);
    assert_eq!(finishes(&set, Scheduler::PlainStreams, EvrRules::default()), [20, 30, 21]);
    // One at a time, the two SMs stay empty.
    assert_eq!(finishes(&set, Scheduler::GlobalEdf, EvrRules::default()), [20, 31, 21]);
}

#[test]
fn copies_surround_the_kernels_and_overlap_only_without_one_at_a_time() {
    // 6 MB each way take 1 ms; both arrive at 0 and need one round of 10 ms on two SMs.
    let text = r#"{"format": "gpusched-applications/1", "name": "copies", "applications": [
        {"name": "A", "class": "high", "requirement": "12 ms", "arrivals": ["0 s", "0 s"], "copy_in_bytes": 6000000,
         "copy_out_bytes": 6000000, "kernels": [
         {"blocks": 2, "threads": 1024, "shared_memory_bytes": 49152, "block_time": "10 ms"}]}]}"#;
    let device = builtin("gpu-evr-figure-1").device;
    let set = ApplicationSet::from_json("copies", text, Some(device)).expect("it is sound");
    let by = |scheduler| finishes(&set, scheduler, EvrRules::default());
    assert_eq!(by(Scheduler::TimeGraph), [12, 24]);
    // The second copy in waits for the first.
    assert_eq!(by(Scheduler::PlainStreams), [12, 13]);
    assert_eq!(by(Scheduler::GpuEvr), [12, 13]);
}

#[test]
fn more_sms_are_not_given_where_they_make_it_slower() {
    let text = r#"{"format": "gpusched-applications/1", "name": "thrashing", "applications": [
        {"name": "A", "class": "high", "requirement": "1 ms", "arrivals": ["0 s"], "kernels": [
         {"blocks": 12, "threads": 1024, "shared_memory_bytes": 49152,
          "execution_time": {"1": "60 ms", "2": "36 ms", "3": "48 ms", "4": "90 ms"}}]}]}"#;
    let device = builtin("gpu-evr-figure-1").device;
    let set = ApplicationSet::from_json("thrashing", text, Some(device)).expect("it is sound");
    assert_eq!(finishes(&set, Scheduler::GpuEvr, EvrRules::default()), [36]);
    assert_eq!(finishes(&set, Scheduler::TimeGraph, EvrRules::default()), [90]);
}

#[test]
fn gpu_evr_refuses_devices_whose_sms_no_mask_can_tell_apart() {
    let mut set = full_gpu();
    set.device = Device::builtin("xavier").expect("sound").expect("built in");
    let error = Scheduler::GpuEvr.run(&set, EvrRules::default()).expect_err("it cannot");
    assert!(matches!(error, ScheduleError::SharedTpc { sms_per_tpc: 2, .. }), "{error}");
    assert!(Scheduler::TimeGraph.run(&set, EvrRules::default()).is_ok());
}

/// How many of so many applications of `narrow-k20m` that arrive together finish in time. Each takes 100 ms on four SMs
/// or more, 200 ms on two or three, 400 ms on one.
fn met_of_narrow(scheduler: Scheduler, count: usize, requirement_ms: u64) -> usize {
    let mut set = builtin("narrow-k20m");
    let requirement = gpusched::time::Duration::from_ns(requirement_ms * 1_000_000);
    let arrival = gpusched::time::Instant::default();
    set.injections = vec![gpusched::applications::Injection { application: 0, arrival, requirement }; count];
    let trace = run(&set, scheduler, EvrRules::default());
    Outcome::new(&set, scheduler.name(), &trace).met
}

#[test]
fn three_applications_that_fill_four_of_thirteen_sms_meet_their_shortest_time_together_and_one_at_a_time_only_one() {
    for count in [1, 2, 3, 4, 5, 8] {
        assert_eq!(met_of_narrow(Scheduler::GpuEvr, count, 100), count.min(13 / 4));
        assert_eq!(met_of_narrow(Scheduler::TimeGraph, count, 100), 1);
        assert_eq!(met_of_narrow(Scheduler::GlobalEdf, count, 100), 1);
    }
}

#[test]
fn with_twice_the_time_two_sms_are_enough_for_each_and_six_meet_it_together() {
    for count in [1, 2, 5, 6, 7] {
        assert_eq!(met_of_narrow(Scheduler::GpuEvr, count, 200), count.min(13 / 2), "{count}");
        assert_eq!(met_of_narrow(Scheduler::TimeGraph, count, 200), count.min(2));
        assert_eq!(met_of_narrow(Scheduler::GlobalEdf, count, 200), count.min(2));
    }
}
