//! Where everything is in timelines of shipped, measured, random and extreme runs.

use std::path::Path;

use crate::campaign::config;
use crate::scenario::{ReadOptions, Scenario};

mod deadlines;
mod editor;
#[path = "../../../tests/suite/figure_samples.rs"]
mod figure_samples;
mod found;
mod kinds;
mod lanes;
mod marks;
mod properties;
mod published;
#[path = "../../../tests/suite/svg_checks.rs"]
mod svg_checks;
mod turns;

/// A file of `scenarios/`, named without `.json`.
fn shipped(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(format!("{name}.json"));
    let text = std::fs::read_to_string(path).expect("it is shipped");
    Scenario::from_json(name, &text, &ReadOptions::default()).expect("it is sound")
}
