//! `gpusched tasks` as its user meets it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{directory, gpusched, json, stderr, stdout};

pub(crate) const TABLE_1: &str = r#"{
  "comment": "RTNS 2020, Table 1 and Fig. 2",
  "sms": 2, "priority_levels": 2,
  "tasks": [
    {"name": "tau1", "C": 3, "T": 10, "D": 10, "PC": 0, "sm": 0},
    {"name": "tau2", "C": 5, "T": 15, "D": 15, "PC": 0, "sm": 0},
    {"name": "tau3", "C": 4, "T": 12, "D": 12, "PC": 0, "sm": "all"},
    {"name": "tau4", "C": 1, "T": 10, "D": 10, "PC": 0, "sm": 1}
  ],
  "reservation": {"period": 12, "single": {"offset": 0, "budget": 8}, "all": {"offset": 8, "budget": 4}}
}"#;

fn file(directory: &Path, text: &str) -> String {
    let path = directory.join("tasks.json");
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

#[test]
fn every_no_has_its_task_instant_demand_and_supply() {
    let directory = directory("tasks_reasons");
    let file = file(&directory, TABLE_1);
    let report = json(&["tasks", &file, "--format", "json"]);
    assert_eq!(report["necessary"], true);
    assert_eq!(report["tests"]["exact"]["sm0"], false);
    assert_eq!(report["tests"]["exact"]["all"], true);
    assert_eq!(report["tests"]["harmonic"]["sm0"], Value::Null);
    assert_eq!(report["tests"]["harmonic"]["schedulable"], Value::Null);
    let reasons = report["reasons"].as_array().expect("a list");
    let of = |test: &str| reasons.iter().find(|reason| reason["test"] == test).expect("there is one");
    let sbf = of("sbf");
    assert_eq!((&sbf["on"], &sbf["task"]), (&Value::from("sm0"), &Value::from("tau1")));
    // dbf(30) = 3 * 3 + 2 * 5; sbf(30) = 2 * 8 + 6 - 4.
    assert_eq!([&sbf["instant"], &sbf["demand"], &sbf["supply"]], [30.0, 19.0, 18.0]);
    assert_eq!(of("exact")["text"], "the job of tau1 released at 50 misses its deadline 60 with 1 left to do");
}

#[test]
fn a_check_that_fails_is_exit_status_1() {
    let directory = directory("tasks_check");
    let file = file(&directory, TABLE_1);
    assert_eq!(gpusched(&["tasks", &file, "--check", "exact"]).status.code(), Some(1));
    assert_eq!(gpusched(&["tasks", &file, "--reservation-period", "10", "--tests", "sbf"]).status.code(), Some(0));
    assert_eq!(gpusched(&["tasks", &file, "--tests", "sbf", "--check", "exact"]).status.code(), Some(2));
    assert_eq!(gpusched(&["tasks", "run", &file, "--strategy", "gang", "--check"]).status.code(), Some(1));
    assert_eq!(gpusched(&["tasks", "run", &file, "--strategy", "sm-as-core", "--check"]).status.code(), Some(0));
    assert_eq!(gpusched(&["tasks"]).status.code(), Some(2));
}

#[test]
fn bad_task_files_are_located() {
    let directory = directory("tasks_bad");
    for (from, to, expected) in [
        ("\"D\": 15", "\"D\": 16", "tasks[1].D: expected a whole number from 1 to 15, found 16"),
        ("\"sm\": 1", "\"sm\": 2", "tasks[3].sm: expected an SM from 0 to 1, or \"all\", found 2"),
        ("\"tau2\"", "\"tau1\"", "two tasks are called \"tau1\""),
        ("\"offset\": 8", "\"offset\": 7", "reservation.all: the reservations \"single\" and \"all\" overlap"),
        ("\"C\": 5, ", "", "the key \"C\" is missing, and there is no \"kernel\""),
        ("\"C\": 5", "\"C\": 0", "tasks[1].C: expected a whole number from 1"),
        ("\"period\": 12", "\"period\": 0", "reservation.period: expected a whole number from 1"),
        ("\"sms\"", "\"cpus\"", "a file of tasks with CPU and GPU segments states \"format\": \"gpusched-segments/1\""),
        ("\"PC\": 0, \"sm\": 1", "\"pc\": 0, \"sm\": 1", "unknown key \"pc\""),
    ] {
        let file = file(&directory, &TABLE_1.replacen(from, to, 1));
        let output = gpusched(&["tasks", &file]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{to}: {text}");
        assert!(text.contains(expected), "{to}: {text}");
    }
}

#[test]
fn c_follows_from_the_kernel_and_the_sms_it_uses() {
    let directory = directory("tasks_kernel");
    let text = r#"{"sms": 2, "tasks": [
        {"T": 1000, "D": 39, "sm": "all", "kernel": {"blocks": 9, "threads": 1024, "block_time": 10}},
        {"T": 1000, "sm": 0, "kernel": {"blocks": 9, "threads": 1024, "block_time": 10}}
    ]}"#;
    let file = file(&directory, text);
    // 4 blocks at once on both SMs: 3 waves. 2 at once on one: 5 waves, which block tau1.
    let report = json(&["tasks", &file, "--format", "json"]);
    assert_eq!(report["reasons"][0]["text"], "tau1 at t = 39: demand 30 plus blocking 50 by tau2 exceeds supply 39");
    let run = json(&["tasks", "run", &file, "--strategy", "single-stream", "--format", "json"]);
    assert_eq!((&run["tasks"][0]["response"]["max"], &run["tasks"][1]["response"]["max"]), (&30.into(), &80.into()));
}

#[test]
fn curves_are_the_same_bytes_for_any_number_of_threads_and_go_on_where_they_stopped() {
    let directory = directory("tasks_curve");
    let path = |name: &str| directory.join(name).display().to_string();
    let curve = |jobs: &str, out: &str| {
        let output =
            gpusched(&["tasks", "curve", "--figure-number", "8", "--samples", "20", "--jobs", jobs, "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (fs::read_to_string(out).expect("it was written"), said)
    };
    let (whole, said) = curve("1", &path("one.csv"));
    assert_eq!(said, format!("wrote {}\n", path("one.csv")), "no progress where nobody sees it");
    assert_eq!(whole.lines().count(), 2 + 7 + 4);
    assert_eq!(curve("3", &path("three.csv")).0, whole);
    // A run that was interrupted in the middle of a row, and a row in which a digit changed.
    let cut = whole[..whole.len() - 40].to_owned();
    let third = whole.match_indices('\n').nth(3).expect("there are more rows").0 + 1;
    let changed = format!("{}9{}", &whole[..third], &whole[third + 1..]);
    for damaged in [cut, changed] {
        fs::write(path("damaged.csv"), &damaged).expect("it can be written");
        let (mended, said) = curve("2", &path("damaged.csv"));
        assert_eq!(mended, whole);
        assert!(said.contains("bytes behind the last sound row are cut off"), "{said}");
    }
    let other = gpusched(&["tasks", "curve", "--figure-number", "8", "--samples", "21", "--out", &path("one.csv")]);
    assert_eq!(other.status.code(), Some(2));
    assert_eq!(fs::read_to_string(path("one.csv")).expect("it is there"), whole);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_figures_have_the_format_of_their_extension() {
    let directory = directory("tasks_figures");
    let set = file(&directory, TABLE_1);
    let figure = directory.join("figure.svg").display().to_string();
    for arguments in [
        vec!["tasks", &set, "--figure", &figure, "--figure-of", "all"],
        vec!["tasks", "run", &set, "--strategy", "gang", "--figure", &figure],
        vec!["tasks", "curve", "--samples", "2", "--figure", &figure],
    ] {
        let output = gpusched(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(&figure).expect("it was written");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{arguments:?}");
        fs::remove_file(&figure).expect("it is there");
    }
    let png = directory.join("figure.png").display().to_string();
    gpusched(&["tasks", "run", &set, "--strategy", "gang", "--figure", &png]);
    assert!(fs::read(&png).expect("it was written").starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(gpusched(&["tasks", "run", &set, "--strategy", "gang", "--figure", "a.gif"]).status.code(), Some(2));
}

#[test]
fn schema_and_reader_know_the_same_keys() {
    let schema: Value =
        serde_json::from_str(&gpusched::schema::json_schema("tasks").expect("it exists")).expect("JSON");
    let known = |text: &str| {
        let device = gpusched::device::Device::builtin("tx2").expect("sound").expect("built in");
        let error = gpusched::tasks::TaskSet::from_json("in.json", text, &device).expect_err("an unknown key");
        let help = error.help.expect("it lists the known keys");
        let keys = help.split(": ").nth(1).expect("a list").split(", ");
        keys.filter(|key| *key != "comment").map(str::to_owned).collect::<Vec<_>>()
    };
    let in_schema = |node: &Value| {
        let mut keys: Vec<String> = node["properties"].as_object().expect("an object").keys().cloned().collect();
        // Every file may name its schema, which is no key of ours.
        keys.retain(|key| key != "$schema");
        keys.sort_unstable();
        keys
    };
    let task = &schema["$defs"]["task"];
    let all = r#"{"sms": 1, "tasks": [{"C": 1, "T": 1, "sm": 0}], "x": 1}"#;
    assert_eq!(known(all), in_schema(&schema));
    assert_eq!(known(&all.replace("\"C\"", "\"x\": 1, \"C\"")), in_schema(task));
    let kernel =
        r#"{"sms": 1, "tasks": [{"kernel": {"x": 1, "blocks": 1, "threads": 1, "block_time": 1}, "T": 1, "sm": 0}]}"#;
    assert_eq!(known(kernel), in_schema(&task["properties"]["kernel"]));
}

/// The witnesses of docs/errata.md: (file, test, its answer, that of `exact`).
#[test]
fn witnesses_of_rtns_2020_are_answered_as_the_errata_say() {
    for (file, test, answer, exact) in [
        ("theorem-5-left", "sbf", false, true),
        ("theorem-5-left", "chunks", true, true),
        ("theorem-5-right", "sbf", true, true),
        ("theorem-5-right", "chunks", false, true),
        ("algorithm-1-job-without-chunk", "chunks-as-printed", true, false),
        ("algorithm-1-job-without-chunk", "chunks", false, false),
        ("theorem-6-deadline-before-budget", "harmonic-as-printed", true, false),
        ("theorem-6-deadline-before-budget", "harmonic", false, false),
        ("theorem-6-quotient", "harmonic", false, false),
        ("lemma-3-halved-jobs", "digraph", true, true),
        ("lemma-3-short-tasks", "digraph", false, true),
        ("lemma-3-long-tasks", "digraph", false, true),
        ("budget-as-printed", "sbf", false, false),
        ("budget-with-period", "sbf", true, true),
    ] {
        let path = format!("{}/witnesses/rtns2020/{file}.json", env!("CARGO_MANIFEST_DIR"));
        let report = json(&["tasks", &path, "--tests", &format!("{test},exact"), "--format", "json"]);
        assert_eq!(report["tests"][test]["sm0"], answer, "{file}, {test}");
        assert_eq!(report["tests"]["exact"]["sm0"], exact, "{file}");
    }
}

#[test]
fn lemma_1_as_printed_accepts_a_task_that_misses_its_deadline() {
    let path = |file: &str| format!("{}/witnesses/rtns2020/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let name = "multi-stream-as-printed";
    for file in ["lemma-1-last-wave", "lemma-1-two-blockings"] {
        let report = json(&["tasks", &path(file), "--tests", name, "--format", "json"]);
        assert_eq!((&report["tests"][name], &report["tests"]["multi-stream"]), (&true.into(), &false.into()), "{file}");
        assert!(report["notes"][0].as_str().is_some_and(|note| note.contains("proves nothing")));
        assert!(json(&["tasks", &path(file), "--format", "json"])["tests"][name].is_null(), "only if asked for");
    }
    // The first wave of l ends at 5000, then h takes one wave and a fifth block, beside which blocks of l start, until
    // 11000.
    let file = path("lemma-1-last-wave");
    let run = json(&["tasks", "run", &file, "--strategy", "multi-stream", "--horizon", "3", "--format", "json"]);
    let missed = &run["tasks"][2]["first_miss"];
    assert_eq!((&missed["finish"], &missed["deadline"]), (&15_000.into(), &11_002.into()));
    let check = gpusched(&["tasks", &file, "--tests", name, "--check", name]);
    assert_eq!(check.status.code(), Some(2));
}

#[test]
fn a_test_that_is_not_sound_has_no_part_in_a_verdict() {
    let witness = format!("{}/witnesses/rtns2020/algorithm-1-job-without-chunk.json", env!("CARGO_MANIFEST_DIR"));
    let report = json(&["tasks", &witness, "--tests", "chunks-as-printed", "--format", "json"]);
    assert_eq!(report["tests"]["chunks-as-printed"]["schedulable"], Value::Null);
    assert!(report["notes"][0].as_str().is_some_and(|note| note.contains("proves nothing")));
    let by_default = json(&["tasks", &witness, "--format", "json"]);
    assert!(by_default["tests"]["chunks-as-printed"].is_null() && by_default["tests"]["exact"]["sm0"] == false);
    let check = gpusched(&["tasks", &witness, "--tests", "chunks-as-printed", "--check", "chunks-as-printed"]);
    assert_eq!(check.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&check.stderr).contains("accepts sets that miss deadlines"));
}

#[test]
fn multi_stream_accepts_nothing_for_which_it_is_not_proved() {
    let directory = directory("tasks_multi_stream");
    let answer = |levels: u32, second: &str| {
        let first = r#"{"T": 100, "D": 20, "sm": "all", "kernel": {"blocks": 5, "threads": 256, "block_time": 3}}"#;
        let text = format!(r#"{{"sms": 2, "priority_levels": {levels}, "tasks": [{first}, {second}]}}"#);
        let report = json(&["tasks", &file(&directory, &text), "--format", "json"]);
        (report["tests"]["multi-stream"].clone(), report["notes"].to_string())
    };
    let of_all = |threads: u32| {
        let kernel = format!(r#""kernel": {{"blocks": 3, "threads": {threads}, "block_time": 7}}"#);
        format!(r#"{{"T": 100, "D": 60, "sm": "all", {kernel}}}"#)
    };
    assert_eq!(answer(2, &of_all(256)).0, true);
    // Of one priority nothing runs beside a job.
    assert_eq!(answer(1, &of_all(1024)).0, true);
    let (unequal, notes) = answer(2, &of_all(1024));
    assert!(unequal.is_null() && notes.contains("proved for blocks of one shape"), "{unequal} {notes}");
    let (bound, notes) = answer(2, r#"{"T": 100, "D": 60, "sm": 0, "C": 7, "PC": 7}"#);
    assert!(bound.is_null() && notes.contains("proved for tasks of all SMs"), "{bound} {notes}");
}

/// `studies/rtns2020-parameters.csv`, by the values of its first columns.
fn searched() -> Vec<Vec<String>> {
    let path = format!("{}/studies/rtns2020-parameters.csv", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("the study is committed");
    // Lists of periods are quoted, and hold commas.
    let row = |line: &str| -> Vec<String> {
        let (periods, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",").expect("the quote ends"),
            None => line.split_once(',').expect("it has columns"),
        };
        std::iter::once(periods).chain(rest.split(',')).map(str::to_owned).collect()
    };
    text.lines().map(row).collect()
}

#[test]
fn the_search_over_what_rtns_2020_does_not_state_counts_as_the_page_says() {
    let rows = searched();
    let column = |name: &str| rows[0].iter().position(|other| other == name).expect("it is a column");
    let (sbf, chunks, gang, single) =
        (column("sbf"), column("chunks"), column("gang_utilization_permille"), column("utilization_permille"));
    let mut settings = std::collections::BTreeMap::<Vec<String>, (u32, u32)>::new();
    for row in &rows[1..] {
        let number = |column: usize| row[column].parse::<f64>().expect("a number");
        // Sets accepted of 200.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 200")]
        let accepted = |column: usize| (200.0 * number(column)).round() as u32;
        if number(gang) + number(single) <= 1000.0 {
            let sums = settings.entry(row[..single].to_vec()).or_default();
            sums.0 += accepted(sbf);
            sums.1 += accepted(chunks);
        }
    }
    let ahead: Vec<_> = settings.iter().filter(|(_, (sbf, chunks))| chunks > sbf).map(|(setting, _)| setting).collect();
    let with = |column: usize, value: &str| ahead.iter().filter(|setting| setting[column] == value).count();
    let page = fs::read_to_string(format!("{}/docs/tasks.md", env!("CARGO_MANIFEST_DIR"))).expect("it is there");
    let said = format!("in {} of {} settings", ahead.len(), settings.len());
    assert!(page.contains(&said), "docs/tasks.md does not say \"{said}\"");
    assert_eq!(with(column("deadlines_from_percent"), "100"), 0, "never with D = T");
    assert_eq!(with(column("periods"), "[10000]"), 24, "always with one period and D < T");
}

#[test]
fn a_point_of_the_search_over_what_rtns_2020_does_not_state_is_as_committed() {
    let row = searched().into_iter().find(|row| {
        let setting: Vec<&str> = row.iter().take(7).map(String::as_str).collect();
        setting == ["[10000]", "drawn", "75", "3", "2", "500", "300"]
    });
    let row = row.expect("the search has it");
    let output = gpusched(&[
        "tasks",
        "curve",
        "--periods",
        "10000",
        "--gang-utilization",
        "500",
        "--samples",
        "200",
        "--tests",
        "sbf,chunks",
    ]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("0.500,0.300,")).expect("it has the point");
    let fields: Vec<&str> = line.split(',').collect();
    let head = &searched()[0];
    let committed = |name: &str| {
        let column = head.iter().position(|other| other == name).expect("it is a column");
        (200.0 * row[column].parse::<f64>().expect("a number")).round().to_string()
    };
    assert_eq!(fields[4..6], [committed("sbf"), committed("chunks")]);
}

/// Fig. 6 with tasks of twice the reservation's period: all three tests are high at low load, and chunks then fall at
/// once.
#[test]
fn a_reservation_has_the_period_that_is_asked_for() {
    let curve = |options: &[&str]| gpusched(&[&["tasks", "curve", "--samples", "50"], options].concat());
    let given = ["--figure-number", "6", "--reservation-period", "5000", "--tests", "sbf,sbf-linear,chunks"];
    let text = String::from_utf8(curve(&given).stdout).expect("it is text");
    let accepted = |point: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("0.200,{point},50,50,"))).expect(point);
        line.split(',').map(|count| count.parse::<u64>().expect("a count")).collect::<Vec<_>>()
    };
    assert_eq!(accepted("0.200"), [50, 50, 50]);
    // SBF* has less than the gang tasks' 0.2 T by 0.8 T: it refuses the sets, 1 in 25, in which both deadlines are
    // earlier.
    let [sbf, linear, chunks] = accepted("0.300")[..] else { panic!("three tests") };
    assert!((sbf, chunks) == (50, 50) && (40..50).contains(&linear), "{linear}");
    for point in ["0.400", "0.500", "0.600"] {
        assert_eq!(accepted(point)[2], 0, "{point}");
    }
    let refused = curve(&["--harmonic", "--reservation-period", "7"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no period of the list divides 7"));
    assert_eq!(curve(&["--shortest-reservation", "--reservation-period", "5000"]).status.code(), Some(2));
}

#[test]
fn a_curve_says_the_same_in_every_format_and_with_intervals_for_people_and_programs() {
    for panel in [&["--gang-utilization", "300"][..], &["--segments", "utilization"]] {
        let curve = [&["tasks", "curve", "--samples", "7", "--seed", "5"], panel].concat();
        let of = |format: &str| {
            let output = gpusched(&[&curve[..], &["--format", format]].concat());
            assert!(output.status.success(), "{}", stderr(&output));
            stdout(&output)
        };
        let as_they_come = stdout(&gpusched(&curve));
        let lines: Vec<&str> = as_they_come.lines().filter(|line| !line.starts_with('#')).collect();
        let names: Vec<&str> = lines[0].split(',').collect();
        let document: Value = serde_json::from_str(&of("json")).expect("JSON");
        let (csv, table) = (of("csv"), of("table"));
        assert_eq!(csv.lines().next(), Some(lines[0]));
        assert_eq!((csv.lines().count(), table.lines().count()), (lines.len(), lines.len()));
        for (number, line) in lines[1..].iter().enumerate() {
            let point = &document["points"][number];
            for (name, value) in names.iter().zip(line.split(',')) {
                let value: f64 = value.parse().expect("a number");
                let accepted = &point["accepted"][*name];
                if accepted.is_null() {
                    assert!(point["at"][*name] == value || point[*name] == 7, "{name} {point}");
                    continue;
                }
                assert_eq!(accepted["count"].as_f64(), Some(value), "{name} {point}");
                let [low, share, high] = ["low", "value", "high"].map(|key| accepted[key].as_f64().expect("a share"));
                assert!(
                    low <= share && share <= high && low < high && (7.0 * share - value).abs() < 1e-9,
                    "{accepted}"
                );
            }
        }
        // Wilson's interval for 7 of 7: 1 / (1 + 1.96^2 / 7) = 0.646.
        assert!(table.contains("100 % [65, 100]") || table.contains("100.0 % [64.6, 100.0]"), "{table}");
    }
}
