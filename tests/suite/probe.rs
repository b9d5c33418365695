//! `audit --probe`: which answer a card gave, for folders as the probe writes them. What the card measured is a
//! simulation of each answer, which has to be told; the probe's own experiments are tried in `probe/tests`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use gpusched::device::Device;
use serde_json::{Value, json};

use crate::common::{directory, document, gpusched, overwritten, stderr};

/// A card as the driver tells of it: with the limits of a TX2.
fn card() -> Value {
    let device: Value =
        serde_json::from_str(Device::builtin_json("tx2").expect("it is built in")).expect("it is sound");
    let mut card = json!({"name": "Card 7", "driver": "12.4", "mps": false, "timer_step_ns": 32});
    for key in ["compute_capability", "sms", "per_sm", "per_block"] {
        card[key] = device[key].clone();
    }
    card
}

/// A folder of a test, with one question of one experiment `e`.
struct Folder {
    path: PathBuf,
    question: Value,
}

impl Folder {
    /// Of scenarios for each answer, the first of which is what was run, and what is changed of the device for each.
    fn new(test: &str, looks_at: &str, answers: &[(&str, &str, Value)]) -> Self {
        let path = directory(test);
        let mut listed = Vec::new();
        for (place, (answer, rest, device)) in answers.iter().enumerate() {
            let name = if place == 0 { "e.json".to_owned() } else { format!("e.{place}.json") };
            let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "e", {rest}}}"#);
            fs::write(path.join(&name), text).expect("it can be written");
            let mut one = json!({"answer": answer, "switch": format!("--switch {place}"), "device": device});
            if place > 0 {
                one["scenario"] = name.into();
            }
            listed.push(one);
        }
        let question =
            json!({"name": "q", "question": "Which?", "experiment": "e", "looks_at": looks_at, "answers": listed});
        Self { path, question }
    }

    fn file(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Measures what is so if an answer is true, on a device like the card with `device` in it.
    fn measure(&self, answer: usize, device: &Value) {
        let mut file: Value =
            serde_json::from_str(Device::builtin_json("tx2").expect("it is built in")).expect("it is sound");
        let patches = [&self.question["answers"][answer]["device"], device];
        for (key, value) in patches.iter().flat_map(|patch| patch.as_object().expect("an object")) {
            file[key] = value.clone();
        }
        fs::write(self.path.join("device.json"), file.to_string()).expect("it can be written");
        let scenario = if answer == 0 { "e.json".to_owned() } else { format!("e.{answer}.json") };
        let (scenario, device, table) = (self.file(&scenario), self.file("device.json"), self.file("e.csv"));
        let output = gpusched(&["simulate", &scenario, "--device", &device, "--blocks-csv", &table]);
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn write(&self) {
        let probe = json!({"format": "gpusched-probe/1", "card": card(), "date": "2026-11-30",
            "questions": [self.question]});
        fs::write(self.path.join("probe.json"), probe.to_string()).expect("it can be written");
    }

    fn audit(&self, more: &[&str]) -> Output {
        self.write();
        gpusched(&[&["audit", "--probe", &self.path.display().to_string(), "--device", "tx2"], more].concat())
    }

    /// The rows.
    fn told(&self) -> Vec<Value> {
        let output = self.audit(&["--format", "json"]);
        document(&output)["questions"].as_array().expect("rows").clone()
    }
}

fn none() -> Value {
    json!({})
}

/// Two kernels, launched in this order to these streams.
fn kernels(first: &str, second: &str, streams: [&str; 2]) -> String {
    let kernel = r#"{"blocks": 2, "threads": 1024, "shared_memory_bytes": 32768, "duration": "2 ms", "registers_per_thread": 0}"#;
    let [one, other] = streams;
    format!(
        r#""kernels": {{"K1": {kernel}, "K2": {kernel}}},
        "streams": [{{"name": "A", "blocking": false}}, {{"name": "B", "blocking": false}}],
        "hosts": [{{"name": "H", "steps": [{{"launch": "{first}", "stream": "{one}"}}, {{"launch": "{second}", "stream": "{other}"}}]}}]"#
    )
}

#[test]
fn each_answer_is_told_where_it_is_measured_and_another_than_the_first_is_a_contradiction() {
    let answers = [
        ("beside", &*kernels("K1", "K2", ["A", "B"]), none()),
        ("one after the other", &*kernels("K1", "K2", ["A", "A"]), none()),
    ];
    let folder = Folder::new("probe-order", "order", &answers);
    for (place, verdict) in [(0, "agrees"), (1, "contradicts")] {
        folder.measure(place, &none());
        let rows = folder.told();
        let row = &rows[0];
        assert_eq!((&row["answer"], &row["verdict"]), (&json!(answers[place].0), &json!(verdict)));
        assert_eq!((&row["agreeing_runs"], &row["runs"], &row["taken"]), (&json!(1), &json!(1), &json!("beside")));
        let switch = if place == 0 { Value::Null } else { json!("--switch 1") };
        assert_eq!(row["switch"], switch);
        assert_eq!(folder.audit(&[]).status.code(), Some(i32::from(place > 0)));
    }
    // What nobody expected: the second kernel is there alone.
    fs::write(
        folder.path.join("e.csv"),
        "kernel,launch,stream,block,sm,start_ns,end_ns\nK1,0,A,0,0,5000000,7000000\nK2,1,B,0,0,0,1000000\n",
    )
    .expect("it can be written");
    let rows = folder.told();
    assert_eq!(rows[0]["verdict"], "none of the answers");
}

#[test]
fn most_runs_say_and_how_many_is_told() {
    let answers =
        [("beside", &*kernels("K1", "K2", ["A", "B"]), none()), ("after", &*kernels("K1", "K2", ["A", "A"]), none())];
    let folder = Folder::new("probe-runs", "order", &answers);
    let row = |run: u32, kernel: u32, start: u32| {
        format!("{run},K{kernel},{},A{kernel},0,{kernel},{},{}\n", kernel - 1, start, start + 2_000_000)
    };
    let mut table = "run,kernel,launch,stream,block,sm,start_ns,end_ns\n".to_owned();
    for run in 0..4 {
        let second = if run < 3 { 2_100_000 } else { 100_000 };
        table += &[row(run, 1, 0), row(run, 2, second)].concat();
    }
    fs::write(folder.path.join("e.csv"), table).expect("it can be written");
    let rows = folder.told();
    assert_eq!(
        (&rows[0]["answer"], &rows[0]["agreeing_runs"], &rows[0]["runs"]),
        (&json!("after"), &json!(3), &json!(4))
    );
}

#[test]
fn answers_that_one_run_does_not_tell_apart_are_both_named() {
    let one = kernels("K1", "K2", ["A", "B"]);
    let folder = Folder::new("probe-alike", "order", &[("this", &one, none()), ("that", &one, none())]);
    folder.measure(0, &none());
    assert_eq!(folder.told()[0]["answer"], "this (or that: this run does not tell)");
}

#[test]
fn a_number_goes_into_the_device_file_with_where_it_is_from() {
    let full = r#""kernels": {"K": {"blocks": 12, "threads": 1024, "shared_memory_bytes": 49152, "duration": "200 us"}},
        "streams": [{"name": "A"}], "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "A"}]}]"#;
    let mut folder = Folder::new("probe-gap", "block_gap", &[("as the device file says", full, none())]);
    folder.question["measures"] = json!({"block_gap_ns": 1});
    folder.measure(0, &json!({"block_gap_ns": 960}));
    let device = folder.file("mine.json");
    let output = folder.audit(&["--write-device", &device, "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "new is no contradiction: {}", stderr(&output));
    let row = &document(&output)["questions"][0];
    assert_eq!((&row["verdict"], &row["taken"]), (&json!("new"), &json!("0 s")));
    assert!(row["answer"].as_str().expect("text").starts_with("block_gap_ns: 960 ns"), "{row}");
    let file: Value = serde_json::from_str(&fs::read_to_string(&device).expect("it is there")).expect("it is JSON");
    assert_eq!((&file["name"], &file["block_gap_ns"]), (&json!("tx2-probed"), &json!(960)));
    let source = file["sources"]["block_gap_ns"].as_str().expect("it has a source");
    assert!(source.contains("Card 7, driver 12.4, 2026-11-30"), "{source}");
    let scenario = folder.file("e.json");
    assert!(gpusched(&["simulate", &scenario, "--device", &device]).status.success());
    // A stated number that is another one.
    folder.write();
    let path = folder.path.display().to_string();
    let again = gpusched(&["audit", "--probe", &path, "--device", &device]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let other = folder.file("other.json");
    fs::write(&other, fs::read_to_string(&device).expect("it is there").replace("960", "20000"))
        .expect("it can be written");
    assert_eq!(gpusched(&["audit", "--probe", &path, "--device", &other]).status.code(), Some(1));
}

#[test]
fn placements_are_told_by_the_sms_of_blocks_and_go_into_the_device_file() {
    let many = r#""kernels": {"K": {"blocks": 8, "threads": 128, "duration": "2 ms"}},
        "streams": [{"name": "A"}], "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "A"}]}]"#;
    let answers = [
        ("most-room", many, none()),
        ("lowest-id", many, json!({"placement": "lowest-id"})),
        ("descending", many, json!({"sm_order": "descending"})),
    ];
    let folder = Folder::new("probe-placement", "placement", &answers);
    for (place, (answer, ..)) in answers.iter().enumerate() {
        folder.measure(place, &none());
        assert_eq!(folder.told()[0]["answer"], *answer);
    }
    let device = folder.file("mine.json");
    assert_eq!(folder.audit(&["--write-device", &device]).status.code(), Some(1));
    assert!(fs::read_to_string(&device).expect("it is there").contains(r#""sm_order": "descending""#));
}

/// Two processes whose blocks are soon over.
const TURNS: &str = r#""processes": {"P": {}, "Q": {}}, "kernels": {"K": {"blocks": 4000, "threads": 1024, "duration": "20 us", "clock": "wall"},
            "L": {"blocks": 4000, "threads": 1024, "duration": "20 us", "clock": "wall"}},
        "streams": [{"name": "A", "process": "P"}, {"name": "B", "process": "Q"}],
        "hosts": [{"name": "G", "process": "P", "steps": [{"launch": "K", "stream": "A"}]},
            {"name": "H", "process": "Q", "steps": [{"launch": "L", "stream": "B"}]}]"#;

#[test]
fn the_device_is_that_of_which_the_driver_tells_completed_by_what_is_known_of_such_cards() {
    let folder = Folder::new("probe-card", "order", &[("beside", &kernels("K1", "K2", ["A", "B"]), none())]);
    folder.measure(0, &none());
    let audited = |name: &str, capability: &str, sms: u32| {
        folder.write();
        let file = folder.path.join("probe.json");
        let mut probe: Value = serde_json::from_slice(&fs::read(&file).expect("it is there")).expect("it is JSON");
        for (key, value) in [("name", json!(name)), ("compute_capability", json!(capability)), ("sms", json!(sms))] {
            probe["card"][key] = value;
        }
        // The table of its compute capability says the rest.
        for key in ["per_sm", "per_block"] {
            probe["card"].as_object_mut().expect("an object").remove(key);
        }
        fs::write(&file, probe.to_string()).expect("it can be written");
        gpusched(&["audit", "--probe", &folder.path.display().to_string(), "--format", "json"])
    };
    for (name, capability, sms, device) in [
        ("NVIDIA L4", "8.9", 58, "l4"),
        ("NVIDIA H200", "9.0", 132, "h200"),
        ("Tesla V100-SXM2-16GB", "7.0", 80, "v100"),
        // None is built in of this name and size.
        ("NVIDIA RTX 4000 Ada", "8.9", 48, "nvidia-rtx-4000-ada"),
    ] {
        assert_eq!(document(&audited(name, capability, sms))["simulated_on"], device);
    }
    let unknown = audited("NVIDIA Z1", "99.0", 1);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("--device names a device that is like it"), "{}", stderr(&unknown));
}

#[test]
fn turns_of_two_processes_are_measured() {
    let mut folder = Folder::new("probe-turns", "turns", &[("as the device file says", TURNS, none())]);
    folder.question["measures"] = json!({"time_slice_ns": 1, "switch_cost_ns": 1});
    folder.measure(0, &none());
    let verdicts: Vec<_> = folder.told().iter().map(|row| row["verdict"].clone()).collect();
    assert_eq!(verdicts, ["agrees", "agrees"]);
    // By hand: slices of 2.09 ms and switches of 168 us, as an H100 has, in place of a TX2's 1.024 ms.
    folder.measure(0, &json!({"time_slice_ns": 2_090_000, "switch_cost_ns": 167_850}));
    let rows = folder.told();
    let number = |row: &Value| row["answer"].as_str().and_then(|said| said.split(' ').nth(1)?.parse::<f64>().ok());
    let (slice, switch) = (number(&rows[0]).expect("a number"), number(&rows[1]).expect("a number"));
    assert!((2.0..2.2).contains(&slice) && (160.0..200.0).contains(&switch), "{rows:?}");
    assert_eq!(rows[0]["verdict"], "contradicts");
}

#[test]
fn what_no_device_can_have_is_not_in_the_device_file_and_one_question_does_not_stop_the_others() {
    let mut folder = Folder::new("probe-odd", "turns", &[("as the device file says", TURNS, none())]);
    folder.question["measures"] = json!({"time_slice_ns": 1, "switch_cost_ns": 1});
    // Blocks in turn, each for no time.
    let row =
        |number: u32| format!("K,{number},{},0,0,{},{}\n", ["A", "B"][number as usize % 2], number * 100, number * 100);
    let head = "kernel,launch,process,block,sm,start_ns,end_ns\n".to_owned();
    fs::write(folder.path.join("e.csv"), head + &(0..9).map(row).collect::<String>()).expect("it can be written");
    let device = folder.file("mine.json");
    let output = folder.audit(&["--write-device", &device, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("not in the device file, as no device can have it"), "{}", stderr(&output));
    assert!(fs::read_to_string(&device).expect("it is there").contains(r#""time_slice_ns": 1024000"#));
    // What this device cannot simulate.
    folder.question["looks_at"] = json!("order");
    folder.question["answers"] = json!([{"answer": "in clusters", "device": {"sm_order": "nowhere"}}]);
    let rows = folder.told();
    assert_eq!(rows[0]["verdict"], "not asked");
    assert!(rows[0]["answer"].as_str().expect("text").starts_with("cannot be compared"), "{rows:?}");
    // Nothing to tell a number from.
    folder.question["looks_at"] = json!("kernel_gap");
    folder.question["answers"] = json!([{"answer": "as the device file says"}]);
    fs::write(folder.path.join("e.csv"), "kernel,block,sm,start_ns,end_ns\nK,0,0,0,10\n").expect("it can be written");
    let rows = folder.told();
    assert_eq!((rows.len(), &rows[0]["verdict"]), (1, &json!("not asked")));
}

#[test]
fn how_many_blocks_an_sm_holds_is_measured() {
    let small = r#""kernels": {"K": {"blocks": 200, "threads": 32, "duration": "5 ms"}},
        "streams": [{"name": "A"}], "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "A"}]}]"#;
    let mut folder = Folder::new("probe-slots", "resident", &[("32 an SM", small, none())]);
    folder.question["measures"] = json!({"per_sm.blocks": 1});
    folder.measure(0, &none());
    let rows = folder.told();
    assert_eq!(rows.iter().map(|row| row["verdict"].clone()).collect::<Vec<_>>(), ["agrees", "agrees"]);
    assert!(rows[1]["answer"].as_str().expect("text").starts_with("per_sm.blocks: 32 "), "{rows:?}");
}

#[test]
fn blocks_that_take_longer_than_stated_were_stopped() {
    let alone = r#""kernels": {"K": {"blocks": 2, "threads": 32, "duration": "5 ms"}},
        "streams": [{"name": "A"}], "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "A"}]}]"#;
    let folder = Folder::new("probe-time", "block_time", &[("are not stopped", alone, none())]);
    folder.measure(0, &none());
    assert_eq!(folder.told()[0]["verdict"], "agrees");
    fs::write(folder.path.join("e.csv"), "kernel,block,sm,start_ns,end_ns\nK,0,0,0,8000000\n")
        .expect("it can be written");
    assert_eq!(folder.told()[0]["verdict"], "none of the answers");
}

#[test]
fn what_was_not_asked_says_why_and_what_is_not_a_folder_of_the_probe_is_refused() {
    let mut folder = Folder::new("probe-bad", "order", &[("this", &kernels("K1", "K2", ["A", "B"]), none())]);
    folder.question["skipped"] = json!("no clusters before compute capability 9.0");
    let rows = folder.told();
    assert_eq!(
        (&rows[0]["verdict"], &rows[0]["answer"]),
        (&json!("not asked"), &json!("no clusters before compute capability 9.0"))
    );
    folder.question.as_object_mut().expect("an object").remove("skipped");
    let refused = |folder: &Folder, why: &str| {
        let output = folder.audit(&[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    };
    refused(&folder, "e.csv");
    folder.question["looks_at"] = json!("orders");
    refused(&folder, "questions[0].looks_at");
    folder.question["experiment"] = json!("../e");
    folder.question["looks_at"] = json!("order");
    refused(&folder, "the name of a file in this folder");
    folder.question["answers"] = json!([]);
    folder.question["experiment"] = json!("e");
    refused(&folder, "a question without answers");
    let path = folder.path.display().to_string();
    for (options, why) in [
        (&["audit", "--probe", &path, "--learn-placement"][..], "--learn-placement has no effect with --probe"),
        (&["audit", "--probe", &path, &path], "give one folder"),
        (&["audit", &path, "--write-device", "x.json"], "--write-device needs"),
        (&["audit", "--probe", "tests/data"], "probe.json"),
    ] {
        let output = gpusched(options);
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert!(!Path::new("x.json").exists());
}

/// The rows of docs/hardware.md for one report: what `audit --probe --format json` says, and by whom.
fn rows_of(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let asked = report["questions"].as_array().expect("rows").iter().filter(|row| row["verdict"] != "not asked");
    let row = |row: &Value| {
        let answer = format!("{} ({} of {} runs)", text(&row["answer"]), row["agreeing_runs"], row["runs"]);
        let said = [text(&row["asks"]), answer, text(&row["verdict"]), text(&report["card"]), text(&report["by"])];
        format!("| {} |\n", said.join(" | "))
    };
    asked.map(row).collect()
}

/// The section of docs/hardware.md for these reports.
fn section(reports: &[Value]) -> String {
    let head = "| question | answer | gpusched | measured on | by |\n| --- | --- | --- | --- | --- |\n";
    let rows: String = reports.iter().flat_map(rows_of).collect();
    if rows.is_empty() { "None so far.\n".to_owned() } else { head.to_owned() + &rows }
}

#[test]
fn reports_of_the_probe_have_their_rows_on_the_page_on_hardware() {
    let folder = Folder::new("probe-report", "order", &[("beside", &kernels("K1", "K2", ["A", "B"]), none())]);
    folder.measure(0, &none());
    let mut report = document(&folder.audit(&["--format", "json"]));
    report["by"] = json!("somebody");
    let expected = "| Which? | beside (1 of 1 runs) | agrees | Card 7, driver 12.4, mps false, timer step ns 32, \
        compute capability 6.2, sms 2; measured on 2026-11-30 | somebody |\n";
    assert_eq!(rows_of(&report), [expected]);
    assert_eq!(section(&[report]).lines().count(), 3);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(root.join("probe/reports")).into_iter().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &PathBuf| serde_json::from_slice(&fs::read(file).expect("it can be read")).expect("it is JSON");
    let reports: Vec<Value> = files.iter().map(read).collect();
    let path = root.join("docs/hardware.md");
    let page = fs::read_to_string(&path).expect("the page");
    let (before, _) = page.split_once("\n\n## Reports of the probe\n\n").expect("the section");
    let intro = "From [`probe/reports/`](../probe/reports/README.md): what cards answered, as somebody sent it.";
    let made = format!("{before}\n\n## Reports of the probe\n\n{intro}\n\n{}", section(&reports));
    assert!(made == page || overwritten("REPORTS", &path, &made), "REPORTS=overwrite cargo test reports_of_the_probe");
}

#[test]
fn what_is_open_of_newer_gpus_names_the_experiment_that_tells() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/hardware.md")).expect("the page");
    let newer = page.split_once("## Volta and Xavier").expect("the section").1;
    let known = |line: &str| line.split(" | ").nth(1).unwrap_or_default().to_owned();
    let is_open = |line: &&str| {
        line.starts_with('|')
            && ["assumed", "inferred", "reading", "not known"].iter().any(|word| known(line).contains(word))
    };
    let open: Vec<&str> = newer.lines().filter(is_open).collect();
    assert!(open.len() > 12, "{open:#?}");
    let silent: Vec<_> = open.iter().filter(|line| !known(line).contains("probe")).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}
