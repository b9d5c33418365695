//! Any text as an AMALTHEA model: a model, and of it a scenario, or an error.

use gpusched::amalthea::{AmaltheaModel, AmaltheaOptions};
use gpusched::scenario::ReadOptions;

pub(crate) fn run(text: &str) {
    match AmaltheaModel::parse("model.amxmi", text) {
        Ok(model) => {
            if let Err(error) = model.scenario(&AmaltheaOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty(), "{error:?}"),
    }
}
