//! Logs of single blocks, measured on a real GPU: those of `cuda_scheduling_examiner`, and tables with a row a block.
//! Reading them, and telling what is wrong with them.
//!
//! Logs are other people's files. What is sound in one is kept, and whatever was left out is told as a [`Dropped`]
//! with its reason. A log is read in one pass into [`Log`], whose blocks take 20 bytes each.

mod assemble;
mod blocks;
mod clock;
mod defect;
mod files;
mod join;
mod log;
mod number;
mod pairing;
mod pieces;
mod plain;
mod read;
mod reading;
mod recognize;
mod repair;
mod runs;
mod visit;

pub use assemble::LogReading;
pub(crate) use blocks::begins_a_table;
pub use blocks::{BlockColumns, BlockColumnsError};
pub use clock::{LogTime, LogTimeError};
pub use defect::{Defect, Dropped};
pub use files::{LogFiles, LogFilesError, LogFilesReader, LogInput, RunInput};
pub use log::{BlockList, Log, LoggedBlock, LoggedKernel};
pub(crate) use pairing::unrolled;
pub use pairing::{Pairing, PairingError};
pub(crate) use pieces::begins_a_log;
pub use pieces::read_logs_from;
pub use read::read_log;
pub use reading::LogsReading;
pub use recognize::{Recognized, recognize_device};
pub use runs::{LogRun, sort_into_runs};

#[cfg(test)]
mod tests;
