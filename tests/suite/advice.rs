//! Advice in messages: every option that a message of a command names is an option of that command.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{SOURCES, directory, gpusched, stderr};

/// The commands that take a scenario.
const SCENARIO: &[&str] = &["simulate", "analyze", "compare", "orders", "residents", "convert", "import", "occupancy"];

/// The commands with the options of timelines.
const TIMELINE: &[&str] = &["simulate", "compare", "replay-log"];

/// The commands that take a profile.
const PROFILE: &[&str] =
    &["simulate", "analyze", "compare", "orders", "residents", "convert", "import", "occupancy", "replay-log", "audit"];

const IMPORT: &[&str] = &["simulate", "analyze", "compare", "orders", "residents", "convert", "import", "replay-log"];

/// Which commands can print what stands in a file of the sources: the longest beginning counts. Logs read the scenario
/// beside them too; that they are told nothing of options of other commands, the second test shows. A file that serves
/// commands with options of their own has a row for each set of them.
const EMITTERS: &[(&str, &[&str])] = &[
    ("analysis/assumptions.rs", &["analyze"]),
    ("analysis/finish_bounds.rs", &["analyze", "compare", "orders"]),
    ("analysis/jobs.rs", &["analyze"]),
    ("analysis/largest_grid.rs", &["analyze"]),
    ("analysis/search/affordable.rs", &["analyze"]),
    ("analysis/verdict.rs", &["analyze"]),
    ("amalthea/", SCENARIO),
    ("cli/analyze.rs", &["analyze"]),
    ("cli/conversion.rs", &["convert"]),
    // Every command has its options.
    ("cli/ending.rs", &["simulate", "evr", "tasks curve", "study run", "warps", "figures"]),
    ("cli/ending.rs", &["simulate", "analyze"]),
    ("cli/evr.rs", &["evr"]),
    ("cli/figure_options.rs", TIMELINE),
    ("cli/figure_options.rs", &["tasks", "tasks run", "tasks curve", "evr", "warps", "merged-sm", "study plot"]),
    ("cli/figures.rs", &["figures"]),
    ("cli/figures.rs", &["tour"]),
    ("cli/help.rs", &["simulate"]),
    ("cli/kernels.rs", &["residents"]),
    ("cli/measured.rs", &["audit"]),
    ("cli/merged_sm.rs", &["compare"]),
    ("cli/asked.rs", &["simulate", "replay-log"]),
    // Options of many commands, each beside its command: a test in that file checks that there are such.
    ("cli/needs.rs", &[]),
    ("cli/progress.rs", &["analyze", "compare", "orders", "residents"]),
    ("cli/run_files.rs", TIMELINE),
    ("cli/run_files.rs", &["simulate"]),
    ("cli/run_files.rs", &["simulate", "analyze", "compare"]),
    ("cli/run_options.rs", SCENARIO),
    ("cli/simulate.rs", &["simulate"]),
    ("cli/study.rs", &["study run", "study status", "study merge", "study plot", "study submit"]),
    ("cli/study.rs", &["study export"]),
    ("cli/study.rs", &["study merge"]),
    ("cli/study/run.rs", &["study run"]),
    ("cli/study/run.rs", &["study submit"]),
    ("cli/tasks.rs", &["tasks run"]),
    ("cli/tasks/curve.rs", &["tasks curve"]),
    ("cli/tasks/test.rs", &["tasks"]),
    ("cli/warps.rs", &["warps"]),
    ("cli/written.rs", &["convert"]),
    ("effort.rs", &["simulate", "evr", "tasks curve", "study run", "warps", "figures"]),
    ("experiments/study.rs", &["study run"]),
    ("experiments/study/rows.rs", &["study run", "study status", "study merge", "study plot"]),
    // Those of Slurm.
    ("experiments/study/shards.rs", &[]),
    ("figures/", &["figures"]),
    ("figures/tour.txt", &["simulate"]),
    ("hosts/segments.rs", &["tasks run"]),
    (
        "input/options.rs",
        &["simulate", "analyze", "compare", "orders", "residents", "convert", "import", "occupancy", "replay-log"],
    ),
    ("logs/", &["audit", "replay-log", "convert"]),
    ("profile/device.rs", PROFILE),
    ("profile/rescale.rs", IMPORT),
    ("run/overlap.rs", &["simulate"]),
    ("scenario/", SCENARIO),
    // Asked for by --logs alone.
    ("scenario/examiner/reading.rs", &["simulate"]),
    ("tables/analysis", &["analyze"]),
    ("tables/application_table.rs", &["evr"]),
    ("probe/judge.rs", &["audit"]),
    ("tables/measured", &["audit", "replay-log", "compare"]),
    ("tables/profile_replay.rs", &["replay-log"]),
    ("tables/run", &["simulate"]),
    ("tables/warps.rs", &["warps"]),
];

/// Where the library names flags all the same: those of other programs, and what it tells of the command itself.
const OF_OTHERS: [&str; 5] =
    ["experiments/study/shards.rs", "explain.rs", "figures/texts.txt", "figures/tour.txt", "trace/rule.rs"];

/// Commands that have commands.
const GROUPS: [&str; 2] = ["study", "tasks"];

/// Programs of others whose options are no advice on ours.
const OTHERS: [&str; 4] = ["cargo", "nsys", "nvprof", "sbatch"];

/// The literals of a Rust source file, comments and attributes other than of errors left out, escapes as they stand.
fn literals(source: &str) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = source[at..].find(['"', '/', '\'', '#']) {
        at += next;
        let (head, tail) = (&source[..at], &source[at..]);
        let after = |end: &str| tail.find(end).map_or(tail.len(), |found| found + end.len());
        at += if tail.starts_with("//") {
            after("\n")
        } else if tail.starts_with("#[") && !tail.starts_with("#[error") {
            after("]\n")
        } else if tail.starts_with("'\"'") || tail.starts_with("'\\\"'") {
            after("\"'")
        } else if let Some(inside) = tail.strip_prefix('"') {
            let before = head.trim_end_matches('#');
            let is_raw = before.strip_suffix('r').is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric()));
            let end = if is_raw {
                inside.find(&format!("\"{}", "#".repeat(head.len() - before.len())))
            } else {
                let mut escaped = false;
                inside.find(|c| {
                    let is_end = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    is_end
                })
            };
            let end = end.expect("a literal ends");
            found.push(inside[..end].to_owned());
            end + 2
        } else {
            1
        };
    }
    found
}

/// The options that a text names, each with the command of ours that the text names before it, if any.
fn options(text: &str) -> Vec<(Option<String>, String)> {
    let (mut named, mut command) = (Vec::new(), None);
    let mut foreign = false;
    // Escapes stand as in the source: a line goes on after a backslash.
    let words = text.split(|c: char| c.is_whitespace() || c == '`' || c == '\\');
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        foreign &= !ended;
        ended = word.ends_with(['.', ',', ';', ':']);
        if OTHERS.contains(&word) {
            foreign = true;
        } else if word == "gpusched" {
            let is_command = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            (foreign, command) = (false, words.peek().filter(is_command).map(|word| (*word).to_owned()));
            if let Some(group) = command.as_mut().filter(|command| GROUPS.contains(&command.as_str())) {
                words.next();
                if let Some(word) = words.peek().filter(is_command) {
                    group.push(' ');
                    group.push_str(word);
                }
            }
        }
        let Some(at) = word.find("--") else { continue };
        let is_option = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = &word[at + 2..];
        let name = name[..name.find(|c| !is_option(c)).unwrap_or(name.len())].trim_end_matches('-');
        let begins = word[..at].chars().all(|c| !c.is_alphanumeric() && c != '}');
        if name.starts_with(|c: char| c.is_ascii_lowercase()) && begins && !foreign {
            named.push((command.clone(), format!("--{name}")));
        }
    }
    named
}

/// The options that a source calls by their keys, which the command shows as flags.
fn called(source: &str) -> Vec<(Option<String>, String)> {
    let begins = |at: &usize| !source[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let calls = |call: &str| {
        let found = source.match_indices(call).map(|(at, _)| at).filter(begins);
        found.map(|at| at + call.len()).collect::<Vec<_>>()
    };
    let key = |at: usize| source[at..].split('"').next().unwrap_or_default().replace('_', "-");
    let options = calls("option(\"").into_iter().map(|at| (None, format!("--{}", key(at))));
    options.chain(calls("formats(&[").into_iter().map(|_| (None, "--format".to_owned()))).collect()
}

/// The options that a command has, by its help.
fn known(commands: &mut BTreeMap<String, BTreeSet<String>>, command: &str) -> BTreeSet<String> {
    let known = commands.entry(command.to_owned()).or_insert_with(|| {
        let arguments: Vec<&str> = command.split(' ').chain(["--help-all"]).collect();
        let help = String::from_utf8(gpusched(&arguments).stdout).expect("it is text");
        assert!(help.contains("Usage: gpusched"), "there is no command {command:?}");
        let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        lines.flat_map(|line| line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()).collect()
    });
    // `--format`, not the value that may stand behind it.
    let plain = |option: &String| option.split([',', '[']).next().unwrap_or_default().to_owned();
    known.iter().map(plain).collect()
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "txt") {
            files.push(path);
        }
    }
}

#[test]
fn every_option_in_a_message_is_one_of_the_commands_that_print_it() {
    let roots = SOURCES.map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
    let (mut files, mut commands, mut seen) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    for root in &roots {
        sources(root, &mut files);
    }
    let mut wrong = Vec::new();
    for file in files {
        let name = roots.iter().find_map(|root| file.strip_prefix(root).ok()).expect("it is below");
        let name = name.display().to_string().replace('\\', "/");
        let text = fs::read_to_string(&file).expect("it is text");
        // Tests inside of sources print nothing.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // What is said of figures stands in files of its own.
        let said = if file.extension().is_some_and(|is| is == "txt") { vec![text.to_owned()] } else { literals(text) };
        let named: Vec<_> = said.iter().flat_map(|literal| options(literal)).collect();
        if !name.starts_with("cli/") {
            // Whoever reads it may have keys: Python, a study, the page.
            let is_of_others = OF_OTHERS.iter().any(|prefix| name.starts_with(prefix));
            let flags = named.iter().filter(|(command, _)| command.is_none() && !is_of_others);
            wrong.extend(flags.map(|(_, flag)| format!("{name} names {flag}: call it by spelling::option")));
        }
        let named: Vec<_> = named.into_iter().chain(called(text)).collect();
        for (command, option) in named {
            let emitters = EMITTERS.iter().filter(|(prefix, _)| name.starts_with(prefix));
            let longest = emitters.clone().map(|(prefix, _)| prefix.len()).max();
            let sets: Vec<Vec<&str>> = match &command {
                Some(command) => vec![vec![command]],
                None => emitters
                    .filter(|(prefix, _)| Some(prefix.len()) == longest)
                    .map(|(prefix, commands)| {
                        seen.insert(*prefix);
                        commands.to_vec()
                    })
                    .collect(),
            };
            let mut has = |command: &&str| known(&mut commands, command).contains(&option);
            if sets.is_empty() {
                wrong.push(format!("{name} names {option}: which commands print that?"));
            } else if !sets.iter().any(|set| set.iter().all(&mut has)) {
                wrong.push(format!("{name}: {option} is no option of {sets:?}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let listed: BTreeSet<&str> = EMITTERS.iter().map(|(prefix, _)| *prefix).collect();
    assert_eq!(listed.difference(&seen).collect::<Vec<_>>(), Vec::<&&str>::new(), "they name no option");
}

#[test]
fn literals_and_options_are_found() {
    let source = "// \"--no\"\n#[arg(long = \"--no\")]\nlet a = ('\"', \"x \\\" --a-b=C\", r#\"--c \"d\" \"#);";
    let found = literals(source);
    assert_eq!(found, ["x \\\" --a-b=C", "--c \"d\" "]);
    assert_eq!(options(&found[0]), [(None, "--a-b".to_owned())]);
    assert_eq!(options("{}--cycle a--b -- --"), []);
    assert_eq!(
        called("{} by option(\"a_b\").with(\"C\"), formats(&[\"x\"])"),
        [(None, "--a-b".to_owned()), (None, "--format".to_owned())]
    );
    let mixed = options("build it with cargo build --release, or `gpusched x --force`: --out");
    let of = |command: &str, option: &str| (Some(command.to_owned()), option.to_owned());
    assert_eq!(mixed, [of("x", "--force"), of("x", "--out")]);
}

/// Scenarios that lack something that an option of `simulate` would state.
fn lacking() -> Vec<(&'static str, String)> {
    let native = |kernel: &str, stream: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "x", "kernels": {{"One": {{"blocks": 4, "threads": 1024{kernel}}}}},
                "streams": [{{"name": "S"{stream}, "operations": [{{"kernel": "One"}}]}}]}}"#
        )
    };
    let examiner = |settings: &str, benchmark: &str| {
        format!(
            r#"{{"name": "x", "max_iterations": 1, "max_time": 0, "cuda_device": 0{settings}, "benchmarks": [
                {{"thread_count": 1024, "block_count": 4, "data_size": 0, "log_name": "one.json", "label": "One"{benchmark}}}]}}"#
        )
    };
    let spin = r#", "filename": "./bin/timer_spin.so", "additional_info": 1000000000"#;
    vec![
        ("block time", native("", "")),
        ("end", native(r#", "duration": "1 ms""#, r#", "period": "1 ms""#)),
        ("block time of a benchmark", examiner("", r#", "filename": "./bin/own_work.so""#)),
        ("contexts", examiner(r#", "use_processes": true"#, spin)),
        ("MPS", examiner("", &format!(r#"{spin}, "mps_thread_percentage": 50"#))),
        ("end of a benchmark", examiner("", spin).replace("\"max_iterations\": 1", "\"max_iterations\": 0")),
        ("log name", examiner("", spin).replace("\"one.json\"", "\"../one.json\"")),
        ("nothing", "{}".to_owned()),
    ]
}

#[test]
fn what_a_scenario_lacks_is_asked_for_by_options_that_the_command_has() {
    let (mut commands, folder) = (BTreeMap::new(), directory("advice"));
    let logs = folder.join("logs");
    fs::create_dir_all(&logs).expect("the build directory can be written");
    let sound = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/two-streams/one.json");
    fs::copy(sound, logs.join("one.json")).expect("it can be copied");
    let logs = logs.display().to_string();
    let mut asked = 0;
    for (what, text) in lacking() {
        let file = folder.join("scenario.json");
        fs::write(&file, text).expect("it can be written");
        let file = file.display().to_string();
        let with_scenario = SCENARIO.iter().map(|&command| (command, vec![command, &file]));
        let on_logs = ["audit", "replay-log"].map(|command| (command, vec![command, &logs, "--scenario", &file]));
        for (command, arguments) in with_scenario.chain(on_logs) {
            let said = stderr(&gpusched(&arguments));
            for (of, option) in options(&said) {
                let command = of.as_deref().unwrap_or(command);
                assert!(known(&mut commands, command).contains(&option), "{what}: {command} has no {option}: {said}");
                asked += 1;
            }
        }
    }
    assert!(asked >= 30, "only {asked} options were named");
}
