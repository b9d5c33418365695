//! Files of a kilobyte, however large the work that they ask for: with `--limits strict`, no command takes more than
//! ten seconds of processor time or a gigabyte of memory. A debug build stands for the slowest machine that is assumed.

#![allow(clippy::print_stdout, reason = "what came of a campaign is to be read")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{directory, stderr};

/// Bytes of a file at most.
const MOST_BYTES: usize = 1024;
/// Processor time after which the system ends a command that did not end by itself at ten seconds \[s\].
const SECONDS: u32 = 12;
/// Address space that a command may have \[KiB\]: a gigabyte, and threads with their heaps and the program beside.
const ADDRESSES_KIB: u32 = (1 << 20) + (1 << 19);

/// Small seeds in `tests/data/small`, and what is done with them; `OUT` is a directory to write into.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (
        &[
            "native.json",
            "hosts.json",
            "huge.json",
            "graphs.json",
            "examiner.json",
            "model.amxmi",
            "kineto.json",
            "nvprof.csv",
        ],
        &[
            "simulate FILE",
            "simulate FILE --critical-path --blame --own-waits",
            "simulate FILE --format json --blocks --rules --blame",
            "simulate FILE --vary 50..100 --format csv",
            "simulate FILE --placement random --state-at 5ms",
            "simulate FILE --perfetto OUT/trace.json",
            "simulate FILE --html OUT/run.html",
            "simulate FILE --figure OUT/run.svg --responses OUT/responses.csv",
            "simulate FILE --logs OUT/logs --allow-log-paths",
            "simulate FILE --blame-figure OUT/blame.svg --runnable-times OUT/times.csv",
            "simulate FILE --horizon 1s --format jsonl",
            "analyze FILE",
            "analyze FILE --steps",
            "analyze FILE --sporadic",
            "analyze FILE --slack --verdicts",
            "analyze FILE --sensitivity --figure OUT/sensitivity.svg",
            "analyze FILE --ladder",
            "analyze FILE --order declared --certificate OUT/certificate.json",
            "analyze FILE --block-times stated --runnable-times OUT/times.csv",
            "analyze FILE --format json --witness OUT/witness.json",
            "compare FILE",
            "orders FILE",
            "convert FILE",
            "convert FILE --horizon 9e8s",
            "residents FILE",
            "residents FILE --at 5ms --format json",
            "occupancy FILE",
        ],
    ),
    (
        &["jobs.csv"],
        &[
            "analyze FILE",
            "analyze FILE --processors 8",
            "analyze FILE --processors 1000 --verdicts --format csv",
            "analyze FILE --processors 2 --precedence tests/data/small/precedence.csv",
        ],
    ),
    (&["kineto.json", "nvprof.csv"], &["import FILE", "audit FILE", "replay-log FILE"]),
    (&["model.amxmi"], &["amalthea FILE"]),
    (&["log.json"], &["audit FILE", "replay-log FILE --format json"]),
    (
        &["device.json"],
        &[
            "devices FILE",
            "simulate tests/data/small/native.json --device FILE --blocks --format csv",
            "analyze tests/data/small/native.json --device FILE",
            "simulate tests/data/small/native.json --device FILE --figure OUT/device.svg",
            "tasks tests/data/small/tasks.json --device FILE",
            "evr tests/data/small/applications.json --device FILE",
            "merged-sm --device FILE --samples 3",
        ],
    ),
    (
        &["tasks.json"],
        &[
            "tasks FILE",
            "tasks FILE --smallest-budgets 50",
            "tasks FILE --reservation-period 5 --figure OUT/demand.svg",
            "tasks run FILE --strategy single-stream",
            "tasks run FILE --strategy gang --format csv",
            "tasks run FILE --strategy multi-stream --figure OUT/tasks.svg",
            "tasks run FILE --strategy sm-as-core --policy fp --synchronization 3",
        ],
    ),
    (
        &["segments.json"],
        &[
            "tasks FILE",
            "tasks run FILE --strategy gcaps-suspend --figure OUT/segments.svg",
            "tasks run FILE --strategy round-robin-busy --format json",
            "tasks run FILE --strategy mpcp-suspend",
            "tasks run FILE --strategy gcaps-busy",
            "tasks run FILE --strategy round-robin-suspend-unified",
            "tasks run FILE --strategy fmlp-plus-busy",
        ],
    ),
    (&["applications.json"], &["evr FILE", "evr FILE --format json", "evr FILE --figure OUT/evr.svg"]),
    (
        &["warps.json"],
        &[
            "warps --instance FILE",
            "warps --instance FILE --figure OUT/warps.svg",
            "warps --instance FILE --export OUT/warps.lp",
        ],
    ),
    (&["study.json"], &["study status FILE", "study merge FILE", "study plot FILE --figure OUT/study.svg"]),
];

/// Numbers that are small as text.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "31",
    "32",
    "33",
    "64",
    "100",
    "128",
    "1000",
    "1024",
    "2048",
    "65535",
    "65536",
    "999999",
    "1000000",
    "10000000",
    "49999999",
    "50000000",
    "100000000",
    "2147483647",
    "4294967295",
    "4294967296",
    "1e10",
    "999999999999",
    "281474976710655",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e18",
    "1e300",
    "0.5",
    "1e-9",
    "9e9",
    "0.000000001",
    "-1",
    "-2147483648",
    "0.1",
];

/// Ranges of `text` that are numbers, also within strings.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at;
        while end < bytes.len() && (bytes[end].is_ascii_digit() || (end > at && bytes[end] == b'.')) {
            end += 1;
        }
        if end > at {
            found.push(at..end);
        }
        at = end.max(at + 1);
    }
    found
}

/// Ranges that are lists or objects.
fn groups(text: &str) -> Vec<std::ops::Range<usize>> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '{' | '[' => open.push(at),
            '}' | ']' => found.extend(open.pop().map(|from| from..at + 1)),
            _ => {}
        }
    }
    found
}

fn one_of<T>(random: &mut impl Rng, list: &[T]) -> Option<usize> {
    (!list.is_empty()).then(|| random.random_range(0..list.len()))
}

/// One change: mostly of a number or a unit, or an element that stands there several times.
fn change(text: &mut String, random: &mut impl Rng) {
    let kind = random.random_range(0..10);
    if kind < 6 {
        let found = numbers(text);
        if let Some(chosen) = one_of(random, &found) {
            let number = NUMBERS[random.random_range(0..NUMBERS.len())];
            text.replace_range(found[chosen].clone(), number);
        }
    } else if kind < 8 {
        let units = ["ms\"", "us\"", "ns\"", " s\""];
        let (from, to) = (units[random.random_range(0..4)], units[random.random_range(0..4)]);
        let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
        if let Some(chosen) = one_of(random, &places) {
            text.replace_range(places[chosen]..places[chosen] + from.len(), to);
        }
    } else {
        let found = groups(text);
        if let Some(chosen) = one_of(random, &found) {
            let (range, copy) = (found[chosen].clone(), text[found[chosen].clone()].to_owned());
            for number in 0..random.random_range(1..20) {
                if text.len() + copy.len() + 4 > MOST_BYTES {
                    break;
                }
                // Most things have names, which are not to be those of others.
                let renamed = copy.replacen("\"name\": \"", &format!("\"name\": \"{number}"), 1);
                text.insert_str(range.end, &format!(", {renamed}"));
            }
        }
    }
}

/// Runs a command as far as the limits allow.
fn limited(arguments: &[String]) -> Output {
    let shell = format!("ulimit -c 0; ulimit -t {SECONDS}; ulimit -v {ADDRESSES_KIB}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &shell, env!("CARGO_BIN_EXE_gpusched")]).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).output().expect("sh is there")
}

/// What is wrong with how a command ended, if anything is.
fn wrong(output: &Output) -> Option<String> {
    let said = stderr(output);
    let told = output.status.code().is_some_and(|code| code <= 3) && !said.contains("panicked");
    // A refusal says why.
    let is_refused = matches!(output.status.code(), Some(2 | 3));
    let told = told
        && (!is_refused
            || said.contains("error: ") && (output.status.code() != Some(3) || said.contains("--limits strict")));
    (!told).then(|| format!("{:?}, signal {:?}: {said}", output.status.code(), output.status.signal()))
}

fn arguments(command: &str, file: &Path, out: &Path) -> Vec<String> {
    let command = &format!("{command} --limits strict");
    let (file, out) = (file.display().to_string(), out.display().to_string());
    command.split(' ').map(|word| word.replace("FILE", &file).replace("OUT", &out)).collect()
}

/// Random files for random commands; gives what went wrong.
fn attack(name: &str, files: u64, seed: u64) -> Vec<String> {
    let all = directory(name);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut findings = Vec::new();
    let mut endings: BTreeMap<&str, u64> = BTreeMap::new();
    for number in 0..files {
        let (seeds, commands) = COMMANDS[random.random_range(0..COMMANDS.len())];
        let seed = seeds[random.random_range(0..seeds.len())];
        let command = commands[random.random_range(0..commands.len())];
        let mut text = fs::read_to_string(Path::new("tests/data/small").join(seed)).expect("it is there");
        for _ in 0..random.random_range(1..5) {
            let before = text.clone();
            change(&mut text, &mut random);
            if text.len() > MOST_BYTES.max(before.len()) {
                text = before;
            }
        }
        let out = all.join("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).expect("it can be made");
        let file: PathBuf = all.join(format!("{number}-{seed}"));
        fs::write(&file, &text).expect("it can be written");
        let arguments = arguments(command, &file, &out);
        let output = limited(&arguments);
        *endings.entry(ending(&output)).or_default() += 1;
        match wrong(&output) {
            // The file is kept.
            Some(what) => {
                let finding = format!("{}: {what}", arguments.join(" "));
                println!("{finding}");
                findings.push(finding);
            }
            None => fs::remove_file(&file).expect("it can be removed"),
        }
    }
    println!("{files} files: {endings:?}");
    findings
}

/// How a command ended, for people.
fn ending(output: &Output) -> &'static str {
    let said = stderr(output);
    match output.status.code() {
        Some(0 | 1) => "done",
        Some(3) => "too much",
        _ if said.contains("--max-memory") => "ended at its memory",
        _ => "refused",
    }
}

#[test]
fn no_small_file_takes_long_or_much_memory_without_a_word() {
    let findings = attack("small_files", 30, 1);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
#[ignore = "long: GPUSCHED_SMALL_FILES of them, 1,000 if that is not set"]
fn long_campaign_no_small_file_takes_long_or_much_memory_without_a_word() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (files, seed) = (number("GPUSCHED_SMALL_FILES").unwrap_or(1_000), number("GPUSCHED_SEED").unwrap_or(2));
    let findings = attack(&format!("small_files_long_{seed}"), files, seed);
    assert!(findings.is_empty(), "{findings:#?}");
}

/// What random files found, and what is like it.
#[test]
fn every_seed_is_sound() {
    let all = directory("small_files_seeds");
    for (seeds, commands) in COMMANDS {
        for seed in *seeds {
            let file = Path::new("tests/data/small").join(seed);
            assert!(fs::metadata(&file).is_ok_and(|file| file.len() <= 1100), "{seed} is small");
            let output = limited(&arguments(commands[0], &file, &all));
            let is_known = output.status.code().is_some_and(|code| code < 2);
            assert!(is_known, "{seed}: {}", stderr(&output));
        }
    }
}

/// Two processes whose turns last a nanosecond, with this kernel.
fn turns(kernel: &str) -> String {
    format!(
        r#"{{"format":"gpusched-scenario/1","name":"n","kernels":{{"K":{kernel}}},"streams":[{{"name":"a","process":"a",
        "operations":[{{"kernel":"K"}}]}},{{"name":"b","process":"b","operations":[{{"kernel":"K"}}]}}],
        "processes":{{"a":{{"time_slice":"1 ns"}},"b":{{"time_slice":"1 ns"}}}},"switch_cost":"0 s"}}"#
    )
}

/// Writes a file for a command, which ends with one of these exit statuses; with 3 by what was counted.
fn ends(file: &str, text: &str, command: &str, statuses: &[i32]) {
    let all = directory(&format!("small_files_found/{file}"));
    let path = all.join(file);
    fs::write(&path, text).expect("it can be written");
    let output = limited(&arguments(command, &path, &all));
    let said = stderr(&output);
    assert!(output.status.code().is_some_and(|code| statuses.contains(&code)), "{command}: {said}");
    assert!(output.status.code() != Some(3) || said.contains(" more than "), "{command}: {said}");
}

#[test]
fn what_an_outsider_found_is_counted() {
    let slices = turns(r#"{"blocks":9,"threads":1024,"duration":"1 ms","clock":"wall"}"#);
    for command in ["analyze FILE --verdicts", "simulate FILE --format json --blame", "simulate FILE --html OUT/r.html"]
    {
        ends("turns.json", &slices, command, &[3]);
    }
    let copies = r#"{"format":"gpusched-scenario/1","name":"n","kernels":{"K":{"blocks":1,"threads":1,
        "duration":"1 ns"}},"streams":[{"name":"a","process":"a","period":"7 us","operations":[
        {"copy":"host-to-device","bytes":10000000000000}]},{"name":"b","process":"b","period":"7 us","operations":[
        {"copy":"host-to-device","bytes":10000000000000}]}],"horizon":"9 us"}"#;
    ends("copies.json", copies, "analyze FILE", &[3]);
    let without_budget = r#"{"sms":1,"tasks":[{"C":1048576,"T":281474976710656,"sm":"all"}]}"#;
    ends("budget.json", without_budget, "tasks FILE --smallest-budgets 1000", &[0]);
    let all = [r#"{"C":5,"T":96,"sm":"all"}"#; 8].join(",");
    let divided = format!(
        r#"{{"sms":2,"priority_levels":2,"tasks":[{{"C":3,"T":12,"sm":0}},{{"C":6,"T":24,"sm":0}},
        {{"C":12,"T":48,"sm":0}},{all}],"reservation":{{"period":12,"single":{{"offset":0,"budget":8}},"all":{{"offset":8,"budget":4}}}}}}"#
    );
    ends("divided.json", &divided, "tasks FILE --smallest-budgets 1000", &[3]);
    let warps = r#"{"format":"gpusched-warps/1","string":"L","warps":4294967295,
        "units":[{"letter":"L","sigma":"1/2000"}]}"#;
    ends("warps.json", warps, "warps --instance FILE --export OUT/w.lp", &[2]);
}

#[test]
fn what_random_files_found_is_counted() {
    // A cell for each warp and cycle would be 4 10^9 of them.
    let warps = r#"{"format":"gpusched-warps/1","string":"LC","warps":65536,"units":[{"letter":"L","count":64}]}"#;
    ends("many-warps.json", warps, "warps --instance FILE --figure OUT/w.svg", &[3]);
    let applications = r#"{"format":"gpusched-applications/1","name":"e","injection":{"random":{"count":1000000,
        "gap":"10 ms"}},"applications":[{"name":"A","class":"high","requirement":"17 ms",
        "kernels":[{"blocks":7,"threads":128,"block_time":"10 ms"}]}]}"#;
    ends("applications.json", applications, "evr FILE", &[3]);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_an_outsider_found_to_take_long_is_counted() {
    let jobs = r#"{"format":"gpusched-scenario/1","name":"n","kernels":{"K":{"blocks":1,"threads":1024,
        "duration":"1 us"}},"streams":[{"name":"a","period":"1 ns","jobs":60000,"operations":[{"kernel":"K"}]}]}"#;
    ends("jobs.json", jobs, "analyze FILE", &[0, 3]);
    ends("jobs.json", jobs, "compare FILE", &[0, 3]);
    for (warps, sigma) in [(9_000, "1/999"), (100_000, "1/56")] {
        let text = format!(
            r#"{{"format":"gpusched-warps/1","string":"LC","warps":{warps},"units":[{{"letter":"L","sigma":"{sigma}"}}]}}"#
        );
        ends("warps.json", &text, "warps --instance FILE", &[0, 3]);
    }
}
