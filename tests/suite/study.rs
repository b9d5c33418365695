//! Studies: rows in parallel, resumed, sharded, merged, and every fault that they survive.

mod export;
mod faults;
mod fields;
mod file;
mod files;
mod results;
mod segments;
mod shards;
mod simulate;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpusched::experiments::study::{Shard, Study, StudyRow};

use crate::common::{self, stderr};

/// Two families, five rows each, the last of them short.
const SMALL: &str = r#"{"format": "gpusched-study/1", "name": "small", "command": "merged-sm", "seed": 7, "samples": 45,
    "samples_per_row": 10, "grid": {"family": ["unequal", "priorities"]}}"#;

fn study(text: &str) -> Study {
    Study::from_json("study.json", text, &|_| Err(std::io::ErrorKind::NotFound.into())).expect("the study is sound")
}

fn directory(test: &str) -> PathBuf {
    common::directory(&format!("study/{test}"))
}

/// The directory of a test, with a study in it.
fn with_study(test: &str, text: &str) -> (PathBuf, String) {
    let directory = directory(test);
    let file = directory.join("study.json");
    fs::write(&file, text).expect("it can be written");
    (directory, file.display().to_string())
}

/// The command, outside any Slurm job that the tests may be run in.
fn command() -> Command {
    let mut command = common::command();
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SLURM_")) {
        command.env_remove(name);
    }
    command
}

fn gpusched(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command runs")
}

/// Runs the command, which has to succeed; what it says on stderr.
fn done(arguments: &[&str]) -> String {
    let output = gpusched(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stderr(&output)
}

/// Runs the command, which has to refuse; what it says on stderr.
fn refused(arguments: &[&str]) -> String {
    let output = gpusched(arguments);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("the file is there")
}

/// The rows of a shard, computed here and now.
fn rows(study: &Study, shard: Shard) -> Vec<StudyRow> {
    let mut found = Vec::new();
    let sink = |rows: &[StudyRow]| {
        found.extend_from_slice(rows);
        Ok(())
    };
    assert!(study.work(shard, 0).run(sink).expect("it runs"));
    found
}
