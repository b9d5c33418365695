//! Logs of single blocks, measured on a real GPU: those of `cuda_scheduling_examiner`, and tables with a row a block.
//! Reading them, and telling what is wrong with them.
//!
//! Logs are other people's files. What is sound in one is kept, and whatever was left out is told as a [`Dropped`]
//! with its reason. A log is read in one pass into [`Log`], whose blocks take 20 bytes each.

mod blocks;
mod defect;
mod files;
mod log;
mod plain;
mod read;
mod runs;
mod visit;

#[doc(hidden)]
pub use blocks::begins_a_table;
pub use blocks::{BlockColumns, BlockColumnsError};
pub use defect::{Defect, Dropped, LogReading, LogsReading};
pub use files::{LogFiles, LogFilesError, LogFilesReader, LogInput, Recognized, RunInput, recognize_device};
pub use log::{BlockList, Log, LogTime, LogTimeError, LoggedBlock, LoggedKernel};
#[doc(hidden)]
pub use read::begins_a_log;
pub use read::{read_log, read_logs_from};
#[doc(hidden)]
pub use runs::unrolled;
pub use runs::{LogRun, Pairing, PairingError, sort_into_runs};

#[cfg(test)]
mod tests;
