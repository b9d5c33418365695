//! Any text as a scenario, native or the examiner's: a scenario or an error with a place.

#![no_main]

use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let options = ReadOptions { horizon: Some(Duration::from_ns(1_000)), ..ReadOptions::default() };
    if let Err(error) = Scenario::from_json("scenario.json", text, &options) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
});
