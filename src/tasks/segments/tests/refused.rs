//! What the reader refuses, with its place.

use super::super::SegmentTaskSet;

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
