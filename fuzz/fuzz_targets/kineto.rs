//! Any bytes as Kineto JSON: a profile, and of it a scenario, or an error.

#![no_main]

use gpusched::profile::{GpuProfile, ImportOptions};
use gpusched::scenario::ReadOptions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match GpuProfile::read("profile.json", bytes) {
        Ok(profile) => {
            if let Err(error) = profile.import(&ImportOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty()),
    }
});
