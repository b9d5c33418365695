//! Any bytes as an SQLite export of Nsight Systems: a profile, and of it a scenario, or an error.

use gpusched::profile::{GpuProfile, ImportOptions};
use gpusched::scenario::ReadOptions;

pub(crate) fn run(bytes: &[u8]) {
    // What tells the format comes first.
    let content = &[b"SQLite format 3\0", bytes].concat();
    match GpuProfile::read("profile.sqlite", content) {
        Ok(profile) => {
            if let Err(error) = profile.import(&ImportOptions::default(), &ReadOptions::default()) {
                assert!(!error.what.is_empty());
            }
        }
        Err(error) => assert!(!error.what.is_empty()),
    }
}
