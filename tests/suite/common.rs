//! What tests of the command have in common.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory of a test's own below the build directory, empty at first.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the build directory can be written");
    path
}

/// Runs the command.
pub(crate) fn gpusched(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpusched")).args(arguments).output().expect("the command runs")
}

/// What the command said on standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the command printed.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
