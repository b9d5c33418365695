//! The table of docs/proofs.md: every lemma is where it says, rests on nothing unproven, and Coq agrees; the table of
//! bounds in docs/analysis.md names files and lemmas that there are. The program that is proven to follow the rules
//! accepts the runs of shipped scenarios, and none of them with something changed.

mod certified;
mod chains;
mod clients;
mod forged;
mod forger;
mod hosts;
mod masks;
mod numbers;
mod random;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::common::{directory, gpusched};

/// Lemmas of the table, with the modules that they are in.
fn table() -> Vec<(String, String)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/proofs.md")).expect("the page");
    let rows = page.lines().filter(|line| line.contains("| `proofs/"));
    let cells = rows.map(|row| row.split('|').find(|cell| cell.contains("`proofs/")).expect("the row was found by it"));
    let names = cells.flat_map(|cell| {
        let mut names = cell.split('`').skip(1).step_by(2);
        let file = names.next().expect("a cell begins with its file");
        let module = file.strip_prefix("proofs/").and_then(|file| file.strip_suffix(".v")).expect("a file of Coq");
        names.map(move |name| (module.to_owned(), name.to_owned()))
    });
    names.collect()
}

/// All files of Coq, with what is in them.
fn sources() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let paths = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "v"));
    files.map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect()
}

#[test]
fn every_lemma_of_the_page_on_proofs_is_where_it_says() {
    let (table, sources) = (table(), sources());
    assert!(table.len() >= 10, "only {} lemmas", table.len());
    for (module, name) in table {
        let file = sources.iter().find(|(path, _)| path.ends_with(format!("proofs/{module}.v")));
        let (_, text) = file.unwrap_or_else(|| panic!("there is no proofs/{module}.v"));
        let is_there = ["Theorem", "Lemma"].iter().any(|kind| {
            let beginning = format!("{kind} {name}");
            let mut found = text.split(&beginning).skip(1);
            found.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        });
        assert!(is_there, "proofs/{module}.v has no {name}");
    }
}

/// Where the bounds of the page on analysis are computed.
const BOUNDS: &str = "core/src/analysis";

/// The rows of the table of bounds in docs/analysis.md: name, file, and what is said of Coq.
fn bounds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let page = include_str!("../../docs/analysis.md");
    let (_, section) = page.split_once("\n## Which bound is used when\n").expect("the page has a table of bounds");
    let section = section.split("\n## ").next().expect("a part");
    section.lines().filter(|line| line.starts_with("| ") && !line.contains("---")).skip(1).map(|row| {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [name, _, _, file, coq] = cells[..] else { panic!("a row has five cells: {row}") };
        (name, file.trim_matches('`'), coq)
    })
}

#[test]
fn every_bound_of_the_page_on_analysis_is_named_in_its_file_and_has_its_lemmas() {
    let lemmas = table();
    let bounds: Vec<_> = bounds().collect();
    assert!(bounds.len() > 20, "only {} bounds", bounds.len());
    for (name, file, coq) in bounds {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(BOUNDS).join(file);
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
        let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let head = head.join(" ").to_lowercase();
        assert!(head.contains(&format!("**{}**", name.to_lowercase())), "the head of {file} does not name {name}");
        for lemma in coq.split('`').skip(1).step_by(2) {
            assert!(lemmas.iter().any(|(_, known)| known == lemma), "{name}: docs/proofs.md has no {lemma}");
        }
    }
}

#[test]
fn no_proof_is_left_out_and_nothing_is_assumed() {
    for (path, text) in sources() {
        for word in ["Admitted", "admit", "give_up", "Axiom", "Parameter", "Conjecture", "Abort", "bypass_check"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

/// A folder of this name with what `make` makes of the proofs. It is kept while they and Coq are the same, as is what
/// cargo compiled.
fn made(name: &str, target: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let proofs = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let mut files = sources();
    for file in ["Makefile", "check.ml", "reading.ml", "programs.ml", "chains.ml", "certificates.ml"] {
        let path = proofs.join(file);
        files.push((path.clone(), fs::read_to_string(path).expect("text")));
    }
    files.sort();
    let version = Command::new("coqc").arg("--version").output().expect("it is there");
    let of = format!("{} {files:?}", String::from_utf8_lossy(&version.stdout));
    // Written last, and so not there if making it was broken off.
    let stamp = folder.join("made-of");
    if fs::read_to_string(&stamp).is_ok_and(|known| known == of) {
        return folder;
    }
    let folder = directory(name);
    for (path, text) in files {
        fs::write(folder.join(path.file_name().expect("a file")), text).expect("it can be written");
    }
    let made = Command::new("make").args(["--jobs", "2", target]).current_dir(&folder).output();
    let made = made.expect("there is a make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fs::write(stamp, of).expect("it can be written");
    folder
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_coq_checks_every_proof_and_finds_no_axiom_behind_the_lemmas_of_the_page() {
    if Command::new("coqc").arg("--version").output().is_err() {
        println!("skipped: there is no coqc here");
        return;
    }
    let folder = made("proofs", "all");

    let table = table();
    let asked = table.iter().map(|(module, name)| {
        format!("From gpusched Require {module}.\nPrint Assumptions gpusched.{module}.{name}.\n")
    });
    fs::write(folder.join("asked.v"), asked.collect::<String>()).expect("it can be written");
    let coqc = Command::new("coqc").args(["-Q", ".", "gpusched", "asked.v"]).current_dir(&folder).output();
    let coqc = coqc.expect("it ran before");
    assert!(coqc.status.success(), "{}", String::from_utf8_lossy(&coqc.stderr));
    let answers = String::from_utf8(coqc.stdout).expect("text");
    assert_eq!(answers, "Closed under the global context\n".repeat(table.len()));
}

/// All scenarios that are shipped.
fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let mut all = Vec::new();
    for path in entries {
        if path.is_dir() {
            all.extend(scenarios(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// The standard output of a command that succeeds.
fn printed(arguments: &[&str]) -> Vec<u8> {
    let output = gpusched(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The run with one block of a kernel later, earlier, left out, twice, or on an SM that there is not; or a copy later.
fn changed(run: &Value, sms: u64) -> Vec<Value> {
    let moved = |row: &mut Value, by: i64| {
        for key in ["start_ns", "end_ns"] {
            row[key] = json!(row[key].as_i64().expect("a time") + by);
        }
    };
    let mut all = Vec::new();
    for kernel in 0..run["kernels"].as_array().expect("a list").len() {
        let mut change = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut mutant = run.clone();
            change(mutant["kernels"][kernel]["placements"].as_array_mut().expect("a list"));
            all.push(mutant);
        };
        change(&|rows| moved(rows.last_mut().expect("a block"), 1));
        if run["kernels"][kernel]["last_start_ns"] != json!(0) {
            change(&|rows| moved(rows.last_mut().expect("a block"), -1));
        }
        change(&|rows| drop(rows.pop()));
        change(&|rows| {
            let mut twice = rows[0].clone();
            twice["block"] = json!(rows.len());
            rows.push(twice);
        });
        change(&|rows| rows[0]["sm"] = json!(sms));
    }
    for copy in 0..run["copies"].as_array().expect("a list").len() {
        let mut mutant = run.clone();
        moved(&mut mutant["copies"][copy], 1);
        all.push(mutant);
    }
    all
}

/// `gpusched-check` in a folder of its own.
struct Checker(PathBuf);

impl Checker {
    /// `None` without Coq or OCaml.
    fn new() -> Option<Self> {
        let has = |command: &str, arguments: &[&str]| {
            Command::new(command).args(arguments).output().is_ok_and(|output| output.status.success())
        };
        if has("coqc", &["--version"]) && has("ocamlfind", &["query", "yojson"]) {
            // Whoever comes first makes it for all.
            static MADE: LazyLock<PathBuf> = LazyLock::new(|| made("checker", "gpusched-check").join("gpusched-check"));
            let folder = directory(&format!("checks {:?}", std::thread::current().id()));
            fs::copy(&*MADE, folder.join("gpusched-check")).expect("it was made");
            return Some(Self(folder));
        }
        None
    }

    /// What comes is about this scenario. Its device.
    fn about(&self, file: &str) -> Value {
        let scenario = printed(&["convert", file]);
        let device = match &serde_json::from_slice::<Value>(&scenario).expect("JSON")["device"] {
            Value::String(name) => printed(&["devices", name, "--format", "json"]),
            Value::Null => printed(&["devices", "tx2", "--format", "json"]),
            device => device.to_string().into_bytes(),
        };
        fs::write(self.0.join("device.json"), &device).expect("it can be written");
        fs::write(self.0.join("scenario.json"), scenario).expect("it can be written");
        serde_json::from_slice(&device).expect("JSON")
    }

    /// The device or the scenario that [`about`](Self::about) wrote.
    fn written(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.0.join(name)).expect("it was written")).expect("JSON")
    }

    /// What it says of a run or a certificate.
    fn check(&self, about: &Value) -> Output {
        fs::write(self.0.join("about.json"), about.to_string()).expect("it can be written");
        let files = ["device.json", "scenario.json", "about.json"];
        Command::new(self.0.join("gpusched-check")).args(files).current_dir(&self.0).output().expect("it was made")
    }

    /// What a certificate of `text` comes to once that has something else in it: (stated, in its place, exit status of
    /// the checker). Says the certificate.
    fn certificate_of_changed(&self, text: &str, options: &[&str], others: &[(&str, &str, i32)]) -> Value {
        let file = self.0.join("changed.json");
        let path = file.to_str().expect("text");
        fs::write(&file, text).expect("it can be written");
        let genuine = self.certificate(path, options);
        for &(stated, other, expected) in others {
            let changed = text.replace(stated, other);
            assert_ne!(changed, text, "{stated}");
            fs::write(&file, changed).expect("it can be written");
            self.about(path);
            let output = self.check(&genuine);
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(expected), "{other}: {said}");
        }
        genuine
    }

    /// The certificate of a scenario, analysed with these options.
    fn certificate(&self, scenario: &str, options: &[&str]) -> Value {
        certificate(scenario, &self.0.join("certificate.json"), options)
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_the_proven_rules_accept_shipped_scenarios_and_none_of_their_runs_with_something_changed() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for path in scenarios(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")) {
        let file = path.to_str().expect("text");
        let sms = checker.about(file)["sms"].as_u64().expect("a number");
        let run = printed(&["simulate", file, "--format", "json", "--blocks", "--rules"]);
        let run: Value = serde_json::from_slice(&run).expect("JSON");
        let output = checker.check(&run);
        // Processes, green contexts, clusters, programmatic launches and latencies are beyond these rules.
        if output.status.code() == Some(2) {
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{file}: {}", String::from_utf8_lossy(&output.stdout));
        accepted += 1;
        for mutant in changed(&run, sms) {
            assert_eq!(checker.check(&mutant).status.code(), Some(1), "{file}: {mutant}");
            refused += 1;
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted >= 33 && refused > 450, "{accepted} accepted, {refused} refused");
}

/// On a TX2, which holds four blocks of 1024 threads: a block of `map` may run for 3 ms when one of `control` comes.
const PRIORITIES: &str = r#"{
  "format": "gpusched-scenario/1", "name": "control and map", "device": "tx2",
  "kernels": {
    "control": {"blocks": 2, "threads": 512, "duration": "1 ms"},
    "map": {"blocks": 8, "threads": 1024, "duration": "3 ms"}
  },
  "streams": [
    {"name": "map", "priority": 0, "period": "30 ms", "jobs": 1, "operations": [{"kernel": "map"}]},
    {"name": "control", "priority": -1, "period": "10 ms", "jobs": 3, "deadline": "5 ms", "operations": [{"kernel": "control"}]}
  ]
}"#;

/// On a TX2, which holds eight blocks of 512 threads: four kernels of one such block each run side by side.
const SIDE_BY_SIDE: &str = r#"{
  "format": "gpusched-scenario/1", "name": "side by side", "device": "tx2",
  "kernels": {"small": {"blocks": 1, "threads": 512, "duration": "10 ms"}},
  "streams": [
    {"name": "A", "priority": 0, "period": "20 ms", "jobs": 2, "deadline": "15 ms", "operations": [{"kernel": "small"}]},
    {"name": "B", "priority": 0, "period": "20 ms", "jobs": 2, "deadline": "15 ms", "operations": [{"kernel": "small"}]},
    {"name": "C", "priority": 0, "period": "20 ms", "jobs": 2, "deadline": "15 ms", "operations": [{"kernel": "small"}]},
    {"name": "D", "priority": 0, "period": "20 ms", "jobs": 2, "deadline": "15 ms", "operations": [{"kernel": "small"}]}
  ]
}"#;

/// The same with other periods, and beside two streams of a higher priority.
fn beside_higher_priorities() -> String {
    let quick = ["P", "Q"].map(|name| {
        format!(
            r#"{{"name": "{name}", "priority": -1, "period": "16 ms", "jobs": 2, "operations": [{{"kernel": "quick"}}]}}, "#
        )
    });
    SIDE_BY_SIDE
        .replace("20 ms", "80 ms")
        .replace("15 ms", "16 ms")
        .replace(r#""kernels": {"#, r#""kernels": {"quick": {"blocks": 1, "threads": 512, "duration": "1 ms"}, "#)
        .replace(r#""streams": ["#, &format!(r#""streams": [{}"#, quick.concat()))
}

/// The certificate of a scenario, analysed with these options.
fn certificate(scenario: &str, file: &Path, options: &[&str]) -> Value {
    let written = file.to_str().expect("text");
    printed(&[&["analyze", scenario, "--search", "1ms", "--certificate", written], options].concat());
    serde_json::from_slice(&fs::read(file).expect("it was written")).expect("JSON")
}

/// What a certificate proves: stream, job, release, deadline, bound; job 0, released at 0, if releases are not given;
/// of a chain its measure and limit.
fn proved(certificate: &Value) -> Vec<(String, u64, u64, u64, u64)> {
    let list = |value: &Value, key: &str| value[key].as_array().expect("a list").clone();
    let shared = certificate["shared"].as_array().into_iter().flatten().cloned();
    let intervals = list(certificate, "parts").into_iter().chain(shared).flat_map(|part| list(&part, "intervals"));
    let all_phasings = ["windows", "responses", "phased"].into_iter().filter_map(|key| certificate[key].as_array());
    let jobs = intervals.chain(all_phasings.flatten().cloned()).flat_map(|interval| list(&interval, "proves"));
    let single = ["hosts", "pauses"].into_iter().filter_map(|key| certificate[key].as_array());
    let jobs = jobs.chain(single.flatten().cloned());
    let number = |job: &Value, key: &str| job.get(key).map_or(0, |number| number.as_u64().expect("a number"));
    let jobs = jobs.map(|job| {
        let stream = job["stream"].as_str().expect("text").to_owned();
        (
            stream,
            number(&job, "job"),
            number(&job, "released_ns"),
            number(&job, "deadline_ns"),
            number(&job, "bound_ns"),
        )
    });
    let chains = certificate["chains"].as_array().into_iter().flatten().map(|chain| {
        let [measure, name] = ["measure", "chain"].map(|key| chain[key].as_str().expect("text"));
        let name = format!("the {measure} of {name}");
        (name, 0, 0, number(chain, "limit_ns"), number(chain, "bound_ns"))
    });
    jobs.chain(chains).collect()
}

#[test]
fn a_verdict_has_a_certificate_where_serving_one_after_another_is_in_time() {
    let folder = directory("certificates");
    let (scenario, file) = (folder.join("scenario.json"), folder.join("certificate.json"));
    fs::write(&scenario, PRIORITIES).expect("it can be written");
    let proven = certificate(scenario.to_str().expect("text"), &file, &[]);
    let ms = |ms: u64| ms * 1_000_000;
    let of =
        |stream: &str, job, released, deadline, bound| (stream.to_owned(), job, ms(released), ms(deadline), ms(bound));
    // One wave behind a block of 3 ms. All together: two waves of 3 ms and three of 1 ms, two of which come by 10 ms.
    let expected =
        [of("control", 0, 0, 5, 4), of("control", 1, 10, 5, 4), of("control", 2, 20, 5, 4), of("map", 0, 0, 30, 14)];
    assert_eq!(proved(&proven), expected);

    // Served one after another, four kernels of 10 ms take 40 ms. A block weighs 1/8, as eight of them keep a head out,
    // so four of 10 ms are 5 ms of work, and 10 ms are its own.
    fs::write(&scenario, SIDE_BY_SIDE).expect("it can be written");
    let shared = certificate(scenario.to_str().expect("text"), &file, &[]);
    let jobs = [(0, 0), (1, 20)].into_iter();
    let expected = jobs.flat_map(|(job, at)| ["A", "B", "C", "D"].map(|stream| of(stream, job, at, 15, 15)));
    assert_eq!(proved(&shared), expected.collect::<Vec<_>>());
    assert_eq!(
        shared["shared"][0]["weights"][0]["weight"].as_u64().map(|weight| weight * 4),
        shared["shared"][0]["scale"].as_u64()
    );

    let written = file.to_str().expect("text");
    let output =
        gpusched(&["analyze", "scenarios/thesis2019/section-3-5.json", "--verdicts", "--certificate", written]);
    let certificate: Value = serde_json::from_slice(&fs::read(file).expect("it was written")).expect("JSON");
    // One after another is 4 + 6 + 6 + 5 s, beyond 15 s. Blocks of 8 + 42 + 12 + 25 s weigh 1/8 each: 10.875 s of work,
    // with 4, 6, 6 or 5 s of their own.
    let s1 = ("S1".to_owned(), 0, 0, 15_000_000_000, 14_875_000_000);
    assert_eq!(proved(&certificate), [s1]);
    assert_eq!(certificate["no_certificate"].as_array().map(Vec::len), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no certificate for job 0 of S2 and 1 others: "), "{said}");
}

#[test]
fn jobs_whose_releases_are_not_given_have_certificates_by_how_many_come_in_a_window() {
    let folder = directory("certificates over all phasings");
    let (scenario, file) = (folder.join("scenario.json"), folder.join("certificate.json"));
    fs::write(&scenario, PRIORITIES).expect("it can be written");
    let of = |options: &[&str]| {
        let options = [&["--sporadic"], options].concat();
        certificate(scenario.to_str().expect("text"), &file, &options)
    };
    let stream =
        |stream: &str, deadline: u64, bound: u64| (stream.to_owned(), 0, 0, deadline * 1_000_000, bound * 1_000_000);
    // One wave of 1 ms behind a block of 3 ms. For the map two waves of 3 ms, and two such jobs come in 14 ms.
    assert_eq!(proved(&of(&[])), [stream("control", 5, 4), stream("map", 30, 14)]);
    // It counts from the arrival. Of jobs that come up to 6 ms late, three may be released within 6 + 3 * 4 = 18 ms.
    assert_eq!(proved(&of(&["--jitter", "control=1ms"])), [stream("control", 5, 5), stream("map", 30, 14)]);
    let late = of(&["--jitter", "control=6ms"]);
    assert_eq!(proved(&late), [stream("map", 30, 18)]);
    assert_eq!(late["windows"][0]["terms"][1]["jobs"], json!(3));

    // 10 ms are its own, and beside it run a job of each other stream and itself, each of 10 ms and 1/8 of the GPU:
    // what takes 15 ms cannot find two jobs of a stream that come 40 ms apart.
    fs::write(&scenario, SIDE_BY_SIDE.replace("20 ms", "40 ms")).expect("it can be written");
    let shared = of(&[]);
    assert_eq!(proved(&shared), ["A", "B", "C", "D"].map(|name| stream(name, 15, 15)));
    assert_eq!(shared["responses"][0]["terms"][3]["response_ns"], json!(15_000_000));
    // Two jobs of a stream with a jitter of 10 ms may be released 30 ms apart, so both beside a job of another: 16.25
    // ms.
    let late = of(&["--jitter", "A=10ms"]);
    assert_eq!(proved(&late), []);
    assert_eq!(late["no_certificate"].as_array().map(Vec::len), Some(3), "{late}");

    // Behind a block of 10 ms, and by what it weighs with two jobs of the other, 1 ms takes 11.375 ms. With four of
    // 10 ms, which are weighed and so not waited for besides, it takes 6.25 ms. Beside those there are two jobs of
    // each: 500 us more than 15 ms.
    fs::write(&scenario, beside_higher_priorities()).expect("it can be written");
    let shared = of(&[]);
    let responses = [0, 1].map(|part| shared["responses"][part]["terms"][0]["response_ns"].clone());
    assert_eq!(responses, [json!(11_375_000), json!(6_250_000)]);
    let high = ["P", "Q"].map(|name| (name.to_owned(), 0, 0, 16_000_000, 6_250_000));
    let low = ["A", "B", "C", "D"].map(|name| (name.to_owned(), 0, 0, 16_000_000, 15_500_000));
    assert_eq!(proved(&shared), [&high[..], &low[..]].concat());
}

/// On a TX2, which holds four blocks of 1024 threads: `H` fills it for 4 ms of 8, behind a block of 1 ms; two streams
/// of a lower priority have eight kernels of one such block.
const BESIDE_A_FULL_GPU: &str = r#"{
  "format": "gpusched-scenario/1", "name": "beside a full GPU", "device": "tx2",
  "kernels": {
    "full": {"blocks": 4, "threads": 1024, "duration": "4 ms"},
    "one": {"blocks": 1, "threads": 1024, "duration": "1 ms"}
  },
  "streams": [
    {"name": "H", "priority": -1, "period": "8 ms", "jobs": 9, "operations": [{"kernel": "full"}]},
    {"name": "A", "priority": 0, "period": "80 ms", "jobs": 1, "deadline": "40 ms", "operations": [EIGHT]},
    {"name": "B", "priority": 0, "period": "80 ms", "jobs": 1, "deadline": "40 ms", "operations": [EIGHT]}
  ]
}"#;

fn beside_a_full_gpu() -> String {
    BESIDE_A_FULL_GPU.replace("EIGHT", &[r#"{"kernel": "one"}"#; 8].join(", "))
}

/// Kernels that run side by side, of which two jobs of a stream may be there by weight.
fn queueing() -> String {
    SIDE_BY_SIDE.replace("20 ms", "24 ms").replace("15 ms", "40 ms")
}

#[test]
fn by_weight_a_window_of_higher_priorities_is_known_and_jobs_may_queue() {
    let folder = directory("certificates by what is known");
    let (scenario, file) = (folder.join("scenario.json"), folder.join("certificate.json"));
    let of = |text: &str, options: &[&str]| {
        fs::write(&scenario, text).expect("it can be written");
        certificate(scenario.to_str().expect("text"), &file, &[&["--sporadic"], options].concat())
    };
    let stream =
        |stream: &str, deadline: u64, bound_us: u64| (stream.to_owned(), 0, 0, deadline * 1_000_000, bound_us * 1_000);
    // By weight 4 ms of its own and 4 ms of work leave nothing of the period of `H`; a window of 5 ms is known. Of the
    // others each has 8 ms of its own, both have 2 ms of work, and in 32 + 5 ms there are five jobs of `H`.
    let known = of(&beside_a_full_gpu(), &[]);
    assert_eq!(proved(&known), [stream("H", 8, 5_000), stream("A", 40, 32_000), stream("B", 40, 32_000)]);

    // Each has 10 ms of its own and 1.25 ms of work. In 33.75 + 6 ms there are two jobs of A, and three of each of the
    // others that may be left or come: 22.5 + 11.25 ms, longer than the period. One of those takes 11.25 ms, with two
    // jobs of each of two others 5 ms more, and with three of A another 3.75 ms.
    let queueing = of(&queueing(), &["--jitter", "A=6ms"]);
    let others = ["B", "C", "D"].map(|name| stream(name, 40, 20_000));
    assert_eq!(proved(&queueing), [&[stream("A", 40, 39_750)], &others[..]].concat());
}
