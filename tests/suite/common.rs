//! What tests of the command have in common.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use gpusched::device::Device;
use serde_json::Value;

/// The roots of the library's crates, below that of the project, the lowest first.
pub(crate) const SOURCES: [&str; 6] = ["engine/src", "core/src", "systems/src", "imports/src", "papers/src", "src"];

/// The device of most published results, with a channel for each stream.
pub(crate) fn tx2() -> Device {
    Device::builtin("tx2").expect("the file is sound").expect("it is built in").without_channels()
}

/// A place of a test's own below the build directory, with nothing there. No two tests may ask for one name: they run
/// side by side, and one would take away what the other has just written.
pub(crate) fn absent(test: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());
    let here = thread::current().id();
    let owner = *OWNERS.lock().expect("held for one insertion only").entry(test.to_string()).or_insert(here);
    assert_eq!(owner, here, "another test has the directory {test}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    path
}

/// A directory of a test's own below the build directory, empty at first.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = absent(test);
    fs::create_dir_all(&path).expect("the build directory can be written");
    path
}

/// Whether a file was written anew, as the environment asks for by `VARIABLE=overwrite`: for texts that are made.
pub(crate) fn overwritten(variable: &str, path: &Path, text: &str) -> bool {
    let is_asked_for = std::env::var(variable).is_ok_and(|value| value == "overwrite");
    is_asked_for && fs::write(path, text).is_ok()
}

/// The command, not run yet.
pub(crate) fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gpusched"))
}

/// Runs the command.
pub(crate) fn gpusched(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command runs")
}

/// Runs the command in a directory.
pub(crate) fn gpusched_in(directory: &Path, arguments: &[&str]) -> Output {
    command().current_dir(directory).args(arguments).output().expect("the command runs")
}

/// Runs the command with something on its standard input, which it may refuse to read.
pub(crate) fn gpusched_with(input: &str, arguments: &[&str]) -> Output {
    let piped = || Stdio::piped();
    let mut child =
        command().args(arguments).stdin(piped()).stdout(piped()).stderr(piped()).spawn().expect("the command runs");
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// The one JSON document that the command prints, which has to succeed.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = gpusched(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    document(&output)
}

/// The one JSON document that was printed.
pub(crate) fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

/// What the command said on standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the command printed.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder into which inputs that readers refuse are put, if anybody asks for them to try them elsewhere too.
pub(crate) const REFUSED: &str = "GPUSCHED_REFUSED";

/// Keeps an input that is refused, if that is asked for.
pub(crate) fn keep_refused(extension: &str, text: &str) {
    if let Some(folder) = std::env::var_os(REFUSED) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let path = Path::new(&folder).join(format!("{:016x}.{extension}", hasher.finish()));
        std::fs::write(path, text).expect("the folder can be written");
    }
}
