//! Commands that are ended before their time, and small inputs that would take all memory or all time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{directory, gpusched, stderr};

/// A scenario of one kernel of 1 ns in a stream, with these keys of the stream beside it, and these hosts.
fn scenario(stream: &str, hosts: &str) -> String {
    let hosts = if hosts.is_empty() { String::new() } else { format!(r#", "hosts": [{hosts}]"#) };
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "endless",
            "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 ns"}}}}, "streams": [{{"name": "S"{stream}, "operations": [{{"kernel": "K"}}]}}]{hosts}}}"#
    )
}

fn written(test: &str, text: &str) -> (std::path::PathBuf, String) {
    let directory = directory(&format!("ending/{test}"));
    let file = directory.join("scenario.json");
    fs::write(&file, text).expect("it can be written");
    (directory, file.display().to_string())
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("readable"));
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn refused(output: &Output, message: &str) {
    ended(output, 2, message);
}

fn ended(output: &Output, status: i32, message: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(text.contains(message), "{text}");
}

/// The document that a stopped command printed, which says so.
fn cut(output: &Output, message: &str) -> Value {
    ended(output, 3, message);
    let said = stderr(output);
    assert_eq!(said.lines().filter(|line| line.contains("--max-time")).count(), 1, "{said}");
    assert!(!said.contains("error"), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is whole");
    let cut = document.as_array().and_then(|list| list.last()).unwrap_or(&document);
    assert_eq!(cut["cut"]["reason"], "max-time");
    document
}

/// Two streams that miss their deadlines in many ways.
const MISSES: &str = r#"{"format": "gpusched-scenario/1", "name": "m",
    "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "1 us"}},
    "streams": [{"name": "S", "period": "4 us", "jobs": 50, "deadline": "1 us", "operations": [{"kernel": "K"}]},
    {"name": "T", "period": "4 us", "jobs": 50, "deadline": "1 us", "operations": [{"kernel": "K"}]}]}"#;

#[test]
fn more_jobs_than_a_run_can_record_are_refused_before_it_begins() {
    let (_, file) = written("jobs", &scenario(r#", "period": "1 us", "jobs": 4294967295"#, ""));
    refused(&gpusched(&["simulate", &file]), "submits 4294967295 operations; a run has 50000000 at most");
}

#[test]
fn a_run_that_takes_too_much_memory_is_ended_and_leaves_no_file() {
    let (directory, file) = written("memory", &scenario(r#", "period": "1 us""#, ""));
    let html = directory.join("run.html").display().to_string();
    let long = ["simulate", &file, "--horizon", "1000s", "--max-memory", "64M", "--html", &html];
    ended(&gpusched(&long), 3, "stopped at 64 MiB of memory (--max-memory): ");
    assert_eq!(files(&directory), ["scenario.json"]);
}

/// `ulimit -v` is known on Linux alone.
#[test]
#[cfg(target_os = "linux")]
fn under_any_limit_of_addresses_a_command_ends_with_a_status_of_its_own() {
    use std::os::unix::process::ExitStatusExt;
    let (directory, file) = written("addresses", &scenario(r#", "period": "1 us""#, ""));
    let html = directory.join("run.html").display().to_string();
    let within = |kib: u32| {
        let shell = format!("ulimit -c 0; ulimit -v {kib}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_gpusched"), "simulate", &file, "--horizon", "1000s"]);
        command.args(["--no-repeat", "--html", &html]).stdin(Stdio::null()).output().expect("sh is there")
    };
    for mebibytes in [130, 160, 240] {
        let output = within(mebibytes << 10);
        let said = stderr(&output);
        assert_eq!((output.status.code(), output.status.signal()), (Some(3), None), "{mebibytes} MiB: {said}");
        let why = ["memory allocation of", "half of the address space that was free", "(--max-memory)"];
        assert!(why.iter().any(|why| said.contains(why)), "{mebibytes} MiB: {said}");
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_host_that_sleeps_a_nanosecond_for_centuries_is_refused() {
    let host = r#"{"name": "H", "time_limit": "9e9 s", "steps": [{"sleep": "1 ns"}]}"#;
    let (_, file) = written("sleep", &scenario("", host));
    refused(&gpusched(&["simulate", &file]), "more than 10000000 steps");
}

#[test]
fn a_command_ends_after_its_time() {
    let (_, file) = written("time", &scenario(r#", "period": "1 us""#, ""));
    let tables = gpusched(&["simulate", &file, "--horizon", "1000s", "--max-time", "200ms"]);
    ended(&tables, 3, "stopped by --max-time 200 ms: what is told is what was complete by then");
    let tables = String::from_utf8(tables.stdout).expect("it is text");
    assert!(tables.contains(" kernel ") && tables.contains("\ncut: stopped by --max-time 200 ms"), "{tables}");
}

#[test]
fn of_an_analysis_that_is_stopped_in_its_own_run_it_is_told_how_far_that_came() {
    // Ten million jobs, each of which is recorded.
    let (_, file) = written("time_of_analysis", &scenario(r#", "period": "900 us""#, ""));
    for command in ["analyze", "orders"] {
        let output = gpusched(&[command, &file, "--horizon", "9000s", "--max-time", "300ms"]);
        ended(&output, 3, "stopped by --max-time 300 ms: nothing more is told");
        let said = stderr(&output);
        let come_to = said.split("own run had come to ").nth(1).and_then(|rest| rest.split(';').next()).expect("told");
        assert!(said.contains(&format!("--horizon '{come_to}' tells")), "{said}");
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_run_that_is_stopped_is_that_of_a_horizon_there() {
    let (_, file) = written("cut", &scenario(r#", "period": "1 us""#, ""));
    let long = ["simulate", &file, "--horizon", "1000s", "--format", "json"];
    let document = cut(&gpusched(&[&long[..], &["--max-time", "300ms"]].concat()), "was stopped at");
    let kernels = document["kernels"].as_array().expect("they are listed");
    assert!(!kernels.is_empty(), "a run is looked at every 256 instants");
    let notes = document["notes"].to_string();
    let end = notes.split("was stopped at ").nth(1).and_then(|rest| rest.split(';').next()).expect("it is told");
    let horizon = end.replace(' ', "");
    let all = gpusched(&["simulate", &file, "--format", "json", "--horizon", &horizon]);
    let all: Value = serde_json::from_slice(&all.stdout).expect("it is JSON");
    assert_eq!(all["kernels"].as_array().expect("they are listed")[..], kernels[..]);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_is_complete_of_several_scenarios_is_told() {
    let (directory, long) = written("several", &scenario(r#", "period": "1 us""#, ""));
    let short = directory.join("short.json");
    fs::write(&short, scenario("", "")).expect("it can be written");
    let short = short.display().to_string();
    let given = ["simulate", &short, &short, &long, &short, "--horizon", "1000s", "--max-time", "500ms", "--jobs", "2"];
    let list = cut(&gpusched(&[&given[..], &["--format", "json"]].concat()), "stopped by --max-time 500 ms");
    let list = list.as_array().expect("it is a list").clone();
    assert_eq!(list[list.len() - 1]["cut"], serde_json::json!({"reason": "max-time", "complete": 3, "of": 4}));
    assert!(list[..2].iter().all(|document| document.get("cut").is_none()));
    let rows = gpusched(&[&given[..], &["--format", "csv"]].concat());
    ended(&rows, 3, "what is told is what was complete by then");
    let rows = String::from_utf8(rows.stdout).expect("it is text");
    assert!(rows.lines().count() >= 3 && rows.ends_with('\n'), "{}", rows.lines().count());
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_a_search_has_found_is_told() {
    let (_, file) = written("search", MISSES);
    let search = ["analyze", &file, "--search", "5s", "--max-time", "4s", "--format", "json"];
    let document = cut(&gpusched(&search), "stopped by --max-time 4 s");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(100), "{document}");
    let sample =
        ["orders", "tests/data/ending/nine.json", "--samples", "100000000", "--max-time", "2s", "--format", "json"];
    let document = cut(&gpusched(&sample), "stopped by --max-time 2 s");
    let tried = document["orders_tried"].as_u64().expect("it is a number");
    assert!((1..100_000_000).contains(&tried), "{tried}");
    assert_eq!(document["exhaustive"], false);
}

#[test]
fn orders_of_forty_launches_end_by_themselves_and_are_told_if_they_are_stopped() {
    let launches = [r#"{"kernel": "K"}"#; 5].join(",");
    // Seven of them at one instant.
    let stream = |number: u32| {
        let release = number / 7;
        format!(r#"{{"name": "S{number}", "release": "{release} us", "operations": [{launches}]}}"#)
    };
    let streams: Vec<String> = (0..8).map(stream).collect();
    let (_, file) = written(
        "forty",
        &format!(
            r#"{{"format": "gpusched-scenario/1", "name": "forty", "streams": [{}],
            "kernels": {{"K": {{"blocks": 4, "threads": 512, "duration": "1 us"}}}}}}"#,
            streams.join(",")
        ),
    );
    let orders = ["orders", &file, "--format", "json"];
    let began = Instant::now();
    let output = gpusched(&orders);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert!(all.get("cut").is_none() && all["orders_tried"].as_u64() > Some(1), "{all}");
    let half = format!("{}ms", began.elapsed().as_millis() / 2);
    let part = cut(&gpusched(&[&orders[..], &["--max-time", &half]].concat()), "stopped by --max-time ");
    assert!(part["orders_tried"].as_u64() < all["orders_tried"].as_u64(), "{part}");
    assert_eq!(part["kernels"].as_array().map(Vec::len), Some(40), "{part}");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_samples_that_were_run_and_bounds_that_are_known_are_told() {
    let samples = ["evr", "narrow-k20m", "--inject", "5", "--samples", "1000000", "--max-time", "2s"];
    let document = cut(&gpusched(&[&samples[..], &["--format", "json"]].concat()), "stopped by --max-time 2 s");
    let points = document["points"].as_array().expect("they are listed");
    let counts: Vec<u64> = points.iter().map(|point| point["samples"].as_u64().expect("a number")).collect();
    assert!(points.len() > 1 && counts[0] > 0, "every scheduler has its share: {counts:?}");
    assert!(counts.iter().all(|count| counts[0] - count <= 1), "{counts:?}");
    // Rows for programs have no place for it but the exit status and what is said.
    let rows = gpusched(&[&samples[..], &["--format", "csv"]].concat());
    ended(&rows, 3, "stopped by --max-time 2 s: what is told is what was complete by then");
    assert!(stderr(&rows).contains("note: stopped after "), "{}", stderr(&rows));
    let text = String::from_utf8(rows.stdout).expect("it is text");
    let fields: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
    assert!(fields.len() > 2 && fields.iter().all(|count| *count == fields[0]) && text.ends_with('\n'), "{text}");
    let string = ["warps", "LLCLLCLLCLLC", "--warps", "18", "--max-time", "1s", "--format", "json"];
    let document = cut(&gpusched(&string), "stopped by --max-time 1 s");
    assert!(document["bound"].as_u64() > Some(0) && document["exact"].is_null(), "{document}");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_bounds_that_are_known_when_the_time_is_over_are_told() {
    let stream = |n: usize| {
        let kernels: Vec<String> = (0..8).map(|k| format!(r#"{{"kernel": "K{}"}}"#, (3 * n + k) % 5)).collect();
        format!(r#"{{"name": "S{n}", "period": "{} ms", "jobs": 40, "operations": [{}]}}"#, 10 + n, kernels.join(", "))
    };
    let kernels: Vec<String> = (0..5)
        .map(|n| {
            format!(
                r#""K{n}": {{"blocks": {}, "threads": {}, "duration": "{} us"}}"#,
                7 + 3 * n,
                64 << (n % 3),
                90 + 17 * n
            )
        })
        .collect();
    let streams: Vec<String> = (0..8).map(stream).collect();
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "many", "kernels": {{{}}}, "streams": [{}]}}"#,
        kernels.join(", "),
        streams.join(", ")
    );
    let directory = directory("ending/bounds");
    let file = directory.join("many.json");
    fs::write(&file, text).expect("it can be written");
    // Whichever of the two it was at on this machine by then.
    let undone = ["bounds were", "the search for long responses was"]
        .map(|what| what.to_string() + " not done when the work was stopped");
    for time in ["50 ms", "300 ms", "1 s"] {
        let analyze = ["analyze", &file.display().to_string(), "--format", "json", "--max-time", time];
        let document = cut(
            &gpusched(&analyze),
            &format!("stopped by --max-time {time}: what is told is what was complete by then"),
        );
        assert_eq!(document["jobs"].as_array().map(Vec::len), Some(320), "each job is told, with what is known of it");
        let notes = document["notes"].as_array().expect("they are listed");
        let says = |note: &&Value| note.as_str().is_some_and(|note| undone.iter().any(|undone| note.contains(undone)));
        assert_eq!(notes.iter().filter(says).count(), 1, "{notes:?}");
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_scenarios_that_are_complete_are_told_also_behind_one_that_is_not() {
    let (directory, long) = written("out_of_order", &scenario(r#", "period": "1 us""#, ""));
    let short = directory.join("short.json");
    fs::write(&short, scenario("", "")).expect("it can be written");
    let short = short.display().to_string();
    let given = ["simulate", &long, &short, &short, &long, "--horizon", "1000s", "--max-time", "500ms", "--jobs", "3"];
    let list = cut(&gpusched(&[&given[..], &["--format", "json"]].concat()), "stopped by --max-time 500 ms");
    let list = list.as_array().expect("it is a list");
    let cuts: Vec<bool> = list.iter().map(|document| document.get("cut").is_some()).collect();
    assert_eq!(cuts, [true, false, false, true], "the last one says how many are complete");
    assert_eq!(list[3]["cut"], serde_json::json!({"reason": "max-time", "complete": 2, "of": 4}));
    assert!(list[1]["kernels"] == list[2]["kernels"] && list[1]["file"] == list[2]["file"]);
}

#[test]
fn budgets_that_were_found_are_told() {
    let directory = directory("ending/budgets");
    let file = directory.join("tasks.json");
    let tasks: Vec<String> =
        (0..8).map(|task| format!(r#"{{"C": 3, "T": {}, "sm": {}}}"#, 997 + 10 * task, task % 2)).collect();
    fs::write(&file, format!(r#"{{"sms": 2, "tasks": [{}]}}"#, tasks.join(","))).expect("it can be written");
    let all = ["tasks", &file.display().to_string(), "--smallest-budgets", "100000", "--format", "json"];
    cut(&gpusched(&[&all[..], &["--max-time", "1s"]].concat()), "stopped by --max-time 1 s");
}

#[test]
fn no_limit_of_time_is_set_unless_it_is_asked_for() {
    let (directory, _) = written("load", &scenario("", ""));
    for number in 0..40 {
        fs::write(directory.join(format!("{number}.json")), scenario("", "")).expect("it can be written");
    }
    fs::remove_file(directory.join("scenario.json")).expect("it is there");
    let output = gpusched(&["simulate", &directory.display().to_string(), "--format", "csv"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8(output.stdout).expect("it is text").lines().count(), 41);
    let help = gpusched(&["simulate", "--help"]);
    let help = String::from_utf8(help.stdout).expect("it is text");
    assert!(!help.contains("processor time"), "{help}");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_strict_limits_count_work_and_refuse_the_same_everywhere() {
    let (_, file) = written("strict", &scenario(r#", "period": "1 us", "jobs": 200001"#, ""));
    let strict = gpusched(&["simulate", &file, "--no-repeat", "--limits", "strict"]);
    ended(&strict, 3, "more than 200000 simulated operations, which is what --limits strict allows");
    assert!(strict.stdout.is_empty(), "nothing is told of what was too much");
    let skipped = gpusched(&["simulate", &file, "--limits", "strict"]);
    assert_eq!(skipped.status.code(), Some(0), "what repeats is no work: {}", stderr(&skipped));
    let (directory, file) = written("strict_each", &scenario(r#", "period": "1 us", "jobs": 150000"#, ""));
    let other = directory.join("other.json");
    fs::copy(&file, &other).expect("it can be written");
    let each = gpusched(&["simulate", &file, &other.display().to_string(), "--limits", "strict", "--format", "csv"]);
    assert_eq!(each.status.code(), Some(0), "each input is allowed as much: {}", stderr(&each));
}

/// A scenario of streams that each submit so many jobs of kernels that differ.
fn different(streams: u32, more: &str) -> String {
    let kernel = |n: u32| {
        format!(r#""K{n}": {{"blocks": {}, "threads": {}, "duration": "{} ns"}}"#, 3 + n, 512 - 32 * n, 1000 + 37 * n)
    };
    let kernels: Vec<String> = (0..6).map(kernel).collect();
    let stream = |n: u32| {
        let [one, other] = [n % 6, (n + 2) % 6];
        format!(
            r#"{{"name": "S{n}", "period": "{} us", "operations": [{{"kernel": "K{one}"}}, {{"kernel": "K{other}"}}]{more}}}"#,
            40 + n
        )
    };
    let streams: Vec<String> = (0..streams).map(stream).collect();
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "d", "kernels": {{{}}}, "streams": [{}]}}"#,
        kernels.join(","),
        streams.join(",")
    )
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_strict_limits_count_bounds() {
    let refused = |file: &str, more: &[&str]| {
        let output = gpusched(&[&["analyze", file, "--limits", "strict"], more].concat());
        ended(&output, 3, "states of analyses and searches, which is what --limits strict leaves for them");
        let (text, said) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(text.contains("deadlines under any order"), "what is known by then is told: {text}");
        assert!(said.contains("bounds were not done when the work was stopped"), "{said}");
    };
    let (_, given) = written("strict_bounds", &different(6, r#", "jobs": 400"#));
    refused(&given, &[]);
    let (_, phasings) = written("strict_orders", &different(12, r#", "jobs": 1"#));
    refused(&phasings, &["--sporadic", "--connections", "12"]);
}

#[test]
fn steps_that_come_back_for_seconds_are_refused_before_they_take_memory() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "s", "kernels": {"K": {"blocks": 64, "threads": 32, "duration":
        "10 s"}, "L": {"blocks": 1, "threads": 32, "duration": "1 ns"}}, "streams": [{"name": "A", "operations":
        [{"kernel": "K"}]}, {"name": "B", "operations": [{"kernel": "L"}]}]}"#;
    let (_, file) = written("steps", text);
    let output = gpusched(&["analyze", &file, "--steps", "--limits", "strict", "--max-memory", "128M"]);
    refused(&output, "--steps: Algorithm 2 takes more than 100000 steps on this scenario");
    assert!(output.stdout.is_empty(), "nothing is told of what was too much");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_strict_limits_count_what_is_drawn() {
    let (directory, file) = written("strict_drawn", &different(6, r#", "jobs": 12000"#));
    let tasks = directory.join("tasks.json");
    fs::write(&tasks, r#"{"sms": 2, "tasks": [{"C": 1, "T": 4, "sm": 0}]}"#).expect("it can be written");
    let out = |name: &str| directory.join(name).display().to_string();
    let (tasks, horizon) = (tasks.display().to_string(), "40000");
    let drawn = [
        vec!["simulate", &file, "--html", &out("run.html")].into_iter().map(str::to_owned).collect::<Vec<_>>(),
        vec!["simulate", &file, "--perfetto", &out("run.json")].into_iter().map(str::to_owned).collect(),
        ["tasks", "run", &tasks, "--strategy", "single-stream", "--horizon", horizon, "--figure", &out("run.png")]
            .map(str::to_owned)
            .to_vec(),
    ];
    for arguments in drawn {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["--limits", "strict"]).collect();
        let output = gpusched(&arguments);
        ended(&output, 3, "more than 200000 shapes and entries of pictures, which is what --limits strict allows");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(files(&directory).len(), 2, "{:?}", files(&directory));
    }
}

#[test]
fn what_is_known_to_take_more_memory_is_refused_before_it_is_read() {
    let directory = directory("ending/large");
    let file = directory.join("large.json");
    // Sparse: no room is taken, and nothing is read of it.
    fs::File::create(&file).and_then(|file| file.set_len(1 << 40)).expect("it can be made");
    let output = gpusched(&["simulate", &file.display().to_string()]);
    refused(&output, "takes at least 1048576 MiB of memory");
    assert!(stderr(&output).contains("--max-memory"));
    let (_, file) = written("record", &scenario(r#", "period": "1 us", "jobs": 40000000"#, ""));
    refused(
        &gpusched(&["simulate", &file, "--rules", "--max-memory", "1G"]),
        "--rules: the record of 40000000 operations takes at least",
    );
    let (_, endless) = written("record-until", &scenario(r#", "period": "1 us""#, ""));
    let page = directory.join("run.html").display().to_string();
    let simulate = ["simulate", &endless, "--horizon", "40s", "--html", &page];
    let within = |limits: [&'static str; 4]| gpusched(&[&simulate[..], &limits].concat());
    let output = within(["--max-memory", "1G", "--max-time", "10s"]);
    refused(&output, "--html: the record of 40000000 operations takes at least");
    // Where there is room for it, it is told before anything is run.
    let output = within(["--max-memory", "64G", "--max-time", "1ms"]);
    let told = "note: --html needs the record of the whole run: 40000000 operations or more, which take at least";
    assert!(stderr(&output).starts_with(told), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_signal_ends_a_command_in_the_middle_of_writing_and_leaves_no_file() {
    let (directory, file) = written("signal", &scenario(r#", "period": "1 us", "jobs": 200000"#, ""));
    for signal in ["-TERM", "-INT"] {
        let html = directory.join("run.json");
        let mut child = Command::new(env!("CARGO_BIN_EXE_gpusched"))
            .args(["simulate", &file, "--force", "--perfetto", &html.display().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // Until it writes.
        while files(&directory).len() == 1 {
            assert!(child.try_wait().expect("it is a child").is_none(), "it has not ended yet");
            std::thread::sleep(Duration::from_millis(2));
        }
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
        assert!(killed.success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(130), "stopped by a signal: nothing more is told\n"),
            "{signal}"
        );
        assert_eq!(files(&directory), ["scenario.json"], "{signal}");
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_an_endless_stream_is_too_much_for_strict_limits_though_nothing_is_known_beforehand() {
    // A horizon ends the run of a stream that goes on for ever; what repeats is simulated only if that is asked for.
    let (_, file) = written("endless", &scenario(r#", "period": "1 us""#, ""));
    let long = ["simulate", &file, "--horizon", "1000s", "--limits", "strict", "--no-repeat"];
    ended(&gpusched(&long), 3, "simulated operations, which is what --limits strict allows");
    assert_eq!(gpusched(&long[..6]).status.code(), Some(0), "a billion equal jobs are the work of a few");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_applications_that_submit_more_than_a_run_can_have_are_refused_before_any_scheduler_runs() {
    let directory = directory("ending/applications");
    let file = directory.join("applications.json");
    let with = |blocks: u32, launches: u32| {
        let text = format!(
            r#"{{"format": "gpusched-applications/1", "name": "a", "injection": {{"random": {{"count": 1000000, "gap": "1 ms"}}}},
                "applications": [{{"name": "A", "class": "low", "requirement": "1 s", "kernels": [{{"blocks": {blocks},
                "threads": 1024, "block_time": "1 us", "launches": {launches}}}]}}]}}"#
        );
        fs::write(&file, text).expect("it can be written");
        gpusched(&["evr", &file.display().to_string()])
    };
    refused(
        &with(1, 51),
        "gpu-evr submits at least 51000000 operations for these applications; a run has 50000000 at most",
    );
    // An SM of the K20m holds two of these blocks, and it has 13.
    refused(&with(26 * 17 + 1, 3), "gpu-evr submits at least 54000000 operations");
}
