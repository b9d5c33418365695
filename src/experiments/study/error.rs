//! What can go wrong with a study.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::layout::Shard;
use crate::effort::EarlyEnd;
use crate::json::JsonError;
use crate::spelling::option;

/// Why a study cannot be read, run, merged or drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The study file is wrong.
    #[error(transparent)]
    File(#[from] JsonError),
    /// More than may be asked for.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// A sample cannot be computed.
    #[error("point {point}, samples {first} to {last}: {what}")]
    Sample {
        /// Number of the point.
        point: u64,
        /// First sample of the row.
        first: u64,
        /// Last sample of the row.
        last: u64,
        /// Why.
        what: String,
    },
    /// A task of a job array from which no shard follows.
    #[error(
        "SLURM_ARRAY_TASK_ID is {id} and SLURM_ARRAY_TASK_COUNT is {count}: an array has to count from 0 to N - 1; to run \
         one shard of it again, say {shard}",
        shard = option("shard").with(&format!("{id}/N"))
    )]
    SlurmArray {
        /// `SLURM_ARRAY_TASK_ID`.
        id: String,
        /// `SLURM_ARRAY_TASK_COUNT`.
        count: String,
    },
    /// A result file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Rows cannot be written. The file has only whole rows, or is found to end in a torn one.
    #[error("cannot write {}{}; the same command goes on there once the cause is mended", path.display(), after(*rows))]
    Write {
        /// The file.
        path: PathBuf,
        /// Rows that it has.
        rows: u64,
        /// Why.
        source: io::Error,
    },
    /// A merged file cannot be written.
    #[error("cannot write the merged rows")]
    Merged(#[source] io::Error),
    /// Another process is at the same shard.
    #[error("{} is being written by another run: two runs of shard {shard}", path.display())]
    Claimed {
        /// The file.
        path: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// The file system has no locks, so two runs of one shard could not be told apart.
    #[error("cannot lock {}: choose results on a file system with file locks", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no result file.
    #[error("{} is no result file of gpusched study", path.display())]
    NotRows {
        /// The file.
        path: PathBuf,
    },
    /// The rows belong to something else.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// To what, and what to do.
        what: String,
    },
    /// Shards are not complete.
    #[error("not complete: {}", what.join("; "))]
    Incomplete {
        /// File by file what is missing.
        what: Vec<String>,
    },
    /// Values of a row that are not those of its command.
    #[error("row {row} has values that are none of {command}")]
    Values {
        /// Number of the row in the study.
        row: u64,
        /// The study's command.
        command: &'static str,
    },
    /// The drawing library gave up.
    #[error("cannot draw: {0}")]
    Draw(String),
}

/// Behind how many rows, if there are any.
fn after(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(" after {rows} rows") }
}
