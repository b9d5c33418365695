//! What reading a log gives.

use super::defect::Dropped;
use super::log::Log;

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReading {
    /// The log; `None` if the file is none: it has no list `times`.
    pub log: Option<Log>,
    /// What was left out.
    pub dropped: Vec<Dropped>,
}
