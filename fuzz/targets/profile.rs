//! What holds for profiles of every kind.

use gpusched::profile::{GpuProfile, ImportOptions};
use gpusched::scenario::ReadOptions;

/// The content of a file is a profile, and of it a scenario, or an error that says something.
pub(crate) fn check(file: &str, content: &[u8]) {
    let imported = GpuProfile::read(file, content)
        .and_then(|profile| profile.import(&ImportOptions::default(), &ReadOptions::default()));
    if let Err(error) = imported {
        assert!(!error.what.is_empty());
    }
}
