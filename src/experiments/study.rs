//! Studies: a command repeated with millions of random samples over a grid, on one machine or many.
//!
//! A [`Study`] is read from a file. It is cut into rows, each of which has the sums over a few samples of one point
//! and depends on nothing else; a [`Shard`] is every n-th row. [`Work`] computes the rows of a shard on all cores and
//! hands them over in order; a [`ResultFile`] keeps them, one line each with a checksum, so that a process may be
//! killed at any moment: what is on disk is a beginning of the shard's rows, perhaps with a torn one behind it.
//! [`merge()`] puts shards together to the bytes that one machine would have written, [`StudySummary`] adds rows up,
//! with confidence intervals.
//!
//! The commands `merged-sm`, `tasks curve` and `evr --samples` compute their samples as rows of a study too, and add
//! them up at once.

mod analyze;
mod command;
mod compute;
mod error;
mod evr;
mod file;
mod grid;
mod header;
mod injections;
mod layout;
mod merge;
mod merged_sm;
mod pipelines;
mod result_file;
mod row;
mod rows;
mod sample_files;
mod scenario_point;
mod segment_sets;
mod segment_tally;
mod simulate;
mod simulate_tally;
mod slurm;
mod status;
mod summary;
mod tally;
mod tasks_curve;
mod verdict_tally;

pub(crate) use command::StudyCommand;
pub use compute::{StudyRow, Work};
pub use error::StudyError;
pub use file::Study;
pub use grid::{AxisValue, GridAxis};
pub use injections::sample_applications;
pub(crate) use injections::{per_period, random_injection};
pub use layout::{Layout, RowSamples, Shard};
pub use merge::merge;
pub use result_file::{Disk, ResultFile};
pub use row::{CHECKSUM_COLUMN, with_checksum, without_checksum};
pub use slurm::BatchScript;
pub use status::ShardStatus;
pub use summary::{PointSummary, StudySummary};

/// Point number `number` of an experiment.
fn point<P>(points: &[P], number: u64) -> Result<&P, String> {
    let found = usize::try_from(number).ok().and_then(|number| points.get(number));
    found.ok_or_else(|| format!("there is no point {number}"))
}
