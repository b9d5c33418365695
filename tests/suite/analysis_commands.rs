//! `analyze`, `compare`, `orders` and `merged-sm` as their user meets them: exit status, CSV, Ctrl-C.

use std::fs;
use std::process::Command;

use crate::common::{command, directory, gpusched, gpusched_with, json, stderr, stdout};

const SECTION_3_5: &str = "scenarios/thesis2019/section-3-5.json";

/// Header and other lines of what a command prints.
fn csv(arguments: &[&str]) -> (String, Vec<String>) {
    let output = gpusched(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert!(text.ends_with('\n') && !text.contains('\r'));
    let mut lines = text.lines().map(str::to_owned);
    (lines.next().expect("there is a header"), lines.collect())
}

/// Nine blocks of 512 threads and 5 ms: eight at 0, one at 5 ms, so it finishes at 10 ms.
fn ten_milliseconds(test: &str, stream: &str) -> String {
    let path = directory(test).join("scenario.json");
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "ten ms",
            "kernels": {{"K": {{"blocks": 9, "threads": 512, "duration": "5 ms"}}}},
            "streams": [{{"name": "S", {stream} "operations": [{{"kernel": "K"}}]}}]}}"#
    );
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn check_of_analyze_is_exit_status_1_if_a_deadline_is_missed_or_not_known_to_be_met() {
    for (test, stream, arguments, status) in [
        ("check_met", r#""deadline": "10 ms","#, &["--check"][..], 0),
        ("check_missed", r#""deadline": "9999999 ns","#, &["--check"], 1),
        ("check_not_asked", r#""deadline": "9 ms","#, &[], 0),
        ("check_period", r#""period": "9 ms", "jobs": 1,"#, &["--check"], 1),
        ("check_unknown", r#""deadline": "20 ms","#, &["--check", "--horizon", "7 ms"], 1),
    ] {
        let file = ten_milliseconds(test, stream);
        let output = gpusched(&[&["analyze", &file, "--format", "json"], arguments].concat());
        assert_eq!(output.status.code(), Some(status), "{test}: {}", String::from_utf8_lossy(&output.stderr));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the answer is given anyway");
        let kernel = &document["kernels"][0];
        let schedulable = match test {
            "check_unknown" => serde_json::Value::Null,
            "check_met" => true.into(),
            _ => false.into(),
        };
        assert_eq!(kernel["schedulable"], schedulable, "{test}");
    }
}

#[test]
fn check_of_analyze_without_a_deadline_is_refused() {
    let file = ten_milliseconds("check_none", "");
    for arguments in [&["analyze", &file, "--check"][..], &["analyze", &file, "--check", "--format", "json"]] {
        let output = gpusched(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains("no job has a deadline to check, and no chain a limit; --deadline STREAM=TIME"),
            "{arguments:?}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(gpusched(&["analyze", &file]).status.code(), Some(0));
}

#[test]
fn check_of_compare_is_exit_status_1_if_a_finish_differs() {
    assert_eq!(gpusched(&["compare", SECTION_3_5, "--check"]).status.code(), Some(0));
    // 6 blocks of 512 threads leave 512 free on each SM: merged, one of 1024 fits.
    let path = directory("check_of_compare").join("scenario.json");
    let text = r#"{"format": "gpusched-scenario/1", "name": "differs",
        "kernels": {"K": {"blocks": 6, "threads": 512, "duration": "5 ms"},
                    "L": {"blocks": 1, "threads": 1024, "duration": "2 ms"}},
        "streams": [{"name": "S", "operations": [{"kernel": "K"}]}, {"name": "T", "operations": [{"kernel": "L"}]}]}"#;
    fs::write(&path, text).expect("it can be written");
    let file = path.display().to_string();
    assert_eq!(gpusched(&["compare", &file, "--check"]).status.code(), Some(1));
    let (_, rows) = csv(&["compare", &file, "--format", "csv"]);
    // Merged: 0 + 2 ms. Simulated: L waits for K's blocks, 5 + 2 ms.
    assert!(rows[1].starts_with("1,L,1,T,1,0,7000000,2000000,-5000000,"), "{rows:?}");
}

#[test]
fn analyze_as_csv_has_one_line_a_kernel_in_nanoseconds() {
    let (header, rows) = csv(&["analyze", SECTION_3_5, "--format", "csv"]);
    assert_eq!(
        header,
        "id,kernel,benchmark,label,stream,iteration,threads,blocks,g_max,launched_ns,released_ns,finish_ns,response_ns,\
         safe_finish_ns,deadline_ns,schedulable,safely_schedulable"
    );
    // The thesis, section 3.5: f = 4, 10, 12, 11 s; each stream has one kernel, T = 15 s.
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[1], "1,K2,1,S2,1,0,512,7,8,0,0,10000000000,10000000000,10000000000,15000000000,true,true");
}

#[test]
fn compare_draws_scenarios_with_events_too() {
    let file = directory("compare-events").join("both.svg").display().to_string();
    let output = gpusched(&["compare", "scenarios/events/double-buffering.json", "--figure", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(std::fs::read_to_string(&file).expect("it was drawn").contains("merged SM"));
}

#[test]
fn compare_as_csv_has_one_line_a_kernel_in_nanoseconds() {
    let (header, rows) = csv(&["compare", SECTION_3_5, "--format", "csv"]);
    assert_eq!(
        header,
        "id,kernel,benchmark,label,stream,iteration,simulated_finish_ns,analysed_finish_ns,difference_ns,safe_finish_ns"
    );
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3], "3,K4,3,S4,3,0,11000000000,11000000000,0,11000000000");
}

#[test]
fn orders_as_csv_have_one_line_a_kernel_in_nanoseconds() {
    let (header, rows) = csv(&["orders", SECTION_3_5, "--format", "csv"]);
    assert_eq!(
        header,
        "id,kernel,benchmark,label,stream,iteration,best_finish_ns,worst_finish_ns,best_order,worst_order"
    );
    assert_eq!(rows.len(), 4);
    // K1 first: at 4. After K2 (6 at 0 s, then 2 blocks of K3, one of them at 6 s) its blocks start at 6: at 10.
    assert_eq!(rows[0], "0,K1,0,S1,0,0,4000000000,10000000000,S1 S2 S3 S4,S2 S3 S1 S4");
}

const CAMPAIGN_HEADER: &str = "family,samples,equal,optimistic,pessimistic,max_error,max_optimistic_error,max_error_ns";

#[test]
fn merged_sm_as_csv_has_one_line_a_family_and_errors_relative_to_the_response() {
    let arguments = ["merged-sm", "--samples", "40", "--family", "equal-any", "--family", "chains", "--format", "csv"];
    let (header, rows) = csv(&arguments);
    assert_eq!(header, CAMPAIGN_HEADER);
    // By the theorem of docs/analysis.md, section 2, and its proof for chains.
    assert_eq!(rows, ["equal-any,40,40,0,0,0,0,0", "chains,40,40,0,0,0,0,0"]);
}

/// Waits until a process catches SIGINT: before that the signal would end it.
#[cfg(target_os = "linux")]
fn wait_until_it_catches_sigint(process: u32) {
    let catches = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim().to_owned();
        Some(u64::from_str_radix(&caught, 16).ok()? & 0b10 != 0)
    };
    for _ in 0..6_000 {
        if catches() == Some(true) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("SIGINT is not caught within a minute");
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_merged_sm_with_what_is_done_so_far_and_exit_status_130() {
    use std::process::Stdio;

    let all = (1_u64 << 40).to_string();
    let child = command()
        .args(["merged-sm", "--samples", &all, "--family", "chains", "--family", "releases", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    wait_until_it_catches_sigint(child.id());
    // It has samples to tell only once it has begun, which takes longer on a busy machine.
    std::thread::sleep(std::time::Duration::from_millis(700));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "stopped by a signal: what is told is what was complete by then\n"
    );
    let text = String::from_utf8(output.stdout).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, CAMPAIGN_HEADER));
    for (line, family) in lines[1..].iter().zip(["chains", "releases"]) {
        let fields: Vec<&str> = line.split(',').collect();
        let samples: u64 = fields[1].parse().expect("a number");
        assert_eq!((fields.len(), fields[0]), (8, family));
        assert!(samples < 1 << 40);
        // Both families always agree.
        assert_eq!(fields[1], fields[2]);
    }
}

/// On one SM of one block: K from 0 to 3 ms, then H, which is urgent and comes at 2 ms, and L, which comes at 1 ms. If
/// K could end before H comes, L's 10 ms would be in H's way.
fn best_case_decides() -> String {
    let tx2 = gpusched(&["devices", "tx2", "--format", "json"]);
    let mut device: serde_json::Value = serde_json::from_slice(&tx2.stdout).expect("it is a device");
    device["sms"] = 1.into();
    (device["per_sm"]["threads"], device["per_sm"]["warps"]) = (1024.into(), 32.into());
    let kernel = |time: &str| serde_json::json!({"blocks": 1, "threads": 1024, "duration": time});
    let scenario = serde_json::json!({
        "format": "gpusched-scenario/1", "name": "best case", "device": device,
        "kernels": {"K": kernel("3 ms"), "L": kernel("10 ms"), "H": kernel("4 ms")},
        "streams": [
            {"name": "k", "operations": [{"kernel": "K"}]},
            {"name": "l", "release": "1 ms", "operations": [{"kernel": "L"}]},
            {"name": "h", "priority": -1, "release": "2 ms", "deadline": "6 ms", "operations": [{"kernel": "H"}]},
        ],
    });
    scenario.to_string()
}

#[test]
fn verdicts_may_be_asked_for_blocks_that_take_no_less_than_stated() {
    let scenario = best_case_decides();
    let of_h = |more: &[&str]| {
        let arguments = [&["analyze", "-", "--format", "json"], more].concat();
        let output = gpusched_with(&scenario, &arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
        let jobs = document["jobs"].as_array().expect("a list").clone();
        let h = jobs.into_iter().find(|job| job["stream"] == "h").expect("it is there");
        let found = h["worst_found_ns"].as_u64().expect("it ends");
        (found, h["verdict"].as_str().expect("it has a deadline").to_owned(), document["notes"].to_string())
    };
    let (found, verdict, notes) = of_h(&[]);
    assert!(found > 13_000_000 && verdict == "missed" && !notes.contains("no less than"), "{found} {verdict} {notes}");
    for times in ["stated", "90..100"] {
        // From 2 ms until K has ended, at 3 ms at the latest, and its own 4 ms.
        let (found, verdict, notes) = of_h(&["--block-times", times]);
        assert_eq!((found, notes.contains("no less than")), (5_000_000, true), "{times}: {verdict} {notes}");
        assert_ne!(verdict, "missed", "{times}");
        let table = gpusched_with(&scenario, &["analyze", "-", "--block-times", times]);
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        assert!(table.contains("\nverdicts hold for blocks that take no less than"), "{table}");
    }
    // With a third of its time K has ended when H comes, and L has begun.
    assert_eq!(of_h(&["--block-times", "30..100"]).1, "missed");
    for option in ["--slack", "--sensitivity"] {
        let refused = gpusched_with(&scenario, &["analyze", "-", "--block-times", "stated", option]);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(why.contains(&format!("{option} holds for blocks that take any shorter time")), "{why}");
    }
}

#[test]
fn runs_of_millions_of_blocks_are_searched_only_if_that_is_asked_for() {
    // Two hosts that launch again as soon as they are done, as of a public reproduction of LithOS (head-of-line
    // blocking): without deadlines, each run would take millions of blocks one by one.
    let file = r#"{"format": "gpusched-scenario/1", "name": "closed loops", "device": "a100-80gb-pcie",
        "horizon": "600 ms", "mps": true, "processes": {"A": {}, "B": {}},
        "kernels": {"small": {"blocks": 16, "threads": 128, "duration": "4 us"},
                    "large": {"blocks": 20000, "threads": 128, "duration": "900 us"}},
        "streams": [{"name": "a", "process": "A"}, {"name": "b", "process": "B"}],
        "hosts": [{"name": "B", "process": "B", "time_limit": "600 ms",
                   "steps": [{"repeat": 20, "steps": [{"launch": "large", "stream": "b"}]}, {"synchronize": "b"}]},
                  {"name": "A", "process": "A", "time_limit": "600 ms",
                   "steps": [{"launch": "small", "stream": "a"}, {"synchronize": "a"}, {"sleep": "355 us"}]}]}"#;
    let path = directory("closed-loops").join("loops.json");
    std::fs::write(&path, file).expect("it can be written");
    let output = gpusched(&["analyze", &path.display().to_string()]);
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("blocks are more than 1000000; --search TIME looks for longer ones"), "{said}");
}

#[test]
fn a_search_takes_no_memory_for_blocks_that_can_only_be_alike() {
    let scenario = |blocks: u32, rest: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "many blocks", "kernels": {{
                "K": {{"blocks": {blocks}, "threads": 256, "duration": "1 ms"}},
                "unused": {{"blocks": 2147483647, "threads": 256, "duration": "1 ms"}}}}, "streams": [{rest}]}}"#
        )
    };
    let launched = r#"{"name": "S", "operations": [{"kernel": "K"}]}, {"name": "T", "operations": [{"kernel": "K"}]}"#;
    let waiting = r#"{"name": "S"}], "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "S"},
        {"synchronize": "S"}, {"launch": "K", "stream": "S"}]}"#;
    // 8 bytes a block were 17 GB.
    for (blocks, rest, time, worst) in
        [(2_147_483_647, launched, "1 ms", "268435.456 s"), (20, waiting, "10 ms", "4 ms")]
    {
        let arguments = ["analyze", "-", "--search", time, "--verdicts", "--max-memory", "1G"];
        let output = gpusched_with(&scenario(blocks, rest), &arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(worst), "{text}{}", stderr(&output));
    }
}

#[test]
fn what_asks_for_more_time_than_there_is_is_told_by_run_and_analyses() {
    let scenario = |period: &str, threads: u32| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "camera", "device": "tx2", "horizon": "50 ms",
                "kernels": {{"K": {{"blocks": 4, "threads": {threads}, "duration": "1200 us"}}}},
                "streams": [{{"name": "camera", "period": "{period}", "operations": [{{"kernel": "K"}}]}},
                    {{"name": "lidar", "period": "{period}", "operations": [{{"kernel": "K"}}]}}]}}"#
        )
    };
    // Of 4 blocks of 1,024 threads two are on each of two SMs.
    let of_stream = "stream \"camera\" is overloaded: its operations, one after the other, take 120.0 % of the time";
    let of_gpu = "the GPU is overloaded: blocks take 120.0 % of its thread slots at least";
    for (period, threads, told) in
        [("1 ms", 64, Some(of_stream)), ("2 ms", 1024, Some(of_gpu)), ("2400 us", 1024, None)]
    {
        for command in [&["simulate", "-"][..], &["analyze", "-"], &["analyze", "-", "--sporadic"]] {
            let notes = stderr(&gpusched_with(&scenario(period, threads), command));
            assert_eq!(notes.contains("overloaded"), told.is_some(), "{notes}");
            assert!(told.is_none_or(|told| notes.contains(told)), "{notes}");
        }
    }
}

/// Each thread is looked at beside each other: thousands of streams that share channels took minutes.
#[test]
fn more_threads_than_are_analysed_together_have_no_bound_and_that_is_said() {
    let stream = |number| format!(r#"{{"name": "S{number}", "operations": [{{"kernel": "K"}}]}}"#);
    let streams: Vec<String> = (0..2_001).map(stream).collect();
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "many", "device": "tx2",
            "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 us"}}}}, "streams": [{}]}}"#,
        streams.join(", ")
    );
    let path = directory("many-threads").join("scenario.json");
    fs::write(&path, text).expect("it can be written");
    let output = gpusched(&["analyze", path.to_str().expect("text"), "--search", "1ms", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = "no bound is given: 2001 threads or streams do jobs: no more than 2000 are analysed together";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn of_a_job_that_the_horizon_cuts_it_is_said_that_it_takes_longer_than_until_then() {
    let file = directory("cut-job").join("light.json");
    let text = r#"{"format": "gpusched-scenario/1", "name": "one light stream", "device": "tx2",
        "kernels": {"k": {"blocks": 2, "threads": 512, "duration": "15 ms"}},
        "streams": [{"name": "S", "period": "20 ms", "operations": [{"kernel": "k"}]}]}"#;
    fs::write(&file, text).expect("it can be written");
    let file = file.display().to_string();
    let last = |horizon: &str| {
        let told = stdout(&gpusched(&["analyze", &file, "--horizon", horizon]));
        told.lines().find(|line| line.starts_with(" S          5")).expect("the sixth job").to_owned()
    };
    assert!(last("113ms").contains("longer than 13 ms"), "{}", last("113ms"));
    // One that comes just as the run ends is none of those that are judged.
    let at_end = gpusched(&["analyze", &file, "--horizon", "100ms", "--check"]);
    assert_eq!(at_end.status.code(), Some(0), "{}", stderr(&at_end));
    assert!(stdout(&at_end).contains("5 proven, 0 missed, 0 open"), "{}", stdout(&at_end));
    assert!(stderr(&at_end).contains("just as the run ends is not judged (jobs: 1)"), "{}", stderr(&at_end));
    assert!(last("115ms").contains(" 15 ms  15 ms"), "{}", last("115ms"));
    // Numbers are as ever.
    let rows = json(&["analyze", &file, "--horizon", "113ms", "--format", "json"]);
    assert!(rows.to_string().contains("13000001"), "{rows}");
}
