//! What was read of a file of logs, and what is wrong with it.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use thiserror::Error;

use super::log::Log;
use crate::proven::OrMost;

/// Something in a log that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The file, as the user named it.
    pub file: String,
    /// The kernel of it that this is about, by name and place in the log.
    pub kernel: Option<String>,
    /// What is wrong.
    pub defect: Defect,
}

/// What can be wrong with a log. Columns count bytes from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Defect {
    /// No JSON from there on; what stood before it was kept.
    #[error("not valid JSON at line {line}, column {column}: {what}; kept {kept_kernels} kernels before")]
    Broken {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the reader stumbled over.
        what: String,
        /// Whole kernels that stood before it and were kept.
        kept_kernels: usize,
    },
    /// The file ends in the middle; what stood before that was kept.
    #[error("the file ends in the middle, at line {line}, column {column}; kept {kept_kernels} kernels")]
    Truncated {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Whole kernels that were kept.
        kept_kernels: usize,
    },
    /// Nothing was dropped, but `times` does not begin with the empty object that the examiner writes.
    #[error("\"times\" does not begin with an empty object, as the examiner's does; nothing was dropped")]
    NoEmptyFirstObject,
    /// A kernel without a key that is needed was dropped.
    #[error("{key:?} is missing or not what it should be; dropped the kernel and its {blocks} blocks")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// Its blocks.
        blocks: usize,
    },
    /// More times than SM ids or the other way round; what has no counterpart was dropped.
    #[error("{times} block_times (two for each block) and {sms} block_smids; dropped what has no partner")]
    UnequalLists {
        /// Entries of `block_times` (two for each block).
        times: usize,
        /// Entries of `block_smids`.
        sms: usize,
    },
    /// `block_count` and the lists disagree; the blocks of the lists were kept.
    #[error("block_count is {stated} and the lists hold {listed} blocks; kept those of the lists")]
    BlockCount {
        /// `block_count`.
        stated: u64,
        /// Blocks in the lists.
        listed: usize,
    },
    /// Blocks whose times or SM ids are no usable numbers (NaN among them) were dropped.
    #[error("dropped {blocks} blocks whose times or SM ids are no usable numbers")]
    NotANumber {
        /// How many.
        blocks: usize,
    },
    /// Nothing can be read of a table of blocks.
    #[error("{what}")]
    Columns {
        /// What its columns do not say.
        what: String,
    },
    /// Rows of a table of blocks were left out.
    #[error("left out {rows} rows, the first of them line {line}: {what}")]
    Rows {
        /// How many.
        rows: u64,
        /// Line of the first, from 1.
        line: u64,
        /// What is wrong with that.
        what: String,
    },
    /// A table of blocks has blocks of higher numbers and lacks these.
    #[error("{blocks} blocks of lower numbers than others have no row")]
    Gaps {
        /// How many.
        blocks: usize,
    },
    /// The run was ended before all that the host thread had launched was done; of its last iteration nothing is in the
    /// log.
    #[error("the run was ended at a horizon; {operations} operations in progress are not in the log")]
    LeftOutAtHorizon {
        /// How many kernels, copies and memsets.
        operations: u64,
    },
    /// No iteration and no kernel was logged.
    #[error("no iteration and no kernel was logged; whatever this benchmark did is unknown")]
    NothingLogged,
    /// The same log under another name.
    #[error("the same log as {of}; dropped")]
    Duplicate {
        /// The file that was kept.
        of: String,
    },
    /// A log of another run of the same scenario: its times contradict those of the run that was kept.
    #[error("another run of the same benchmark as {of}, with other times; dropped, not averaged")]
    OtherRun {
        /// A log of the same host thread that was kept.
        of: String,
    },
}

impl Defect {
    /// A short name for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "broken",
            Self::Truncated { .. } => "truncated",
            Self::NoEmptyFirstObject => "no-empty-first-object",
            Self::MissingKey { .. } => "missing-key",
            Self::UnequalLists { .. } => "unequal-lists",
            Self::BlockCount { .. } => "block-count",
            Self::NotANumber { .. } => "not-a-number",
            Self::Columns { .. } => "columns",
            Self::Rows { .. } => "rows",
            Self::Gaps { .. } => "gaps",
            Self::LeftOutAtHorizon { .. } => "left-out-at-horizon",
            Self::NothingLogged => "nothing-logged",
            Self::Duplicate { .. } => "duplicate",
            Self::OtherRun { .. } => "other-run",
        }
    }

    /// How many blocks are known to be missing because of it.
    pub fn blocks(&self) -> usize {
        match *self {
            Self::MissingKey { blocks, .. } | Self::NotANumber { blocks } | Self::Gaps { blocks } => blocks,
            Self::Rows { rows, .. } => usize::try_from(rows).or_most(),
            Self::UnequalLists { times, sms } => times.div_ceil(2).abs_diff(sms).max(times % 2),
            Self::BlockCount { stated, listed } => usize::try_from(stated).or_most().saturating_sub(listed),
            _ => 0,
        }
    }
}

impl Dropped {
    /// Of a file as a whole.
    pub(super) fn of_file(file: &str, defect: Defect) -> Self {
        Self { file: file.to_owned(), kernel: None, defect }
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kernel {
            Some(kernel) => write!(f, "{}: {kernel}: {}", self.file, self.defect),
            None => write!(f, "{}: {}", self.file, self.defect),
        }
    }
}

impl Serialize for Dropped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Dropped", 5)?;
        object.serialize_field("file", &self.file)?;
        object.serialize_field("kernel", &self.kernel)?;
        object.serialize_field("reason", self.defect.name())?;
        object.serialize_field("blocks", &self.defect.blocks())?;
        object.serialize_field("what", &self.defect.to_string())?;
        object.end()
    }
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReading {
    /// The log; `None` if the file is none: it has no list `times`.
    pub log: Option<Log>,
    /// What was left out.
    pub dropped: Vec<Dropped>,
}

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
