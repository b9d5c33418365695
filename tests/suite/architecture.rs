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
mod lines;
mod loops;
mod public_items;

const PAGE: &str = include_str!("../../docs/architecture.md");

/// The rooms of the crates, the lowest first: a room may import only those before it. With each, how many lines of code
/// it may have: who needs more in one room lowers another in the same commit.
const ROOMS: [(&str, usize); 39] = [
    ("proven", 30),
    ("spelling", 67),
    ("effort", 221),
    ("limits", 153),
    ("broken_bound", 25),
    ("named", 67),
    ("words", 158),
    ("sorted", 18),
    ("joined", 20),
    ("time", 290),
    ("canonical", 83),
    ("printed", 94),
    ("statistics", 165),
    ("json", 1053),
    ("draw", 1589),
    ("device", 1457),
    ("workload", 1522),
    ("tasks", 3289),
    ("warps", 1592),
    ("trace", 3236),
    ("applications", 743),
    ("scenario", 8228),
    ("profile", 3406),
    ("gpu", 4356),
    ("run", 2095),
    ("hosts", 4074),
    ("logs", 2357),
    ("input", 604),
    ("audit", 4093),
    ("analysis", 10281),
    ("explain", 152),
    ("experiments", 6068),
    ("schema", 174),
    ("formats", 1138),
    ("tables", 4472),
    ("pictures", 8566),
    ("figures", 3130),
    ("prelude", 0),
    ("cli", 5401),
];

/// Of all rooms.
const LINES: usize = 84_467;

/// What stands between backquotes.
fn quoted() -> impl Iterator<Item = &'static str> {
    PAGE.split('`').skip(1).step_by(2)
}

#[test]
fn every_file_named_on_the_page_on_architecture_exists() {
    let files: Vec<&str> = quoted()
        .filter(|name| ["src/", "engine/", "tests/", "docs/", "examples/"].iter().any(|room| name.starts_with(room)))
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
fn roots() -> [PathBuf; 2] {
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

fn sources() -> Imports {
    Imports::of(&roots())
}

/// The room of a module, as its height; `None` for the crate's root.
fn height(module: &Module) -> Option<usize> {
    let room = module.first()?;
    let height = ROOMS.iter().position(|(known, _)| known == room);
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
    let lines = |room| roots().iter().map(|root| lines_of_code(root, room)).sum::<usize>();
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
const FILES: usize = 488;

#[test]
fn the_sources_have_no_more_files_than_they_say() {
    let files = source_files();
    assert!(files.len() <= FILES, "{} files, instead of {FILES}", files.len());
}

#[test]
fn every_room_is_on_the_page_on_architecture() {
    let sources = sources();
    let rooms: BTreeSet<&String> = sources.modules().filter_map(|module| module.first()).collect();
    for (room, _) in ROOMS {
        assert!(rooms.iter().any(|found| *found == room), "there is no room {room}");
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
    for folder in ["src", "engine", "tests", "benches", "examples", "python/src", "web", "fuzz"] {
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
const MOST_PUBLIC_ITEMS: usize = 601;

#[test]
fn the_library_makes_no_more_items_public_than_it_says() {
    let public = public_items(&roots());
    let named = |name: &str| public.iter().any(|(_, item)| item == name);
    assert!(["Run", "simulate", "KernelId", "Rule", "BUILTIN_NAMES"].into_iter().all(named));
    assert!(public.len() <= MOST_PUBLIC_ITEMS, "{} public items", public.len());
}

/// What the engine's crate makes public for the others alone: items, methods and lists of them.
const MOST_HIDDEN: usize = 91;

#[test]
fn the_engine_hides_no_more_than_it_says() {
    let files = source_files();
    let of = |file: &PathBuf| fs::read_to_string(file).expect("it is text").matches("#[doc(hidden)]").count();
    let hidden: usize = files.iter().map(of).sum();
    assert!(hidden <= MOST_HIDDEN, "{hidden} hidden items, instead of {MOST_HIDDEN}");
}
