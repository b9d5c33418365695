//! What docs/hardware.md says is known of which GPU: its tests exist, and what has no other test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::workload::OperationId;

use crate::generate::builtin;

#[test]
fn every_test_that_the_page_on_hardware_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/hardware.md")).expect("the page");
    let named: BTreeSet<&str> = page
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|code| code.contains("::"))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for test in named {
        let (module, name) = test.split_once("::").expect("it has both");
        let text = fs::read_to_string(root.join(format!("tests/suite/{module}.rs"))).expect(test);
        assert!(text.contains(&format!("#[test]\nfn {name}()")), "{test} is no test");
    }
}

#[test]
fn a_single_block_of_an_a100_goes_to_sm_0() {
    // Measured 5 of 5 times (slotbench).
    let text = r#"{"format": "gpusched-scenario/1", "name": "one",
        "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [{"name": "s", "operations": [{"kernel": "k"}]}]}"#;
    let options = ReadOptions { device: Some(builtin("a100-80gb")), ..ReadOptions::default() };
    let scenario = Scenario::from_json("one", text, &options).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(run.trace.blocks(OperationId(0)).map(|block| block.sm).collect::<Vec<_>>(), [0]);
}
