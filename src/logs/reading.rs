//! What a file of logs held.

use super::assemble::LogReading;
use super::defect::Dropped;
use super::log::Log;

/// What a file held: one log of the examiner, or a table of blocks with a log for each stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogsReading {
    /// The logs; none if the file is neither.
    pub logs: Vec<Log>,
    /// What was left out.
    pub dropped: Vec<Dropped>,
    /// What was assumed.
    pub notes: Vec<String>,
}

impl From<LogReading> for LogsReading {
    fn from(reading: LogReading) -> Self {
        Self { logs: reading.log.into_iter().collect(), dropped: reading.dropped, notes: Vec::new() }
    }
}
