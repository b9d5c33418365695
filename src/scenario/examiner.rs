//! Scenario files of `cuda_scheduling_examiner`, the public tool of the RTSS 2017 and OSPERT 2017 studies.
//!
//! What its keys mean is in `docs/examiner.md`. Each benchmark becomes one host thread with one stream; unknown keys
//! are errors, as they are for the examiner itself.

mod behaviour;
mod benchmark;
mod file;
mod legacy;
mod log_names;
mod multikernel;
mod plugins;
mod reading;
mod spin;
mod stream_action;

pub use super::examiner_logs::ExaminerLogs;
pub(crate) use super::examiner_logs::{BenchmarkLog, KernelSync};
pub(super) use file::{KEYS, read};
