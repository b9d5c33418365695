//! Bounds worked out by hand.

use super::super::{Overload, SegmentTaskSet, SegmentTest, TaskBound, drive_os};
use super::case_study::case_study;
use crate::time::Duration;

fn set(gpu: &str, tasks: &str) -> SegmentTaskSet {
    let text = format!(r#"{{"format": "gpusched-segments/1", "cpus": 2, "gpu": {gpu}, "tasks": [{tasks}]}}"#);
    SegmentTaskSet::from_json("hand.json", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// In the order of the set \[ns\].
fn bounds(set: &SegmentTaskSet, test: &str) -> Vec<Option<u64>> {
    let test = SegmentTest::from_name(test).expect("there is such a test");
    test.bounds(set).iter().map(|bound| bound.bound().map(Duration::as_ns)).collect()
}

const GPU: &str = r#"{"time_slice": "4 ns", "switch_cost": "1 ns", "update_cost": "2 ns"}"#;
const TWO_CORES: &str = r#"
    {"cpu": 0, "T": "100 ns", "priority": 1, "segments": [{"cpu": "3 ns"}, {"misc": "1 ns", "gpu": "5 ns"}]},
    {"cpu": 1, "T": "100 ns", "priority": 2, "segments": [{"cpu": "2 ns"}, {"misc": "2 ns", "gpu": "7 ns"}]}"#;
const ONE_CORE: &str = r#"
    {"cpu": 0, "T": "100 ns", "priority": 1, "segments": [{"cpu": "3 ns"}, {"misc": "1 ns", "gpu": "5 ns"}]},
    {"cpu": 0, "T": "100 ns", "priority": 2, "segments": [{"cpu": "2 ns"}, {"misc": "2 ns", "gpu": "7 ns"}]}"#;

#[test]
fn a_segment_of_two_slices_waits_for_two_turns_and_four_switches() {
    // 9 + 2 (4 + 1 + 1) and 11 + 2 (4 + 1 + 1); as printed without the two switches to its own context.
    let set = set(GPU, TWO_CORES);
    assert_eq!(bounds(&set, "round-robin-suspend"), [Some(21), Some(23)]);
    assert_eq!(bounds(&set, "round-robin-busy"), [Some(21), Some(23)]);
    assert_eq!(bounds(&set, "round-robin-suspend-as-printed"), [Some(19), Some(21)]);
}

#[test]
fn on_one_core_a_busy_task_keeps_the_other_from_the_gpu_but_for_switches() {
    // The second: 11 + 2 * 1 of its own, 9 + 2 * 1 of the first. Suspended: 23 and the first's 3 + 1 on the CPU.
    let set = set(GPU, ONE_CORE);
    assert_eq!(bounds(&set, "round-robin-busy"), [Some(21), Some(24)]);
    assert_eq!(bounds(&set, "round-robin-suspend"), [Some(21), Some(27)]);
}

#[test]
fn an_update_takes_no_less_than_the_switch_that_is_in_it() {
    let cheap = r#"{"time_slice": "4 ns", "switch_cost": "2 ns", "update_cost": "1 ns"}"#;
    for test in ["gcaps-suspend", "gcaps-busy", "gcaps-suspend-as-printed"] {
        assert_eq!(bounds(&set(cheap, TWO_CORES), test), bounds(&set(GPU, TWO_CORES), test), "{test}");
    }
}

#[test]
fn a_driver_call_may_wait_for_one_of_a_less_urgent_task_each_time() {
    // 9 + 2 calls of 2, each behind another. The second: 11 + 2 * 2, and 1 + 5 + 4 * 2 of the first.
    assert_eq!(bounds(&set(GPU, TWO_CORES), "gcaps-suspend"), [Some(17), Some(29)]);
    // As printed 9 + 4 + 2 * 2; 11 + 4 + 2 * 2 + 5 + 4.
    assert_eq!(bounds(&set(GPU, TWO_CORES), "gcaps-suspend-as-printed"), [Some(17), Some(28)]);
    // On one core the less urgent task's calls also delay the first when it is released, and after it was suspended.
    assert_eq!(bounds(&set(GPU, ONE_CORE), "gcaps-suspend"), [Some(21), Some(32)]);
    assert_eq!(bounds(&set(GPU, ONE_CORE), "gcaps-busy"), [Some(19), Some(32)]);
}

#[test]
fn a_lock_is_held_for_a_segment_and_the_switch_before_it() {
    // The first: 9 + 1, and 2 + 7 + 1 of the second. The second: 11 + 1, and 1 + 5 + 1 of the first.
    let set = set(GPU, TWO_CORES);
    for test in ["mpcp-suspend", "mpcp-busy", "fmlp-plus-suspend", "fmlp-plus-busy"] {
        assert_eq!(bounds(&set, test), [Some(20), Some(19)], "{test}");
    }
}

#[test]
fn whoever_holds_the_lock_is_above_all_others_on_its_core() {
    // The first: 10 + 10, and the second's 2 on the CPU before and after its GPU segment; busy, its 10.
    let set = set(GPU, ONE_CORE);
    assert_eq!(bounds(&set, "mpcp-suspend")[0], Some(24));
    assert_eq!(bounds(&set, "mpcp-busy")[0], Some(40));
}

#[test]
fn a_context_alone_never_changes() {
    let alone = set(GPU, TWO_CORES.split("},\n").next().map(|task| format!("{task}}}")).expect("one task").as_str());
    for test in ["round-robin-suspend", "round-robin-busy", "mpcp-suspend", "fmlp-plus-busy"] {
        assert_eq!(bounds(&alone, test), [Some(9)], "{test}");
    }
    assert_eq!(bounds(&alone, "gcaps-busy"), [Some(13)]);
}

#[test]
fn below_a_task_without_a_bound_nothing_is_known() {
    let set = set(GPU, &ONE_CORE.replacen("\"T\": \"100 ns\"", "\"T\": \"20 ns\"", 1));
    let test = SegmentTest::from_name("round-robin-suspend").expect("there is such a test");
    assert_eq!(test.bounds(&set), [TaskBound::Exceeds, TaskBound::DependsOn(0)]);
}

#[test]
fn an_overloaded_task_leaves_others_that_it_cannot_reach_their_bounds() {
    // 11 of every 10 on core 0; core 1 and the GPU are not asked for too much.
    let tasks = r#"
        {"name": "overloaded", "cpu": 0, "T": "10 ns", "priority": 1, "segments": [{"cpu": "11 ns"}]},
        {"name": "below", "cpu": 0, "T": "100 ns", "priority": 2, "segments": [{"cpu": "1 ns"}]},
        {"name": "alone", "cpu": 1, "T": "10 ns", "priority": 3, "segments": [{"cpu": "1 ns"}]},
        {"name": "gpu", "cpu": 1, "T": "100 ns", "priority": 4, "segments": [{"cpu": "3 ns"}, {"misc": "1 ns", "gpu": "5 ns"}]}"#;
    let set = set(GPU, tasks);
    for test in SegmentTest::sound() {
        let found = test.bounds(&set);
        assert_eq!(found[0], TaskBound::Exceeds, "{}", test.name());
        // Some tests count what is above as a whole, others by its bound, of which there is none.
        assert!([TaskBound::Exceeds, TaskBound::DependsOn(0)].contains(&found[1]), "{}: {:?}", test.name(), found[1]);
        // 1, and what the task below it may not be interrupted in.
        let alone = found[2].bound().map(Duration::as_ns);
        assert!(alone.is_some_and(|bound| bound <= 10), "{}: {alone:?}", test.name());
        // 9, and up to two jobs of the task above it: 4 and 5 on either side of 10.
        assert!(found[3].bound().is_some(), "{}", test.name());
        let overload = Overload::of(&set, test.policy(), test.waiting(), &found);
        assert_eq!(overload.tasks.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false]);
    }
}

#[test]
fn what_no_policy_gives_is_missed_and_bounds_beyond_deadlines_are_known() {
    let core = |first: &str, second: &str| {
        let tasks = format!(
            r#"{{"cpu": 0, "T": "10 ns", "priority": 1, "segments": [{first}]}},
               {{"cpu": 0, "T": "20 ns", "D": "12 ns", "priority": 2, "segments": [{second}]}},
               {{"cpu": 1, "T": "100 ns", "priority": 3, "segments": [{{"misc": "1 ns", "gpu": "5 ns"}}]}}"#
        );
        set(GPU, &tasks)
    };
    let test = SegmentTest::from_name("mpcp-suspend").expect("there is such a test");
    let known = |set: &SegmentTaskSet| {
        (test.late_bounds(set)[1], Overload::of(set, test.policy(), test.waiting(), &test.bounds(set)))
    };
    let ns = |ns| Some(Duration::from_ns(ns));
    // 6 of 10 and 6 of 20: 6 + 2 * 6 = 18, beyond 12 and within 20.
    let (late, overload) = known(&core(r#"{"cpu": "6 ns"}"#, r#"{"cpu": "6 ns"}"#));
    assert_eq!((late, overload.is_certain()), (ns(18), false));
    // 6 of 10 and 9 of 20 are more than the core has; the first gets what it asks for.
    let (late, overload) = known(&core(r#"{"cpu": "6 ns"}"#, r#"{"cpu": "9 ns"}"#));
    assert_eq!((late, overload.tasks[0], overload.tasks[1].is_some()), (None, None, true));
    // 13 in all are more than 12.
    let (_, overload) = known(&core(r#"{"cpu": "1 ns"}"#, r#"{"cpu": "5 ns"}, {"gpu": "8 ns"}"#));
    assert_eq!(overload.tasks, [None, Some("C + G exceeds the deadline"), None]);
}

#[test]
fn without_a_lock_the_gpu_works_for_whoever_has_lost_its_core() {
    let missed = |test: &str, first: &str, second: &str| {
        let tasks = format!(
            r#"{{"cpu": 0, "T": "8 ns", "priority": 1, "segments": [{first}]}},
               {{"cpu": 0, "T": "10 ns", "priority": 2, "segments": [{second}]}}"#
        );
        let (set, test) = (set(GPU, &tasks), SegmentTest::from_name(test).expect("there is such a test"));
        Overload::of(&set, test.policy(), test.waiting(), &test.bounds(&set)).is_certain()
    };
    let (cpu, gpu) = (r#"{"cpu": "5 ns"}"#, r#"{"gpu": "5 ns"}"#);
    for (test, has_lock) in
        [("round-robin-busy", false), ("gcaps-busy", false), ("mpcp-busy", true), ("fmlp-plus-busy", true)]
    {
        // 5 of 8 and 5 of 10, if the second keeps its core while the GPU works for it.
        assert_eq!(missed(test, cpu, gpu), has_lock, "{test}");
        // Nobody takes the core from the first.
        assert!(missed(test, gpu, cpu), "{test}");
    }
}

#[test]
fn slack_is_no_more_than_all_segments_grow_together() {
    // In turns of 101 ns a GPU segment beyond 101 ns needs a second one. 1 ns is 1/100 of the first's, and of the whole
    // 110 ns no more than 1.1; rounded up by itself each of the ten short segments would be 1 ns longer, too.
    let short = r#"{"cpu": "1 ns"}, {"misc": "0 ns", "gpu": "100 ns"}"#.to_owned() + &r#", {"cpu": "1 ns"}"#.repeat(9);
    let tasks = format!(
        r#"{{"cpu": 0, "T": "10 us", "D": "230 ns", "priority": 1, "segments": [{short}]}},
           {{"cpu": 1, "T": "10 us", "priority": 2, "segments": [{{"gpu": "500 ns"}}]}}"#
    );
    let set = set(r#"{"time_slice": "101 ns"}"#, &tasks);
    let test = SegmentTest::from_name("round-robin-suspend").expect("there is such a test");
    assert_eq!(test.slack(&set)[0], Some(Duration::from_ns(1)));
}

#[test]
fn best_effort_is_promised_nothing_and_counts_for_others() {
    let set = set(GPU, &TWO_CORES.replacen("\"priority\": 2", "\"best_effort\": true", 1));
    assert_eq!(bounds(&set, "round-robin-suspend"), [Some(21), None]);
}

#[test]
fn drive_os_counts_slices_of_high_contexts_and_the_longest_low_one() {
    assert_eq!(drive_os::latency(&case_study()), None);
    let gpu = GPU.replacen('}', ", \"channel_reset\": \"50 ns\"}", 1);
    let high = TWO_CORES.replace("\"cpu\": 0", "\"level\": \"high\", \"cpu\": 0");
    // (1 - 1) 4 + 7 + 50; and with three high-level contexts (3 - 1) 4 + 50.
    assert_eq!(drive_os::latency(&set(&gpu, &high)).map(Duration::as_ns), Some(57));
    let mixed = set(&gpu, &high);
    let test = SegmentTest::from_name("round-robin-busy").expect("there is such a test");
    assert!(test.bounds(&mixed).iter().all(|bound| matches!(bound, TaskBound::NotApplicable(_))));
    let mut all_high = mixed;
    let third = all_high.tasks[0].clone();
    all_high.tasks.push(third);
    all_high.tasks[1].has_high_level = true;
    assert_eq!(drive_os::latency(&all_high).map(Duration::as_ns), Some(58));
}
