//! Any text as an instance of the warp makespan, and as a kernel instruction string.

#![no_main]

use gpusched::warps::{Instance, KernelString, Unit};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = Instance::from_json("warps.json", text) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
    if let Err(error) = KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]) {
        assert!(!error.to_string().is_empty());
    }
});
