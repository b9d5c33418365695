//! Tables of single blocks as logs: what `audit`, `replay-log` and `convert` make of them. The logs are those of a B200
//! as they were measured (repository memory-of-star/gpu_sheduler_survey, commit 40885e9f, 2026: the order of SMs and
//! the ends of kernels), or by hand.

use std::fs;
use std::path::{Path, PathBuf};

use gpusched::device::{Device, DeviceSpec, Placement};
use serde_json::Value;

use crate::common::{self, document, gpusched, json, stderr};
use crate::generate::builtin;
use crate::gpcs::measured;

fn write(test: &str, name: &str, text: &str) -> PathBuf {
    let path = common::directory(&format!("block-logs-{test}")).join(name);
    fs::write(&path, text).expect("it can be written");
    path
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Six kernels of 148 blocks each, as the survey's columns have them; each begins and ends at these microseconds.
fn chain(test: &str, times: [(u32, u32); 6]) -> String {
    let mut rows = vec!["tag,kernel_id,block_id,sm_id,t_launch,t_dep_satisfied,t_end\n".to_owned()];
    for (kernel, (start, end)) in times.into_iter().enumerate() {
        for (block, sm) in measured().into_iter().enumerate() {
            let ns = |us: u32| 1_785_763_899_513_000_000 + u64::from(us) * 1_000;
            let (start, end) = (ns(start), ns(end));
            rows.push(format!("chain6,{kernel},{block},{sm},{start},{start},{end}\n"));
        }
    }
    shown(&write(test, "chain.csv", &rows.concat()))
}

/// Ends of 1.021, 1.532, 2.042, 2.553, 3.065 and 3.576 ms: with PDL. Each begins when the one before the last has
/// ended.
const WITH_PDL: [(u32, u32); 6] =
    [(0, 1_021), (511, 1_532), (1_022, 2_042), (1_533, 2_553), (2_043, 3_065), (2_554, 3_576)];
/// Ends of 1.020, 2.043, 3.065, 4.088, 5.112 and 6.134 ms: without.
const WITHOUT: [(u32, u32); 6] =
    [(0, 1_020), (1_023, 2_043), (2_045, 3_065), (3_068, 4_088), (4_092, 5_112), (5_114, 6_134)];

/// A B200 that had no programmatic dependent launch.
fn older(test: &str) -> String {
    let change = |spec: &mut DeviceSpec| {
        "8.0".clone_into(&mut spec.compute_capability);
        (spec.pdl_trigger_latency, spec.pdl_wait_latency) = Default::default();
    };
    let device = builtin("b200").with(change).expect("it is a GPU");
    shown(&write(test, "older.json", &device.to_json()))
}

fn rules(document: &Value) -> Vec<(&str, u64)> {
    let found = document["violations"].as_array().expect("a list").iter();
    found.map(|found| (found["rule"].as_str().expect("text"), found["by"].as_u64().expect("a number"))).collect()
}

#[test]
fn no_block_of_a_b200_that_is_filled_once_is_unexplained() {
    for (test, times) in [("pdl", WITH_PDL), ("plain", WITHOUT)] {
        let log = chain(test, times);
        let replay = json(&["replay-log", &log, "--format", "json"]);
        assert_eq!((&replay["sm_decidable"], &replay["sm_equal"]), (&888.into(), &888.into()), "{test}");
        // What the host's launches and the gap between kernels may add.
        assert!(replay["max_start_error_ns"].as_u64().is_some_and(|apart| apart < 10_000), "{test}");
        let audit = json(&["audit", &log, "--format", "json"]);
        assert_eq!(rules(&audit), [], "{test}");
        let placement = &audit["placement"];
        assert_eq!((&placement["policy"], &placement["followed"]), (&"gpc".into(), &888.into()), "{test}");
    }
}

#[test]
fn programmatic_launches_are_named_on_a_gpu_that_has_them_and_are_violations_on_another() {
    let log = chain("named", WITH_PDL);
    let output = gpusched(&["audit", &log]);
    assert!(output.status.success());
    let told = stderr(&output);
    assert!(told.contains("PDL: 5 kernels began before the one before in its stream had ended"), "{told}");

    let output = gpusched(&["audit", &log, "--device", &older("named-older"), "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    // From each begin to the end of the kernel before it.
    let early = [510_000, 510_000, 509_000, 510_000, 511_000];
    assert_eq!(rules(&document(&output)), early.map(|by| ("G4", by)));

    let plain = gpusched(&["audit", &chain("not-named", WITHOUT)]);
    assert!(plain.status.success() && !stderr(&plain).contains("PDL"));
    // In streams of their own nothing is before them.
    let apart =
        json(&["audit", &log, "--device", &older("apart"), "--columns", "stream=kernel_id", "--format", "json"]);
    assert_eq!(rules(&apart), []);
}

#[test]
fn the_same_log_is_read_under_the_names_of_others() {
    // Two kernels of two blocks on a GPU of two SMs; the second goes on 100 us after the first.
    let logs = [
        (
            "a",
            "thread_id,stream_id,sm_id,block_id,start,end\n0,1,0,0,0,900000\n0,1,1,1,0,900000\n\
            0,1,0,0,1000000,1900000\n0,1,1,1,1000000,1900000\n",
            "",
        ),
        (
            "b",
            "task,block,smid,start_cyc,end_cyc\nA,0,0,0,900000\nA,1,1,0,900000\n\
            B,0,0,1000000,1900000\nB,1,1,1000000,1900000\n",
            "clock_mhz=1000",
        ),
        (
            "c",
            "time_start,time_end,sm_id,block_idx_x,block_idx_y\n0,900000,0,0,0\n0,900000,1,1,0\n\
            1000000,1900000,0,0,0\n1000000,1900000,1,1,0\n",
            "",
        ),
        (
            "d",
            "when\tuntil\twhere\tnumber\n0\t0.9\t0\t0\n0\t0.9\t1\t1\n1\t1.9\t0\t0\n1\t1.9\t1\t1\n",
            "start_ms=when,end_ms=until,sm=where,block=number",
        ),
    ];
    for (name, text, columns) in logs {
        let log = shown(&write("names", &format!("{name}.csv"), text));
        let columns: &[&str] = if columns.is_empty() { &[] } else { &["--columns", columns] };
        let replay = json(&[&["replay-log", &log, "--device", "tx2", "--format", "json"], columns].concat());
        let times: Vec<_> = replay["kernels"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|kernel| {
                (
                    kernel["measured_start_ns"].as_i64(),
                    kernel["simulated_finish_ns"].as_i64(),
                    kernel["blocks"].as_u64(),
                )
            })
            .collect();
        assert_eq!(times, [(Some(0), Some(900_000), Some(2)), (Some(1_000_000), Some(1_900_000), Some(2))], "{name}");
        let converted = json(&[&["convert", &log, "--device", "tx2"], columns].concat());
        assert_eq!(converted["kernels"].as_object().map(serde_json::Map::len), Some(2), "{name}");
    }
}

#[test]
fn blocks_of_a_run_are_read_back_as_they_ran() {
    // Priorities, several streams, NULL stream; no copies, which no log shows.
    for (scenario, kernels, blocks) in [
        ("rtss2017/figure-5", 6, 18),
        ("rtss2017/figure-6", 3, 40),
        ("rtss2017/figure-7", 4, 32),
        ("ospert2017/figure-5", 3, 18),
    ] {
        let csv = shown(&common::directory(&format!("block-logs-{}", scenario.replace('/', "-"))).join("blocks.csv"));
        let output = gpusched(&["simulate", &format!("scenarios/{scenario}.json"), "--blocks-csv", &csv]);
        assert!(output.status.success(), "{}", stderr(&output));
        let audit = json(&["audit", &csv, "--device", "tx2", "--format", "json"]);
        assert_eq!(rules(&audit), [], "{scenario}");
        assert_eq!((&audit["checked"]["kernels"], &audit["checked"]["blocks"]), (&kernels.into(), &blocks.into()));
        assert!(!audit["notes"].to_string().contains("not checked"), "all that can be told is: {}", audit["notes"]);
        let replay = json(&["replay-log", &csv, "--device", "tx2", "--format", "json"]);
        assert_eq!((&replay["max_start_error_ns"], &replay["blocks"]), (&0.into(), &blocks.into()), "{scenario}");
        assert_eq!(replay["sm_decidable"], replay["sm_equal"], "{scenario}");
    }
}

#[test]
fn the_order_of_a_b200_is_found_from_one_wave_and_its_device_file_replays_it() {
    let log = chain("learned", WITHOUT);
    // A GPU of as many SMs of which nothing is known.
    let change = |spec: &mut DeviceSpec| (spec.gpcs, spec.placement) = (None, Placement::MostRoom);
    let unknown = builtin("b200").with(change).expect("it is a GPU");
    let unknown = shown(&write("unknown", "unknown.json", &unknown.to_json()));
    let found = shown(&common::directory("block-logs-found").join("found.json"));
    let learned =
        json(&["audit", &log, "--device", &unknown, "--learn-placement", "--write-device", &found, "--format", "json"]);
    let [run] = learned["learned_placement"].as_array().expect("a list").as_slice() else { panic!("one run") };
    let best = &run["tried"][0];
    assert_eq!((&best["policy"], &best["followed"], &best["decidable"]), (&"gpc".into(), &888.into(), &888.into()));
    assert_eq!(best["first_elsewhere"], Value::Null);
    // Where ascending numbers fail first.
    let ascending = run["tried"].as_array().expect("a list").iter().find(|tried| tried["order"] == "ascending");
    let first = &ascending.expect("it was tried")["first_elsewhere"];
    assert_eq!((&first["block"], &first["sm"], &first["predicted"]), (&0.into(), &142.into(), &0.into()));

    let text = fs::read_to_string(&found).expect("it was written");
    let device = Device::from_json("found", &text).expect("it is a device file");
    assert_eq!(device.gpcs, builtin("b200").gpcs);
    assert_eq!(device.placement, Placement::Gpc);
    assert!(device.sources["gpcs"].contains("888 of 888"), "{:?}", device.sources["gpcs"]);
    let replay = json(&["replay-log", &log, "--device", &found, "--format", "json"]);
    assert_eq!((&replay["sm_decidable"], &replay["sm_equal"]), (&888.into(), &888.into()));
}

#[test]
fn an_order_of_no_gpcs_is_found_as_a_list_of_sms() {
    // By hand: SMs 2, 0, 3, 1, and again.
    let rows: Vec<String> = (0..8).map(|block| format!("{block},{},0,100000\n", [2, 0, 3, 1][block % 4])).collect();
    let rows = rows.concat();
    let log = shown(&write("list", "list.csv", &format!("block,sm,start_ns,end_ns\n{rows}")));
    let four = builtin("tx2").with(|spec| (spec.sms, spec.sms_per_tpc) = (4, 1)).expect("it is a GPU");
    let four = shown(&write("four", "four.json", &four.to_json()));
    let learned = json(&["audit", &log, "--device", &four, "--learn-placement", "--format", "json"]);
    let best = &learned["learned_placement"][0]["tried"][0];
    assert_eq!(
        (&best["order"], &best["followed"], &best["decidable"]),
        (&"as kernel served them".into(), &8.into(), &8.into())
    );
}

#[test]
fn of_blocks_that_lack_what_they_take_no_wait_is_judged() {
    // By hand: the second block waits for the first on a GPU that is empty but for it.
    let rows = "0,0,0,1000000\n1,0,1000000,2000000\n";
    let judged = |header: &str, more: &str| {
        let rows = rows.lines().map(|row| format!("{row}{more}\n")).collect::<Vec<_>>().concat();
        let log = shown(&write("untold", "untold.csv", &format!("block,sm,start_ns,end_ns{header}\n{rows}")));
        document(&gpusched(&["audit", &log, "--device", "tx2", "--format", "json"]))
    };
    let untold = judged("", "");
    assert_eq!(rules(&untold), []);
    assert!(untold["notes"].to_string().contains("no log tells threads, shared_memory_bytes, registers_per_thread"));
    let told = judged(",threads,shared_memory_bytes,registers_per_thread", ",32,0,32");
    assert_eq!(rules(&told).first().map(|(rule, _)| *rule), Some("work conservation"));
}

#[test]
fn a_directory_stands_for_its_tables_where_it_has_no_other_logs() {
    let log = write("folder", "blocks.csv", "block,sm,start_ns,end_ns\n0,0,0,9\n");
    let folder = shown(log.parent().expect("it is in one"));
    let audit = json(&["audit", &folder, "--device", "tx2", "--format", "json"]);
    assert_eq!(audit["checked"]["blocks"], 1);
    let output = gpusched(&["audit", &shown(&write("none", "t.csv", "a,b\n1,2\n")), "--columns", "sm=a"]);
    assert!(stderr(&output).contains("no column is known to say start"), "{}", stderr(&output));
}

#[test]
fn a_log_where_a_scenario_is_expected_is_told_which_commands_read_it() {
    let table = chain("as-scenario", WITHOUT);
    let log = r#"{"scenario_name": "s", "benchmark_name": "B", "max_resident_threads": 4096, "data_size": 0,
        "release_time": 0.0, "PID": 1, "TID": 1, "times": [{}]}"#;
    let log = shown(&write("as-scenario-log", "log.json", log));
    for (command, file, what) in [("simulate", &table, "a table of blocks"), ("analyze", &log, "a log")] {
        let refused = gpusched(&[command, file]);
        let expected = format!(
            "error: {file} is {what}, not a scenario: audit and replay-log judge it, and convert makes a scenario of it\n"
        );
        assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), expected));
    }
}

/// One kernel of 4 blocks, launched to stream S by each of these hosts, 2 ms apart.
fn launched_by(test: &str, hosts: &[&str]) -> String {
    let host = |(number, name): (usize, &&str)| {
        format!(r#"{{"name": "{name}", "release": "{} ms", "steps": [{{"launch": "K", "stream": "S"}}]}}"#, 2 * number)
    };
    let hosts: Vec<String> = hosts.iter().enumerate().map(host).collect();
    let scenario = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "s", "device": "tx2", "kernels": {{"K": {{"blocks": 4,
        "threads": 512, "duration": "1 ms"}}}}, "streams": [{{"name": "S"}}], "hosts": [{}]}}"#,
        hosts.join(", ")
    );
    shown(&write(test, "scenario.json", &scenario))
}

#[test]
fn a_table_of_blocks_belongs_to_the_host_that_alone_launches_to_its_stream() {
    let scenario = launched_by("host", &["main"]);
    let table = scenario.replace("scenario.json", "blocks.csv");
    gpusched(&["simulate", &scenario, "--blocks-csv", &table]);
    let audited = gpusched(&["audit", &table, "--scenario", &scenario]);
    assert_eq!(audited.status.code(), Some(0), "{}", stderr(&audited));
    let refused = gpusched(&["audit", &table, "--scenario", &launched_by("hosts", &["one", "two"])]);
    let expected = "blocks.csv is the log of no benchmark of the scenario, by name or label, nor does a host alone launch to \
                    a stream \"S\"; it has one, two\n";
    assert!(refused.status.code() == Some(2) && stderr(&refused).ends_with(expected), "{}", stderr(&refused));
}

/// With their scenario, which says which blocks are of one cluster. 64 blocks of `gemm`, in clusters of 16, wait for a
/// GPC in the shipped run; one that begins 100 us late, or on the SM of another GPC, is no cluster.
#[test]
fn clusters_of_a_log_are_checked_where_a_scenario_states_them() {
    let scenario = "scenarios/rules/clusters.json";
    let table = shown(&write("clusters", "run.csv", ""));
    gpusched(&["simulate", scenario, "--blocks-csv", &table]);
    let text = fs::read_to_string(&table).expect("it is written");
    let audited = |name: &str, text: &str, arguments: &[&str]| {
        let table = shown(&Path::new(&table).with_file_name(name));
        fs::write(&table, text).expect("it can be written");
        gpusched(&[&["audit", &table, "--device", "h100", "--format", "json"], arguments].concat())
    };
    let known = ["--scenario", scenario];
    let document = |name: &str, text: &str, arguments: &[&str]| -> Value {
        serde_json::from_slice(&audited(name, text, arguments).stdout).expect("JSON")
    };
    assert_eq!(rules(&document("same.csv", &text, &known)), []);
    let replayed = gpusched(&["replay-log", &table, "--device", "h100", "--scenario", scenario]);
    assert!(replayed.status.success(), "{}", stderr(&replayed));
    let heading: Vec<&str> = text.lines().next().expect("a heading").split(',').collect();
    let column = |name: &str| heading.iter().position(|column| *column == name).expect("it is there");
    let changed = |name: &str, change: &dyn Fn(&str) -> String| {
        let mut is_changed = false;
        let lines = text.lines().map(|line| {
            let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if !is_changed && cells[column("kernel")] == "gemm" {
                let cell = &mut cells[column(name)];
                *cell = change(cell);
                is_changed = true;
            }
            cells.join(",") + "\n"
        });
        lines.collect::<String>()
    };
    let late = changed("start_ns", &|at| (at.parse::<u64>().expect("a number") + 100_000).to_string());
    assert!(rules(&document("late.csv", &late, &known)).iter().any(|(rule, _)| *rule == "cluster"));
    let elsewhere = changed("sm", &|_| "131".to_owned());
    assert!(rules(&document("elsewhere.csv", &elsewhere, &known)).iter().any(|(rule, _)| *rule == "cluster"));
    // Without the scenario nobody knows why gemm waited.
    let output = audited("alone.csv", &text, &[]);
    assert!(stderr(&output).contains("no log tells which kernels have clusters"), "{}", stderr(&output));
    let unnumbered = text.replacen(",block,", ",what,", 1);
    let output = audited("unnumbered.csv", &unnumbered, &known);
    assert!(
        stderr(&output).contains("no column tells the number of a block, by which these go"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_table_is_of_the_device_that_its_scenario_states_not_of_the_smallest_with_its_sms() {
    // The fifth block waits for 10 ms, while six of the eight SMs of a Xavier are idle; a TX2 has two.
    let rows = [(0, 0, 0), (1, 1, 0), (2, 0, 0), (3, 1, 0), (4, 0, 10)];
    let rows = rows
        .map(|(block, sm, ms)| format!("k,s,{block},{sm},0,{},{},1024,0,0\n", ms * 1_000_000, (ms + 10) * 1_000_000));
    let head = "kernel,stream,block,sm,launched_ns,start_ns,end_ns,threads,shared_memory_bytes,registers_per_thread\n";
    let table = write("scenario-device", "log.csv", &[head, &rows.concat()].concat());
    let scenario = table.with_file_name("own.json");
    let audit = |device: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "five", {device}
                "kernels": {{"k": {{"blocks": 5, "threads": 1024, "duration": "10 ms"}}}},
                "streams": [{{"name": "s", "operations": [{{"kernel": "k"}}]}}]}}"#
        );
        fs::write(&scenario, text).expect("it can be written");
        let output = gpusched(&["audit", &shown(&table), "--scenario", &shown(&scenario)]);
        (output.status.code(), stderr(&output).contains("device xavier, as "))
    };
    assert_eq!(audit(r#""device": "xavier", "#), (Some(1), true));
    assert_eq!(audit(""), (Some(0), false));
}
