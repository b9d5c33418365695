//! Any text as a study file: a study, or an error with a place. It names no other file that can be read.

use std::io;

use gpusched::experiments::study::Study;

pub(crate) fn run(text: &str) {
    let nothing = |_: &str| -> io::Result<Vec<u8>> { Err(io::ErrorKind::NotFound.into()) };
    if let Err(error) = Study::from_json("study.json", text, &nothing) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
}
