//! No option is ignored without a word: of random sets of options, each changes what the command prints, writes or
//! answers, or the command refuses the set, or says of the option that it changes nothing.

mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::common::{directory, gpusched, gpusched_in, stderr, stdout};
use values::{COINCIDES, EXEMPT, Input, companion, inputs, values};

/// Commands whose options are drawn. The others have `--format` alone, or take minutes.
const COMMANDS: [&str; 15] = [
    "simulate",
    "analyze",
    "compare",
    "orders",
    "residents",
    "occupancy",
    "convert",
    "import",
    "audit",
    "replay-log",
    "tasks",
    "tasks run",
    "tasks curve",
    "evr",
    "warps",
];

/// Commands that make a scenario of their input, and for which it counts.
const OF_SCENARIOS: [&str; 6] = ["simulate", "analyze", "compare", "orders", "residents", "replay-log"];

/// An option, and a value if it takes one.
type Chosen = (String, Option<String>);

/// The options that the help of a command lists, and whether they take a value.
fn options_of(command: &str) -> BTreeMap<String, bool> {
    let help = stdout(&gpusched(&[&command.split(' ').collect::<Vec<_>>()[..], &["--help-all"]].concat()));
    let option = |line: &str| {
        let line = line.trim_start();
        let line = if line.starts_with("--") { line } else { line.strip_prefix('-')?.split_once(", ")?.1 };
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        (name.starts_with("--") && (value.is_empty() || value.starts_with('<') && value.ends_with('>')))
            .then(|| (name.to_owned(), !value.is_empty()))
    };
    let mut options: BTreeMap<String, bool> = help.lines().filter_map(option).collect();
    options.retain(|name, _| !EXEMPT.contains(&&**name));
    options
}

/// What came of a command: status, standard output and error, and what is in the files that it wrote.
#[derive(PartialEq, Eq)]
struct Outcome {
    status: Option<i32>,
    printed: Vec<u8>,
    said: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    fn new(output: Output, folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    files.insert(entry.display().to_string(), fs::read(&entry).expect("it can be read"));
                }
            }
        }
        Self { status: output.status.code(), said: stderr(&output), printed: output.stdout, files }
    }
}

/// Runs a command with options in an empty folder.
fn run(folder: &Path, command: &str, input: &Input, set: &[&Chosen]) -> Outcome {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("the build directory can be written");
    let mut arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
    arguments.extend(input.arguments());
    for (option, value) in set {
        arguments.push(value.as_ref().map_or_else(|| option.clone(), |value| format!("{option}={value}")));
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Outcome::new(gpusched_in(folder, &words), folder)
}

/// What one set came to: the options that are ignored, or that it is refused.
enum Found {
    Refused,
    Ignored(Vec<String>),
}

struct Drawn<'a> {
    command: &'a str,
    input: Input,
    set: Vec<Chosen>,
    of_scenarios: &'a BTreeSet<String>,
}

impl Drawn<'_> {
    fn found(&self, folder: &Path) -> Found {
        let all: Vec<&Chosen> = self.set.iter().collect();
        let with_all = run(folder, self.command, &self.input, &all);
        if with_all.status == Some(2) {
            assert!(with_all.said.contains("error: "), "{}: {}", self.told(), with_all.said);
            return Found::Refused;
        }
        assert!(matches!(with_all.status, Some(0 | 1)), "{}: {}", self.told(), with_all.said);
        let is_ignored = |option: &&Chosen| {
            let others: Vec<&Chosen> = all.iter().copied().filter(|other| other != option).collect();
            !with_all.said.contains(&*option.0)
                && !COINCIDES.iter().any(|(command, name)| option.0 == *name && [self.command, ""].contains(command))
                && run(folder, self.command, &self.input, &others) == with_all
                && !self.changes_the_scenario(folder, option, &all)
        };
        Found::Ignored(all.iter().copied().filter(is_ignored).map(|(option, _)| option.clone()).collect())
    }

    /// Whether the command works on another scenario without an option; that it comes to the same says nothing then.
    fn changes_the_scenario(&self, folder: &Path, option: &Chosen, all: &[&Chosen]) -> bool {
        if !OF_SCENARIOS.contains(&self.command) || !self.of_scenarios.contains(&option.0) {
            return false;
        }
        let with: Vec<&Chosen> = all.iter().copied().filter(|(name, _)| self.of_scenarios.contains(name)).collect();
        let without: Vec<&Chosen> = with.iter().copied().filter(|other| *other != option).collect();
        let made = |set: &[&Chosen]| run(folder, "convert", &self.input, set).printed;
        made(&with) != made(&without)
    }

    fn told(&self) -> String {
        let set: Vec<String> =
            self.set.iter().map(|(name, value)| [&**name, value.as_deref().unwrap_or("")].join(" ")).collect();
        format!("gpusched {} {} {}", self.command, self.input.arguments().join(" "), set.join(" "))
    }
}

fn draw<'a>(
    number: u64,
    known: &'a BTreeMap<&str, BTreeMap<String, bool>>,
    of_scenarios: &'a BTreeSet<String>,
) -> Drawn<'a> {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let command = COMMANDS[random.random_range(0..COMMANDS.len())];
    let all = inputs(command);
    let input = all[random.random_range(0..all.len())];
    let options: Vec<&String> = known[command].keys().collect();
    let mut names = BTreeSet::new();
    for _ in 0..random.random_range(1..=4) {
        let name = options[random.random_range(0..options.len())];
        names.insert(name.clone());
        // What the option needs is mostly there too, so that not every set is refused.
        names.extend(companion(command, name).filter(|_| random.random_range(0..8) > 0).map(str::to_owned));
    }
    let set = names.into_iter().map(|name| {
        let all = if known[command][&name] { values(command, &name) } else { &[] };
        let value = (!all.is_empty()).then(|| input.named(all[random.random_range(0..all.len())]));
        (name, value)
    });
    Drawn { command, input, set: set.collect(), of_scenarios }
}

/// Tries so many sets; how many of them were refused.
fn none_is_ignored(name: &str, sets: u64) -> usize {
    let known: BTreeMap<&str, _> = COMMANDS.iter().map(|&command| (command, options_of(command))).collect();
    let of_scenarios = known["convert"].keys().filter(|name| *name != "--out").cloned().collect();
    let folder = directory(name);
    let found = (0..sets).into_par_iter().map(|number| {
        let drawn = draw(number, &known, &of_scenarios);
        let own = folder.join(format!("{}", rayon::current_thread_index().unwrap_or(0)));
        let found = drawn.found(&own);
        (format!("set {number}: {}", drawn.told()), found)
    });
    let found: Vec<(String, Found)> = found.collect();
    let ignored = found.iter().filter_map(|(told, found)| match found {
        Found::Ignored(options) if !options.is_empty() => Some(format!("{} of {told}", options.join(", "))),
        _ => None,
    });
    let ignored: Vec<String> = ignored.collect();
    assert!(ignored.is_empty(), "{} of {sets} sets have ignored options:\n{}", ignored.len(), ignored.join("\n"));
    found.iter().filter(|(_, found)| matches!(found, Found::Refused)).count()
}

#[test]
fn of_every_option_that_is_drawn_a_value_is_known() {
    for command in COMMANDS {
        let options = options_of(command);
        assert!(options.len() > 3, "{command}: {options:?}");
        for (name, _) in options.iter().filter(|(_, takes_value)| **takes_value) {
            assert!(!values(command, name).is_empty(), "{name} of {command} needs a value to be drawn");
        }
    }
}

#[test]
fn no_option_of_a_random_set_is_ignored() {
    let refused = none_is_ignored("option-sets", 80);
    assert!(refused <= 62, "{refused} of 80 sets are refused, and say little");
}

#[test]
#[ignore = "minutes"]
fn long_option_sets() {
    let sets = std::env::var("GPUSCHED_OPTION_SETS").ok().and_then(|sets| sets.parse().ok()).unwrap_or(10_000);
    let refused = none_is_ignored("long-option-sets", sets);
    println!("{sets} sets: {refused} refused with a reason, the others work");
}
