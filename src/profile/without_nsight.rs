//! In the place of the reader of SQLite exports, in builds without it.

use std::path::Path;

use super::error::GpuProfileError;
use super::model::GpuProfile;

pub(super) fn read(file: &str, _content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    let scenario = Path::new(file).with_extension("scenario.json").display().to_string();
    let help = format!(
        "the command, which has the feature nsight by default, makes a scenario that is read here of an export of Nsight \
         Systems: gpusched import {file:?} --out {scenario:?}"
    );
    Err(GpuProfileError::new(file, "this is an SQLite database, which this build does not read").with_help(help))
}
