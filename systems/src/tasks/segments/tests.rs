//! Against the published case study, by hand, and on what the reader refuses.

use super::gcaps::search;
use super::{GpuWait, Overload, SegmentGenerator, SegmentTaskSet, SegmentTest, TaskBound, drive_os_latency, gcaps};
use crate::time::Duration;

fn case_study() -> SegmentTaskSet {
    let text = include_str!("../../../../witnesses/ecrts2024/case-study.json");
    SegmentTaskSet::from_json("case-study.json", text).expect("it is committed")
}

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
    assert_eq!(drive_os_latency(&case_study()), None);
    let gpu = GPU.replacen('}', ", \"channel_reset\": \"50 ns\"}", 1);
    let high = TWO_CORES.replace("\"cpu\": 0", "\"level\": \"high\", \"cpu\": 0");
    // (1 - 1) 4 + 7 + 50; and with three high-level contexts (3 - 1) 4 + 50.
    assert_eq!(drive_os_latency(&set(&gpu, &high)).map(Duration::as_ns), Some(57));
    let mixed = set(&gpu, &high);
    let test = SegmentTest::from_name("round-robin-busy").expect("there is such a test");
    assert!(test.bounds(&mixed).iter().all(|bound| matches!(bound, TaskBound::NotApplicable(_))));
    let mut all_high = mixed;
    let third = all_high.tasks[0].clone();
    all_high.tasks.push(third);
    all_high.tasks[1].has_high_level = true;
    assert_eq!(drive_os_latency(&all_high).map(Duration::as_ns), Some(58));
}

/// Whether some order of the tasks passes, of which those in `done` are the least urgent; responses are taken to be as
/// long as deadlines.
fn some_order_passes(set: &SegmentTaskSet, waiting: GpuWait, left: &[usize]) -> bool {
    let deadlines: Vec<_> = set.tasks.iter().map(|task| Some(task.deadline)).collect();
    left.is_empty()
        || (0..left.len()).any(|place| {
            let task = left[place];
            if left[place + 1..].iter().any(|&other| set.on_one_core(task, other)) {
                return false;
            }
            let mut others = left.to_vec();
            others.remove(place);
            let mut trial = set.clone();
            for (rank, &other) in others.iter().chain([&task]).enumerate() {
                trial.tasks[other].priority = Some(rank as u64);
            }
            gcaps::response_as_printed(&trial, waiting, task, &deadlines).is_some()
                && some_order_passes(&trial, waiting, &others)
        })
}

#[test]
fn audsleys_search_with_deadlines_for_responses_finds_an_order_if_there_is_one() {
    let mut generator = SegmentGenerator::ecrts_2024();
    (generator.cpus, generator.tasks_per_cpu) = (3, 1..=2);
    generator.utilization_permille = 300..=700;
    let (mut found, mut none) = (0, 0);
    for sample in 0..300 {
        // Below whatever is lower, nothing counts but that it is lower.
        let mut set = generator.sample(0, sample);
        for (rank, task) in set.by_urgency().into_iter().enumerate() {
            set.tasks[task].priority = Some(rank as u64);
        }
        for waiting in [GpuWait::Suspend, GpuWait::Busy] {
            let one = search(&set, &|set, task, known| gcaps::response_as_printed(set, waiting, task, known));
            assert_eq!(one.is_some(), some_order_passes(&set, waiting, &set.by_urgency()), "sample {sample}");
            if one.is_some() {
                found += 1;
            } else {
                none += 1;
            }
        }
    }
    assert!(found > 100 && none > 100, "{found} found, {none} not");
}

const GOOD: &str = r#"{"format": "gpusched-segments/1", "cpus": 2,
 "gpu": {"time_slice": "4 ns", "switch_cost": "1 ns", "update_cost": "2 ns"},
 "tasks": [
  {"name": "a", "cpu": 0, "T": "20 ns", "D": "15 ns", "priority": 1,
   "segments": [{"cpu": "3 ns"}, {"misc": "1 ns", "gpu": "5 ns"}]},
  {"name": "b", "cpu": 1, "T": "30 ns", "priority": 2, "segments": [{"cpu": "2 ns"}]}]}"#;

#[test]
fn bad_sets_are_refused_with_their_place() {
    SegmentTaskSet::from_json("good.json", GOOD).expect("it is good");
    for (from, to, expected) in [
        ("segments/1", "segments/2", "format: expected \"gpusched-segments/1\", found \"gpusched-segments/2\""),
        ("\"cpus\": 2", "\"cpus\": 0", "cpus: expected a whole number from 1 to 1024, found 0"),
        ("\"4 ns\"", "\"0 ns\"", "gpu.time_slice: expected a time above 0"),
        ("\"1 ns\", \"update", "\"5 ns\", \"update", "gpu.switch_cost: expected at most the time slice, 4 ns"),
        ("\"1 ns\", \"update", "\"-1 ns\", \"update", "gpu.switch_cost"),
        ("\"cpu\": 1", "\"cpu\": 1, \"offset\": \"-1 ns\"", "tasks[1].offset"),
        ("\"cpu\": 1", "\"cpu\": 1, \"sporadic\": 1", "tasks[1].sporadic: expected true or false"),
        ("\"cpu\": 1", "\"cpu\": 2", "tasks[1].cpu: expected a whole number from 0 to 1, found 2"),
        ("\"15 ns\"", "\"21 ns\"", "tasks[0].D: expected at most the period, 20 ns, found \"21 ns\""),
        ("\"20 ns\"", "\"0 ns\"", "tasks[0].T: expected a time above 0"),
        ("\"20 ns\"", "\"400 h\"", "tasks[0].T"),
        ("\"20 ns\"", "\"400000 s\"", "tasks[0].T: expected at most 2^48 ns, about 78 hours"),
        ("\"20 ns\"", "20", "tasks[0].T: expected a time as a string"),
        ("\"priority\": 2", "\"priority\": 1", "tasks[1]: the task \"a\" has the priority 1 too"),
        ("\"priority\": 2,", "", "tasks[1]: the key \"priority\" is missing"),
        ("\"priority\": 2", "\"priority\": 2, \"best_effort\": true", "tasks[1].priority: a task of best effort"),
        ("\"name\": \"b\"", "\"name\": \"a\"", "tasks[1]: two tasks are called \"a\""),
        (", \"gpu\": \"5 ns\"", "", "tasks[0].segments[1]: expected a segment of the CPU"),
        ("\"misc\": \"1 ns\", \"gpu\": \"5 ns\"", "\"cpu\": \"1 ns\"", "tasks: no task has a GPU segment"),
        ("\"gpu\": \"5 ns\"", "\"gpu\": \"0 ns\"", "tasks[0].segments[1].gpu: expected a time above 0"),
        ("[{\"cpu\": \"2 ns\"}]", "[{\"cpu\": \"0 ns\"}]", "tasks[1]: the task does nothing"),
        ("[{\"cpu\": \"2 ns\"}]", "[]", "tasks[1].segments: expected at least one entry"),
        ("\"priority\": 2", "\"priority\": 2, \"level\": \"urgent\"", "tasks[1].level: expected \"high\" or \"low\""),
        ("\"priority\": 2", "\"priority\": 2, \"C\": 3", "unknown key \"C\""),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{to} changes nothing");
        let error = SegmentTaskSet::from_json("bad.json", &text).expect_err(to).to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn a_file_of_another_kind_is_told_apart_by_its_format() {
    assert!(SegmentTaskSet::is_claimed_by(GOOD));
    assert!(SegmentTaskSet::is_claimed_by(&GOOD.replace("segments/1", "segments/9")));
    assert!(!SegmentTaskSet::is_claimed_by("{\"sms\": 2, \"tasks\": []}"));
    assert!(!SegmentTaskSet::is_claimed_by("no JSON"));
}
