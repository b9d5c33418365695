//! The pages on what was reproduced, and the errata: every row has an answer, every command ends as stated, every test
//! that they name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{absent, gpusched_in};

/// A command of a page.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stated {
    arguments: Vec<String>,
    exit: i32,
    long: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn reproduction_pages() -> Vec<PathBuf> {
    let folder = root().join("docs/reproduction");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between single backticks, with the text behind it.
fn code_spans(text: &str) -> impl Iterator<Item = (String, &str)> {
    let mut parts = text.split('`').skip(1);
    std::iter::from_fn(move || {
        let code = parts.next()?;
        let after = parts.next().unwrap_or_default();
        Some((code.split_whitespace().collect::<Vec<_>>().join(" "), after))
    })
}

/// The commands of a text. Behind one there may be `(exit 1)`, `(long)` or `(exit 1, long)`.
fn commands(text: &str) -> Vec<Stated> {
    let mut commands = Vec::new();
    for (code, after) in code_spans(text) {
        let Some(line) = code.strip_prefix("gpusched ") else { continue };
        // Capitals stand for a file of the reader's own.
        if line.split(' ').any(|word| ["FILE", "DIR", "F.svg"].contains(&word)) {
            continue;
        }
        let after = after.trim_start();
        let note = after.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(note, _)| note);
        let exit = note.strip_prefix("exit ").and_then(|rest| rest.chars().next()?.to_digit(10)).unwrap_or(0);
        let long = note == "long" || note.ends_with(", long");
        let arguments = line.split(' ').map(str::to_owned).collect();
        commands.push(Stated { arguments, exit: i32::try_from(exit).expect("one digit"), long });
    }
    commands
}

/// All commands of the pages, each once.
fn stated(long: bool) -> BTreeSet<Stated> {
    let mut pages = reproduction_pages();
    pages.extend(["docs/reproduction.md", "docs/errata.md"].map(|page| root().join(page)));
    pages.iter().flat_map(|page| commands(&read(page))).filter(|command| command.long == long).collect()
}

/// Copies what commands read, so that what they write is not written into the project.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("it can be made");
        for entry in fs::read_dir(from).expect("readable") {
            let entry = entry.expect("readable");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.is_file() {
        fs::copy(from, to).expect("it can be copied");
    }
}

fn run_all(long: bool) {
    let folder = absent(&format!("reproduction_{long}"));
    for name in ["scenarios", "studies", "witnesses"] {
        copy(&root().join(name), &folder.join(name));
    }
    let commands = stated(long);
    assert!(!commands.is_empty());
    let mut wrong = Vec::new();
    for command in commands {
        let arguments: Vec<&str> = command.arguments.iter().map(AsRef::as_ref).collect();
        let output = gpusched_in(&folder, &arguments);
        if output.status.code() != Some(command.exit) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            wrong.push(format!("{}: {} for {}: {said}", command.arguments.join(" "), output.status, command.exit));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_short_command_of_the_pages_ends_as_stated() {
    run_all(false);
}

#[test]
#[ignore = "minutes in a debug build; run it with --release"]
fn every_long_command_of_the_pages_ends_as_stated() {
    run_all(true);
}

#[test]
fn every_row_has_an_answer_and_a_command_or_a_reason() {
    for page in reproduction_pages() {
        let text = read(&page);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        let rows: Vec<&&str> = rows.iter().skip(1).filter(|row| !row.starts_with("| ---")).collect();
        assert!(rows.len() > 5, "{}", page.display());
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [_, answer, rest] = cells[..] else { panic!("three columns: {row}") };
            let known =
                ["reproduced", "in part", "not", "holds if", "refuted"].iter().any(|word| answer.starts_with(word));
            assert!(known, "{row}");
            assert!(answer.starts_with("not covered") && !rest.is_empty() || !commands(rest).is_empty(), "{row}");
        }
    }
}

#[test]
fn every_test_that_pages_name_exists() {
    let mut sources = String::new();
    let mut folders = vec![root().join("src"), root().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&read(&path));
            }
        }
    }
    let is_name = |code: &str| {
        code.contains('_') && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    for page in ["docs/errata.md", "SECURITY.md"] {
        let page = read(&root().join(page));
        let named: Vec<String> =
            code_spans(&page).map(|(code, _)| code).filter(|code| is_name(code) && code.len() > 20).collect();
        assert!(named.len() > 5);
        for name in named {
            assert!(sources.contains(&format!("fn {name}(")), "{name}");
        }
    }
}

#[test]
fn commands_are_read_with_what_stands_behind_them() {
    let text = "`gpusched a\n   b` (exit 1), `gpusched c` (long); `cargo test x`, `gpusched d` (exit 2, long) `gpusched e FILE`";
    let shown: Vec<(String, i32, bool)> =
        commands(text).into_iter().map(|stated| (stated.arguments.join(" "), stated.exit, stated.long)).collect();
    assert_eq!(shown, [("a b".to_owned(), 1, false), ("c".to_owned(), 0, true), ("d".to_owned(), 2, true)]);
}
