//! Every promise of SECURITY.md and docs/testing.md has tests, which are there and are about what is promised.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::SOURCES;

const PAGES: [&str; 2] = ["SECURITY.md", "docs/testing.md"];

/// Words of a promise that say nothing of what it is about.
const COMMON: &[&str] = &[
    "above",
    "after",
    "again",
    "alone",
    "already",
    "always",
    "another",
    "before",
    "being",
    "below",
    "command",
    "each",
    "every",
    "everything",
    "files",
    "given",
    "known",
    "never",
    "number",
    "other",
    "others",
    "promise",
    "somebody",
    "something",
    "their",
    "there",
    "these",
    "things",
    "thing",
    "those",
    "unless",
    "whatever",
    "where",
    "which",
    "while",
    "whole",
    "without",
    "would",
];

/// A row of a table of promises.
#[derive(Debug)]
struct Promise {
    page: &'static str,
    line: usize,
    /// Everything but the last cell.
    says: String,
    shown_by: String,
}

/// The rows of tables whose last column names tests.
fn promises(page: &'static str) -> Vec<Promise> {
    let text = fs::read_to_string(page).expect("the page is there");
    let cells = |line: &str| -> Option<(String, String)> {
        let (says, shown_by) = line.strip_prefix('|')?.trim_end().strip_suffix('|')?.rsplit_once('|')?;
        Some((says.trim().to_owned(), shown_by.trim().to_owned()))
    };
    let mut found = Vec::new();
    let mut is_of_promises = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((says, shown_by)) = cells(line) else {
            is_of_promises = false;
            continue;
        };
        if ["shown by", "tested by"].contains(&&*shown_by) {
            is_of_promises = true;
        } else if is_of_promises && !shown_by.starts_with("---") {
            found.push(Promise { page, line: number, says, shown_by });
        }
    }
    found
}

/// Parts of a text between two signs.
fn between<'t>(text: &'t str, sign: &str) -> Vec<&'t str> {
    text.split(sign).skip(1).step_by(2).collect()
}

/// What is in italics: the text of a test that the row names has to have it.
fn objects(says: &str) -> Vec<String> {
    let plain = says.replace("**", "").replace('`', "");
    between(&plain, "*").into_iter().map(in_words).collect()
}

/// Names of functions are words like any others.
fn in_words(text: &str) -> String {
    text.to_lowercase().replace('_', " ")
}

/// Words that say what a promise is about, as far as they tell without their endings.
fn words(says: &str) -> BTreeSet<String> {
    let letters = |letter: char| !letter.is_alphanumeric() && letter != '-';
    let words = says.split(letters).map(str::to_lowercase).filter(|word| word.len() > 3);
    let words = words.filter(|word| !COMMON.contains(&&**word));
    words.map(|word| word.trim_end_matches("ed").trim_end_matches('s').to_owned()).collect()
}

fn sources() -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (Vec::new(), ["tests", "fuzz", "web/wasm/src"].map(PathBuf::from).to_vec());
    folders.extend(SOURCES.map(PathBuf::from));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project") {
            let path = entry.expect("an entry").path();
            // What was built lies below folders of this name.
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                found.push((path, text));
            }
        }
    }
    found
}

/// Whether the function on a line, counted from 0, is a test: so its attributes say, which stand right above it.
fn is_test(source: &str, line: usize) -> bool {
    let before: Vec<&str> = source.lines().take(line).collect();
    before.iter().rev().take_while(|line| !line.trim().is_empty()).any(|line| line.contains("#[test]"))
}

/// The text of tests of this name: of one of them, of all of a module, or of those that begin so.
fn tests_named(name: &str, sources: &[(PathBuf, String)]) -> String {
    let mut text = String::new();
    let module = name.replace("::", "/");
    for (path, source) in sources {
        let place = path.with_extension("").display().to_string();
        let is_module = [format!("tests/suite/{module}"), format!("tests/{module}")]
            .iter()
            .any(|of| place == *of || place.starts_with(&format!("{of}/")));
        if is_module && source.contains("#[test]") {
            text += source;
        }
        // Most have none, and going through their lines takes far longer.
        if !source.contains(&format!("fn {name}")) {
            continue;
        }
        let mut lines = source.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(function) = line.trim_start().strip_prefix("fn ") else { continue };
            let is_meant =
                if name.ends_with('_') { function.starts_with(name) } else { function.split('(').next() == Some(name) };
            if is_meant && is_test(source, number) {
                let indentation = &line[..line.len() - line.trim_start().len()];
                let end = format!("{indentation}}}");
                text += line;
                text.extend(lines.by_ref().map(|(_, line)| line).take_while(|line| *line != end));
            }
        }
    }
    text
}

/// The text of what a row names: tests, modules of them, and files.
fn evidence(promise: &Promise, sources: &[(PathBuf, String)]) -> Result<String, String> {
    let mut text = String::new();
    let is_name = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':')
    };
    for part in between(&promise.shown_by, "`") {
        // Of a command, the names of the tests that it runs.
        let words: Vec<&str> = part.split_whitespace().collect();
        let names = match &words[..] {
            [word] if Path::new(word).is_file() => {
                text += &fs::read_to_string(word).expect("it is a file");
                continue;
            }
            [word] if is_name(word) => vec![*word],
            ["cargo", "test", rest @ ..] => {
                rest.iter().copied().filter(|word| word.contains('_') && is_name(word)).collect()
            }
            _ => continue,
        };
        for name in names {
            let found = tests_named(name, sources);
            if found.is_empty() {
                return Err(format!("there is no test {name}"));
            }
            text = text + name + "\n" + &found;
        }
    }
    if text.is_empty() { Err("it names no test".to_owned()) } else { Ok(in_words(&text)) }
}

/// What is wrong with a promise.
fn doubts(promise: &Promise, sources: &[(PathBuf, String)]) -> Vec<String> {
    let text = match evidence(promise, sources) {
        Ok(text) => text,
        Err(why) => return vec![why],
    };
    let mut doubts: Vec<String> = objects(&promise.says)
        .into_iter()
        .filter(|object| !text.contains(&**object))
        .map(|object| format!("no test that it names has {object:?}"))
        .collect();
    if !words(&promise.says).iter().any(|word| text.contains(&**word)) {
        doubts.push("the tests that it names have no word of it".to_owned());
    }
    doubts
}

#[test]
fn every_promise_names_tests_that_are_there_and_have_what_is_promised() {
    let sources = sources();
    let all: Vec<Promise> = PAGES.into_iter().flat_map(promises).collect();
    assert!(all.len() > 25, "only {} promises found", all.len());
    let wrong: Vec<String> = all
        .iter()
        .flat_map(|promise| {
            let place = format!("{}:{}", promise.page, promise.line);
            doubts(promise, &sources).into_iter().map(move |doubt| format!("{place}: {doubt}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let named: usize = all.iter().map(|promise| objects(&promise.says).len()).sum();
    assert!(named > 25, "only {named} objects are in italics");
}

#[test]
fn a_promise_without_its_test_or_with_that_of_another_is_found() {
    let sources = sources();
    let doubts = |says: &str, shown_by: &str| {
        let promise = Promise { page: "", line: 0, says: says.to_owned(), shown_by: shown_by.to_owned() };
        doubts(&promise, &sources)
    };
    let drawings = "`text_is_escaped`";
    assert_eq!(doubts("text is escaped in pictures", drawings), Vec::<String>::new());
    assert_eq!(doubts("escaped in *Markdown*", drawings), ["no test that it names has \"markdown\""]);
    assert_eq!(doubts("a link is replaced", drawings), ["the tests that it names have no word of it"]);
    assert_eq!(doubts("a link", "`no_such_test_is_there`"), ["there is no test no_such_test_is_there"]);
    assert_eq!(doubts("a link", "by careful work"), ["it names no test"]);
}

#[test]
fn nothing_is_started_but_sbatch_and_no_network_connection_is_opened() {
    let mut starts = Vec::new();
    for (path, text) in sources().iter().filter(|(path, _)| SOURCES.iter().any(|root| path.starts_with(root))) {
        for network in ["std::net", "TcpStream", "UdpSocket", "ureq", "UnixStream"] {
            assert!(!text.contains(network), "{}: {network}", path.display());
        }
        // `clap::Command` builds itself of the arguments, and starts nothing.
        if text.contains("process::Command") {
            starts.push(path.display().to_string());
            assert!(text.contains("Command::new(\"sbatch\")"), "{}", path.display());
            assert_eq!(text.matches("Command::new(").count(), 1, "{}", path.display());
        }
    }
    assert_eq!(starts, ["src/cli/study/run.rs"]);
    let manifest = |path: &str| fs::read_to_string(path).expect("it is there");
    assert!(manifest("Cargo.toml").contains("unsafe_code = \"forbid\""));
    for package in ["Cargo.toml", "engine/Cargo.toml"] {
        assert!(manifest(package).contains("[lints]\nworkspace = true\n"), "{package}");
    }
}
