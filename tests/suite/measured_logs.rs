//! `audit` and `replay-log` on logs written by hand (tests/data/logs), sound ones and ones that break a rule.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, document, gpusched};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs");

/// A copy of the sound logs in a directory of the test's own, with changes: file, what, by what.
fn changed(test: &str, changes: &[(&str, &str, &str)]) -> PathBuf {
    let directory = common::directory(&format!("logs-{test}"));
    for name in ["scenario.json", "one.json", "two.json"] {
        let mut text = fs::read_to_string(format!("{FOLDER}/two-streams/{name}")).expect("it is there");
        for (_, what, by) in changes.iter().filter(|(file, ..)| *file == name) {
            assert!(text.contains(what), "{name} has no {what}");
            text = text.replace(what, by);
        }
        fs::write(directory.join(name), text).expect("it can be written");
    }
    directory
}

/// Rule, kernel and amount of everything that the audit finds.
fn findings(directory: &Path, options: &[&str]) -> Vec<(String, String, u64)> {
    let folder = directory.display().to_string();
    let output = gpusched(&[&["audit", &folder, "--format", "json"], options].concat());
    let document = document(&output);
    let violations = document["violations"].as_array().expect("a list").clone();
    assert_eq!(output.status.code(), Some(i32::from(!violations.is_empty())));
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    violations
        .iter()
        .map(|found| (text(&found["rule"]), text(&found["kernel"]), found["by"].as_u64().expect("a number")))
        .collect()
}

fn found(rule: &str, kernel: &str, by: u64) -> (String, String, u64) {
    (rule.to_owned(), kernel.to_owned(), by)
}

#[test]
fn sound_logs_pass_with_and_without_their_scenario() {
    let folder = PathBuf::from(format!("{FOLDER}/two-streams"));
    assert_eq!(findings(&folder, &[]), []);
    assert_eq!(findings(&folder, &["--logs-alone"]), []);
    // K3 started 4 us after K2 had ended.
    assert_eq!(findings(&folder, &["--clock-tolerance-us", "3.9"]), [found("work conservation", "K3", 4_000)]);
}

#[test]
fn a_block_on_an_sm_that_does_not_exist_is_found() {
    let folder = changed("sm", &[("two.json", "\"block_smids\": [0,1]", "\"block_smids\": [0,2]")]);
    assert_eq!(findings(&folder, &[]), [found("SM", "K2", 1)]);
    let folder = changed("sms", &[("two.json", "\"block_smids\": [0,1]", "\"block_smids\": [2,2]")]);
    let found_there = findings(&folder, &[]);
    assert_eq!(found_there.iter().filter(|one| **one == found("SM", "K2", 1)).count(), 2, "{found_there:?}");
}

#[test]
fn an_overfull_sm_is_found_once_for_each_resource() {
    // Two blocks of 1024 and one of 512 threads on each SM, for a second.
    let early = ("two.json", "6.000064000,6.500069000,6.000064000,6.500070000", "5.500064,6.000069,5.500064,6.000070");
    let folder = changed("threads", &[early]);
    let found_there = findings(&folder, &[]);
    assert!(found_there.contains(&found("R2", "K2", 512)), "{found_there:?}");
    assert_eq!(found_there.iter().filter(|(rule, ..)| rule == "R2").count(), 2, "one for each SM");
}

#[test]
fn a_kernel_that_overtakes_its_predecessor_in_its_stream_is_found() {
    let folder = changed("stream", &[("two.json", "6.500074000,6.750077000", "6.300000000,6.550003000")]);
    assert_eq!(findings(&folder, &[]), [found("G4", "K3", 200_070_000)]);
}

#[test]
fn a_wait_without_a_reason_is_found_unless_a_copy_may_be_the_reason() {
    let late = ("two.json", "6.000064000,6.500069000,6.000064000,6.500070000", "6.4,6.500069000,6.4,6.500070000");
    let folder = changed("late", &[late]);
    // K2 is ready when K1 has ended; only the scenario tells of the copy in front of it.
    let alone = findings(&folder, &["--logs-alone"]);
    assert_eq!(alone, [found("work conservation", "K2", 399_938_000)]);
    assert_eq!(findings(&folder, &[]), []);
}

#[test]
fn a_kernel_that_the_host_saw_complete_too_early_tells_of_clocks_apart() {
    let folder = changed("clocks", &[("one.json", "6.000079000]", "5.999000000]")]);
    assert_eq!(findings(&folder, &[]), [found("clocks", "One", 1_063_000)]);
    assert_eq!(findings(&folder, &["--tolerance-us", "1100"]), []);
}

#[test]
fn the_null_stream_orders_kernels_across_logs() {
    let null = ("one.json", "\"Timer Spin\"", "\"Timer Spin (default stream)\"");
    let room = ("one.json", "\"thread_count\": 1024", "\"thread_count\": 512");
    let early = ("two.json", "6.000064000,6.500069000,6.000064000,6.500070000", "5.500064,6.000069,5.500064,6.000070");
    let next = ("two.json", "6.500074000,6.750077000", "6.000074000,6.250077000");
    let folder = changed("null", &[null, room, early, next]);
    assert_eq!(findings(&folder, &["--logs-alone"]), [found("N2", "K2", 499_999_000)]);
}

/// The second log is of another process, which fills the rest of the SMs, and more, while blocks of the first are
/// there.
const OTHER_PROCESS: [(&str, &str, &str); 2] = [
    ("two.json", "\"PID\": 100", "\"PID\": 200"),
    ("two.json", "6.000064000,6.500069000,6.000064000,6.500070000", "5.500064,6.000069,5.500064,6.000070"),
];

#[test]
fn turns_explain_that_blocks_of_two_processes_are_on_the_sms_together() {
    let next = ("two.json", "6.500074000,6.750077000", "6.000074000,6.250077000");
    let folder = changed("processes", &[&OTHER_PROCESS[..], &[next]].concat());
    assert_eq!(findings(&folder, &[]), []);
    assert_eq!(findings(&folder, &["--logs-alone"]), []);
    // Of one process they are too many.
    let folder = changed("one-process", &[OTHER_PROCESS[1], next]);
    assert_eq!(findings(&folder, &[]), [found("R2", "K2", 512), found("R2", "K2", 512)]);
}

#[test]
fn only_logs_of_several_processes_are_said_to_be_of_several() {
    for (folder, are_several) in
        [(changed("no-processes", &[]), false), (changed("two-processes", &OTHER_PROCESS), true)]
    {
        let output = gpusched(&["audit", &folder.display().to_string(), "--format", "json"]);
        assert_eq!(document(&output)["notes"].to_string().contains("in several processes"), are_several);
    }
}

#[test]
fn the_null_stream_of_one_process_orders_nothing_of_another() {
    let null = ("one.json", "\"Timer Spin\"", "\"Timer Spin (default stream)\"");
    let next = ("two.json", "6.500074000,6.750077000", "6.000074000,6.250077000");
    let folder = changed("null-of-another", &[&OTHER_PROCESS[..], &[null, next]].concat());
    assert_eq!(findings(&folder, &["--logs-alone"]), []);
}

#[test]
fn a_wait_while_no_other_process_has_work_is_found() {
    let folder = changed("alone", &OTHER_PROCESS);
    // By hand: K3 is ready at 6.000070 s, and the other process's last block, which ended at 6.000063 s, explains
    // nothing more 1.2 ms later: the clocks of the two may be apart by twice the tolerance, and a switch takes 0.2 ms
    // on a TX2. K3 started at 6.500074 s.
    assert_eq!(findings(&folder, &[]), [found("work conservation", "K3", 498_811_000)]);
    // Nor does what the other process does 0.25 s later.
    let once = r#"{"kernel_name": "GPUSpin", "block_count": 4"#;
    let later = format!(
        r#"{{"kernel_name": "Later", "block_count": 1, "thread_count": 32, "shared_memory": 0,
        "cuda_launch_times": [7.0, 7.00004, 7.2], "block_times": [7.000042, 7.1], "block_smids": [0], "cpu_core": 0}},
        {once}"#
    );
    let folder = changed("alone-until", &[&OTHER_PROCESS[..], &[("one.json", once, &later)]].concat());
    assert_eq!(findings(&folder, &["--logs-alone"]), [found("work conservation", "K3", 498_811_000)]);
}

#[test]
fn what_breaks_a_rule_inside_one_of_several_processes_is_found() {
    let next = ("two.json", "6.500074000,6.750077000", "5.800000000,6.050003000");
    let folder = changed("inside", &[&OTHER_PROCESS[..], &[next]].concat());
    assert_eq!(findings(&folder, &[]), [found("G4", "K3", 200_070_000)]);
}

#[test]
fn a_replay_counts_from_the_first_launch_on_both_sides() {
    let output = gpusched(&["replay-log", &format!("{FOLDER}/two-streams"), "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let document = document(&output);
    // By hand: the first launch call returned at 5.000050 s; blocks of 1.010 ms more than one second fill both SMs, so
    // K2, whose copy took 10 ms of the second before, follows them, and K3 follows K2.
    let kernel = |name: &str, measured: i64, simulated: i64| {
        let kernels = document["kernels"].as_array().expect("a list");
        let entry = kernels.iter().find(|kernel| kernel["name"] == name).expect("it is there");
        assert_eq!(entry["measured_finish_ns"], measured, "{name}");
        assert_eq!(entry["simulated_finish_ns"], simulated, "{name}");
        assert_eq!(entry["difference_ns"], measured - simulated, "{name}");
    };
    kernel("One", 1_000_013_000, 1_000_010_000);
    kernel("K2", 1_500_020_000, 1_500_016_000);
    kernel("K3", 1_750_027_000, 1_750_019_000);
    assert_eq!(
        (&document["blocks"], &document["sm_decidable"], &document["sm_equal"]),
        (&7.into(), &4.into(), &4.into())
    );
    assert_eq!((&document["median_start_error_ns"], &document["max_start_error_ns"]), (&3_000.into(), &8_000.into()));
}

#[test]
fn blocks_of_different_length_are_replayed_with_their_own_times() {
    // The second block of each SM runs half a second longer, so one block of K2 has to wait for it.
    let long = ("one.json", "5.000053000,6.000063000,5.000053000,6.000063000", "5.000053,6.000063,5.000053,6.500063");
    let later = ("one.json", "6.000079000]", "6.500079000]");
    let folder = changed("lengths", &[long, later]).display().to_string();
    let document = document(&gpusched(&["replay-log", &folder, "--logs-alone", "--format", "json"]));
    assert_eq!(document["kernels"][0]["simulated_finish_ns"], 1_500_010_000);
}

#[test]
fn defects_are_reported_and_what_is_sound_is_audited() {
    let output = gpusched(&["audit", &format!("{FOLDER}/broken"), "--format", "json"]);
    let document = document(&output);
    assert_eq!(document["checked"]["kernels"], 5);
    assert_eq!(document["dropped"].as_array().map(Vec::len), Some(8));
    assert!(document["notes"].to_string().contains("work conservation was not checked"));
}

#[test]
fn what_is_no_log_ends_with_exit_status_2_and_a_place() {
    let directory = changed("no-log", &[("one.json", "{\n\"scenario_name\"", "oops\n\"scenario_name\"")]);
    let file = directory.join("one.json").display().to_string();
    let output = gpusched(&["audit", &file]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("one.json: not valid JSON at line 1, column 1"), "{text}");
    for arguments in
        [vec!["audit", "no/such/log.json"], vec!["replay-log", FOLDER], vec!["audit", &file, "--device", "x"]]
    {
        assert_eq!(gpusched(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn logs_of_several_runs_are_replayed_one_at_a_time() {
    let folders = [format!("{FOLDER}/two-streams"), format!("{FOLDER}/broken")];
    let output = gpusched(&["replay-log", &folders[0], &folders[1]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("one at a time"));
    assert_eq!(document(&gpusched(&["audit", &folders[0], &folders[1], "--format", "json"]))["checked"]["kernels"], 8);
}

/// The sound logs, with a scenario that does not say how long the first benchmark's blocks run, nor when it ends: that
/// is in its log.
#[test]
fn block_times_that_a_scenario_lacks_are_taken_from_its_logs() {
    let unknown = ("scenario.json", "timer_spin.so", "own_work.so");
    let no_info = ("scenario.json", ", \"additional_info\": 1000000000", "");
    let endless = ("scenario.json", "\"max_iterations\": 1", "\"max_iterations\": 0");
    let folder = changed("durations", &[unknown, no_info, endless]);
    assert_eq!(findings(&folder, &[]), []);
    let replay = |folder: &str| {
        let output = gpusched(&["replay-log", folder, "--format", "json"]);
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(notes.contains("streams, copies and host programs are those of"), "{notes}");
        document(&output)["kernels"].clone()
    };
    assert_eq!(replay(&folder.display().to_string()), replay(&format!("{FOLDER}/two-streams")));
    // With its log gone, nothing says how long its blocks run.
    fs::remove_file(folder.join("one.json")).expect("it is there");
    let output = gpusched(&["audit", &folder.display().to_string()]);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("is not used") && notes.contains("has no log") && !notes.contains("--block"), "{notes}");
}
