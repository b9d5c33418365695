use super::timing::SmSet;
use super::timing::*;
use super::*;
use crate::applications::{ApplicationSet, Class};
use crate::time::{Duration, Instant};

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * 1_000_000)
}

/// The paper's Fig. 1: four SMs, one block per SM; A has 12 blocks of 10 ms, B has 7 of 5 ms.
fn figure_1() -> ApplicationSet {
    let text = ApplicationSet::builtin_json("gpu-evr-figure-1").expect("it is built in");
    ApplicationSet::from_json("figure 1", text, None).expect("it is sound")
}

fn running(completed: u32) -> Stage {
    Stage::Kernel { kernel: 0, launch: 0, submitted: completed, completed }
}

#[test]
fn equation_3_adds_the_requirement_to_the_start() {
    let set = figure_1();
    assert_eq!(set.injections[1].due(), at(21));
}

#[test]
fn equation_4_is_the_execution_time_and_equation_5_adds_the_shortest_wait() {
    let set = figure_1();
    let b = &set.profiles[1];
    assert_eq!(response(b, 3), ms(15));
    // One application ends in 30 ms on three SMs, one in 12 ms on a single SM: after 12 ms B has that one SM.
    assert_eq!(response_when_occupied(b, [(ms(30), 3), (ms(12), 1)].into_iter()), ms(12 + 35));
}

#[test]
fn equation_6_adds_the_kernels_that_follow() {
    let text = r#"{"format": "gpusched-applications/1", "name": "three", "applications": [
        {"name": "A", "class": "high", "requirement": "1 s", "copy_out_bytes": 6000000, "kernels": [
            {"blocks": 12, "threads": 1024, "shared_memory_bytes": 49152, "block_time": "10 ms", "launches": 3},
            {"blocks": 4, "threads": 1024, "shared_memory_bytes": 49152, "block_time": "7 ms"}]}]}"#;
    let set = ApplicationSet::from_json("three", text, Some(figure_1().device)).expect("it is sound");
    let profile = &set.profiles[0];
    let left = |progress| remaining(profile, &progress, 2, Remaining::Share);
    // On two SMs: launches of 60 ms, then 14 ms, then 1 ms of copying.
    assert_eq!(left(Stage::Submitted), ms(3 * 60 + 14 + 1));
    assert_eq!(left(Stage::Kernel { kernel: 0, launch: 1, submitted: 8, completed: 6 }), ms(30 + 60 + 14 + 1));
    assert_eq!(left(Stage::Kernel { kernel: 1, launch: 0, submitted: 2, completed: 2 }), ms(7 + 1));
    assert_eq!(left(Stage::KernelsDone), ms(1));
}

#[test]
fn equation_7_takes_the_share_of_blocks_not_completed() {
    let set = figure_1();
    let a = &set.profiles[0];
    // 8 of 12 blocks are left: 2/3 of 120, 60, 40 and 30 ms, rounded up.
    let left = |sms| remaining_kernel(a, 0, 4, sms, Remaining::Share);
    assert_eq!(
        [left(1), left(2), left(3), left(4)].map(Duration::as_ns),
        [80_000_000, 40_000_000, 26_666_667, 20_000_000]
    );
    // In rounds, 8 blocks on three SMs are three.
    assert_eq!(remaining_kernel(a, 0, 4, 3, Remaining::Rounds), ms(30));
    // The share can be too short: the last of 12 blocks is a whole round, not a twelfth of the three rounds on 4 SMs.
    assert_eq!(remaining_kernel(a, 0, 11, 4, Remaining::Share).as_ns(), 2_500_000);
    assert_eq!(remaining_kernel(a, 0, 11, 4, Remaining::Rounds), ms(10));
}

#[test]
fn equation_8_decides_how_many_sms_are_needed() {
    let set = figure_1();
    let mut a = RunningApp::new(0, Class::Medium, at(42), &set.profiles[0]);
    assert!(meets(at(42), at(2), ms(40)) && !meets(at(42), at(3), ms(40)));
    let needs = |app: &RunningApp<'_>, now, late| required_sms(app, at(now), Remaining::Share, late);
    assert_eq!(needs(&a, 0, Late::Fastest), 3);
    assert_eq!(needs(&a, 12, Late::Fastest), 4);
    assert_eq!((needs(&a, 13, Late::Fastest), needs(&a, 13, Late::One)), (4, 1));
    // As when B has ended in Fig. 1.
    a.progress = running(4);
    assert_eq!(needs(&a, 20, Late::Fastest), 4);
}

#[test]
fn equation_9_is_the_last_instant_to_start() {
    let set = figure_1();
    assert_eq!(margin(at(42), &set.profiles[0]), at(12));
    assert_eq!(margin(at(20), &set.profiles[0]), at(0));
}

#[test]
fn the_urgent_queue_is_served_first_in_the_order_of_its_rule() {
    let set = figure_1();
    // Numbers 0 to 2, due at 100, 90 and 60 ms; E(A, 4) is 30 ms, so they are urgent from 70, 60 and 30 ms on.
    let order = |urgent: UrgentQueue, now: u64| {
        let rules = EvrRules { urgent, full_gpu: FullGpu::Wait, ..EvrRules::default() };
        let mut workload = WorkloadManager::new(rules);
        for (number, due, class) in [(0, 100, Class::Medium), (1, 90, Class::Low), (2, 60, Class::Low)] {
            workload.enqueue(RunningApp::new(number, class, at(due), &set.profiles[0]));
        }
        workload.enqueue(RunningApp::new(3, Class::High, at(500), &set.profiles[0]));
        // First those that are urgent at 30 ms, then those that have become so by `now`.
        workload.check_and_update_app_info(at(30));
        workload.check_and_update_app_info(at(now));
        let mut order = Vec::new();
        for _ in 0..4 {
            let mut gpu = GpuManager::new(4, rules);
            assert!(workload.submit_next(at(now), &mut gpu));
            order.push(gpu.running()[0].number);
        }
        assert!(!workload.submit_next(at(now), &mut GpuManager::new(4, rules)));
        order
    };
    assert_eq!(order(UrgentQueue::Fifo, 65), [2, 1, 3, 0]);
    assert_eq!(order(UrgentQueue::Fifo, 75), [2, 1, 0, 3]);
    assert_eq!(order(UrgentQueue::Due, 75), [2, 1, 0, 3]);
    assert_eq!(order(UrgentQueue::Class, 75), [0, 2, 1, 3]);
    assert_eq!(order(UrgentQueue::Off, 75), [3, 0, 1, 2]);
}

#[test]
fn applications_become_urgent_as_long_before_their_margin_as_the_rule_says() {
    let set = figure_1();
    // Due at 100 ms and 30 ms long on the whole GPU: T_margin is 70 ms.
    for (within, promotion) in [("0ms", 70), ("10 ms", 60), ("70 ms", 0), ("5 s", 0)] {
        let mut rules = EvrRules::default();
        rules.set("urgent-within", within).expect("it is a time");
        let mut workload = WorkloadManager::new(rules);
        workload.enqueue(RunningApp::new(0, Class::Low, at(100), &set.profiles[0]));
        assert_eq!(workload.next_promotion(), Some(at(promotion)), "{within}");
        if promotion > 0 {
            assert_eq!(workload.check_and_update_app_info(at(promotion - 1)), [0; 0]);
        }
        assert_eq!(workload.check_and_update_app_info(at(promotion)), [0]);
        assert_eq!(workload.next_promotion(), None);
    }
    let error = EvrRules::default().set("urgent-within", "soon").expect_err("that is no time");
    assert_eq!(error.to_string(), "\"soon\" is no time: expected one with a unit, such as 10ms");
}

#[test]
fn reallocation_leaves_alone_who_has_enough_and_deals_out_the_rest_in_order_of_class() {
    let set = figure_1();
    let rules = EvrRules::default();
    let mut manager = GpuManager::new(8, rules);
    let mut submit = |number, class, due: u64, allotted, progress| {
        let mut app = RunningApp::new(number, class, at(due), &set.profiles[0]);
        (app.allotted, app.progress) = (allotted, progress);
        manager.submit_app(app);
    };
    // The profiles end at four SMs: 12 blocks of 10 ms in 120, 60, 40 and 30 ms.
    submit(0, Class::Low, 200, 3, running(1));
    submit(1, Class::Low, 1_000, 2, running(1));
    submit(2, Class::High, 125, 1, running(0));
    submit(3, Class::Medium, 45, 2, running(0));
    assert!(!manager.reallocate(at(0)), "nobody has asked for it");
    manager.set_realloc_flag();
    assert!(manager.reallocate(at(0)));
    let allotted: Vec<(u32, u32)> = manager.running().iter().map(|app| (app.number, app.allotted)).collect();
    // High has enough with one. Medium lacks: it gets three of the seven left, and the low ones one each.
    assert_eq!(allotted, [(2, 1), (3, 3), (0, 1), (1, 1)]);
    assert_eq!(manager.available_sm(), 2);
}

#[test]
fn who_has_started_keeps_one_sm_unless_the_rule_says_none() {
    let set = figure_1();
    for (keep, expected) in [(Keep::One, [3, 1]), (Keep::None, [4, 0])] {
        let mut manager = GpuManager::new(4, EvrRules { keep, ..EvrRules::default() });
        for (number, class, due, allotted, progress) in
            [(0, Class::Low, 40, 4, running(4)), (1, Class::High, 30, 0, Stage::Submitted)]
        {
            let mut app = RunningApp::new(number, class, at(due), &set.profiles[0]);
            (app.allotted, app.progress) = (allotted, progress);
            manager.submit_app(app);
        }
        manager.set_realloc_flag();
        manager.reallocate(at(0));
        assert_eq!([0, 1].map(|index| manager.running()[index].allotted), expected);
    }
}

#[test]
fn every_rule_has_a_name_and_others_are_refused() {
    let mut rules = EvrRules::default();
    for (name, changed) in rules.alternatives() {
        let (key, value) = name.split_once('=').expect("it has both");
        let mut own = EvrRules::default();
        own.set(key, value).expect("it exists");
        assert_eq!(own, changed);
    }
    assert_eq!(rules.alternatives().len(), 10);
    assert!(matches!(rules.set("moon", "full"), Err(RuleError::Key { .. })));
    let error = rules.set("keep", "two").expect_err("there is no such value");
    assert_eq!(error.to_string(), "\"two\" is none of the rule's values one, none");
}

#[test]
fn sets_of_sms_count_and_take_from_below() {
    let mut set = SmSet::first(5);
    assert_eq!((set.len(), set.lowest()), (5, Some(0)));
    let two = set.lowest_of(2);
    set.remove(two);
    assert_eq!((set.len(), set.lowest(), set.lowest_of(9)), (3, Some(2), set));
    assert_eq!(SmSet::first(MAX_SMS).len(), MAX_SMS);
    assert_eq!(SmSet::EMPTY.lowest(), None);
    let device = figure_1().device;
    let enabled: Vec<u32> = (0..4).filter(|&sm| set.mask().enables_sm(sm, &device)).collect();
    assert_eq!(enabled, [2, 3]);
}
