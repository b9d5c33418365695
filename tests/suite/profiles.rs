//! Profiles of applications through the command: what is read, what is refused, and what becomes of it.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use gpusched::time::Duration;
use serde_json::Value;

use super::common::{directory, gpusched, json, stderr, stdout};

const KINETO: &str = "scenarios/profiles/synthetic.json";
const NVPROF: &str = "scenarios/profiles/synthetic.csv";

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn written(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("it can be written");
    path.display().to_string()
}

/// Refused with exit status 2, a message, and nothing on standard output.
fn refused(arguments: &[&str]) -> String {
    let output = gpusched(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = stderr(&output);
    assert!(text.starts_with("error: ") && !text.contains("panicked"), "{text}");
    text
}

#[test]
fn occupancy_is_what_the_profile_states_of_every_kernel() {
    let report = json(&["occupancy", KINETO, "--format", "json"]);
    assert_eq!((&report["compared"], &report["agreeing"]), (&10.into(), &10.into()));
    let gemm = report["kernels"]
        .as_array()
        .and_then(|all| all.iter().find(|kernel| kernel["name"].as_str().is_some_and(|name| name.contains("gemm"))));
    let gemm = gemm.expect("it is there");
    // By hand: 8 warps of 64 * 32 = 2048 registers; 32 of them fill the register file of 65,536.
    assert_eq!((&gemm["resident_blocks_per_sm"], &gemm["limited_by"]), (&4.into(), &"registers".into()));
    // 1296 blocks, 4 on each of 108 SMs.
    assert_eq!(gemm["waves"], 3);
}

#[test]
fn occupancy_works_on_scenarios_too() {
    let report = json(&["occupancy", "scenarios/rtss2017/figure-3.json", "--format", "json"]);
    let first = &report["kernels"][0];
    assert_eq!((&first["recorded_occupancy_percent"], &report["compared"]), (&Value::Null, &0.into()));
    assert!(first["resident_blocks_per_sm"].as_u64() > Some(0));
}

#[test]
fn import_counts_everything_and_says_what_it_assumed() {
    let report = json(&["import", KINETO, "--format", "json"]);
    assert_eq!((&report["kernels"], &report["copies"], &report["memsets"]), (&10.into(), &2.into(), &1.into()));
    assert_eq!(report["device"], "a100-40gb");
    assert_eq!(report["streams"][1]["name"], "stream 20");
    assert_eq!(report["streams"][1]["operations"], 2);
    let notes = report["notes"].to_string();
    for said in
        ["launch latency 10 us", "no stream priorities", "1 memset of 1 us in all: each is a kernel of one small block"]
    {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    let part = json(&["import", KINETO, "--from", "400us", "--format", "json"]);
    assert_eq!(part["kernels"], 4, "the graph alone");
}

#[test]
fn gzip_and_standard_input_are_read_as_the_file_itself() {
    let folder = directory("profile-gzip");
    let content = fs::read(KINETO).expect("it is there");
    let packed = written(&folder, "any-name", &gzip(&content));
    let report = |file: &str| gpusched(&["simulate", file, "--format", "json"]).stdout;
    let kernels = |file: &str| serde_json::from_slice::<Value>(&report(file)).expect("JSON")["kernels"].clone();
    assert_eq!(kernels(&packed), kernels(KINETO));
}

#[test]
fn the_written_scenario_runs_as_the_profile_does() {
    let folder = directory("profile-import");
    for (profile, launches) in [(KINETO, "host"), (KINETO, "recorded"), (NVPROF, "host")] {
        let out = folder.join("scenario.json").display().to_string();
        let output = gpusched(&["import", profile, "--launches", launches, "-o", &out]);
        assert!(output.status.success(), "{}", stderr(&output));
        let times = |arguments: &[&str]| -> Vec<(Value, Value)> {
            let report = json(arguments);
            let kernels = report["kernels"].as_array().expect("a list").clone();
            kernels.into_iter().map(|kernel| (kernel["first_start_ns"].clone(), kernel["finish_ns"].clone())).collect()
        };
        let own = times(&["simulate", profile, "--launches", launches, "--format", "json"]);
        assert_eq!(times(&["simulate", &out, "--format", "json"]), own, "{profile} {launches}");
        assert!(!own.is_empty());
    }
}

#[test]
fn durations_of_kernels_that_ran_alone_are_replayed_to_the_microsecond() {
    let report = json(&["replay-log", NVPROF, "--launches", "recorded", "--format", "json"]);
    assert_eq!((&report["alone"]["kernels"], &report["overlapped"]["kernels"]), (&2.into(), &0.into()));
    assert!(report["alone"]["p95_duration_error_ns"].as_u64() <= Some(1_000), "{}", report["alone"]);
    assert_eq!(report["alone"]["p95_start_error_ns"], 0, "submitted when they started, onto idle SMs");
}

#[test]
fn people_are_told_of_kernels_that_there_are_and_in_units_that_they_read() {
    let text = stdout(&gpusched(&["replay-log", NVPROF, "--launches", "recorded"]));
    let said: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    // nvprof records no host calls; of this profile a test above knows that starts are exact.
    let first = "starts are the recorded ones, as the file has no host calls: nothing is predicted (95 % of starts are \
                 simulated within 0 s); the recording lasts ";
    assert!(said[0].starts_with(first), "{text}");
    assert!(said[1].starts_with("alone, durations fitted: 2 kernels"), "{text}");
    assert_eq!(said[2..], ["no kernel overlapped another: nothing is told of sharing"]);
    assert!(text.contains(" start recorded ") && !text.contains("[ns]"), "{text}");
    // In milliseconds, as the durations of some milliseconds are.
    let duration = json(&["replay-log", NVPROF, "--launches", "recorded", "--format", "json"]);
    let duration = Duration::from_ns(duration["kernels"][0]["recorded_duration_ns"].as_u64().expect("a time"));
    assert!(text.contains(&format!(" {duration} ")), "{duration}: {text}");
    let both = stdout(&gpusched(&["replay-log", KINETO, "--launches", "recorded"]));
    assert!(both.contains("\noverlapped: 3 kernels") && !both.contains("no kernel"), "{both}");
}

#[test]
fn each_note_on_a_profile_is_told_once() {
    for command in ["import", "occupancy", "replay-log", "simulate", "audit"] {
        let output = gpusched(&[command, KINETO]);
        let told = stderr(&output) + &stdout(&output);
        assert_eq!(
            told.matches("block times: ").count(),
            usize::from(!["occupancy", "audit"].contains(&command)),
            "{told}"
        );
        let mut notes: Vec<&str> = told.lines().filter(|line| line.starts_with("note: ")).collect();
        let all = notes.len();
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(notes.len(), all, "{told}");
    }
}

#[test]
fn a_higher_priority_lets_a_stream_go_first() {
    let finish = |more: &[&str]| -> Value {
        let mut arguments = vec!["simulate", KINETO, "--launches", "recorded", "--format", "json"];
        arguments.extend(more);
        let report = json(&arguments);
        let kernels = report["kernels"].as_array().expect("a list");
        let reduce = kernels.iter().find(|kernel| kernel["name"].as_str().is_some_and(|n| n.contains("all_reduce")));
        reduce.expect("it is launched")["finish_ns"].clone()
    };
    // Made to run in one stream, the other kernels stand before it.
    let behind = finish(&["--set-stream", "all_reduce=7"]);
    assert!(behind.as_u64() > finish(&["--set-priority", "stream 20=-5"]).as_u64());
    let error = refused(&["simulate", KINETO, "--set-priority", "stream 99=-1"]);
    assert!(error.contains("stream 20"), "it names those that exist: {error}");
    assert!(refused(&["simulate", KINETO, "--set-priority", "20=-9"]).contains("outside this device's range"));
    assert!(refused(&["simulate", KINETO, "--set-stream", "f=20"]).contains("no kernel is called"));
}

#[test]
fn another_device_can_be_named() {
    let report = json(&["simulate", KINETO, "--device", "h100", "--connections", "2", "--format", "json"]);
    assert_eq!(report["device"], "h100");
}

#[test]
fn an_audit_explains_late_starts_by_rules() {
    let report = json(&["audit", KINETO, "--format", "json"]);
    assert_eq!((&report["unexplained"], &report["only_by_higher_priority"]), (&0.into(), &0.into()));
    assert_eq!(report["by_rule"]["wait"], 1, "{}", report["by_rule"]);
    assert_eq!(report["by_rule"]["X1"], 2);
}

/// A profile of an A100 in which a kernel of 216 blocks a wave and 120 us starts at 1 ms, and a short one of another
/// stream at `second` us.
fn two_kernels(blocks: u32, second: u32) -> String {
    let kernel = |stream: u32, start: u32, duration: u32, blocks: u32| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "f{stream}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": {duration},
            "args": {{"device": 0, "context": 1, "stream": {stream}, "correlation": {start}, "registers per thread": 32,
            "shared memory": 0, "grid": [{blocks}, 1, 1], "block": [1024, 1, 1]}}}}"#
        )
    };
    format!(
        r#"{{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0, "numSms": 108}}],
        "traceEvents": [{}, {}]}}"#,
        kernel(7, 1000, 120, blocks),
        kernel(20, second, 10, 1)
    )
}

#[test]
fn a_stream_that_breaks_into_another_must_have_the_higher_priority() {
    // 24 waves of 5 us; the other kernel starts in the middle of them.
    let folder = directory("profile-audit");
    let middle = written(&folder, "middle.json", two_kernels(24 * 216, 1050).as_bytes());
    let report = json(&["audit", &middle, "--format", "json"]);
    assert_eq!(report["only_by_higher_priority"], 1);
    assert_eq!(report["priorities"][0]["stream"], 20);
    let told = json(&["audit", &middle, "--set-priority", "20=-1", "--format", "json"]);
    assert_eq!((&told["only_by_higher_priority"], &told["by_rule"]["A2"]), (&0.into(), &1.into()), "now it is known");
    let last = written(&folder, "last.json", two_kernels(24 * 216, 1116).as_bytes());
    let report = json(&["audit", &last, "--format", "json"]);
    assert_eq!((&report["explained"], &report["by_rule"]["X1"]), (&1.into(), &1.into()));
}

#[test]
fn a_kernel_that_starts_before_the_one_before_it_in_its_stream_has_ended_breaks_g_but_for_dependent_launch() {
    let folder = directory("profile-order");
    let text = fs::read_to_string(KINETO).expect("a profile");
    // 303.5 us is 2 us after the end of the kernel before it: 1 us earlier is no overlap, 2.5 us are one within what
    // profilers round, 23.5 us it is not.
    for (start, is_broken) in [("1000302.5", false), ("1000301.0", false), ("1000280.0", true)] {
        for (major, rule) in [(8, "unexplained"), (9, "PDL")] {
            let changed = text.replace("\"ts\": 1000303.5", &format!("\"ts\": {start}"));
            let changed = changed.replace("\"computeMajor\": 8", &format!("\"computeMajor\": {major}"));
            let file = written(&folder, "order.json", changed.as_bytes());
            // The exit status says whether anything is unexplained.
            let output = gpusched(&["audit", &file, "--format", "json"]);
            let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
            assert_eq!(output.status.code(), Some(i32::from(is_broken && rule == "unexplained")));
            let counts = (report["unexplained"].as_u64(), report["by_rule"]["PDL"].as_u64().unwrap_or(0));
            let expected = match (is_broken, rule) {
                (false, _) => (Some(0), 0),
                (true, "PDL") => (Some(0), 1),
                (true, _) => (Some(1), 0),
            };
            assert_eq!(counts, expected, "{start} on {major}.0: {}", report["cases"]);
            // What is not explained says by how much: 21.5 us before the end of the kernel before it.
            let cases = report["cases"].as_array().expect("a list");
            let late: Vec<i64> = cases.iter().filter_map(|case| case["late_ns"].as_i64()).collect();
            assert_eq!(late, if expected.0 == Some(1) { vec![-21_500] } else { vec![] });
        }
    }
}

#[test]
fn only_kernels_of_more_than_twenty_waves_count_among_those_that_tell() {
    let folder = directory("profile-waves");
    for (waves, second, pairs, in_last_wave) in [(20, 1118, 0, 0), (21, 1118, 1, 1), (21, 1050, 1, 0)] {
        let file = written(&folder, "waves.json", two_kernels(waves * 216, second).as_bytes());
        let counts = &json(&["audit", &file, "--format", "json"])["long_first_kernels"];
        assert_eq!((&counts["pairs"], &counts["in_last_wave"]), (&pairs.into(), &in_last_wave.into()), "{waves} waves");
    }
}

#[test]
fn replays_and_audits_take_what_ifs_or_say_why_not() {
    let starts = |more: &[&str]| {
        let mut arguments = vec!["replay-log", KINETO, "--launches", "recorded", "--format", "json"];
        arguments.extend(more);
        let report = json(&arguments);
        let kernels = report["kernels"].as_array().expect("a list").clone();
        kernels.iter().map(|kernel| kernel["simulated_start_ns"].clone()).collect::<Vec<_>>()
    };
    assert_ne!(starts(&[]), starts(&["--set-stream", "all_reduce=7"]));
    // Of the what-ifs, only priorities say anything of a recorded order.
    assert!(refused(&["audit", KINETO, "--connections", "1"]).contains("unexpected argument '--connections'"));
    assert!(refused(&["audit", KINETO, "--set-priority", "stream 99=-1"]).contains("no stream is called"));
    let logs = "tests/data/logs/two-streams";
    assert!(refused(&["audit", logs, "--set-priority", "a=-1"]).contains("is for profiles"));
    assert!(refused(&["replay-log", logs, "--connections", "1"]).contains("is for profiles"));
}

#[test]
fn a_file_of_block_times_must_be_a_profile_in_which_something_ran_alone() {
    let report = json(&["replay-log", KINETO, "--block-times", KINETO, "--format", "json"]);
    assert_eq!(report["predicted"]["kernels"], 8, "all kernels ran alone once, and two are collectives");
    assert!(refused(&["simulate", KINETO, "--block-times", "README.md"]).contains("is no profile"));
    let scenario = "scenarios/rtss2017/figure-3.json";
    assert!(refused(&["simulate", scenario, "--block-times", KINETO]).contains("--block-times is for profiles"));
}

#[test]
fn the_second_of_two_streams_on_a_gtx_950_takes_as_long_as_the_first_did_alone() {
    let (Some(one), Some(two)) = (public("nvprof/gtx950-3cke-s1.csv"), public("nvprof/gtx950-3cke-s2.csv")) else {
        return;
    };
    let report = json(&["replay-log", &two, "--block-times", &one, "--launches", "recorded", "--format", "json"]);
    assert_eq!(report["predicted"]["kernels"], 2);
    // Both take 11.94 ms: within half a percent.
    assert!(report["predicted"]["p95_duration_error_ns"].as_u64() < Some(60_000), "{}", report["predicted"]);
}

/// A file of the public profiles, which are not part of the project; tests that read them do nothing without them.
pub(crate) fn public(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces").join(name);
    path.exists().then(|| path.display().to_string())
}

#[test]
fn no_inferred_priority_contradicts_those_that_a_profile_of_an_h100_records() {
    let Some(file) = public("nsys/h100-2gpu.sqlite") else { return };
    for gpu in ["0", "1"] {
        let report = json(&["audit", &file, "--device", "h100", "--gpu", gpu, "--format", "json"]);
        assert_eq!((&report["unexplained"], &report["only_by_higher_priority"]), (&0.into(), &0.into()));
        assert_eq!(report["priorities"], Value::Array(Vec::new()), "all kernels of a GPU ran in one stream");
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_profiles_of_one_stream_are_replayed_in_order_and_to_one_percent_or_microsecond() {
    for name in ["linear-2080ti", "qwen-h100", "bert-h100", "event-sync"] {
        let Some(file) = public(&format!("kineto/{name}.json.gz")) else { return };
        let report = json(&["replay-log", &file, "--launches", "recorded", "--format", "json"]);
        let kernels = report["kernels"].as_array().expect("a list");
        let number = |kernel: &Value, key: &str| kernel[key].as_i64().expect("a number");
        let starts: Vec<i64> = kernels.iter().map(|kernel| number(kernel, "simulated_start_ns")).collect();
        assert!(starts.is_sorted(), "{name}");
        for kernel in kernels {
            let allowed = (number(kernel, "recorded_duration_ns") / 100).max(1_000);
            assert!(number(kernel, "duration_error_ns").abs() <= allowed, "{name}: {kernel}");
        }
    }
}

#[test]
fn profiles_cut_at_every_kilobyte_are_refused() {
    let folder = directory("profile-cut");
    for (file, step) in [(KINETO, 1024), (NVPROF, 128)] {
        let content = fs::read(file).expect("it is there");
        let packed = gzip(&content);
        for end in (step..content.len()).step_by(step) {
            let cut = written(&folder, "cut", &content[..end]);
            refused(&["import", &cut]);
        }
        for end in (64..packed.len()).step_by(128) {
            let cut = written(&folder, "cut.gz", &packed[..end]);
            assert!(refused(&["import", &cut]).contains("cut off"));
        }
    }
}

#[test]
fn bad_profiles_are_refused_with_a_reason() {
    let folder = directory("profile-bad");
    let bad = |name: &str, content: &str, reason: &str| {
        let file = written(&folder, name, content.as_bytes());
        let error = refused(&["import", &file]);
        assert!(error.contains(reason), "{name}: {error}");
    };
    bad("none.json", r#"{"traceEvents": []}"#, "holds no kernels");
    bad("list.json", "[]", "holds no kernels");
    let amd = r#"{"traceEvents": [
        {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"device": 0}}]}"#;
    bad("amd.json", amd, "AMD");
    let file = folder.join("amd.json").display().to_string();
    let recorded = json(&["compare", &file, &file, "--format", "json"]);
    assert_eq!(recorded["kernels"][0]["first_ns"], 1_000, "sums need no shapes");
    let unknown =
        fs::read_to_string(KINETO).expect("it is there").replace("\"computeMajor\": 8", "\"computeMajor\": 99");
    bad("capability.json", &unknown, "compute capability 99.0");
    bad("columns.csv", "==1== remark\n\"Start\",\"Duration\"\n\"ms\",\"ms\"\n", "column \"Grid X\" is missing");
    bad("remarks.csv", "==1== \"remark\"\n", "ends before");
    let report = written(&folder, "run.nsys-rep", b"\xff\xfe what Nsight Systems records");
    let refusal = refused(&["import", &report]);
    assert!(refusal.contains(&format!("nsys export --type sqlite {report:?} makes one")), "{refusal}");
    bad("database.sqlite", "SQLite format 3\0nothing of the kind", "damaged");
    assert!(refused(&["simulate", NVPROF, "--launch-latency", "1us"]).contains("no launch has a host call"));
    let scenario = refused(&["import", "scenarios/rtss2017/figure-3.json"]);
    assert!(scenario.contains("no profile"), "{scenario}");
    assert!(refused(&["import", KINETO, "--gpu", "3"]).contains("GPU 0 runs 10"));
    assert!(refused(&["simulate", "scenarios/rtss2017/figure-3.json", "--gpu", "0"]).contains("--gpu is for profiles"));
}

#[test]
fn a_period_that_nothing_ends_is_refused_in_profiles_as_in_scenarios() {
    let input = [KINETO, "--launches", "recorded", "--period", "stream 7=37ms"];
    for command in ["simulate", "analyze", "orders", "convert"] {
        let said = refused(&[&[command], &input[..]].concat());
        assert!(said.contains("never ends") && said.contains("--horizon"), "{said}");
    }
    let limited = gpusched(&[&["simulate"], &input[..], &["--horizon", "80ms", "--format", "json"]].concat());
    assert_eq!(limited.status.code(), Some(0), "{}", stderr(&limited));
}

#[test]
fn verdicts_on_a_profile_say_that_its_block_times_are_estimates() {
    let said = "proven under: block times as estimated from the profile";
    for path in [KINETO, NVPROF] {
        assert!(stdout(&gpusched(&["analyze", path, "--verdicts", "--search", "1ms"])).contains(said), "{path}");
        let rows = gpusched(&["analyze", path, "--verdicts", "--search", "1ms", "--format", "csv"]);
        assert!(stderr(&rows).contains(said) && !stdout(&rows).contains("proven under"), "{path}");
    }
    let document = json(&["analyze", KINETO, "--search", "1ms", "--format", "json"]);
    assert_eq!(document["assumptions"], serde_json::json!(["block times as estimated from the profile"]));
    // So does the scenario that is made of it.
    let path = directory("estimates").join("scenario.json").display().to_string();
    assert!(gpusched(&["import", KINETO, "--out", &path]).status.success());
    assert!(stdout(&gpusched(&["analyze", &path, "--verdicts", "--search", "1ms"])).contains(said));
    // What is stated needs no such words.
    let stated = gpusched(&["analyze", "scenarios/deadlines/camera-and-lidar.json", "--verdicts"]);
    assert!(!stdout(&stated).contains("proven under"));
}
