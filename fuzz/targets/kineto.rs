//! Any bytes as Kineto JSON: a profile, and of it a scenario, or an error.

use gpusched::profile::{GpuProfile, ImportOptions};
use gpusched::scenario::ReadOptions;

pub(crate) fn run(bytes: &[u8]) {
    match GpuProfile::read("profile.json", bytes) {
        Ok(profile) => {
            if let Err(error) = profile.import(&ImportOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty()),
    }
}
