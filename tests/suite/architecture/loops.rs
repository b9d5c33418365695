//! Loops whose number of turns comes from an input count their turns, so that limits of work end them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{roots, rust_files};

/// The rooms of analyses, searches, readers and reports. The simulator counts operations and instants of its own; what
/// reads JSON takes one pass over bytes, which are counted.
const ROOMS: [&str; 19] = [
    "amalthea",
    "analysis",
    "applications",
    "audit",
    "draw",
    "experiments",
    "explain",
    "formats",
    "input",
    "logs",
    "pictures",
    "profile",
    "replay",
    "run",
    "scenario",
    "tables",
    "tasks",
    "trace",
    "warps",
];

/// What counts turns, or whatever they look at.
const TOKENS: [&str; 5] = ["count_turn(", "count_turns(", "count_steps(", "count(Counted::", "spend("];

/// Loops that need not count, and why: by file, and how their first line begins.
const OTHERS: [(&str, &str, &str); 14] = [
    ("safe_bound/fill.rs", "while by > 0", "seven turns at most: by doubles up to MOST_UNITS"),
    ("profile/gpu_profile.rs", "while let Some((before, after))", "one pass over a text that was read"),
    ("logs/blocks/launches.rs", "while other > 0", "the digits of a number"),
    ("logs/visit.rs", "while map.next_entry", "one pass over bytes that were read"),
    ("logs/visit.rs", "while list.next_element", "one pass over bytes that were read"),
    ("logs/visit.rs", "while let Some(number)", "one pass over bytes that were read"),
    ("logs/plain.rs", "while let Some((", "one pass over bytes that were read"),
    ("logs/plain.rs", "loop", "one pass over bytes that were read"),
    ("logs/read.rs", "while at < text.len()", "one pass over a text that was read"),
    ("experiments/acceptance.rs", "while index < N", "a table that the compiler makes"),
    ("experiments/study/compute.rs", "while here.within(", "a turn for each row, whose samples were counted before"),
    ("experiments/study/compute.rs", "while own - hand.next", "waits for another thread"),
    ("experiments/study/compute.rs", "while hand.failed", "a turn for each row, whose samples were counted before"),
    ("experiments/study/compute.rs", "while let Some(computed)", "a turn for each row that was computed"),
];

/// A loop without end of its own: its file, the line, and the text from there to where it ends.
struct Loop {
    file: PathBuf,
    line: usize,
    text: String,
}

impl Loop {
    /// Whether it takes from a list only what an outer loop has come to, so that all its turns together are the list's.
    fn merges(&self) -> bool {
        self.text.split(" {\n").next().is_some_and(|head| head.contains(".next_if("))
    }

    fn counts(&self) -> bool {
        TOKENS.iter().any(|token| self.text.contains(token))
    }
}

/// The loops of one source but those of its tests. Formatted sources end a block where it began.
fn loops(file: &Path) -> Vec<Loop> {
    let text = fs::read_to_string(file).expect("a source");
    let text = text.split("\n#[cfg(test)]\nmod ").next().expect("a part");
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &str| {
        let words = line.trim_start();
        let words = words.split_once(": ").filter(|(label, _)| label.starts_with('\'')).map_or(words, |(_, rest)| rest);
        let words =
            words.split_once(" = ").filter(|(left, _)| left.starts_with("let ")).map_or(words, |(_, rest)| rest);
        words.starts_with("loop {") || words.starts_with("while ")
    };
    (0..lines.len())
        .filter(|&number| begins(lines[number]))
        .map(|number| {
            let indent = lines[number].len() - lines[number].trim_start().len();
            let ends = |line: &&str| {
                line.len() > indent && line[..indent].trim().is_empty() && line[indent..].starts_with('}')
            };
            let rest = &lines[number..];
            let is_whole = rest[0].ends_with("{}");
            let length = if is_whole { 1 } else { rest.iter().position(ends).map_or(rest.len(), |end| end + 1) };
            Loop { file: file.to_owned(), line: number + 1, text: rest[..length].join("\n") }
        })
        .collect()
}

#[test]
fn every_loop_of_analyses_readers_and_reports_counts_its_turns_or_says_why_not() {
    let roots = roots();
    let mut files = Vec::new();
    for room in ROOMS {
        let before = files.len();
        for folder in roots.iter().map(|root| root.join(room)).filter(|folder| folder.with_extension("rs").exists()) {
            if folder.is_dir() {
                rust_files(&folder, &mut files);
            }
            files.push(folder.with_extension("rs"));
        }
        assert!(files.len() > before, "there is no room {room}");
    }
    files.retain(|file| !file.ends_with("tests.rs") && file.components().all(|part| part.as_os_str() != "tests"));
    let all: Vec<Loop> = files.iter().flat_map(|file| loops(file)).collect();
    assert!(all.len() > 100, "only {} loops found", all.len());
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for found in all.iter().filter(|found| !found.counts() && !found.merges()) {
        let begins = |&(file, first, _): &(&str, &str, &str)| {
            found.file.ends_with(file) && found.text.trim_start().starts_with(first)
        };
        match OTHERS.iter().position(begins) {
            Some(known) => _ = used.insert(known),
            None => wrong.push(format!("{}:{}: {}", found.file.display(), found.line, found.text.trim_start())),
        }
    }
    assert!(wrong.is_empty(), "loops that count nothing; `count_turn` is for them:\n{}", wrong.join("\n"));
    assert_eq!(used.len(), OTHERS.len(), "some of those that need not count are gone");
}

#[test]
fn a_loop_that_does_not_count_is_found() {
    let folder = crate::common::directory("loops");
    let found = |body: &str| {
        let file = folder.join("sample.rs");
        fs::write(&file, format!("fn f() {{\n    'outer: loop {{\n        {body}\n    }}\n}}\n")).expect("written");
        loops(&file).iter().filter(|found| !found.counts() && !found.merges()).count()
    };
    assert_eq!(found("work();"), 1);
    assert_eq!(found("count_turn();"), 0);
    assert_eq!(found("while let Some(next) = list.next_if(|next| *next < 3) {}"), 1, "the outer one");
    assert_eq!(found("while next < 3 {\n            next += 1;\n        }"), 2);
}
