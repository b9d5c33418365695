//! Any text as a set of applications for GPU-EvR: a set, or an error with a place.

use gpusched::applications::ApplicationSet;

pub(crate) fn run(text: &str) {
    if let Err(error) = ApplicationSet::from_json("applications.json", text, None) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
}
