//! In the place of the reader of SQLite exports, in builds without it.

use super::error::GpuProfileError;
use super::model::GpuProfile;

pub(super) fn read(file: &str, _content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    Err(GpuProfileError::new(file, "this is an SQLite database, and this build reads none")
        .with_help("cargo build --features nsight makes one that reads exports of Nsight Systems"))
}
