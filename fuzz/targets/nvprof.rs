//! Any bytes as nvprof CSV: a profile, and of it a scenario, or an error.

use gpusched::profile::{GpuProfile, ImportOptions};
use gpusched::scenario::ReadOptions;

pub(crate) fn run(bytes: &[u8]) {
    // What tells the format comes first.
    let content = &[b"==1== remark\n", bytes].concat();
    match GpuProfile::read("profile.csv", content) {
        Ok(profile) => {
            if let Err(error) = profile.import(&ImportOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty()),
    }
}
