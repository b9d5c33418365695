//! The page on how this is built names what there is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpusched::trace::Rule;

use imports::{Imports, Module};
use lines::lines_of_code;
use public_items::public_items;

use crate::common::SOURCES;

mod imports;
mod limits;
mod lines;
mod loops;
mod public_items;

const PAGE: &str = include_str!("../../docs/architecture.md");

/// The rooms, each with its crate, the lowest first: a room may import only those before it. With each, how many lines
/// of code it may have: who needs more in one room lowers another in the same commit.
const ROOMS: [(&str, usize); 48] = [
    ("engine/proven", 30),
    ("engine/spelling", 67),
    ("engine/effort", 221),
    ("engine/limits", 153),
    ("engine/named", 67),
    ("engine/words", 203),
    ("engine/time", 290),
    ("engine/canonical", 83),
    ("engine/json", 1036),
    ("engine/device", 1626),
    ("engine/workload", 1889),
    ("engine/trace", 3474),
    ("engine/gpu", 4826),
    ("core/broken_bound", 25),
    ("core/sorted", 18),
    ("core/joined", 20),
    ("core/printed", 94),
    ("core/statistics", 168),
    ("core/draw", 1591),
    ("core/scenario", 5777),
    ("core/run", 2807),
    ("core/hosts", 2112),
    ("core/logs", 2338),
    ("core/audit", 4180),
    ("core/analysis", 14171),
    ("core/replay", 413),
    ("core/probe", 698),
    ("core/formats", 1284),
    ("core/tables", 3400),
    ("core/pictures", 7129),
    ("systems/tasks", 3289),
    ("systems/warps", 1583),
    ("systems/applications", 901),
    ("systems/hosts", 2408),
    ("systems/tables", 654),
    ("systems/pictures", 624),
    ("imports/profile", 3812),
    ("imports/amalthea", 3787),
    ("imports/input", 641),
    ("imports/tables", 400),
    ("papers/experiments", 5475),
    ("papers/tables", 998),
    ("papers/pictures", 936),
    ("src/explain", 261),
    ("src/schema", 177),
    ("src/figures", 2494),
    ("src/prelude", 0),
    ("src/cli", 5890),
];

/// Of all rooms.
const LINES: usize = 94_520;

/// What stands between backquotes.
fn quoted() -> impl Iterator<Item = &'static str> {
    PAGE.split('`').skip(1).step_by(2)
}

#[test]
fn every_file_named_on_the_page_on_architecture_exists() {
    let files: Vec<&str> = quoted()
        .filter(|name| {
            ["src/", "engine/", "core/", "systems/", "imports/", "papers/", "tests/", "docs/", "examples/"]
                .iter()
                .any(|room| name.starts_with(room))
        })
        .collect();
    assert!(files.len() > 30, "only {} files found", files.len());
    for file in files {
        assert!(std::path::Path::new(file).exists(), "{file} does not exist");
    }
}

/// The rows of the glossary: a term, and the names that the code has for it.
fn glossary() -> Vec<(&'static str, Vec<&'static str>)> {
    let (_, section) = PAGE.split_once("\n## Words\n").expect("the page has a glossary");
    let section = section.split("\n## ").next().expect("a part");
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.contains("---")).skip(1);
    rows.map(|row| {
        let mut cells = row.trim_matches(['|', ' ']).split(" | ");
        let (term, _, names) = (cells.next(), cells.next(), cells.next().expect("a row has three cells"));
        (term.expect("a row has a term"), names.split('`').skip(1).step_by(2).collect())
    })
    .collect()
}

#[test]
fn the_names_of_the_glossary_are_declared_in_the_sources() {
    let files = source_files();
    let mut declared = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("it is text");
        for line in text.lines() {
            let words: Vec<&str> = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
            for pair in words.windows(2) {
                if ["struct", "enum", "trait", "type", "fn"].contains(&pair[0]) {
                    declared.insert(pair[1].to_owned());
                }
            }
        }
    }
    let terms = glossary();
    assert!(terms.len() >= 20, "only {} terms found", terms.len());
    for (term, names) in terms {
        assert!(!names.is_empty(), "{term}: the code has no name for it");
        for name in names {
            let own = name.rsplit("::").next().expect("a last part");
            assert!(declared.contains(own), "{term}: nothing is declared as {name}");
        }
    }
}

#[test]
fn the_page_on_architecture_says_where_every_rule_lives() {
    // The first column of the table of rules.
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named: Vec<&str> = rows.flat_map(|cell| cell.split(", ")).collect();
    for rule in Rule::ALL {
        assert!(named.contains(&rule.name()), "rule {rule} is not on the page");
    }
}

#[test]
fn a_rule_takes_at_most_three_files() {
    let (_, after) = PAGE.split_once("**A rule**").expect("the page says what a new rule takes");
    let (steps, _) = after.split_once("\n\n").expect("a paragraph ends");
    assert_eq!(steps.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count(), 3);
}

/// The roots of the library's crates.
fn roots() -> [PathBuf; SOURCES.len()] {
    SOURCES.map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root))
}

/// All Rust files below them.
fn source_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for root in roots() {
        rust_files(&root, &mut files);
    }
    files
}

/// The folder of a crate, by which its rooms are told from those of others.
fn crate_of(root: &str) -> &str {
    root.strip_suffix("/src").unwrap_or(root)
}

fn sources() -> Imports {
    let named = |root: &str| (Path::new(env!("CARGO_MANIFEST_DIR")).join(root), crate_of(root).to_owned());
    Imports::of(&SOURCES.map(named))
}

/// The room of a module, with its crate; `None` for the crate's root.
fn room(module: &Module) -> Option<String> {
    (module.len() > 1).then(|| module[..2].join("/"))
}

/// Whether a line compares the end of something with its deadline by itself.
fn compares_with_a_deadline(line: &str) -> bool {
    let last_name = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric()).trim_end_matches("_ns");
        word.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
    };
    let words: Vec<&str> = line.trim_start().split(' ').collect();
    words.windows(3).any(|words| {
        ["<", "<=", ">", ">="].contains(&words[1])
            && ["finish", "finished", "response", "bound", "found", "end"].contains(&&*last_name(words[0]))
            && ["deadline", "due"].contains(&&*last_name(words[2]))
    })
}

#[test]
fn one_function_tells_who_is_late() {
    assert!(compares_with_a_deadline("due.zip(finish).map(|(due, finish)| finish <= due),"));
    assert!(compares_with_a_deadline("job.response().is_none_or(|response| response > task.deadline)"));
    assert!(!compares_with_a_deadline("    end <= t + task.deadline"));
    let mut found = Vec::new();
    for path in source_files() {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.lines().map(str::trim).filter(|line| !line.starts_with("//") && compares_with_a_deadline(line));
        found.extend(code.map(|line| format!("{}: {line}", path.display())));
    }
    // Where it is told; of what had not ended when its run did; and what is due there is a turn.
    let known = ["engine/src/time.rs", "core/src/run/jobs.rs", "core/src/audit/observed_run.rs"];
    found.retain(|line| !known.iter().any(|file| line.contains(file)) && !line.contains("/tests"));
    assert!(found.is_empty(), "{found:#?}");
}

/// The room of a module, as its height; `None` for the crate's root.
fn height(module: &Module) -> Option<usize> {
    let room = room(module)?;
    let height = ROOMS.iter().position(|(known, _)| *known == room);
    Some(height.unwrap_or_else(|| panic!("the room {room} has no place in the order of the rooms")))
}

#[test]
fn every_arrow_between_rooms_points_down() {
    let sources = sources();
    let arrows = sources.arrows();
    assert!(arrows.len() > 1000, "only {} arrows found", arrows.len());
    let up: Vec<String> = arrows
        .iter()
        .filter(|(from, to)| height(from).is_some() && height(from) < height(to))
        .map(|(from, to)| format!("{} imports {}", from.join("/"), to.join("/")))
        .collect();
    assert!(up.is_empty(), "arrows that point up:\n{}", up.join("\n"));
}

#[test]
fn no_room_has_more_lines_than_its_budget() {
    let root = |of: &str| SOURCES.into_iter().find(|root| crate_of(root) == of).expect("a crate");
    let lines = |room: &str| {
        let (of, room) = room.split_once('/').expect("a crate and a room");
        lines_of_code(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root(of)), room)
    };
    let over: Vec<String> = ROOMS
        .iter()
        .map(|&(room, budget)| (room, lines(room), budget))
        .filter(|(_, lines, budget)| lines > budget)
        .map(|(room, lines, budget)| format!("(\"{room}\", {lines}), instead of {budget}"))
        .collect();
    assert!(over.is_empty(), "{over:#?}");
    let all: usize = ROOMS.iter().map(|(_, budget)| budget).sum();
    assert!(all <= LINES, "all rooms may have {LINES} lines together, and have {all}");
}

/// Files of the crates: each holds one subject, of which there are no more.
const FILES: usize = 570;

#[test]
fn the_sources_have_no_more_files_than_they_say() {
    let files = source_files();
    assert!(files.len() <= FILES, "{} files, instead of {FILES}", files.len());
}

#[test]
fn every_room_is_on_the_page_on_architecture() {
    let sources = sources();
    let rooms: BTreeSet<String> = sources.modules().filter_map(room).collect();
    for (room, _) in ROOMS {
        assert!(rooms.contains(room), "there is no room {room}");
        let room = room.rsplit('/').next().expect("a name");
        assert!(PAGE.contains(&format!("{room}/")) || PAGE.contains(&format!("`{room}`")), "{room} is not on the page");
    }
    assert_eq!(rooms.len(), ROOMS.len(), "{rooms:?}");
}

/// Neighbours are the modules of one parent, each with all that is in it. A parent and what is in it may import each
/// other.
#[test]
fn no_neighbours_import_each_other_in_a_circle() {
    let sources = sources();
    let mut neighbours: BTreeMap<&[String], BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (from, to) in sources.arrows() {
        let common = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        if common < from.len() && common < to.len() {
            neighbours.entry(&from[..common]).or_default().entry(&from[common]).or_default().insert(&to[common]);
        }
    }
    let mut circles = Vec::new();
    for (parent, imported) in &neighbours {
        for start in imported.keys() {
            let mut reached = BTreeSet::new();
            let mut left = vec![start];
            while let Some(next) = left.pop() {
                let new = imported.get(next).into_iter().flatten().filter(|target| reached.insert(**target));
                left.extend(new);
            }
            if reached.contains(start) {
                circles.push(format!("{}/{start}", parent.join("/")));
            }
        }
    }
    assert!(circles.is_empty(), "in a circle: {circles:?}");
}

#[test]
fn no_two_public_types_have_one_name() {
    let mut homes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folders = roots().to_vec();
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(folder).expect("a folder of the sources").map(|entry| entry.expect("its entry").path())
        {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            if entry.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&entry).expect("a source");
            for line in text
                .lines()
                .filter_map(|line| line.strip_prefix("    pub enum").map(|_| &line[8..]).or(line.strip_prefix("pub ")))
            {
                let Some((kind, name)) = line.split_once(' ') else { continue };
                if ["struct", "enum", "trait", "type", "union"].contains(&kind) {
                    let end = name.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(name.len());
                    homes.entry(name[..end].to_owned()).or_default().push(entry.display().to_string());
                }
            }
        }
    }
    assert!(homes.len() > 300, "only {} types found", homes.len());
    homes.retain(|_, files| files.len() > 1);
    assert!(homes.is_empty(), "names of more than one thing: {homes:?}");
}

/// All Rust files of a folder and the folders in it.
fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// All pages of the repository that people write, without what tests write (`output/`).
fn pages(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is readable") {
        let path = entry.expect("it is readable").path();
        if path.is_dir() {
            pages(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        }
    }
}

#[test]
fn no_line_of_prose_is_wider_than_125_characters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)).to_vec();
    pages(&root.join("docs"), &mut files);
    assert!(files.len() > 30, "only {} pages are looked at", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("it is text");
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            is_code ^= line.trim_start().starts_with("```");
            // Neither a row of a table, nor a link, nor code between backquotes can be broken.
            let can_be_broken = !is_code && !line.starts_with('|') && !line.contains("](") && !line.contains('`');
            if can_be_broken && line.chars().count() > 125 {
                wrong.push(format!("{}:{number}: wider than 125 characters", file.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_file_is_longer_than_600_lines_and_no_comment_wider_than_120_characters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in [
        "src",
        "engine",
        "core",
        "systems",
        "imports",
        "papers",
        "tests",
        "benches",
        "examples",
        "python/src",
        "web",
        "fuzz",
    ] {
        rust_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "only {} files are looked at", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("it is text");
        let length = text.lines().count();
        if length > 600 {
            wrong.push(format!("{}: {length} lines", file.display()));
        }
        let wide = |line: &&str| line.trim_start().starts_with("//") && line.chars().count() > 120;
        // A row of a table cannot be broken.
        let can_be_broken = |line: &&str| !line.contains("| ");
        let numbered = (1..).zip(text.lines());
        wrong.extend(
            numbered
                .filter(|(_, line)| wide(line) && can_be_broken(line))
                .map(|(number, _)| format!("{}:{number}: wider than 120 characters", file.display())),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A new public item takes the place of another, or has a reason to raise this.
const MOST_PUBLIC_ITEMS: usize = 655;

#[test]
fn the_library_makes_no_more_items_public_than_it_says() {
    let public = public_items(&roots());
    let named = |name: &str| public.iter().any(|(_, item)| item == name);
    assert!(["Run", "simulate", "KernelId", "Rule", "BUILTIN_NAMES"].into_iter().all(named));
    assert!(public.len() <= MOST_PUBLIC_ITEMS, "{} public items", public.len());
}

/// What crates make public for each other alone: items, methods, fields and lists of them.
const MOST_HIDDEN: usize = 301;

#[test]
fn the_crates_hide_no_more_than_they_say() {
    let files = source_files();
    let of = |file: &PathBuf| fs::read_to_string(file).expect("it is text").matches("#[doc(hidden)]").count();
    let hidden: usize = files.iter().map(of).sum();
    assert!(hidden <= MOST_HIDDEN, "{hidden} hidden items, instead of {MOST_HIDDEN}");
}
