//! Any text as an AMALTHEA model: a model, and of it a scenario, or an error.

#![no_main]

use gpusched::scenario::ReadOptions;
use gpusched::scenario::amalthea::{AmaltheaModel, AmaltheaOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match AmaltheaModel::parse("model.amxmi", text) {
        Ok(model) => {
            if let Err(error) = model.scenario(&AmaltheaOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty(), "{error:?}"),
    }
});
