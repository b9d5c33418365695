//! The pages on what was reproduced, and the errata: every row has an answer, every command ends as stated, every test
//! that they name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gpusched::figures::{Figure, Paper, catalogue};
use gpusched::printed::{Printed, Value};
use gpusched::time::Duration;

use crate::common::{SOURCES, absent, directory, gpusched, gpusched_in, stderr, stdout};

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
        if line.split(' ').any(|word| ["FILE", "DIR", "F.svg", "NAME"].contains(&word)) {
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
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_every_short_command_of_the_pages_ends_as_stated() {
    run_all(false);
}

#[test]
#[ignore = "minutes in a debug build; run it with --release"]
fn every_long_command_of_the_pages_ends_as_stated() {
    run_all(true);
}

/// The rows of a page: what, answer, and command or reason.
fn rows(page: &str) -> Vec<[&str; 3]> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1).filter(|row| !row.starts_with("| ---"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        cells.try_into().unwrap_or_else(|_| panic!("three columns: {row}"))
    })
    .collect()
}

#[test]
fn every_row_has_one_of_three_words_and_says_what_or_why_not() {
    for page in reproduction_pages() {
        let text = read(&page);
        let rows = rows(&text);
        assert!(rows.len() > 5, "{}", page.display());
        for [what, answer, rest] in rows {
            let has_command = !commands(rest).is_empty();
            let says_enough = if let Some(exceptions) = answer.strip_prefix("in part: ") {
                has_command && !exceptions.is_empty()
            } else if let Some(reason) = answer.strip_prefix("not: ") {
                !reason.is_empty() && !rest.is_empty() && (has_command || reason.starts_with("not covered"))
            } else {
                let behind = answer.strip_prefix("reproduced");
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with([',', ':', ';'])) && has_command
            };
            assert!(says_enough, "{}: {what} | {answer} | {rest}", page.display());
        }
    }
}

/// The paper that a page is about.
fn paper_of(page: &Path) -> Paper {
    let name = page.file_stem().and_then(|name| name.to_str()).expect("plain names");
    let by_name = |paper: &&Paper| format!("{paper:?}").eq_ignore_ascii_case(name);
    *Paper::ALL.iter().find(by_name).unwrap_or_else(|| panic!("{name} is a paper"))
}

fn figure(name: &str) -> Figure {
    catalogue().into_iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name} is in the catalogue"))
}

#[test]
fn what_is_called_reproduced_is_checked_against_values_with_their_places_in_that_paper() {
    let mut checked = BTreeSet::new();
    for page in reproduction_pages() {
        let paper = paper_of(&page);
        let text = read(&page);
        for [what, answer, rest] in rows(&text).into_iter().filter(|[_, answer, _]| answer.starts_with("reproduced")) {
            let mut by_check = 0;
            for Stated { arguments, exit, long } in commands(rest) {
                let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
                let ["figures", "--only", name, "--check"] = arguments[..] else { continue };
                // That it ends so is what `long_work_every_short_command_of_the_pages_ends_as_stated` shows.
                assert_eq!((exit, long), (0, false), "{what}");
                assert_eq!(figure(name).paper, paper, "{what}");
                checked.insert(name.to_owned());
                by_check += 1;
            }
            assert!(by_check > 0, "{what} | {answer}: no command with --check, but {rest}");
        }
    }
    assert!(checked.len() > 10, "{checked:?}");
    for name in checked {
        let values = figure(&name).printed().expect("what is shipped can be run");
        assert!(!values.is_empty(), "{name}");
        for value in values {
            assert!(value.agrees() && !value.place.is_empty() && !value.what.is_empty(), "{name}: {value:?}");
            assert!(!value.place.contains("by hand"), "what we worked out is not what print has: {name}: {value:?}");
        }
    }
}

/// Print's value changed, whatever it is, by more than it may be off.
fn changed(value: &Printed) -> Printed {
    let printed = match &value.printed {
        Value::Number(number, unit) => Value::Number(number + 2.0 * value.tolerance + 1.0, unit),
        Value::Time(time) => {
            let twice = Duration::parse(&format!("{} s", 2.0 * value.tolerance)).expect("a short time");
            Value::Time(*time + twice + Duration::from_ns(1))
        }
        Value::Verdict(verdict) => Value::Verdict(!verdict),
        Value::Words(words) => Value::Words(format!("{words} and more")),
    };
    Printed { printed, ..value.clone() }
}

#[test]
fn a_value_of_print_that_is_changed_no_longer_agrees() {
    let mut kinds = BTreeSet::new();
    // Samples of Fig. 8 take long.
    for figure in catalogue().iter().filter(|figure| figure.name != "ecrts2024-figure-8") {
        for value in figure.printed().expect("what is shipped can be run").iter().filter(|value| value.agrees()) {
            assert!(!changed(value).agrees(), "{}: {value:?}", figure.name);
            kinds.insert(match value.printed {
                Value::Number(..) => "number",
                Value::Time(_) => "time",
                Value::Verdict(_) => "verdict",
                Value::Words(_) => "words",
            });
        }
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[test]
fn check_ends_with_1_where_print_has_another_value_and_says_which() {
    let output = gpusched(&["figures", "--only", "rtns2020-figure-5", "--check", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "paper,place,what,printed,tolerance,here,agrees");
    // Erratum 4: the first example is the other way round, and T of the converted tau2 is 40.
    let differing: Vec<&&str> = lines.iter().filter(|line| line.ends_with(",false")).collect();
    assert_eq!(
        differing,
        [
            &"RTNS 2020,\"Theorem 5, first example\",schedulable according to Theorem 3,yes,0,no,false",
            &"RTNS 2020,\"Theorem 5, first example\",schedulable according to Theorem 4,no,0,yes,false",
            &"RTNS 2020,\"Theorem 5, first example\",\"tau2 converted: (C, D, T)\",\"(6, 16, 20)\",0,\"(6, 16, 40)\",false",
        ]
    );
    assert_eq!(lines.iter().filter(|line| line.ends_with(",true")).count(), 3);
    let document = json_of(&["figures", "--only", "rtns2020-figure-5", "--check", "--format", "json"]);
    assert_eq!((&document["agree"], document["values"].as_array().map(Vec::len)), (&false.into(), Some(6)));
}

fn json_of(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_slice(&gpusched(arguments).stdout).expect("JSON")
}

#[test]
fn a_scenario_whose_printed_value_is_changed_differs_at_its_place() {
    let text = read(&root().join("scenarios/thesis2019/section-4-2-scenario-1.json"));
    let folder = directory("reproduction_changed");
    for (from, to) in [
        ("\"finish\": \"12 s\"", "\"finish\": \"12.1 s\""),
        ("\"first_start\": \"6 s\"", "\"first_start\": \"5 s\""),
        ("\"blocks_per_sm\": [4, 3]", "\"blocks_per_sm\": [3, 4]"),
    ] {
        assert!(text.contains(from), "{from}");
        let path = folder.join("changed.json");
        fs::write(&path, text.replacen(from, to, 1)).expect("it can be written");
        let output = gpusched(&["simulate", &path.display().to_string(), "--check"]);
        assert_eq!(output.status.code(), Some(1), "{to}");
        assert!(stderr(&output).contains("(Sec. 4.2, Fig. 4.1)"), "{to}: {}", stderr(&output));
    }
}

#[test]
fn a_figure_of_which_print_gives_no_value_refuses_to_be_checked() {
    let folder = directory("reproduction_refused");
    let output = gpusched_in(&folder, &["figures", "--only", "rtns2020-figure-9", "--check"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("rtns2020-figure-9") && said.contains("more predictable with the platform"), "{said}");
    assert_eq!(gpusched_in(&folder, &["figures", "--check"]).status.code(), Some(2));
    assert_eq!(gpusched_in(&folder, &["figures", "--only", "rtns2020-figure-2", "--check"]).status.code(), Some(0));
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 0, "a comparison writes nothing");
}

#[test]
fn every_test_that_pages_name_exists() {
    let mut sources = String::new();
    let mut folders = SOURCES.iter().chain(&["tests"]).map(|folder| root().join(folder)).collect::<Vec<_>>();
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
