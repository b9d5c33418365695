//! Profiles simulated again: how kernels are told that overlap others, and what a what-if changes.

use std::fs;

use serde_json::Value;

use super::common::{directory, gpusched, gpusched_with, json, stdout};

/// A kernel of a profile: name, stream, start and duration in microseconds, blocks of 1024 threads.
type Kernel<'a> = (&'a str, u32, u32, u32, u32);

/// A profile of an A100, which takes 216 such blocks at once.
fn profile(folder: &str, kernels: &[Kernel<'_>]) -> String {
    let event = |&(name, stream, start, duration, blocks): &Kernel<'_>| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": {duration},
            "args": {{"device": 0, "context": 1, "stream": {stream}, "correlation": {start}{stream}, "shared memory": 0,
            "registers per thread": 32, "grid": [{blocks}, 1, 1], "block": [1024, 1, 1]}}}}"#
        )
    };
    let events: Vec<String> = kernels.iter().map(event).collect();
    let text = format!(
        r#"{{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}}],
        "traceEvents": [{}]}}"#,
        events.join(", ")
    );
    let file = directory(folder).join("profile.json");
    fs::write(&file, text).expect("it can be written");
    file.display().to_string()
}

/// Rounds of kernels, one after another: in each, kernels with their starts counted from its own.
fn rounds(count: u32, length: u32, kernels: &[Kernel<'static>]) -> Vec<Kernel<'static>> {
    let of_round = |round: u32| {
        let shifted = move |&(name, stream, start, duration, blocks): &Kernel<'static>| {
            (name, stream, 1_000 + round * length + start, duration, blocks)
        };
        kernels.iter().map(shifted)
    };
    (0..count).flat_map(of_round).collect()
}

fn first_line(file: &str, more: &[&str]) -> String {
    let arguments = [&["replay-log", file, "--launches", "recorded"], more].concat();
    stdout(&gpusched(&arguments)).lines().next().expect("a line").to_owned()
}

fn errors_of<'v>(report: &'v Value, times: &str) -> &'v Value {
    let all = report["held_out"]["errors"].as_array().expect("a list");
    all.iter().find(|errors| errors["kernel_times"] == times).expect("each way is there")
}

/// Two kernels of one block each slow each other down although there is room for both on the SMs.
fn slowed_by_no_sm() -> Vec<Kernel<'static>> {
    let round = [("f", 7, 0, 10, 1), ("g", 8, 30, 10, 1), ("f", 7, 50, 20, 1), ("g", 8, 55, 20, 1)];
    rounds(8, 100, &round)
}

/// `long` takes one wave and a half, so that `late`, of 200 blocks, has its first half beside the half wave and the
/// rest behind it: 20 us, not 10. Beside `small`, of one block, there is room for it.
fn slowed_by_sms() -> Vec<Kernel<'static>> {
    let together =
        [("long", 7, 0, 20, 324), ("late", 8, 10, 20, 200), ("small", 7, 40, 10, 1), ("late", 8, 40, 10, 200)];
    let alone = [("long", 7, 60, 20, 324), ("late", 8, 85, 10, 200), ("small", 7, 100, 10, 1)];
    rounds(8, 120, &[&together[..], &alone[..]].concat())
}

#[test]
fn a_median_tells_kernels_that_something_else_than_sms_slows_down() {
    let file = profile("replay-median", &slowed_by_no_sm());
    let report = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
    assert_eq!(
        (&report["held_out"]["chosen"], &report["kernel_times"]),
        (&"overlapped-median".into(), &"overlapped-median".into())
    );
    // Of 16 overlapped kernels the second half.
    assert_eq!((&report["held_out"]["kernels"], &report["held_out"]["recorded_ns"]), (&8.into(), &160_000.into()));
    assert_eq!(report["held_out"]["slow_down"], 2.0);
    assert_eq!(errors_of(&report, "sharing")["duration_error_ns"], 80_000, "each takes 10 us on SMs that are free");
    assert_eq!(errors_of(&report, "overlapped-median")["duration_error_ns"], 0);
    assert_eq!(errors_of(&report, "alone-median")["duration_error_ns"], 80_000);
    assert_eq!(report["overlapped"]["p95_duration_error_ns"], 0, "and so they are replayed");
    assert_eq!(report["overlapped"]["p95_start_error_ns"], 0);
    let said = first_line(&file, &[]);
    assert!(said.starts_with("sharing of SMs explains nothing here"), "{said}");
    let asked = first_line(&file, &["--kernel-times", "sharing"]);
    assert!(asked.contains("as asked, sharing of SMs") && asked.contains("closer in durations"), "{asked}");
}

#[test]
fn sharing_tells_kernels_that_wait_for_room_on_sms() {
    let file = profile("replay-sharing", &slowed_by_sms());
    let report = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
    assert_eq!(report["held_out"]["chosen"], "sharing");
    // In each of the last four rounds all four overlapped kernels as recorded: 20, 20, 10 and 10 us.
    assert_eq!((&report["held_out"]["kernels"], &report["held_out"]["recorded_ns"]), (&16.into(), &240_000.into()));
    assert_eq!(errors_of(&report, "sharing")["duration_error_ns"], 0);
    assert_eq!(
        errors_of(&report, "sharing")["slow_down_correlation"].as_f64().map(|value| (value * 1e6).round()),
        Some(1e6)
    );
    // Of `late`, 10 and 20 us overlapped, the upper median is right once a round.
    assert_eq!(errors_of(&report, "overlapped-median")["duration_error_ns"], 40_000);
    assert_eq!(report["overlapped"]["p95_duration_error_ns"], 0);
    let said = first_line(&file, &[]);
    assert!(said.starts_with("sharing of SMs tells durations of overlapped kernels better"), "{said}");
}

#[test]
fn by_a_median_kernels_wait_for_room_and_then_take_their_time_whatever_runs_beside_them() {
    // 5 waves of 20 us fill all SMs; the last of them begins at 80 us, fills half of them and lets `short` in.
    let round =
        [("long", 7, 0, 100, 972), ("short", 8, 80, 30, 108), ("long", 7, 200, 100, 972), ("short", 8, 400, 20, 108)];
    let mut kernels = rounds(8, 500, &round);
    // Launched when `long` is: only its room made it wait.
    let file = profile("replay-room", &kernels);
    let replayed = |file: &str, times: &str| {
        let arguments = ["replay-log", file, "--launches", "recorded", "--kernel-times", times, "--format", "json"];
        json(&arguments)["kernels"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|kernel| {
                ["simulated_start_ns", "simulated_duration_ns"].map(|key| kernel[key].as_u64().expect("a number"))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(replayed(&file, "overlapped-median")[..2], [[0, 100_000], [80_000, 30_000]]);
    // What is submitted 70 us earlier waits until the last wave lets it in, and takes 30 us as ever.
    for kernel in &mut kernels {
        if kernel.0 == "short" && kernel.2 % 500 == 80 {
            kernel.2 -= 70;
        }
    }
    let early = profile("replay-no-room", &kernels);
    assert_eq!(replayed(&early, "overlapped-median")[..2], [[0, 100_000], [80_000, 30_000]]);
    // Without a median of its own it would share, and take as long as alone.
    assert_eq!(replayed(&early, "sharing")[..2], [[0, 100_000], [80_000, 20_000]]);
    // Stream 8 waited 70 us in each of 8 rounds, whoever tells for how long kernels run.
    for times in ["overlapped-median", "sharing"] {
        let arguments = ["replay-log", &early, "--launches", "recorded", "--kernel-times", times];
        let waits = &json(&[&arguments[..], &["--format", "json"]].concat())["stream_waits"];
        let row = ["waiting", "blocking", "rule", "wait_ns"].map(|key| &waits[0][key]);
        assert_eq!(row, [&"stream 8".into(), &"stream 7".into(), &"X1".into(), &Value::from(560_000)], "{times}");
        assert_eq!(waits.as_array().map(Vec::len), Some(1));
    }
    let text = stdout(&gpusched(&["replay-log", &file, "--launches", "recorded"]));
    assert!(text.contains("who delayed whom, as simulated: no stream waited for work of another"), "{text}");
}

#[test]
fn sharing_is_taken_only_where_it_is_better_than_the_median_alone_also_if_the_first_half_has_too_few_kernels() {
    let decided = |folder: &str, kernels: &[Kernel<'_>]| {
        let file = profile(folder, kernels);
        let report = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
        let of_all = ["chosen", "decided_on", "decided_by_all"].map(|key| report["held_out"][key].clone());
        assert_eq!(report["kernel_times"], of_all[0]);
        (of_all, report["overlapped"]["p95_duration_error_ns"].clone(), first_line(&file, &[]))
    };
    // 8 kernels of 20 us each, which take 10 us by the SMs as by the median alone: sharing explains nothing of it.
    let round = [("f", 7, 0, 10, 1), ("g", 8, 30, 10, 1), ("f", 7, 50, 20, 1), ("g", 8, 55, 20, 1)];
    let (of_all, off_by, said) = decided("replay-few", &rounds(4, 100, &round));
    assert_eq!(of_all, ["alone-median".into(), Value::from(8), true.into()]);
    assert_eq!(off_by, 10_000);
    assert!(said.starts_with("sharing of SMs explains nothing here: the median of the same kernel alone"), "{said}");
    assert!(said.contains("decided by all 8 whose time alone is known, as the first half has too few"), "{said}");
    // Of two rounds 4 kernels each: `late` takes 20 us for want of room, which no median alone can tell.
    let (of_all, off_by, said) = decided("replay-few-sharing", &slowed_by_sms()[..14]);
    assert_eq!(of_all, ["sharing".into(), Value::from(8), true.into()]);
    assert_eq!(off_by, 0);
    assert!(said.starts_with("sharing of SMs tells durations of overlapped kernels better than the median"), "{said}");
}

#[test]
fn nothing_is_held_out_where_nothing_ran_both_alone_and_overlapped() {
    let file = profile("replay-alone", &rounds(8, 100, &[("f", 7, 0, 10, 1), ("g", 8, 30, 10, 1)]));
    let report = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
    assert_eq!((&report["held_out"], &report["kernel_times"]), (&Value::Null, &"sharing".into()));
}

/// `f` and `ncclKernel` overlap for 20 us in the first round, and `f` takes 30 us alone in the second.
fn communicating(f: u32) -> Vec<Kernel<'static>> {
    vec![("f", 7, 1_000, 30, 1), ("ncclKernel", 8, 1_010, 50, 1), ("f", 7, 1_100, f, 1)]
}

#[test]
fn a_what_if_is_set_beside_the_same_without_it() {
    let file = profile("replay-base", &communicating(30));
    let arguments = ["replay-log", &file, "--launches", "recorded", "--set-block-time", "f=20us"];
    let report = json(&[&arguments[..], &["--format", "json"]].concat());
    let sums = |activity: &Value| {
        let keys =
            ["makespan_ns", "compute_ns", "communication_ns", "exposed_communication_ns", "overlap_ns", "idle_ns"];
        keys.map(|key| activity[key].as_u64().expect("a number") / 1_000)
    };
    // f from 0 to 30 and 100 to 130, the collective from 10 to 60.
    assert_eq!(sums(&report["base"]), [130, 60, 50, 30, 20, 40]);
    // f from 0 to 20 and 100 to 120.
    assert_eq!(sums(&report["activity"]), [120, 40, 50, 40, 10, 40]);
    let stream = &report["activity"]["streams"][0];
    assert_eq!(
        (&stream["stream"], &stream["busy_ns"], &stream["end_ns"]),
        (&"stream 7".into(), &40_000.into(), &120_000.into())
    );
    let text = stdout(&gpusched(&arguments));
    assert!(text.starts_with("what if: 120 us instead of 130 us (-10 us, -7.7 %); launches stay where"), "{text}");
    let row = |what: &str| text.lines().find(|line| line.trim_start().starts_with(what)).expect("a row");
    assert!(row("makespan").ends_with("130 us   120 us  -10 us"), "{text}");
    assert!(row("a collective and no other kernel").ends_with("30 us    40 us  +10 us"), "{text}");
    assert!(row("stream 8: ends").ends_with("60 us    60 us     0 s"), "{text}");
    let without = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
    assert_eq!(without["base"], Value::Null);
    // A collective keeps its recorded time, whatever its blocks.
    let is_idle = |change: [&str; 2]| {
        let text = stdout(&gpusched(&[&["replay-log", &file, "--launches", "recorded"], &change[..]].concat()));
        text.contains("the what-if changes none of these times")
    };
    assert!(is_idle(["--set-blocks", "ncclKernel=2"]) && !is_idle(["--set-block-time", "f=20us"]));
    // Commands that show only the changed profile say where the other is.
    let noted = |more: &[&str]| {
        let output = gpusched(&[&["simulate", &file], more].concat());
        String::from_utf8_lossy(&output.stderr)
            .contains("gpusched replay-log sets the profile without these changes beside")
    };
    assert!(noted(&["--set-block-time", "f=20us"]) && !noted(&[]));
}

#[test]
fn two_profiles_are_compared_as_recorded() {
    let (first, second) = (profile("compare-first", &communicating(30)), profile("compare-second", &communicating(10)));
    let report = json(&["compare", &first, &second, "--format", "json"]);
    assert_eq!((&report["first"]["makespan_ns"], &report["second"]["makespan_ns"]), (&130_000.into(), &110_000.into()));
    assert_eq!(report["second"]["exposed_communication_ns"], 30_000);
    let f = &report["kernels"][0];
    assert_eq!((&f["name"], &f["first_ns"], &f["second_ns"]), (&"f".into(), &60_000.into(), &40_000.into()));
    assert_eq!((&f["first_launches"], &f["second_median_ns"]), (&2.into(), &30_000.into()), "of 10 and 30 the upper");
    let status = |other: &str| gpusched(&["compare", &first, other, "--check"]).status.code();
    assert_eq!((status(&first), status(&second)), (Some(0), Some(1)));
    assert_eq!(report["collectives"], Value::Null, "they state no ranks");
    let piped = gpusched_with(&fs::read_to_string(&first).expect("it is there"), &["compare", "-", &second]);
    let text = stdout(&piped);
    let answer = "the second profile takes 110 us instead of 130 us (-20 us, -15.4 %); of all kernels f changes most, by \
                 -20 us\nrecorded: first standard input, second ";
    assert!(text.starts_with(answer), "{text}");
    assert!(text.contains("the profiles do not state that they are of two ranks of one run"), "{text}");
    let refused = gpusched(&["compare", &first, &second, "--set-priority", "7=-1"]);
    assert_eq!(refused.status.code(), Some(2), "nothing is simulated");
}

#[test]
fn collectives_of_two_ranks_are_split_into_waiting_and_transfer() {
    // Rank 3 comes first to the first collective and last to the second: 20 and 10 us of transfer.
    let collectives = |first, second| [("ncclKernel", 8, 1_000, first, 1), ("ncclKernel", 8, 1_100, second, 1)];
    let of_rank = |rank: u32, kernels: &[Kernel<'_>]| {
        let file = profile(&format!("compare-rank-{rank}"), kernels);
        let text = fs::read_to_string(&file).expect("it is there");
        let text = text.replacen('{', &format!(r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 8}}, "#), 1);
        fs::write(&file, text).expect("it can be written");
        file
    };
    let more = [("ncclOther", 8, 1_200, 5, 1)];
    let first = of_rank(3, &[&collectives(50, 10)[..], &more].concat());
    let second = of_rank(7, &collectives(20, 45));
    let report = json(&["compare", &first, &second, "--format", "json"]);
    let split = &report["collectives"];
    assert_eq!(split["ranks"], serde_json::json!([3, 7]));
    assert_eq!((&split["matched"], &split["transfer_ns"]), (&2.into(), &30_000.into()));
    assert_eq!(split["waiting_ns"], serde_json::json!([30_000, 35_000]));
    assert_eq!(split["unmatched"], serde_json::json!([1, 0]));
    let text = stdout(&gpusched(&["compare", &first, &second]));
    assert!(text.contains("transfer 30 us; ") && text.contains("rank 3 30 us, rank 7 35 us"), "{text}");
    let third = of_rank(5, &more);
    let text = stdout(&gpusched(&["compare", &third, &second]));
    assert!(text.contains("no collectives of ranks 5 and 7 go together"), "{text}");
    assert!(text.contains("not split: 1 and 2 of functions that they launched differently often"), "{text}");
    let same = json(&["compare", &first, &first, "--format", "json"]);
    assert_eq!(same["collectives"], Value::Null, "one rank, compared with itself");
}

const KINETO: &str = "scenarios/profiles/synthetic.json";

/// The path of a run whose kernels are told as a whole: whoever made room is followed, so that its parts go back to the
/// beginning without a gap, and with sharing of SMs it is the one that `simulate` follows.
#[test]
fn the_critical_path_of_a_replay_is_that_of_the_kernel_times_that_it_takes() {
    let paths = |command: &str, options: &[&str]| {
        let report = json(&[&[command, KINETO, "--critical-path", "--format", "json"], options].concat());
        report["critical_path"].as_array().expect("it has parts").clone()
    };
    let simulated = paths("simulate", &[]);
    assert_eq!(paths("replay-log", &["--kernel-times", "sharing"]), simulated);
    let mut others = 0;
    for times in ["alone-median", "overlapped-median", "median"] {
        let parts = paths("replay-log", &["--kernel-times", times]);
        others += usize::from(parts != simulated);
        assert_eq!(parts[0]["from_ns"], 0, "{times}: {parts:?}");
        for pair in parts.windows(2) {
            assert_eq!(pair[0]["to_ns"], pair[1]["from_ns"], "{times}: {pair:?}");
        }
    }
    assert!(others > 0, "the durations differ");
    let text = stdout(&gpusched(&["replay-log", KINETO, "--overlap=7,20", "--blame", "--set-block-time", "gemm=80%"]));
    let begins: Vec<&str> = text.lines().filter(|line| !line.is_empty()).take(2).collect();
    assert!(begins[0].starts_with("what if: ") && begins[1].starts_with("as simulated, stream 7"), "{text}");
    let logs = gpusched(&["replay-log", "tests", "--blame"]);
    assert_eq!(logs.status.code(), Some(2));
}
