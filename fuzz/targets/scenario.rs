//! Any text as a scenario, native or the examiner's: a scenario or an error with a place.

use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;

pub(crate) fn run(text: &str) {
    let options = ReadOptions { horizon: Some(Duration::from_ns(1_000)), ..ReadOptions::default() };
    if let Err(error) = Scenario::from_json("scenario.json", text, &options) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
}
