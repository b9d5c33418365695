//! Any text as an instance of the warp makespan, and as a kernel instruction string.

use gpusched::warps::{Instance, KernelString, Unit};

pub(crate) fn run(text: &str) {
    if let Err(error) = Instance::from_json("warps.json", text) {
        assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
    }
    if let Err(error) = KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]) {
        assert!(!error.to_string().is_empty());
    }
}
