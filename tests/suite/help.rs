//! The help of every command, its man page, and the example below both.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{directory, gpusched, gpusched_in, stderr, stdout};

/// The names of all man pages, without `.1`.
fn pages(folder: &Path) -> Vec<String> {
    let written = gpusched(&["man", "--out", &folder.display().to_string()]);
    assert!(written.status.success(), "{}", stderr(&written));
    let files = fs::read_dir(folder).expect("it was made").map(|entry| entry.expect("it can be read").file_name());
    let names = files.map(|name| name.to_string_lossy().trim_end_matches(".1").to_owned());
    names.collect()
}

/// The words by which the help of a page's command is asked for.
fn words(page: &str) -> Vec<&str> {
    // Commands with a hyphen in their names.
    match page.trim_start_matches("gpusched").trim_start_matches('-') {
        "" => Vec::new(),
        whole @ ("merged-sm" | "replay-log") => vec![whole],
        other => other.split('-').collect(),
    }
}

fn example(page: &str) -> String {
    let words = words(page);
    let help = stdout(&gpusched(&[&words[..], &["--help"]].concat()));
    let (_, example) = help.split_once("Example:\n").unwrap_or_else(|| panic!("{page} has no example: {help}"));
    let example = example.lines().next().unwrap_or_default().trim();
    assert!(example.starts_with(&format!("gpusched {}", words.join(" "))), "{page}: {example}");
    example.to_owned()
}

#[test]
fn every_example_of_the_help_runs_and_every_command_has_one() {
    let folder = directory("help-examples");
    for shared in ["scenarios", "studies", "witnesses"] {
        symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join(shared), folder.join(shared)).expect("a link can be made");
    }
    // Both parts, for what puts them together.
    for part in ["0/2", "1/2"] {
        let study = ["study", "run", "studies/slice-length.json", "--results", "rows", "--shard", part];
        assert!(gpusched_in(&folder, &study).status.success());
    }
    let mut pages = pages(&folder.join("man"));
    // What is merged is drawn.
    pages.sort();
    assert!(pages.len() > 25, "only {} pages", pages.len());
    for page in &pages {
        let example = example(page);
        let ran = gpusched_in(&folder, &example.split_whitespace().skip(1).collect::<Vec<_>>());
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{example}: {}", stderr(&ran));
    }
}

#[test]
fn a_man_page_has_name_options_and_the_example() {
    let folder = directory("man-pages");
    let written = gpusched(&["man", "--out", &folder.display().to_string()]);
    assert!(written.status.success(), "{}", stderr(&written));
    let page = fs::read_to_string(folder.join("gpusched-tasks-run.1")).expect("it was written");
    for part in [".TH gpusched-tasks-run 1", ".SH SYNOPSIS", "\\-\\-strategy", "witnesses/ecrts2024/case\\-study.json"]
    {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    assert!(!folder.join("gpusched-help.1").exists() && !folder.join("gpusched-man.1").exists());
}

#[test]
fn help_and_the_page_of_the_command_tell_of_the_same_exit_statuses() {
    let help = stdout(&gpusched(&["--help"]));
    let (_, told) = help.split_once("Exit status:\n").expect("help tells of them");
    let told: Vec<&str> = told.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command.md")).expect("it is there");
    let (_, rows) = page.split_once("## Exit status\n").expect("it has a section on them");
    let rows = rows.lines().filter(|line| line.starts_with("| ")).skip(2);
    let rows = rows.map(|row| row.replace('`', "").trim_matches(['|', ' ']).replacen(" | ", "  ", 1));
    assert_eq!(rows.collect::<Vec<_>>(), told);
    assert_eq!(told.len(), 6);
}
