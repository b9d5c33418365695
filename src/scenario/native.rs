//! gpusched's own scenario format.

use super::model::Scenario;
use super::options::ReadOptions;
use crate::json::{Object, Problem};

/// Reads the native scenario that `file` holds.
pub(super) fn read(file: Object<'_>, _options: &ReadOptions) -> Result<Scenario, Problem> {
    Err(file.node().problem("not yet"))
}
